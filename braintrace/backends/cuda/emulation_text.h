// SPDX-License-Identifier: Apache-2.0
// The words of CUDA as C++, and a scheduler of threads: with one before and one after it, CUDA text becomes a file that
// the host's compiler takes.
//
// Threads are fibers, taken in an order that changes from pass to pass: what a missing barrier leaves to chance goes
// wrong here. Each runs until it waits. Where all blocks of a grid may wait for each other they run together, else one
// after the other. When all threads that are left wait, for each other or for those that have ended, the launch fails.
#pragma once

namespace braintrace::cuda {

extern const char* const emulation_before;
// int32_t bt_emulate(void (*kernel)(bt_cuda_frame), const bt_cuda_frame* frame, uint32_t blocks, uint32_t teams,
//                    uint32_t threads, uint32_t shared_bytes, int32_t together)      0, or 1 where threads wait forever
extern const char* const emulation_after;

}  // namespace braintrace::cuda

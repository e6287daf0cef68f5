// SPDX-License-Identifier: Apache-2.0
// A schedule as one CUDA file.
//
// A *team* runs a kernel: all threads of some blocks, which meet at barriers of their own. Every kernel is a device
// function over its team. Those of an entry function are launched one by one, each with a team as large as its work,
// or several together (together.h);
// a node that contains functions (a time loop, a branch, …) is one launch: its team stays for all the kernels inside,
// with a barrier between them. Where the rows of a batch never meet, a time loop has one team per part of the rows.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "braintrace/codegen/schedule.h"

namespace braintrace::codegen {

// What matrix products of f32 round their operands to; sums are kept in f32.
enum class Precision : uint8_t { F32, TF32, BF16 };

// Of frame.barriers, for each team of a launch.
inline constexpr int64_t barrier_bytes = 128;

// A kernel that the host launches: `extern "C" __global__ void name(bt_cuda_frame f)`, in a grid whose x counts the
// blocks of a team and whose y counts teams. Unless they are fixed, the text takes the numbers from its grid: fewer
// blocks or teams compute the same.
struct Launch {
  std::string name;
  int64_t     teams   = 1;      // each with blocks of its own
  int64_t     blocks  = 1;      // of a team, at most: as many as have work; 0: it runs in the launch before it
  int64_t     threads = 1;      // of a block
  int64_t     shared  = 0;      // bytes of shared memory of a block, beyond 48 kB by request
  bool        meets   = false;  // blocks of a team wait for each other: all blocks must be on the device at once
  bool        fixed   = false;  // the text counts on these numbers of blocks and teams
};

struct CudaText {
  std::string source;
  Schedule    schedule;
  // All kernels of the entries but host calls. A time loop that contains a host call has no launch: the host walks
  // through it, and the kernels inside have launches of their own.
  std::map<const Kernel*, Launch> launches;
};

// What a compiler of CUDA is told besides the architecture. Products and sums round apart, as on the processor; where
// the text wants them fused it says so.
inline constexpr std::string_view cuda_compile_options[] = {"--std=c++17", "--fmad=false"};

// The schedule was made for the same target.
CudaText emit_cuda(Schedule schedule, const Target& target, Precision precision = Precision::F32);

}  // namespace braintrace::codegen

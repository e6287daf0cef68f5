// SPDX-License-Identifier: Apache-2.0
// Prints a schedule as one CUDA file.
//
// A *team* executes a kernel: all threads of some blocks, which synchronize at a barrier of their own. Every kernel is
// a device function over its team. The host launches the kernels of an entry function one by one, each with a team that
// matches its work, or several together (together.h). A kernel that contains functions (a time loop, a branch, …) is a
// single launch: its team executes all inner kernels, with barriers between them. If the rows of a batch are
// independent, a time loop has one team per part of the batch.
//
//   y = x W;  z = tanh(y)   →   __global__ void bt_launch0(f) { product over the team }, bt_launch1(f) { tanh }
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "braintrace/codegen/schedule.h"

namespace braintrace::codegen {

// What f32 matrix products round their operands to. Accumulators are f32.
enum class Precision : uint8_t { F32, TF32, BF16 };

// Size of a team's entry in frame.barriers.
inline constexpr int64_t barrier_bytes = 128;

// A kernel that the host launches: `extern "C" __global__ void name(bt_cuda_frame f)`. The x dimension of the grid is
// the blocks of a team, the y dimension the teams. Unless `fixed`, the kernel reads both from its grid: fewer blocks or
// teams compute the same result.
struct Launch {
  std::string name;
  int64_t     teams   = 1;      // each with its own blocks
  int64_t     blocks  = 1;      // per team, at most: those with work; 0: included in the previous launch
  int64_t     threads = 1;      // per block
  int64_t     shared  = 0;      // bytes of shared memory per block; more than 48 kB must be requested
  bool        meets   = false;  // contains barriers between blocks: all blocks must be resident at once
  bool        fixed   = false;  // the number of blocks and teams must not change
};

struct CudaText {
  std::string source;
  Schedule    schedule;
  // Launches of all kernels of the entry functions except host calls. A time loop with a host call inside has no
  // launch: the host runs it, and its inner kernels have launches of their own.
  std::map<const Kernel*, Launch> launches;
};

// Compile options in addition to the architecture. Products and sums round separately, as on the CPU; the text uses
// explicit fused multiply-adds.
inline constexpr std::string_view cuda_compile_options[] = {"--std=c++17", "--fmad=false"};

// `schedule` must have been created for the same target.
CudaText emit_cuda(Schedule schedule, const Target& target, Precision precision = Precision::F32);

}  // namespace braintrace::codegen

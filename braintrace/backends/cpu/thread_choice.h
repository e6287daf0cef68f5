// SPDX-License-Identifier: Apache-2.0
// Chooses the number of threads for a program by measurement.
//
// The cost of threads is data transfer between the caches of their cores, which depends on the placement of the cores:
// two cores of one complex exchange a cache line in about 25 ns, two cores of different ones in 170 ns, and the cores
// of a virtual machine move while a program runs. So a program with parallel kernels occasionally tries half and twice
// as many threads for a few calls, and keeps what is faster. Results do not depend on the choice.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>

namespace braintrace::cpu {

class ThreadChoice {
 public:
  using Time = std::chrono::nanoseconds;

  // Number of threads for the next call, at most `most`.
  int  threads(int most);
  void took(Time time);  // reports the duration of that call

 private:
  static constexpr size_t calls = 8;  // calls to compare, after a warm-up call of each trial

  static constexpr size_t least_rest = 32, longest_rest = 1024;

  void begin_trial();
  void end_trial();
  Time median() const;

  int                     most_ = 0, usual_ = 0, tried_ = 0;  // numbers of threads; tried_ is 0 outside a trial
  bool                    up_    = false;                     // the next trial uses more threads
  size_t                  count_ = 0;                         // calls in this trial, or since the last one
  size_t                  rest_  = least_rest;  // calls between two trials: doubles after each failed trial
  std::array<Time, calls> recent_{};            // times with the usual number of threads, or of the trial
  Time                    before_{};            // the median of the former, during a trial
  // Time budget for trials. The first call takes longer than this to compile its program.
  Time credit_ = std::chrono::milliseconds(100);
};

}  // namespace braintrace::cpu

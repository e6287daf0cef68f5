// SPDX-License-Identifier: Apache-2.0
// How many threads a program is worth, by measurement.
//
// Threads cost what moves between the caches of their cores, and that depends on where these cores lie: two of one core
// complex hand over a line of memory in some 25 ns, two of different ones in 170, and cores of a virtual machine change
// places while a program runs. So a program whose kernels are shared tries half and twice as many threads now and then,
// for a few calls, and keeps what is faster. Results do not depend on it.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>

namespace braintrace::cpu {

class ThreadChoice {
 public:
  using Time = std::chrono::nanoseconds;

  // Of `most`, for the next call.
  int  threads(int most);
  void took(Time time);  // that call

 private:
  static constexpr size_t calls = 8;  // that are compared, after the first of a trial, which brings data to their cores

  static constexpr size_t least_rest = 32, longest_rest = 1024;

  void begin_trial();
  void end_trial();
  Time median() const;

  int                     most_ = 0, usual_ = 0, tried_ = 0;  // threads; tried_ is 0 outside a trial
  bool                    up_    = false;                     // the next trial takes more threads
  size_t                  count_ = 0;                         // calls of this trial, or since the last
  size_t                  rest_  = least_rest;  // calls between two trials: twice as many after each that fails
  std::array<Time, calls> recent_{};            // of the usual number of threads, then of the trial
  Time                    before_{};            // the median of the former, during a trial
  // What trials may cost. A first call takes longer than this to compile its program.
  Time credit_ = std::chrono::milliseconds(100);
};

}  // namespace braintrace::cpu

// SPDX-License-Identifier: Apache-2.0
// While an object of this class lives, initializers draw no values: their tensors are zeros that take no memory. This
// makes it possible to build and inspect a model of any size.
#pragma once

namespace braintrace::nn {

class WithoutValues {
 public:
  WithoutValues() { ++count_; }
  ~WithoutValues() { --count_; }
  WithoutValues(const WithoutValues&)            = delete;
  WithoutValues& operator=(const WithoutValues&) = delete;

  static bool is_so() { return count_ > 0; }

 private:
  static inline thread_local int count_ = 0;
};

}  // namespace braintrace::nn

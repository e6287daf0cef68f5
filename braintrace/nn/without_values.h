// SPDX-License-Identifier: Apache-2.0
// While one lives, initializers draw nothing: their tensors are zeros that take no memory. So a model can be built to
// be looked at, however large it is.
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

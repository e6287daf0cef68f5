// SPDX-License-Identifier: Apache-2.0
// Short ways to make tensors and to look at their elements in tests.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "braintrace/ir/tensor.h"

namespace braintrace::testing_support {

inline constexpr double inf = std::numeric_limits<double>::infinity();
inline const double     nan = std::numeric_limits<double>::quiet_NaN();

using Values = std::vector<double>;

inline Tensor tensor(const Values& v, DType dtype = DType::F64) {
  return Tensor(from_doubles({dtype, {static_cast<int64_t>(v.size())}}, v));
}
inline Tensor tensor(const Values& v, Shape shape, DType dtype = DType::F64) {
  return Tensor(from_doubles({dtype, std::move(shape)}, v));
}
inline Tensor ints(const Values& v) { return tensor(v, DType::I32); }
inline Tensor bools(const Values& v) { return tensor(v, DType::Bool); }

inline Values values(const Tensor& t) {
  const Array a = t.array();
  Values      v;
  for (int64_t i = 0; i < a.size(); ++i) v.push_back(at(a, i));
  return v;
}

// Equal up to `tolerance` relative to max(1, |b|); NaN equals NaN, infinities equal themselves.
inline void expect_near(const Values& a, const Values& b, double tolerance) {
  ASSERT_EQ(a.size(), b.size());
  for (size_t i = 0; i < a.size(); ++i) {
    if (std::isnan(b[i])) {
      EXPECT_TRUE(std::isnan(a[i])) << "element " << i << " is " << a[i];
    } else if (std::isinf(b[i])) {
      EXPECT_EQ(a[i], b[i]) << "element " << i;
    } else {
      EXPECT_NEAR(a[i], b[i], tolerance * std::max(1.0, std::abs(b[i]))) << "element " << i;
    }
  }
}
inline void expect_values(const Tensor& t, const Values& expected, double tolerance = 1e-14) {
  expect_near(values(t), expected, tolerance);
}

// Runs f and expects a UserError whose message holds all the phrases.
template <class F>
void expect_user_error(F&& f, const std::vector<std::string>& phrases) {
  try {
    f();
    ADD_FAILURE() << "no error was thrown";
  } catch (const UserError& e) {
    for (const std::string& p : phrases)
      EXPECT_NE(std::string(e.what()).find(p), std::string::npos) << "'" << p << "' is missing in: " << e.what();
  }
}

}  // namespace braintrace::testing_support

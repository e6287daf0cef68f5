// SPDX-License-Identifier: Apache-2.0
// Small models and checks shared by the tests of function transforms.
#pragma once

#include <string>

#include <gtest/gtest.h>

#include "braintrace/functions/functions.h"
#include "braintrace/functions/loops.h"
#include "braintrace/model/environment.h"
#include "braintrace/ops/compare.h"
#include "braintrace/ops/contract.h"
#include "braintrace/ops/math.h"
#include "braintrace/ops/move.h"
#include "braintrace/ops/reduce.h"
#include "braintrace/runtime/values.h"

namespace braintrace::testing_support {

inline const bool in_double = (Environment::set({.precision = DType::F64}), true);

// h ← tanh(x·W + h·R), in f64.
struct Rnn : Module {
  ParamState  W, R;
  HiddenState h;
  Rnn(int64_t n_in, int64_t n)
      : W(wave({n_in, n}, 0.3)), R(wave({n, n}, 0.5)), h([n](BatchSize b) {
          return Leaves{{"", zeros(b ? Shape{*b, n} : Shape{n}, DType::F64)}};
        }) {
    state("W", W);
    state("R", R);
    state("h", h);
    init_all_states(*this);
  }
  Tensor update(const Tensor& x) override {
    h.set(tanh(dot(x, W.value()) + dot(h.value(), R.value())));
    return h.value();
  }

  // Deterministic values of mixed sign.
  static Tensor wave(Shape shape, double scale) {
    std::vector<double> v(static_cast<size_t>(size_of(shape)));
    for (size_t i = 0; i < v.size(); ++i) v[i] = scale * (static_cast<double>((i * 37 + 11) % 23) / 11.0 - 1.0);
    return tensor(v, std::move(shape));
  }
};

// Element i of the leading axis.
inline Tensor row_of(const Tensor& x, int64_t i) { return squeeze(slice_axis(x, 0, i, i + 1), {0}); }

inline Tensor wave(Shape shape, double scale = 1) { return Rnn::wave(std::move(shape), scale); }

inline void expect_close(const Tensor& a, const Tensor& b, double tolerance = 1e-10) {
  ASSERT_EQ(a.type(), b.type());
  EXPECT_LE(max_difference(a, b), tolerance) << to_string(a) << "\n" << to_string(b);
}

template <class F>
std::string error_of(F&& f) {
  try {
    f();
  } catch (const UserError& e) {
    return e.what();
  }
  return "no error";
}

inline ::testing::AssertionResult mentions(const std::string& text, std::initializer_list<const char*> phrases) {
  for (const char* p : phrases)
    if (text.find(p) == std::string::npos) return ::testing::AssertionFailure() << "'" << p << "' is not in:\n" << text;
  return ::testing::AssertionSuccess();
}

}  // namespace braintrace::testing_support

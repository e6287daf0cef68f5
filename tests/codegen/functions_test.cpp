// SPDX-License-Identifier: Apache-2.0
// The functions of emitted code: at most 4 units in the last place from the correctly rounded result, NaN and
// infinities as they should be.
#include <bit>
#include <cmath>
#include <limits>
#include <type_traits>

#include <gtest/gtest.h>

#include "braintrace/backends/cpu/cpu_backend.h"
#include "braintrace/ir/builder.h"
#include "braintrace/ops/elementary.h"
#include "braintrace/ops/math.h"
#include "braintrace/ops/special.h"

namespace braintrace {
namespace {

constexpr int64_t allowed_ulp = 4;

// Distance in representable numbers; NaN only from NaN is 0.
template <class Float>
int64_t ulps(Float a, Float b) {
  using Bits = std::conditional_t<sizeof(Float) == 4, int32_t, int64_t>;
  if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && std::isnan(b) ? 0 : INT64_MAX;
  auto place = [](Float x) -> int64_t {
    const auto i = std::bit_cast<Bits>(x);
    return i < 0 ? -static_cast<int64_t>(i & std::numeric_limits<Bits>::max()) : i;
  };
  return std::abs(place(a) - place(b));
}

// Where exp under- and overflows lies at ±`range`.
template <class Float>
std::vector<Float> arguments(Float range) {
  using Limits         = std::numeric_limits<Float>;
  std::vector<Float> x = {0,
                          INFINITY,
                          NAN,
                          Limits::denorm_min(),
                          Limits::min(),
                          1,
                          Float(88.72),
                          Float(88.73),
                          Float(103.9),
                          Float(104.1),
                          Float(709.78),
                          Float(709.79),
                          Float(745.1),
                          Float(745.2),
                          Limits::max()};
  for (Float m = Float(1e-30); m < Float(1e30); m *= Float(1.01)) x.push_back(m);
  for (Float m = 0; m < range; m += Float(0.01)) x.push_back(m);
  for (size_t i = x.size(); i-- > 0;) x.push_back(-x[i]);
  return x;
}

// Compiled code counts numbers too small to be normal as zero.
template <class Float>
Float flushed(Float x) {
  return std::fpclassify(x) == FP_SUBNORMAL ? std::copysign(Float(0), x) : x;
}

template <class Float>
void expect_close(Float range) {
  std::vector<Float> x = arguments(range);
  for (Float& v : x) v = flushed(v);
  const Array  in      = Array::of<Float>(x, {static_cast<int64_t>(x.size())});
  const Traced t       = trace({in.type()}, [](const Tensors& v) -> Tensors {
    return {exp(v[0]), log(v[0]), tanh(v[0]), sigmoid(v[0]), log1p(v[0]), softplus(v[0]), rsqrt(v[0])};
  });
  const char*  names[] = {"exp", "log", "tanh", "sigmoid", "log1p", "softplus", "rsqrt"};
  const Arrays want = evaluate(t.program, {}, {in}), got = cpu_backend().compile(t.program, {})->run({in});
  for (size_t f = 0; f < want.size(); ++f) {
    int64_t worst = 0;
    Float   at_x  = 0;
    for (size_t i = 0; i < x.size(); ++i) {
      const int64_t d = ulps(got[f].data<Float>()[i], flushed(want[f].data<Float>()[i]));
      if (d > worst) worst = d, at_x = x[i];
    }
    EXPECT_LE(worst, allowed_ulp) << names[f] << " at " << at_x;
  }
}

TEST(CompiledFunctions, AreWithinFourUlpInF32) { expect_close<float>(110); }
TEST(CompiledFunctions, AreWithinFourUlpInF64) { expect_close<double>(760); }

// Nothing of it is left behind: the caller's own arithmetic knows such numbers as before.
TEST(CompiledFunctions, CountSubnormalNumbersAsZero) {
  const Array  in = Array::of<float>({std::numeric_limits<float>::min(), 1}, {2});
  const Traced t  = trace({in.type(), in.type()}, [](const Tensors& v) -> Tensors { return {v[0] * v[1]}; });
  const Array  y  = cpu_backend().compile(t.program, {})->run({in, Array::of<float>({0.5F, 0.5F}, {2})})[0];
  EXPECT_EQ(y.data<float>()[0], 0);
  EXPECT_EQ(y.data<float>()[1], 0.5F);
  volatile float small = std::numeric_limits<float>::min();
  small                = small * 0.5F;
  EXPECT_GT(small, 0);
}

}  // namespace
}  // namespace braintrace

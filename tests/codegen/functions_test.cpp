// SPDX-License-Identifier: Apache-2.0
// The float functions of emitted code: at most 4 units in the last place from the correctly rounded result, NaN and
// infinities as they should be.
#include <bit>
#include <cmath>

#include <gtest/gtest.h>

#include "braintrace/backends/cpu/cpu_backend.h"
#include "braintrace/ir/builder.h"
#include "braintrace/ops/elementary.h"
#include "braintrace/ops/special.h"

namespace braintrace {
namespace {

constexpr int64_t allowed_ulp = 4;

// Distance in representable floats; NaN only from NaN is 0.
int64_t ulps(float a, float b) {
  if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && std::isnan(b) ? 0 : INT64_MAX;
  auto place = [](float x) -> int64_t {
    const auto i = std::bit_cast<int32_t>(x);
    return i < 0 ? -static_cast<int64_t>(i & 0x7fffffff) : i;
  };
  return std::abs(place(a) - place(b));
}

std::vector<float> arguments() {
  std::vector<float> x = {0.0f, -0.0f, INFINITY, -INFINITY, NAN,     0x1p-149f, -0x1p-149f, 0x1p-126f,
                          1.0f, -1.0f, 88.72f,   88.73f,    -103.9f, -104.1f,   3.4e38f,    -3.4e38f};
  for (float m = 1e-30f; m < 1e30f; m *= 1.01f) {
    x.push_back(m);
    x.push_back(-m);
  }
  for (float m = -110; m < 110; m += 0.01f) x.push_back(m);
  return x;
}

TEST(CompiledFunctions, AreWithinFourUlp) {
  const std::vector<float> x       = arguments();
  const Array              in      = Array::of<float>(x, {static_cast<int64_t>(x.size())});
  const Traced             t       = trace({in.type()}, [](const Tensors& v) -> Tensors {
    return {exp(v[0]), log(v[0]), tanh(v[0]), sigmoid(v[0]), log1p(v[0]), softplus(v[0]), rsqrt(v[0])};
  });
  const char*              names[] = {"exp", "log", "tanh", "sigmoid", "log1p", "softplus", "rsqrt"};
  const Arrays             want = evaluate(t.program, {}, {in}), got = cpu_backend().compile(t.program, {})->run({in});
  for (size_t f = 0; f < want.size(); ++f) {
    int64_t worst = 0;
    float   at_x  = 0;
    for (size_t i = 0; i < x.size(); ++i) {
      const int64_t d = ulps(got[f].data<float>()[i], want[f].data<float>()[i]);
      if (d > worst) worst = d, at_x = x[i];
    }
    EXPECT_LE(worst, allowed_ulp) << names[f] << " at " << at_x;
  }
}

}  // namespace
}  // namespace braintrace

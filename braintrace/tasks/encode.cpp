// SPDX-License-Identifier: Apache-2.0
#include "braintrace/tasks/encode.h"

#include <cmath>

namespace braintrace::tasks {

namespace {

Shape prefixed(std::initializer_list<int64_t> first, std::span<const int64_t> rest) {
  Shape shape(first);
  shape.insert(shape.end(), rest.begin(), rest.end());
  return shape;
}

void check(const char* what, int64_t T, const Array& values) {
  require(T > 0, "{}: expected at least one step, got {}.", what, T);
  for (int64_t i = 0; i < values.size(); ++i)
    require(at(values, i) >= 0 && at(values, i) <= 1, "{}: element {} is {}, outside 0 … 1; scale the values first.",
            what, i, at(values, i));
}

}  // namespace

Array poisson_spikes(const Array& p, int64_t T, Random& random) {
  check("poisson_spikes", T, p);
  Array         x({DType::F32, prefixed({T}, p.shape())});
  const Doubles chances(p);
  for (int64_t t = 0; t < T; ++t)
    for (int64_t i = 0; i < p.size(); ++i) x.mutable_data<float>()[t * p.size() + i] = random.chance(chances[i]);
  return x;
}

Array latency_spikes(const Array& v, int64_t T) {
  check("latency_spikes", T, v);
  Array x({DType::F32, prefixed({T}, v.shape())});
  for (int64_t i = 0; i < v.size(); ++i) {
    const double value = at(v, i);
    if (value > 0) x.mutable_data<float>()[std::llround((1 - value) * double(T - 1)) * v.size() + i] = 1;
  }
  return x;
}

Array latency_values(const Array& x) {
  require(x.shape().size() >= 1 && x.shape()[0] > 1, "latency_values: expected spikes [T, …] with T > 1, got {}.",
          to_string(x.type()));
  const int64_t T = x.shape()[0], n = x.size() / T;
  Array         v({DType::F32, Shape(x.shape().begin() + 1, x.shape().end())});
  for (int64_t i = 0; i < n; ++i)
    for (int64_t t = T - 1; t >= 0; --t)
      if (at(x, t * n + i) != 0) v.mutable_data<float>()[i] = static_cast<float>(1 - double(t) / double(T - 1));
  return v;
}

Array delta_events(const Array& s, double threshold) {
  require(s.shape().size() >= 1 && s.shape()[0] > 0, "delta_events: expected a signal [T, …], got {}.",
          to_string(s.type()));
  require(threshold > 0, "delta_events: expected a positive threshold, got {}.", threshold);
  const int64_t       T = s.shape()[0], n = s.size() / T;
  Array               x({DType::F32, prefixed({T, 2}, std::span(s.shape()).subspan(1))});
  std::vector<double> moved(static_cast<size_t>(n));  // (r_i - s_0,i) / θ, a whole number
  for (int64_t t = 1; t < T; ++t)
    for (int64_t i = 0; i < n; ++i) {
      const double apart    = (at(s, t * n + i) - at(s, i)) / threshold;
      double&      r        = moved[static_cast<size_t>(i)];
      const double crossing = std::trunc(apart - r);
      require(std::isfinite(crossing), "delta_events: the signal at step {} is not finite.", t);
      x.mutable_data<float>()[(t * 2 + (crossing < 0)) * n + i] = static_cast<float>(std::abs(crossing));
      r += crossing;
    }
  return x;
}

Array delta_signal(const Array& x, const Array& first, double threshold) {
  require(x.shape().size() >= 2 && x.shape()[1] == 2 && x.size() == 2 * x.shape()[0] * first.size(),
          "delta_signal: expected events [T, 2, …] and first values […], got {} and {}.", to_string(x.type()),
          to_string(first.type()));
  const int64_t T = x.shape()[0], n = first.size();
  Array         r({DType::F32, prefixed({T}, first.shape())});
  for (int64_t i = 0; i < n; ++i) {
    double moved = 0;
    for (int64_t t = 0; t < T; ++t) {
      moved += at(x, 2 * t * n + i) - at(x, (2 * t + 1) * n + i);
      r.mutable_data<float>()[t * n + i] = static_cast<float>(at(first, i) + threshold * moved);
    }
  }
  return r;
}

}  // namespace braintrace::tasks

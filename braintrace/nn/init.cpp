// SPDX-License-Identifier: Apache-2.0
#include "braintrace/nn/init.h"

#include <algorithm>
#include <cmath>
#include <map>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "braintrace/base/machine.h"
#include "braintrace/base/parallel.h"
#include "braintrace/model/environment.h"
#include "braintrace/model/random_stream.h"
#include "braintrace/nn/orthonormal.h"
#include "braintrace/nn/without_values.h"

namespace braintrace::nn {

namespace {

using Values = Initializer::Values;

Rng fresh_rng() {
  const Tensor next = random::next();
  require(!next.is_traced(), ErrorKind::State,
          "initializer: random numbers are drawn inside a traced function, where they have no values yet.\n"
          "  Create and initialize the model before you call jit, grad, vmap or a loop.");
  const Array key = next.array();
  return Rng(static_cast<uint64_t>(at(key, 0)) << 32 | static_cast<uint64_t>(at(key, 1)));
}

using Draw = std::function<double(Rng&)>;

// The number of random numbers per draw, if it is constant: threads then know where to begin.
constexpr uint64_t per_uniform = 2, per_normal = 4, any_number = 0;

// The same numbers for any number of threads.
Values drawn(size_t count, Rng& rng, uint64_t per_draw, const Draw& draw) {
  constexpr int64_t grain = 1 << 15;
  Values            v(count);
  const auto        size = static_cast<int64_t>(count);
  in_parallel(size, per_draw ? grain : std::max<int64_t>(size, 1), [&](int64_t begin, int64_t end) {
    Rng own = rng;
    own.count += per_draw * static_cast<uint64_t>(begin);
    for (int64_t i = begin; i < end; ++i) v[static_cast<size_t>(i)] = draw(per_draw ? own : rng);
  });
  rng.count += per_draw * count;
  return v;
}

Initializer sampled(std::string text, uint64_t per_draw, const Draw& draw) {
  return {std::move(text), [=](const Shape& shape, Rng& rng) {
            return drawn(static_cast<size_t>(size_of(shape)), rng, per_draw, draw);
          }};
}

// N(0,1) given that lo ≤ z ≤ hi, by rejection.
double truncated(Rng& rng, double lo, double hi) {
  for (;;)
    if (const double z = rng.normal(); z >= lo && z <= hi) return z;
}

// Marsaglia and Tsang 2000; shape < 1 through shape + 1.
double gamma_draw(Rng& rng, double k) {
  if (k < 1) return gamma_draw(rng, k + 1) * std::pow(1 - rng.uniform(), 1 / k);
  const double d = k - 1.0 / 3, c = 1 / std::sqrt(9 * d);
  for (;;) {
    const double z = rng.normal(), v = std::pow(1 + c * z, 3);
    if (v > 0 && std::log(1 - rng.uniform()) < 0.5 * z * z + d - d * v + d * std::log(v)) return d * v;
  }
}

Initializer zipped(const char* sign, const Initializer& a, const Initializer& b, double (*f)(double, double)) {
  return {fmt::format("({} {} {})", a.text(), sign, b.text()), [a, b, f](const Shape& shape, Rng& rng) {
            Values       u = a.values(shape, rng);
            const Values w = b.values(shape, rng);
            for (size_t i = 0; i < u.size(); ++i) u[i] = f(u[i], w[i]);
            return u;
          }};
}

}  // namespace

Initializer::Initializer(double constant)
    : text_(fmt::format("{}", constant)),
      make_([constant](const Shape& shape, Rng&) { return Values(static_cast<size_t>(size_of(shape)), constant); }) {}

Initializer::Initializer(std::string text, Make make) : text_(std::move(text)), make_(std::move(make)), random_(true) {}

Initializer::Initializer(Tensor value) : text_(to_string(value.type())), given_(std::move(value)) {
  make_ = [value = given_.array()](const Shape& shape, Rng&) {
    const int64_t n = size_of(shape), m = value.size();
    require(m > 0 && broadcast_shapes(value.shape(), shape, "initializer") == shape && n % m == 0 &&
                std::equal(value.shape().rbegin(), value.shape().rend(), shape.rbegin()),
            "initializer: a value of shape {} was given where {} is needed.", to_string(value.shape()),
            to_string(shape));
    Values v(static_cast<size_t>(n));
    for (int64_t i = 0; i < n; ++i) v[static_cast<size_t>(i)] = at(value, i % m);
    return v;
  };
}

Initializer::Values Initializer::values(const Shape& shape, Rng& rng) const { return make_(shape, rng); }

Tensor Initializer::operator()(const Shape& shape) const {
  const DType dtype = given_.defined() ? given_.dtype() : Environment::precision();
  const Type  type{dtype, shape};
  require(std::ranges::all_of(shape, [](int64_t n) { return n >= 0; }),
          "initializer: a size must not be negative, got {}.", to_string(shape));
  if (WithoutValues::is_so()) return Tensor(type, 0);
  double bytes = sizeof(double) + size_of(dtype);  // drawn as doubles; a count of elements might overflow
  for (int64_t n : shape) bytes *= static_cast<double>(n);
  require(bytes < static_cast<double>(physical_memory()),
          "{}: drawing it takes {:.3g} GB of memory, more than the {:.3g} GB of this machine.", to_string(type),
          bytes / 1e9, static_cast<double>(physical_memory()) / 1e9);
  Rng rng = random_ ? fresh_rng() : Rng(0);
  return Tensor(from_doubles(type, make_(shape, rng)));
}

Initializer operator+(const Initializer& a, const Initializer& b) {
  return zipped("+", a, b, [](double x, double y) { return x + y; });
}
Initializer operator-(const Initializer& a, const Initializer& b) {
  return zipped("-", a, b, [](double x, double y) { return x - y; });
}
Initializer operator*(const Initializer& a, const Initializer& b) {
  return zipped("*", a, b, [](double x, double y) { return x * y; });
}
Initializer operator/(const Initializer& a, const Initializer& b) {
  return zipped("/", a, b, [](double x, double y) { return x / y; });
}
Initializer mapped(const Initializer& a, std::string name, std::function<double(double)> f) {
  return {fmt::format("{}({})", name, a.text()), [a, f](const Shape& shape, Rng& rng) {
            Values v = a.values(shape, rng);
            for (double& x : v) x = f(x);
            return v;
          }};
}
Initializer clipped(const Initializer& a, double lo, double hi) {
  require(lo <= hi, "clipped: the lower bound {} is above the upper bound {}.", lo, hi);
  return mapped(a, fmt::format("clip[{},{}]", lo, hi), [lo, hi](double x) { return std::clamp(x, lo, hi); });
}

namespace init {

Initializer constant(double value) { return Initializer(value); }
Initializer uniform(double lo, double hi) {
  return sampled(fmt::format("uniform({}, {})", lo, hi), per_uniform,
                 [=](Rng& r) { return lo + (hi - lo) * r.uniform(); });
}
Initializer normal(double mean, double std) {
  return sampled(fmt::format("normal({}, {})", mean, std), per_normal, [=](Rng& r) { return mean + std * r.normal(); });
}
Initializer truncated_normal(double mean, double std, double lo, double hi) {
  require(lo < hi, "truncated_normal: the lower bound {} is not below the upper bound {}.", lo, hi);
  return sampled(fmt::format("truncated_normal({}, {}, {}, {})", mean, std, lo, hi), any_number,
                 [=](Rng& r) { return mean + std * truncated(r, lo, hi); });
}
Initializer log_normal(double mean, double std) {
  return sampled(fmt::format("log_normal({}, {})", mean, std), per_normal,
                 [=](Rng& r) { return std::exp(mean + std * r.normal()); });
}
Initializer exponential(double scale) {
  return sampled(fmt::format("exponential({})", scale), per_uniform,
                 [=](Rng& r) { return -scale * std::log(1 - r.uniform()); });
}
Initializer gamma(double shape, double scale) {
  require(shape > 0 && std::isfinite(shape) && scale > 0,
          "gamma: shape and scale must be positive and finite, got {} and {}.", shape, scale);
  return sampled(fmt::format("gamma({}, {})", shape, scale), any_number,
                 [=](Rng& r) { return scale * gamma_draw(r, shape); });
}
Initializer beta(double a, double b) {
  require(a > 0 && b > 0 && std::isfinite(a) && std::isfinite(b),
          "beta: both parameters must be positive and finite, got {} and {}.", a, b);
  return sampled(fmt::format("beta({}, {})", a, b), any_number, [=](Rng& r) {
    const double x = gamma_draw(r, a), y = gamma_draw(r, b);
    return x / (x + y);
  });
}
Initializer weibull(double shape, double scale) {
  require(shape > 0 && scale > 0, "weibull: shape and scale must be positive, got {} and {}.", shape, scale);
  return sampled(fmt::format("weibull({}, {})", shape, scale), per_uniform,
                 [=](Rng& r) { return scale * std::pow(-std::log(1 - r.uniform()), 1 / shape); });
}
Initializer identity(double gain) {
  return {fmt::format("identity({})", gain), [gain](const Shape& shape, Rng&) {
            require(shape.size() == 2, "identity: expected a matrix, got shape {}.", to_string(shape));
            Values v(static_cast<size_t>(size_of(shape)));
            for (int64_t i = 0; i < std::min(shape[0], shape[1]); ++i) v[static_cast<size_t>(i * shape[1] + i)] = gain;
            return v;
          }};
}

namespace {

struct Fans {
  double in, out;
};
Fans fans_of(const Shape& shape, Layout layout) {
  require(shape.size() >= 2, "initializer: fans need at least two axes, got shape {}.", to_string(shape));
  const auto   d     = [&](size_t i) { return static_cast<double>(shape[i]); };
  const size_t rank  = shape.size();
  double       field = 1;
  if (rank == 2 || layout == Layout::ChannelLast) {
    for (size_t i = 0; i + 2 < rank; ++i) field *= d(i);
    return {field * d(rank - 2), field * d(rank - 1)};
  }
  for (size_t i = 2; i < rank; ++i) field *= d(i);
  return {field * d(1), field * d(0)};
}

// Standard deviation of N(0,1) truncated at ±2.
constexpr double truncated_std = 0.87962566103423978;

}  // namespace

Initializer orthogonal(double gain) {
  return {fmt::format("orthogonal({})", gain), [gain](const Shape& shape, Rng& rng) {
            require(shape.size() >= 2, "orthogonal: expected at least two axes, got shape {}.", to_string(shape));
            const int64_t cols = shape.back(), rows = size_of(shape) / std::max<int64_t>(cols, 1);
            Values        v = orthonormal(rows, cols, rng, Environment::precision());
            for (double& x : v) x *= gain;
            return v;
          }};
}

// A kernel [*k, in, out] that is an orthogonal matrix at its center and zero elsewhere.
Initializer delta_orthogonal(double gain) {
  return {fmt::format("delta_orthogonal({})", gain), [gain](const Shape& shape, Rng& rng) {
            require(shape.size() >= 3, "delta_orthogonal: expected a kernel of rank 3 to 5, got {}.", to_string(shape));
            const int64_t in = shape[shape.size() - 2], out = shape.back();
            require(in <= out, "delta_orthogonal: {} input channels exceed {} output channels.", in, out);
            int64_t center = 0;
            for (size_t i = 0; i + 2 < shape.size(); ++i) center = center * shape[i] + shape[i] / 2;
            Values       v(static_cast<size_t>(size_of(shape)));
            const Values q = orthonormal(in, out, rng, Environment::precision());
            for (size_t i = 0; i < q.size(); ++i) v[static_cast<size_t>(center * in * out) + i] = gain * q[i];
            return v;
          }};
}

Initializer variance_scaling(double scale, Fan fan, Spread spread, Layout layout) {
  require(scale > 0, "variance_scaling: scale must be positive, got {}.", scale);
  const char* fan_text    = fan == Fan::In ? "fan_in" : fan == Fan::Out ? "fan_out" : "fan_avg";
  const char* spread_text = spread == Spread::Uniform ? "uniform" : spread == Spread::Normal ? "normal" : "truncated";
  return {fmt::format("variance_scaling({}, {}, {})", scale, fan_text, spread_text), [=](const Shape& shape, Rng& rng) {
            const Fans   f   = fans_of(shape, layout);
            const double n   = fan == Fan::In ? f.in : fan == Fan::Out ? f.out : (f.in + f.out) / 2;
            const double std = std::sqrt(scale / n);
            const auto   all = [&](uint64_t per_draw, const Draw& draw) {
              return drawn(static_cast<size_t>(size_of(shape)), rng, per_draw, draw);
            };
            switch (spread) {
              case Spread::Normal:
                return all(per_normal, [&](Rng& r) { return std * r.normal(); });
              case Spread::TruncatedNormal:
                return all(any_number, [&](Rng& r) { return std / truncated_std * truncated(r, -2, 2); });
              case Spread::Uniform:
                return all(per_uniform, [&](Rng& r) { return std * std::sqrt(3.0) * (2 * r.uniform() - 1); });
            }
            return Values();
          }};
}

namespace {

Initializer last(double scale, Fan fan, Spread spread) {
  return variance_scaling(scale, fan, spread, Layout::ChannelLast);
}
Initializer first(double scale, Fan fan, Spread spread) {
  return variance_scaling(scale, fan, spread, Layout::ChannelFirst);
}

}  // namespace

Initializer kaiming_normal() { return last(2, Fan::In, Spread::TruncatedNormal); }
Initializer kaiming_uniform() { return last(2, Fan::In, Spread::Uniform); }
Initializer xavier_normal() { return last(1, Fan::Average, Spread::TruncatedNormal); }
Initializer xavier_uniform() { return last(1, Fan::Average, Spread::Uniform); }
Initializer lecun_normal() { return last(1, Fan::In, Spread::TruncatedNormal); }
Initializer lecun_uniform() { return last(1, Fan::In, Spread::Uniform); }

namespace plain {

Initializer kaiming_normal(double scale) { return first(scale, Fan::In, Spread::Normal); }
Initializer kaiming_uniform(double scale) { return first(scale, Fan::In, Spread::Uniform); }
Initializer xavier_normal(double scale) { return first(scale, Fan::Average, Spread::Normal); }
Initializer xavier_uniform(double scale) { return first(scale, Fan::Average, Spread::Uniform); }
Initializer lecun_normal(double scale) { return first(scale, Fan::In, Spread::Normal); }
Initializer lecun_uniform(double scale) { return first(scale, Fan::In, Spread::Uniform); }

}  // namespace plain

namespace {

const std::map<std::string, std::function<Initializer()>>& table() {
  static const std::map<std::string, std::function<Initializer()>> t = {
      {"zeros", [] { return constant(0); }},
      {"ones", [] { return constant(1); }},
      {"uniform", [] { return uniform(); }},
      {"normal", [] { return normal(); }},
      {"truncated_normal", [] { return truncated_normal(); }},
      {"identity", [] { return identity(); }},
      {"orthogonal", [] { return orthogonal(); }},
      {"delta_orthogonal", [] { return delta_orthogonal(); }},
      {"kaiming_normal", kaiming_normal},
      {"kaiming_uniform", kaiming_uniform},
      {"xavier_normal", xavier_normal},
      {"xavier_uniform", xavier_uniform},
      {"lecun_normal", lecun_normal},
      {"lecun_uniform", lecun_uniform},
      {"plain.kaiming_normal", [] { return plain::kaiming_normal(); }},
      {"plain.kaiming_uniform", [] { return plain::kaiming_uniform(); }},
      {"plain.xavier_normal", [] { return plain::xavier_normal(); }},
      {"plain.xavier_uniform", [] { return plain::xavier_uniform(); }},
      {"plain.lecun_normal", [] { return plain::lecun_normal(); }},
      {"plain.lecun_uniform", [] { return plain::lecun_uniform(); }},
  };
  return t;
}

}  // namespace

std::vector<std::string> names() {
  std::vector<std::string> out;
  for (const auto& [name, make] : table()) out.push_back(name);
  return out;
}

Initializer named(const std::string& name) {
  const auto it = table().find(name);
  if (it == table().end())
    fail(ErrorKind::Name, "initializer: there is no '{}'; known: {}.", name, fmt::join(names(), ", "));
  return it->second();
}

}  // namespace init

}  // namespace braintrace::nn

// SPDX-License-Identifier: Apache-2.0
// Element i of a draw comes from Philox at counter (i, i >> 32, kind of draw, attempt) under the key.
//   key : [L…, 2]   draw : [L…, shape…]     each key of L… draws independently; elements are counted inside `shape`
#include "braintrace/ops/random.h"

#include <cmath>
#include <numbers>

#include "braintrace/base/rng.h"
#include "braintrace/ops/axes.h"
#include "braintrace/ops/index_walk.h"
#include "braintrace/ops/keys.h"

namespace braintrace {

namespace {

using keys::alpha;
using keys::count;
using keys::dtype;
using keys::shape;

enum class Draw : uint32_t { Bits, Split, FoldIn, Uniform, Normal, TruncatedNormal, Gamma, Permutation };

using KeyWords = std::array<uint32_t, 2>;
using Words    = std::array<uint32_t, 4>;

Words draw(KeyWords key, Draw kind, uint64_t element, uint32_t attempt = 0) {
  return philox(
      {static_cast<uint32_t>(element), static_cast<uint32_t>(element >> 32), static_cast<uint32_t>(kind), attempt},
      key);
}

// 53 random bits as a number in [0, 1).
double unit(uint32_t high, uint32_t low) {
  return static_cast<double>((static_cast<uint64_t>(high) << 21) ^ (low >> 11)) * 0x1p-53;
}
// Box and Muller 1958
double gaussian(const Words& w) {
  return std::sqrt(-2 * std::log(1 - unit(w[0], w[1]))) * std::cos(2 * std::numbers::pi * unit(w[2], w[3]));
}

int precision_of(DType t) {
  switch (t) {
    case DType::F64:
      return 53;
    case DType::F32:
      return 24;
    case DType::F16:
      return 11;
    default:
      return 8;
  }
}

double normal_cdf(double x) { return 0.5 * std::erfc(-x / std::numbers::sqrt2); }

// x with normal_cdf(x) = p: a rational start (Abramowitz and Stegun 26.2.23, error < 5e-4), then Halley steps.
double normal_quantile(double p) {
  if (p > 0.5) return -normal_quantile(1 - p);
  const double t = std::sqrt(-2 * std::log(std::max(p, 1e-300)));
  double x = (2.515517 + t * (0.802853 + t * 0.010328)) / (1 + t * (1.432788 + t * (0.189269 + t * 0.001308))) - t;
  for (int i = 0; i < 3; ++i) {
    const double u = (normal_cdf(x) - p) * std::sqrt(2 * std::numbers::pi) * std::exp(x * x / 2);
    x -= u / (1 + x * u / 2);
  }
  return x;
}

Shape leading_axes(const Op& op, const Type& key) {
  require(key.dtype == DType::U32 && key.rank() >= 1 && key.shape.back() == 2,
          "{}: expected a key u32[2] (or a stack of them), got {}; make one with random::key or random::split.",
          op.name, to_string(key));
  return part(key.shape, 0, key.rank() - 1);
}

DType float_attr(const Op& op, const Attrs& a) {
  require(is_float(a[dtype]), "{}: expected a floating-point type, got {}.", op.name, name_of(a[dtype]));
  return a[dtype];
}

Types float_draw_infer(const Op& op, const Types& in, const Attrs& a) {
  const Type out{float_attr(op, a), joined(leading_axes(op, in[0]), a[shape])};
  require_shape(op, out.shape);
  return {out};
}

// f(key, i) for each key and each of its n elements.
template <class Value, class F>
std::vector<Value> for_each_key(const Array& keys, int64_t n, F f) {
  const auto*        k     = keys.data<uint32_t>();
  const int64_t      count = keys.size() / 2;
  std::vector<Value> out;
  out.reserve(static_cast<size_t>(count * n));
  for (int64_t j = 0; j < count; ++j)
    for (int64_t i = 0; i < n; ++i)
      out.push_back(static_cast<Value>(f(KeyWords{k[2 * j], k[2 * j + 1]}, static_cast<uint64_t>(i))));
  return out;
}

// A new leading batch axis is one more axis of keys.
Tensors key_batch(const BatchArgs& a) { return apply(a.op, a.in, a.attrs); }

Tensor random_keys(Rng& rng, Shape leading) {
  std::vector<int64_t> v(static_cast<size_t>(2 * size_of(leading)));
  for (int64_t& x : v) x = rng.bits();
  return from_integers({DType::U32, joined(std::move(leading), {2})}, v);
}

std::vector<Sample> draw_sample(Rng& rng, const Attrs& attrs) {
  return {{{random_keys(rng, {})}, attrs}, {{random_keys(rng, {2})}, attrs}};
}

// Marsaglia and Tsang 2000. For alpha < 1: gamma(alpha) = gamma(alpha + 1)·U^(1/alpha).
double gamma_draw(KeyWords key, uint64_t element, double a) {
  const double d = std::max(a, 1.0) + (a < 1 ? a : 0) - 1.0 / 3, c = 1 / std::sqrt(9 * d);
  for (uint32_t attempt = 0;; attempt += 2) {
    const double x = gaussian(draw(key, Draw::Gamma, element, attempt));
    const Words  w = draw(key, Draw::Gamma, element, attempt + 1);
    const double v = std::pow(1 + c * x, 3);
    if (v <= 0 || std::log(1 - unit(w[0], w[1])) >= x * x / 2 + d * (1 - v + std::log(v))) continue;
    return d * v * (a < 1 ? std::pow(1 - unit(w[2], w[3]), 1 / a) : 1);
  }
}

}  // namespace

constinit const Op random_bits_op = {
    .name     = "random_bits",
    .doc      = "32 random bits per element",
    .operands = "key",
    .infer    = [](const Op& op, const Types& in, const Attrs& a) -> Types {
      const Type out{DType::U32, joined(leading_axes(op, in[0]), a[shape])};
      require_shape(op, out.shape);
      return {out};
    },
    .eval = [](const Op&, const Arrays& in, const Attrs& a, const Types& out) -> Arrays {
      return {from_integers(out[0], for_each_key<int64_t>(in[0], size_of(a[shape]), [](KeyWords k, uint64_t i) {
                              return draw(k, Draw::Bits, i >> 2)[i & 3];
                            }))};
    },
    .batch = key_batch,
    .sample =
        [](const Op&, Rng& rng) {
          return draw_sample(rng, {{shape, {3, 2}}});
        },
};

constinit const Op random_split_op = {
    .name     = "random_split",
    .doc      = "new keys from a key",
    .operands = "key",
    .infer    = [](const Op& op, const Types& in, const Attrs& a) -> Types {
      const Type out{DType::U32, joined(leading_axes(op, in[0]), {a[count], 2})};
      require_shape(op, out.shape);
      return {out};
    },
    .eval = [](const Op&, const Arrays& in, const Attrs& a, const Types& out) -> Arrays {
      return {from_integers(out[0], for_each_key<int64_t>(in[0], 2 * a[count], [](KeyWords k, uint64_t i) {
                              return draw(k, Draw::Split, i >> 1)[i & 1];
                            }))};
    },
    .batch = key_batch,
    .sample =
        [](const Op&, Rng& rng) {
          return draw_sample(rng, {{count, int64_t{3}}});
        },
};

constinit const Op random_fold_in_op = {
    .name     = "random_fold_in",
    .doc      = "the key of an integer under a key",
    .operands = "key data",
    .infer    = [](const Op& op, const Types& in, const Attrs&) -> Types {
      require(is_integer(in[1].dtype) && in[1].shape == leading_axes(op, in[0]),
                 "{}: expected one integer per key of {}, got {}.", op.name, to_string(in[0]), to_string(in[1]));
      return {in[0]};
    },
    .eval = [](const Op&, const Arrays& in, const Attrs&, const Types& out) -> Arrays {
      const Integers       data(in[1]);
      const auto*          k = in[0].data<uint32_t>();
      std::vector<int64_t> v;
      for (int64_t j = 0; j < in[1].size(); ++j) {
        const Words w = draw({k[2 * j], k[2 * j + 1]}, Draw::FoldIn, static_cast<uint64_t>(data[j]));
        v.insert(v.end(), {w[0], w[1]});
      }
      return {from_integers(out[0], v)};
    },
    .batch  = elementwise_batch,
    .sample = [](const Op&, Rng& rng) -> std::vector<Sample> {
      return {{{random_keys(rng, {}), random_array(rng, {DType::I32, {}})}, {}},
              {{random_keys(rng, {2}), random_array(rng, {DType::I64, {2}})}, {}}};
    },
};

constinit const Op random_uniform_op = {
    .name     = "random_uniform",
    .doc      = "uniform in [0, 1)",
    .operands = "key",
    .infer    = float_draw_infer,
    .eval     = [](const Op&, const Arrays& in, const Attrs& a, const Types& out) -> Arrays {
      // Truncated, not rounded, to the precision of the type: rounding would reach 1.
      const double grid = std::ldexp(1.0, precision_of(out[0].dtype));
      return {from_doubles(out[0], for_each_key<double>(in[0], size_of(a[shape]), [&](KeyWords k, uint64_t i) {
                             const Words w = draw(k, Draw::Uniform, i);
                             return std::floor(unit(w[0], w[1]) * grid) / grid;
                           }))};
    },
    .batch = key_batch,
    .sample =
        [](const Op&, Rng& rng) {
          return draw_sample(rng, {{dtype, DType::F64}, {shape, {3, 2}}});
        },
};

constinit const Op random_normal_op = {
    .name     = "random_normal",
    .doc      = "normal with mean 0 and variance 1",
    .operands = "key",
    .infer    = float_draw_infer,
    .eval     = [](const Op&, const Arrays& in, const Attrs& a, const Types& out) -> Arrays {
      return {from_doubles(out[0], for_each_key<double>(in[0], size_of(a[shape]), [](KeyWords k, uint64_t i) {
                             return gaussian(draw(k, Draw::Normal, i));
                           }))};
    },
    .batch = key_batch,
    .sample =
        [](const Op&, Rng& rng) {
          return draw_sample(rng, {{dtype, DType::F64}, {shape, {3, 2}}});
        },
};

// Φ⁻¹(Φ(keys::low) + u (Φ(keys::high) - Φ(keys::low))), on the side of zero where Φ is small.
constinit const Op random_truncated_normal_op = {
    .name     = "random_truncated_normal",
    .doc      = "normal, given that it lies between low and high",
    .operands = "key",
    .infer    = [](const Op& op, const Types& in, const Attrs& a) -> Types {
      require(a[keys::low] < a[keys::high], "{}: low {} must be below high {}.", op.name, a[keys::low], a[keys::high]);
      return float_draw_infer(op, in, a);
    },
    .eval = [](const Op&, const Arrays& in, const Attrs& a, const Types& out) -> Arrays {
      const bool   mirrored = a[keys::low] > 0;
      const double l = mirrored ? -a[keys::high] : a[keys::low], h = mirrored ? -a[keys::low] : a[keys::high];
      const double p = normal_cdf(l), q = normal_cdf(h);
      return {from_doubles(out[0], for_each_key<double>(in[0], size_of(a[shape]), [&](KeyWords k, uint64_t i) {
                             const Words  w = draw(k, Draw::TruncatedNormal, i);
                             const double x = std::clamp(normal_quantile(p + unit(w[0], w[1]) * (q - p)), l, h);
                             return mirrored ? -x : x;
                           }))};
    },
    .batch = key_batch,
    .sample =
        [](const Op&, Rng& rng) {
          return draw_sample(rng, {{dtype, DType::F64}, {keys::high, 2.0}, {keys::low, -1.0}, {shape, {3, 2}}});
        },
};

constinit const Op random_gamma_op = {
    .name     = "random_gamma",
    .doc      = "gamma with shape parameter alpha and scale 1",
    .operands = "key",
    .infer    = [](const Op& op, const Types& in, const Attrs& a) -> Types {
      require(a[alpha] > 0 && std::isfinite(a[alpha]), "{}: alpha is {}; it must be positive and finite.", op.name,
                 a[alpha]);
      return float_draw_infer(op, in, a);
    },
    .eval = [](const Op&, const Arrays& in, const Attrs& a, const Types& out) -> Arrays {
      return {from_doubles(out[0], for_each_key<double>(in[0], size_of(a[shape]), [&](KeyWords k, uint64_t i) {
                             return gamma_draw(k, i, a[alpha]);
                           }))};
    },
    .batch = key_batch,
    .sample =
        [](const Op&, Rng& rng) {
          return draw_sample(rng, {{alpha, 0.7}, {dtype, DType::F64}, {shape, {3, 2}}});
        },
};

// 0 … n-1 in the order of n random numbers.
constinit const Op random_permutation_op = {
    .name     = "random_permutation",
    .doc      = "0 … n-1 in random order",
    .operands = "key",
    .infer    = [](const Op& op, const Types& in, const Attrs& a) -> Types {
      const Type out{DType::I32, joined(leading_axes(op, in[0]), {a[count]})};
      require(a[count] <= INT32_MAX, "{}: {} elements are more than i32 can count.", op.name, a[count]);
      require_shape(op, out.shape);
      return {out};
    },
    .eval = [](const Op&, const Arrays& in, const Attrs& a, const Types& out) -> Arrays {
      const int64_t        n = a[count];
      const auto*          k = in[0].data<uint32_t>();
      std::vector<int64_t> order;
      for (int64_t j = 0; j < in[0].size() / 2; ++j) {
        std::vector<std::pair<uint64_t, int64_t>> ticket;
        for (int64_t i = 0; i < n; ++i) {
          const Words w = draw({k[2 * j], k[2 * j + 1]}, Draw::Permutation, static_cast<uint64_t>(i));
          ticket.emplace_back(static_cast<uint64_t>(w[0]) << 32 | w[1], i);
        }
        std::sort(ticket.begin(), ticket.end());
        for (const auto& t : ticket) order.push_back(t.second);
      }
      return {from_integers(out[0], order)};
    },
    .batch = key_batch,
    .sample =
        [](const Op&, Rng& rng) {
          return draw_sample(rng, {{count, int64_t{5}}});
        },
};

const std::vector<const Op*>& random_ops() {
  static const std::vector<const Op*> ops = {
      &random_bits_op,  &random_fold_in_op,          &random_gamma_op,  &random_normal_op, &random_permutation_op,
      &random_split_op, &random_truncated_normal_op, &random_uniform_op};
  return ops;
}

}  // namespace braintrace

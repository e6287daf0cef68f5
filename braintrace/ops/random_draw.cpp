// SPDX-License-Identifier: Apache-2.0
// User functions of random.h: the ops, and distributions computed from them by ordinary equations.
#include "braintrace/ops/axes.h"
#include "braintrace/ops/compare.h"
#include "braintrace/ops/index.h"
#include "braintrace/ops/keys.h"
#include "braintrace/ops/math.h"
#include "braintrace/ops/move.h"
#include "braintrace/ops/pool.h"
#include "braintrace/ops/random.h"

namespace braintrace::random {

namespace {

using keys::count;
using keys::stride;
using keys::window;

void require_key(const Tensor& key, const char* where) {
  require(key.type() == Type{DType::U32, {2}},
          "{}: expected a key u32[2], got {}; make one with random::key or random::split.", where,
          to_string(key.type()));
}

Tensor unit_draw(const Tensor& key, Shape shape, DType dtype) {
  return apply1(random_uniform_op, {key}, {{keys::dtype, dtype}, {keys::shape, std::move(shape)}});
}

}  // namespace

Tensor key(uint64_t seed) {
  return Array::of<uint32_t>({static_cast<uint32_t>(seed), static_cast<uint32_t>(seed >> 32)}, {2});
}

Tensor split_stacked(const Tensor& key, int64_t n) {
  require_key(key, "random::split");
  require(n >= 0, "random::split: the number of keys is {}, it must not be negative.", n);
  return apply1(random_split_op, {key}, {{count, n}});
}

Tensors split(const Tensor& key, int64_t n) {
  const Tensor all = split_stacked(key, n);
  Tensors      keys;
  for (int64_t i = 0; i < n; ++i) keys.push_back(squeeze(slice_axis(all, 0, i, i + 1), {0}));
  return keys;
}

Tensor fold_in(const Tensor& key, const Tensor& data) {
  require_key(key, "random::fold_in");
  return apply1(random_fold_in_op, {key, data.is_weak() ? convert(data, DType::I64) : data});
}

Tensor bits(const Tensor& key, Shape shape) {
  require_key(key, "random::bits");
  return apply1(random_bits_op, {key}, {{keys::shape, std::move(shape)}});
}

Tensor uniform(const Tensor& key, Shape shape, const Tensor& lo, const Tensor& hi, DType dtype) {
  require_key(key, "random::uniform");
  const Tensor u = unit_draw(key, std::move(shape), dtype);
  if (lo.is_literal(0) && hi.is_literal(1)) return u;
  return lo + (hi - lo) * u;
}

Tensor normal(const Tensor& key, Shape shape, DType dtype) {
  require_key(key, "random::normal");
  return apply1(random_normal_op, {key}, {{keys::dtype, dtype}, {keys::shape, std::move(shape)}});
}

Tensor truncated_normal(const Tensor& key, Shape shape, double lo, double hi, DType dtype) {
  require_key(key, "random::truncated_normal");
  return apply1(random_truncated_normal_op, {key},
                {{keys::dtype, dtype}, {keys::high, hi}, {keys::low, lo}, {keys::shape, std::move(shape)}});
}

Tensor bernoulli(const Tensor& key, const Tensor& p, Shape shape) {
  require_key(key, "random::bernoulli");
  require(is_float(p.dtype()), "random::bernoulli: the probability must be floating-point, got {}.",
          to_string(p.type()));
  require(broadcast_shapes(p.shape(), shape, "random::bernoulli") == shape,
          "random::bernoulli: p {} does not broadcast to {}; make the shape larger.", to_string(p.type()),
          to_string(shape));
  // A bare number is compared in f32, whatever the default type: a 16-bit type would round the probability.
  return less(unit_draw(key, std::move(shape), p.is_weak() ? DType::F32 : p.dtype()), p);
}

Tensor bernoulli(const Tensor& key, const Tensor& p) { return bernoulli(key, p, p.shape()); }

Tensor randint(const Tensor& key, Shape shape, int64_t lo, int64_t hi, DType dtype) {
  require_key(key, "random::randint");
  const uint64_t n = static_cast<uint64_t>(hi) - static_cast<uint64_t>(lo);
  require(lo < hi && n <= (uint64_t{1} << 32), "random::randint: expected lo < hi at most 2^32 apart, got {} and {}.",
          lo, hi);
  require(is_integer(dtype), "random::randint: expected an integer type, got {}.", name_of(dtype));
  // 53 random bits over at most 2^32 values: no value is favored by more than 2^-21 of its probability.
  const Tensor steps = convert(unit_draw(key, std::move(shape), DType::F64) * static_cast<double>(n), DType::I64);
  return convert(steps + Tensor(Array::of<int64_t>({lo}, {})), dtype);
}

// argmax(logits + g), g = -log(-log u) Gumbel noise; u = 0 gives g = -∞, and g is never +∞.
Tensor categorical(const Tensor& key, const Tensor& logits) {
  require_key(key, "random::categorical");
  require(is_float(logits.dtype()) && logits.rank() >= 1 && logits.shape().back() >= 1,
          "random::categorical: logits must be floating-point with at least one class on the last axis, got {}.",
          to_string(logits.type()));
  const DType  dtype  = logits.dtype() == DType::F64 ? DType::F64 : DType::F32;
  const Tensor scores = convert(logits, dtype) - log(-log(unit_draw(key, logits.shape(), dtype)));
  Ints         all(logits.shape().size(), 1);
  const Ints   step = all;
  all.back()        = logits.shape().back();
  const Shape kept  = part(logits.shape(), 0, logits.rank() - 1);
  if (all.back() == 1) return zeros(kept, DType::I32);
  return convert(reshape(apply1(window_argmax_op, {scores}, {{stride, step}, {window, all}}), kept), DType::I32);
}

Tensor permutation(const Tensor& key, int64_t n) {
  require_key(key, "random::permutation");
  require(n >= 0, "random::permutation: the number of elements is {}, it must not be negative.", n);
  return apply1(random_permutation_op, {key}, {{count, n}});
}

Tensor permutation(const Tensor& key, const Tensor& x) {
  require(x.rank() >= 1, "random::permutation: x must have at least one axis, got {}.", to_string(x.type()));
  return take(x, permutation(key, x.shape()[0]), 0);
}

Tensor exponential(const Tensor& key, Shape shape, DType dtype) {
  require_key(key, "random::exponential");
  return -log(1 - unit_draw(key, std::move(shape), dtype));  // u < 1, so it is finite
}

Tensor gamma(const Tensor& key, double alpha, Shape shape, DType dtype) {
  require_key(key, "random::gamma");
  return apply1(random_gamma_op, {key}, {{keys::alpha, alpha}, {keys::dtype, dtype}, {keys::shape, std::move(shape)}});
}

}  // namespace braintrace::random

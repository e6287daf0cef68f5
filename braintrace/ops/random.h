// SPDX-License-Identifier: Apache-2.0
// Random numbers as pure functions of a key. A key is a u32[2] tensor; a draw depends only on the key, the distribution
// and the flat index of the element, not on threads, order or other elements. Use each key for only one draw: split it
// to get more.
//
//   const Tensor k = random::key(7);
//   const Tensors parts = random::split(k, 2);
//   const Tensor w = 0.1 * random::normal(parts[0], {8, 4});
//
// Keys have no derivative; uniform and normal draws are transformed by ordinary equations, which have derivatives.
#pragma once

#include "braintrace/base/default_float.h"
#include "braintrace/ops/families.h"

namespace braintrace {

extern const Op random_bits_op, random_fold_in_op, random_gamma_op, random_normal_op, random_permutation_op,
    random_split_op, random_truncated_normal_op, random_uniform_op;

const std::vector<const Op*>& random_ops();

namespace random {

Tensor  key(uint64_t seed);
Tensors split(const Tensor& key, int64_t n);
Tensor  split_stacked(const Tensor& key, int64_t n);  // the same keys as one u32[n,2]
// The key for item `data` (an integer scalar: a step, an epoch, a layer) under `key`.
Tensor fold_in(const Tensor& key, const Tensor& data);

Tensor bits(const Tensor& key, Shape shape);  // u32, all values equally likely
// lo + (hi - lo)·u with u in [0, 1) on the grid of spacing 2^-p, p the precision of dtype.
Tensor uniform(const Tensor& key, Shape shape, const Tensor& lo = 0.0, const Tensor& hi = 1.0,
               DType dtype = default_float());
Tensor normal(const Tensor& key, Shape shape, DType dtype = default_float());
// The normal distribution, conditioned on lo ≤ x ≤ hi.
Tensor truncated_normal(const Tensor& key, Shape shape, double lo, double hi, DType dtype = default_float());
// True with probability p, elementwise.
Tensor bernoulli(const Tensor& key, const Tensor& p, Shape shape);
Tensor bernoulli(const Tensor& key, const Tensor& p);
// lo … hi-1; at most 2^32 different values.
Tensor randint(const Tensor& key, Shape shape, int64_t lo, int64_t hi, DType dtype = DType::I32);
// Indices along the last axis with probabilities softmax(logits); i32.
Tensor categorical(const Tensor& key, const Tensor& logits);
// 0 … n-1 in random order; i32. Or the rows of x (its first axis) in random order.
Tensor permutation(const Tensor& key, int64_t n);
Tensor permutation(const Tensor& key, const Tensor& x);
Tensor exponential(const Tensor& key, Shape shape, DType dtype = default_float());  // mean 1
// Shape parameter alpha > 0, scale 1. alpha is a static number: a draw has no derivative with respect to it.
Tensor gamma(const Tensor& key, double alpha, Shape shape, DType dtype = default_float());

}  // namespace random

}  // namespace braintrace

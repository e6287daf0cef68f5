// SPDX-License-Identifier: Apache-2.0
#include "tests/transforms/random_program.h"

#include "braintrace/base/rng.h"
#include "braintrace/ops/math.h"
#include "braintrace/ops/move.h"
#include "braintrace/ops/reduce.h"

namespace braintrace::testing_support {

namespace {

constexpr double reach = 0.05;  // how far operands move from their sample

const Op& op_of(const Step& s) { return *all_ops()[s.op % all_ops().size()]; }

// The elements of x in row-major order, repeated or cut to fill `shape`.
Tensor fitted(const Tensor& x, const Shape& shape) {
  const int64_t wanted = size_of(shape), given = x.size();
  if (given == 0 || wanted == 0) return zeros(shape, DType::F64);
  const Tensor row = reshape(x, {1, given});
  const auto   n   = (wanted + given - 1) / given;
  return reshape(slice_axis(reshape(broadcast_to(row, {n, given}), {n * given}), 0, 0, wanted), shape);
}

void take_step(const Step& s, Tensors& pool) {
  const Op&  op = op_of(s);
  Rng        rng(s.sample);
  const auto samples = op.sample(op, rng);
  Sample     use     = samples[s.sample % samples.size()];
  uint32_t   choice  = s.operands;
  for (Tensor& t : use.in) {
    if (t.dtype() != DType::F64) continue;
    t = t + tanh(fitted(pool[choice % pool.size()], t.shape())) * reach;
    choice /= 3;
  }
  // Without a traced operand the op is just evaluated: that is a constant of the program.
  for (const Tensor& y : apply(op, use.in, use.attrs))
    if (y.dtype() == DType::F64 && y.size() > 0) pool.push_back(y);
}

}  // namespace

Instance random_run(const Recipe& recipe) {
  const Tensors in = {normal({2, 3}, 101), normal({3}, 102)};
  return run_of(
      [&](const Tensors& args) -> Tensors {
        Tensors pool = args;
        for (const Step& s : recipe) take_step(s, pool);
        return {tanh(pool.back()) + sum(args[0]) * 0.1, pool[pool.size() - 2] * 0.5};
      },
      in);
}

std::string describe(const Recipe& recipe) {
  std::string text;
  for (const Step& s : recipe) text += std::string(op_of(s).name) + " ";
  return text;
}

}  // namespace braintrace::testing_support

// SPDX-License-Identifier: Apache-2.0
// Every operation, on its samples and their derivatives, in every float type it takes: machine code against the
// interpreter.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "braintrace/ops/families.h"
#include "braintrace/ops/math.h"
#include "braintrace/transforms/linearize.h"
#include "braintrace/transforms/walk.h"
#include "tests/codegen/agreement.h"
#include "tests/ops/laws.h"

namespace braintrace {
namespace {

using testing_support::Job;

constexpr double f64_tolerance = 1e-12;
constexpr double f32_tolerance = 2e-5;  // sums in another order, functions within 4 ulp
constexpr double f16_tolerance = 2e-3, bf16_tolerance = 1e-2;

// One equation as a program.
Job job_of(const std::string& name, const Tensors& in, const Op& op, const Attrs& attrs) {
  auto    builder = Builder::open();
  Tensors args;
  for (const Tensor& t : in) args.push_back(builder->argument(t.type()));
  const Tensors out = builder->emit(op, args, attrs, infer(op, types_of(in), attrs));
  Job           j{name, builder->finish(out).program, {}, {}};
  for (const Tensor& x : in) j.args.push_back(x.array());
  return j;
}

// The sample with its floats as `dtype`; nothing when the op does not take that type.
std::optional<Job> sample_job(const laws::Case& c, DType dtype) {
  Sample s = c.draw(11);
  try {
    for (Tensor& t : s.in)
      if (is_float(t.dtype())) t = convert(t, dtype);
    if (s.attrs.find(Key<DType>{"dtype"}) && is_float(s.attrs[Key<DType>{"dtype"}]))
      s.attrs = s.attrs.with(Key<DType>{"dtype"}, dtype);
    return job_of(fmt::format("{} {} sample {}", c.op->name, name_of(dtype), c.index), s.in, *c.op, s.attrs);
  } catch (const UserError&) {
    return {};
  }
}

std::vector<Job> sample_jobs(DType dtype) {
  std::vector<Job> jobs;
  for (const Op* op : all_ops())
    for (const auto& c : laws::cases(*op))
      if (auto j = sample_job(c, dtype)) jobs.push_back(std::move(*j));
  return jobs;
}

void expect_agreement(const std::vector<Job>& jobs, double tolerance) {
  const auto w = testing_support::worst_disagreement(jobs);
  EXPECT_LE(w.distance, tolerance) << w.name;
}

TEST(CompiledOps, AgreeInF64) {
  const auto jobs = sample_jobs(DType::F64);
  EXPECT_GT(jobs.size(), all_ops().size());
  expect_agreement(jobs, f64_tolerance);
}
TEST(CompiledOps, AgreeInF32) { expect_agreement(sample_jobs(DType::F32), f32_tolerance); }
TEST(CompiledOps, AgreeInF16) { expect_agreement(sample_jobs(DType::F16), f16_tolerance); }
TEST(CompiledOps, AgreeInBF16) { expect_agreement(sample_jobs(DType::BF16), bf16_tolerance); }

// Results and pull-backs of every float operand in one program: what training runs.
TEST(CompiledOps, PullbacksAgree) {
  std::vector<Job> jobs;
  for (const Op* op : all_ops())
    for (const auto& c : laws::cases(*op)) {
      const Sample s = c.draw(12);
      Job          j = job_of(fmt::format("pull-back of {} sample {}", op->name, c.index), s.in, *op, s.attrs);
      Mask         active;
      for (const Tensor& t : s.in) active.push_back(is_float(t.dtype()));
      if (!any_true(active)) continue;
      j.program = vjp_program(j.program, active);
      for (size_t i = j.args.size(); i < j.program.args.size(); ++i)
        j.args.push_back(Tensor(j.program.type(j.program.args[i]), 0.75).array());
      jobs.push_back(std::move(j));
    }
  EXPECT_GT(jobs.size(), 50u);
  expect_agreement(jobs, f64_tolerance);
}

}  // namespace
}  // namespace braintrace

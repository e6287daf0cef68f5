// SPDX-License-Identifier: Apache-2.0
#include "tests/codegen/op_jobs.h"

#include <fmt/format.h>

#include "braintrace/ir/builder.h"
#include "braintrace/ops/families.h"
#include "braintrace/ops/math.h"
#include "braintrace/transforms/linearize.h"
#include "braintrace/transforms/walk.h"
#include "tests/ops/laws.h"

namespace braintrace::testing_support {
namespace {

// One equation as a program.
Job job_of(const std::string& name, const Sample& s, const Op& op) {
  auto    builder = Builder::open();
  Tensors args;
  for (const Tensor& t : s.in) args.push_back(builder->argument(t.type()));
  const Tensors out = builder->emit(op, args, s.attrs, infer(op, types_of(s.in), s.attrs));
  Job           j{name, builder->finish(out).program, {}, {}};
  for (const Tensor& x : s.in) j.args.push_back(x.array());
  return j;
}

}  // namespace

std::vector<Job> op_jobs(DType dtype) {
  std::vector<Job> jobs;
  for (const Op* op : all_ops())
    for (const auto& c : laws::cases(*op)) try {
        Sample s = c.draw(11);
        for (Tensor& t : s.in)
          if (is_float(t.dtype())) t = convert(t, dtype);
        if (s.attrs.find(Key<DType>{"dtype"}) && is_float(s.attrs[Key<DType>{"dtype"}]))
          s.attrs = s.attrs.with(Key<DType>{"dtype"}, dtype);
        jobs.push_back(job_of(fmt::format("{} {} sample {}", op->name, name_of(dtype), c.index), s, *op));
      } catch (const UserError&) {
        continue;  // the op does not take that type
      }
  return jobs;
}

std::vector<Job> pullback_jobs() {
  std::vector<Job> jobs;
  for (const Op* op : all_ops())
    for (const auto& c : laws::cases(*op)) {
      const Sample s = c.draw(12);
      Job          j = job_of(fmt::format("pull-back of {} sample {}", op->name, c.index), s, *op);
      Mask         active;
      for (const Tensor& t : s.in) active.push_back(is_float(t.dtype()));
      if (!any_true(active)) continue;
      j.program = vjp_program(j.program, active);
      for (size_t i = j.args.size(); i < j.program.args.size(); ++i)
        j.args.push_back(Tensor(j.program.type(j.program.args[i]), 0.75).array());
      jobs.push_back(std::move(j));
    }
  return jobs;
}

}  // namespace braintrace::testing_support

// SPDX-License-Identifier: Apache-2.0
#include "tests/cuda/jobs.h"

#include <fmt/format.h>

#include "braintrace/ir/builder.h"
#include "braintrace/ops/families.h"
#include "braintrace/ops/math.h"
#include "tests/codegen/learning_jobs.h"
#include "tests/codegen/random_job.h"
#include "tests/ops/laws.h"

namespace braintrace::testing_support {

std::vector<Job> cuda_random_jobs() {
  const std::string words[] = {"", "R", "M", "F", "RM"};
  Rng               rng(5);
  std::vector<Job>  jobs;
  for (int i = 0; i < 40; ++i) jobs.push_back(random_job(rng, words[i % std::size(words)]));
  return jobs;
}

std::vector<Job> cuda_learning_jobs() {
  std::vector<Job> jobs = learning_jobs({"gru", "alif"}, DType::F64);
  // Parts of a batch, several blocks, tails of tiles.
  for (const char* rule : {"D_RTRL", "ES_D_RTRL", "BPTT"})
    jobs.push_back(learning_job({.kind  = "rnn",
                                 .rule  = rule,
                                 .form  = Form::Sequence,
                                 .dtype = DType::F32,
                                 .batch = 64,
                                 .n_in  = 5,
                                 .n     = 40,
                                 .n_out = 3,
                                 .steps = 4}));
  return jobs;
}

std::vector<Job> cuda_op_jobs(DType dtype) {
  std::vector<Job> jobs;
  for (const Op* op : all_ops())
    for (const auto& c : laws::cases(*op)) try {
        Sample s = c.draw(11);
        for (Tensor& t : s.in)
          if (is_float(t.dtype())) t = convert(t, dtype);
        if (s.attrs.find(Key<DType>{"dtype"}) && is_float(s.attrs[Key<DType>{"dtype"}]))
          s.attrs = s.attrs.with(Key<DType>{"dtype"}, dtype);
        auto    builder = Builder::open();
        Tensors args;
        for (const Tensor& t : s.in) args.push_back(builder->argument(t.type()));
        const Tensors out = builder->emit(*c.op, args, s.attrs, infer(*c.op, types_of(s.in), s.attrs));
        Job           j{
            fmt::format("{} {} sample {}", c.op->name, name_of(dtype), c.index), builder->finish(out).program, {}, {}};
        for (const Tensor& x : s.in) j.args.push_back(x.array());
        jobs.push_back(std::move(j));
      } catch (const UserError&) {
        continue;  // the op does not take that type
      }
  return jobs;
}

std::vector<std::vector<Job>> all_cuda_jobs() {
  return {cuda_random_jobs(), cuda_learning_jobs(), cuda_op_jobs(DType::F64), cuda_op_jobs(DType::F32)};
}

}  // namespace braintrace::testing_support

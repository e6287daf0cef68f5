// SPDX-License-Identifier: Apache-2.0
#include "tests/cuda/jobs.h"

#include <cstdlib>

#include <fmt/format.h>

#include "braintrace/codegen/known_indices.h"
#include "braintrace/ir/builder.h"
#include "braintrace/ops/compare.h"
#include "braintrace/ops/index.h"
#include "braintrace/ops/index_walk.h"
#include "braintrace/ops/math.h"
#include "braintrace/ops/sparse.h"
#include "tests/codegen/learning_jobs.h"
#include "tests/codegen/op_jobs.h"
#include "tests/codegen/random_job.h"

namespace braintrace::testing_support {

std::vector<Job> cuda_random_jobs() {
  const std::string words[] = {"", "R", "M", "F", "RM"};
  const char*       seed    = std::getenv("BRAINTRACE_FUZZ_SEED");
  Rng               rng(seed ? std::strtoull(seed, nullptr, 10) : 5);
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

// Products with a known pattern and updates of its entries, of vectors and of rows, few of which are not silent.
std::vector<Job> cuda_event_jobs() {
  constexpr int64_t n = 90, m = 70, entries = 5000;
  Rng               rng(8);
  Array             from({DType::I32, {entries}}), to({DType::I32, {entries}});
  for (int64_t e = 0; e < entries; ++e) {
    from.mutable_data<int32_t>()[e] = static_cast<int32_t>(e * n / entries);
    to.mutable_data<int32_t>()[e]   = static_cast<int32_t>(rng.integer(m));
  }
  std::vector<Job> jobs;
  for (const Shape& shape : {Shape{n}, Shape{3, n}}) {
    const SparsePattern p{Tensor(from), Tensor(to), n, m};
    const Traced        t = trace({{DType::F32, {entries}}, {DType::F32, shape}}, [&](const Tensors& in) -> Tensors {
      const Tensor spikes = convert(greater(in[1], 1.0), DType::F32), y = dot(spikes, p, in[0]);
      if (spikes.rank() > 1) return {y, dot(y, transposed(p), in[0])};
      return {y, in[0] - take(spikes, Tensor(from)) * take(y, Tensor(to))};
    });
    Job                 j{fmt::format("events of rank {}", shape.size()), t.program, {}, {}};
    for (const Tensor& c : t.constants) j.constants.push_back(c.array());
    j.program = codegen::with_known_indices(t.program, j.constants);
    j.args    = {random_array(rng, {DType::F32, {entries}}), random_array(rng, {DType::F32, shape})};
    jobs.push_back(std::move(j));
  }
  return jobs;
}

std::vector<std::vector<Job>> all_cuda_jobs() {
  return {cuda_random_jobs(), cuda_learning_jobs(), op_jobs(DType::F64), op_jobs(DType::F32), cuda_event_jobs()};
}

}  // namespace braintrace::testing_support

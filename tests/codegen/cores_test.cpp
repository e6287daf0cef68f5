// SPDX-License-Identifier: Apache-2.0
// Code cut for any number of cores and run by any number of threads gives the same bits.
#include <array>
#include <atomic>
#include <cstdlib>
#include <sched.h>
#include <thread>
#include <tuple>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "braintrace/backends/cpu/cpu_backend.h"
#include "braintrace/backends/cpu/thread_pool.h"
#include "braintrace/base/finite.h"
#include "braintrace/base/rng.h"
#include "braintrace/codegen/schedule.h"
#include "braintrace/functions/loops.h"
#include "braintrace/ir/builder.h"
#include "braintrace/ops/contract.h"
#include "braintrace/ops/elementary.h"
#include "braintrace/ops/index_walk.h"
#include "braintrace/ops/math.h"
#include "braintrace/ops/move.h"
#include "tests/codegen/learning_jobs.h"

namespace braintrace {
namespace {

using codegen::Kernel;
using testing_support::Form;
using testing_support::Job;

// Small nets are shared like large ones: caches hold little, and little work is worth a thread.
codegen::Options cut_for(int64_t cores, int64_t cache = 1000) {
  codegen::Options o;
  o.target.cores           = cores;
  o.target.shared_elements = 256;
  o.target.cache_elements  = cache;
  return o;
}

// h_t = tanh(x_t + h_{t-1} w) over a sequence.
Program recurrent(int64_t batch, int64_t n) {
  return trace({{DType::F32, {20, batch, n}}, {DType::F32, {n, n}}},
               [&](const Tensors& in) -> Tensors {
                 const auto step = [&](const Tensor& h, const Tensor& x) {
                   const Tensor next = tanh(x + dot(h, in[1]));
                   return std::pair(next, next);
                 };
                 return {scan(step, zeros({batch, n}, DType::F32), in[0]).second};
               })
      .program;
}

// h_t = tanh(x_t + h_{t-1} w) tanh(1 + h_{t-1} v): both products read h.
Program gated(int64_t batch, int64_t n) {
  return trace({{DType::F32, {20, batch, n}}, {DType::F32, {n, n}}, {DType::F32, {n, n}}},
               [&](const Tensors& in) -> Tensors {
                 const auto step = [&](const Tensor& h, const Tensor& x) {
                   const Tensor next = tanh(x + dot(h, in[1])) * tanh(1.0 + dot(h, in[2]));
                   return std::pair(next, next);
                 };
                 return {scan(step, zeros({batch, n}, DType::F32), in[0]).second};
               })
      .program;
}

// Arrays one above the other.
Program stacked() {
  return trace({{DType::F32, {70, 33}}, {DType::F32, {41, 33}}, {DType::F32, {1, 33}}},
               [](const Tensors& in) -> Tensors {
                 return {concat({in[0], in[1], in[2]}, 0)};
               })
      .program;
}

// h_t = tanh(h_{t-1} + x_t w), y_t = h_t uᵀ: one row per lane, and every lane has its own weights.
Program lanes(int64_t lanes, int64_t n) {
  return trace({{DType::F32, {20, lanes, 1, n}}, {DType::F32, {lanes, n, n}}, {DType::F32, {lanes, n, n}}},
               [&](const Tensors& in) -> Tensors {
                 const DotAxes by_lane{{2}, {1}, {0}, {0}}, transposed{{2}, {2}, {0}, {0}};
                 const auto    step = [&](const Tensor& h, const Tensor& x) {
                   const Tensor next = tanh(h + dot_general(x, in[1], by_lane));
                   return std::pair(next, dot_general(next, in[2], transposed));
                 };
                 return {scan(step, zeros({lanes, 1, n}, DType::F32), in[0]).second};
               })
      .program;
}

std::vector<Job> jobs() {
  std::vector<Job> out;
  for (const Form form : {Form::Step, Form::Sequence})
    out.push_back(testing_support::learning_job(
        {.rule = "D_RTRL", .form = form, .dtype = DType::F32, .batch = 32, .n_in = 9, .n = 17}));
  out.push_back(testing_support::learning_job(
      {.kind = "lif", .rule = "BPTT", .form = Form::Window, .dtype = DType::F32, .batch = 32, .n_in = 9, .n = 40}));
  for (const auto& [kind, rule, dtype] :
       {std::tuple{"gru", "D_RTRL", DType::F32}, {"lstm", "ES_D_RTRL", DType::F32}, {"gru", "BPTT", DType::F64}})
    out.push_back(testing_support::learning_job(
        {.kind = kind, .rule = rule, .form = Form::Window, .dtype = dtype, .batch = 32, .n_in = 33, .n = 70}));
  out.push_back(testing_support::learning_job({.kind  = "lstm",
                                               .rule  = "ES_D_RTRL",
                                               .form  = Form::Sequence,
                                               .dtype = DType::F32,
                                               .batch = 1,
                                               .n_in  = 16,
                                               .n     = 70}));
  out.push_back(testing_support::learning_job(
      {.kind = "rnn", .rule = "BPTT", .form = Form::Window, .batch = 64, .n_in = 7, .n = 17, .n_out = 1, .layers = 1}));
  Rng        rng(4);
  const auto add = [&](const std::string& name, const Program& p) {
    Arrays in;
    for (Var v : p.args) in.push_back(random_array(rng, p.type(v)));
    out.push_back({name, p, {}, in});
  };
  add("small", recurrent(64, 17));
  add("large", recurrent(64, 96));
  add("gated", gated(64, 40));
  add("odd rows", gated(20, 17));
  add("lanes", lanes(20, 32));
  add("stacked", stacked());
  return out;
}

std::vector<Arrays> results(const std::vector<Job>& jobs, const codegen::Options& options, int threads) {
  std::vector<Program> programs;
  std::vector<Arrays>  constants, out;
  for (const Job& j : jobs) {
    programs.push_back(j.program);
    constants.push_back(j.constants);
  }
  const auto compiled = cpu::compile_together(programs, constants, options);
  const int  before   = cpu::num_threads();
  cpu::set_num_threads(threads);
  for (size_t i = 0; i < jobs.size(); ++i) out.push_back(compiled[i]->run(jobs[i].args));
  cpu::set_num_threads(before);
  return out;
}

TEST(Cores, DoNotChangeBits) {
  const auto all  = jobs();
  const auto want = results(all, cut_for(2), 1);
  for (const int64_t cores : {3, 4, 6, 16, 64}) {
    const auto got = results(all, cut_for(cores), static_cast<int>(std::min<int64_t>(cores, 6)));
    for (size_t i = 0; i < all.size(); ++i)
      for (size_t r = 0; r < got[i].size(); ++r)
        EXPECT_TRUE(all_finite(got[i][r]) && identical(got[i][r], want[i][r]))
            << all[i].name << ", " << cores << " cores, result " << r;
  }
}

// The time loop of a recurrent network.
Kernel loop_of(int64_t batch, int64_t n, const codegen::Options& o) {
  const auto kernels = codegen::scheduled({recurrent(batch, n)}, o).entries[0]->kernels;
  return *std::find_if(kernels.begin(), kernels.end(),
                       [](const Kernel& k) { return std::holds_alternative<codegen::TimeLoop>(k.what); });
}

TEST(Cores, ShareRowsOfSmallNetsAndColumnsOfLargeWeights) {
  const auto loop = [](int64_t cores, int64_t cache) { return loop_of(64, 96, cut_for(cores, cache)); };
  EXPECT_EQ(loop(2, 1 << 20).parts, 4);
  EXPECT_EQ(loop(16, 1 << 20).parts, 16) << "four rows for each core";
  EXPECT_EQ(loop(64, 1 << 20).parts, 16) << "fewer rows are not worth it";
  EXPECT_EQ(loop(2, 1000).parts, 2);
  const Kernel meets = loop(16, 1000);
  EXPECT_EQ(meets.parts, 1);
  const auto& kernels = std::get<codegen::TimeLoop>(meets.what).body->kernels;
  ASSERT_EQ(kernels.size(), 2u);
  EXPECT_TRUE(std::holds_alternative<codegen::Product>(kernels[0].what));
  EXPECT_GE(kernels[0].parts, 12);
  EXPECT_GT(kernels[0].grain, 0) << "shared";
  EXPECT_TRUE(kernels[1].joins) << "its columns are at hand";
}

// Random networks on random machines: sizes that nothing divides, caches that hold all or nothing. More of them with
// BRAINTRACE_FUZZ_PROGRAMS, others with BRAINTRACE_FUZZ_SEED.
TEST(Cores, RandomNetworksHaveTheSameBits) {
  const char *asked = std::getenv("BRAINTRACE_FUZZ_PROGRAMS"), *seed = std::getenv("BRAINTRACE_FUZZ_SEED");
  Rng         rng(seed ? std::strtoull(seed, nullptr, 10) : 5);
  const auto  one_of = [&](const auto& all) { return *(std::begin(all) + rng.integer(std::ssize(all))); };
  const auto  size   = [&](std::initializer_list<int64_t> all) { return one_of(all); };
  const auto  kind   = [&](std::initializer_list<const char*> all) { return one_of(all); };
  for (int left = asked ? std::atoi(asked) : 12; left > 0; left -= 4) {
    std::vector<Job>         jobs;
    std::vector<std::string> names;
    for (int i = 0; i < 4; ++i) {
      const testing_support::LearningOptions o{.kind   = kind({"rnn", "gru", "lstm", "lif", "alif"}),
                                               .rule   = kind({"D_RTRL", "ES_D_RTRL", "BPTT"}),
                                               .form   = one_of(std::array{Form::Step, Form::Window, Form::Sequence}),
                                               .dtype  = one_of(std::array{DType::F32, DType::F64}),
                                               .batch  = size({1, 2, 5, 8, 12, 20, 33, 36, 50, 64}),
                                               .n_in   = size({1, 2, 7, 16, 40}),
                                               .n      = size({1, 3, 8, 17, 32, 70}),
                                               .n_out  = size({1, 2, 9}),
                                               .layers = size({1, 1, 2})};
      jobs.push_back(testing_support::learning_job(o));
      names.push_back(fmt::format("{}, B = {}, n_in = {}, n = {}, n_out = {}, {} layers", jobs.back().name, o.batch,
                                  o.n_in, o.n, o.n_out, o.layers));
    }
    codegen::Options o       = cut_for(2);
    o.target.shared_elements = size({16, 256, 65536});  // sums are divided by this number, whatever the cores
    const auto want          = results(jobs, o, 1);
    for (int tries = 0; tries < 2; ++tries) {
      o.target.cores          = size({1, 2, 3, 4, 5, 6, 7, 12, 16, 48, 64});
      o.target.cache_elements = size({1000, 10000, 1 << 20});
      const auto got          = results(jobs, o, static_cast<int>(size({1, 2, 5})));
      for (size_t i = 0; i < jobs.size(); ++i)
        for (size_t r = 0; r < got[i].size(); ++r)
          EXPECT_TRUE(identical(got[i][r], want[i][r]))
              << names[i] << "; " << o.target.cores << " cores, caches of " << o.target.cache_elements
              << ", shared from " << o.target.shared_elements << ", result " << r;
    }
  }
}

// Any batch on any number of cores.
TEST(Cores, ShareRowsEvenlyOrNotAtAll) {
  const auto parts = [](int64_t batch, int64_t cores, int64_t cache) {
    return loop_of(batch, 40, cut_for(cores, cache)).parts;
  };
  for (const int64_t batch : {1, 2, 5, 7, 20, 30, 36, 50, 64, 96, 100, 128, 250})
    for (const int64_t cores : {1, 2, 3, 5, 6, 7, 12, 16, 48, 64})
      for (const int64_t cache : {1 << 20, 1000}) {
        const int64_t p = parts(batch, cores, cache);
        EXPECT_EQ(batch % p, 0) << batch << " rows, " << cores << " cores";
        EXPECT_TRUE(p == 1 || batch / p >= 4) << batch << " rows, " << cores << " cores, " << p << " parts";
      }
  EXPECT_EQ(parts(20, 2, 1 << 20), 4) << "five rows, twice";
  EXPECT_EQ(parts(96, 2, 1000), 4) << "three parts of 32 rows would leave one core without work";
  EXPECT_EQ(parts(64, 6, 1 << 20), 16) << "three rounds of four rows";
  EXPECT_EQ(parts(7, 2, 1 << 20), 1) << "a prime number of rows";
}

// Kernels in the loop of a program.
std::vector<Kernel> inside(const Program& p, const codegen::Options& o) {
  const codegen::Schedule s = codegen::scheduled({p}, o);
  for (const Kernel& k : s.entries[0]->kernels)
    if (const auto* loop = std::get_if<codegen::TimeLoop>(&k.what)) return loop->body->kernels;
  return {};
}
int64_t products_of(const std::vector<Kernel>& kernels) {
  return std::count_if(kernels.begin(), kernels.end(),
                       [](const Kernel& k) { return std::holds_alternative<codegen::Product>(k.what); });
}
// How often the cores synchronize in a step.
int64_t regions_of(const std::vector<Kernel>& kernels) {
  return std::count_if(kernels.begin(), kernels.end(), [](const Kernel& k) { return !k.joins; });
}

TEST(Cores, SynchronizeOnceInAStepOfOneLayer) {
  for (const bool is_gated : {false, true}) {
    const Program p       = is_gated ? gated(64, 40) : recurrent(64, 40);
    const auto    kernels = inside(p, cut_for(16));
    EXPECT_EQ(products_of(kernels), is_gated ? 2 : 1);
    EXPECT_EQ(regions_of(kernels), 1);
    EXPECT_GT(kernels[0].grain, 0);
    codegen::Options apart = cut_for(16);
    apart.without          = {"regions"};
    EXPECT_EQ(regions_of(inside(p, apart)), products_of(kernels) + 1);
    EXPECT_EQ(regions_of(inside(p, cut_for(2))), std::ssize(inside(p, cut_for(2)))) << "few cores have no regions";
  }
}

// h_t = tanh(h_{t-1} w) u: the second product needs all columns of its operand, so it begins another region; what reads
// other columns than it writes also does.
TEST(Cores, SynchronizeBeforeTheyReadColumnsOfOthers) {
  const auto step_of = [](const std::function<Tensor(const Tensor&, const Tensors&)>& f) {
    const Type square{DType::F32, {64, 64}};
    return inside(trace({square, square},
                        [&](const Tensors& in) -> Tensors {
                          const auto step = [&](const Tensor& h, const Tensor& x) {
                            const Tensor next = f(h, in) + x;
                            return std::pair(next, next);
                          };
                          return {scan(step, zeros({64, 64}, DType::F32), zeros({20, 64, 64}, DType::F32)).second};
                        })
                      .program,
                  cut_for(16));
  };
  const auto twice = step_of([](const Tensor& h, const Tensors& in) { return dot(tanh(dot(h, in[0])), in[1]); });
  EXPECT_EQ(products_of(twice), 2);
  EXPECT_EQ(regions_of(twice), 2);
  const auto turned = step_of([](const Tensor& h, const Tensors& in) {
    return transpose(tanh(dot(h, in[0])), {1, 0});
  });
  EXPECT_EQ(regions_of(turned), 2);
}

TEST(Cores, ShareArraysThatAreStacked) {
  const Kernel k = codegen::scheduled({stacked()}, cut_for(16)).entries[0]->kernels.at(0);
  EXPECT_EQ(k.parts, 112);
  EXPECT_GT(k.grain, 0);
}

// What short sums make of a step's values is made in the step; a readout of long ones once for all steps.
TEST(Cores, ComputeShortSumsWhereTheyAreRead) {
  const auto in_loop = [](int64_t terms, int64_t cache) {
    const Program p = trace({{DType::F32, {20, 64, terms}}, {DType::F32, {terms, 32}}, {DType::F32, {32, 32}}},
                            [&](const Tensors& in) -> Tensors {
                              const auto step = [&](const Tensor& h, const Tensor& x) {
                                const Tensor next = tanh(dot(tanh(x), in[1]) + dot(h, in[2]));
                                return std::pair(next, next);
                              };
                              return {scan(step, zeros({64, 32}, DType::F32), in[0]).second};
                            })
                          .program;
    return products_of(inside(p, cut_for(16, cache)));
  };
  EXPECT_EQ(in_loop(10, 10000), 2);
  EXPECT_EQ(in_loop(40, 10000), 1);
  EXPECT_EQ(in_loop(40, 1000), 2) << "in the region of the product with h";
}

TEST(Cores, CutLongSumsInTwoDimensions) {
  const auto product = [](int64_t cores) {
    const Program p = trace({{DType::F32, {6400, 256}}, {DType::F32, {6400, 256}}}, [](const Tensors& in) -> Tensors {
                        return {dot_general(in[0], in[1], {{0}, {0}, {}, {}})};
                      }).program;
    return codegen::scheduled({p}, cut_for(cores)).entries[0]->kernels.at(0);
  };
  EXPECT_LE(product(2).parts, 8);
  EXPECT_GE(product(16).parts, 16);
  EXPECT_GE(product(64).parts, 64);
}

// The last round of parts has work for nearly all cores.
TEST(Cores, TakePartsOfProductsInFullRounds) {
  for (const int64_t cores : {8, 16, 32}) {
    const Program p = trace({{DType::F32, {6400, 512}}, {DType::F32, {512, 512}}}, [](const Tensors& in) -> Tensors {
                        return {dot(in[0], in[1])};
                      }).program;
    const int64_t parts  = codegen::scheduled({p}, cut_for(cores)).entries[0]->kernels.at(0).parts;
    const int64_t rounds = (parts + cores - 1) / cores;
    EXPECT_LE(static_cast<double>(rounds * cores), 1.06 * static_cast<double>(parts)) << cores << " cores";
  }
}

// Columns of a large array are not rows of it: a thread that owns rows owns a part of each column.
TEST(Cores, ATransposedArrayIsSharedByAllThreads) {
  const auto kernel = [](bool turned) {
    const Program p = trace({{DType::F32, {640, 512}}}, [&](const Tensors& in) -> Tensors {
                        const Tensor part = slice(in[0], {128, 0}, {640, 512});
                        return {tanh(turned ? transpose(part, {1, 0}) : part)};
                      }).program;
    return codegen::scheduled({p}, cut_for(8)).entries[0]->kernels.at(0);
  };
  EXPECT_EQ(kernel(false).whole / kernel(false).parts, 640 * 512 / (512 * 512));
  EXPECT_EQ(kernel(true).whole, 0);
  EXPECT_GE(kernel(true).parts / kernel(true).grain, 8);
}

// Processors that the threads of a fresh pool may run on, the caller's apart.
int processors_of_workers(int threads) {
  static std::atomic<int> count;
  static std::thread::id  caller;
  const codegen::bt_task  task = [](const codegen::bt_frame*, int64_t, int64_t) -> int32_t {
    cpu_set_t set;
    if (std::this_thread::get_id() != caller && sched_getaffinity(0, sizeof set, &set) == 0) count = CPU_COUNT(&set);
    const auto end = std::chrono::steady_clock::now() + std::chrono::microseconds(20);
    while (std::chrono::steady_clock::now() < end) continue;
    return 0;
  };
  const int before = cpu::num_threads();
  caller           = std::this_thread::get_id();
  for (const int n : {threads + 1, threads}) {  // another size makes another pool
    cpu::set_num_threads(n);
    count = 0;
    for (int tries = 0; tries < 10000 && count == 0; ++tries) cpu::run_parallel(task, nullptr, 64, 1, 0, 0);
  }
  cpu::set_num_threads(before);
  return count;
}

TEST(Cores, ThreadsKeepToTheirProcessorsWhereAsked) {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) != 0 || CPU_COUNT(&set) < 2) GTEST_SKIP() << "one processor";
  setenv("BRAINTRACE_PIN", "1", 1);
  EXPECT_EQ(processors_of_workers(2), 1);
  setenv("BRAINTRACE_PIN", "0", 1);
  EXPECT_EQ(processors_of_workers(2), CPU_COUNT(&set));
  unsetenv("BRAINTRACE_PIN");
}

}  // namespace
}  // namespace braintrace

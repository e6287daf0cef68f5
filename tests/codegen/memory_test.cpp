// SPDX-License-Identifier: Apache-2.0
// What learning takes of memory as machine code: no allocation while it runs, one trace per weight in the step form,
// and none in the gradient of a sequence.
#include <algorithm>
#include <cstdlib>
#include <functional>
#include <malloc.h>

#include <gtest/gtest.h>

#include "braintrace/backends/calls.h"
#include "braintrace/bench/training.h"
#include "braintrace/codegen/schedule.h"
#include "braintrace/model/random_stream.h"
#include "braintrace/nn/rnn.h"
#include "braintrace/ops/move.h"
#include "braintrace/runtime/backend.h"
#include "braintrace/transforms/simplify.h"
#include "tests/codegen/allocations.h"
#include "tests/codegen/learning_jobs.h"

#ifdef __has_feature
#if __has_feature(address_sanitizer)
#define BRAINTRACE_ASAN
#endif
#endif
#ifdef __SANITIZE_ADDRESS__
#define BRAINTRACE_ASAN
#endif
#ifdef BRAINTRACE_ASAN
#include <sanitizer/allocator_interface.h>
#endif

namespace braintrace {
namespace {

using testing_support::allocations;
using testing_support::Form;
using testing_support::learning_job;
using testing_support::LearningJob;
using testing_support::LearningOptions;

int64_t bytes_of(const Type& t) { return t.size() * static_cast<int64_t>(size_of(t.dtype)); }

// All that a call needs besides arguments that stay: working memory, constants, results that overwrite no argument.
int64_t working_bytes(const Program& program, const std::vector<cpu::Stepper::Feed>& feeds) {
  const codegen::Schedule  schedule = codegen::scheduled({program});
  const codegen::Function& entry    = *schedule.entries[0];
  int64_t                  bytes    = entry.arena_bytes;
  for (const Array& a : schedule.constants) bytes += static_cast<int64_t>(a.bytes());
  for (Var v : program.constants) bytes += bytes_of(program.type(v));
  EXPECT_FALSE(entry.may_stop);
  for (size_t k = 0; k < program.results.size(); ++k) {
    const bool in_place = std::any_of(feeds.begin(), feeds.end(), [&](const cpu::Stepper::Feed& f) {
      return f.result == k && entry.may_share(k, f.arg);
    });
    if (!in_place) bytes += bytes_of(program.type(program.results[k]));
  }
  return bytes;
}

// All that a step takes, relative to its traces: states, weights, working memory.
double relative_to_traces(const LearningOptions& o) {
  const LearningJob j     = learning_job(o);
  int64_t           bytes = working_bytes(simplify(j.program), j.feeds);
  for (const Array& a : j.args) bytes += static_cast<int64_t>(a.bytes());
  EXPECT_GE(j.trace_bytes, o.batch * (o.n_in + o.n) * o.n * 4) << j.name;
  return static_cast<double>(bytes) / static_cast<double>(j.trace_bytes);
}

// In a vanilla RNN all memory passes through its product: it has no traces. Cells with two states at a position read
// both of their traces to make either.
TEST(CompiledMemory, OfAStepIsTheTraces) {
  const auto step = [](const char* kind, int64_t batch) {
    return LearningOptions{.kind = kind, .dtype = DType::F32, .batch = batch, .n_in = 64, .n = 128, .first = false};
  };
  for (const char* kind : {"gru", "lif", "lstm"}) EXPECT_LT(relative_to_traces(step(kind, 64)), 1.1) << kind;
  EXPECT_LT(relative_to_traces(step("alif", 64)), 2.1) << "its D_f is constant, and kept as large as a trace";
  // One state of the weights, one of the traces, nothing large beside them.
  for (const char* kind : {"gru", "lstm"}) {
    const LearningJob j = learning_job(step(kind, 1));
    EXPECT_LT(working_bytes(simplify(j.program), j.feeds), j.trace_bytes / 8) << kind;
  }
}

// No array has batch, input and output axes.
TEST(CompiledMemory, OfASequenceHasNoTraces) {
  const LearningOptions small = {
      .form = Form::Window, .dtype = DType::F32, .batch = 16, .n_in = 64, .n = 128, .steps = 2, .first = false};
  const LearningJob carried = learning_job(small);
  const int64_t     trace   = 16 * (64 + 128) * 128 * 4;  // of one weight
  EXPECT_EQ(carried.trace_bytes / trace, 2) << "update gate and candidate";
  EXPECT_GT(working_bytes(simplify(carried.program), {}), trace) << "traces that go on are seen";
  for (const char* kind : {"gru", "lif"})
    for (const char* rule : {"D_RTRL", "ES_D_RTRL", "BPTT"}) {
      LearningOptions o   = small;
      o.kind              = kind;
      o.rule              = rule;
      o.form              = Form::Sequence;
      const LearningJob j = learning_job(o);
      EXPECT_LT(working_bytes(nonzero_results(simplify(j.program)).program, j.feeds), trace) << j.name;
    }
}

// Bytes that this process holds of its allocator. That of the C library counts what it leaves free before and after a
// block that begins at a large page; nothing is ever written there.
#ifdef BRAINTRACE_ASAN
constexpr size_t gap = 0;
#else
constexpr size_t gap = size_t{1} << 21;
#endif
size_t held_bytes() {
#ifdef BRAINTRACE_ASAN
  return __sanitizer_get_current_allocated_bytes();
#else
  const auto m = mallinfo2();
  return m.uordblks + m.hblkhd;
#endif
}

// The same through jit, as a user runs it: states, traces and weights are there once. A call allocates its result and a
// few short lists.
TEST(CompiledMemory, OfAJittedStepIsTracesAndWeights) {
  {
    const size_t before = held_bytes();
    const Array  large({DType::F32, {1 << 20}});
    ASSERT_GE(held_bytes() - before, large.bytes()) << "arrays are seen";
  }
  setenv("BRAINTRACE_CFLAGS", "-O0", 1);
  set_default_backend("cpu");
  constexpr int64_t B = 64, n_in = 128, n = 256;
  const size_t      before = held_bytes();
  {
    random::seed(3);
    nn::GRUCell cell(n_in, n);
    init_all_states(cell, {.batch_size = B});
    bench::Training training(cell, "D_RTRL", bench::Mode::Stream, ones({B, n_in}), zeros({B, n}));
    const State     weight = cell.params().front().second;
    const auto      place  = [&] { return weight.leaf("weight").array().raw(); };
    const void*     home   = place();
    for (int i = 0; i < 3; ++i) training.call();
    const size_t  taken = held_bytes() - before;
    const int64_t calls = allocations();
    for (int i = 0; i < 4; ++i) training.call();
    EXPECT_LE(allocations() - calls, 4 * 12);
    EXPECT_LE(held_bytes() - before, taken + 4096);
    EXPECT_EQ(place(), home) << "nobody else held the weights, so they are where they were";
    size_t weights = 0;
    for (const auto& [path, state] : cell.params())
      for (const std::string& leaf : state.leaf_names())
        weights += static_cast<size_t>(state.leaf(leaf).type().bytes());
    const size_t least = training.trace_bytes() + weights;
    EXPECT_GE(training.trace_bytes(), size_t{2 * B * (n_in + n) * n * 4}) << "update gate and candidate";
    EXPECT_GE(taken, least);
    EXPECT_LE(taken, least + least / 10 + 2 * gap) << "the traces lie in two blocks";
  }
  set_default_backend("reference");
  unsetenv("BRAINTRACE_CFLAGS");
}

// By step, window and sequence, and a step on its own results.
TEST(CompiledMemory, IsNotAllocatedWhileLearning) {
  setenv("BRAINTRACE_CFLAGS", "-O0", 1);  // these programs run a few times
  std::vector<LearningJob> jobs;
  for (const Form form : {Form::Step, Form::Window, Form::Sequence})
    jobs.push_back(learning_job({.kind = "gru", .form = form, .dtype = DType::F32, .batch = 32, .n_in = 32, .n = 64}));
  std::vector<Program> programs;
  std::vector<Arrays>  constants;
  for (const LearningJob& j : jobs) {
    programs.push_back(j.program);
    constants.push_back(j.constants);
  }
  const auto quiet = [](const std::string& what, const std::function<void()>& call) {
    for (int i = 0; i < 2; ++i) call();
    const int64_t before = allocations();
    for (int i = 0; i < 10; ++i) call();
    EXPECT_EQ(allocations(), before) << what;
  };
  const auto compiled = cpu::compile_together(programs, constants);
  for (size_t i = 0; i < jobs.size(); ++i) {
    std::vector<const void*> in;
    std::vector<void*>       out;
    Arrays                   results;
    for (const Array& a : jobs[i].args) in.push_back(a.raw());
    for (Var v : programs[i].results) results.emplace_back(programs[i].type(v));
    for (Array& a : results) out.push_back(a.mutable_raw());
    ASSERT_TRUE(compiled[i]->is_native());
    quiet(jobs[i].name, [&] { compiled[i]->run_into(in.data(), out.data()); });
  }
  const LearningJob& j = jobs[0];
  cpu::Stepper       stepper(j.program, j.constants, j.feeds, j.args);
  ASSERT_GT(j.feeds.size(), 4u);
  std::vector<const void*> in;
  for (size_t a = 0; a < j.args.size(); ++a)
    if (std::none_of(j.feeds.begin(), j.feeds.end(), [&](const auto& f) { return f.arg == a; }))
      in.push_back(j.args[a].raw());
  Array loss(j.program.type(j.program.results[0]));
  void* out[] = {loss.mutable_raw()};
  ASSERT_EQ(j.feeds.size() + 1, j.program.results.size());
  quiet("stepper", [&] { stepper.step(in.data(), out); });
  unsetenv("BRAINTRACE_CFLAGS");
}

}  // namespace
}  // namespace braintrace

// SPDX-License-Identifier: Apache-2.0
// Time loops whose blocks keep weights, and synchronize only to read each other's columns.
#include <gtest/gtest.h>

#include "braintrace/backends/cuda/emulated_device.h"
#include "braintrace/codegen/cuda/ownership.h"
#include "tests/codegen/learning_jobs.h"
#include "tests/cuda/emulated.h"

namespace braintrace {
namespace {

using codegen::Precision;
using testing_support::Job;

Job window(const char* kind, const char* rule, int64_t batch, int64_t n) {
  return testing_support::learning_job({.kind  = kind,
                                        .rule  = rule,
                                        .form  = testing_support::Form::Sequence,
                                        .dtype = DType::F32,
                                        .batch = batch,
                                        .n_in  = 3,
                                        .n     = n,
                                        .n_out = 2,
                                        .steps = 5});
}

// One and several teams, tails of rows, columns and terms, one and several products of the same rows.
std::vector<Job> windows() {
  return {window("rnn", "D_RTRL", 5, 3),     window("rnn", "BPTT", 32, 24),   window("gru", "D_RTRL", 48, 40),
          window("gru", "ES_D_RTRL", 16, 9), window("lstm", "D_RTRL", 2, 17), window("lif", "D_RTRL", 33, 20),
          window("rnn", "ES_D_RTRL", 32, 32)};
}

struct Loops {
  int all = 0, kept = 0, meeting = 0;
};
Loops loops_of(const Job& job, const cuda::Device& device) {
  const auto target = codegen::cuda_target(device.processors(), device.shared_bytes());
  const auto text   = codegen::emit_cuda(codegen::scheduled({job.program}, {.target = target}), target);
  Loops      out;
  for (const codegen::Kernel& k : text.schedule.entries[0]->kernels) {
    if (!std::holds_alternative<codegen::TimeLoop>(k.what)) continue;
    const codegen::Launch& l = text.launches.at(&k);
    ++out.all;
    out.kept += l.fixed;
    out.meeting += l.fixed && l.meets;
  }
  return out;
}

TEST(PersistentLoops, AreThere) {
  const auto device = cuda::open_emulated_device();
  for (const Job& job : windows()) {
    const Loops loops = loops_of(job, *device);
    // The backward pass of an LSTM joins its two states by copies, which no single block can do.
    EXPECT_EQ(loops.kept, job.name.starts_with("lstm") ? 1 : loops.all) << job.name;
    EXPECT_GT(loops.meeting, 0) << job.name;
  }
}
TEST(PersistentLoops, AgreeWithTheInterpreter) {
  const auto device = cuda::open_emulated_device();
  const auto worst  = testing_support::worst_on_device(*device, windows());
  EXPECT_LE(worst.distance, 2e-5) << worst.name;
}
// Operands rounded to ten bits: an error, but a small one.
TEST(PersistentLoops, RoundOperandsWhereAsked) {
  const auto device = cuda::open_emulated_device();
  const auto worst  = testing_support::worst_on_device(*device, {window("gru", "D_RTRL", 48, 40)}, Precision::TF32);
  EXPECT_GT(worst.distance, 2e-5);
  EXPECT_LE(worst.distance, 5e-3) << worst.name;
}

// For each time loop of the window: how often the blocks of a team synchronize in a step.
std::vector<int> meetings_of(const Job& job) {
  const auto       target   = codegen::cuda_target(4, 227 << 10);
  const auto       schedule = codegen::scheduled({job.program}, {.target = target});
  std::vector<int> meetings;
  for (const codegen::Kernel& k : schedule.entries[0]->kernels)
    if (const auto* loop = std::get_if<codegen::TimeLoop>(&k.what)) {
      const auto owned = codegen::ownership(*loop, 2, target.blocks);
      int        n     = owned ? 0 : -1;
      if (owned)
        for (const codegen::Act& a : owned->acts) n += a.meets;
      meetings.push_back(n);
    }
  return meetings;
}

// Under D-RTRL only the forward recurrence of a GRU reads other columns: h before the gates, r h before the candidate.
TEST(Ownership, AGruMeetsTwiceInAStep) {
  EXPECT_EQ(meetings_of(window("gru", "D_RTRL", 48, 40)), (std::vector<int>{2, 0}));
}
// All blocks need the power of the decay: it does not belong to a single step.
TEST(Ownership, NobodyWaitsForANumber) {
  EXPECT_EQ(meetings_of(window("rnn", "ES_D_RTRL", 48, 40)), (std::vector<int>{1, 0}));
  EXPECT_EQ(meetings_of(window("gru", "ES_D_RTRL", 48, 40)), (std::vector<int>{2, 0}));
}

}  // namespace
}  // namespace braintrace

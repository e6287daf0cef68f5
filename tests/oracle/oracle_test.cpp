// SPDX-License-Identifier: Apache-2.0
// Random models: every rule and form of the library compared with its definition. tests/soak/oracle_soak.cpp runs
// thousands of them.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <tuple>

#include <gtest/gtest.h>

#include "braintrace/backends/cpu/compiler.h"
#include "braintrace/runtime/backend.h"
#include "tests/oracle/generate.h"
#include "tests/oracle/trial.h"

namespace braintrace::oracle {

namespace {

std::string show(const Model& m, const Setting& s, const Verdict& v) {
  return to_text(s) + ": " + v.where + "\n" + to_text(m);
}

// Counts over a run of trials.
struct Seen {
  int leaves = 0, live = 0, trials = 0;
};
void check(uint64_t seed, const Setting& s, Seen& seen) {
  const Model m = random_model(seed);
  if (!applies(s, m)) return;
  const Data    data = data_of(m);
  const Verdict v    = compare(by_library(m, data, s), by_definition(m, data, s));
  EXPECT_LT(v.worst, s.dtype == DType::F32 ? 1e-4 : tolerance(s)) << show(m, s, v);
  seen.leaves += v.leaves;
  seen.live += v.live;
  ++seen.trials;
}

TEST(Oracle, RulesAreTheirDefinitions) {
  Seen seen;
  for (uint64_t seed = 1; seed <= 3 * num_rules; ++seed) {
    const auto form = static_cast<Form>(seed % 3);
    check(seed, {static_cast<RuleKind>(seed % num_rules), form}, seen);
    check(seed, {static_cast<RuleKind>((seed + 5) % num_rules), Form::Step}, seen);
  }
  EXPECT_GT(seen.trials, 60);
  EXPECT_GT(seen.live, seen.leaves / 2);
}

TEST(Oracle, RulesAreTheirDefinitionsInSinglePrecision) {
  Seen seen;
  for (uint64_t seed = 100; seed < 100 + num_rules; ++seed)
    check(seed, {static_cast<RuleKind>(seed % num_rules), static_cast<Form>(seed % 3), true, DType::F32}, seen);
  EXPECT_GT(seen.trials, num_rules / 2);
  EXPECT_GT(seen.live, seen.leaves / 2);
}

TEST(Oracle, CompiledRulesAreTheirDefinitions) {
  ASSERT_EQ(cpu::missing_compiler(), "");
  setenv("BRAINTRACE_CFLAGS", "-O0", 1);  // these programs run once
  set_default_backend("cpu");
  Seen seen;
  for (uint64_t seed = 200; seed < 204; ++seed)
    check(seed, {static_cast<RuleKind>(seed % 4), static_cast<Form>(seed % 3), true}, seen);
  set_default_backend("reference");
  unsetenv("BRAINTRACE_CFLAGS");
  EXPECT_GT(seen.live, 0);
}

// Half precision is coarse, so we only check that its gradients are finite.
TEST(Oracle, ModelsRunInHalfPrecision) {
  for (const DType dtype : {DType::BF16, DType::F16})
    for (uint64_t seed = 300; seed < 308; ++seed) {
      const Setting s{static_cast<RuleKind>(seed % 10), seed % 2 == 0 ? Form::Step : Form::Driver, false, dtype};
      const Model   m = random_model(seed);
      if (!applies(s, m)) continue;
      const Data data = data_of(m);
      EXPECT_TRUE(std::isfinite(compare(by_library(m, data, s), by_definition(m, data, s)).worst)) << to_text(m);
    }
}

// Negative controls: an oracle that is off by one percent in one quantity is detected in some of the models.
TEST(Oracle, EveryQuantityCounts) {
  for (const auto& [sabotage, rule, form] : {std::tuple{Sabotage::Transition, RuleKind::D_RTRL, Form::Step},
                                             {Sabotage::Tail, RuleKind::D_RTRL, Form::Step},
                                             {Sabotage::Signal, RuleKind::ES_D_RTRL, Form::Step},
                                             {Sabotage::OldCredit, RuleKind::EProp, Form::Step},
                                             {Sabotage::Pull, RuleKind::D_RTRL, Form::Driver},
                                             {Sabotage::Chain, RuleKind::OSTL, Form::Step}}) {
    int noticed = 0;
    for (uint64_t seed = 1; seed <= 40 && noticed < 2; ++seed) {
      const Model m = random_model(seed);
      if (m.steps < 3) continue;
      const Data    data = data_of(m);
      const Setting s{rule, form};
      const Outcome right = by_definition(m, data, s);
      if (compare(by_definition(m, data, s, sabotage), right).worst < 1e-6) continue;  // not at work in this model
      const Outcome got = by_library(m, data, s);
      EXPECT_LT(compare(got, right).worst, 1e-9) << to_text(m);
      noticed += compare(got, by_definition(m, data, s, sabotage)).worst > 1e-9;
    }
    EXPECT_EQ(noticed, 2) << static_cast<int>(sabotage);
  }
}

// What holds among the definitions themselves.
TEST(Oracle, KeepsItsLaws) {
  for (uint64_t seed = 1; seed <= 30; ++seed) {
    const Model   m    = random_model(seed);
    const Data    data = data_of(m);
    const Oracle  oracle(m, data, false);
    const Sizes   ones(static_cast<size_t>(m.steps), 1);
    const Outcome steps{oracle.eprop_steps({0.5}), oracle.losses()}, exact{oracle.exact_steps(), oracle.losses()};
    EXPECT_LT(compare({oracle.eprop_windows({0.5}, ones), oracle.losses()}, steps).worst, 1e-12) << to_text(m);
    const Outcome first{{steps.grads[0]}, {}}, exact_first{{exact.grads[0]}, {}};
    EXPECT_LT(compare(first, exact_first).worst, 1e-12) << to_text(m);
    EXPECT_LT(compare({oracle.multi_step_windows({m.steps}), {}}, {oracle.truncated_windows({m.steps}), {}}).worst,
              1e-12);
  }
}

// The exact gradient is the slope of the loss. Surrogates, held values and thresholds have no such slope.
TEST(Oracle, ExactGradientsAreSlopes) {
  int tried = 0;
  for (uint64_t seed = 1; seed <= 60; ++seed) {
    const Model m = random_model(seed);
    if (std::any_of(m.nodes.begin(), m.nodes.end(), [](const Node& n) {
          return n.kind == Kind::Spike || n.kind == Kind::Stop || n.kind == Kind::Select;
        }))
      continue;
    ++tried;
    const Data  data  = data_of(m);
    const Grads exact = Oracle(m, data, false).truncated_windows({m.steps})[0];
    const auto  total = [&](const Data& d) {
      const Numbers losses = Oracle(m, d, false).losses();
      double        sum    = 0;
      for (size_t t = 0; t < losses.size(); ++t) sum += d.weights[t] * losses[t];
      return sum;
    };
    for (size_t p = 0; p < exact.size(); ++p) {
      Data more = data, less = data;
      more.params[p][0] += 1e-5;
      less.params[p][0] -= 1e-5;
      EXPECT_NEAR(exact[p][0], (total(more) - total(less)) / 2e-5, 1e-6 * (1 + std::abs(exact[p][0]))) << to_text(m);
    }
  }
  EXPECT_GT(tried, 15);
}

// The generator creates all features that it is meant for.
TEST(Oracle, ModelsCoverTheEdges) {
  int one_unit = 0, one_step = 0, one_row = 0, no_batch = 0, one_input = 0;
  int shared = 0, write_only = 0, copied = 0, old_outside = 0, old_inside = 0, tied = 0, einsum = 0, varied = 0;
  for (uint64_t seed = 1; seed <= 100; ++seed) {
    const Model m = random_model(seed);
    one_step += m.steps == 1;
    one_row += m.batch == 1;
    no_batch += m.batch == 0;
    one_input += m.input[0] == 1;
    std::vector<int>  readers(m.nodes.size());
    std::vector<bool> reads(m.states.size());
    std::vector<bool> varies(m.nodes.size());  // depends on more than parameters
    for (size_t n = 0; n < m.nodes.size(); ++n) {
      const Node& node = m.nodes[n];
      varies[n]        = node.kind == Kind::Input || node.kind == Kind::Old;
      for (int a : node.in) varies[n] = varies[n] || varies[a];
      for (size_t k = reads_x(node.kind) ? 1 : 0; is_trainable(node.kind) && k < node.in.size(); ++k)
        varied += varies[node.in[k]];
      einsum += node.kind == Kind::Einsum;
      for (int a : node.in) ++readers[a];
      if (node.kind == Kind::Old) reads[node.index] = true, old_outside += static_cast<int>(n) >= m.outside;
      copied +=
          node.kind == Kind::Set && (m.nodes[node.in[0]].kind == Kind::Old || m.nodes[node.in[0]].kind == Kind::Set);
      old_inside += node.kind == Kind::Output && m.nodes[node.in[0]].kind != Kind::Set;
    }
    for (size_t n = 0; n < m.nodes.size(); ++n) {
      tied += m.nodes[n].kind == Kind::Param && readers[n] > 1;
      shared += m.nodes[n].kind == Kind::ElementWise && count(m.nodes[n].shape) == 1;
    }
    for (size_t s = 0; s < m.states.size(); ++s) {
      one_unit += count(m.states[s].shape) == 1;
      write_only += !reads[s];
    }
  }
  for (int seen : {one_unit, one_step, one_row, no_batch, one_input, shared, write_only, copied, old_outside,
                   old_inside, tied, einsum, varied})
    EXPECT_GT(seen, 8);
}

}  // namespace

}  // namespace braintrace::oracle

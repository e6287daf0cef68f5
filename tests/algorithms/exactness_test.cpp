// SPDX-License-Identifier: Apache-2.0
// When rules are exact, compared with plain reverse mode over the unrolled model, which does not know learners.
#include <gtest/gtest.h>

#include "braintrace/algorithms/bptt.h"
#include "braintrace/algorithms/d_rtrl.h"
#include "braintrace/algorithms/e_prop.h"
#include "braintrace/algorithms/es_d_rtrl.h"
#include "braintrace/algorithms/rtrl.h"
#include "braintrace/algorithms/snap.h"
#include "braintrace/algorithms/uoro.h"
#include "braintrace/control/scan.h"
#include "braintrace/etp/dense.h"
#include "braintrace/ops/compare.h"
#include "braintrace/zoo/cell.h"
#include "tests/algorithms/models.h"
#include "tests/support/golden_case.h"

namespace braintrace {

namespace {

using MakeLearner = std::function<std::unique_ptr<OnlineLearner>(Module&, VjpMethod)>;
struct NamedRule {
  const char* name;
  MakeLearner make;
};
template <class Learner, class... Arguments>
NamedRule rule(const char* name, Arguments... arguments) {
  return {name, [=](Module& m, VjpMethod method) -> std::unique_ptr<OnlineLearner> {
            return std::make_unique<Learner>(m, arguments..., LearnerOptions{.vjp_method = method});
          }};
}
const std::vector<NamedRule>& all_rules() {
  static const std::vector<NamedRule> list = {
      rule<D_RTRL>("D_RTRL"),
      rule<OSTLRecurrent>("OSTLRecurrent"),
      rule<EProp>("EProp", 0.5),
      rule<ES_D_RTRL>("ES_D_RTRL", TraceDecay{0.9, 0.7}),
      rule<OSTLFeedforward>("OSTLFeedforward"),
      rule<SnAp>("SnAp", 2),
      rule<UORO>("UORO", UoroOptions{}),
      rule<RTRL>("RTRL"),
      rule<BPTT>("BPTT"),
  };
  return list;
}

// A model, its states and T inputs; gradients always start from the same states and zero traces.
struct Trial {
  std::shared_ptr<Module> model;
  Tensor                  xs, m;
  uint64_t                seed   = 21;
  double                  spread = 0.5;

  Trial(const json& description, const Shape& x, int64_t T, BatchSize batch = {})
      : Trial(DiagonalModel{"", description, x}, T, batch) {}
  Trial(const DiagonalModel& of, int64_t T, BatchSize batch = {})
      : model(make_model(of.model, batch)), m(ones({T}, Environment::precision())) {
    Shape leading{T};
    if (batch) leading.push_back(*batch);
    xs = of.inputs(leading);
  }

  Gradients exact() {
    set_states(*model, seed, spread);
    return unrolled(*model, xs, m);
  }
  std::unique_ptr<OnlineLearner> start(const NamedRule& r, VjpMethod method = VjpMethod::SingleStep) {
    set_states(*model, seed, spread);
    auto learner = r.make(*model, method);
    learner->compile_graph(row(xs, 0));
    return learner;
  }
  Gradients steps(const NamedRule& r, VjpMethod method = VjpMethod::SingleStep) {
    return stepwise(*start(r, method), xs, m);
  }
  Gradients windows(const NamedRule& r, const std::vector<int64_t>& lengths, VjpMethod method = VjpMethod::SingleStep) {
    return windowed(*start(r, method), xs, m, lengths);
  }
};

// One step: every parameter of every recorded model, in the states the recorded run has after three steps. UORO has its
// part of the same step as a random product, unless reverse mode runs inside the step.
VjpMethod exact_method(const NamedRule& r) {
  return std::string(r.name) == "UORO" ? VjpMethod::MultiStep : VjpMethod::SingleStep;
}
class OneStep : public testing::TestWithParam<std::string> {};
TEST_P(OneStep, IsTheSameStepGradient) {
  Loaded        c(GetParam());
  const Array   inputs = c.arrays.at("x");
  const int64_t T      = c.info["T"].get<int64_t>();
  for (int64_t t = 0; t + 1 < std::min<int64_t>(T, 4); ++t) (*c.model)(at_step(inputs, t));
  const Tensor                          x = at_step(inputs, T - 1);
  std::vector<std::pair<State, Leaves>> before;
  for (const auto& [path, state] : c.model->states()) {
    Leaves leaves;
    for (const std::string& leaf : state.leaf_names()) leaves[leaf] = state.leaf(leaf);
    before.emplace_back(state, leaves);
  }
  const auto restore = [&] {
    for (const auto& [state, leaves] : before)
      for (const auto& [leaf, value] : leaves) state.set_leaf(leaf, value);
  };
  const auto      params = c.model->params();
  const Gradients want   = grad([&](Tensor in) { return loss_of((*c.model)(in)); }, params)(x);
  ASSERT_GT(want.squared_norm().item(), 1e-8);
  for (const NamedRule& r : all_rules()) {
    restore();
    const auto learner = r.make(*c.model, exact_method(r));
    learner->compile_graph(x);
    const Gradients  got = grad([&](Tensor in) { return loss_of((*learner)(in)); }, params)(x);
    const Difference d   = difference(got, want);
    EXPECT_LT(d.worst, 1e-11) << r.name << " " << d.leaf;
  }
}
INSTANTIATE_TEST_SUITE_P(Recorded, OneStep, testing::ValuesIn(golden_cases({"corrected"})),
                         [](const auto& info) { return info.param.substr(info.param.find('/') + 1); });

// More steps are exact only under RTRL, which shows that the test can fail.
TEST(SomeSteps, AreExactUnderRtrlOnly) {
  const json stack = chain({layer("mgu", 3, 4), layer("leaky_rnn", 4, 3, {{"leak", 0.8}})});
  for (const NamedRule& r : all_rules()) {
    Trial        three(stack, {3}, 3);
    const double apart = gap(three.steps(r, exact_method(r)), three.exact());
    EXPECT_EQ(apart < 1e-10, std::string(r.name) == "RTRL") << r.name << " " << apart;
    EXPECT_TRUE(apart < 1e-10 || apart > 1e-3) << r.name << " " << apart;
  }
}

// The law in both precisions, with its tolerance in each.
struct Precision {
  DType  dtype;
  double exact;
};
const Precision precisions[] = {{DType::F64, 1e-11}, {DType::F32, 1e-5}};

TEST(Diagonal, DRtrlIsBptt) {
  const NamedRule &d_rtrl = all_rules()[0], &factored = all_rules()[3];
  for (const auto& [dtype, exact] : precisions)
    for (const DiagonalModel& of : diagonal_models())
      for (const BatchSize batch : {BatchSize(), BatchSize(2)}) {
        if (dtype == DType::F32 && batch) continue;
        const Environment::Scope precision({.precision = dtype});
        Trial                    trial(of, 4, batch);
        const Gradients          want = trial.exact(), got = trial.steps(d_rtrl);
        const Difference         d = difference(got, want);
        EXPECT_LT(d.worst, exact) << of.name << " " << d.leaf;
        EXPECT_GT(d.weakest, 1e-4) << of.name;
        for (const auto& [path, leaves] : got)
          for (const auto& [leaf, g] : leaves) EXPECT_EQ(g.dtype(), dtype);
        EXPECT_LT(gap(trial.windows(d_rtrl, {1, 3}), want), exact) << of.name;
        EXPECT_LT(gap(trial.steps(d_rtrl, VjpMethod::MultiStep), want), exact) << of.name;
        // One step of a factorized trace is exact; more are not, but they are better than nothing.
        Trial one(of, 1, batch), two(of, 2, batch);
        EXPECT_LT(gap(one.steps(factored), one.exact()), exact) << of.name;
        const double apart = gap(two.steps(factored), two.exact());
        EXPECT_LT(apart, 1) << of.name;
        EXPECT_GT(apart, 1e-6) << of.name;
      }
}

// Two layers with memory: the last one is exact; the first one loses what the last one remembers of it.
TEST(Stacked, TheLastLayerIsExact) {
  const json dense = {{"kind", "dense"}, {"n_in", 4}, {"n_out", 4}, {"bias_shape", {4}}};
  Trial      trial(chain({leaky(dense, {4}, "tanh"), leaky(dense, {4}, "tanh")}), {4}, 4);
  const auto first = [](const std::string& leaf) { return leaf.rfind("a", 0) == 0; };
  const auto last  = [](const std::string& leaf) { return leaf.rfind("b", 0) == 0; };
  const auto want = trial.exact(), got = trial.steps(all_rules()[0]);
  EXPECT_GT(difference(got, want, last).weakest, 1e-4);
  EXPECT_LT(gap(got, want, last), 1e-11);
  EXPECT_GT(gap(got, want, first), 0.1);
}

// A tail that permutes positions: no scope follows it, and the compiler says so.
TEST(PermutingTail, NoRuleWithATraceIsExact) {
  Trial           trial(layer("position_mix_rnn", 3, 4,
                              {{"mix", "roll"}, {"shift", 1}, {"where", "tail"}, {"leak", 0.7}, {"recurrent", false}}),
                        {3}, 4);
  const Gradients want = trial.exact();
  for (const NamedRule& r : {all_rules()[0], all_rules()[1], all_rules()[5]}) {
    const auto learner = trial.start(r);
    EXPECT_GT(gap(stepwise(*learner, trial.xs, trial.m), want), 1e-2) << r.name;
    EXPECT_FALSE(learner->graph().explain({.kind = DiagnosticKind::RelationTailMovesPositions}).empty()) << r.name;
  }
  EXPECT_LT(gap(trial.steps(all_rules()[7]), want), 1e-11);
}

const json coupled_models[] = {chain({layer("gru", 3, 4), linear(4, 2)}),
                               chain({layer("vanilla_rnn", 3, 4, {{"activation", "tanh"}}), linear(4, 2)}),
                               chain({layer("lstm", 3, 4), layer("mgu", 4, 3)})};

TEST(WholeSequence, EveryRuleIsBpttInOneMultiStepWindow) {
  for (const auto& [dtype, exact] : precisions)
    for (const json& description : coupled_models) {
      const Environment::Scope precision({.precision = dtype});
      Trial                    trial(description, {3}, 4);
      const Gradients          want = trial.exact();
      for (const NamedRule& r : all_rules()) {
        const Difference d = difference(trial.windows(r, {4}, VjpMethod::MultiStep), want);
        EXPECT_LT(d.worst, 10 * exact) << r.name << " " << d.leaf << " " << description;
      }
      // A window that starts in the middle ignores everything before it.
      EXPECT_GT(gap(trial.windows(all_rules().back(), {2, 2}), want), 1e-2) << description;
    }
}

TEST(Rtrl, IsBpttStepByStep) {
  for (const json& description : coupled_models) {
    Trial trial(description, {3}, 4);
    EXPECT_LT(gap(trial.steps(all_rules()[7]), trial.exact()), 1e-10) << description;
  }
}

// Two independent groups. The loss reads one of them, the first or the second: the other gets no credit.
TEST(Rtrl, GroupsWithoutCreditDoNotHideOthers) {
  for (const bool second : {false, true}) {
    SCOPED_TRACE(second);
    random::seed(4);
    auto       cell = zoo::make_cell();
    const auto v = cell->param("v", {2, 3}), w = cell->param("w", {2, 2});
    const auto a = cell->hidden("a", {3}), b = cell->hidden("b", {2});
    cell->step = [=](const Tensor& x) {
      a.set(tanh(matmul(x, v.value()) + 0.8 * a.value()));
      b.set(tanh(matmul(x, w.value()) + 0.6 * b.value()));
      return second ? b.value() : a.value();
    };
    init_all_states(*cell);
    const Tensor    xs = normal({DType::F64, {4, 2}}, 5), m = ones({4}, DType::F64);
    const auto      run  = [&](const auto& of) { return set_states(*cell, 21), of(); };
    const Gradients want = run([&] { return unrolled(*cell, xs, m); });
    RTRL            learner(*cell);
    learner.compile_graph(row(xs, 0));
    ASSERT_EQ(learner.graph().hidden_groups.size(), 2u);
    const Gradients got = run([&] { return stepwise(learner, xs, m); });
    EXPECT_LT(gap(got, want), 1e-12);
    EXPECT_GT(squared(want.at(Path{second ? "w" : "v"}, "")).item(), 1e-4);
  }
}

TEST(Snap, SaturatedIsBpttForTracedWeights) {
  json grouped     = leaky({{"kind", "grouped"}, {"groups", 2}, {"k_in", 3}, {"k_out", 2}}, {2, 2}, "tanh");
  grouped["input"] = "xh";
  const json ring  = {{"shape", {4, 4}}, {"indptr", {0, 1, 2, 3, 4}}, {"indices", {1, 2, 3, 0}}};
  struct Saturated {
    const char* name;
    json        cell;
    int         n;
    Shape       x = {3};
  };
  for (const auto& [dtype, exact] : precisions)
    for (const Saturated& s :
         {Saturated{"dense", layer("vanilla_rnn", 3, 4, {{"activation", "tanh"}}), 2},
          Saturated{"gated", layer("mini_gru", 3, 4), 2},
          Saturated{"low rank", layer("lora_op_rnn", 3, 4, {{"rank", 2}, {"alpha", 0.9}}), 2},
          Saturated{"grouped", grouped, 2, {2, 1}},
          Saturated{"ring", layer("sparse_rnn", 3, 4, {{"activation", "tanh"}, {"csr", ring}}), 4}}) {
      const Environment::Scope precision({.precision = dtype});
      Trial                    trial(chain({s.cell,
                                            {{"name", "flat"}, {"type", "flatten"}, {"n_trailing_axes", static_cast<int>(s.x.size())}},
                                            linear(4, 2)}),
                                     s.x, 5);
      const Gradients          want   = trial.exact();
      const auto               traced = [](const std::string& leaf) { return leaf.rfind("out", 0) != 0; };
      const Difference         d      = difference(trial.steps(rule<SnAp>("SnAp", s.n)), want, traced);
      EXPECT_LT(d.worst, exact) << s.name << " " << d.leaf;
      EXPECT_GT(d.weakest, 1e-4) << s.name;
      EXPECT_GT(gap(trial.steps(rule<SnAp>("SnAp", s.n - 1)), want, traced), 1e-5) << s.name;
      // A longer reach changes nothing.
      EXPECT_LT(gap(trial.steps(rule<SnAp>("SnAp", s.n + 3)), want, traced), exact) << s.name;
    }
}

TEST(Rules, CoincideWhereTheyMust) {
  for (const json& description : coupled_models) {
    Trial      trial(description, {3}, 4);
    const auto d_rtrl = trial.steps(all_rules()[0]), ostl = trial.steps(all_rules()[1]);
    EXPECT_LT(gap(trial.steps(rule<SnAp>("SnAp", 1)), ostl), 1e-12);
    EXPECT_EQ(gap(trial.steps(rule<EProp>("EProp", 0.0)), d_rtrl), 0);
    EXPECT_EQ(gap(trial.steps(rule<ES_D_RTRL>("ES_D_RTRL", TraceDecay::decay(1e-6))), trial.steps(all_rules()[4])), 0);
    EXPECT_GT(gap(ostl, d_rtrl), 1e-3);
  }
  // D = 0: neither a trace nor its factors remember anything.
  Trial      vanilla(coupled_models[1], {3}, 4);
  const auto rank_one = rule<ES_D_RTRL>("ES_D_RTRL", TraceDecay::rank(1));
  EXPECT_LT(gap(vanilla.steps(rank_one), vanilla.steps(all_rules()[0])), 1e-12);
  Trial gated(coupled_models[0], {3}, 4);
  EXPECT_GT(gap(gated.steps(rank_one), gated.steps(all_rules()[0])), 1e-3);
}

// A model whose recurrent weights are weak: the diagonal gradient points the same way.
TEST(WeakRecurrence, IsAligned) {
  Trial trial(chain({layer("vanilla_rnn", 3, 6, {{"activation", "tanh"}}), linear(6, 2)}), {3}, 6);
  for (const auto& [path, state] : trial.model->params())
    if (path.str().rfind("a", 0) == 0) {
      const Tensor w = state.leaf("weight");
      state.set_leaf("weight", concat({slice_axis(w, 0, 0, 3), 0.05 * slice_axis(w, 0, 3, 9)}, 0));
    }
  const Gradients got = trial.steps(all_rules()[0]), want = trial.exact();
  for (const auto& [path, leaves] : want)
    for (const auto& [leaf, g] : leaves) {
      const Tensor mine = got.at(path, leaf);
      EXPECT_GT(sum(mine * g).item(), 0.99 * std::sqrt(squared(mine).item() * squared(g).item())) << path.str();
      const double size = std::sqrt(squared(mine).item() / squared(g).item());
      EXPECT_GT(size, 0.8) << path.str();
      EXPECT_LT(size, 1.3) << path.str();
      EXPECT_GT(mean(convert(greater(mine * g, 0.0), DType::F64)).item(), 0.9) << path.str();
    }
  EXPECT_GT(gap(got, want), 1e-6);
}

// For every row x_k of the input: h ← 0.7 h + 0.3 tanh(x_k w + mixing h w_rec), and with two states also
// u ← 0.8 u + 0.5 h, which h reads.
std::shared_ptr<Module> settling(double mixing, bool two_states) {
  random::seed(3);
  auto                     cell = zoo::make_cell();
  const auto               w = cell->param("w", {3, 4}), w_rec = cell->param("w_rec", {4, 4});
  std::vector<HiddenState> states{cell->hidden("h", {4})};
  if (two_states) states.push_back(cell->hidden("u", {4}));
  cell->step = [=](const Tensor& x) {
    const Tensor   W = w.value(), R = mixing * w_rec.value();
    const ScanBody body = [&](const Tensors& carry, const Tensors& row) -> ScanResult {
      Tensor y = matmul(row[0], W);
      if (mixing != 0) y = y + matmul(carry[0], R);
      if (two_states) y = y - 0.4 * carry[1];
      const Tensor h = 0.7 * carry[0] + 0.3 * tanh(y);
      return {two_states ? Tensors{h, 0.8 * carry[1] + 0.5 * h} : Tensors{h}, {}};
    };
    Tensors old;
    for (const HiddenState& s : states) old.push_back(s.value());
    const Tensors now = scan(body, old, {x}).carry;
    for (size_t i = 0; i < now.size(); ++i) states[i].set(now[i]);
    return two_states ? now[0] + now[1] : now[0];
  };
  init_all_states(*cell);
  return cell;
}
TEST(Scans, FollowedOrUnrolledAreBpttWhereDiagonal) {
  for (const auto& [dtype, exact] : precisions) {
    const Environment::Scope precision({.precision = dtype});
    const Tensor             xs = normal({dtype, {4, 3, 3}}, 5), m = ones({4}, dtype);
    const auto               run = [&](Module& model, int unroll, const std::vector<int64_t>& windows) {
      LearnerOptions options;
      options.compile.control_flow.scan_unroll_limit = unroll;
      D_RTRL learner(model, options);
      learner.compile_graph(row(xs, 0));
      EXPECT_EQ(learner.graph().hidden_groups.at(0).descent != nullptr, unroll == 0);
      set_states(model, 21);
      return windows.empty() ? stepwise(learner, xs, m) : windowed(learner, xs, m, windows);
    };
    const auto used = [](const std::string& leaf) { return leaf == "w"; };
    for (const bool two_states : {false, true}) {
      auto model = settling(0, two_states);
      set_states(*model, 21);
      const Gradients want = unrolled(*model, xs, m);
      ASSERT_GT(want.squared_norm().item(), 1e-4);
      for (int unroll : {16, 0})
        for (const std::vector<int64_t>& windows : {std::vector<int64_t>{}, {1, 3}})
          EXPECT_LT(gap(run(*model, unroll, windows), want, used), exact) << unroll << " " << two_states;
    }
    auto mixing = settling(1, false);
    set_states(*mixing, 21);
    EXPECT_GT(gap(run(*mixing, 0, {}), unrolled(*mixing, xs, m)), 1e-3);
  }
}

}  // namespace

}  // namespace braintrace

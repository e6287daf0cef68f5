// SPDX-License-Identifier: Apache-2.0
// Control flow inside a step: what is flattened, what stays, what is an error (docs/limits.md), each with its record.
#include <algorithm>
#include <functional>

#include <gtest/gtest.h>

#include "braintrace/algorithms/d_rtrl.h"
#include "braintrace/algorithms/es_d_rtrl.h"
#include "braintrace/control/cond.h"
#include "braintrace/control/custom.h"
#include "braintrace/control/remat.h"
#include "braintrace/control/scan.h"
#include "braintrace/control/while.h"
#include "braintrace/etp/dense.h"
#include "braintrace/functions/functions.h"
#include "braintrace/ops/compare.h"
#include "braintrace/ops/contract.h"
#include "braintrace/ops/math.h"
#include "braintrace/ops/move.h"
#include "braintrace/ops/reduce.h"
#include "braintrace/runtime/values.h"

namespace braintrace {

namespace {

// h ← rule(x, h, w): one weight, one hidden state of four units.
struct Cell : Module {
  using Rule = std::function<Tensor(const Tensor& x, const Tensor& h, const Tensor& w)>;

  explicit Cell(Rule r)
      : rule(std::move(r)),
        w(state("w",
                ParamState(from_doubles({DType::F64, {4, 4}}, std::vector<double>{.1, .2, -.3, .4, .5, -.6, .7, -.8, .2,
                                                                                  .1, .4, -.3, .6, .2, -.1, .5})))),
        h(state("h", HiddenState(from_doubles({DType::F64, {4}}, std::vector<double>{.3, -.2, .5, .1})))) {}
  Tensor update(const Tensor& x) override {
    h.set(rule(x, h.value(), w.value()));
    return h.value();
  }

  Rule        rule;
  ParamState  w;
  HiddenState h;
};

const Type vec{DType::F64, {4}};

ETraceGraph compile(const Cell::Rule& rule, const CompileOptions& options = {}) {
  Cell cell(rule);
  return compile_etrace_graph(cell, {vec}, options);
}

// The kinds of the records a compilation that fails carries; empty when it compiles.
std::vector<DiagnosticKind> refusal(const Cell::Rule& rule, const CompileOptions& options = {}) {
  try {
    compile(rule, options);
  } catch (const CompileError& e) {
    std::vector<DiagnosticKind> kinds;
    for (const CompilationRecord& r : e.diagnostics) kinds.push_back(r.kind);
    return kinds;
  }
  return {};
}

bool has(const ETraceGraph& g, DiagnosticKind kind) { return !g.explain({.kind = kind}).empty(); }
bool has(const std::vector<DiagnosticKind>& kinds, DiagnosticKind kind) {
  return std::find(kinds.begin(), kinds.end(), kind) != kinds.end();
}

// The D-RTRL gradient of Σ h² after three steps, for comparing two ways of writing one step.
Tensor gradient(const Cell::Rule& rule, const CompileOptions& options = {}) {
  Cell   cell(rule);
  D_RTRL learner(cell, {.compile = options});
  learner.compile_graph(Tensor(vec, 0));
  auto   loss = [&](Tensor x) { return sum(square(learner(x))); };
  Tensor total(Type{DType::F64, {4, 4}}, 0);
  for (double x : {0.5, -1.0, 2.0}) total = total + grad(loss, cell.params())(Tensor(vec, x))["w"];
  return total;
}

// The same over the three steps as one window.
Tensor window_gradient(const Cell::Rule& rule, const CompileOptions& options = {}) {
  Cell   cell(rule);
  D_RTRL learner(cell, {.compile = options});
  learner.compile_graph(Tensor(vec, 0));
  auto         loss = [&](Tensor xs) { return sum(square(learner(MultiStepData{{xs}}))); };
  const Tensor xs =
      broadcast_axes(Tensor(from_doubles({DType::F64, {3}}, std::vector<double>{0.5, -1.0, 2.0})), {3, 4}, {0});
  return grad(loss, cell.params())(xs)["w"];
}

Tensor substeps(const Tensor& x, const Tensor& h, const Tensor& w, int64_t length) {
  const ScanBody body = [&](const Tensors& c, const Tensors&) -> ScanResult {
    return {{0.7 * c[0] + 0.3 * tanh(matmul(x + 0.1 * c[0], w))}, {}};
  };
  const Tensors carry{h}, none;
  return scan(body, carry, none, {.length = length}).carry[0];
}

Tensor plain_substeps(const Tensor& x, const Tensor& h, const Tensor& w, int length) {
  Tensor c = h;
  for (int i = 0; i < length; ++i) c = 0.7 * c + 0.3 * tanh(matmul(x + 0.1 * c, w));
  return c;
}

Tensor choose(const Tensor& x, const Tensor& h, const Tensor& w) {
  const Tensors  in{x, h, w};
  const Function yes = [](const Tensors& t) -> Tensors { return {0.5 * t[1] + tanh(matmul(t[0], t[2]))}; };
  const Function no  = [](const Tensors& t) -> Tensors { return {0.9 * t[1] - matmul(t[0], t[2])}; };
  return cond(greater(sum(x), 0.0), yes, no, in)[0];
}

Tensor until_small(const Tensor& h, const Function& body) {
  const Tensors init{h};
  return while_loop([](const Tensors& c) { return greater(sum(square(c[0])), 0.1); }, body, init)[0];
}

TEST(ControlFlow, ShortScanIsUnrolledAndLearnsLikeTheWrittenOutLoop) {
  const auto g = compile([](auto& x, auto& h, auto& w) { return substeps(x, h, w, 3); });
  EXPECT_TRUE(has(g, DiagnosticKind::ScanUnrolled));
  EXPECT_EQ(g.hidden_param_op_relations.size(), 3u);
  const Tensor looped = gradient([](auto& x, auto& h, auto& w) { return substeps(x, h, w, 3); });
  const Tensor plain  = gradient([](auto& x, auto& h, auto& w) { return plain_substeps(x, h, w, 3); });
  const Tensor other  = gradient([](auto& x, auto& h, auto& w) { return plain_substeps(x, h, w, 2); });
  EXPECT_LT(max_difference(looped, plain), 1e-14);
  EXPECT_GT(max_difference(looped, other), 1e-3);  // negative control
}

TEST(ControlFlow, ConditionalRunsBothBranchesAndSelects) {
  const auto g = compile(choose);
  EXPECT_TRUE(has(g, DiagnosticKind::CondIfConverted));
  EXPECT_EQ(g.hidden_param_op_relations.size(), 2u);
  const Tensor chosen  = gradient(choose);
  const Tensor written = gradient([](auto& x, auto& h, auto& w) {
    return select(greater(sum(x), 0.0), 0.5 * h + tanh(matmul(x, w)), 0.9 * h - matmul(x, w));
  });
  EXPECT_LT(max_difference(chosen, written), 1e-14);
}

TEST(ControlFlow, RematIsSeenThrough) {
  const auto g = compile([](auto& x, auto& h, auto& w) {
    const Function f = [](const Tensors& t) -> Tensors { return {0.5 * t[1] + tanh(matmul(t[0], t[2]))}; };
    return remat(f)({x, h, w})[0];
  });
  EXPECT_EQ(g.hidden_param_op_relations.size(), 1u);
  EXPECT_TRUE(g.hidden_groups[0].diagonal);
}

TEST(ControlFlow, AWeightFreeLoopThatMakesAStateIsOneOpaquePiece) {
  const auto settle = [](auto& x, auto& h, auto& w) {
    const Tensor drive = tanh(matmul(x, w));
    return until_small(h + drive, [](const Tensors& c) -> Tensors { return {0.5 * c[0]}; });
  };
  const auto g = compile(settle);
  EXPECT_TRUE(has(g, DiagnosticKind::ControlFlowOpaqueForward));
  CompileOptions strict;
  strict.control_flow.while_hidden = ControlFlowPolicy::WhileHidden::Error;
  EXPECT_TRUE(has(refusal(settle, strict), DiagnosticKind::ControlFlowOpaqueForward));
}

TEST(ControlFlow, WhatDoesNotChangeInALoopIsNotInTheLoop) {
  const auto g = compile([](auto& x, auto& h, auto& w) {
    const ScanBody body = [&](const Tensors& c, const Tensors&) -> ScanResult {
      return {{0.7 * c[0] + matmul(x, w)}, {}};
    };
    const Tensors carry{h}, none;
    return scan(body, carry, none, {.length = 40}).carry[0];
  });
  EXPECT_EQ(g.hidden_param_op_relations.size(), 1u);
}

CompileOptions unrolled_to(int limit) {
  CompileOptions o;
  o.control_flow.scan_unroll_limit = limit;
  return o;
}

TEST(ScanDescent, ALongScanLearnsLikeTheUnrolledOneInAStepOfFixedSize) {
  const Cell::Rule rule = [](auto& x, auto& h, auto& w) { return substeps(x, h, w, 40); };
  const auto       g    = compile(rule);
  EXPECT_TRUE(has(g, DiagnosticKind::ScanUnrollSkipped) && has(g, DiagnosticKind::ScanDescentApplied));
  ASSERT_EQ(g.hidden_groups.size(), 1u);
  ASSERT_EQ(g.hidden_param_op_relations.size(), 1u);
  EXPECT_TRUE(g.hidden_groups[0].descent && g.hidden_param_op_relations[0].descent);
  EXPECT_EQ(g.hidden_param_op_relations[0].connections[0].path, PathClass::Direct);
  EXPECT_EQ(compile(rule, unrolled_to(40)).hidden_param_op_relations.size(), 40u);
  EXPECT_EQ(
      g.module_info.program().eqns.size(),
      compile([](auto& x, auto& h, auto& w) { return substeps(x, h, w, 400); }).module_info.program().eqns.size());

  const Tensor followed = gradient(rule), unrolled = gradient(rule, unrolled_to(40));
  EXPECT_LT(max_difference(followed, unrolled), 1e-13);
  EXPECT_GT(max_difference(followed, gradient([](auto& x, auto& h, auto& w) { return substeps(x, h, w, 39); })), 1e-6);
  const Tensor window = window_gradient(rule);
  EXPECT_LT(max_difference(window, window_gradient(rule, unrolled_to(40))), 1e-13);
  EXPECT_GT(max_difference(window, followed), 1e-8);  // what passes later products counts inside the window
}

TEST(ScanDescent, AlsoWithInputsPerSubstepChainsAndAPlainUseOfTheWeight) {
  const auto rule = [](const Tensor& x, const Tensor& h, const Tensor& w) {
    const Tensor   masked = w * w;
    const ScanBody body   = [&](const Tensors& c, const Tensors& in) -> ScanResult {
      const Tensor u = 0.5 * matmul(x * in[0], masked) + 0.1 * dot(c[0], masked);
      return {{0.8 * c[0] + 0.2 * tanh(u)}, {c[0]}};
    };
    const Tensor xs = convert(iota({20}, 0), DType::F64) * 0.1;
    return scan(body, Tensors{h}, Tensors{xs}).carry[0];
  };
  const auto g = compile(rule);
  ASSERT_EQ(g.hidden_param_op_relations.size(), 1u);
  EXPECT_EQ(g.hidden_param_op_relations[0].trainables[0].chain_ops, std::vector<std::string>{"mul"});
  const Tensor followed = gradient(rule), unrolled = gradient(rule, unrolled_to(20));
  EXPECT_LT(max_difference(followed, unrolled), 1e-13);
  EXPECT_GT(max_difference(followed, 0.0 * followed), 1e-3);
}

TEST(ScanDescent, WhatCannotBeFollowedIsSkippedWithTheReasonAndRefused) {
  const auto skipped = [](const Cell::Rule& rule, const CompileOptions& o = {}) {
    const auto kinds = refusal(rule, o);
    return has(kinds, DiagnosticKind::ScanDescentSkipped) && has(kinds, DiagnosticKind::PrimitiveInsideControlFlow);
  };
  CompileOptions off;
  off.control_flow.scan_descent = ControlFlowPolicy::ScanDescent::Off;
  const Cell::Rule plain        = [](auto& x, auto& h, auto& w) { return substeps(x, h, w, 20); };
  EXPECT_TRUE(skipped(plain, off));
  EXPECT_TRUE(skipped([](auto& x, auto& h, auto& w) { return substeps(x, 0.5 * h, w, 20); }));  // transformed before
  EXPECT_TRUE(skipped([](auto& x, auto& h, auto& w) {
    const ScanBody body = [&](const Tensors& c, const Tensors&) -> ScanResult { return {{matmul(x + c[0], w)}, {}}; };
    return scan(body, Tensors{h}, Tensors{}, {.length = 20, .reverse = true}).carry[0];
  }));
  EXPECT_TRUE(skipped([](auto& x, auto& h, auto& w) {  // scans over its own weight
    const ScanBody body = [&](const Tensors& c, const Tensors& in) -> ScanResult {
      return {{0.5 * c[0] + matmul(x + c[0], reshape(in[0], {4, 4}))}, {}};
    };
    return scan(body, Tensors{h}, Tensors{broadcast_to(w, {20, 4, 4})}).carry[0];
  }));
  EXPECT_TRUE(has(refusal([](auto& x, auto& h, auto& w) { return 2.0 * substeps(x, h, w, 20); }),  // transformed after
                  DiagnosticKind::PrimitiveInsideControlFlow));
}

TEST(ScanDescent, FollowsABodyWithALoopFreeOfWeights) {
  const auto looped = [](bool inside) {
    return [inside](const Tensor& x, const Tensor& h, const Tensor& w) {
      const ScanBody body = [&](const Tensors& c, const Tensors&) -> ScanResult {
        const Tensor drive = inside ? c[0] : 0.2 * tanh(matmul(x * c[0], w));
        return {{0.5 * c[0] +
                 until_small(drive,
                             [&](const Tensors& d) -> Tensors { return {0.25 * (inside ? matmul(d[0], w) : d[0])}; })},
                {}};
      };
      return scan(body, Tensors{h}, Tensors{}, {.length = 20}).carry[0];
    };
  };
  EXPECT_TRUE(has(compile(looped(false)), DiagnosticKind::ScanDescentApplied));
  EXPECT_TRUE(has(refusal(looped(true)), DiagnosticKind::ScanDescentSkipped));
}

TEST(ScanDescent, AWeightOfPlainOperationsIsNamed) {
  const auto g = compile([](auto&, auto& h, auto& w) {
    const ScanBody body = [&](const Tensors& c, const Tensors&) -> ScanResult { return {{0.5 * dot(c[0], w)}, {}}; };
    return scan(body, Tensors{h}, Tensors{}, {.length = 20}).carry[0];
  });
  EXPECT_TRUE(has(g, DiagnosticKind::ScanDescentNoRelations));
  EXPECT_TRUE(g.hidden_param_op_relations.empty());
  EXPECT_EQ(g.hidden_groups.size(), 1u);
}

TEST(ScanDescent, FactorizedTracesRefuse) {
  Cell      cell([](auto& x, auto& h, auto& w) { return substeps(x, h, w, 20); });
  ES_D_RTRL learner(cell, TraceDecay::decay(0.9));
  EXPECT_THROW(learner.compile_graph(Tensor(vec, 0)), UserError);
}

TEST(ControlFlowRefused, TrainableOperationInsideWhile) {
  EXPECT_TRUE(has(refusal([](auto& x, auto& h, auto& w) {
                    return until_small(
                        h, [&](const Tensors& c) -> Tensors { return {0.5 * c[0] + 0.01 * matmul(x + c[0], w)}; });
                  }),
                  DiagnosticKind::PrimitiveInsideControlFlow));
}

TEST(ControlFlowRefused, TrainableOperationInsideAFunctionWithItsOwnDerivative) {
  EXPECT_TRUE(has(refusal([](auto& x, auto& h, auto& w) {
                    const Function f = [](const Tensors& t) -> Tensors { return {matmul(t[0], t[1])}; };
                    const JvpRule  r = [](const Tensors& t, const Tensors& d) -> Tensors {
                      return {dot(d[0], t[1]) + dot(t[0], d[1])};
                    };
                    return 0.5 * h + custom_jvp(f, r)({x, w})[0];
                  }),
                  DiagnosticKind::PrimitiveInsideControlFlow));
}

TEST(ControlFlowRefused, AWeightThatReachesTheStateThroughWhile) {
  EXPECT_TRUE(has(refusal([](auto&, auto& h, auto& w) {
                    return until_small(h, [&](const Tensors& c) -> Tensors { return {0.1 * dot(c[0], w)}; });
                  }),
                  DiagnosticKind::WeightInWhile));
}

}  // namespace

}  // namespace braintrace

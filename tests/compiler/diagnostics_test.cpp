// SPDX-License-Identifier: Apache-2.0
// Every kind of record is made by some model, with its level and what it concerns.
#include <algorithm>
#include <functional>
#include <set>

#include <gtest/gtest.h>

#include "braintrace/compiler/graph.h"
#include "braintrace/control/cond.h"
#include "braintrace/control/custom.h"
#include "braintrace/control/scan.h"
#include "braintrace/control/while.h"
#include "braintrace/etp/dense.h"
#include "braintrace/etp/operands.h"
#include "braintrace/ops/compare.h"
#include "braintrace/ops/contract.h"
#include "braintrace/ops/math.h"
#include "braintrace/ops/move.h"
#include "braintrace/ops/reduce.h"
#include "braintrace/zoo/cell.h"

namespace braintrace {

namespace {

using K = DiagnosticKind;
using L = DiagnosticLevel;

const Type vec{DType::F32, {4}};

// Two weights [4,4] and a vector, two hidden states [4].
struct Parts {
  std::shared_ptr<zoo::Cell> cell = zoo::make_cell();
  ParamState                 w = cell->param("w", {4, 4}), v = cell->param("v", {4, 4});
  HiddenState                h = cell->hidden("h", {4}), g = cell->hidden("g", {4});
  ShortTermState             s = cell->keep("s", ShortTermState(Tensor(vec, 0.1)));
  Parts() { init_all_states(*cell); }
};
using Step = std::function<Tensor(Parts&, const Tensor& x)>;

// y = x W, twice: a trainable operation with two results.
constexpr EtpRules twice_rules = {
    .primitive = [](const EtpCall&) -> std::string_view { return "etp_twice"; },
    .weights =
        [](const EtpCall&) {
          return std::vector<EtpWeight>{{"weight", 1}};
        },
};
constinit const Op twice_op = {
    .name     = "test_twice",
    .doc      = "the product of x and a weight, and the same again",
    .operands = "x weight",
    .infer    = [](const Op&, const Types& in, const Attrs&) -> Types {
      return {in[0], in[0]};
    },
    .expand = [](const Op&, const Tensors& in, const Attrs&) -> Tensors {
      return {dot(in[0], in[1]), dot(in[0], in[1])};
    },
    .etp = &twice_rules,
};

Tensor scanned(const Tensor& init, int64_t length, const std::function<Tensor(const Tensor&)>& f) {
  const ScanBody body = [&](const Tensors& c, const Tensors&) -> ScanResult { return {{f(c[0])}, {}}; };
  return scan(body, Tensors{init}, Tensors{}, {.length = length}).carry[0];
}
Tensor looped(const Tensor& init, const std::function<Tensor(const Tensor&)>& f) {
  return while_loop([](const Tensors& c) { return greater(sum(square(c[0])), 0.1); },
                    [&](const Tensors& c) -> Tensors { return {f(c[0])}; }, Tensors{init})[0];
}

struct Trigger {
  K              kind;
  L              level;
  Step           step;  // gives the new value of h
  CompileOptions options = {};
};

CompileOptions with_policy(ControlFlowPolicy policy) {
  CompileOptions o;
  o.control_flow = policy;
  return o;
}
CompileOptions snap(int n) {
  CompileOptions o;
  o.include_recurrent_mixing = true;
  o.sparse_n                 = n;
  return o;
}

const std::vector<Trigger>& triggers() {
  static const std::vector<Trigger> list = {
      {K::RelationIncluded, L::Info, [](Parts& p, auto& x) { return 0.5 * p.h.value() + matmul(x, p.w.value()); }},
      {K::RelationExcludedNoParamState, L::Warning,
       [](Parts& p, auto& x) {
         return 0.5 * p.h.value() + matmul(x, Tensor(Type{DType::F32, {4, 4}}, 0.1));
       }},
      {K::TrainableInvarNotParamState, L::Info,
       [](Parts& p, auto& x) { return 0.5 * p.h.value() + matmul(x, p.w.value(), Tensor(vec, 0.1)); }},
      {K::RelationExcludedNonTemporal, L::Warning,
       [](Parts& p, auto& x) {
         p.g.set(matmul(x, p.w.value()));  // of the state g, not of h; the output y = x v reaches neither
         return 0.5 * p.h.value() + x;
       }},
      {K::RelationExcludedShapeMismatch, L::Warning,
       [](Parts& p, auto& x) { return 0.5 * p.h.value() + sum(matmul(x, slice_axis(p.w.value(), 1, 0, 3))); },
       CompileOptions::reference()},
      {K::RelationExcludedWeightToWeight, L::Warning,
       [](Parts& p, auto& x) { return 0.5 * p.h.value() + matmul(tanh(matmul(x, p.w.value())), p.v.value()); },
       CompileOptions::reference()},
      {K::RelationWindowed, L::Info,
       [](Parts& p, auto& x) { return 0.5 * p.h.value() + matmul(tanh(matmul(x, p.w.value())), p.v.value()); }},
      {K::RelationExcludedSlicedWeight, L::Warning,
       [](Parts& p, auto& x) {
         const ScanBody body = [](const Tensors& c, const Tensors& in) -> ScanResult {
           return {{c[0] + tanh(c[0] * in[0])}, {}};
         };
         return 0.5 * p.h.value() + scan(body, Tensors{x}, Tensors{p.w.value()}).carry[0];
       },
       with_policy({.etp_in_control_flow = ControlFlowPolicy::EtpInside::Exclude})},
      {K::RelationPartialPath, L::Warning,
       [](Parts& p, auto& x) {
         const Tensor y = matmul(x, p.w.value());
         return 0.5 * p.h.value() + y + matmul(tanh(y), p.v.value());
       }},
      {K::RelationTailMovesPositions, L::Warning,
       [](Parts& p, auto& x) { return 0.5 * p.h.value() + roll(matmul(x, p.w.value()), 1, 0); }},
      {K::TransitionMixesPositions, L::Warning,
       [](Parts& p, auto& x) { return 0.5 * roll(p.h.value(), 1, 0) + matmul(x, p.w.value()); }},
      {K::ShortTermStatePromoted, L::Info,
       [](Parts& p, auto& x) {
         p.s.set(tanh(x + matmul(p.s.value(), p.w.value())));
         return 0.5 * p.h.value() + p.s.value();
       }},
      {K::StateHoldsNothing, L::Info,
       [](Parts& p, auto& x) {
         p.g.set(matmul(x, p.w.value()));
         return 0.5 * p.h.value() + p.g.value();
       }},
      {K::HiddenGroupMerged, L::Info,
       [](Parts& p, auto& x) {
         p.g.set(0.5 * p.g.value() + p.h.value());
         return 0.5 * p.h.value() + matmul(x, p.w.value());
       }},
      {K::CondIfConverted, L::Info,
       [](Parts& p, auto& x) {
         const Function yes = [](const Tensors& t) -> Tensors { return {tanh(t[0])}; };
         const Function no  = [](const Tensors& t) -> Tensors { return {2.0 * t[0]}; };
         return cond(greater(sum(x), 0.0), yes, no, {p.h.value()})[0] + matmul(x, p.w.value());
       }},
      {K::CondConversionSkipped, L::Warning,
       [](Parts& p, auto& x) {
         const Function yes = [](const Tensors& t) -> Tensors {
           return {looped(t[0], [](auto& c) { return 0.5 * c; })};
         };
         const Function no = [](const Tensors& t) -> Tensors { return {2.0 * t[0]}; };
         return cond(greater(sum(x), 0.0), yes, no, {p.h.value()})[0] + matmul(x, p.w.value());
       }},
      {K::ScanUnrolled, L::Info,
       [](Parts& p, auto& x) {
         return scanned(p.h.value(), 3, [&](auto& c) { return 0.5 * c + matmul(x + c, p.w.value()); });
       }},
      {K::ScanUnrollSkipped, L::Info,
       [](Parts& p, auto& x) {
         return scanned(p.h.value(), 30, [&](auto& c) { return 0.5 * c + matmul(x + c, p.w.value()); });
       }},
      {K::ScanDescentApplied, L::Info,
       [](Parts& p, auto& x) {
         return scanned(p.h.value(), 30, [&](auto& c) { return 0.5 * c + matmul(x + c, p.w.value()); });
       }},
      {K::ScanDescentSkipped, L::Warning,
       [](Parts& p, auto& x) {
         return scanned(2.0 * p.h.value(), 30, [&](auto& c) { return 0.5 * c + matmul(x + c, p.w.value()); });
       }},
      {K::ScanDescentNoRelations, L::Warning,
       [](Parts& p, auto&) { return scanned(p.h.value(), 30, [&](auto& c) { return 0.5 * dot(c, p.w.value()); }); }},
      {K::WeightInWhile, L::Error,
       [](Parts& p, auto&) { return looped(p.h.value(), [&](auto& c) { return 0.1 * dot(c, p.w.value()); }); }},
      {K::WeightInControlFlow, L::Error,
       [](Parts& p, auto& x) {
         const Function yes = [&](const Tensors& t) -> Tensors { return {dot(t[0], t[1])}; };
         const Function no  = [](const Tensors& t) -> Tensors { return {2.0 * t[0]}; };
         return cond(greater(sum(x), 0.0), yes, no, {p.h.value(), p.w.value()})[0];
       },
       with_policy({.cond = ControlFlowPolicy::Cond::Opaque})},
      {K::ControlFlowOpaqueForward, L::Info,
       [](Parts& p, auto& x) { return looped(p.h.value() + matmul(x, p.w.value()), [](auto& c) { return 0.5 * c; }); }},
      {K::ControlFlowRecurrentMixing, L::Warning,
       [](Parts& p, auto& x) {
         const Tensor fixed(Type{DType::F32, {4, 4}}, 0.1);
         return looped(p.h.value() + matmul(x, p.w.value()), [&](auto& c) { return 0.5 * dot(c, fixed); });
       }},
      {K::PrimitiveInsideControlFlow, L::Error,
       [](Parts& p, auto& x) {
         return looped(p.h.value(), [&](auto& c) { return 0.1 * matmul(c + x, p.w.value()); });
       }},
      {K::MultiOutputPrimitiveDetected, L::Info,
       [](Parts& p, auto& x) {
         return 0.5 * p.h.value() + apply(twice_op, {x, p.w.value()}, {})[0];
       }},
      {K::SnapPatternConservative, L::Warning,
       [](Parts& p, auto& x) {
         return scanned(p.h.value(), 30, [](auto& c) { return 0.9 * c; }) + matmul(x, p.w.value());
       },
       snap(2)},
      {K::SnapPatternDegenerate, L::Info, [](Parts& p, auto& x) { return 0.5 * p.h.value() + matmul(x, p.w.value()); },
       snap(2)},
      {K::StateMismatch, L::Warning, [](Parts& p, auto& x) { return 0.5 * p.h.value() + matmul(x, p.w.value()); }},
  };
  return list;
}

Diagnostics records(const Trigger& t) {
  Parts p;
  p.cell->step = [&](const Tensor& x) {
    p.h.set(t.step(p, x));
    return matmul(p.h.value(), p.v.value());
  };
  try {
    return compile_etrace_graph(*p.cell, {vec}, t.options).diagnostics;
  } catch (const CompileError& e) {
    EXPECT_EQ(t.level == L::Error || t.kind == K::ScanDescentSkipped || t.kind == K::RelationExcludedSlicedWeight, true)
        << e.what();
    return e.diagnostics;
  }
}

TEST(Diagnostics, EveryKindIsTriggered) {
  std::set<K> seen;
  for (const Trigger& t : triggers()) {
    SCOPED_TRACE(name_of(t.kind));
    const Diagnostics all = records(t);
    const auto it = std::find_if(all.begin(), all.end(), [&](const CompilationRecord& r) { return r.kind == t.kind; });
    if (it == all.end()) {
      std::string kinds;
      for (const CompilationRecord& r : all) kinds += fmt::format("{} ", name_of(r.kind));
      ADD_FAILURE() << "only: " << kinds;
      continue;
    }
    EXPECT_EQ(it->level, t.level);
    EXPECT_FALSE(it->message.empty());
    seen.insert(t.kind);
  }
  EXPECT_EQ(seen.size(), static_cast<size_t>(num_diagnostic_kinds));
}

// Negative control: a plain step makes none but the two it must.
TEST(Diagnostics, AStepThatIsInOrderMakesNoOther) {
  std::set<K> kinds;
  for (const CompilationRecord& r : records({K::RelationIncluded, L::Info, [](Parts&p, auto&x) {
                                               p.g.set(0.5 * p.g.value() + x);
                                               p.s.set(0.5 * p.s.value() + x);
                                               return 0.5 * p.h.value() + matmul(x, p.w.value());
                                             }}))
    kinds.insert(r.kind);
  EXPECT_EQ(kinds, (std::set<K>{K::RelationIncluded, K::RelationExcludedNonTemporal}));
}

// The gradient of a readout is exact, that of a weight whose result stays for later steps is not.
TEST(Diagnostics, AWeightWithoutATraceSaysWhetherItsGradientIsExact) {
  const auto reason = [](const char* weight, const Step& step) {
    for (const CompilationRecord& r : records({K::RelationExcludedNonTemporal, L::Warning, step}))
      if (r.kind == K::RelationExcludedNonTemporal && r.weight_path == Path{weight}) return r.message;
    return std::string();
  };
  const auto says = [](const std::string& text, const char* part) { return text.find(part) != std::string::npos; };
  const Step kept = [](Parts& p, auto& x) {
    p.s.set(matmul(x, p.w.value()));
    return 0.5 * p.h.value() + x;
  };
  const Step cut = [](Parts& p, auto& x) { return 0.5 * p.h.value() + stop_gradient(matmul(x, p.w.value())); };
  EXPECT_TRUE(says(reason("v", kept), "its same-step gradient is exact"));
  EXPECT_TRUE(says(reason("w", kept), "it gets the same-step gradient only"));
  EXPECT_TRUE(says(reason("w", cut), "stop_gradient cuts"));
}

TEST(Diagnostics, NamesAreReadBack) {
  for (int i = 0; i < num_diagnostic_kinds; ++i)
    EXPECT_EQ(diagnostic_kind_named(name_of(static_cast<K>(i))), static_cast<K>(i));
  EXPECT_FALSE(diagnostic_kind_named("relation_inclded").has_value());
}

}  // namespace

}  // namespace braintrace

// SPDX-License-Identifier: Apache-2.0
// Credit at the edges of a model: parameters that positions share, states that hold nothing, states that copy others.
// Each is compared with the same model written plainly, under every rule, and with plain reverse mode where the rule is
// exact.
#include <gtest/gtest.h>

#include "braintrace/algorithms/d_rtrl.h"
#include "braintrace/algorithms/e_prop.h"
#include "braintrace/algorithms/es_d_rtrl.h"
#include "braintrace/algorithms/rtrl.h"
#include "braintrace/algorithms/snap.h"
#include "braintrace/algorithms/uoro.h"
#include "braintrace/compiler/report.h"
#include "braintrace/etp/dense.h"
#include "braintrace/etp/element_wise.h"
#include "braintrace/functions/loops.h"
#include "braintrace/nn/neuron.h"
#include "braintrace/ops/contract.h"
#include "braintrace/ops/families.h"
#include "braintrace/ops/special.h"
#include "braintrace/zoo/cell.h"
#include "tests/algorithms/support.h"

namespace braintrace {

namespace {

struct NamedRule {
  const char*                                            name;
  std::function<std::unique_ptr<OnlineLearner>(Module&)> make;
  bool                                                   exact;   // on models whose transition is diagonal
  bool                                                   linear;  // in the trace: no projection is drawn
};
template <class Learner, class... Arguments>
NamedRule rule(const char* name, bool exact, bool linear, Arguments... arguments) {
  return {name, [=](Module& m) -> std::unique_ptr<OnlineLearner> { return std::make_unique<Learner>(m, arguments...); },
          exact, linear};
}
const std::vector<NamedRule>& rules() {
  static const std::vector<NamedRule> list = {
      rule<D_RTRL>("D_RTRL", true, true),
      rule<OSTLRecurrent>("OSTLRecurrent", true, true),
      rule<EProp>("EProp", false, true, 0.5),
      rule<ES_D_RTRL>("ES_D_RTRL", false, true, TraceDecay{0.9, 0.7}),
      rule<SnAp>("SnAp", true, true, 2),
      rule<RTRL>("RTRL", true, true),
      rule<UORO>("UORO", false, false, UoroOptions{}),
  };
  return list;
}

// A cell, created for every gradient, and its inputs.
struct Trial {
  std::function<std::shared_ptr<zoo::Cell>()> make;
  Tensor                                      xs, m = ones({xs.shape()[0]}, DType::F64);

  std::shared_ptr<zoo::Cell> start() const {
    auto cell = make();
    set_states(*cell, 21);
    return cell;
  }
  Gradients exact() const { return unrolled(*start(), xs, m); }
  Gradients steps(const NamedRule& r) const {
    const auto cell    = start();
    const auto learner = r.make(*cell);
    learner->compile_graph(row(xs, 0));
    return stepwise(*learner, xs, m);
  }
  Gradients windows(const NamedRule& r, const std::vector<int64_t>& lengths) const {
    const auto cell    = start();
    const auto learner = r.make(*cell);
    learner->compile_graph(row(xs, 0));
    return windowed(*learner, xs, m, lengths);
  }
  ETraceGraph graph() const { return compile_etrace_graph(*start(), {row(xs, 0).type()}); }
};
Trial trial(const Shape& x, std::function<std::shared_ptr<zoo::Cell>()> make, int64_t T = 4) {
  Shape shape = x;
  shape.insert(shape.begin(), T);
  return {std::move(make), normal({DType::F64, shape}, 5)};
}

// Two ways to write one model: every rule gives the same gradients for both, step by step and in windows.
void expect_same(const Trial& a, const Trial& b, const std::function<bool(const NamedRule&)>& chosen = nullptr) {
  for (const NamedRule& r : rules()) {
    if (chosen && !chosen(r)) continue;
    SCOPED_TRACE(r.name);
    const Difference apart = difference(a.steps(r), b.steps(r));
    EXPECT_LT(apart.worst, 1e-12) << apart.leaf;
    EXPECT_GT(apart.weakest, 1e-3);
    EXPECT_LT(gap(a.windows(r, {1, 3}), b.windows(r, {1, 3})), 1e-12);
  }
}
void expect_exact(const Trial& t) {
  const Gradients want = t.exact();
  for (const NamedRule& r : rules()) {
    if (!r.exact || std::string(r.name) == "OSTLRecurrent") continue;  // without products it is D-RTRL
    SCOPED_TRACE(r.name);
    const Difference apart = difference(t.steps(r), want);
    EXPECT_LT(apart.worst, 1e-11) << apart.leaf;
    EXPECT_GT(apart.weakest, 1e-3);
    EXPECT_LT(gap(t.windows(r, {1, 3}), want), 1e-11);
  }
}

// Parameters on shared axes ------------------------------------------------------------------------------------------

using Map = std::function<Tensor(const Tensor&)>;

// h ← σ(a) h + tanh(x + b), a : the weight, read as spread(element_wise(a)); b : one value per position
std::shared_ptr<zoo::Cell> decaying(const Shape& hidden, const Tensor& weight, const Map& spread, int states = 1) {
  auto       cell = zoo::make_cell();
  const auto a    = cell->keep("a", ParamState(weight));
  const auto b    = cell->keep("b", ParamState(normal({DType::F64, hidden}, 8)));
  const auto h    = cell->keep("h", HiddenState(zeros(hidden, DType::F64)));
  const auto g    = states > 1 ? cell->keep("g", HiddenState(zeros(hidden, DType::F64))) : h;
  cell->step      = [=](const Tensor& x) {
    const Tensor decay = sigmoid(spread(element_wise(a.value())));
    h.set(decay * h.value() + tanh(x + element_wise(b.value())) - (states > 1 ? 0.3 * g.value() : 0.0 * x));
    if (states > 1) g.set(0.8 * g.value() + 0.2 * decay * h.value());
    return states > 1 ? h.value() + g.value() : h.value();
  };
  return cell;
}

struct Sharing {
  Shape weight, hidden;
  Map   spread;
  Shape layout;  // of the weight on the axes of the state
};
const std::vector<Sharing>& sharings() {
  const Map                         plain = [](const Tensor& w) { return w; };
  static const std::vector<Sharing> list  = {
       {{1}, {4}, plain, {1}},
       {{}, {3}, plain, {1}},
       {{3}, {2, 3}, plain, {1, 3}},
       {{2, 1}, {2, 3}, plain, {2, 1}},
       {{2, 1, 3}, {2, 2, 3}, plain, {2, 1, 3}},
       {{3}, {3, 3}, [](const Tensor& w) { return expand_dims(w, 1); }, {3, 1}},
       {{6},
        {2, 2, 3},
        [](const Tensor& w) {
         return reshape(w, {2, 3});
       },
        {1, 2, 3}},
       {{1}, {1}, plain, {1}},
       {{3}, {1, 3}, plain, {1, 3}},
  };
  return list;
}

TEST(SharedParameters, AreExactWherePositionsStayApart) {
  int states = 1;
  for (const Sharing& s : sharings()) {
    SCOPED_TRACE(to_string(s.weight) + " on " + to_string(s.hidden));
    states = 3 - states;
    expect_exact(trial(s.hidden, [=] {
      return decaying(s.hidden, normal({DType::F64, s.weight}, 3), s.spread, states);
    }));
  }
}

// The gradient of a shared value is the sum of the gradients of the values that it replaces.
TEST(SharedParameters, SumWhatTheirCopiesWouldGet) {
  for (const Sharing& s : sharings()) {
    SCOPED_TRACE(to_string(s.weight) + " on " + to_string(s.hidden));
    const Tensor weight = normal({DType::F64, s.weight}, 3);
    const Tensor copies = broadcast_to(reshape(weight, s.layout), s.hidden);
    const Trial  shared = trial(s.hidden, [=] { return decaying(s.hidden, weight, s.spread, 2); });
    const Trial  apart  = trial(s.hidden, [=] {
      return decaying(
            s.hidden, copies, [](auto& w) { return w; }, 2);
    });
    for (const NamedRule& r : rules()) {
      if (r.exact || !r.linear) continue;
      SCOPED_TRACE(r.name);
      const auto expect_summed = [&](const Gradients& one, const Gradients& many) {
        const Tensor want = reshape(sum_to(many.at({"a"}, ""), s.layout), s.weight);
        EXPECT_LT(std::sqrt(squared(one.at({"a"}, "") - want).item()), 1e-12 * std::sqrt(squared(want).item()));
        EXPECT_GT(squared(want).item(), 1e-6);
      };
      expect_summed(shared.steps(r), apart.steps(r));
      expect_summed(shared.windows(r, {1, 3}), apart.windows(r, {1, 3}));
    }
  }
}

// A tail that mixes positions has the same trace with and without a batch.
TEST(SharedParameters, DoNotDependOnTheBatchWhereTheTailMixes) {
  const auto mixing = [](const Shape& hidden) {
    return decaying(hidden, normal({DType::F64, {3}}, 3), [](const Tensor& w) { return w - mean(tanh(w)); });
  };
  Trial one = trial({3}, [=] { return mixing({3}); }), both = trial({2, 3}, [=] { return mixing({2, 3}); });
  both.xs = broadcast_to(expand_dims(one.xs, 1), {4, 2, 3});
  for (Trial* t : {&one, &both}) {
    const auto made = t->make;
    t->make         = [=] {
      auto cell = made();
      for (const auto& [path, state] : cell->states())
        if (path.str() == "b") state.set(broadcast_to(Tensor(Type{DType::F64, {3}}, 0.2), state.value().shape()));
      return cell;
    };
  }
  EXPECT_FALSE(both.graph().hidden_param_op_relations.at(0).connections.at(0).position_preserving);
  const auto gradient = [](const Trial& t, bool windows) {
    const auto cell = t.make();  // both rows start from zero
    D_RTRL     learner(*cell);
    learner.compile_graph(row(t.xs, 0));
    return (windows ? windowed(learner, t.xs, t.m, {1, 3}) : stepwise(learner, t.xs, t.m)).at({"a"}, "");
  };
  for (const bool windows : {false, true}) {
    const Tensor a = gradient(one, windows), b = gradient(both, windows);
    EXPECT_LT(squared(b - 2.0 * a).item(), 1e-24 * squared(b).item());
  }
}

TEST(SharedParameters, OneTimeConstantForAllNeurons) {
  const Environment::Scope dt({.dt = 1.0});
  for (const Shape& shape : {Shape{1}, Shape{4}}) {
    const Trial t = trial({3}, [=] {
      auto cell = zoo::make_cell();
      auto w    = cell->keep("w", ParamState(normal({DType::F64, {3, 4}}, 3)));
      auto neuron =
          cell->part("n", nn::LIF(4, {.tau = ParamState(full(shape, 5.0, DType::F64)), .surrogate = "sigmoid"}));
      init_all_states(*cell);
      cell->step = [=](const Tensor& x) mutable {
        const Tensor z = neuron(matmul(x, w.value()));
        return z + neuron.V.value();
      };
      return cell;
    });
    expect_exact(t);
  }
}

// States that hold nothing --------------------------------------------------------------------------------------------

enum class Stored { No, Yes, ReadAndIgnored };

// i = tanh(x w);  I ← i;  V ← 0.9 V + i;  returns V and i
std::shared_ptr<zoo::Cell> synaptic(Stored stored, const Shape& batch, bool recurrent) {
  auto  cell    = zoo::make_cell();
  Shape V_shape = batch;
  V_shape.push_back(4);
  const auto w = cell->keep("w", ParamState(normal({DType::F64, {3, 4}}, 3)));
  const auto u = cell->keep("u", ParamState(normal({DType::F64, {4, 4}}, 4, 0.3)));
  const auto V = cell->keep("V", HiddenState(zeros(V_shape, DType::F64)));
  const auto I = cell->keep("I", HiddenState(zeros(V_shape, DType::F64)));
  const auto J = cell->keep("J", HiddenState(zeros(V_shape, DType::F64)));
  cell->step   = [=](const Tensor& x) {
    Tensor i = tanh(matmul(x, w.value()) +
                      (recurrent ? matmul(V.value(), u.value()) : dot(x, slice_axis(u.value(), 0, 0, 3))));
    if (stored == Stored::ReadAndIgnored) tanh(I.value());
    if (stored != Stored::No) {
      I.set(i);
      J.set(2.0 * I.value());
      i = 0.5 * J.value();
    }
    V.set(0.9 * V.value() + i);
    return V.value() + 0.3 * i;
  };
  return cell;
}

TEST(StatesThatHoldNothing, ChangeNoGradient) {
  struct Case {
    Stored stored;
    Shape  batch;
    bool   recurrent;
  };
  for (const Case& c :
       {Case{Stored::Yes, {}, true}, Case{Stored::Yes, {2}, false}, Case{Stored::ReadAndIgnored, {}, false}}) {
    Shape x = c.batch;
    x.push_back(3);
    expect_same(trial(x, [=] { return synaptic(c.stored, c.batch, c.recurrent); }),
                trial(x, [=] { return synaptic(Stored::No, c.batch, c.recurrent); }));
  }
}

TEST(StatesThatHoldNothing, AreExactAndTheReportSaysSo) {
  const auto cell = [] {
    auto       c = zoo::make_cell();
    const auto w = c->keep("w", ParamState(normal({DType::F64, {3, 4}}, 3)));
    const auto V = c->keep("V", HiddenState(zeros({4}, DType::F64))),
               I = c->keep("I", HiddenState(zeros({4}, DType::F64)));
    c->step      = [=](const Tensor& x) {
      const Tensor i = tanh(matmul(x, w.value()));
      I.set(i);
      V.set(0.9 * V.value() + i);
      return V.value();
    };
    return c;
  };
  const Trial t = trial({3}, cell);
  expect_exact(t);
  const ETraceGraph g = t.graph();
  ASSERT_EQ(g.hidden_groups.size(), 1u);
  EXPECT_EQ(g.hidden_groups[0].hidden_paths, (std::vector<Path>{{"V"}}));
  EXPECT_EQ(g.explain({.hidden_path = Path{"I"}, .kind = DiagnosticKind::StateHoldsNothing}).size(), 1u);
  EXPECT_NE(show_graph(g).find("('I',); nothing reads its old value, so credit passes through it"), std::string::npos)
      << show_graph(g);
}

// Inside a loop of the step, unrolled or followed substep by substep.
TEST(StatesThatHoldNothing, ChangeNoGradientInsideALoop) {
  const auto cell = [](bool stored, int64_t substeps) {
    auto       c = zoo::make_cell();
    const auto w = c->keep("w", ParamState(normal({DType::F64, {3, 4}}, 3)));
    const auto V = c->keep("V", HiddenState(zeros({4}, DType::F64))),
               I = c->keep("I", HiddenState(zeros({4}, DType::F64)));
    c->step      = [=](const Tensor& x) {
      for_loop(
          [&](const Tensor& k) {
            const Tensor i = tanh(matmul(x, w.value()) * k);
            if (stored) I.set(i);
            V.set(0.9 * V.value() + 0.1 * i);
            return i;
          },
          1.0 + 0.1 * convert(arange(substeps), DType::F64));
      return V.value();
    };
    return c;
  };
  for (const int64_t substeps : {3, 20}) {
    SCOPED_TRACE(substeps);
    const auto no_factorized = [=](const NamedRule& r) { return substeps < 16 || std::string(r.name) != "ES_D_RTRL"; };
    expect_same(trial({3}, [=] { return cell(true, substeps); }), trial({3}, [=] { return cell(false, substeps); }),
                no_factorized);
  }
}

// States that copy others ---------------------------------------------------------------------------------------------

// c is set to a value that another state or the input has: with `by_name` directly, otherwise through an equation.
// Readers of c read c, not the value it was copied from.
enum class Copied { OldState, OwnOldState, NewState, Input };
std::shared_ptr<zoo::Cell> copying(Copied what, bool by_name, const Shape& batch) {
  auto  cell  = zoo::make_cell();
  Shape shape = batch;
  shape.push_back(3);
  const auto w = cell->keep("w", ParamState(normal({DType::F64, {3, 3}}, 3)));
  const auto v = cell->keep("v", ParamState(normal({DType::F64, {3, 3}}, 4)));
  const auto h = cell->keep("h", HiddenState(zeros(shape, DType::F64))),
             c = cell->keep("c", HiddenState(zeros(shape, DType::F64))),
             g = cell->keep("g", HiddenState(zeros(shape, DType::F64)));
  cell->step   = [=](const Tensor& x) {
    const Tensor old_h = h.value(), old_c = c.value();
    const Tensor next = 0.8 * old_h + tanh(matmul(x, w.value()));
    if (what == Copied::NewState) h.set(next);
    const Tensor from = what == Copied::OldState      ? old_h
                          : what == Copied::OwnOldState ? old_c
                          : what == Copied::NewState    ? h.value()
                                                        : x;
    c.set(by_name ? from : 1.0 * from);
    const Tensor read = tanh(c.value());
    if (what != Copied::NewState) h.set(next + 0.3 * old_c);
    g.set(0.7 * g.value() + 0.5 * read + tanh(matmul(x, v.value())) + 0.2 * old_c);
    return g.value() + read + 0.1 * h.value();
  };
  return cell;
}

TEST(StatesThatCopyOthers, AreReadUnderTheirOwnName) {
  for (const Copied what : {Copied::OldState, Copied::OwnOldState, Copied::NewState, Copied::Input}) {
    SCOPED_TRACE(static_cast<int>(what));
    const Shape batch = what == Copied::OldState ? Shape{2} : Shape{};
    Shape       x     = batch;
    x.push_back(3);
    const Trial named = trial(x, [=] { return copying(what, true, batch); });
    expect_same(named, trial(x, [=] { return copying(what, false, batch); }));
    expect_exact(named);
  }
}

}  // namespace

}  // namespace braintrace

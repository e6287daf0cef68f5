// SPDX-License-Identifier: Apache-2.0
// A weight carries a trace only where its positions are proven to be those of the state.
#include "braintrace/compiler/positions.h"

#include <gtest/gtest.h>

#include "braintrace/compiler/graph.h"
#include "braintrace/etp/dense.h"
#include "braintrace/etp/element_wise.h"
#include "braintrace/ops/cumulative.h"
#include "braintrace/ops/math.h"
#include "braintrace/ops/move.h"
#include "braintrace/ops/reduce.h"
#include "braintrace/runtime/values.h"
#include "braintrace/transforms/walk.h"

namespace braintrace {

namespace {

using Map = std::function<Tensor(const Tensor&)>;

// h ← h/2 + x spread(element_wise(w))
struct Gate : Module {
  Gate(Shape weight, Shape hidden, Map s)
      : spread(std::move(s)),
        w(state("w", ParamState(Tensor(Type{DType::F64, std::move(weight)}, 0.5).array()))),
        h(state("h", HiddenState(Tensor(Type{DType::F64, std::move(hidden)}, 0.1).array()))) {}
  Tensor update(const Tensor& x) override {
    h.set(0.5 * h.value() + x * spread(element_wise(w.value())));
    return h.value();
  }

  Map         spread;
  ParamState  w;
  HiddenState h;
};

Connection connection_of(Shape weight, Shape hidden, Map spread) {
  Gate       gate(std::move(weight), hidden, std::move(spread));
  const auto g = compile_etrace_graph(gate, {{DType::F64, std::move(hidden)}});
  return g.hidden_param_op_relations.at(0).connections.at(0);
}
Tensor as_it_is(const Tensor& w) { return w; }

TEST(Positions, AWeightIsSharedAlongAnyAxes) {
  struct Case {
    Shape weight, hidden;
    Map   spread;
    Shape layout;
  };
  const Case cases[] = {
      {{3}, {3}, as_it_is, {3}},
      {{3}, {2, 3}, as_it_is, {1, 3}},
      {{1}, {3}, as_it_is, {1}},
      {{}, {2, 3}, as_it_is, {1, 1}},
      {{2, 1}, {2, 3}, as_it_is, {2, 1}},
      {{2, 1, 3}, {2, 4, 3}, as_it_is, {2, 1, 3}},
      {{1, 4, 1}, {2, 4, 3}, as_it_is, {1, 4, 1}},
      {{3}, {3, 3}, [](auto& w) { return expand_dims(w, 1); }, {3, 1}},
      {{3}, {3, 3}, [](auto& w) { return expand_dims(w, 0); }, {1, 3}},
      {{6},
       {2, 3},
       [](auto& w) {
         return reshape(w, {2, 3});
       },
       {2, 3}},
      {{2, 3}, {4, 6}, [](auto& w) { return tanh(reshape(w, {6})); }, {1, 6}},
      {{1}, {3}, [](auto& w) { return w - mean(w); }, {1}},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(to_string(c.weight) + " on " + to_string(c.hidden));
    const Connection found = connection_of(c.weight, c.hidden, c.spread);
    EXPECT_EQ(found.path, PathClass::Direct);
    EXPECT_TRUE(found.position_preserving);
    EXPECT_EQ(found.y_layout, c.layout);
  }
}

TEST(Positions, WhatIsMovedOrMixedHasALayoutByShapeAndSaysSo) {
  for (const Shape& hidden : {Shape{3}, Shape{2, 3}}) {
    const Connection found = connection_of({3}, hidden, [](auto& w) { return roll(w, 1, 0); });
    EXPECT_EQ(found.path, PathClass::Direct);
    EXPECT_FALSE(found.position_preserving);
    EXPECT_EQ(found.y_layout, hidden.size() == 1 ? Shape({3}) : Shape({1, 3}));
  }
  Gate       gate({3, 3}, {3, 3}, [](auto& w) { return transpose(w); });
  const auto g = compile_etrace_graph(gate, {{DType::F64, {3, 3}}});
  EXPECT_FALSE(g.hidden_param_op_relations.at(0).connections.at(0).position_preserving);
  EXPECT_FALSE(g.explain({.kind = DiagnosticKind::RelationTailMovesPositions}).empty());
}

// A row on one axis and a column on the other have no common place, though each has one.
TEST(Positions, TwoWaysThatShareDifferentAxesAreNotOne) {
  const Connection both = connection_of({3}, {3, 3}, [](auto& w) { return expand_dims(w, 1) + expand_dims(w, 0); });
  EXPECT_FALSE(both.position_preserving);
}

// The record names the true reason: no product stands between them.
TEST(Positions, AResultWithoutAPlaceSaysSo) {
  const auto reason = [](const ETraceGraph& g) {
    const HiddenParamOpRelation& r = g.hidden_param_op_relations.at(0);
    EXPECT_EQ(r.connections.at(0).path, PathClass::Windowed);
    EXPECT_FALSE(r.connections.at(0).y_layout.has_value());
    EXPECT_TRUE(r.through.empty());
    const Diagnostics records = g.explain({.kind = DiagnosticKind::RelationWindowed});
    EXPECT_EQ(records.size(), 1u);
    return records.empty() ? "" : records[0].message;
  };
  Gate        gate({2}, {3}, [](auto& w) { return sum(w); });
  std::string text = reason(compile_etrace_graph(gate, {{DType::F64, {3}}}));
  EXPECT_NE(text.find("its result [2] does not match the positions [3]"), std::string::npos) << text;

  // Axes that a reshape made and a repetition then drew apart are more than the links of axes can say.
  Gate apart({6}, {2, 4, 3}, [](auto& w) { return reshape(w, {2, 1, 3}); });
  EXPECT_NE(reason(compile_etrace_graph(apart, {{DType::F64, {2, 4, 3}}})), "");

  struct OneForAll : Module {
    ParamState  w = state("w", ParamState(Tensor(Type{DType::F64, {3, 1}}, 0.5).array()));
    HiddenState h = state("h", HiddenState(Tensor(Type{DType::F64, {3}}, 0.1).array()));
    Tensor      update(const Tensor& x) override {
      h.set(0.5 * h.value() + matmul(x, w.value()));
      return h.value();
    }
  } one;
  text = reason(compile_etrace_graph(one, {{DType::F64, {3}}}));
  EXPECT_NE(text.find("its result [1] does not match the positions [3]"), std::string::npos) << text;
}

constexpr auto same = AxisLink::Kind::Same, moved = AxisLink::Kind::Moved;

TEST(Compose, NeighborsJoinOnEitherSide) {
  const AxisLinks axes{{0, 1, 0, 1}, {1, 2, 1, 2}}, flat{{0, 2, 0, 1}}, split{{0, 1, 0, 2}};
  EXPECT_EQ(compose(axes, axes), axes);
  EXPECT_EQ(compose(axes, flat), flat);
  EXPECT_EQ(compose(split, axes), split);
  EXPECT_EQ(compose(split, flat), (AxisLinks{{0, 1, 0, 1}}));
  EXPECT_EQ(compose(flat, split), (AxisLinks{{0, 2, 0, 2}}));
}

// One part that moves positions makes the whole operation move them, wherever it is.
TEST(Compose, AMovementIsNeverForgotten) {
  const AxisLinks still{{0, 1, 0, 1, same}, {1, 2, 1, 2, same}}, flat{{0, 2, 0, 1, same}}, split{{0, 1, 0, 2, same}};
  for (const bool first_moves : {false, true}) {
    AxisLinks half                 = still;
    half[first_moves ? 0 : 1].kind = moved;
    EXPECT_EQ(compose(half, flat), (AxisLinks{{0, 2, 0, 1, moved}}));   // joined on the first side
    EXPECT_EQ(compose(split, half), (AxisLinks{{0, 1, 0, 2, moved}}));  // spanned by a link of the first
    EXPECT_EQ(compose(half, still), half);
    EXPECT_EQ(compose(still, half), half);
  }
  EXPECT_EQ(compose(still, {{0, 2, 0, 1, moved}}), (AxisLinks{{0, 2, 0, 1, moved}}));
  EXPECT_EQ(compose({{0, 1, 0, 2, moved}}, still), (AxisLinks{{0, 1, 0, 2, moved}}));
  EXPECT_EQ(compose({{0, 1, 0, 1, moved}}, {{0, 1, 0, 1, moved}}), (AxisLinks{{0, 1, 0, 1, moved}}));
}

TEST(Compose, WhatDoesNotFitIsDropped) {
  const AxisLinks axes{{0, 1, 0, 1}, {1, 2, 1, 2}}, swapped{{1, 2, 0, 1}, {0, 1, 1, 2}}, flat{{0, 2, 0, 1}};
  EXPECT_EQ(compose(swapped, flat), AxisLinks{});                                 // neighbors in another order
  EXPECT_EQ(compose({{0, 1, 0, 2}}, swapped), AxisLinks{});                       // likewise on the other side
  EXPECT_EQ(compose({{0, 1, 0, 1}}, flat), AxisLinks{});                          // half of the range
  EXPECT_EQ(compose({{0, 1, 0, 2}}, {{0, 1, 0, 1}}), AxisLinks{});                // likewise
  EXPECT_EQ(compose({{0, 1, 0, 1}, {1, 3, 1, 3}}, {{0, 2, 0, 1}}), AxisLinks{});  // a range that ends inside another
  EXPECT_EQ(compose({{0, 2, 0, 2}}, {{0, 1, 0, 1}, {1, 3, 1, 2}}), AxisLinks{});  // likewise
  EXPECT_EQ(compose({{0, 1, 0, 1}, {2, 3, 1, 2}}, flat), AxisLinks{});            // a gap in the source
  EXPECT_EQ(compose({{0, 1, 0, 2}}, {{0, 1, 0, 1}, {1, 2, 2, 3}}), AxisLinks{});  // a gap in the result
  EXPECT_EQ(compose(axes, {{0, 0, 0, 1}, {1, 2, 1, 2}}), (AxisLinks{{1, 2, 1, 2}}));  // a new axis of size one
}

TEST(Meet, OnlyWhatStaysInPlaceOnBothWaysStays) {
  const AxisLinks a{{0, 1, 0, 1, same}, {1, 2, 1, 2, moved}};
  EXPECT_EQ(meet(a, a), (AxisLinks{{0, 1, 0, 1, same}}));  // two movements need not be one
  EXPECT_EQ(meet(a, {{0, 1, 0, 1, moved}, {1, 2, 1, 2, same}}), AxisLinks{});
  EXPECT_EQ(meet(a, {{0, 1, 1, 2, same}}), AxisLinks{});
}

// h ← f(h) + x, with the rows of h reversed inside a reshape: nothing is diagonal, however it is written.
TEST(Compose, AReversalInsideAReshapeIsSeenInTheModel) {
  struct Reversed : Module {
    explicit Reversed(Map f) : f(std::move(f)) {}
    Map         f;
    HiddenState h = state("h", HiddenState(Tensor(Type{DType::F64, {6}}, 0.1).array()));
    Tensor      update(const Tensor& x) override {
      h.set(f(0.5 * h.value()) + x);
      return h.value();
    }
  };
  const Map ways[] = {
      [](const Tensor& h) {
        return reshape(flip(reshape(h, {2, 3}), Ints{1}), {6});
      },
      [](const Tensor& h) {
        return reshape(flip(reshape(h, {2, 3}), Ints{0}), {6});
      },
      [](const Tensor& h) {
        return reshape(transpose(reshape(h, {2, 3})), {6});
      },
  };
  // ∂h_t/∂h_{t-1} on its diagonal: ½ if a position stays in its place.
  const std::vector<double> fixed[] = {{0, 1, 0, 0, 1, 0}, {0, 0, 0, 0, 0, 0}, {1, 0, 0, 0, 0, 1}};
  for (size_t i = 0; i < std::size(ways); ++i) {
    SCOPED_TRACE(i);
    Reversed           model(ways[i]);
    const auto         g     = compile_etrace_graph(model, {{DType::F64, {6}}});
    const HiddenGroup& group = g.hidden_groups.at(0);
    EXPECT_FALSE(group.diagonal);
    EXPECT_FALSE(g.explain({.kind = DiagnosticKind::TransitionMixesPositions}).empty());
    const auto   run = g.module_info.jaxpr_call({Tensor(Type{DType::F64, {6}}, 1)});
    const Tensor D =
        group.diagonal_jacobian(gather(run.temps, group.entries()), gather(run.temps, group.transition.constants));
    EXPECT_EQ(max_difference(2.0 * reshape(D, {6}), Tensor(from_doubles({DType::F64, {6}}, fixed[i]))), 0);
  }
}

// Positions and slots of a stacked state are distinguished, even if there are equally many of both.
TEST(Positions, AStateThatSwapsPositionsAndSlotsIsNotDiagonal) {
  for (const bool swaps : {false, true}) {
    struct Stacked : Module {
      explicit Stacked(bool swaps) : swaps(swaps) {}
      bool             swaps;
      HiddenGroupState s = state("s", HiddenGroupState(Tensor(Type{DType::F64, {3, 3}}, 0.1).array()));
      Tensor           update(const Tensor& x) override {
        s.set(0.5 * (swaps ? transpose(s.value()) : cumsum(s.value(), 1)) + x);
        return s.value();
      }
    } model(swaps);
    const auto g = compile_etrace_graph(model, {{DType::F64, {3, 3}}});
    EXPECT_EQ(g.hidden_groups.at(0).varshape, Shape{3});
    EXPECT_EQ(g.hidden_groups.at(0).diagonal, !swaps);
  }
}

}  // namespace

}  // namespace braintrace

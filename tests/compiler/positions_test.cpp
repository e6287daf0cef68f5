// SPDX-License-Identifier: Apache-2.0
// A weight carries a trace only where its positions are proven to be those of the state.
#include <gtest/gtest.h>

#include "braintrace/compiler/graph.h"
#include "braintrace/etp/element_wise.h"
#include "braintrace/ops/math.h"
#include "braintrace/ops/move.h"

namespace braintrace {

namespace {

// h ← h/2 + spread(element_wise(w))
struct Gate : Module {
  Gate(Shape weight, Shape hidden, std::function<Tensor(const Tensor&)> s)
      : spread(std::move(s)),
        w(state("w", ParamState(Tensor(Type{DType::F64, std::move(weight)}, 0.5).array()))),
        h(state("h", HiddenState(Tensor(Type{DType::F64, std::move(hidden)}, 0.1).array()))) {}
  Tensor update(const Tensor& x) override {
    h.set(0.5 * h.value() + x * spread(element_wise(w.value())));
    return h.value();
  }

  std::function<Tensor(const Tensor&)> spread;
  ParamState                           w;
  HiddenState                          h;
};

PathClass path_of(Shape weight, Shape hidden, std::function<Tensor(const Tensor&)> spread) {
  Gate       gate(std::move(weight), hidden, std::move(spread));
  const auto g = compile_etrace_graph(gate, {{DType::F64, std::move(hidden)}});
  return g.hidden_param_op_relations.at(0).connections.at(0).path;
}

TEST(Positions, AWeightPerUnitIsRepeatedOverTheBatch) {
  EXPECT_EQ(path_of({3}, {3}, [](auto& w) { return w; }), PathClass::Direct);
  EXPECT_EQ(path_of({3}, {2, 3}, [](auto& w) { return w; }), PathClass::Direct);
}

TEST(Positions, AWeightRepeatedAlongALaterAxisHasNoPositionOfItsOwn) {
  EXPECT_EQ(path_of({3}, {3, 3}, [](auto& w) { return expand_dims(w, 1); }), PathClass::Windowed);
  EXPECT_EQ(path_of({1}, {3}, [](auto& w) { return w; }), PathClass::Windowed);
}

TEST(Positions, ATransposedWeightMovesPositions) {
  Gate       gate({3, 3}, {3, 3}, [](auto& w) { return transpose(w); });
  const auto g = compile_etrace_graph(gate, {{DType::F64, {3, 3}}});
  EXPECT_FALSE(g.hidden_param_op_relations.at(0).connections.at(0).position_preserving);
  EXPECT_FALSE(g.explain({.kind = DiagnosticKind::RelationTailMovesPositions}).empty());
}

}  // namespace

}  // namespace braintrace

// SPDX-License-Identifier: Apache-2.0
// Which operations are related to which states, which weights they read, and how the path between them is classified.
#include <functional>

#include <gtest/gtest.h>

#include "braintrace/compiler/graph.h"
#include "braintrace/compiler/jacobians.h"
#include "braintrace/control/call.h"
#include "braintrace/etp/conv.h"
#include "braintrace/etp/dense.h"
#include "braintrace/etp/element_wise.h"
#include "braintrace/functions/functions.h"
#include "braintrace/nn/linear.h"
#include "braintrace/nn/rnn.h"
#include "braintrace/ops/contract.h"
#include "braintrace/ops/math.h"
#include "braintrace/ops/move.h"
#include "braintrace/runtime/values.h"
#include "braintrace/zoo/cell.h"

namespace braintrace {

namespace {

using K = DiagnosticKind;

const Type vec{DType::F64, {4}};

Tensor ramp(const Shape& shape, double scale = 0.1) {
  const int64_t       n = size_of(shape);
  std::vector<double> v;
  for (int64_t i = 0; i < n; ++i) v.push_back(scale * (i % 7 - 3) + 0.01 * i);
  return Tensor(from_doubles({DType::F64, shape}, v));
}

// Weights a, b, c : [4,4], e : [4]; hidden states h, g : [4]. A rule gives the new h, or (h, g).
struct Net {
  std::shared_ptr<zoo::Cell> cell = zoo::make_cell();
  ParamState a = cell->keep("a", ParamState(ramp({4, 4}))), b = cell->keep("b", ParamState(ramp({4, 4}, .2))),
             c = cell->keep("c", ParamState(ramp({4, 4}, -.1))), e = cell->keep("e", ParamState(ramp({4})));
  HiddenState h = cell->keep("h", HiddenState(ramp({4}))), g = cell->keep("g", HiddenState(ramp({4}, .3)));
};
using Rule = std::function<Tensors(Net&, const Tensor& x)>;

ETraceGraph compile(const Rule& rule, const CompileOptions& options = {}, Type x = vec) {
  Net n;
  n.cell->step = [&](const Tensor& in) {
    const Tensors next = rule(n, in);
    n.h.set(next[0]);
    if (next.size() > 1) n.g.set(next[1]);
    return next.size() > 2 ? next[2] : n.h.value();
  };
  return compile_etrace_graph(*n.cell, {std::move(x)}, options);
}

struct Found {
  std::string weight, primitive;
  std::string way;  // d, m or w, one letter per group
  bool        operator==(const Found&) const = default;
};
void PrintTo(const Found& f, std::ostream* out) { *out << f.weight << " " << f.primitive << " " << f.way; }

std::vector<Found> found(const ETraceGraph& g) {
  std::vector<Found> out;
  for (const HiddenParamOpRelation& r : g.hidden_param_op_relations) {
    std::string way;
    for (const Connection& c : r.connections) way += std::string(name_of(c.path))[c.path == PathClass::Direct ? 4 : 0];
    out.push_back({r.weight_path.str(), r.primitive(), way});
  }
  return out;
}

struct Row {
  std::string        name;
  Rule               rule;
  std::vector<Found> relations;
  std::map<K, int>   records = {};
};
void PrintTo(const Row& r, std::ostream* out) { *out << r.name; }
class Relations : public testing::TestWithParam<Row> {};

TEST_P(Relations, AreFoundInProgramOrder) {
  const auto g = compile(GetParam().rule);
  EXPECT_EQ(found(g), GetParam().relations);
  for (const auto& [kind, n] : GetParam().records)
    EXPECT_EQ(g.explain({.kind = kind}).size(), static_cast<size_t>(n)) << name_of(kind);
  EXPECT_EQ(found(compile(GetParam().rule)), GetParam().relations);
  for (const HiddenParamOpRelation& r : g.hidden_param_op_relations)
    for (const Connection& c : r.connections) EXPECT_EQ(c.tail.program.args.size(), 1u) << "tails start at y alone";
}

INSTANTIATE_TEST_SUITE_P(
    Checklist, Relations,
    testing::Values(
        Row{"vector_product",
            [](Net& n, auto& x) { return Tensors{0.5 * n.h.value() + matmul(x, n.a.value())}; },
            {{"a", "etp_mv", "d"}}},
        Row{"elementwise",
            [](Net& n, auto& x) { return Tensors{0.5 * n.h.value() + element_wise(n.e.value()) * x}; },
            {{"e", "etp_elemwise", "d"}}},
        Row{"nonlinear_tail",
            [](Net& n, auto& x) { return Tensors{0.5 * n.h.value() + tanh(tanh(matmul(x, n.a.value())))}; },
            {{"a", "etp_mv", "d"}}},
        Row{"gate_on_the_tail",
            [](Net& n, auto& x) {
              const Tensor y = matmul(x, n.a.value());
              return Tensors{0.5 * n.h.value() +
                             element_wise(n.e.value(), {.weight_fn = [](const Tensor& t) { return square(t); }}) * y};
            },
            {{"a", "etp_mv", "d"}, {"e", "etp_elemwise", "d"}}},
        Row{"chain_of_products",
            [](Net& n, auto& x) {
              return Tensors{0.5 * n.h.value() + matmul(matmul(matmul(x, n.a.value()), n.b.value()), n.c.value())};
            },
            {{"a", "etp_mv", "w"}, {"b", "etp_mv", "w"}, {"c", "etp_mv", "d"}},
            {{K::RelationWindowed, 2}, {K::RelationExcludedNonTemporal, 0}}},
        Row{"two_weights_one_state",
            [](Net& n, auto& x) {
              const Tensor y = matmul(x, n.a.value());
              return Tensors{0.5 * n.h.value() + y + matmul(x, n.b.value())};
            },
            {{"a", "etp_mv", "d"}, {"b", "etp_mv", "d"}}},
        Row{"one_product_two_groups",
            [](Net& n, auto& x) {
              const Tensor y = matmul(x, n.a.value());
              const Tensor h = 0.5 * n.h.value() + y, g = tanh(0.5 * n.g.value() - 2.0 * y);
              return Tensors{h, g};
            },
            {{"a", "etp_mv", "dd"}}},
        Row{"plain_product_is_none",
            [](Net& n, auto& x) { return Tensors{0.5 * n.h.value() + dot(x, n.a.value())}; },
            {}},
        Row{"plain_and_trainable",
            [](Net& n, auto& x) {
              const Tensor y = dot(x, n.a.value());
              return Tensors{0.5 * n.h.value() + y + matmul(x, n.b.value())};
            },
            {{"b", "etp_mv", "d"}}},
        Row{"readout_alone",
            [](Net& n, auto& x) {
              const Tensor h = 0.5 * n.h.value() + x;
              return Tensors{h, n.g.value(), matmul(h, n.a.value())};
            },
            {},
            {{K::RelationExcludedNonTemporal, 1}}},
        Row{"tied",
            [](Net& n, auto& x) {
              const Tensor y = matmul(x, n.a.value());
              return Tensors{0.5 * n.h.value() + y + matmul(tanh(x), n.a.value())};
            },
            {{"a", "etp_mv", "d"}, {"a", "etp_mv", "d"}}},
        Row{"partial_path",
            [](Net& n, auto& x) {
              const Tensor y = matmul(x, n.a.value());
              return Tensors{0.5 * n.h.value() + y + matmul(tanh(y), n.b.value())};
            },
            {{"a", "etp_mv", "m"}, {"b", "etp_mv", "d"}},
            {{K::RelationPartialPath, 1}}},
        Row{"constant_weight_and_a_bias",
            [](Net& n, auto& x) {
              return Tensors{0.5 * n.h.value() + matmul(x, ramp({4, 4}), n.e.value())};
            },
            {{"e", "etp_mv", "d"}},
            {{K::TrainableInvarNotParamState, 1}, {K::RelationExcludedNoParamState, 0}}},
        Row{"all_constant",
            [](Net& n, auto& x) {
              return Tensors{0.5 * n.h.value() + matmul(x, ramp({4, 4}))};
            },
            {},
            {{K::RelationExcludedNoParamState, 1}}},
        Row{"in_a_call",
            [](Net& n, auto& x) {
              const Function f = [](const Tensors& t) -> Tensors { return {matmul(t[0], t[1])}; };
              return Tensors{0.5 * n.h.value() + call("product", f, {x, n.a.value()})[0]};
            },
            {{"a", "etp_mv", "d"}}},
        Row{"residual",
            [](Net& n, auto& x) { return Tensors{n.h.value() + x + tanh(matmul(x + n.h.value(), n.a.value()))}; },
            {{"a", "etp_mv", "d"}}},
        Row{"masked_weight",
            [](Net& n, auto& x) {
              return Tensors{0.5 * n.h.value() + matmul(x, n.a.value() * ramp({4, 4}, 1))};
            },
            {{"a", "etp_mv", "d"}}},
        Row{"sum_of_two_weights",
            [](Net& n, auto& x) {
              const Tensor a = n.a.value();
              return Tensors{0.5 * n.h.value() + matmul(x, a + n.b.value())};
            },
            {{"a", "etp_mv", "d"}}}),
    [](const auto& info) { return info.param.name; });

TEST(RelationDetails, EveryLeafOfAChainIsListed) {
  const auto  g = compile([](Net& n, auto& x) {
    const Tensor a = n.a.value();
    return Tensors{0.5 * n.h.value() + matmul(x, a + n.b.value())};
  });
  const auto& t = g.hidden_param_op_relations.at(0).trainables.at(0);
  ASSERT_EQ(t.leaves.size(), 2u);
  EXPECT_EQ(g.module_info.weights[t.leaves[0]].path.str() + g.module_info.weights[t.leaves[1]].path.str(), "ab");
  EXPECT_EQ(t.chain_ops, std::vector<std::string>{"add"});
}

TEST(RelationDetails, LeavesOfOneParameterAreToldApart) {
  nn::Linear layer(4, 4);
  auto       cell = zoo::make_cell();
  cell->part("in", layer);
  const auto h = cell->hidden("h", {4});
  init_all_states(*cell);
  cell->step = [=](const Tensor& x) mutable {
    h.set(0.5 * h.value() + layer(x));
    return h.value();
  };
  const auto  g = compile_etrace_graph(*cell, {{DType::F32, {4}}});
  const auto& r = g.hidden_param_op_relations.at(0);
  ASSERT_EQ(r.trainables.size(), 2u);
  for (const Trainable& t : r.trainables) {
    EXPECT_EQ(g.module_info.weights[t.leaves.at(0)].name(), "in.weight." + t.key);
    EXPECT_TRUE(t.chain_ops.empty());
  }
  EXPECT_EQ(r.path(), r.weight_path);
}

TEST(RelationDetails, TheDerivativeOfAMixedPathIsThatOfItsDirectPart) {
  const auto   g   = compile([](Net& n, auto& x) {
    const Tensor y = matmul(x, n.a.value());
    return Tensors{0.5 * n.h.value() + 3.0 * y + matmul(tanh(y), n.b.value())};
  });
  const auto&  r   = g.hidden_param_op_relations.at(0);
  const auto   v   = g.module_info.jaxpr_call({ramp({4})});
  const Tensor D_f = tail_blocks(g.hidden_groups[r.connections[0].group], r, r.connections[0], v.temps);
  EXPECT_LT(max_difference(reshape(D_f, {4}), Tensor(vec, 3)), 1e-12);
}

// Stacks of cells: each layer its own group and its own relation.
TEST(RelationDetails, StackedCellsAreRelatedToTheirOwnStates) {
  for (int depth = 1; depth <= 5; ++depth) {
    auto                           cell = zoo::make_cell();
    std::vector<nn::ValinaRNNCell> layers;
    for (int i = 0; i < depth; ++i) layers.push_back(cell->part("layer" + std::to_string(i), nn::ValinaRNNCell(4, 4)));
    init_all_states(*cell);
    cell->step = [=](const Tensor& x) mutable {
      Tensor y = x;
      for (auto& l : layers) y = l(y);
      return y;
    };
    const auto g = compile_etrace_graph(*cell, {{DType::F32, {4}}});
    ASSERT_EQ(g.hidden_param_op_relations.size(), static_cast<size_t>(depth));
    ASSERT_EQ(g.hidden_groups.size(), static_cast<size_t>(depth));
    for (int i = 0; i < depth; ++i) {
      EXPECT_EQ(g.hidden_param_op_relations[i].weight_path.str(), "layer" + std::to_string(i) + ".W.weight");
      EXPECT_EQ(g.hidden_param_op_relations[i].group_indices(), std::vector<int>{i});
    }
  }
}

TEST(RelationDetails, ThreeBatchesAreTheBatchedPrimitive) {
  auto       cell = zoo::make_cell();
  const auto w    = cell->keep("w", ParamState(ramp({4, 4})));
  const auto h    = cell->keep("h", HiddenState(ramp({3, 4})));
  cell->step      = [=](const Tensor& x) {
    const auto each = vmap([&](Tensor row) { return matmul(row, w.value()); });
    h.set(0.5 * h.value() + each(x));
    return h.value();
  };
  const auto g = compile_etrace_graph(*cell, {{DType::F64, {3, 4}}});
  EXPECT_EQ(found(g), (std::vector<Found>{{"w", "etp_mm", "d"}}));
}

}  // namespace

}  // namespace braintrace

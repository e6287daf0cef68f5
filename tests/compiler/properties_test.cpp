// SPDX-License-Identifier: Apache-2.0
// Properties of the compiler on random models. A model is a list of numbers; any list is a model, so that RapidCheck
// can shrink it.
#include <cmath>
#include <cstdlib>
#include <set>

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "braintrace/compiler/position_graph.h"
#include "braintrace/compiler/positions.h"
#include "braintrace/etp/dense.h"
#include "braintrace/etp/element_wise.h"
#include "braintrace/nn/rnn.h"
#include "braintrace/ops/compare.h"
#include "braintrace/ops/contract.h"
#include "braintrace/ops/cumulative.h"
#include "braintrace/ops/math.h"
#include "braintrace/ops/move.h"
#include "braintrace/ops/reduce.h"
#include "braintrace/ops/softmax.h"
#include "braintrace/transforms/jvp.h"
#include "braintrace/transforms/walk.h"
#include "braintrace/viz/graph_view.h"
#include "braintrace/zoo/cell.h"

namespace braintrace {

namespace {

// A fixed seed makes failures repeatable; RC_PARAMS in the environment takes precedence.
const int configured = setenv("RC_PARAMS", "seed=5 max_success=60 max_size=40", 0);

using Numbers = std::vector<uint32_t>;

constexpr int64_t batch = 2, units = 3;
const Type        state_type{DType::F64, {batch, units}};

Tensor values(const Shape& shape, int seed) {
  std::vector<double> v;
  for (int64_t i = 0; i < size_of(shape); ++i) v.push_back(std::sin(1.3 * static_cast<double>(i) + 0.7 * seed + 0.2));
  return Tensor(from_doubles({DType::F64, shape}, v));
}

// What one number of a recipe does to two earlier values. Some operations keep positions, some move or mix them.
Tensor operation(uint32_t code, const Tensor& a, const Tensor& b, const std::vector<ParamState>& weights,
                 const ParamState& gate) {
  const Tensor w = weights[code / 17 % weights.size()].value();
  switch (code % 17) {
    case 0:
      return a + b;
    case 1:
      return a * b;
    case 2:
      return tanh(a);
    case 3:
      return 0.7 * a - 0.2;
    case 4:
      return matmul(a, w);
    case 5:
      return dot(a, w);
    case 6:
      return element_wise(gate.value()) * a;
    case 7:
      return select(greater(a, 0.1), a, b);
    case 8:
      return roll(a, 1, 1);
    case 9:
      return roll(a, 1, 0);
    case 10:
      return a - mean(a, Ints{1}, true);
    case 11:
      return cumsum(a, 1);
    case 12:
      return softmax(a, -1);
    case 13:
      return reshape(tanh(reshape(a, {batch * units})), {batch, units});
    case 14:
      return transpose(b + transpose(transpose(a)));
    case 15:
      return concat({slice_axis(a, 1, 0, 1), slice_axis(b, 1, 1, units)}, 1);
    default:
      return flip(a, Ints{1});
  }
}

// Three hidden states and two weights; every state is set to a random one of the newest values. Most models read the
// old value of every state, so that none of them holds nothing.
struct RandomModel {
  std::shared_ptr<zoo::Cell> cell = zoo::make_cell();
  std::vector<ParamState>    weights;
  std::vector<HiddenState>   hidden;

  explicit RandomModel(const Numbers& recipe, const std::string& prefix = "h") {
    for (int i = 0; i < 2; ++i)
      weights.push_back(cell->keep("w" + std::to_string(i), ParamState(values({units, units}, i))));
    const ParamState gate = cell->keep("e", ParamState(values({units}, 5)));
    for (int i = 0; i < 3; ++i)
      hidden.push_back(cell->keep(prefix + std::to_string(i), HiddenState(values(state_type.shape, 10 + i))));
    cell->step = [=, weights = weights, hidden = hidden](const Tensor& x) {
      Tensors pool{x};
      for (const HiddenState& h : hidden) pool.push_back(h.value());
      for (uint32_t code : recipe) {
        const size_t n = pool.size();
        const Tensor a = pool[n - 1 - code / 64 % std::min<size_t>(n, 5)], b = pool[n - 1 - code / 512 % n];
        const Tensor y = operation(code, a, b, weights, gate);
        pool.push_back(y.shape() == state_type.shape ? y : transpose(y));
      }
      for (size_t i = 0; i < hidden.size(); ++i) hidden[i].set(0.5 * pool[pool.size() - 1 - i % pool.size()]);
      Tensor y = pool.back();
      for (size_t i = 1; recipe.size() % 4 > 0 && i <= hidden.size(); ++i) y = y + pool[i];
      return y;
    };
  }
  ETraceGraph compile(const CompileOptions& options = {}) const {
    return compile_etrace_graph(*cell, {state_type}, options);
  }
};

rc::Gen<Numbers> recipes() {
  return rc::gen::mapcat(rc::gen::inRange<size_t>(1, 9), [](size_t n) {
    return rc::gen::container<Numbers>(n, rc::gen::resize(100, rc::gen::inRange<uint32_t>(0, 1u << 16)));
  });
}

// J[i,j]: derivative of element i of result r with respect to element j of argument a; [results][arguments] of a
// region.
std::vector<std::vector<double>> jacobian(const Region& region, const Tensors& all, const Tensors& args, size_t a,
                                          size_t r) {
  const Tensors                    constants = gather(all, region.constants);
  const int64_t                    n = args[a].size(), m = region.program.type(region.program.results[r]).size();
  std::vector<std::vector<double>> J(static_cast<size_t>(m), std::vector<double>(static_cast<size_t>(n)));
  for (int64_t j = 0; j < n; ++j) {
    std::vector<double> one(static_cast<size_t>(n), 0);
    one[j] = 1;
    Tensors tangents(constants.size() + args.size());
    tangents[constants.size() + a] = Tensor(from_doubles(args[a].type(), one));
    const Tensor d                 = jvp(region.program, joined(constants, args), tangents).tangents[r];
    for (int64_t i = 0; d.defined() && i < m; ++i) J[i][j] = at(d.array(), i);
  }
  return J;
}

TEST(CompilerProperties, TheSameModelGivesTheSameBytesAndNamesAreOnlyNames) {
  EXPECT_TRUE(rc::check([] {
    const Numbers     recipe = *recipes();
    const std::string text   = graph_json(view_of(RandomModel(recipe).compile()));
    RC_ASSERT(text == graph_json(view_of(RandomModel(recipe).compile())));
    RC_ASSERT(graph_json(read_graph_json(text)) == text);
    std::string renamed = graph_json(view_of(RandomModel(recipe, "q").compile()));
    for (const char* i : {"0", "1", "2"})
      for (size_t at; (at = renamed.find(std::string("q") + i)) != std::string::npos;) renamed[at] = 'h';
    RC_ASSERT(renamed == text);
  }));
}

// What was looked at: entries of Jacobians.
struct Seen {
  int diagonal = 0, mixing = 0, preserving = 0, moving = 0, off_edges = 0;
};
// Entries of Jacobians that the compiler calls zero and that are not.
int false_zeros(const ETraceGraph& g, Seen& seen) {
  int              wrong = 0;
  const StepValues run   = g.module_info.jaxpr_call({values(state_type.shape, 3)});
  for (const HiddenGroup& group : g.hidden_groups) {
    const Tensors       old   = gather(run.temps, group.entries());
    const PositionGraph graph = position_graph(g.module_info, group);
    const auto          n     = static_cast<size_t>(graph.size);
    for (size_t a = 0; a < old.size(); ++a)
      for (size_t r = 0; r < old.size(); ++r) {
        const auto J = jacobian(group.transition, run.temps, old, a, r);
        for (size_t i = 0; i < J.size(); ++i)
          for (size_t j = 0; j < J.size(); ++j) {
            const auto& out = graph.influences[j % n];
            const bool edge = i / n == j / n && std::find(out.begin(), out.end(), static_cast<int>(i % n)) != out.end();
            const bool live = J[i][j] != 0;
            wrong += live && (!edge || (group.diagonal && i != j));
            seen.off_edges += !edge && i != j;
            seen.diagonal += live && group.diagonal && i == j;
            seen.mixing += live && !group.diagonal && i != j;
          }
      }
  }
  for (const HiddenParamOpRelation& r : g.hidden_param_op_relations)
    for (const Connection& c : r.connections) {
      if (c.path == PathClass::Windowed || r.call.y.size() != state_type.size()) continue;
      for (size_t k = 0; k < c.tail.program.results.size(); ++k) {
        const auto J = jacobian(c.tail, run.temps, {run.temps[r.y]}, 0, k);
        for (size_t i = 0; i < J.size(); ++i)
          for (size_t j = 0; j < J[i].size(); ++j) {
            const bool live = J[i][j] != 0;
            wrong += live && c.position_preserving && i != j;
            seen.preserving += live && c.position_preserving && i == j;
            seen.moving += live && !c.position_preserving && i != j;
          }
      }
    }
  return wrong;
}

TEST(CompilerProperties, WhatDependenceCallsZeroIsZero) {
  Seen seen;
  EXPECT_TRUE(rc::check([&] {
    const Numbers recipe = *recipes();
    for (const bool coupled : {false, true}) {
      CompileOptions o;
      o.include_recurrent_mixing = coupled;
      RC_ASSERT(false_zeros(RandomModel(recipe).compile(o), seen) == 0);
    }
  }));
  EXPECT_GT(seen.diagonal, 100);
  EXPECT_GT(seen.mixing, 100);
  EXPECT_GT(seen.preserving, 100);
  EXPECT_GT(seen.moving, 10);
  EXPECT_GT(seen.off_edges, 100);
}

// Negative control: an operation that moves positions and claims not to.
TEST(CompilerProperties, AFalseDependenceRecordIsSeen) {
  static const Op liar = [] {
    Op op     = flip_op;
    op.name   = "test_liar";
    op.depend = [](const DependArgs&) -> AxisLinks { return {{0, 1, 0, 1}, {1, 2, 1, 2}}; };
    return op;
  }();
  auto       cell = zoo::make_cell();
  const auto h    = cell->keep("h", HiddenState(values(state_type.shape, 1)));
  const auto w    = cell->keep("w", ParamState(values({units, units}, 2)));
  cell->step      = [=](const Tensor& x) {
    const Attrs axes{{Key<Ints>{"axes"}, Ints{1}}};
    h.set(apply(liar, {h.value() + matmul(x, w.value())}, axes)[0]);
    return h.value();
  };
  Seen seen;
  EXPECT_GT(false_zeros(compile_etrace_graph(*cell, {state_type}), seen), 0);
}

TEST(CompilerProperties, EveryStateHasOneGroupAndEveryTrainableOperationARecord) {
  EXPECT_TRUE(rc::check([] {
    const ETraceGraph g = RandomModel(*recipes()).compile();
    std::set<Path>    seen;
    for (size_t i = 0; i < g.hidden_groups.size(); ++i) {
      RC_ASSERT(g.hidden_groups[i].index == static_cast<int>(i));
      for (const Path& p : g.hidden_groups[i].hidden_paths) RC_ASSERT(seen.insert(p).second);
    }
    for (const CompilationRecord& r : g.explain({.kind = DiagnosticKind::StateHoldsNothing}))
      for (const Path& p : r.hidden_paths) RC_ASSERT(seen.insert(p).second);
    RC_ASSERT(seen.size() == 3u);
    size_t     operations = 0, traced = 0, beyond_products = 0;
    const auto records = [&](DiagnosticKind kind) { return g.explain({.kind = kind}).size(); };
    for (const Eqn& e : g.module_info.program().eqns) operations += e.op->etp != nullptr;
    for (const HiddenParamOpRelation& r : g.hidden_param_op_relations) {
      traced += r.carries_trace();
      beyond_products += std::any_of(r.connections.begin(), r.connections.end(),
                                     [](const Connection& c) { return !c.has_direct_path; });
    }
    RC_ASSERT(g.hidden_param_op_relations.size() + records(DiagnosticKind::RelationExcludedNonTemporal) == operations);
    RC_ASSERT(records(DiagnosticKind::RelationIncluded) == traced);
    RC_ASSERT(records(DiagnosticKind::RelationWindowed) == beyond_products);
    RC_ASSERT(records(DiagnosticKind::RelationExcludedWeightToWeight) == 0u);
  }));
}

// Stacks of k cells of random types: k groups, and traces that stay in their layer.
TEST(CompilerProperties, KLayersAreKGroups) {
  EXPECT_TRUE(rc::check([] {
    const auto                           kinds = *rc::gen::mapcat(rc::gen::inRange<size_t>(1, 7), [](size_t n) {
      return rc::gen::container<Numbers>(n, rc::gen::inRange<uint32_t>(0, 5));
    });
    auto                                 cell  = zoo::make_cell();
    std::vector<std::shared_ptr<Module>> layers;
    for (size_t i = 0; i < kinds.size(); ++i) {
      std::shared_ptr<Module> layer;
      if (kinds[i] == 0) layer = std::make_shared<nn::GRUCell>(3, 3);
      if (kinds[i] == 1) layer = std::make_shared<nn::LSTMCell>(3, 3);
      if (kinds[i] == 2) layer = std::make_shared<nn::MGUCell>(3, 3);
      if (kinds[i] == 3) layer = std::make_shared<nn::ValinaRNNCell>(3, 3);
      if (kinds[i] == 4) layer = std::make_shared<nn::MiniGRU>(3, 3);
      layers.push_back(cell->part("layer" + std::to_string(i), layer));
    }
    init_all_states(*cell);
    cell->step = [=](const Tensor& x) {
      Tensor y = x;
      for (const auto& l : layers) y = (*l)(y);
      return y;
    };
    const ETraceGraph g = compile_etrace_graph(*cell, {{DType::F32, {3}}});
    RC_ASSERT(g.hidden_groups.size() == kinds.size());
    for (const HiddenParamOpRelation& r : g.hidden_param_op_relations)
      for (const Connection& c : r.connections)
        for (const Path& p : c.hidden_paths) RC_ASSERT(p.keys()[0] == r.weight_path.keys()[0]);
  }));
}

// Parts that do not read each other may be in any order.
TEST(CompilerProperties, TheOrderOfIndependentPartsChangesNothingButNumbers) {
  const auto found = [](const std::vector<int>& order) {
    auto                                 cell = zoo::make_cell();
    std::vector<std::shared_ptr<Module>> parts{
        std::make_shared<nn::GRUCell>(3, 3), std::make_shared<nn::LSTMCell>(3, 3), std::make_shared<nn::MGUCell>(3, 4),
        std::make_shared<nn::MiniGRU>(3, 3)};
    for (size_t i = 0; i < parts.size(); ++i) cell->part("part" + std::to_string(i), parts[i]);
    init_all_states(*cell);
    cell->step = [=](const Tensor& x) {
      Tensors out(parts.size());
      for (int i : order) out[i] = (*parts[i])(x);
      return concat(out, -1);
    };
    const ETraceGraph     g = compile_etrace_graph(*cell, {{DType::F32, {3}}});
    std::set<std::string> facts;
    for (const HiddenGroup& group : g.hidden_groups)
      facts.insert(group.dict().text("hidden_paths") + group.dict().text("varshape") + print(group.transition.program));
    for (const HiddenParamOpRelation& r : g.hidden_param_op_relations)
      for (const Connection& c : r.connections)
        facts.insert(r.weight_path.str() + g.hidden_groups[c.group].hidden_paths[0].str() +
                     std::string(name_of(c.path)) + print(c.tail.program));
    return facts;
  };
  const std::set<std::string> first = found({0, 1, 2, 3});
  EXPECT_EQ(first.size(), 4u + 3 + 4 + 2 + 2);
  std::vector<int> order{0, 1, 2, 3};
  while (std::next_permutation(order.begin(), order.end())) EXPECT_EQ(found(order), first);
}

// x W_1 … W_k → h with a weight used at several places and plain operations on the weights.
TEST(CompilerProperties, ChainsOfProductsTiedWeightsAndWeightsBehindPlainOperations) {
  EXPECT_TRUE(rc::check([] {
    const auto length = *rc::gen::inRange<int>(1, 6), tied = *rc::gen::inRange<int>(1, 5),
               plain             = *rc::gen::inRange<int>(0, 4);
    auto                    cell = zoo::make_cell();
    std::vector<ParamState> ws;
    for (int i = 0; i < length; ++i) ws.push_back(cell->keep("w" + std::to_string(i), ParamState(values({3, 3}, i))));
    const auto t = cell->keep("tied", ParamState(values({3, 3}, 20)));
    const auto h = cell->keep("h", HiddenState(values({3}, 30)));
    cell->step   = [=](const Tensor& x) {
      Tensor y = x;
      for (const ParamState& w : ws) {
        Tensor v = w.value();
        for (int i = 0; i < plain; ++i) v = i % 2 ? v * 0.5 : square(v);
        y = tanh(matmul(y, v));
      }
      for (int i = 0; i < tied; ++i) y = y + matmul(x * (1.0 + i), t.value());
      h.set(0.5 * h.value() + y);
      return h.value();
    };
    const ETraceGraph g        = compile_etrace_graph(*cell, {{DType::F64, {3}}});
    int               windowed = 0, uses = 0;
    for (const HiddenParamOpRelation& r : g.hidden_param_op_relations) {
      RC_ASSERT(r.trainables.size() == 1u && r.trainables[0].leaves.size() == 1u);
      if (r.weight_path.str() == "tied") {
        ++uses;
        RC_ASSERT(r.carries_trace() && r.trainables[0].chain_ops.empty());
        continue;
      }
      windowed += !r.carries_trace();
      RC_ASSERT(r.carries_trace() == (r.weight_path.str() == "w" + std::to_string(length - 1)));
      RC_ASSERT(r.carries_trace() || !r.through.empty());
      RC_ASSERT(r.trainables[0].chain.program.eqns.empty() == (plain == 0));
    }
    RC_ASSERT(windowed == length - 1);
    RC_ASSERT(uses == tied);
  }));
}

// n states on the last axis of one tensor are the group that n tensors are.
TEST(CompilerProperties, StackedStatesAreASplitGroup) {
  EXPECT_TRUE(rc::check([] {
    const auto n    = *rc::gen::inRange<int64_t>(2, 5);
    const auto mix  = *rc::gen::container<std::vector<int>>(static_cast<size_t>(n * n), rc::gen::inRange<int>(-2, 3));
    const auto step = [=](const Tensors& s, const Tensor& x) {
      Tensors next;
      for (int64_t a = 0; a < n; ++a) {
        Tensor sum = 0.1 * s[a] + x;
        for (int64_t b = 0; b < n; ++b) sum = sum + 0.2 * mix[static_cast<size_t>(a * n + b)] * tanh(s[b]);
        next.push_back(sum);
      }
      return next;
    };
    Tensors start;
    for (int64_t i = 0; i < n; ++i) start.push_back(values({3}, static_cast<int>(i)));
    auto                     split = zoo::make_cell(), stacked = zoo::make_cell();
    std::vector<HiddenState> states;
    for (int64_t i = 0; i < n; ++i) states.push_back(split->keep("s" + std::to_string(i), HiddenState(start[i])));
    split->step = [=](const Tensor& x) {
      Tensors old;
      for (const auto& s : states) old.push_back(s.value());
      const Tensors next = step(old, x);
      for (int64_t i = 0; i < n; ++i) states[i].set(next[i]);
      return next[0];
    };
    const auto all = stacked->keep("st", HiddenGroupState(stack(start, -1)));
    stacked->step  = [=](const Tensor& x) {
      Tensors old;
      for (int64_t i = 0; i < n; ++i) old.push_back(squeeze(slice_axis(all.value(), -1, i, i + 1), {-1}));
      all.set(stack(step(old, x), -1));
      return old[0];
    };
    const auto D = [](zoo::Cell& cell) {
      const ETraceGraph g   = compile_etrace_graph(cell, {{DType::F64, {3}}});
      const auto        run = g.module_info.jaxpr_call({values({3}, 9)});
      Tensors           out;
      for (const HiddenGroup& group : g.hidden_groups)
        out.push_back(
            group.diagonal_jacobian(gather(run.temps, group.entries()), gather(run.temps, group.transition.constants)));
      return out;
    };
    const Tensors a = D(*split), b = D(*stacked);
    RC_ASSERT(b.size() == 1u && b[0].shape() == (Shape{3, n, n}));
    if (a.size() != 1) return;  // states that nothing couples are groups of their own
    for (int64_t i = 0; i < a[0].size(); ++i) RC_ASSERT(std::abs(at(a[0].array(), i) - at(b[0].array(), i)) < 1e-12);
  }));
}

}  // namespace

}  // namespace braintrace

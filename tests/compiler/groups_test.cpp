// SPDX-License-Identifier: Apache-2.0
// Hidden groups: their transition, its Jacobian against an independent one, members side by side; and perturbations.
#include <cmath>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "braintrace/compiler/graph.h"
#include "braintrace/compiler/report.h"
#include "braintrace/control/while.h"
#include "braintrace/etp/dense.h"
#include "braintrace/functions/functions.h"
#include "braintrace/nn/rnn.h"
#include "braintrace/ops/compare.h"
#include "braintrace/ops/contract.h"
#include "braintrace/ops/math.h"
#include "braintrace/ops/move.h"
#include "braintrace/ops/reduce.h"
#include "braintrace/runtime/values.h"
#include "braintrace/transforms/walk.h"
#include "braintrace/verify/layers/layers.h"
#include "tests/support/error_of.h"

namespace braintrace {

namespace {

CompileOptions coupled() {
  CompileOptions o;
  o.include_recurrent_mixing = true;
  return o;
}

struct Compiled {
  std::shared_ptr<Module> model;
  ETraceGraph             graph;
  Tensor                  x;

  Compiled(const nlohmann::json& layer, int64_t n_in, const CompileOptions& options = {})
      : model(golden::described_model(layer)) {
    init_all_states(*model);
    int k = 0;
    for (const auto& [path, state] : model->states())
      if (state.is_hidden()) state.set(values_like(state.value(), ++k));
    x     = values_like(Tensor(Type{DType::F32, {n_in}}, 0), 9);
    graph = compile_etrace_graph(*model, {x.type()}, options);
  }
  static Tensor values_like(const Tensor& t, int seed) {
    std::vector<double> v;
    for (int64_t i = 0; i < t.size(); ++i) v.push_back(0.8 * std::sin(1.7 * static_cast<double>(i) + seed));
    return Tensor(from_doubles(t.type(), v));
  }
};

// The new states of the whole step, moved one entry of one old state at a time: central differences.
Tensor difference_quotients(const Compiled& c, const HiddenGroup& g, bool hold_products) {
  const ModuleInfo&   info      = c.graph.module_info;
  const StepValues    base      = info.jaxpr_call({c.x});
  const Tensors       constants = gather(base.temps, g.transition.constants);
  const double        step      = 1e-2;
  const int64_t       P = size_of(g.varshape), S = g.num_state;
  std::vector<double> J(static_cast<size_t>(P * S * P * S));
  Tensors             old;
  for (Var v : g.entries()) old.push_back(base.temps[v]);
  const Tensor flat = g.concat_hidden(old);
  for (int64_t i = 0; i < P * S; ++i) {
    Tensor moved[2];
    for (int side : {0, 1}) {
      std::vector<double> v;
      for (int64_t k = 0; k < P * S; ++k) v.push_back(at(flat.array(), k) + (k == i ? (side ? step : -step) : 0));
      const Tensors given = g.split_hidden(Tensor(from_doubles(flat.type(), v)));
      if (hold_products) {
        moved[side] = g.concat_hidden(replay(g.transition.program, constants, given));
      } else {
        Tensors all;
        for (const StateLeaf& leaf : info.step.reads) all.push_back(leaf.value());
        for (size_t m = 0; m < g.hidden.size(); ++m)
          for (size_t r = 0; r < info.step.reads.size(); ++r)
            if (info.step.reads[r].state == g.hidden[m].state) all[r] = given[m];
        const StepValues run = info.jaxpr_call({c.x}, all);
        Tensors          next;
        for (Var v : g.exits()) next.push_back(run.temps[v]);
        moved[side] = g.concat_hidden(next);
      }
    }
    for (int64_t k = 0; k < P * S; ++k)
      J[static_cast<size_t>(k * P * S + i)] = (at(moved[1].array(), k) - at(moved[0].array(), k)) / (2 * step);
  }
  return Tensor(from_doubles({DType::F64, {P, S, P, S}}, J));
}

// The block of each position.
Tensor blocks(const Tensor& J) {
  const int64_t       P = J.shape()[0], S = J.shape()[1];
  std::vector<double> v;
  for (int64_t p = 0; p < P; ++p)
    for (int64_t a = 0; a < S; ++a)
      for (int64_t b = 0; b < S; ++b) v.push_back(at(J.array(), ((p * S + a) * P + p) * S + b));
  return Tensor(from_doubles({DType::F64, {P, S, S}}, v));
}

class Transitions : public testing::TestWithParam<std::string> {};

TEST_P(Transitions, HaveTheTrueBlocks) {
  const nlohmann::json layer = GetParam() == "lru" ? nlohmann::json{{"type", "lru"}, {"d_model", 3}, {"d_hidden", 4}}
                                                   : nlohmann::json{{"type", GetParam()}, {"n_in", 3}, {"n_rec", 4}};
  for (const bool whole : {false, true}) {
    const Compiled     c(layer, 3, whole ? coupled() : CompileOptions());
    const HiddenGroup& g = c.graph.hidden_groups.at(0);
    EXPECT_EQ(g.is_diagonal_recurrence, !whole);
    const StepValues v         = c.graph.module_info.jaxpr_call({c.x});
    const Tensors    constants = gather(v.temps, g.transition.constants), old = gather(v.temps, g.entries());
    const Tensor     D = convert(g.diagonal_jacobian(old, constants), DType::F64),
                 J     = convert(g.full_jacobian(old, constants), DType::F64);
    const Tensor want  = difference_quotients(c, g, !whole);
    EXPECT_LT(max_difference(reshape(J, want.shape()), want), 2e-3);
    EXPECT_LT(max_difference(D, blocks(want)), 2e-3);
    EXPECT_LT(max_difference(D, blocks(reshape(J, want.shape()))), 1e-6);
    const bool products = std::any_of(g.transition.program.eqns.begin(), g.transition.program.eqns.end(),
                                      [](const Eqn& e) { return is_mixing_etp(*e.op) || is_plain_product(*e.op); });
    EXPECT_EQ(products, whole && GetParam() != "lru");
    // The transition evaluates to the new states.
    const Tensors next = replay(g.transition.program, constants, old);
    for (size_t m = 0; m < next.size(); ++m) EXPECT_LT(max_difference(next[m], v.temps[g.hidden[m].out]), 1e-6);
  }
}
INSTANTIATE_TEST_SUITE_P(Cells, Transitions,
                         testing::Values("vanilla_rnn", "gru", "mgu", "lstm", "urlstm", "minimal_rnn", "mini_gru",
                                         "mini_lstm", "lru", "cfn"),
                         [](const auto& info) { return info.param; });

TEST(Groups, MembersFollowTheOrderOfTheStepAndAreStable) {
  for (int i = 0; i < 2; ++i) {
    const Compiled c({{"type", "lstm"}, {"n_in", 3}, {"n_rec", 4}}, 3);
    EXPECT_EQ(c.graph.hidden_groups.at(0).hidden_paths, (std::vector<Path>{{"h"}, {"c"}}));
  }
}

TEST(Groups, AVanillaCellForgetsOutsideItsProduct) {
  const Compiled     c({{"type", "vanilla_rnn"}, {"n_in", 3}, {"n_rec", 4}}, 3);
  const HiddenGroup& g = c.graph.hidden_groups.at(0);
  EXPECT_TRUE(g.transition.program.eqns.empty());
  const StepValues v = c.graph.module_info.jaxpr_call({c.x});
  EXPECT_EQ(max_difference(g.diagonal_jacobian(gather(v.temps, g.entries()), gather(v.temps, g.transition.constants)),
                           Tensor(Type{DType::F32, {4, 1, 1}}, 0)),
            0);
}

// Two states stacked in one tensor are the same group as two tensors.
TEST(Groups, StackedAndSplitStatesAreTwins) {
  const auto step = [](const Tensor& v, const Tensor& a, const Tensor& x) {
    const Tensor next = 0.8 * v + tanh(x) - 0.3 * a;
    return std::pair(next, 0.9 * a + 0.2 * next);
  };
  const Tensor v0 = Compiled::values_like(Tensor(Type{DType::F32, {4}}, 0), 1),
               a0 = Compiled::values_like(Tensor(Type{DType::F32, {4}}, 0), 2), x = 0.3 * v0;
  auto       split = zoo::make_cell(), stacked = zoo::make_cell();
  const auto V = split->keep("V", HiddenState(v0)), A = split->keep("A", HiddenState(a0));
  split->step = [=](const Tensor& in) {
    const auto [v, a] = step(V.value(), A.value(), in);
    V.set(v);
    A.set(a);
    return v;
  };
  const auto both = stacked->keep("st", HiddenGroupState(stack({v0, a0}, -1)));
  stacked->step   = [=](const Tensor& in) {
    const auto slot   = [&](int64_t i) { return squeeze(slice_axis(both.value(), -1, i, i + 1), {-1}); };
    const auto [v, a] = step(slot(0), slot(1), in);
    both.set(stack({v, a}, -1));
    return v;
  };
  Tensor D[2];
  for (const auto& [k, cell] : {std::pair(0, split), std::pair(1, stacked)}) {
    const auto  g     = compile_etrace_graph(*cell, {x.type()});
    const auto& group = g.hidden_groups.at(0);
    EXPECT_EQ(group.num_state, 2);
    EXPECT_EQ(group.varshape, Shape{4});
    EXPECT_TRUE(group.diagonal);
    const auto v = g.module_info.jaxpr_call({x});
    D[k] = group.diagonal_jacobian(gather(v.temps, group.entries()), gather(v.temps, group.transition.constants));
  }
  // The order of the members is that of their first read; the twins agree up to it.
  const Tensor swapped = flip(flip(D[0], Ints{1}), Ints{2});
  EXPECT_LT(std::min(max_difference(D[0], D[1]), max_difference(swapped, D[1])), 1e-6);
  EXPECT_GT(max_difference(D[1], 0.0 * D[1]), 0.1);
}

TEST(Groups, AWeightFreeLoopIsDifferentiatedAsOnePiece) {
  auto       cell = zoo::make_cell();
  const auto h    = cell->keep("h", HiddenState(Compiled::values_like(Tensor(Type{DType::F64, {3}}, 0), 1)));
  cell->step      = [=](const Tensor& x) {
    const auto again = [](const Tensors& c) { return less(c[0], 3); };
    const auto body  = [&](const Tensors& c) -> Tensors { return {c[0] + 1, 0.5 * c[1] + x}; };
    h.set(while_loop(again, body, {Tensor(Type{DType::I32, {}}, 0), tanh(h.value())})[1]);
    return h.value();
  };
  const auto   g     = compile_etrace_graph(*cell, {{DType::F64, {3}}});
  const auto&  group = g.hidden_groups.at(0);
  const auto   v     = g.module_info.jaxpr_call({Tensor(Type{DType::F64, {3}}, 0.1)});
  const Tensor D =
      group.diagonal_jacobian(gather(v.temps, group.entries()), gather(v.temps, group.transition.constants));
  const Tensor old = h.value();
  EXPECT_LT(max_difference(reshape(D, {3}), 0.125 * (1 - square(tanh(old)))), 1e-12);
}

// A normalization does not mix rows of a batch: pushing a position pushes it in all rows at once.
TEST(Groups, RowsOfABatchArePushedTogether) {
  constexpr int64_t B = 5, n = 3;
  auto              cell = zoo::make_cell();
  const auto        h    = cell->keep("h", HiddenState(Compiled::values_like(Tensor(Type{DType::F64, {B, n}}, 0), 1)));
  cell->step             = [=](const Tensor& x) {
    h.set(tanh(h.value() - mean(h.value(), Ints{1}, true)) + x);
    return h.value();
  };
  const auto   g     = compile_etrace_graph(*cell, {{DType::F64, {B, n}}});
  const auto&  group = g.hidden_groups.at(0);
  const auto   v     = g.module_info.jaxpr_call({Tensor(Type{DType::F64, {B, n}}, 0.1)});
  const Tensor old   = gather(v.temps, group.entries())[0];
  const auto   D     = [&](const Tensors& at) -> Tensors {
    return {group.diagonal_jacobian(at, gather(v.temps, group.transition.constants))};
  };
  const Tensor y = tanh(old - mean(old, Ints{1}, true));
  EXPECT_LT(max_difference(reshape(D({old})[0], {B, n}), (1 - 1. / n) * (1 - square(y))), 1e-12);
  for (const Type& t : trace({old.type()}, D).program.types) EXPECT_LE(t.size(), n * B * n) << to_string(t);
}

// Groups of positions that do not interact are pushed together, even if the state does not show them as axes.
TEST(Groups, PositionsThatDoNotMeetArePushedTogether) {
  constexpr int64_t B = 2, groups = 6, n = 3;
  auto              cell = zoo::make_cell();
  const Type        type{DType::F64, {B, groups * n}};
  const auto        h          = cell->keep("h", HiddenState(Compiled::values_like(Tensor(type, 0), 1)));
  const auto        normalized = [](const Tensor& x) {
    const Tensor in_groups = reshape(x, {B, groups, n});
    return reshape(in_groups - mean(in_groups, Ints{2}, true), {B, groups * n});
  };
  cell->step = [=](const Tensor& x) {
    h.set(tanh(normalized(h.value())) + x);
    return h.value();
  };
  const auto   g     = compile_etrace_graph(*cell, {type});
  const auto&  group = g.hidden_groups.at(0);
  const auto   v     = g.module_info.jaxpr_call({Tensor(type, 0.1)});
  const Tensor old   = gather(v.temps, group.entries())[0];
  const auto   D     = [&](const Tensors& at) -> Tensors {
    return {group.diagonal_jacobian(at, gather(v.temps, group.transition.constants))};
  };
  const Tensor want = (1 - 1. / n) * (1 - square(tanh(normalized(old))));
  EXPECT_LT(max_difference(reshape(D({old})[0], type.shape), want), 1e-12);
  for (const Type& t : trace({type}, D).program.types) EXPECT_LE(t.size(), n * type.size()) << to_string(t);
}

TEST(Groups, WrongNumbersAreRefusedByName) {
  const Compiled     c({{"type", "lstm"}, {"n_in", 3}, {"n_rec", 4}}, 3);
  const HiddenGroup& g = c.graph.hidden_groups.at(0);
  const Tensor       one(Type{DType::F32, {4}}, 0);
  EXPECT_NE(error_of([&] { g.concat_hidden({one}); }).find("hidden group 0: 1 values given for 2 states"),
            std::string::npos);
  EXPECT_NE(error_of([&] { g.split_hidden(one); }).find("hidden group 0"), std::string::npos);
  EXPECT_NE(error_of([&] { g.diagonal_jacobian({one}, {}); }).find("hidden group 0"), std::string::npos);
  const Tensors back = g.split_hidden(g.concat_hidden({one + 1, one + 2}));
  EXPECT_EQ(max_difference(back[0], one + 1) + max_difference(back[1], one + 2), 0);
  const HiddenPerturbation& p = *c.graph.hidden_perturb;
  EXPECT_NE(error_of([&] {
              p.perturb_data_to_hidden_group_data({one}, c.graph.hidden_groups);
            }).find("each of the 2 hidden states (h, c), got 1"),
            std::string::npos);
  EXPECT_NE(error_of([&] { c.graph.call_hidden_perturb({c.x}, {one}); }).find("2 hidden states (h, c), got 1"),
            std::string::npos);
  CompileOptions without;
  without.include_hidden_perturb = false;
  const Compiled d({{"type", "gru"}, {"n_in", 3}, {"n_rec", 4}}, 3, without);
  EXPECT_NE(error_of([&] { d.graph.call_hidden_perturb({d.x}, {one}); }).find("include_hidden_perturb"),
            std::string::npos);
}

// Later readers see the perturbed value: c → h inside the step, both → output.
TEST(Perturbation, IsSeenByEveryLaterReader) {
  const Compiled c({{"type", "lstm"}, {"n_in", 3}, {"n_rec", 4}}, 3);
  const auto     plain = c.graph.module_info.jaxpr_call({c.x});
  Tensors        zero  = c.graph.hidden_perturb->init_perturb_data();
  ASSERT_EQ(zero.size(), 2u);
  const auto same = c.graph.call_hidden_perturb({c.x}, zero);
  EXPECT_EQ(max_difference(same.out[0], plain.out[0]), 0);
  Tensors nudge = zero;
  for (size_t i = 0; i < 2; ++i)
    if (c.graph.hidden_perturb->hidden_paths[i].str() == "c") nudge[i] = nudge[i] + 0.5;
  const auto moved = c.graph.call_hidden_perturb({c.x}, nudge);
  for (size_t i = 0; i < 2; ++i) {
    const double by = max_difference(moved.etrace_vals[i].second, plain.etrace_vals[i].second);
    if (plain.etrace_vals[i].first.str() == "c")
      EXPECT_NEAR(by, 0.5, 1e-6);
    else
      EXPECT_GT(by, 1e-3);
  }
}

TEST(Step, RunsOnGivenStatesAndLeavesTheModelAlone) {
  const Compiled c({{"type", "gru"}, {"n_in", 3}, {"n_rec", 4}}, 3);
  const auto&    info   = c.graph.module_info;
  const Array    before = info.hidden[0].state.value().array();
  Tensors        old;
  for (const StateLeaf& leaf : info.step.reads) old.push_back(leaf.value());
  EXPECT_EQ(max_difference(info.jaxpr_call({c.x}, old).out[0], info.jaxpr_call({c.x}).out[0]), 0);
  for (size_t r = 0; r < old.size(); ++r)
    if (info.step.reads[r].state == info.hidden[0].state) old[r] = old[r] + 1;
  const auto moved = info.jaxpr_call({c.x}, old);
  EXPECT_LT(max_difference(moved.temps[info.hidden[0].in], Tensor(before) + 1), 1e-6);
  EXPECT_GT(max_difference(moved.out[0], info.jaxpr_call({c.x}).out[0]), 1e-3);
  EXPECT_TRUE(identical(info.hidden[0].state.value().array(), before));
  EXPECT_NE(error_of([&] { info.jaxpr_call({}); }).find("0 arguments given"), std::string::npos);
  EXPECT_NE(error_of([&] { info.jaxpr_call({c.x}, {c.x}); }).find("1 old state values"), std::string::npos);
  const ModuleInfo more = info.add_jaxpr_outs({info.hidden[0].in});
  EXPECT_EQ(more.program().results.size(), info.program().results.size() + 1);
  EXPECT_EQ(info.split_state_outvars().hidden, (Vars{info.hidden[0].out}));
  EXPECT_NE(error_of([&] { info.add_jaxpr_outs({-1}); }).find("no value %-1"), std::string::npos);
}

// Perturbations are added to the new states, and those that do not fit are named with their state.
TEST(Step, PerturbationsFitTheirStates) {
  const Compiled            c({{"type", "lstm"}, {"n_in", 3}, {"n_rec", 4}}, 3);
  const HiddenPerturbation& p    = *c.graph.hidden_perturb;
  const Tensors             none = p.init_perturb_data(), inputs = c.graph.module_info.step.inputs({c.x});
  ASSERT_EQ(none.size(), 2u);
  const StepValues plain = c.graph.module_info.jaxpr_call({c.x});
  EXPECT_TRUE(identical(p.eval(inputs, none)[0].array(), plain.out[0].array()));
  const Tensors moved = p.eval_jaxpr(inputs, {none[0] + 1, none[1]});
  EXPECT_FALSE(identical(moved[0].array(), plain.out[0].array()));
  const auto error = [&](const Tensors& in, const Tensors& data) { return error_of([&] { p.eval(in, data); }); };
  EXPECT_NE(error(inputs, {none[0]}).find("each of the 2 hidden states (h, c), got 1"), std::string::npos)
      << error(inputs, {none[0]});
  EXPECT_NE(error(inputs, {none[0], zeros({7})}).find("perturbation 1 is f32[7], its state c is"), std::string::npos);
  EXPECT_NE(error({c.x}, none).find("counting the states it reads; 1 were given"), std::string::npos);
  const Compiled other({{"type", "gru"}, {"n_in", 3}, {"n_rec", 4}}, 3);
  HiddenGroup    strange  = other.graph.hidden_groups[0];
  strange.hidden_paths[0] = Path{"elsewhere"};
  EXPECT_NE(error_of([&] {
              p.perturb_data_to_hidden_group_data(none, {strange});
            }).find("state elsewhere of group 0 was not perturbed; perturbed are: h, c"),
            std::string::npos);
}

// What feedback matrices and group arrays have on their last axis.
TEST(Step, StatesOfAGroupHaveAnOrder) {
  const Compiled lstm({{"type", "lstm"}, {"n_in", 3}, {"n_rec", 4}}, 3);
  EXPECT_EQ(lstm.graph.hidden_groups[0].state_names(), (std::vector<std::string>{"h", "c"}));
  EXPECT_NE(show_graph(lstm.graph).find("order of the states: h, c"), std::string::npos) << show_graph(lstm.graph);
  const Compiled pair({{"type", "stacked_pair"}, {"n_in", 3}, {"n_rec", 4}}, 3);
  EXPECT_EQ(pair.graph.hidden_groups[0].state_names().size(),
            static_cast<size_t>(pair.graph.hidden_groups[0].num_state));
  EXPECT_NE(pair.graph.hidden_groups[0].state_names()[1].find("[1]"), std::string::npos);
}

TEST(Step, PassesByThemselvesAgreeWithTheGraph) {
  const Compiled c({{"type", "gru"}, {"n_in", 3}, {"n_rec", 4}}, 3);
  EXPECT_EQ(find_hidden_groups_from_module(*c.model, {c.x.type()}).size(), c.graph.hidden_groups.size());
  EXPECT_EQ(find_hidden_param_op_relations_from_module(*c.model, {c.x.type()}).size(),
            c.graph.hidden_param_op_relations.size());
  EXPECT_EQ(print(add_hidden_perturbation_in_module(*c.model, {c.x.type()}).program),
            print(c.graph.hidden_perturb->program));
  const ModuleInfo info   = extract_module_info(*c.model, c.x);
  const auto       groups = find_hidden_groups_from_minfo(info);
  for (const auto& r : find_hidden_param_op_relations_from_minfo(info, groups)) EXPECT_FALSE(r.hidden_groups.empty());
  EXPECT_EQ(groups_by_path(groups).at({"h"}).index, 0);
  EXPECT_EQ(c.graph.dict().get<std::vector<HiddenGroup>>("hidden_groups").size(), c.graph.hidden_groups.size());
  EXPECT_EQ(c.graph.hidden_groups[0].dict().get<Shape>("varshape"), (Shape{4}));
  EXPECT_NE(error_of([&] { c.graph.dict().at("groups"); }).find("known: module_info"), std::string::npos);
  EXPECT_NE(error_of([&] { c.graph.dict().get<int>("diagnostics"); }).find("does not have the requested type"),
            std::string::npos);
  EXPECT_EQ(c.graph.fields(), (std::vector<std::string>{"module_info", "hidden_groups", "hid_path_to_group",
                                                        "hidden_param_op_relations", "hidden_perturb", "diagnostics"}));
  for (const Dict& d : {c.graph.dict(), c.graph.module_info.dict(), c.graph.hidden_groups[0].dict(),
                        c.graph.hidden_param_op_relations[0].dict(), c.graph.hidden_perturb->dict()})
    for (const auto& [name, text, value] : d) EXPECT_FALSE(name.empty() || text.empty() || !value.has_value());
}

// A copy of a graph is independent of the original.
TEST(Step, AGraphOutlivesTheOneItWasCopiedFrom) {
  auto first = std::make_unique<Compiled>(
      nlohmann::json{{"type", "sparse_rnn"},
                     {"n_in", 3},
                     {"n_rec", 2},
                     {"csr", {{"shape", {2, 2}}, {"indptr", {0, 1, 2}}, {"indices", {1, 0}}}}},
      3);
  const ETraceGraph copy = first->graph;
  first.reset();
  for (const HiddenParamOpRelation& r : copy.hidden_param_op_relations)
    for (const Trainable& t : r.trainables) EXPECT_FALSE(trace_shape(r.call, t.weight).empty());
}

}  // namespace

}  // namespace braintrace

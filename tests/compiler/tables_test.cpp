// SPDX-License-Identifier: Apache-2.0
// What the compiler finds in cells, spiking layers and small programs, as tables.
#include <algorithm>
#include <functional>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "braintrace/compiler/graph.h"
#include "braintrace/compiler/jacobians.h"
#include "braintrace/etp/dense.h"
#include "braintrace/etp/element_wise.h"
#include "braintrace/model/environment.h"
#include "braintrace/nn/neuron.h"
#include "braintrace/nn/rnn.h"
#include "braintrace/nn/synapse.h"
#include "braintrace/ops/math.h"
#include "braintrace/ops/move.h"
#include "braintrace/runtime/values.h"
#include "braintrace/verify/layers/layers.h"

namespace braintrace {

namespace {

using Names = std::vector<std::string>;
using K     = DiagnosticKind;

Names names(const std::vector<Path>& paths) {
  Names out;
  for (const Path& p : paths) out.push_back(p.str());
  return out;
}
// "Wz", "Wh": the parameter of each relation, without the name of its leaf container.
Names weights(const ETraceGraph& g) {
  Names out;
  for (const HiddenParamOpRelation& r : g.hidden_param_op_relations) {
    const std::string path = r.weight_path.str();
    out.push_back(path.substr(0, path.rfind(".weight")));
  }
  return out;
}
Names weights_of(const ETraceGraph& g, K kind) {
  Names out;
  for (const CompilationRecord& r : g.explain({.kind = kind})) {
    const std::string path = r.weight_path.str();
    out.push_back(path.substr(0, path.rfind(".weight")));
  }
  return out;
}

// Cells of 3 inputs and 4 units.
struct CellRow {
  std::string type;
  Names       relations, weight_to_weight, members, mixed;
};
void PrintTo(const CellRow& r, std::ostream* out) { *out << r.type; }
class Cells : public testing::TestWithParam<CellRow> {};

ETraceGraph compile_layer(const nlohmann::json& layer, int64_t n_in, const CompileOptions& options = {}) {
  auto model = golden::described_model(layer);
  init_all_states(*model);
  return compile_etrace_graph(*model, {{DType::F32, {n_in}}}, options);
}
nlohmann::json cell_json(const std::string& type) {
  if (type == "lru") return {{"type", type}, {"d_model", 3}, {"d_hidden", 4}};
  return {{"type", type}, {"n_in", 3}, {"n_rec", 4}};
}

TEST_P(Cells, AreFoundAsTheReferenceFindsThem) {
  const CellRow& row = GetParam();
  const auto     g   = compile_layer(cell_json(row.type), 3, CompileOptions::reference());
  EXPECT_EQ(weights(g), row.relations);
  EXPECT_EQ(weights_of(g, K::RelationExcludedWeightToWeight), row.weight_to_weight);
  EXPECT_EQ(weights_of(g, K::RelationPartialPath), row.mixed);
  ASSERT_EQ(g.hidden_groups.size(), 1u);
  EXPECT_EQ(names(g.hidden_groups[0].hidden_paths), row.members);
  EXPECT_EQ(g.explain({.kind = K::HiddenGroupMerged}).size(), row.members.size() > 1 ? 1u : 0u);
  EXPECT_TRUE(g.hidden_groups[0].diagonal && g.hidden_groups[0].is_diagonal_recurrence);
}

// By default the same relations, and those that learn inside a window.
TEST_P(Cells, ByDefaultNoWeightIsLost) {
  const CellRow& row = GetParam();
  const auto     g   = compile_layer(cell_json(row.type), 3);
  Names          traced, windowed;
  for (const HiddenParamOpRelation& r : g.hidden_param_op_relations) {
    const std::string path = r.weight_path.str();
    (r.carries_trace() ? traced : windowed).push_back(path.substr(0, path.rfind(".weight")));
  }
  EXPECT_EQ(traced, row.relations);
  EXPECT_EQ(windowed, row.weight_to_weight);
  EXPECT_EQ(weights_of(g, K::RelationWindowed), row.weight_to_weight);
}

INSTANTIATE_TEST_SUITE_P(
    Table, Cells,
    testing::Values(CellRow{"vanilla_rnn", {"W"}, {}, {"h"}, {}}, CellRow{"gru", {"Wz", "Wh"}, {"Wr"}, {"h"}, {}},
                    CellRow{"mgu", {"Wf", "Wh"}, {}, {"h"}, {"Wf"}},
                    CellRow{"lstm", {"Wi", "Wg", "Wf", "Wo"}, {}, {"h", "c"}, {}},
                    CellRow{"urlstm", {"Wf", "Wr", "Wu", "Wo", "bias", "bias"}, {}, {"h", "c"}, {}},
                    CellRow{"minimal_rnn", {"phi", "W_u"}, {}, {"h"}, {"phi"}},
                    CellRow{"mini_gru", {"W_z", "W_x"}, {}, {"h"}, {}},
                    CellRow{"mini_lstm", {"W_f", "W_i", "W_x"}, {}, {"h"}, {}},
                    CellRow{"lru", {"nu_log", "theta_log", "gamma_log", "B_re", "B_im"}, {}, {"h_re", "h_im"}, {}}),
    [](const auto& info) { return info.param.type; });

TEST(CellDetails, GatesReachTheStatesTheyFeed) {
  const auto lstm = compile_layer(cell_json("lstm"), 3);
  for (const HiddenParamOpRelation& r : lstm.hidden_param_op_relations)
    EXPECT_EQ(names(r.connections[0].hidden_paths),
              r.weight_path.str() == "Wo.weight" ? Names{"h"} : (Names{"c", "h"}));
  const auto lru = compile_layer(cell_json("lru"), 3, CompileOptions::reference());
  EXPECT_EQ(weights_of(lru, K::RelationExcludedNonTemporal), (Names{"C_re", "C_im", "D"}));
  for (const HiddenParamOpRelation& r : lru.hidden_param_op_relations) {
    const std::string w = r.weight_path.str();
    EXPECT_EQ(names(r.connections[0].hidden_paths), w == "B_re.weight"   ? Names{"h_re"}
                                                    : w == "B_im.weight" ? Names{"h_im"}
                                                                         : (Names{"h_re", "h_im"}));
  }
}

// Spiking layers of 3 inputs and 4 neurons, one layer: one group.
struct SpikingRow {
  std::string name;
  std::string neuron;        // lif, alif, if
  std::string plasticity;    // of the recurrent spikes: "", std, stp
  int         conductances;  // 0: delta, 1: current, more: conductance based
  int         states;
};
void PrintTo(const SpikingRow& r, std::ostream* out) { *out << r.name; }
class Spiking : public testing::TestWithParam<SpikingRow> {
  const Environment::Scope environment{{.dt = 1.0}};
};

std::shared_ptr<zoo::Cell> spiking_layer(const SpikingRow& row, int64_t n_in, int64_t n) {
  auto                        m = zoo::make_cell();
  std::shared_ptr<nn::Neuron> neu;
  if (row.neuron == "if") neu = std::make_shared<nn::IF>(n);
  if (row.neuron == "lif") neu = std::make_shared<nn::LIF>(n);
  if (row.neuron == "alif") neu = std::make_shared<nn::ALIF>(n);
  m->part("neu", zoo::ModulePtr(neu));
  zoo::ModulePtr plasticity;
  if (row.plasticity == "std") plasticity = std::make_shared<nn::STD>(n);
  if (row.plasticity == "stp") plasticity = std::make_shared<nn::STP>(n);
  if (plasticity) m->part("plastic", plasticity);
  std::vector<zoo::ModulePtr> projections;
  for (int i = 0; i < std::max(1, row.conductances); ++i) {
    const auto comm = std::make_shared<nn::Linear>(n_in + n, n);
    if (row.conductances == 0)
      projections.push_back(std::make_shared<nn::DeltaProj>(comm, neu));
    else
      projections.push_back(std::make_shared<nn::AlignPostProj>(
          comm, std::make_shared<nn::Expon>(n), row.conductances == 1 ? nn::cuba() : nn::coba(double(i)), neu));
    m->part("syn" + std::to_string(i), projections.back());
  }
  m->step = [=](const Tensor& x) {
    Tensor z = neu->spikes();
    if (plasticity) z = (*plasticity)(z);
    for (const auto& p : projections) (*p)(concat({x, z}, -1));
    return (*neu)(Tensor());
  };
  return m;
}

TEST_P(Spiking, OneLayerIsOneGroupAndEveryProjectionReachesTheMembrane) {
  auto layer = spiking_layer(GetParam(), 3, 4);
  init_all_states(*layer);
  const auto g = compile_etrace_graph(*layer, {{DType::F32, {3}}}, CompileOptions::reference());
  ASSERT_EQ(g.hidden_groups.size(), 1u);
  EXPECT_EQ(g.hidden_groups[0].num_state, GetParam().states);
  EXPECT_TRUE(g.hidden_groups[0].diagonal);
  ASSERT_EQ(g.hidden_param_op_relations.size(), static_cast<size_t>(std::max(1, GetParam().conductances)));
  for (const HiddenParamOpRelation& r : g.hidden_param_op_relations) {
    const Names reached = names(r.connections[0].hidden_paths);
    ASSERT_EQ(reached.size(), GetParam().conductances > 0 ? 2u : 1u);
    EXPECT_EQ(reached.back(), "neu.V");
  }
  EXPECT_EQ(g.hidden_perturb->hidden_paths.size(), static_cast<size_t>(GetParam().states));
}

TEST_P(Spiking, TwoLayersAreTwoGroups) {
  auto a = spiking_layer(GetParam(), 3, 4), b = spiking_layer(GetParam(), 4, 4);
  auto m = zoo::make_cell();
  m->part("a", zoo::ModulePtr(a));
  m->part("b", zoo::ModulePtr(b));
  m->step = [=](const Tensor& x) { return (*b)((*a)(x)); };
  init_all_states(*m);
  const auto g = compile_etrace_graph(*m, {{DType::F32, {3}}});
  ASSERT_EQ(g.hidden_groups.size(), 2u);
  for (const HiddenGroup& group : g.hidden_groups) EXPECT_EQ(group.num_state, GetParam().states);
}

INSTANTIATE_TEST_SUITE_P(
    Table, Spiking,
    testing::Values(SpikingRow{"if_delta", "if", "", 0, 1}, SpikingRow{"lif_expcu", "lif", "", 1, 2},
                    SpikingRow{"lif_conductance", "lif", "", 3, 4}, SpikingRow{"alif_conductance", "alif", "", 3, 5},
                    SpikingRow{"lif_std", "lif", "std", 1, 3}, SpikingRow{"lif_stp", "lif", "stp", 1, 4},
                    SpikingRow{"alif_delta", "alif", "", 0, 2}, SpikingRow{"alif_expcu", "alif", "", 1, 3},
                    SpikingRow{"alif_std", "alif", "std", 1, 4}, SpikingRow{"alif_stp", "alif", "stp", 1, 5}),
    [](const auto& info) { return info.param.name; });

// Small programs of four units.
struct Small {
  std::shared_ptr<zoo::Cell> cell = zoo::make_cell();
  ParamState                 W = cell->param("W", {4, 4}), V = cell->param("V", {4, 4}), tau = cell->param("tau", {4});
  HiddenState                h = cell->hidden("h", {4}), g = cell->hidden("g", {4});

  ETraceGraph compile(const std::function<void(Small&, const Tensor&)>& step, const CompileOptions& options = {}) {
    init_all_states(*cell);
    h.set(Tensor(from_doubles({DType::F32, {4}}, std::vector<double>{.1, .2, .3, .4})));
    g.set(Tensor(from_doubles({DType::F32, {4}}, std::vector<double>{-.4, .3, -.2, .1})));
    cell->step = [=, this](const Tensor& x) {
      step(*this, x);
      return h.value() + g.value();
    };
    return compile_etrace_graph(*cell, {{DType::F32, {4}}}, options);
  }
};
const Tensor four_ones(Type{DType::F32, {4}}, 1);

// D of the group of h, one row of states per position.
Tensor D_of(const ETraceGraph& g) {
  const StepValues v     = g.module_info.jaxpr_call({0.3 * four_ones});
  const Tensor     D     = transition_blocks(g.hid_path_to_group.at({"h"}), v.temps);
  const auto&      group = g.hid_path_to_group.at({"h"});
  Shape            shape = group.varshape;
  shape.insert(shape.end(), 2, group.num_state);
  return D.defined() ? D : Tensor(Type{DType::F32, shape}, 0);
}
std::vector<double> row(const Tensor& D, int64_t p) {
  const int64_t       S2 = D.size() / D.shape()[0];
  std::vector<double> out;
  for (int64_t i = 0; i < S2; ++i) out.push_back(at(D.array(), p * S2 + i));
  return out;
}

TEST(SmallPrograms, AStateWrittenByOneEquationStillFeedsTheNext) {
  for (const double offset : {0.0, 1.0}) {  // with and without a sum after the product
    Small      s;
    const auto g = s.compile([=](Small& m, const Tensor& x) {
      const Tensor next = 0.9 * m.h.value();
      m.h.set(offset == 0 ? next : next + offset * x);
      m.g.set(tanh(m.h.value() + x) + matmul(x + m.g.value(), m.W.value()));
    });
    ASSERT_EQ(g.hidden_groups.size(), 1u);
    EXPECT_EQ(names(g.hidden_groups[0].hidden_paths), (Names{"h", "g"}));
    const auto D = row(D_of(g), 0);  // [h,h] [h,g] [g,h] [g,g]
    EXPECT_NEAR(D[0], 0.9, 1e-6);
    EXPECT_GT(D[2], 0.1);
    EXPECT_EQ(D[1], 0);
    EXPECT_EQ(D[3], 0);
  }
}

TEST(SmallPrograms, TheSquareOfAState) {
  Small      s;
  const auto g =
      s.compile([](Small& m, const Tensor& x) { m.h.set(m.h.value() * m.h.value() + matmul(x, m.W.value())); });
  EXPECT_LT(max_difference(reshape(D_of(g), {4}), 2.0 * s.h.value()), 1e-6);
}

TEST(SmallPrograms, ARolledStateHasNoBlockOfItsOwn) {
  Small      s;
  const auto g =
      s.compile([](Small& m, const Tensor& x) { m.h.set(0.5 * roll(m.h.value(), 1, 0) + matmul(x, m.W.value())); });
  EXPECT_LT(max_difference(reshape(D_of(g), {4}), 0.0 * four_ones), 1e-9);
  EXPECT_EQ(g.explain({.kind = K::TransitionMixesPositions}).size(), 1u);
}

TEST(SmallPrograms, AMemberOverwrittenByDataHasAZeroRow) {
  Small      s;
  const auto g = s.compile([](Small& m, const Tensor& x) {
    const Tensor b = m.g.value();
    m.h.set(0.5 * m.h.value() + tanh(b));
    m.g.set(matmul(x, m.W.value()));
  });
  ASSERT_EQ(g.hidden_groups.size(), 1u);
  EXPECT_EQ(names(g.hidden_groups[0].hidden_paths), (Names{"g", "h"}));
  const auto D = row(D_of(g), 1);  // [g,g] [g,h] [h,g] [h,h]
  EXPECT_EQ(D[0], 0);
  EXPECT_EQ(D[1], 0);
  EXPECT_GT(D[2], 0.5);
  EXPECT_NEAR(D[3], 0.5, 1e-6);
}

TEST(SmallPrograms, TwoStatesOfOneValueAreBothThere) {
  Small      s;
  const auto g = s.compile([](Small& m, const Tensor& x) {
    const Tensor y = 0.5 * m.h.value() + matmul(x + m.g.value(), m.W.value());
    m.h.set(y);
    m.g.set(y);
  });
  ASSERT_EQ(g.hidden_groups.size(), 1u);
  EXPECT_EQ(g.hidden_groups[0].num_state, 2);
  EXPECT_EQ(g.hidden_param_op_relations.at(0).connections.at(0).hidden_paths.size(), 2u);
}

TEST(SmallPrograms, AStateThatIsOnlyReadKeepsItself) {
  Small      s;
  const auto g = s.compile([](Small& m, const Tensor& x) {
    const Tensor y = matmul(m.h.value(), m.W.value());  // h is touched first
    m.g.set(0.1 * m.g.value() + x + y);
  });
  EXPECT_LT(max_difference(reshape(D_of(g), {4}), four_ones), 1e-9);
  Tensors nudge    = g.hidden_perturb->init_perturb_data();
  nudge[0]         = nudge[0] + 1;
  const auto plain = g.module_info.jaxpr_call({four_ones}), moved = g.call_hidden_perturb({four_ones}, nudge);
  for (size_t i = 0; i < plain.etrace_vals.size(); ++i) {
    const double by = plain.etrace_vals[i].first.str() == "h" ? 1 : 0;  // the others read the value before
    EXPECT_LT(max_difference(moved.etrace_vals[i].second, plain.etrace_vals[i].second + by), 1e-6);
  }
}

TEST(SmallPrograms, AStateOverwrittenByTheInputForgets) {
  Small      s;
  const auto g = s.compile([](Small& m, const Tensor& x) {
    m.g.set(0.1 * m.g.value() + matmul(m.h.value(), m.W.value()));
    m.h.set(x);
  });
  EXPECT_LT(max_difference(reshape(D_of(g), {4}), 0.0 * four_ones), 1e-9);
}

TEST(SmallPrograms, AGeneratedWeightIsNotAttributedToItsGenerator) {
  Small      s;
  const auto g = s.compile([](Small& m, const Tensor& x) {
    const Tensor generated = expand_dims(tanh(matmul(x, m.V.value())), 1) * four_ones;
    m.h.set(0.5 * m.h.value() + matmul(x, generated));
  });
  EXPECT_EQ(g.explain({.kind = K::RelationExcludedNoParamState}).size(), 1u);
  for (const HiddenParamOpRelation& r : g.hidden_param_op_relations) EXPECT_EQ(r.weight_path.str(), "V");
}

TEST(SmallPrograms, AChainIsRecorded) {
  Small      s;
  const auto g =
      s.compile([](Small& m, const Tensor& x) { m.h.set(0.5 * m.h.value() + matmul(x, 2.0 * m.W.value())); });
  EXPECT_EQ(g.hidden_param_op_relations.at(0).trainables.at(0).chain_ops.back(), "mul");
}

TEST(SmallPrograms, AProductWithAConstantDoesNotHideTheWeight) {
  Small        s;
  const Tensor fixed(Type{DType::F32, {4, 4}}, 0.1);
  const auto   g =
      s.compile([=](Small& m, const Tensor& x) { m.h.set(0.5 * m.h.value() + matmul(matmul(x, m.W.value()), fixed)); });
  EXPECT_EQ(weights(g), Names{"W"});
  EXPECT_FALSE(g.hidden_param_op_relations[0].carries_trace());
  EXPECT_EQ(g.explain({.kind = K::RelationExcludedNoParamState}).size(), 1u);
}

TEST(SmallPrograms, AReadoutOfTwoProductsIsNotTemporal) {
  Small s;
  s.cell->part("unused", nn::Linear(1, 1));
  init_all_states(*s.cell);
  s.cell->step = [&](const Tensor& x) {
    s.h.set(0.5 * s.h.value() + x);
    return matmul(tanh(matmul(s.h.value(), s.W.value())), s.V.value());
  };
  const auto g = compile_etrace_graph(*s.cell, {{DType::F32, {4}}});
  EXPECT_EQ(weights_of(g, K::RelationExcludedNonTemporal), (Names{"W", "V"}));
}

TEST(SmallPrograms, AGateBeforeAProductLearnsInAWindow) {
  Small      s;
  const auto g = s.compile([](Small& m, const Tensor& x) {
    m.h.set(0.5 * m.h.value() + matmul(element_wise(m.tau.value()) * x, m.W.value()));
  });
  EXPECT_EQ(weights(g), (Names{"tau", "W"}));
  EXPECT_FALSE(g.hidden_param_op_relations[0].carries_trace());
  EXPECT_EQ(names(g.hidden_param_op_relations[0].through), Names{"W"});
}

TEST(SmallPrograms, AStopGradientCutsGroupsAndRelations) {
  Small      s;
  const auto g = s.compile([](Small& m, const Tensor& x) {
    const Tensor y = matmul(x, m.W.value());
    m.g.set(0.5 * m.g.value() + matmul(x, m.V.value()));
    m.h.set(0.5 * m.h.value() + stop_gradient(y) + stop_gradient(m.g.value()));
  });
  EXPECT_EQ(g.hidden_groups.size(), 2u);
  EXPECT_EQ(weights(g), Names{"V"});
  EXPECT_EQ(g.hidden_param_op_relations[0].group_indices(), std::vector<int>{g.hid_path_to_group.at({"g"}).index});
  const auto cut = g.explain({.weight_path = Path{"W"}});
  ASSERT_EQ(cut.size(), 1u);
  EXPECT_NE(cut[0].message.find("stop_gradient cuts all its paths"), std::string::npos);
}

TEST(SmallPrograms, ALearnedDecayIsARelationAndStaysInTheTail) {
  Small      s;
  const auto g = s.compile([](Small& m, const Tensor& x) {
    const Tensor kept = element_wise(m.tau.value()) * m.h.value();
    m.h.set(kept + matmul(x, m.W.value()));
  });
  EXPECT_EQ(weights(g), (Names{"tau", "W"}));
  for (const HiddenParamOpRelation& r : g.hidden_param_op_relations) EXPECT_TRUE(r.carries_trace());
  EXPECT_LT(max_difference(reshape(D_of(g), {4}), s.tau.value()), 1e-6);
}

// A weight that is made of two parameters: the reference knows the first it meets, we know both.
TEST(Weights, MadeOfTwoParametersBelongToBothOrToTheFirst) {
  struct Sum : Module {
    ParamState  a = state("a", ParamState(Tensor(Type{DType::F64, {3, 4}}, 0.1).array()));
    ParamState  b = state("b", ParamState(Tensor(Type{DType::F64, {3, 4}}, 0.2).array()));
    HiddenState h = state("h", HiddenState(Tensor(Type{DType::F64, {4}}, 0).array()));
    Tensor      update(const Tensor& x) override {
      h.set(tanh(matmul(x, a.value() * b.value())) + 0.5 * h.value());
      return h.value();
    }
  } model;
  const auto leaves = [&](const CompileOptions& o) {
    const auto g = compile_etrace_graph(model, {{DType::F64, {3}}}, o);
    return g.hidden_param_op_relations.at(0).trainables.at(0).leaves.size();
  };
  EXPECT_EQ(leaves({}), 2u);
  EXPECT_EQ(leaves(CompileOptions::reference()), 1u);
}

}  // namespace

}  // namespace braintrace

// SPDX-License-Identifier: Apache-2.0
// Spiking layers of 3 inputs and 4 neurons, put together from neurons, synapses and projections: one hidden group each,
// with every state of the layer, and one relation per projection.
#include <set>

#include <gtest/gtest.h>

#include "braintrace/compiler/graph.h"
#include "braintrace/nn/linear.h"
#include "braintrace/nn/neuron.h"
#include "braintrace/nn/synapse.h"
#include "braintrace/ops/math.h"
#include "braintrace/ops/move.h"

namespace braintrace {

namespace {

using namespace nn;

constexpr int64_t n_in = 3, n = 4;
const LIFOptions  membrane{.dt = 1.0};

// Projections given in `inputs` see [x; f(z)], z the spikes of `neu`, f short-term plasticity or nothing.
struct Layer : Module {
  std::shared_ptr<Neuron>              neu;
  std::shared_ptr<Module>              plasticity;
  std::vector<std::shared_ptr<Module>> inputs;

  Layer(std::shared_ptr<Neuron> neuron, std::shared_ptr<Module> f) : neu(std::move(neuron)), plasticity(std::move(f)) {
    children({{"neu", *neu}});
    if (plasticity) children({{"f", *plasticity}});
  }
  void add(const std::string& name, std::shared_ptr<Module> projection) {
    children({{name, *projection}});
    inputs.push_back(std::move(projection));
  }
  Tensor update(const Tensor& x) override {
    const Tensor z = neu->spikes(), seen = joined(x, plasticity ? (*plasticity)(z) : z);
    for (const auto& p : inputs) (*p)(seen);
    return neu->update_without_current();
  }
};

enum class Input : uint8_t { Delta, Current, Conductances };

ETraceGraph graph_of(std::shared_ptr<Neuron> neuron, Input input, std::shared_ptr<Module> plasticity = {}) {
  const auto comm = [] { return std::make_shared<Linear>(n_in + n, n); };
  const auto syn  = [] { return std::make_shared<Expon>(n, 8.0, 1.0); };
  Layer      layer(neuron, std::move(plasticity));
  if (input == Input::Delta) layer.add("p", std::make_shared<DeltaProj>(comm(), neuron));
  if (input == Input::Current) layer.add("p", std::make_shared<AlignPostProj>(comm(), syn(), cuba(), neuron));
  if (input == Input::Conductances)
    for (const double E : {5.0, 4.0, -1.0})
      layer.add("p" + std::to_string(layer.inputs.size()),
                std::make_shared<AlignPostProj>(comm(), syn(), coba(E), neuron));
  init_all_states(layer);
  return compile_etrace_graph(layer, {{DType::F32, {n_in}}});
}

// One group with these members, each relation reaching `per_relation` of them.
void expect_group(const ETraceGraph& g, const std::string& members, size_t relations, size_t per_relation) {
  ASSERT_EQ(g.hidden_groups.size(), 1u);
  std::vector<std::string> names;
  for (const Path& p : g.hidden_groups[0].hidden_paths) names.push_back(p.keys().back());
  std::sort(names.begin(), names.end());
  std::string text;
  for (const std::string& s : names) text += (text.empty() ? "" : " ") + s;
  EXPECT_EQ(text, members);
  EXPECT_EQ(g.hidden_groups[0].num_state, static_cast<int>(names.size()));
  EXPECT_EQ(g.hidden_param_op_relations.size(), relations);
  for (const HiddenParamOpRelation& r : g.hidden_param_op_relations) {
    EXPECT_TRUE(r.carries_trace());
    ASSERT_EQ(r.connections.size(), 1u);
    EXPECT_EQ(r.connections[0].hidden_paths.size(), per_relation);
  }
}

auto lif() { return std::make_shared<LIF>(n, membrane); }
auto alif() { return std::make_shared<ALIF>(n, ALIFOptions{}, membrane); }
auto std_() { return std::make_shared<STD>(n, STDOptions{.dt = 1.0}); }
auto stp() { return std::make_shared<STP>(n, STPOptions{.dt = 1.0}); }

TEST(SpikingGroups, DeltaSynapses) {
  expect_group(graph_of(std::make_shared<IF>(n, membrane), Input::Delta), "V", 1, 1);
  expect_group(graph_of(alif(), Input::Delta), "V a", 1, 1);
}

TEST(SpikingGroups, ExponentialCurrents) {
  expect_group(graph_of(lif(), Input::Current), "V g", 1, 2);
  expect_group(graph_of(alif(), Input::Current), "V a g", 1, 2);
}

TEST(SpikingGroups, ThreeConductances) {
  expect_group(graph_of(lif(), Input::Conductances), "V g g g", 3, 2);
  expect_group(graph_of(alif(), Input::Conductances), "V a g g g", 3, 2);
}

TEST(SpikingGroups, ShortTermPlasticity) {
  expect_group(graph_of(lif(), Input::Current, std_()), "V g x", 1, 2);
  expect_group(graph_of(lif(), Input::Current, stp()), "V g u x", 1, 2);
  expect_group(graph_of(alif(), Input::Current, std_()), "V a g x", 1, 2);
  expect_group(graph_of(alif(), Input::Current, stp()), "V a g u x", 1, 2);
}

// Trainable time constants and thresholds are relations of the same group, through element_wise.
TEST(SpikingGroups, TrainableSettings) {
  LIFOptions o            = membrane;
  o.tau                   = ParamState(full({n}, 5));
  o.V_th                  = ParamState(full({n}, 1));
  const ETraceGraph     g = graph_of(std::make_shared<LIF>(n, o), Input::Delta);
  std::set<std::string> weights;
  for (const HiddenParamOpRelation& r : g.hidden_param_op_relations) {
    weights.insert(r.weight_path.str());
    EXPECT_EQ(r.primitive() == "etp_elemwise", r.weight_path.str() != "p.comm.weight") << r.weight_path.str();
  }
  EXPECT_EQ(weights, (std::set<std::string>{"neu.V_th", "neu.tau", "p.comm.weight"}));
}

}  // namespace

}  // namespace braintrace

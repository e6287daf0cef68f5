// SPDX-License-Identifier: Apache-2.0
// Spiking layers of 3 inputs and 4 neurons, put together from neurons, synapses and projections: one hidden group each,
// with every state of the layer, and one relation per projection.
#include <algorithm>
#include <set>

#include <gtest/gtest.h>

#include "braintrace/algorithms/d_rtrl.h"
#include "braintrace/compiler/graph.h"
#include "braintrace/functions/functions.h"
#include "braintrace/model/environment.h"
#include "braintrace/model/random_stream.h"
#include "braintrace/nn/linear.h"
#include "braintrace/nn/neuron.h"
#include "braintrace/nn/synapse.h"
#include "braintrace/ops/math.h"
#include "braintrace/ops/move.h"
#include "braintrace/ops/random.h"
#include "braintrace/ops/reduce.h"
#include "braintrace/zoo/model.h"

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

// Positions do not mix in a population without recurrence, so D-RTRL is exact: the gradients of all steps sum to those
// of reverse mode through time, also for time constants and thresholds.
TEST(SpikingGroups, TrainableSettingsLearnExactly) {
  constexpr int T    = 12;
  auto          make = [] {
    random::seed(4);
    return zoo::build_model(R"({"type": "snn", "n_in": 3, "n_rec": 4, "recurrent": false,
        "neuron": {"type": "alif", "V_th": {"trainable": 0.4}, "tau_ms": {"trainable": [4, 5, 6, 7]},
                   "tau_a_ms": {"trainable": 20}, "beta": {"trainable": 0.2}},
        "synapse": {"type": "expon", "tau_ms": {"trainable": 6}}})");
  };
  Environment::Scope wide({.precision = DType::F64});
  auto       input = [](int t) { return random::normal(random::key(static_cast<uint64_t>(t)), {3}, DType::F64) + 0.5; };
  const auto online = make(), offline = make();
  init_all_states(*online);
  init_all_states(*offline);
  D_RTRL learner(*online);
  learner.compile_graph(input(0));
  const Tensor c  = random::normal(random::key(99), {4}, DType::F64);
  auto      step  = jit([&](const Tensor& x) { return grad([&] { return sum(c * learner(x)); }, online->params())(); });
  Gradients total = step(input(0));
  for (int t = 1; t < T; ++t) total = total + step(input(t));
  const Gradients want = grad(
      [&] {
        Tensor l = 0;
        for (int t = 0; t < T; ++t) l = l + sum(c * (*offline)(input(t)));
        return l;
      },
      offline->params())();
  EXPECT_EQ(want.size(), 6u);
  for (const auto& [path, leaves] : want)
    for (const auto& [leaf, g] : leaves) {
      EXPECT_GT(max(abs(g)).item(), 1e-4) << path.str();
      EXPECT_LT(max(abs(g - total.at(path, leaf))).item(), 1e-11) << path.str() << " " << leaf;
    }
}

TEST(SpikingGroups, EveryNeuronWithEverySynapse) {
  int neurons = 0;
  for (const zoo::LayerType& t : zoo::neuron_layers()) {
    if (t.fields.find("surrogate") == std::string::npos || t.fields.find("n_in") != std::string::npos) continue;
    ++neurons;
    for (const std::string synapse : {"", "expon", "dual_expon", "alpha"})
      for (const std::string rest : {R"("align": "post")", R"("align": "pre", "output": {"type": "mg_block"})"}) {
        if (synapse.empty() && rest.find("pre") != rest.npos) continue;
        const std::string syn = synapse.empty() ? "" : R"("synapse": {"type": ")" + synapse + R"("}, )";
        const auto model = zoo::build_model(R"({"type": "snn", "n_in": 3, "n_rec": 4, "neuron": {"type": ")" + t.name +
                                            R"("}, )" + syn + rest + "}");
        init_all_states(*model);
        const ETraceGraph g = compile_etrace_graph(*model, {{DType::F32, {n_in}}});
        ASSERT_EQ(g.hidden_param_op_relations.size(), 1u) << t.name << " " << synapse << " " << rest;
        EXPECT_TRUE(g.hidden_param_op_relations[0].carries_trace()) << t.name << " " << synapse << " " << rest;
      }
  }
  EXPECT_EQ(neurons, 17);
}

}  // namespace

}  // namespace braintrace

// SPDX-License-Identifier: Apache-2.0
// The programs of the user's documents, line by line, where C++ has the same functions: they exist, take these
// arguments and return what the documents say.
#include <sstream>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include "braintrace/braintrace.h"
#include "braintrace/verify/graph_executor.h"
#include "tests/support/error_of.h"

namespace {

struct SingleLayerRNN : bt::nn::Module {
  bt::nn::ValinaRNNCell rnn;
  bt::nn::Linear        out;
  SingleLayerRNN(int n_in, int n_rec, int n_out) : rnn(n_in, n_rec), out(n_rec, n_out) {
    children({{"rnn", rnn}, {"out", out}});
  }
  bt::Tensor update(const bt::Tensor& x) override { return out(rnn(x)); }
};

struct TwoLayerRNN : bt::nn::Module {
  bt::nn::GRUCell rnn1, rnn2;
  bt::nn::Linear  out;
  TwoLayerRNN(int n_in, int n_rec, int n_out) : rnn1(n_in, n_rec), rnn2(n_rec, n_rec), out(n_rec, n_out) {
    children({{"rnn1", rnn1}, {"rnn2", rnn2}, {"out", out}});
  }
  bt::Tensor update(const bt::Tensor& x) override {
    const bt::Tensor h1 = rnn1(x);
    const bt::Tensor h2 = rnn2(h1);
    return out(h2);
  }
};

struct SimpleRNN : bt::nn::Module {
  bt::ParamState     w_in, w_rec, w_out;
  bt::ShortTermState h;
  SimpleRNN(int n_in, int n_rec, int n_out)
      : w_in(state("w_in", bt::ParamState(bt::random::randn(n_in, n_rec) * 0.01))),
        w_rec(state("w_rec", bt::ParamState(bt::random::randn(n_rec, n_rec) * 0.01))),
        w_out(state("w_out", bt::ParamState(bt::random::randn(n_rec, n_out) * 0.01))),
        h(state("h", bt::ShortTermState(bt::zeros({n_rec})))) {}
  bt::Tensor update(const bt::Tensor& x) override {
    const bt::Tensor inp = bt::dot(x, w_in.value());              // excluded from online learning
    const bt::Tensor rec = bt::matmul(h.value(), w_rec.value());  // included
    h.set(bt::tanh(inp + rec));
    return bt::dot(h.value(), w_out.value());
  }
};

struct GRUNet : bt::nn::Module {
  bt::nn::GRUCell rnn;
  bt::nn::Linear  readout;
  GRUNet(int n_in, int n_rec, int n_out) : rnn(n_in, n_rec), readout(n_rec, n_out) {
    children({{"rnn", rnn}, {"readout", readout}});
  }
  bt::Tensor update(const bt::Tensor& x) override { return readout(rnn(x)); }
};

// Collects warnings while it lives.
struct Warnings {
  std::vector<std::string> heard;
  bt::WarningHook          before = bt::set_warning_hook([this](const std::string& text) { heard.push_back(text); });
  ~Warnings() { bt::set_warning_hook(before); }
};

TEST(Documents, GraphCompilationAndVisualization) {
  SingleLayerRNN model(10, 32, 5);
  bt::nn::init_all_states(model);

  bt::D_RTRL algo(model);
  algo.compile_graph(bt::zeros({10}));
  std::ostringstream shown;
  algo.show_graph(shown);
  EXPECT_EQ(shown.str(), algo.show_graph());

  const bt::ETraceGraph& graph = algo.graph();
  std::string            text  = "=== Hidden Groups ===\n";
  for (const bt::HiddenGroup& g : graph.hidden_groups) {
    text += fmt::format("  Group {}: {} state(s), shape {}\n", g.index, g.num_state, bt::to_string(g.varshape));
    for (const bt::Path& p : g.hidden_paths) text += fmt::format("    Paths: {}\n", p.tuple());
  }
  text += "\n=== Weight-Primitive-Hidden Relations ===\n";
  for (size_t i = 0; i < graph.hidden_param_op_relations.size(); ++i) {
    const auto& r = graph.hidden_param_op_relations[i];
    text += fmt::format("  Relation {}:\n    Weight path: {}\n    Primitive: {}\n", i, r.weight_path.tuple(),
                        r.primitive());
    std::vector<int> groups;
    for (const bt::HiddenGroup& g : r.hidden_groups) groups.push_back(g.index);
    text += fmt::format("    Hidden groups: {}\n", groups);
  }
  text += fmt::format("\n=== Perturbation ===\n  Has perturbation: {}\n", graph.hidden_perturb.has_value());
  EXPECT_EQ(text,
            "=== Hidden Groups ===\n"
            "  Group 0: 1 state(s), shape [32]\n"
            "    Paths: ('rnn', 'h')\n"
            "\n=== Weight-Primitive-Hidden Relations ===\n"
            "  Relation 0:\n"
            "    Weight path: ('rnn', 'W', 'weight')\n"
            "    Primitive: etp_mv\n"
            "    Hidden groups: [0]\n"
            "\n=== Perturbation ===\n"
            "  Has perturbation: true\n");
}

TEST(Documents, TwoLayers) {
  TwoLayerRNN model2(10, 32, 5);
  bt::nn::init_all_states(model2);
  bt::D_RTRL algo2(model2);
  algo2.compile_graph(bt::zeros({10}));
  const bt::ETraceGraph& graph2 = algo2.graph();
  EXPECT_EQ(graph2.hidden_groups.size(), 2u);
  for (const auto& r : graph2.hidden_param_op_relations)
    for (const bt::HiddenGroup& g : r.hidden_groups)
      EXPECT_TRUE(!r.carries_trace() || g.hidden_paths[0].keys()[0] == r.weight_path.keys()[0]);
  // A map from path to group.
  EXPECT_EQ(graph2.hid_path_to_group.size(), 2u);
  EXPECT_TRUE(graph2.hid_path_to_group.contains({"rnn2", "h"}));
  for (const auto& [path, group] : graph2.hid_path_to_group) EXPECT_EQ(group->hidden_paths[0], path);
}

TEST(Documents, TheGraphDirectly) {
  SingleLayerRNN model_direct(10, 32, 5);
  bt::nn::init_all_states(model_direct);
  const bt::ETraceGraph graph_direct = bt::compile_etrace_graph(model_direct, bt::zeros({10}));
  EXPECT_EQ(graph_direct.hidden_groups.size(), 1u);
  EXPECT_EQ(graph_direct.hidden_param_op_relations.size(), 1u);
  EXPECT_TRUE(graph_direct.hidden_perturb.has_value());
  EXPECT_EQ(graph_direct.dict().keys(),
            (std::vector<std::string>{"module_info", "hidden_groups", "hid_path_to_group", "hidden_param_op_relations",
                                      "hidden_perturb", "diagnostics"}));
  EXPECT_EQ(graph_direct.dict().get<bt::GroupsByPath>("hid_path_to_group").at({"rnn", "h"}).num_state, 1);
}

TEST(Documents, ETraceGraphExample) {
  bt::nn::GRUCell gru(3, 4);
  bt::nn::init_all_states(gru);
  const bt::Tensor      inputs = bt::random::randn(3);
  const bt::ETraceGraph graph  = bt::compile_etrace_graph(gru, inputs);
  const bt::StepValues  same   = graph.call_hidden_perturb({inputs}, graph.hidden_perturb->init_perturb_data());
  EXPECT_EQ(same.out.size(), 1u);
  EXPECT_EQ(graph.explain({.kind = bt::DiagnosticKind::RelationIncluded}).size(), 2u);
}

TEST(Documents, TheCompilersParts) {
  bt::nn::GRUCell gru(3, 4);
  bt::nn::init_all_states(gru);
  const bt::Tensor     x      = bt::random::randn(3);
  const bt::ModuleInfo minfo  = bt::extract_module_info(gru, x);
  const auto           groups = bt::find_hidden_groups_from_minfo(minfo);
  EXPECT_EQ(bt::find_hidden_groups_from_module(gru, x).size(), groups.size());
  const auto relations = bt::find_hidden_param_op_relations_from_minfo(minfo, groups);
  EXPECT_EQ(bt::find_hidden_param_op_relations_from_module(gru, x).size(), relations.size());
  EXPECT_EQ(bt::add_hidden_perturbation_from_minfo(minfo).hidden_paths,
            bt::add_hidden_perturbation_in_module(gru, x).hidden_paths);

  bt::ETraceGraphExecutor executor(gru);
  executor.compile_graph(x);
  const bt::Tensor before = gru.h.value();
  const bt::Tensor y      = executor(x);  // the forward pass: the state goes on
  EXPECT_GT(bt::max(bt::abs(gru.h.value() - before)).item(), 0);
  gru.h.set(before);
  EXPECT_EQ(bt::max(bt::abs(gru(x) - y)).item(), 0);
  bt::ETraceVjpGraphExecutor jacobians(gru);
  jacobians.compile_graph(x);
  EXPECT_EQ(jacobians.solve_h2w_h2h_jacobian(x).Ds.size(), 1u);
}

TEST(Documents, CoreConcepts) {
  const bt::Environment::Scope single({.precision = bt::DType::F32});
  SimpleRNN                    simple(10, 8, 2);
  bt::nn::init_all_states(simple);
  std::vector<std::string> learns;
  for (const auto& r : bt::compile_etrace_graph(simple, bt::zeros({10})).hidden_param_op_relations)
    learns.push_back(r.weight_path.str());
  EXPECT_EQ(learns, std::vector<std::string>{"w_rec"});

  GRUNet model(10, 64, 10);
  bt::nn::init_all_states(model);
  bt::D_RTRL trainer(model);
  trainer.compile_graph(bt::zeros({10}));
  const auto weights = model.states<bt::ParamState>();
  const auto loss_fn = [&](bt::Tensor x) {
    const bt::Tensor out = trainer(x);
    return bt::mean(bt::square(out));
  };
  const auto grad_fn = bt::grad(loss_fn, weights);
  const auto grads   = grad_fn(bt::ones({10}));
  EXPECT_EQ(grads.size(), weights.size());

  // "just swap the class name"
  bt::ES_D_RTRL         swapped(model);
  bt::IODimVjpAlgorithm decay(model, 0.5), rank(model, 3);
  for (bt::OnlineLearner* learner : {static_cast<bt::OnlineLearner*>(&swapped), static_cast<bt::OnlineLearner*>(&decay),
                                     static_cast<bt::OnlineLearner*>(&rank)}) {
    learner->compile_graph(bt::zeros({10}));
    EXPECT_EQ((*learner)(bt::ones({10})).shape(), (bt::Shape{10}));
  }
}

// compile_graph warns about weights without a trace; a hook receives the warning instead of stderr.
TEST(Documents, CompileGraphWarns) {
  GRUNet model(10, 6, 3);
  bt::nn::init_all_states(model);
  Warnings   warnings;
  bt::D_RTRL trainer(model);
  trainer.compile_graph(bt::zeros({10}));
  ASSERT_EQ(warnings.heard.size(), 1u);
  EXPECT_TRUE(warnings.heard[0].starts_with("readout.weight: ")) << warnings.heard[0];
  trainer.compile_graph(bt::zeros({10}));  // nothing happens
  bt::ETraceGraphExecutor executor(model);
  executor.compile_graph(bt::zeros({10}));
  EXPECT_EQ(warnings.heard.size(), 2u);

  // Without a hook, warnings go to stderr, each text once.
  const auto told = [&] {
    testing::internal::CaptureStderr();
    bt::D_RTRL(model).compile_graph(bt::zeros({10}));
    return testing::internal::GetCapturedStderr();
  };
  const bt::WarningHook mine = bt::set_warning_hook(warnings.before);
  told();
  EXPECT_EQ(told(), "");
  struct Renamed : GRUNet {  // another text, for the first time
    bt::nn::Linear second{3, 1};
    Renamed() : GRUNet(10, 6, 3) { children({{"heard_once", second}}); }
    bt::Tensor update(const bt::Tensor& x) override { return second(GRUNet::update(x)); }
  } other;
  bt::nn::init_all_states(other);
  testing::internal::CaptureStderr();
  bt::D_RTRL(other).compile_graph(bt::zeros({10}));
  EXPECT_EQ(
      testing::internal::GetCapturedStderr(),
      "warning: heard_once.weight: it affects no later step and needs no trace; its same-step gradient is exact\n");
  bt::set_warning_hook(mine);
}

}  // namespace

// SPDX-License-Identifier: Apache-2.0
// Lesson: graph compilation and visualization. The text is graph_visualization.md.
#include "docs/tutorial/lesson.h"

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
    const bt::Tensor h1 = rnn1(x), h2 = rnn2(h1);
    return out(h2);
  }
};

struct ConvRNN : bt::nn::Module {
  bt::nn::Conv2d        conv{1, 8, 3, {.padding = "SAME"}};
  bt::nn::ValinaRNNCell rnn{8 * 28 * 28, 64};
  bt::nn::Linear        out{64, 10};
  ConvRNN() { children({{"conv", conv}, {"rnn", rnn}, {"out", out}}); }
  bt::Tensor update(const bt::Tensor& x) override {  // x : [1,28,28], a single-channel image
    const bt::Tensor features = bt::reshape(conv(x), {-1});
    return out(rnn(features));
  }
};

struct ConvGRU : bt::nn::Module {
  bt::nn::Conv2d  conv{1, 8, 3, {.padding = "SAME"}};
  bt::nn::GRUCell rnn{8 * 28 * 28, 64};
  bt::nn::Linear  out{64, 10};
  ConvGRU() { children({{"conv", conv}, {"rnn", rnn}, {"out", out}}); }
  bt::Tensor update(const bt::Tensor& x) override { return out(rnn(bt::reshape(conv(x), {-1}))); }
};

namespace {

void single_layer() {
  SingleLayerRNN model(10, 32, 5);
  bt::init_all_states(model);

  // Compile the graph and visualize
  bt::D_RTRL algo(model);
  algo.compile_graph(bt::zeros({10}));
  fmt::print("{}", algo.show_graph());

  const bt::ETraceGraph& graph = algo.graph();
  check(model.rnn.states<bt::HiddenState>().size() == 1 && model.rnn.params().size() == 1,
        "the ValinaRNNCell contains one hidden state and one recurrent weight");
  check(graph.hidden_groups[0].hidden_paths[0].tuple() == "('rnn', 'h')", "hidden group 0 is ('rnn', 'h')");
  check(relation_of(graph, "rnn.W.weight").group_indices() == std::vector<int>{0},
        "the recurrent weight is associated with hidden group 0");
  check(graph.hidden_param_op_relations.size() == 1, "the readout weight feeds no hidden state, so it does not appear");
  check(algo.get_etrace_of(bt::Path{"rnn", "W", "weight"})[0].value.type() == bt::Type{bt::DType::F32, {42, 32, 1}},
        "D_RTRL maintains an eligibility trace for the recurrent weight");
}

void understanding_etrace_graph() {
  SingleLayerRNN model(10, 32, 5);
  bt::init_all_states(model);
  bt::D_RTRL algo(model);
  algo.compile_graph(bt::zeros({10}));
  const bt::ETraceGraph& graph = algo.graph();

  fmt::print("=== Hidden Groups ===\n");
  for (const auto& g : graph.hidden_groups) {
    fmt::print("  Group {}: {} state(s), shape {}\n", g.index, g.num_state, bt::to_string(g.varshape));
    for (const bt::Path& path : g.hidden_paths) fmt::print("    Path: {}\n", path.tuple());
  }
  fmt::print("\n=== Weight-Primitive-Hidden Relations ===\n");
  int i = 0;
  for (const auto& r : graph.hidden_param_op_relations) {
    fmt::print("  Relation {}:\n", i++);
    fmt::print("    Weight path: {}\n", r.weight_path.tuple());
    fmt::print("    Primitive: {}\n", r.primitive());
    for (const bt::HiddenGroup& g : r.hidden_groups) fmt::print("    Hidden group: {}\n", g.index);
  }
  fmt::print("\n=== Perturbation ===\n");
  fmt::print("  Has perturbation: {}\n", graph.hidden_perturb.has_value());

  check(graph.hidden_groups[0].num_state == 1 && graph.hidden_groups[0].varshape == bt::Shape{32},
        "num_state is the number of state variables in the group, varshape the shape of each");
  check(graph.hid_path_to_group.at({"rnn", "h"}).index == graph.hidden_groups[0].index,
        "a hidden path leads to its group");
}

void two_layers() {
  TwoLayerRNN model2(10, 32, 5);
  bt::init_all_states(model2);
  bt::D_RTRL algo2(model2);
  algo2.compile_graph(bt::zeros({10}));
  fmt::print("{}", algo2.show_graph());

  // Inspect the two-layer graph programmatically
  const bt::ETraceGraph& graph2 = algo2.graph();
  fmt::print("Number of hidden groups: {}\n", graph2.hidden_groups.size());
  fmt::print("Number of weight-hidden relations: {}\n", graph2.hidden_param_op_relations.size());
  fmt::print("\nHidden groups:\n");
  for (const auto& g : graph2.hidden_groups) fmt::print("  Group {}: {}\n", g.index, g.hidden_paths[0].tuple());
  fmt::print("\nRelations:\n");
  int i = 0;
  for (const auto& r : graph2.hidden_param_op_relations)
    fmt::print("  Weight {}: {} -> hidden group {}\n", i++, r.weight_path.tuple(), r.hidden_groups[0]->index);

  check(graph2.hidden_groups.size() == 2, "each GRU layer creates its own hidden group");
  for (const char* w : {"Wz", "Wr", "Wh"})
    for (int layer : {0, 1})
      check(relation_of(graph2, fmt::format("rnn{}.{}.weight", layer + 1, w).c_str()).group_indices() ==
                std::vector<int>{layer},
            "each layer's weights are associated with its own hidden group only");
  check(!relation_of(graph2, "rnn1.Wr.weight").carries_trace() && relation_of(graph2, "rnn1.Wz.weight").carries_trace(),
        "Wr reaches h only through Wh: it learns inside a window, without a trace");
  const auto readout = graph2.explain({.weight_path = bt::Path{"out", "weight"}});
  check(!readout.empty() && readout[0].kind == bt::DiagnosticKind::RelationExcludedNonTemporal,
        "the readout uses an ETP operation, but feeds no hidden state");
}

// What the first step of a sequence adds to the gradient of D-RTRL at the second, whose loss is Σ y²: one step at a
// time, or both steps as one window.
template <class Net>
bt::Gradients what_the_past_adds(bool window) {
  bt::random::seed(3);
  Net model;
  bt::init_all_states(model);
  bt::D_RTRL learner(model);
  learner.compile_graph(bt::zeros({1, 28, 28}));
  const bt::Tensor first = bt::random::normal(bt::random::next(), {1, 28, 28});
  const bt::Tensor x     = bt::random::normal(bt::random::next(), {1, 28, 28});

  auto one_by_one = [&] {
    learner(first);
    return bt::sum(bt::square(learner(x)));
  };
  auto as_window = [&] {
    const bt::Tensor ys = learner(bt::MultiStepData{{bt::stack({first, x}, 0)}});
    return bt::sum(bt::square(bt::slice_axis(ys, 0, 1, 2)));
  };
  const bt::Gradients online = window ? bt::grad(as_window, model.params())() : bt::grad(one_by_one, model.params())();

  bt::reset_all_states(model);
  model(first);
  const bt::Gradients same_step = bt::grad([&] { return bt::sum(bt::square(model(x))); }, model.params())();
  check(bt::max(bt::abs(same_step.at({"conv", "weight"}, "weight"))).item() > 1e-3, "the kernel has a gradient");
  return online - same_step;
}
double largest(const bt::Gradients& g, const bt::Path& path) { return bt::max(bt::abs(g.at(path, "weight"))).item(); }

void convolution() {
  ConvRNN model3;
  bt::init_all_states(model3);
  bt::D_RTRL algo3(model3);
  algo3.compile_graph(bt::zeros({1, 28, 28}));
  fmt::print("{}", algo3.show_graph());

  const bt::ETraceGraph& graph3 = algo3.graph();
  const auto &           kernel = relation_of(graph3, "conv.weight"), &recurrent = relation_of(graph3, "rnn.W.weight");
  check(kernel.primitive() == "etp_conv", "the kernel is discovered because Conv2d uses etp_conv");
  check(recurrent.primitive() == "etp_mv", "the recurrent weight uses the matrix product, etp_mv without a batch");
  check(kernel.group_indices() == std::vector<int>{0} && recurrent.group_indices() == std::vector<int>{0} &&
            graph3.hidden_groups[0].hidden_paths[0].str() == "rnn.h",
        "both are associated with the RNN's hidden group");
  const auto readout = graph3.explain({.weight_path = bt::Path{"out", "weight"}});
  check(readout[0].primitive == "etp_mv", "the readout also uses an ETP operation");
}

template <class Net>
void report_what_the_past_adds(const char* name, const bt::Path& recurrent, bool expected) {
  const auto word = [](double x) { return x > 1e-3 ? "something" : x < 1e-5 ? "nothing" : "unclear"; };
  for (const bool window : {false, true}) {
    const bt::Gradients added  = what_the_past_adds<Net>(window);
    const double        kernel = largest(added, {"conv", "weight"}), weight = largest(added, recurrent);
    fmt::print("{}   {:<21} {:<15} {}\n", name, window ? "window of two steps" : "step by step", word(kernel),
               word(weight));
    check(std::string(word(weight)) == (expected ? "something" : "nothing"), "the recurrent weight has a trace");
    check(std::string(word(kernel)) == (expected && window ? "something" : "nothing"), "the kernel needs a window");
  }
}

void what_the_kernel_learns() {
  fmt::print("what the past adds              to the kernel   to a recurrent weight\n");
  report_what_the_past_adds<ConvRNN>("ConvRNN", {"rnn", "W", "weight"}, false);
  report_what_the_past_adds<ConvGRU>("ConvGRU", {"rnn", "Wz", "weight"}, true);
}

void compile_directly() {
  SingleLayerRNN model_direct(10, 32, 5);
  bt::init_all_states(model_direct);

  const bt::ETraceGraph graph_direct = bt::compile_etrace_graph(model_direct, {bt::zeros({10}).type()});
  fmt::print("Number of hidden groups: {}\n", graph_direct.hidden_groups.size());
  fmt::print("Number of relations: {}\n", graph_direct.hidden_param_op_relations.size());
  fmt::print("Has perturbation: {}\n", graph_direct.hidden_perturb.has_value());
  fmt::print("\nGraph fields:\n");
  for (const std::string& key : graph_direct.fields()) fmt::print("  {}\n", key);

  bt::D_RTRL algo(model_direct);
  algo.compile_graph(bt::zeros({10}));
  check(bt::show_graph(graph_direct) == algo.show_graph(), "it is the graph an algorithm holds");
}

}  // namespace

int main() {
  const std::pair<const char*, void (*)()> sections[] = {{"single-layer RNN", single_layer},
                                                         {"understanding ETraceGraph", understanding_etrace_graph},
                                                         {"two-layer RNN", two_layers},
                                                         {"convolutional network", convolution},
                                                         {"what the kernel learns", what_the_kernel_learns},
                                                         {"compile_etrace_graph", compile_directly}};
  for (const auto& [title, section] : sections) {
    fmt::print("# {}\n", title);
    section();
    fmt::print("\n");
  }
}

// SPDX-License-Identifier: Apache-2.0
// The report on the models of the user's tutorial.
#include "braintrace/compiler/report.h"

#include <gtest/gtest.h>

#include "braintrace/etp/dense.h"
#include "braintrace/nn/conv.h"
#include "braintrace/nn/linear.h"
#include "braintrace/nn/rnn.h"
#include "braintrace/ops/contract.h"
#include "braintrace/ops/math.h"
#include "braintrace/ops/move.h"

namespace braintrace {
namespace {

struct SingleLayerRNN : nn::Module {
  nn::ValinaRNNCell rnn;
  nn::Linear        out;
  SingleLayerRNN(int n_in, int n_rec, int n_out) : rnn(n_in, n_rec), out(n_rec, n_out) {
    children({{"rnn", rnn}, {"out", out}});
  }
  Tensor update(const Tensor& x) override { return out(rnn(x)); }
};

struct TwoLayerRNN : nn::Module {
  nn::GRUCell rnn1, rnn2;
  nn::Linear  out;
  TwoLayerRNN(int n_in, int n_rec, int n_out) : rnn1(n_in, n_rec), rnn2(n_rec, n_rec), out(n_rec, n_out) {
    children({{"rnn1", rnn1}, {"rnn2", rnn2}, {"out", out}});
  }
  Tensor update(const Tensor& x) override { return out(rnn2(rnn1(x))); }
};

struct ConvRNN : nn::Module {
  nn::Conv2d        conv;
  nn::ValinaRNNCell rnn;
  nn::Linear        out;
  ConvRNN() : conv({28, 28, 1}, 8, 3), rnn(8 * 28 * 28, 64), out(64, 10) {
    children({{"conv", conv}, {"rnn", rnn}, {"out", out}});
  }
  Tensor update(const Tensor& x) override { return out(rnn(reshape(conv(x), {-1}))); }
};

template <class Model, class... Args>
ETraceGraph compiled(const Shape& x, const CompileOptions& options, Args... args) {
  Model model(args...);
  init_all_states(model);
  return compile_etrace_graph(model, {{DType::F32, x}}, options);
}

// The parts occur in the text in this order.
void expect_in_order(const std::string& text, const std::vector<std::string>& parts) {
  size_t at = 0;
  for (const std::string& part : parts) {
    const size_t found = text.find(part, at);
    EXPECT_NE(found, std::string::npos) << "missing after the parts before it: " << part << "\n" << text;
    if (found == std::string::npos) return;
    at = found + part.size();
  }
}

using Counts = CompilationReport::Counts;

TEST(Report, SingleLayerRnnReadsAsTheTutorialSays) {
  const ETraceGraph       graph = compiled<SingleLayerRNN>({10}, {}, 10, 32, 5);
  const CompilationReport report(graph);
  expect_in_order(report.to_str(), {"The hidden groups are:\n\n   Group 0: [('rnn', 'h')]\n",
                                    "\n\n\nThe weights associated with hidden groups are:\n\n",
                                    "   Weight 0: ('rnn', 'W', 'weight') → etp_mv → hidden group 0\n", "f32[42,32]",
                                    "trace 5.5 kB", "\n\n\nThe weights without a trace are:\n\n",
                                    "   Weight 0: ('out', 'weight') (excluded: relation_excluded_non_temporal)\n"});
  EXPECT_EQ(report.counts().hidden_groups, 1u);
  EXPECT_EQ(report.counts().etrace_weights, 2u);  // weight and bias
  EXPECT_EQ(report.counts().excluded_weights, 1u);
  EXPECT_EQ(show_graph(graph), report.to_str(1));
}

TEST(Report, ReferenceModeGivesTheReferenceCounts) {
  const auto reference = CompileOptions::reference();
  EXPECT_EQ(CompilationReport(compiled<SingleLayerRNN>({10}, reference, 10, 32, 5)).counts(), (Counts{1, 2, 1, 1, 0}));
  EXPECT_EQ(CompilationReport(compiled<TwoLayerRNN>({10}, reference, 10, 32, 5)).counts(), (Counts{2, 8, 3, 3, 0}));
  EXPECT_EQ(CompilationReport(compiled<ConvRNN>({28, 28, 1}, reference)).counts(), (Counts{1, 2, 2, 2, 0}));
}

TEST(Report, TwoLayersKeepToTheirOwnGroups) {
  const ETraceGraph       graph = compiled<TwoLayerRNN>({10}, {}, 10, 32, 5);
  const CompilationReport report(graph);
  expect_in_order(report.to_str(), {"Group 0: [('rnn1', 'h')]", "Group 1: [('rnn2', 'h')]",
                                    "('rnn1', 'Wz', 'weight') → etp_mv → hidden group 0\n",
                                    "('rnn2', 'Wz', 'weight') → etp_mv → hidden group 1\n"});
  expect_in_order(report.to_str(),
                  {"The weights that learn inside a window, without a trace, are:\n\n   Weight 0: ",
                   "('rnn1', 'Wr', 'weight') → etp_mv → hidden group 0, through ('rnn1', 'Wh', 'weight')\n"});
  for (const auto& w : report.etrace_weights())
    EXPECT_EQ(w.hidden_groups, std::vector<int>{w.path.keys()[0] == "rnn2"}) << w.path.str();
}

TEST(Report, TheConvolutionIsAssociatedWithTheHiddenGroup) {
  const ETraceGraph graph = compiled<ConvRNN>({28, 28, 1}, {});
  expect_in_order(show_graph(graph),
                  {"The weights that learn inside a window, without a trace, are:",
                   "('conv', 'weight') → etp_conv → hidden group 0, through ('rnn', 'W', 'weight')\n"});
  const auto reference = compiled<ConvRNN>({28, 28, 1}, CompileOptions::reference());
  expect_in_order(show_graph(reference), {"The weights without a trace are:",
                                          "('conv', 'weight') (excluded: relation_excluded_weight_to_weight)"});
}

// States without information are listed after the groups.
TEST(Report, ListsStatesThatNoTraceFollows) {
  struct Model : nn::Module {
    ParamState  w     = state("w", ParamState(Tensor(Type{DType::F64, {3, 3}}, 0.1).array()));
    HiddenState h     = state("h", HiddenState(Array::of<double>({0, 0, 0}, {3})));
    HiddenState drive = state("drive", HiddenState(Array::of<double>({0, 0, 0}, {3})));
    Tensor      update(const Tensor& x) override {
      drive.set(tanh(matmul(x, w.value())));
      h.set(0.5 * h.value() + drive.value());
      return h.value();
    }
  } model;
  expect_in_order(CompilationReport(compile_etrace_graph(model, {{DType::F64, {3}}})).to_str(),
                  {"The hidden groups are:", "Group 0: [('h',)]", "The dynamic states (without traces) are:",
                   "Dynamic state 0: ('drive',); nothing reads its old value", "('w',) → etp_mv → hidden group 0"});
}

// The operation may be trainable and read the parameter as its data.
TEST(Report, AWeightWithoutATraceSaysHowItIsRead) {
  struct Model : nn::Module {
    ParamState  data   = state("data", ParamState(Array::of<double>({1, 2, 3}, {3})));
    ParamState  plain  = state("plain", ParamState(Array::of<double>({1, 2, 3}, {3})));
    ParamState  matrix = state("matrix", ParamState(Tensor(Type{DType::F64, {3, 3}}, 0.1).array()));
    ParamState  both   = state("both", ParamState(Array::of<double>({1, 2, 3}, {3})));
    ParamState  idle   = state("idle", ParamState(Array::of<double>({1, 2, 3}, {3})));
    ParamState  w      = state("w", ParamState(Tensor(Type{DType::F64, {3, 3}}, 0.1).array()));
    HiddenState h      = state("h", HiddenState(Array::of<double>({0, 0, 0}, {3})));
    Tensor      update(const Tensor& x) override {
      h.set(0.5 * h.value() + x * plain.value() + dot(x, matrix.value()) + tanh(both.value()) +
                 matmul(data.value(), w.value()) + matmul(both.value(), w.value()));
      return h.value();
    }
  } model;
  const ETraceGraph                  graph = compile_etrace_graph(model, {{DType::F64, {3}}});
  std::map<std::string, std::string> why;
  for (const auto& w : CompilationReport(graph).excluded_weights()) why[w.path.str()] = w.why;
  const std::map<std::string, std::string> want = {
      {"data", "read by matmul as data, not as its weight: only the current step's gradient"},
      {"plain", "read by mul, which is not a trainable (ETP) operation: only the current step's gradient"},
      {"matrix", "read by dot, which is not a trainable (ETP) operation: only the current step's gradient"},
      {"both",
       "read by tanh, which is not a trainable (ETP) operation, and read by matmul as data, not as its weight: only "
       "the "
       "current step's gradient"},
      {"idle", "the step of the model does not use it"}};
  EXPECT_EQ(why, want);
}

TEST(Report, LevelTwoContainsLevelOne) {
  const ETraceGraph       graph = compiled<SingleLayerRNN>({10}, {}, 10, 32, 5);
  const CompilationReport report(graph);
  EXPECT_TRUE(report.to_str(2).starts_with(report.to_str(1)));
  EXPECT_NE(report.to_str(2).find("] relation_excluded_non_temporal: "), std::string::npos);
  EXPECT_EQ(report.to_str(1).find("] relation_excluded_non_temporal: "), std::string::npos);
}

TEST(Report, HumanBytes) {
  EXPECT_EQ(human_bytes(0), "0 B");
  EXPECT_EQ(human_bytes(999), "999 B");
  EXPECT_EQ(human_bytes(1000), "1.0 kB");
  EXPECT_EQ(human_bytes(5504), "5.5 kB");
  EXPECT_EQ(human_bytes(153600), "154 kB");
  EXPECT_EQ(human_bytes(999'999), "1.0 MB");
  EXPECT_EQ(human_bytes(int64_t{3} << 40), "3.3 TB");
}

}  // namespace
}  // namespace braintrace

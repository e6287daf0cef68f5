// SPDX-License-Identifier: Apache-2.0
// Wrong descriptions fail with an error that names the place inside the JSON, the nearest name and the expected fields.
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <set>

#include <gtest/gtest.h>

#include "braintrace/ops/move.h"
#include "braintrace/zoo/model.h"
#include "tests/support/error_of.h"

namespace braintrace::zoo {

namespace {

void expect_refused(const char* text, std::initializer_list<const char*> phrases) {
  const std::string message = error_of([&] { build_model(text); });
  for (const char* p : phrases) EXPECT_NE(message.find(p), message.npos) << "'" << p << "' is not in: " << message;
}

TEST(Description, PathsNearestNamesAndFields) {
  expect_refused(R"({"type": "chain", "layers": [{"name": "a", "type": "gruu", "n_in": 1, "n_rec": 2}]})",
                 {"layers[0].type", "gruu", "did you mean 'gru'"});
  expect_refused(R"({"type": "gru", "n_in": 1, "n_rek": 2})", {"n_rek", "did you mean 'n_rec'", "n_in, n_rec"});
  expect_refused(R"({"type": "gru", "n_in": 1})", {"n_rec", "needs this field"});
  expect_refused(R"({"type": "gru", "n_in": -1, "n_rec": 2})", {"n_in", "positive", "-1"});
  expect_refused(R"({"type": "gru", "n_in": "3", "n_rec": 2})", {"n_in", "whole number", "\"3\""});
  expect_refused(R"({"type": "gru", "n_in": 3, "n_rec": 2, "activation": "tahn"})", {"activation", "'tanh'"});
  expect_refused(R"({"n_in": 3})", {"type"});
  expect_refused(R"({"type": "chain", "layers": []})", {"layers", "at least one"});
  expect_refused(R"({"type": "chain", "layers": [{"name": "a", "type": "mean_pool_hw"},
                                                 {"name": "a", "type": "mean_pool_hw"}]})",
                 {"layers[1].name", "'a'", "twice"});
  expect_refused(R"({"type": "chain", "layers": [)", {"this is not JSON"});
}

TEST(Description, NestedParts) {
  expect_refused(R"({"type": "conv_rec", "conv_rec": {}, "conv_in": {"type": "conv2d", "in_size": [4, 4, 2],
                     "out_channels": 3, "kernel_size": 3, "strides": 1}})",
                 {"conv_in.strides", "did you mean 'stride'"});
  expect_refused(R"({"type": "conv2d", "in_size": [4, 4, 2], "out_channels": 3, "kernel_size": 3, "groups": 2})",
                 {"Conv2d", "2 groups"});
  expect_refused(R"({"type": "snn_delta", "n_in": 2, "n_rec": 3, "surrogate": {"type": "relu_gard"}})",
                 {"surrogate.type", "'relu_grad'"});
  expect_refused(R"({"type": "snn_delta", "n_in": 2, "n_rec": 3, "tau_ms": -1})", {"tau", "positive"});
  expect_refused(R"({"type": "sparse_rnn", "n_in": 2, "n_rec": 2,
                     "csr": {"shape": [2, 2], "indptr": [0, 1, 2], "indices": [0, 2]}})",
                 {"csr.indices", "2 is outside 0 … 1"});
  expect_refused(
      R"({"type": "map_rnn", "n_in": 1, "n_rec": 2, "map": {"type": "masked_linear", "mask": [[1, 0], [1, 1]]}})",
      {"mask", "[3,2]"});
}

// Sizes, times, names, masks and indices that are out of range, each with its place in the description.
TEST(Description, WrongNumbers) {
  const auto in_chain = [](const std::string& layer) {
    return R"({"type": "chain", "layers": [{"name": "a", "type": "glu"}, {"name": "b", )" + layer + "}]}";
  };
  const std::vector<std::pair<std::string, std::vector<const char*>>> cases = {
      {R"("type": "lif", "n": 0)", {"layers[1].n", "positive"}},
      {R"("type": "lif", "n": 3, "tau_ms": 0)", {"LIF", "tau", "positive"}},
      {R"("type": "lif", "n": 3, "tau_ms": [5, 5])", {"layers[1].tau_ms", "3 of them"}},
      {R"("type": "lif", "n": 3, "tau_ms": {"trainable": [5, -5, 5]})", {"LIF", "tau", "entry 1"}},
      {R"("type": "lif", "n": 3, "tau_ms": {"trainabel": 5})", {"layers[1].tau_ms.trainabel", "'trainable'"}},
      {R"("type": "lif", "n": 3, "dt_ms": 0)", {"dt", "positive"}},
      {R"("type": "lif", "n": 3, "spk_reset": "sof")", {"layers[1].spk_reset", "'soft'"}},
      {R"("type": "lif_ref", "n": 3, "tau_ref_ms": -1)", {"tau_ref", "positive"}},
      {R"("type": "dual_expon", "n": 3, "tau_rise_ms": 10)", {"DualExpon", "equal"}},
      {R"("type": "alpha", "n": 3, "tau_ms": -1)", {"Alpha", "tau"}},
      {R"("type": "exp_if", "n": 3, "delta_T": 0)", {"ExpIF", "delta_T"}},
      {R"("type": "dropout", "keep": 0)", {"layers[1].keep", "probability"}},
      {R"("type": "group_norm", "n": 4, "groups": 3)", {"GroupNorm", "3"}},
      {R"("type": "batch_norm", "n": 4, "spatial_axes": 4)", {"layers[1].spatial_axes", "0 to 3"}},
      {R"("type": "pool", "kind": "median", "window": [2, 2])", {"layers[1].kind", "max, mean"}},
      {R"("type": "signed_linear", "n_in": 2, "n_out": 2, "sign": [[1, -1, 1]])", {"SignedWLinear", "[1,3]"}},
      {R"("type": "sparse_linear", "csr": {"shape": [2, 2], "indptr": [0, 1, 2], "indices": [0, 2]})",
       {"layers[1].csr.indices", "2 is outside 0 … 1"}},
      {R"("type": "snn", "n_in": 1, "n_rec": 2, "neuron": {"type": "gru"})", {"layers[1].neuron", "n_in"}},
      {R"("type": "snn", "n_in": 1, "n_rec": 2, "neuron": {"type": "expon"})",
       {"layers[1].neuron.type", "not a neuron"}},
      {R"("type": "snn", "n_in": 1, "n_rec": 2, "neuron": {"type": "lif", "n": 3})",
       {"layers[1].neuron.n", "leave it out"}},
      {R"("type": "snn", "n_in": 1, "n_rec": 2, "neuron": {"type": "lif"}, "synapse": {"type": "expon"}, "output": "coba")",
       {"layers[1].output", "parameters"}},
      {R"("type": "delay", "n": 3, "steps": 0)", {"layers[1].steps", "positive"}},
      {R"("type": "lora", "n_in": 3, "rank": 0, "n_out": 3)", {"layers[1].rank", "positive"}},
  };
  for (const auto& [layer, phrases] : cases) {
    const auto        model   = in_chain(layer);
    const std::string message = error_of([&model] { build_model(model); });
    for (const char* p : phrases)
      EXPECT_NE(message.find(p), message.npos) << layer << ": '" << p << "' is not in: " << message;
  }
}

// A mistake that shows only when a step runs names the layers on the way to it.
TEST(Description, WrongInputs) {
  const auto message = [](const char* layers, const Tensor& x) {
    const auto model = build_model(std::string(R"({"type": "chain", "layers": [)") + layers + "]}");
    init_all_states(*model);
    return error_of([&] { (*model)(x); });
  };
  const std::string gru = message(R"({"name": "rnn", "type": "gru", "n_in": 3, "n_rec": 4})", zeros({5}));
  for (const char* p :
       {"size 7", "in rnn.Wz (Linear) called with f32[9]", "in rnn (GRUCell) called with f32[5]", "in the model"})
    EXPECT_NE(gru.find(p), gru.npos) << gru;
  const std::string lif =
      message(R"({"name": "a", "type": "lif", "n": 4}, {"name": "b", "type": "lif", "n": 3})", zeros({4}));
  EXPECT_NE(lif.find("in b (LIF) called with f32[4]"), lif.npos) << lif;
  const std::string ids =
      message(R"({"name": "e", "type": "embedding", "vocab": 4, "n_out": 2})", full({1}, 4, DType::I32));
  EXPECT_NE(ids.find("in e (Embedding)"), ids.npos) << ids;
}

TEST(Description, BuiltInModelsRun) {
  const std::set<std::string> images{"conv_rnn"};
  for (const BuiltinModel& m : builtin_models()) {
    const auto model = build_model(m.description);
    init_all_states(*model);
    const Tensor y = (*model)(zeros(images.contains(m.name) ? Shape{1, 28, 28} : Shape{10}));
    EXPECT_EQ(y.rank(), 1) << m.name;
  }
  EXPECT_NE(error_of([] { builtin_model("single_layer_rn"); }).find("'single_layer_rnn'"), std::string::npos);
}

TEST(Description, EveryTypeHasItsEquation) {
  std::set<std::string> names;
  for (const LayerType& t : layer_types()) {
    EXPECT_TRUE(names.insert(t.name).second) << t.name;
    EXPECT_FALSE(t.doc.empty()) << t.name;
  }
  EXPECT_GT(names.size(), 50u);
}

// BRAINTRACE_WRITE_DOCS=1 writes the page instead.
TEST(Description, ThePageOfTheVocabularyIsUpToDate) {
  const std::string file = std::string(BRAINTRACE_SOURCE_DIR) + "/docs/models.md";
  if (std::getenv("BRAINTRACE_WRITE_DOCS")) std::ofstream(file) << vocabulary_page();
  std::ifstream     in(file);
  const std::string page{std::istreambuf_iterator<char>(in), {}};
  EXPECT_EQ(page, vocabulary_page()) << "run this test with BRAINTRACE_WRITE_DOCS=1 to write docs/models.md";
}

}  // namespace

}  // namespace braintrace::zoo

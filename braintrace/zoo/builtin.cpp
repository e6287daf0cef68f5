// SPDX-License-Identifier: Apache-2.0
// Models known by name.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "braintrace/base/nearest.h"
#include "braintrace/zoo/model.h"

namespace braintrace::zoo {

namespace {

std::string chain(const std::string& layers) { return R"({"type": "chain", "layers": [)" + layers + "]}"; }
std::string linear(int n_in, int n_out) {
  return fmt::format(R"({{"name": "out", "type": "linear", "n_in": {}, "n_out": {}}})", n_in, n_out);
}
std::string cell(const char* type) {
  return fmt::format(R"({{"name": "rnn", "type": "{}", "n_in": 10, "n_rec": 32}}, )", type);
}
std::string spiking(const char* type, const char* neuron) {
  return fmt::format(R"({{"name": "cell", "type": "{}", "neuron": "{}", "n_in": 10, "n_rec": 32}}, )"
                     R"({{"name": "out", "type": "leaky_rate_readout", "n_in": 32, "n_out": 5}})",
                     type, neuron);
}

std::vector<BuiltinModel> make() {
  std::vector<BuiltinModel> list = {
      {"single_layer_rnn", "the tutorial's first model: a vanilla RNN and a readout",
       chain(cell("vanilla_rnn") + linear(32, 5))},
      {"two_layer_rnn", "the tutorial's second model: two GRUs and a readout",
       chain(R"({"name": "rnn1", "type": "gru", "n_in": 10, "n_rec": 32}, )"
             R"({"name": "rnn2", "type": "gru", "n_in": 32, "n_rec": 32}, )" +
             linear(32, 5))},
      {"conv_rnn", "the tutorial's third model: a convolution of a 28×28 image in front of a vanilla RNN",
       chain(R"({"name": "conv", "type": "conv2d", "in_size": [1, 28, 28], "out_channels": 8, "kernel_size": 3, )"
             R"("channel_first": true}, {"name": "flat", "type": "flatten", "n_trailing_axes": 3}, )"
             R"({"name": "rnn", "type": "vanilla_rnn", "n_in": 6272, "n_rec": 64}, )" +
             linear(64, 10))},
      {"simple_rnn", "the tutorial's SimpleRNN: plain input and output weights, w_rec learns online",
       R"({"type": "simple_rnn", "n_in": 10, "n_rec": 32, "n_out": 5})"},
      {"lif", "leaky integrate-and-fire neurons with delta synapses", chain(spiking("snn_delta", "lif"))},
      {"lif_expcu", "leaky integrate-and-fire neurons with exponential current synapses",
       chain(spiking("snn_expcu", "lif"))},
      {"alif", "neurons with adaptive threshold", chain(spiking("snn_delta", "alif"))},
  };
  const std::pair<const char*, const char*> cells[] = {{"gru", "a GRU"},          {"lstm", "an LSTM"},
                                                       {"mgu", "an MGU"},         {"urlstm", "a UR-LSTM"},
                                                       {"cfn", "a CFN"},          {"minimal_rnn", "a MinimalRNN"},
                                                       {"mini_gru", "a MiniGRU"}, {"mini_lstm", "a MiniLSTM"}};
  for (const auto& [type, name] : cells)
    list.push_back({type, fmt::format("{} cell and a readout", name), chain(cell(type) + linear(32, 5))});
  list.push_back({"lru", "a linear recurrent unit and a readout",
                  chain(R"({"name": "rnn", "type": "lru", "d_model": 10, "d_hidden": 32}, )" + linear(10, 5))});
  return list;
}

}  // namespace

const std::vector<BuiltinModel>& builtin_models() {
  static const std::vector<BuiltinModel> list = make();
  return list;
}

const BuiltinModel& builtin_model(const std::string& name) {
  std::vector<std::string> known;
  for (const BuiltinModel& m : builtin_models()) {
    if (m.name == name) return m;
    known.push_back(m.name);
  }
  fail("there is no built-in model '{}'{}\n  Known: {}.", name, hint(name, known), fmt::join(known, ", "));
}

}  // namespace braintrace::zoo

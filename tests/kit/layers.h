// SPDX-License-Identifier: Apache-2.0
// One small model for every layer type of the kit, and what the compiler must find in it.
#pragma once

#include <string>
#include <vector>

#include "braintrace/ir/tensor.h"

namespace braintrace {

struct KitNeeds {
  double drive  = 1;      // times the input, for layers that need more to answer
  bool   spikes = false;  // the result is compared after a filter
  bool   gated = false, integers = false, batch = false, learns = true;
};

// A layer without weights of its own comes after a linear layer "in" of 3 inputs and 4 outputs.
struct KitRow {
  std::string type;
  std::string fields;     // of the description, as JSON
  Shape       input;      // of one sample; empty: a layer after "in"
  std::string groups;     // members of each hidden group: "h c; r"
  std::string relations;  // weights in program order; (windowed); [no relation]
  KitNeeds    needs = {};
};

inline const std::vector<KitRow>& kit_rows() {
  static const std::string conv = R"("out_channels": 2, "kernel_size": 3)";
  static const std::string csr =
      R"("csr": {"shape": [4, 4], "indptr": [0, 2, 3, 5, 6], "indices": [0, 2, 1, 0, 3, 2]})";
  static const std::string sizes   = R"("n_in": 3, "n_rec": 4)";
  static const std::string conv_of = R"({"type": "conv2d", "in_size": [4, 4, 1], "out_channels": 2, "kernel_size": 3})";
  static const std::string conv_to = R"({"type": "conv2d", "in_size": [4, 4, 2], "out_channels": 2, "kernel_size": 3})";
  static const std::string low     = R"("n": 4, "V_th": 0.3)";  // thresholds that random inputs reach
  static const std::string cortex  = R"("n": 4, "V_th": -60.0, "V_rest": -61.0, "V_reset": -64.0, "V_init": -61.0)";
  static const std::vector<KitRow> rows = {
      // without recurrence: no group, so no relation
      {"linear", R"("n_in": 3, "n_out": 4)", {3}, "", "[weight]"},
      {"plain_linear", R"("n_in": 3, "n_out": 4)", {3}, "", "[b] [w]"},
      {"signed_linear", R"("n_in": 3, "n_out": 4)", {3}, "", "[weight]"},
      {"scaled_ws_linear", R"("n_in": 3, "n_out": 4)", {3}, "", "[weight]"},
      {"sparse_linear", csr, {4}, "", "[weight]"},
      {"grouped_linear", R"("groups": 2, "n_in": 3, "n_out": 2)", {2, 3}, "", "[weight]"},
      {"lora", R"("n_in": 3, "rank": 2, "n_out": 4)", {3}, "", "[weight]"},
      {"embedding", R"("vocab": 5, "n_out": 4)", {}, "", "[weight]", {.integers = true}},
      {"activation", R"("activation": "tanh")", {}, "", "[in.weight]"},
      {"prelu", "", {}, "", "[in.weight] [layer.weight]"},
      {"glu", "", {}, "", "[in.weight]"},
      {"layer_norm", R"("n": 4)", {}, "", "[in.weight] [layer.weight]"},
      {"rms_norm", R"("n": 4)", {}, "", "[in.weight] [layer.weight]"},
      {"group_norm", R"("n": 4, "groups": 2)", {}, "", "[in.weight] [layer.weight]", {.batch = true}},
      {"batch_norm", R"("n": 4)", {}, "", "[in.weight] [layer.weight]", {.batch = true}},
      {"dropout", "", {}, "", "[in.weight]"},
      {"flatten", R"("n_trailing_axes": 1)", {}, "", "[in.weight]"},
      {"unflatten", R"("sizes": [2, 2])", {}, "", "[in.weight]"},
      {"part", R"("first": 1, "size": [2])", {}, "", "[in.weight]"},
      {"conv1d", R"("in_size": [6, 1], )" + conv, {6, 1}, "", "[weight]"},
      {"conv2d", R"("in_size": [4, 4, 1], )" + conv, {4, 4, 1}, "", "[weight]"},
      {"conv3d", R"("in_size": [3, 3, 3, 1], )" + conv, {3, 3, 3, 1}, "", "[weight]"},
      // recurrent cells
      {"vanilla_rnn", sizes, {3}, "h", "W"},
      {"gru", sizes, {3}, "h", "Wz (Wr) Wh"},
      {"mgu", sizes, {3}, "h", "Wf Wh"},
      {"cfn", sizes, {3}, "h", "Wf Wi Wh"},
      {"lstm", sizes, {3}, "h c", "Wi Wg Wf Wo"},
      {"urlstm", sizes, {3}, "h c", "Wf Wr Wu Wo bias bias"},
      {"minimal_rnn", sizes, {3}, "h", "phi W_u"},
      {"mini_gru", sizes, {3}, "h", "W_z W_x"},
      {"mini_lstm", sizes, {3}, "h", "W_f W_i W_x"},
      {"lru",
       R"("d_model": 3, "d_hidden": 4)",
       {3},
       "h_re h_im",
       "nu_log theta_log gamma_log B_re B_im [C_im.weight] [C_re.weight] [D]"},
      {"diag_rnn", sizes, {3}, "h", "a inp"},
      {"ind_rnn", sizes, {3}, "h", "inp u"},
      {"map_rnn", sizes + R"(, "map": {"type": "signed_linear"})", {3}, "h", "W"},
      {"gru_lora",
       sizes + R"(, "rank": 2, "alpha": 0.5)",
       {3},
       "h",
       "Wz Wz.base_module (Wr) (Wr.base_module) Wh Wh.base_module"},
      {"lora_op_rnn", sizes + R"(, "rank": 2, "alpha": 0.5)", {3}, "h", "B"},
      {"sparse_rnn", sizes + ", " + csr, {3}, "h", "inp rec"},
      {"grouped_rnn", R"("groups": 2, "k_in": 3, "k_rec": 2)", {2, 3}, "h", "W"},
      {"embedding_rnn", R"("vocab": 5, "n_rec": 4)", {}, "h", "emb rec", {.integers = true}},
      {"plain_etp_rnn", sizes, {3}, "h", "w_rec [w_in]"},
      {"leaky_rnn", sizes + R"(, "leak": 0.5)", {3}, "h", "inp rec"},
      {"simple_rnn", sizes + R"(, "n_out": 2)", {3}, "h", "w_rec [w_in] [w_out]"},
      {"conv_leaky", R"("leak": 0.5, "conv": )" + conv_of, {4, 4, 1}, "h", "conv"},
      {"conv_rec", R"("conv_in": )" + conv_of + R"(, "conv_rec": )" + conv_to, {4, 4, 1}, "h", "conv_in conv_rec"},
      {"conv_rec_leaky",
       R"("leak": 0.5, "conv_in": )" + conv_of + R"(, "conv_rec": )" + conv_to,
       {4, 4, 1},
       "h",
       "conv_in conv_rec"},
      // neurons and synapses
      {"if", low, {}, "layer.V", "in", {.spikes = true}},
      {"lif", low, {}, "layer.V", "in", {.spikes = true}},
      {"lif_ref", low + R"(, "tau_ref_ms": 2)", {}, "layer.V; layer.since", "in", {.spikes = true}},
      {"alif", low, {}, "layer.V layer.a", "in", {.spikes = true}},
      {"alif_ref", low + R"(, "tau_ref_ms": 2)", {}, "layer.V layer.a; layer.since", "in", {.spikes = true}},
      {"exp_if", cortex, {}, "layer.V", "in", {.drive = 20, .spikes = true}},
      {"exp_if_ref", cortex, {}, "layer.V; layer.since", "in", {.drive = 20, .spikes = true}},
      {"adex_if", cortex, {}, "layer.V layer.w", "in", {.drive = 20, .spikes = true}},
      {"adex_if_ref", cortex, {}, "layer.V layer.w; layer.since", "in", {.drive = 40, .spikes = true}},
      {"qua_if", cortex, {}, "layer.V", "in", {.drive = 20, .spikes = true}},
      {"ad_qua_if", cortex, {}, "layer.V layer.w", "in", {.drive = 20, .spikes = true}},
      {"ad_qua_if_ref", cortex, {}, "layer.V layer.w; layer.since", "in", {.drive = 40, .spikes = true}},
      {"izhikevich", R"("n": 4)", {}, "layer.V layer.u", "in", {.drive = 10, .spikes = true}},
      {"gif_two_currents", R"("n": 4)", {}, "layer.V_th layer.V layer.I1 layer.I2", "in", {.drive = 3, .spikes = true}},
      {"gif_two_currents_ref",
       R"("n": 4)",
       {},
       "layer.V_th layer.V layer.I1 layer.I2; layer.since",
       "in",
       {.drive = 3, .spikes = true}},
      {"cuba_lif", low, {}, "layer.V layer.g", "in", {.spikes = true}},
      {"coba_lif", low, {}, "layer.V layer.g", "in", {.spikes = true}},
      {"li", R"("n": 4)", {}, "layer.V", "in"},
      {"cuba_li", R"("n": 4, "w_in": 3)", {}, "layer.V layer.I", "in"},
      {"integrator", R"("n": 4, "R": 0.2)", {}, "layer.V", "in"},
      {"perfect_if", low + R"(, "R": 0.2)", {}, "layer.V", "in", {.spikes = true}},
      {"filtered_lif", low + R"(, "w_in": 3)", {}, "layer.V layer.I", "in", {.spikes = true}},
      {"scale", R"("n": 4)", {}, "", "[in.weight] [layer.scale]"},
      {"threshold", R"("n": 4, "threshold": 0.2)", {}, "", "[in.weight]", {.spikes = true}},
      {"learnable_delay", R"("n": 4, "max_ms": 3)", {}, "layer.buffer", "in [layer.delay]"},  // the delay acts after it
      {"expon", R"("n": 4)", {}, "layer.g", "in"},
      {"dual_expon", R"("n": 4)", {}, "layer.g_rise; layer.g_decay", "in"},
      {"alpha", R"("n": 4)", {}, "layer.h layer.g", "in"},
      {"stp", R"("n": 4)", {}, "layer.u layer.x", "in", {.gated = true}},
      {"std", R"("n": 4)", {}, "layer.x", "in", {.gated = true}},
      // populations and readouts
      {"sparse_snn",
       sizes + R"(, "V_th": 0.3, "pattern": {"type": "fixed_in_degree", "degree": 2})",
       {3},
       "neu.V",
       "ff rec",
       {.spikes = true}},
      {"snn_delta", sizes + R"(, "V_th": 0.3)", {3}, "neu.V", "syn.comm", {.spikes = true}},
      {"snn_expcu", sizes + R"(, "V_th": 0.3)", {3}, "neu.V syn.syn.g", "syn.comm", {.spikes = true}},
      {"snn",
       sizes +
           R"(, "neuron": {"type": "alif", "V_th": 0.3}, "synapse": {"type": "dual_expon"}, "plasticity": {"type": "std"},
                    "output": {"type": "coba", "E": 4})",
       {3},
       "neu.V neu.a plasticity.x syn.syn.g_rise syn.syn.g_decay",
       "syn.comm",
       {.spikes = true}},
      {"snn_coba", sizes + R"(, "V_th": 0.3)", {3}, "V g_exc g_inh", "w_exc w_inh", {.spikes = true}},
      {"gif_expcu", sizes + R"(, "V_th": 0.3)", {3}, "r.V exp.g r.I2", "ir2r", {.drive = 5, .spikes = true}},
      {"conv_lif", R"("V_th": 0.3, "conv": )" + conv_of, {4, 4, 1}, "syn.g neu.V", "conv", {.spikes = true}},
      {"conv_lif_direct",
       R"("tau_ms": 2, "conv": )" + conv_of,
       {4, 4, 1},
       "neu.V",
       "conv",
       {.drive = 3, .spikes = true}},
      {"leaky_rate_readout", R"("n_in": 3, "n_out": 4)", {3}, "r", "W"},
      {"leaky_spike_readout", R"("n_in": 3, "n": 4)", {3}, "neuron.V", "W", {.spikes = true}},
      {"spike_count", R"("n": 4)", {}, "layer.n", "in"},
      {"first_spike", R"("n": 4)", {}, "layer.t_first", "[in.weight]", {.learns = false}},  // no derivative flows
                                                                                            // through times
      {"delay", R"("n": 4, "steps": 2)", {}, "layer.buffer", "(in)", {.learns = false}},    // it would inside a window
  };
  return rows;
}

}  // namespace braintrace

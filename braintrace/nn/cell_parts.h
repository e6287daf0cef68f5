// SPDX-License-Identifier: Apache-2.0
// Code that recurrent cells share.
#pragma once

#include "braintrace/nn/rnn.h"

namespace braintrace::nn {

// Returns n_in after checking both sizes: a cell that concatenates inputs and states would hide a wrong size.
inline int64_t checked_in(const char* cell, int64_t n_in, int64_t n_rec) {
  Size(n_in).checked(cell, "in_size");
  Size(n_rec).checked(cell, "out_size");
  return n_in;
}
// Options of a cell's Linear.
inline LinearOptions cell_weights(const CellOptions& o, const Initializer& otherwise) {
  return {.w_init = o.w_init.value_or(otherwise), .b_init = o.b_init};
}
// Initial biases of gates with options.memory_steps: log u - `offset` for the gate that keeps a state, -log u for the
// gate that writes it. A cell may have only one of them, or none that memory_steps applies to.
void start_gates(const CellOptions& o, const Linear* keep, const Linear* write, double offset = 0);

// The settings that are shown when a cell is printed.
inline std::vector<std::pair<std::string, std::string>> cell_fields(int64_t n_in, int64_t n_rec, const CellOptions& o,
                                                                    const Activation* phi) {
  std::vector<std::pair<std::string, std::string>> out{
      {"in_size", Size(n_in).text()}, {"out_size", Size(n_rec).text()}, {"state_initializer", o.state_init.text()}};
  if (phi) out.emplace_back("activation", phi->name());
  return out;
}

}  // namespace braintrace::nn

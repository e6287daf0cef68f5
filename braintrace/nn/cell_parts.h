// SPDX-License-Identifier: Apache-2.0
// What the recurrent cells share.
#pragma once

#include "braintrace/nn/rnn.h"

namespace braintrace::nn {

// n_in, after a look at both sizes: a cell that joins inputs and states would hide a wrong one.
inline int64_t checked_in(const char* cell, int64_t n_in, int64_t n_rec) {
  Size(n_in).checked(cell, "in_size");
  Size(n_rec).checked(cell, "out_size");
  return n_in;
}
// Options of a cell's Linear.
inline LinearOptions cell_weights(const CellOptions& o, const Initializer& otherwise) {
  return {.w_init = o.w_init.value_or(otherwise), .b_init = o.b_init};
}
// First biases of gates under options.memory_steps: log u - `offset` for the one that keeps a state, -log u for the one
// that writes it. A cell may have only one of them, or none that could be slow.
void start_gates(const CellOptions& o, const Linear* keep, const Linear* write, double offset = 0);

// What a cell shows of itself when printed.
inline std::vector<std::pair<std::string, std::string>> cell_fields(int64_t n_in, int64_t n_rec, const CellOptions& o,
                                                                    const Activation* phi) {
  std::vector<std::pair<std::string, std::string>> out{
      {"in_size", Size(n_in).text()}, {"out_size", Size(n_rec).text()}, {"state_initializer", o.state_init.text()}};
  if (phi) out.emplace_back("activation", phi->name());
  return out;
}

}  // namespace braintrace::nn

// SPDX-License-Identifier: Apache-2.0
// What the recurrent cells share.
#pragma once

#include "braintrace/nn/rnn.h"

namespace braintrace::nn {

// Options of a cell's Linear.
inline LinearOptions cell_weights(const CellOptions& o, const Initializer& otherwise) {
  return {.w_init = o.w_init.value_or(otherwise), .b_init = o.b_init};
}
// What a cell shows of itself when printed.
inline std::vector<std::pair<std::string, std::string>> cell_fields(int64_t n_in, int64_t n_rec, const CellOptions& o,
                                                                    const Activation* phi) {
  std::vector<std::pair<std::string, std::string>> out{
      {"in_size", Size(n_in).text()}, {"out_size", Size(n_rec).text()}, {"state_initializer", o.state_init.text()}};
  if (phi) out.emplace_back("activation", phi->name());
  return out;
}

}  // namespace braintrace::nn

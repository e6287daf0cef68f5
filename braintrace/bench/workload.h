// SPDX-License-Identifier: Apache-2.0
// The workloads: small networks of one recurrent layer, or of three convolutions, and a readout under a rule, in the
// sizes of docs/performance.md.
#pragma once

#include <string>
#include <vector>

#include "braintrace/bench/training.h"

namespace braintrace::bench {

struct Size {
  int64_t batch, n_in, n;  // conv: pixels of a square image, channels of the first layer
};
struct Workload {
  std::string model, rule;  // rnn, gru, lif or conv; the name of an algorithm
  Mode        mode;
  Size        size;
  int64_t     steps;   // of a sequence; 1 in a stream
  double      spikes;  // fraction of inputs that are one, the others zero; 0: normal numbers
};

// Selection of workloads: empty lists select all, except conv, which is measured only if it is named.
struct Choice {
  std::vector<std::string> models, rules;
  std::vector<Mode>        modes;
  std::vector<Size>        sizes;   // instead of the default sizes
  std::optional<int64_t>   steps;   // default: 100, 20 for conv
  std::optional<double>    spikes;  // default: one input in twenty for lif, one in five for conv, none for the others
  bool                     quick = false;  // a subset: small sequences, no streams of lif
};
std::vector<Workload> workloads(const Choice& choice);

// The network of a workload; its states are not initialized.
std::shared_ptr<Module>  network(const Workload& workload);
inline constexpr int64_t network_outputs = 10;

}  // namespace braintrace::bench

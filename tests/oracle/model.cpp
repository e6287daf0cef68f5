// SPDX-License-Identifier: Apache-2.0
#include "tests/oracle/model.h"

#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "tests/oracle/dice.h"

namespace braintrace::oracle {

namespace {

const char* name_of(Kind k) {
  constexpr const char* names[] = {"input",     "target",       "param",    "old",     "set",  "affine", "tanh",
                                   "sigmoid",   "square",       "spike",    "stop",    "add",  "sub",    "mul",
                                   "select",    "roll",         "mean_sub", "cumsum",  "mean", "concat", "reshape",
                                   "dot",       "matmul",       "lora",     "grouped", "conv", "einsum", "sparse",
                                   "embedding", "element_wise", "output",   "sum"};
  return names[static_cast<int>(k)];
}

}  // namespace

std::string to_text(const Model& m) {
  std::string out =
      fmt::format("seed {}: batch {}, {} steps, input [{}]\n", m.seed, m.batch, m.steps, fmt::join(m.input, ","));
  for (size_t i = 0; i < m.states.size(); ++i)
    out += fmt::format("  state {} [{}]{}\n", i, fmt::join(m.states[i].shape, ","),
                       m.states[i].short_term ? " short-term" : "");
  for (int i = 0; i < static_cast<int>(m.nodes.size()); ++i) {
    const Node& n = m.nodes[i];
    if (i == m.outside) out += "  -- outside the model\n";
    out += fmt::format("  {:2} = {}({})", i, name_of(n.kind), fmt::join(n.in, ", "));
    if (n.index >= 0) out += fmt::format(" #{}", n.index);
    if (n.kind == Kind::Affine) out += fmt::format(" {:.3g} a + {:.3g}", n.number, n.offset);
    out += fmt::format(" [{}{}]\n", n.batched && m.batch > 0 ? "B," : "", fmt::join(n.shape, ","));
  }
  return out;
}

bool reads_old(const Model& m, int state) {
  std::vector<bool> depends(m.nodes.size());
  for (int n = 0; n < m.outside; ++n) {
    const Node& node = m.nodes[n];
    depends[n]       = node.kind == Kind::Old && node.index == state;
    for (int a : node.in) depends[n] = depends[n] || depends[a];
    if (depends[n] && (node.kind == Kind::Set || node.kind == Kind::Output)) return true;
  }
  return false;
}

Data data_of(const Model& m) {
  Dice       dice(m.seed * 7919 + 13);
  const auto normal = [&](int64_t n, double scale) {
    std::vector<double> v;
    for (int64_t i = 0; i < n; ++i) v.push_back(scale * dice.normal());
    return v;
  };
  Data          d;
  const int64_t rows = m.batch > 0 ? m.batch : 1;
  for (const Sizes& s : m.params) d.params.push_back(normal(count(s), s.size() < 2 ? 0.7 : 0.8));
  for (const StateInfo& s : m.states) d.states.push_back(normal(rows * count(s.shape), 0.5));
  for (int64_t t = 0; t < m.steps; ++t) {
    d.inputs.push_back(normal(rows * count(m.input), 1));
    d.targets.push_back(normal(rows * count(m.target), 1));
    d.weights.push_back(t + 1 < m.steps && dice.chance(0.2) ? 0 : 0.5 + dice.unit());
  }
  const int64_t n_out = m.nodes[m.output].shape.back();
  for (const StateInfo& s : m.states) {
    d.feedback_states.push_back(normal(s.shape.back() * s.shape.back(), 0.6));
    d.feedback_outputs.push_back(normal(n_out * s.shape.back(), 0.6));
  }
  return d;
}

}  // namespace braintrace::oracle

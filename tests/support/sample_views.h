// SPDX-License-Identifier: Apache-2.0
// Graph views written by hand, for tests of the pictures that need no compiler.
#pragma once

#include <algorithm>
#include <random>

#include <fmt/format.h>

#include "braintrace/viz/graph_view.h"

namespace braintrace::samples {

inline Type f32(Shape shape) { return {DType::F32, std::move(shape)}; }

// Grows a view piece by piece; edges and records follow from the calls.
struct ViewMaker {
  GraphView view;

  explicit ViewMaker(std::string name) {
    view.model   = std::move(name);
    view.program = "program(; %0: f32[10]) {\n  %1: f32[10] = tanh %0\n  return %1\n}\n";
  }
  std::string input(std::string name, Shape shape) {
    view.inputs.push_back({std::move(name), f32(std::move(shape))});
    return fmt::format("input:{}", view.inputs.size() - 1);
  }
  void output(std::string name, Shape shape, const std::string& from) {
    view.outputs.push_back({std::move(name), f32(std::move(shape))});
    edge(from, fmt::format("output:{}", view.outputs.size() - 1));
  }
  std::string group(std::vector<std::string> paths, int64_t n) {
    const int index = static_cast<int>(view.groups.size());
    for (const std::string& p : paths) view.states.push_back({p, "HiddenState", f32({n}), index});
    const int width = static_cast<int>(paths.size());
    view.groups.push_back({std::move(paths), {n}, width, width, true, true, view.program});
    return fmt::format("group:{}", index);
  }
  void edge(const std::string& from, const std::string& to, EdgeKind kind = EdgeKind::Data) {
    view.edges.push_back({from, to, kind});
  }
  // y = x W + b, read by an operation of the given name.
  std::string operation(const std::string& path, int64_t in, int64_t out, Learns learns, std::string name = "etp_mv") {
    GraphView::Weight w{path, {{"bias", f32({out})}, {"weight", f32({in, out})}}, learns, "", ""};
    view.weights.push_back(w);
    view.operations.push_back({std::move(name),
                               learns != Learns::SameStep,
                               {path},
                               f32({out}),
                               fmt::format("%9: f32[{}] = matmul %3 %4 %5", out)});
    const std::string id = fmt::format("op:{}", view.operations.size() - 1);
    edge("weight:" + path, id, EdgeKind::Weight);
    return id;
  }
  void relate(const std::string& op, int group, std::vector<std::string> states, PathClass path = PathClass::Direct,
              std::vector<std::string> through = {}) {
    GraphView::Relation r;
    r.operation                   = std::stoi(op.substr(3));
    const GraphView::Operation& o = view.operations[static_cast<size_t>(r.operation)];
    const int64_t               S = view.groups[static_cast<size_t>(group)].num_state;
    r.weight_path                 = o.weights[0];
    r.through                     = std::move(through);
    const GraphView::Weight& w =
        *std::find_if(view.weights.begin(), view.weights.end(), [&](const auto& x) { return x.path == r.weight_path; });
    for (const GraphView::Value& leaf : w.leaves) {
      GraphView::Trainable t{leaf.name, {w.path + "." + leaf.name}, {}, {}};
      Type                 type = leaf.type;
      type.shape.push_back(S);
      if (path != PathClass::Windowed) t.traces.push_back({group, type, type.size() * 4});
      r.trainables.push_back(t);
    }
    r.connections.push_back({group, path, states, true, view.program});
    const auto kind = path == PathClass::Windowed ? DiagnosticKind::RelationWindowed : DiagnosticKind::RelationIncluded;
    view.diagnostics.push_back({kind,
                                DiagnosticLevel::Info,
                                "weight " + w.path + " learns online",
                                o.name,
                                w.path,
                                std::move(states),
                                {{"hidden_group_indices", std::to_string(group)}}});
    view.relations.push_back(std::move(r));
  }
  std::string readout(const std::string& path, int64_t in, int64_t out, const std::string& from) {
    const std::string op             = operation(path, in, out, Learns::SameStep);
    view.weights.back().reason       = "relation_excluded_non_temporal";
    view.weights.back().why          = "its result reaches no hidden state";
    view.operations.back().trainable = true;
    edge(from, op);
    output("y", {out}, op);
    view.diagnostics.push_back({DiagnosticKind::RelationExcludedNonTemporal,
                                DiagnosticLevel::Warning,
                                "etp_mv of " + path + ": its result reaches no hidden state",
                                "etp_mv",
                                path,
                                {},
                                {}});
    return op;
  }
};

inline std::string rnn_layer(ViewMaker& m, const std::string& name, const std::string& x, int64_t in, int64_t n) {
  const std::string group = m.group({name + ".h"}, n);
  const std::string op    = m.operation(name + ".W.weight", in + n, n, Learns::Trace);
  m.edge(x, op), m.edge(group, op, EdgeKind::Recurrent), m.edge(op, group);
  m.relate(op, std::stoi(group.substr(6)), {name + ".h"});
  return group;
}

inline std::string gru_layer(ViewMaker& m, const std::string& name, const std::string& x, int64_t in, int64_t n) {
  const std::string group = m.group({name + ".h"}, n);
  const int         g     = std::stoi(group.substr(6));
  const std::string z     = m.operation(name + ".Wz.weight", in + n, n, Learns::Trace);
  const std::string r     = m.operation(name + ".Wr.weight", in + n, n, Learns::Window);
  const std::string h     = m.operation(name + ".Wh.weight", in + n, n, Learns::Trace);
  for (const std::string& op : {z, r, h}) m.edge(x, op), m.edge(group, op, EdgeKind::Recurrent);
  m.edge(z, group), m.edge(h, group), m.edge(r, h), m.edge(group, group, EdgeKind::Recurrent);
  m.relate(z, g, {name + ".h"});
  m.relate(r, g, {name + ".h"}, PathClass::Windowed, {name + ".Wh.weight"});
  m.relate(h, g, {name + ".h"});
  return group;
}

inline GraphView single_layer_rnn() {
  ViewMaker m("SingleLayerRNN");
  m.readout("out.weight", 32, 5, rnn_layer(m, "rnn", m.input("x", {10}), 10, 32));
  return m.view;
}

inline GraphView two_gru_layers() {
  ViewMaker         m("TwoLayerRNN");
  const std::string first = gru_layer(m, "rnn1", m.input("x", {10}), 10, 32);
  m.readout("out.weight", 32, 5, gru_layer(m, "rnn2", first, 32, 32));
  return m.view;
}

inline GraphView lstm() {
  ViewMaker         m("LSTMNet");
  const std::string x     = m.input("x", {10});
  const std::string group = m.group({"lstm.c", "lstm.h"}, 64);
  for (const char* gate : {"Wi", "Wg", "Wf", "Wo"}) {
    const std::string op = m.operation(std::string("lstm.") + gate + ".weight", 74, 64, Learns::Trace);
    m.edge(x, op), m.edge(group, op, EdgeKind::Recurrent), m.edge(op, group);
    if (std::string_view(gate) == "Wo")
      m.relate(op, 0, {"lstm.h"});
    else
      m.relate(op, 0, {"lstm.c", "lstm.h"});
  }
  m.edge(group, group, EdgeKind::Recurrent);
  m.readout("readout.weight", 64, 10, group);
  return m.view;
}

inline GraphView conv_rnn() {
  ViewMaker         m("ConvRNN");
  const std::string x          = m.input("x", {28, 28, 1});
  const std::string conv       = m.operation("conv.weight", 9, 8, Learns::Window, "etp_conv");
  m.view.weights.back().leaves = {{"", f32({3, 3, 1, 8})}};
  m.edge(x, conv);
  const std::string group = rnn_layer(m, "rnn", conv, 6272, 64);
  m.relate(conv, 0, {"rnn.h"}, PathClass::Windowed, {"rnn.W.weight"});
  m.readout("out.weight", 64, 10, group);
  return m.view;
}

inline GraphView deep(int layers) {
  ViewMaker   m(fmt::format("{}-layer net", layers));
  std::string x  = m.input("x", {10});
  int64_t     in = 10;
  for (int i = 0; i < layers; ++i, in = 32)
    x = i % 3 == 1 ? gru_layer(m, fmt::format("layers.{}", i), x, in, 32)
                   : rnn_layer(m, fmt::format("layers.{}", i), x, in, 32);
  m.readout("out.weight", 32, 5, x);
  return m.view;
}

// Any mixture of nodes and edges that the file format allows.
inline GraphView random_view(unsigned seed, int max_nodes) {
  std::mt19937             rng(seed);
  const auto               pick = [&](int n) { return static_cast<int>(rng() % static_cast<unsigned>(n)); };
  ViewMaker                m(fmt::format("random {}", seed));
  std::vector<std::string> ids;
  const int                n = 3 + pick(max_nodes - 2);
  for (int i = 0; i < n; ++i) switch (pick(6)) {
      case 0:
        ids.push_back(m.input(fmt::format("x{}", i), {1 + pick(50)}));
        break;
      case 1:
        ids.push_back(m.group(std::vector<std::string>(1 + pick(3), fmt::format("cell{}.h", i)), 8));
        break;
      case 2:
        m.view.states.push_back({fmt::format("free{}", i), "ShortTermState", f32({3}), -1});
        ids.push_back(fmt::format("state:free{}", i));
        break;
      case 3:
        m.view.weights.push_back({fmt::format("w{}", i), {{"", f32({4})}}, static_cast<Learns>(pick(4)), "", ""});
        ids.push_back(fmt::format("weight:w{}", i));
        break;
      default:
        m.view.operations.push_back({fmt::format("op{}", i), pick(2) == 0, {}, f32({4}), ""});
        ids.push_back(fmt::format("op:{}", m.view.operations.size() - 1));
    }
  m.view.outputs.push_back({"y", f32({2})});
  ids.push_back("output:0");
  for (int i = 0; i < 2 * n; ++i)
    m.edge(ids[static_cast<size_t>(pick(n + 1))], ids[static_cast<size_t>(pick(n + 1))],
           static_cast<EdgeKind>(pick(3)));
  return m.view;
}

}  // namespace braintrace::samples

// SPDX-License-Identifier: Apache-2.0
#include "braintrace/nir/export.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "braintrace/base/json.h"
#include "braintrace/zoo/fields.h"
#include "braintrace/zoo/registry.h"

namespace braintrace::nir {

using nlohmann::json;

namespace {

constexpr double seconds_per_ms = 1e-3;

Array list_of(const Ints& values) {
  return Array::of<int64_t>({values.begin(), values.end()}, {static_cast<int64_t>(values.size())});
}
Array number_of(int64_t value) { return Array::of<int64_t>({value}, {}); }
// One number for each spatial axis; NIR's Conv1d has a number, not a list of one.
Array per_axis(const Ints& values) { return values.size() == 1 ? number_of(values[0]) : list_of(values); }

// Rows and columns exchanged, of a part of the rows: (I, O) as (O, I).
Array outputs_first(const Array& w, int64_t from, int64_t to) {
  const int64_t       outputs = w.shape()[1];
  const Doubles       values(w);
  std::vector<double> out(static_cast<size_t>((to - from) * outputs));
  for (int64_t i = from; i < to; ++i)
    for (int64_t o = 0; o < outputs; ++o)
      out[static_cast<size_t>(o * (to - from) + i - from)] = values[i * outputs + o];
  return from_doubles({w.dtype(), {outputs, to - from}}, out);
}
Array outputs_first(const Array& w) { return outputs_first(w, 0, w.shape()[0]); }

// (*k, I, O) as (O, I, *k)
Array channels_first(const Array& w) {
  const size_t        rank = w.shape().size();
  const int64_t       in = w.shape()[rank - 2], outputs = w.shape()[rank - 1], k = w.size() / (in * outputs);
  const Doubles       values(w);
  std::vector<double> out(static_cast<size_t>(w.size()));
  for (int64_t s = 0; s < k; ++s)
    for (int64_t i = 0; i < in; ++i)
      for (int64_t o = 0; o < outputs; ++o)
        out[static_cast<size_t>((o * in + i) * k + s)] = values[(s * in + i) * outputs + o];
  Shape shape{outputs, in};
  shape.insert(shape.end(), w.shape().begin(), w.shape().end() - 2);
  return from_doubles({w.dtype(), shape}, out);
}

class Exporter {
 public:
  Exporter(const Module& model, const Shape& input) : model_(model) {
    graph_.nodes["input"] = {"Input", {{"shape", list_of(input)}}, {}, {}};
  }

  Graph whole(const json& description) {
    const Names last       = part(description, "", {"input"});
    graph_.nodes["output"] = {"Output", {}, {}, {}};
    join(last, "output");
    if (dt_ms_) graph_.metadata["braintrace_dt_ms"] = fmt::format("{}", *dt_ms_);
    if (!method_.empty()) graph_.metadata["braintrace_method"] = method_;
    fill_shapes();
    return std::move(graph_);
  }

 private:
  using Names = std::vector<std::string>;

  // A description whose input comes from the nodes `from`; returns the nodes that give its output.
  Names part(const json& j, const std::string& path, const Names& from) {
    const std::string type = j.value("type", "");
    if (type == "chain") {
      Names here = from;
      for (size_t i = 0; i < j.at("layers").size(); ++i) {
        const json& layer = j["layers"][i];
        here              = part(layer, below(path, layer.value("name", fmt::format("layer{}", i))), here);
      }
      return here;
    }
    if (type == "graph") return wired(j, path, from);
    return layer(j, path, from);
  }
  static std::string below(const std::string& path, const std::string& name) {
    return path.empty() ? name : path + "." + name;
  }

  Names wired(const json& j, const std::string& path, const Names& from) {
    // A node of a graph becomes one or more; edges lead to the first and from the last.
    std::map<std::string, Names> first, last;
    first["output"] = {};
    for (const json& node : j.at("nodes")) {
      const std::string name  = node.at("name").get<std::string>();
      const size_t      count = graph_.edges.size();
      const std::string gate  = "\n" + below(path, name);  // stands for what comes to it, until edges are known
      last[name]              = part(node, below(path, name), {gate});
      for (size_t e = count; e < graph_.edges.size(); ++e)
        if (graph_.edges[e].first == gate) first[name].push_back(graph_.edges[e].second);
      std::erase_if(graph_.edges, [&](const auto& e) { return e.first == gate; });
    }
    last["input"] = from;
    Names out;
    for (const json& e : j.at("edges")) {
      const std::string a = e[0].get<std::string>(), b = e[1].get<std::string>();
      if (b == "output") out.insert(out.end(), last.at(a).begin(), last.at(a).end());
      for (const std::string& to : first[b]) join(last.at(a), to);
    }
    return out;
  }

  void join(const Names& from, const std::string& to) {
    for (const std::string& f : from) graph_.edges.emplace_back(f, to);
  }
  Names add(const std::string& name, Node node, const Names& from) {
    const std::string full = name.empty() ? "layer" : name;
    require(full != "input" && full != "output" && graph_.nodes.emplace(full, std::move(node)).second,
            "NIR: a layer cannot be called '{}'.", full);
    join(from, full);
    return {full};
  }

  [[noreturn]] static void lossy(const std::string& path, const std::string& type, const std::string& why) {
    fail("layer '{}' ({}): NIR cannot express it: {}", path.empty() ? "model" : path, type, why);
  }

  Array parameter(const std::string& path, const std::string& name, const std::string& leaf = "") const {
    return model_.state_at(Path::dotted(below(path, name))).leaf(leaf).array();
  }
  // A setting of a population: a parameter where it is trainable, else what the description says.
  Array setting(const zoo::Fields& f, const std::string& path, const char* field, const char* state, const Shape& size,
                double factor = 1) const {
    std::vector<double> values(static_cast<size_t>(size_of(size)));
    const Array         given = f.is_object(field) ? parameter(path, state)
                                : f.is_list(field) ? f.array(field).array()
                                                   : Array::scalar(DType::F64, f.number(field));
    for (size_t i = 0; i < values.size(); ++i)
      values[i] = at(given, given.size() == 1 ? 0 : static_cast<int64_t>(i)) * factor;
    return from_doubles({DType::F64, size}, values);
  }

  void step_of(const std::string& path, const std::string& type, double dt_ms, const std::string& method) {
    const auto other = [&](const std::string& what, const std::string& a, const std::string& b) {
      lossy(path, type, fmt::format("its {} is {}, that of another layer {}; one network has one.", what, a, b));
    };
    if (dt_ms_ && *dt_ms_ != dt_ms) other("dt_ms", fmt::format("{}", dt_ms), fmt::format("{}", *dt_ms_));
    if (!method.empty() && !method_.empty() && method_ != method) other("integrator", method, method_);
    dt_ms_ = dt_ms;
    if (!method.empty()) method_ = method;
  }

  Names layer(const json& j, const std::string& path, const Names& from) {
    const std::string type = j.value("type", "");
    for (const zoo::LayerType& t : zoo::layer_types())
      if (t.name == type) return layer(zoo::Fields(j, path, type, zoo::field_specs(t.fields)), type, path, from);
    lossy(path, type, "this type of layer is unknown.");
  }

  Names layer(const zoo::Fields& f, const std::string& type, const std::string& path, const Names& from) {
    if (type == "linear" || type == "plain_linear") {
      const bool  plain = type == "plain_linear";
      const Array w     = plain ? parameter(path, "w") : parameter(path, "weight", "weight");
      Node        node{f.flag("bias") ? "Affine" : "Linear", {{"weight", outputs_first(w)}}, {}, {}};
      if (f.flag("bias")) node.fields["bias"] = plain ? parameter(path, "b") : parameter(path, "weight", "bias");
      if (!plain && f.has("mask")) lossy(path, type, "a masked weight; multiply it by the mask first.");
      return add(path, node, from);
    }
    if (type == "conv1d" || type == "conv2d") return add(path, convolution(f, type, path), from);
    if (type == "pool") return add(path, pool(f, path), from);
    if (type == "flatten")
      return add(path,
                 {"Flatten",
                  {{"kept", list_of(f.integers("n_kept_axes"))}, {"trailing", list_of(f.integers("n_trailing_axes"))}},
                  {},
                  {}},
                 from);
    if (type == "scale") return add(path, {"Scale", {{"scale", parameter(path, "scale")}}, {}, {}}, from);
    if (type == "leaky_rate_readout") return readout(f, path, from);
    if (type == "snn_delta" || type == "snn_expcu") return recurrent(f, type, path, from);
    static const std::vector<std::string> populations = {
        "li", "cuba_li", "integrator", "lif", "if", "perfect_if", "filtered_lif", "threshold", "learnable_delay"};
    if (std::find(populations.begin(), populations.end(), type) == populations.end())
      lossy(path, type, "there is no node for this type of layer.");
    const Shape size = f.integers("n");
    if (type == "threshold") {
      if (!f.flag("strict")) lossy(path, type, "a threshold counts as crossed only above it; set strict to true.");
      return add(path, {"Threshold", {{"threshold", setting(f, path, "threshold", "threshold", size)}}, {}, {}}, from);
    }
    if (type == "learnable_delay") {
      if (f.integer("width") != 1) lossy(path, type, "a kernel wider than one step.");
      step_of(path, type, f.number("dt_ms"), "");
      const Array         ms = parameter(path, "delay");
      std::vector<double> s;
      for (int64_t i = 0; i < ms.size(); ++i)
        s.push_back(std::clamp(at(ms, i), 0.0, f.number("max_ms")) * seconds_per_ms);
      return add(path, {"Delay", {{"delay", from_doubles({DType::F64, ms.shape()}, s)}}, {}, {}}, from);
    }
    return add(path, population(f, type, path, size), from);
  }

  static Node convolution_shape(const zoo::Fields& f, const std::string& type, const std::string& path) {
    const size_t axes = type == "conv1d" ? 1 : 2;
    if (!f.flag("channel_first")) lossy(path, type, "channels come first in NIR; set channel_first to true.");
    if (f.has("mask")) lossy(path, type, "a masked kernel; multiply it by the mask first.");
    for (int64_t d : f.integers("lhs_dilation"))
      if (d != 1) lossy(path, type, "a dilated input (lhs_dilation).");
    const auto each = [&](const char* name) {
      Ints v = f.integers(name);
      if (v.size() == 1) v.assign(axes, v[0]);
      return v;
    };
    Node node{axes == 1 ? "Conv1d" : "Conv2d", {}, {}, {}};
    node.fields["stride"]   = per_axis(each("stride"));
    node.fields["dilation"] = per_axis(each("rhs_dilation"));
    node.fields["groups"]   = number_of(f.integer("groups"));
    if (f.is_text("padding")) {
      const bool same = f.text("padding") == "SAME";
      if (same && each("stride") != Ints(axes, 1)) lossy(path, type, "padding SAME with a stride; give numbers.");
      node.texts["padding"] = same ? "same" : "valid";
    } else {
      Ints padding;
      auto pairs = f.is_list("padding")
                       ? f.pairs("padding")
                       : std::vector<std::pair<int64_t, int64_t>>{{f.integers("padding")[0], f.integers("padding")[0]}};
      if (pairs.size() == 1) pairs.assign(axes, pairs[0]);
      for (const auto& [lo, hi] : pairs) {
        if (lo != hi) lossy(path, type, "padding that differs before and after an axis.");
        padding.push_back(lo);
      }
      node.fields["padding"] = per_axis(padding);
    }
    return node;
  }
  Node convolution(const zoo::Fields& f, const std::string& type, const std::string& path) const {
    Node        node      = convolution_shape(f, type, path);
    const Array kernel    = channels_first(parameter(path, "weight", "weight"));
    const Shape one_each  = {kernel.shape()[0]};
    node.fields["weight"] = kernel;
    node.fields["bias"] =
        f.flag("bias") ? parameter(path, "weight", "bias").reshaped(one_each) : Array(Type{kernel.dtype(), one_each});
    return node;
  }

  static Node pool(const zoo::Fields& f, const std::string& path) {
    const std::string kind   = f.text("kind");
    const Ints        window = f.integers("window");
    Ints              stride = f.has("stride") ? f.integers("stride") : window, padding(2, 0);
    if (!f.flag("channel_first")) lossy(path, "pool", "channels come first in NIR; set channel_first to true.");
    if (window.size() != 2) lossy(path, "pool", "windows of other than two axes.");
    if (stride.size() == 1) stride.assign(2, stride[0]);
    if (kind == "max") lossy(path, "pool", "a maximum.");
    if (f.is_list("padding")) {
      const auto pairs = f.pairs("padding");
      for (size_t a = 0; a < pairs.size() && a < 2; ++a) {
        if (pairs[a].first != pairs[a].second) lossy(path, "pool", "padding that differs before and after an axis.");
        padding[a] = pairs[a].first;
      }
    } else if (f.text("padding") == "SAME") {
      lossy(path, "pool", "padding SAME; give numbers.");
    }
    if (kind == "mean" && padding != Ints(2, 0))
      lossy(path, "pool", "a mean that leaves padding out; take mean_of_all.");
    return {kind == "sum" ? "SumPool2d" : "AvgPool2d",
            {{"kernel_size", list_of(window)}, {"stride", list_of(stride)}, {"padding", list_of(padding)}},
            {},
            {}};
  }

  void add_firing(Node& node, const zoo::Fields& f, const std::string& type, const std::string& path,
                  const Shape& size) const {
    if (f.text("spk_reset") != "hard")
      lossy(path, type, "a soft reset; NIR resets to v_reset. Set spk_reset to \"hard\".");
    node.fields["v_threshold"] = setting(f, path, "V_th", "V_th", size);
    node.fields["v_reset"] =
        type == "if" ? Array(Type{DType::F64, size}) : setting(f, path, "V_reset", "V_reset", size);
  }

  Node population(const zoo::Fields& f, const std::string& type, const std::string& path, const Shape& size) {
    const bool leaks = type != "integrator" && type != "perfect_if";
    const bool fires = type != "integrator" && type != "li" && type != "cuba_li";
    const bool cuba  = type == "cuba_li" || type == "filtered_lif";
    step_of(path, type, f.number("dt_ms"), leaks ? f.text("method") : "");
    Node node;
    if (leaks) {
      node.type                             = cuba ? (fires ? "CubaLIF" : "CubaLI") : fires ? "LIF" : "LI";
      node.fields[cuba ? "tau_mem" : "tau"] = setting(f, path, "tau_ms", "tau", size, seconds_per_ms);
      node.fields["v_leak"] = type == "if" ? Array(Type{DType::F64, size}) : setting(f, path, "V_rest", "V_rest", size);
      node.fields["r"]      = setting(f, path, "R", "R", size);
    } else {
      node.type        = fires ? "IF" : "I";
      node.fields["r"] = setting(f, path, "R", "R", size, 1 / seconds_per_ms);
    }
    if (cuba) {
      node.fields["tau_syn"] = setting(f, path, "tau_syn_ms", "tau_syn", size, seconds_per_ms);
      node.fields["w_in"]    = setting(f, path, "w_in", "w_in", size);
    }
    if (fires) add_firing(node, f, type, path, size);
    return node;
  }

  // r' = a r + x W is one exact step of τ dr/dt = -r + R x W with R = 1/(1 - a).
  Names readout(const zoo::Fields& f, const std::string& path, const Names& from) {
    const double tau = f.number("tau_ms"), dt = f.number("dt_ms"), a = std::exp(-dt / tau);
    const Shape  n = {f.integer("n_out")};
    step_of(path, "leaky_rate_readout", dt, "exp_euler");
    const auto all = [&](double v) {
      return from_doubles({DType::F64, n}, std::vector<double>(static_cast<size_t>(n[0]), v));
    };
    const Names w = add(below(path, "W"), {"Linear", {{"weight", outputs_first(parameter(path, "W"))}}, {}, {}}, from);
    return add(below(path, "r"),
               {"LI", {{"tau", all(tau * seconds_per_ms)}, {"r", all(1 / (1 - a))}, {"v_leak", all(0)}}, {}, {}}, w);
  }

  // Deltas: V' = a V₁ + comm([x; z]) is one exact step with R = 1/(1 - a); the synapse's g' = a g + comm likewise.
  Names recurrent(const zoo::Fields& f, const std::string& type, const std::string& path, const Names& from) {
    const std::string neuron = f.text("neuron");
    if (neuron != "lif" && neuron != "if") lossy(path, type, fmt::format("{} neurons.", neuron));
    const bool   filtered = type == "snn_expcu";
    const Shape  n        = {f.integer("n_rec")};
    const double dt       = f.number("dt_ms");
    if (f.text("method") != "exp_euler") lossy(path, type, "deltas beside forward Euler.");
    step_of(path, type, dt, "exp_euler");
    const auto jump = [&](const Array& tau_s) {  // 1/(1 - e^{-dt/τ})
      std::vector<double> out;
      for (int64_t i = 0; i < tau_s.size(); ++i) out.push_back(1 / (1 - std::exp(-dt * seconds_per_ms / at(tau_s, i))));
      return from_doubles({DType::F64, n}, out);
    };
    const std::string neu = below(path, "neu");
    Node              node{filtered ? "CubaLIF" : "LIF", {}, {}, {}};
    const Array       tau                     = setting(f, neu, "tau_ms", "tau", n, seconds_per_ms);
    node.fields[filtered ? "tau_mem" : "tau"] = tau;
    node.fields["v_leak"] = neuron == "if" ? Array(Type{DType::F64, n}) : setting(f, neu, "V_rest", "V_rest", n);
    node.fields["r"]      = filtered ? setting(f, neu, "R", "R", n) : jump(tau);
    if (filtered) {
      const Array tau_syn    = setting(f, below(path, "syn.syn"), "tau_syn_ms", "tau", n, seconds_per_ms);
      node.fields["tau_syn"] = tau_syn;
      node.fields["w_in"]    = jump(tau_syn);
    }
    add_firing(node, f, neuron, neu, n);
    const Array       w    = parameter(below(path, "syn.comm"), "weight", "weight");
    const int64_t     n_in = f.integer("n_in");
    const std::string lif  = below(path, "neu");
    const Names       in =
        add(below(path, "w_in"),
            {"Affine",
             {{"weight", outputs_first(w, 0, n_in)}, {"bias", parameter(below(path, "syn.comm"), "weight", "bias")}},
             {},
             {}},
            from);
    const Names out = add(lif, node, in);
    if (f.flag("recurrent"))
      join(add(below(path, "w_rec"), {"Linear", {{"weight", outputs_first(w, n_in, w.shape()[0])}}, {}, {}}, out), lif);
    return out;
  }

  // Shapes for readers of the file.
  void fill_shapes() {
    for (auto& [name, node] : graph_.nodes)
      if (node.type == "Flatten") {  // axes from the end; NIR counts them from the front
        const int64_t kept = Integers(node.fields.at("kept"))[0], n = Integers(node.fields.at("trailing"))[0];
        node.fields = {{"start_dim", number_of(-kept - n)}, {"end_dim", number_of(-kept - 1)}};
      }
    const auto shapes = shapes_of(graph_);
    for (auto& [name, node] : graph_.nodes) {
      std::string before;
      for (const auto& [from, to] : graph_.edges)
        if (to == name) before = from;
      if (node.type == "Output") node.fields["shape"] = list_of(shapes.at(name));
      if (before.empty() || !shapes.contains(before)) continue;
      const Shape& in = shapes.at(before);
      if (node.type == "Flatten") {
        const auto axes = static_cast<int64_t>(in.size());
        for (const char* field : {"start_dim", "end_dim"})
          node.fields[field] = number_of(Integers(node.fields.at(field))[0] + axes);
        node.fields["input_type"] = list_of(in);
      }
      if (node.type == "Conv1d") node.fields["input_shape"] = number_of(in[1]);
      if (node.type == "Conv2d") node.fields["input_shape"] = list_of({in[1], in[2]});
    }
  }

  const Module&         model_;
  Graph                 graph_;
  std::optional<double> dt_ms_;
  std::string           method_;
};

}  // namespace

Graph export_graph(const std::string& description, const Module& model, const Shape& input) {
  return Exporter(model, input).whole(read_json(description, "model description"));
}

}  // namespace braintrace::nir

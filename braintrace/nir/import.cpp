// SPDX-License-Identifier: Apache-2.0
#include "braintrace/nir/import.h"

#include <algorithm>
#include <charconv>
#include <set>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "braintrace/base/ascii.h"
#include "braintrace/base/json.h"
#include "braintrace/model/name.h"
#include "braintrace/nir/fields.h"
#include "braintrace/zoo/graph.h"

namespace braintrace::nir {

using nlohmann::ordered_json;

namespace {

constexpr double ms_per_s = 1000;

// A number of the file times a factor, without digits that its element type does not have: 0.02 s in f32 is 20 ms.
double scaled(double value, DType dtype, double factor) {
  if (dtype == DType::F32 || dtype == DType::F16) {
    char       text[32];
    const auto end = std::to_chars(text, text + sizeof text, static_cast<float>(value)).ptr;
    std::from_chars(text, end, value);
  }
  if (factor == 1) return value;
  const std::string digits = fmt::format("{:.15g}", value * factor);
  std::from_chars(digits.data(), digits.data() + digits.size(), value);
  return value;
}

Array transposed(const Array& a) {  // of two axes
  const int64_t       rows = a.shape()[0], columns = a.shape()[1];
  const Doubles       from(a);
  std::vector<double> to(static_cast<size_t>(a.size()));
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = 0; j < columns; ++j) to[static_cast<size_t>(j * rows + i)] = from[i * columns + j];
  return from_doubles({DType::F32, {columns, rows}}, to);
}

// (O, I, *k) as (*k, I, O)
Array channels_last(const Array& a) {
  const int64_t       out = a.shape()[0], in = a.shape()[1], k = a.size() / (out * in);
  const Doubles       from(a);
  std::vector<double> to(static_cast<size_t>(a.size()));
  for (int64_t o = 0; o < out; ++o)
    for (int64_t i = 0; i < in; ++i)
      for (int64_t s = 0; s < k; ++s) to[static_cast<size_t>((s * in + i) * out + o)] = from[(o * in + i) * k + s];
  Shape shape(a.shape().begin() + 2, a.shape().end());
  shape.insert(shape.end(), {in, out});
  return from_doubles({DType::F32, shape}, to);
}

Array filled(const Array& a, const Shape& shape, double factor) {
  std::vector<double> to(static_cast<size_t>(size_of(shape)));
  for (size_t i = 0; i < to.size(); ++i)
    to[i] = scaled(at(a, a.size() == 1 ? 0 : static_cast<int64_t>(i)), a.dtype(), factor);
  return from_doubles({DType::F32, shape}, to);
}

struct Settings {
  double         dt_ms;
  nn::Integrator method;
  nn::Reset      reset;
  std::string    surrogate;
};

Settings settings_of(const Graph& graph, const ImportOptions& o) {
  const auto written = [&](const char* key) {
    const auto it = graph.metadata.find(key);
    return it == graph.metadata.end() ? std::string() : it->second;
  };
  Settings out{1, nn::Integrator::Euler, o.reset, o.surrogate};
  if (const std::string dt = written("braintrace_dt_ms"); !dt.empty())
    std::from_chars(dt.data(), dt.data() + dt.size(), out.dt_ms);
  if (written("braintrace_method") == "exp_euler") out.method = nn::Integrator::ExpEuler;
  out.dt_ms  = o.dt_ms.value_or(out.dt_ms);
  out.method = o.method.value_or(out.method);
  require(out.dt_ms > 0 && out.dt_ms <= 1e9, "dt: expected a positive number of milliseconds, got {}.", out.dt_ms);
  return out;
}

// One layer for one node.
class LayerMaker {
 public:
  LayerMaker(const Settings& settings, Imported& out) : settings_(settings), out_(out) {}

  ordered_json layer(const std::string& name, const NodeFields& f, const Shape& in, const Shape& size) {
    const std::string& type = f.type();
    ordered_json       j    = {{"name", name}};
    if (type == "Linear" || type == "Affine") {
      const Array& w = f.array("weight");
      j.update({{"type", "linear"}, {"n_in", w.shape()[1]}, {"n_out", w.shape()[0]}, {"bias", type == "Affine"}});
      keep(name + ".weight.weight", transposed(w));
      if (type == "Affine") keep(name + ".weight.bias", bias(f, w.shape()[0], {w.shape()[0]}));
    } else if (type == "Conv1d" || type == "Conv2d") {
      convolution(j, f, in);
    } else if (type == "SumPool2d" || type == "AvgPool2d") {
      const Ints pad = f.integers("padding", 2, 0);
      j.update({{"type", "pool"},
                {"kind", type == "SumPool2d" ? "sum" : "mean_of_all"},
                {"window", f.integers("kernel_size", 2, 1)},
                {"stride", f.integers("stride", 2, 1)},
                {"padding", {{pad[0], pad[0]}, {pad[1], pad[1]}}},
                {"channel_first", true}});
    } else if (type == "Flatten") {
      const auto axes = static_cast<int64_t>(in.size());
      int64_t    last = Integers(f.array("end_dim"))[0];
      last            = last < 0 ? last + axes : last;
      j.update({{"type", "flatten"}, {"n_trailing_axes", in.size() - size.size() + 1}});
      if (last + 1 < axes) j["n_kept_axes"] = axes - 1 - last;
    } else if (type == "Scale") {
      j.update({{"type", "scale"}, {"n", units(size)}});
      keep(name + ".scale", filled(f.array("scale"), size, 1));
    } else if (type == "Delay") {
      delay(j, f, size);
    } else if (type == "Threshold") {
      j.update({{"type", "threshold"}, {"n", units(size)}, {"threshold", value(f, "threshold")}});
      j["surrogate"] = settings_.surrogate;
    } else {
      population(j, f, size);
    }
    return j;
  }

 private:
  void keep(const std::string& path, Array array) { out_.weights.emplace(path, std::move(array)); }

  static ordered_json units(const Shape& size) { return size.size() == 1 ? ordered_json(size[0]) : ordered_json(size); }
  // A field of a population: one number where all units share it, else a list.
  static ordered_json value(const NodeFields& f, const char* field, double factor = 1) {
    const Array& a      = f.array(field);
    const bool   shared = [&] {
      for (int64_t i = 1; i < a.size(); ++i)
        if (at(a, i) != at(a, 0)) return false;
      return true;
    }();
    if (shared) return scaled(at(a, 0), a.dtype(), factor);
    ordered_json list = ordered_json::array();
    for (int64_t i = 0; i < a.size(); ++i) list.push_back(scaled(at(a, i), a.dtype(), factor));
    return list;
  }
  static Array bias(const NodeFields& f, int64_t n, const Shape& shape) {
    const Array& b = f.array("bias");
    if (b.size() != n) f.refuse("bias: expected {} numbers, got {}.", n, to_string(b.type()));
    return convert(b, DType::F32).reshaped(shape);
  }

  void convolution(ordered_json& j, const NodeFields& f, const Shape& in) {
    const size_t axes   = f.type() == "Conv1d" ? 1 : 2;
    const Array& w      = f.array("weight");
    const auto   groups = f.integers("groups", 1, 1)[0];
    if (w.shape()[1] * groups != in[0])
      f.refuse("its weight reads {} channels in {} groups, but {} come to it.", w.shape()[1] * groups, groups, in[0]);
    const auto word = f.padding_word();
    if (word == "same" && f.integers("stride", axes, 1) != Ints(axes, 1))
      f.refuse("padding 'same' with a stride has no meaning in NIR.");
    ordered_json padding = word == "same"    ? ordered_json("SAME")
                           : word == "valid" ? ordered_json("VALID")
                                             : ordered_json::array();
    if (word.empty())
      for (int64_t p : f.integers("padding", axes, 0)) padding.push_back({p, p});
    j.update({{"type", axes == 1 ? "conv1d" : "conv2d"},
              {"in_size", in},
              {"out_channels", w.shape()[0]},
              {"kernel_size", Shape(w.shape().begin() + 2, w.shape().end())},
              {"stride", f.integers("stride", axes, 1)},
              {"padding", padding},
              {"rhs_dilation", f.integers("dilation", axes, 1)},
              {"groups", groups},
              {"bias", true},
              {"channel_first", true}});
    const std::string path = j["name"].get<std::string>() + ".weight.";
    Shape             shape(axes + 2, 1);
    shape[1] = w.shape()[0];
    keep(path + "weight", channels_last(w));
    keep(path + "bias", bias(f, w.shape()[0], shape));
  }

  void delay(ordered_json& j, const NodeFields& f, const Shape& size) {
    const Array d       = filled(f.array("delay"), size, ms_per_s);
    double      longest = settings_.dt_ms;
    for (int64_t i = 0; i < d.size(); ++i) {
      if (at(d, i) < 0) f.refuse("a delay of {} ms lies in the future.", at(d, i));
      longest = std::max(longest, at(d, i));
    }
    if (longest / settings_.dt_ms > 1e5 || longest / settings_.dt_ms * static_cast<double>(d.size()) > 1e8)
      f.refuse("a delay of {} ms has too many steps.", longest);
    j.update({{"type", "learnable_delay"}, {"n", units(size)}, {"max_ms", scaled(longest, DType::F32, 1)}});
    j["dt_ms"] = settings_.dt_ms;
    keep(j["name"].get<std::string>() + ".delay", d);
  }

  void time_constant(ordered_json& j, const NodeFields& f, const char* field, const char* as) {
    const Array& a = f.array(field);
    for (int64_t i = 0; i < a.size(); ++i) {
      const double tau = scaled(at(a, i), a.dtype(), ms_per_s);
      if (!(tau > 0)) f.refuse("{}: expected positive times, got {} s.", field, at(a, i));
      if (settings_.method != nn::Integrator::Euler || settings_.dt_ms <= tau * 1.000001) continue;
      f.refuse(
          "{} = {} ms is shorter than a step of {} ms, which forward Euler cannot follow; import with a smaller dt "
          "or with exp_euler.",
          field, tau, settings_.dt_ms);
    }
    j[as] = value(f, field, ms_per_s);
  }

  void firing(ordered_json& j, const NodeFields& f) {
    j["V_th"] = value(f, "v_threshold");
    if (f.has("v_reset")) {
      const Array &reset = f.array("v_reset"), &above = f.array("v_threshold");
      for (int64_t i = 0; i < std::max(reset.size(), above.size()); ++i)
        if (at(reset, reset.size() == 1 ? 0 : i) >= at(above, above.size() == 1 ? 0 : i))
          f.refuse("v_reset {} is not below v_threshold {}.", at(reset, reset.size() == 1 ? 0 : i),
                   at(above, above.size() == 1 ? 0 : i));
      j["V_reset"] = value(f, "v_reset");
    } else {
      const Array& above = f.array("v_threshold");
      for (int64_t i = 0; i < above.size(); ++i)
        if (at(above, i) <= 0) f.refuse("without v_reset, which is then 0, v_threshold must be positive.");
      j["V_reset"] = 0.0;
    }
    j["spk_reset"] = std::string(nn::name_of(settings_.reset));
    j["strict"]    = true;
    j["surrogate"] = settings_.surrogate;
  }

  void population(ordered_json& j, const NodeFields& f, const Shape& size) {
    const std::string& type  = f.type();
    const bool         cuba  = type == "CubaLI" || type == "CubaLIF";
    const bool         fires = type == "IF" || type == "LIF" || type == "CubaLIF";
    if (type == "I" || type == "IF") {
      j.update({{"type", fires ? "perfect_if" : "integrator"}, {"n", units(size)}, {"R", value(f, "r", 1 / ms_per_s)}});
      j["dt_ms"] = settings_.dt_ms;
    } else {
      j.update({{"type", type == "LI"    ? "li"
                         : type == "LIF" ? "lif"
                         : fires         ? "filtered_lif"
                                         : "cuba_li"},
                {"n", units(size)}});
      time_constant(j, f, cuba ? "tau_mem" : "tau", "tau_ms");
      if (cuba) {
        time_constant(j, f, "tau_syn", "tau_syn_ms");
        j["w_in"] = f.has("w_in") ? value(f, "w_in") : ordered_json(1.0);
      }
      j["V_rest"] = value(f, "v_leak");
      j["R"]      = value(f, "r");
      j["dt_ms"]  = settings_.dt_ms;
      j["method"] = std::string(nn::name_of(settings_.method));
      if (j["V_rest"].is_number())
        j["V_init"] = j["V_rest"];
      else
        out_.notes.push_back(fmt::format("{}: its units rest at different potentials; they all start at 0.", f.name()));
    }
    if (fires) firing(j, f);
  }

  const Settings& settings_;
  Imported&       out_;
};

// A name that paths can hold: 'lif1.lif' becomes lif1_lif, '0' becomes layer0.
std::string layer_name(const std::string& name, std::set<std::string>& used) {
  std::string out = name.substr(0, 80);
  for (char& c : out)
    if (!is_name(std::string(1, c))) c = '_';
  if (out.empty() || std::all_of(out.begin(), out.end(), is_digit)) out = "layer" + out;
  if (out == "input" || out == "output") out += "_";
  const std::string first = out;
  for (int i = 2; !used.insert(out).second; ++i) out = fmt::format("{}_{}", first, i);
  return out;
}

}  // namespace

Imported import_graph(const Graph& given, const ImportOptions& options) {
  const Graph       graph    = flat(given);
  const Settings    settings = settings_of(graph, options);
  const std::string input = port(graph, "Input"), output = port(graph, "Output");
  const auto        shapes = shapes_of(graph);
  for (const auto& [name, node] : graph.nodes)
    require(shapes.contains(name), "node '{}' ({}) cannot be reached from the input.", name, node.type);

  // Nodes by number, in the order of a step.
  std::vector<std::string>               names;
  std::vector<bool>                      remembers;
  std::vector<std::pair<size_t, size_t>> between;
  std::vector<size_t>                    from_input;
  for (const auto& [name, node] : graph.nodes) {
    if (name == input || name == output) continue;
    names.push_back(name);
    const std::set<std::string> populations = {"I", "IF", "LI", "LIF", "CubaLI", "CubaLIF"};
    remembers.push_back(populations.contains(node.type));
  }
  const auto index = [&](const std::string& name) {
    return static_cast<size_t>(std::find(names.begin(), names.end(), name) - names.begin());
  };
  for (const auto& [from, to] : graph.edges) {
    if (to == input || from == output) fail("edges: from '{}' to '{}' has the wrong direction.", from, to);
    if (from == input && to != output) from_input.push_back(index(to));
    if (from != input && to != output) between.emplace_back(index(from), index(to));
  }
  const zoo::GraphOrder order = zoo::graph_order(names, remembers, between, from_input);

  Imported                           out;
  LayerMaker                         maker(settings, out);
  std::set<std::string>              used;
  std::map<std::string, std::string> called{{input, "input"}, {output, "output"}};
  ordered_json                       layers = ordered_json::array(), edges = ordered_json::array();
  for (size_t i : order.nodes) {
    const std::string& name = names[i];
    const auto         before =
        std::find_if(graph.edges.begin(), graph.edges.end(), [&](const auto& e) { return e.second == name; });
    called[name] = layer_name(name, used);
    const NodeFields f(name, graph.nodes.at(name));
    layers.push_back(maker.layer(called[name], f, shapes.at(before->first), shapes.at(name)));
  }
  require(!layers.empty(), "the graph has no nodes between its input and its output.");
  for (const auto& [from, to] : graph.edges) edges.push_back({called.at(from), called.at(to)});

  // A chain where every layer reads the one before it, and the first says what it reads.
  bool is_chain = graph.edges.size() == layers.size() + 1 &&
                  (layers[0].contains("n_in") || layers[0].contains("n") || layers[0].contains("in_size"));
  for (size_t i = 0; is_chain && i <= layers.size(); ++i) {
    const std::pair<std::string, std::string> edge = {i == 0 ? input : names[order.nodes[i - 1]],
                                                      i == layers.size() ? output : names[order.nodes[i]]};
    is_chain = std::find(graph.edges.begin(), graph.edges.end(), edge) != graph.edges.end();
  }
  if (layers[0].contains("n_in") && shapes.at(input).size() != 1) is_chain = false;
  ordered_json description = {{"type", is_chain ? "chain" : "graph"}};
  if (is_chain)
    description["layers"] = layers;
  else
    description.update({{"in_size", shapes.at(input)}, {"nodes", layers}, {"edges", edges}});
  out.description = json_text(description, 2);
  return out;
}

}  // namespace braintrace::nir

// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <deque>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "braintrace/base/finite.h"
#include "braintrace/base/nearest.h"
#include "braintrace/nir/fields.h"

namespace braintrace::nir {

namespace {

constexpr double most_units = 1 << 24;

const std::map<std::string, std::vector<const char*>>& populations() {
  static const std::map<std::string, std::vector<const char*>> all = {
      {"Scale", {"scale"}},
      {"Threshold", {"threshold"}},
      {"Delay", {"delay"}},
      {"I", {"r"}},
      {"IF", {"r", "v_threshold", "v_reset"}},
      {"LI", {"tau", "r", "v_leak"}},
      {"LIF", {"tau", "r", "v_leak", "v_threshold", "v_reset"}},
      {"CubaLI", {"tau_syn", "tau_mem", "r", "v_leak", "w_in"}},
      {"CubaLIF", {"tau_syn", "tau_mem", "r", "v_leak", "v_threshold", "v_reset", "w_in"}},
  };
  return all;
}

// Results of windows along an axis.
int64_t windows(const NodeFields& f, int64_t n, int64_t size, int64_t lo, int64_t hi, int64_t stride) {
  if (n + lo + hi < size) f.refuse("a window of {} does not fit into an axis of {}.", size, n);
  return (n + lo + hi - size) / stride + 1;
}

Shape after_convolution(const NodeFields& f, const Shape& in, size_t axes) {
  const Array& w = f.array("weight");
  if (w.shape().size() != axes + 2) f.refuse("weight: expected {} axes, got {}.", axes + 2, to_string(w.type()));
  if (in.size() != axes + 1) f.refuse("it reads {} axes, but {} comes to it.", axes + 1, to_string(in));
  const Ints stride = f.integers("stride", axes, 1), dilation = f.integers("dilation", axes, 1);
  Shape      out{w.shape()[0]};
  const auto word = f.padding_word();
  const Ints pad  = word.empty() ? f.integers("padding", axes, 0) : Ints(axes, 0);
  for (size_t a = 0; a < axes; ++a) {
    const int64_t extent = dilation[a] * (w.shape()[a + 2] - 1) + 1;
    out.push_back(word == "same" ? (in[a + 1] + stride[a] - 1) / stride[a]
                                 : windows(f, in[a + 1], extent, pad[a], pad[a], stride[a]));
  }
  return out;
}

Shape after_pool(const NodeFields& f, const Shape& in) {
  if (in.size() != 3) f.refuse("it reads (channels, height, width), but {} comes to it.", to_string(in));
  const Ints size = f.integers("kernel_size", 2, 1), stride = f.integers("stride", 2, 1),
             pad = f.integers("padding", 2, 0);
  return {in[0], windows(f, in[1], size[0], pad[0], pad[0], stride[0]),
          windows(f, in[2], size[1], pad[1], pad[1], stride[1])};
}

Shape after_flatten(const NodeFields& f, const Shape& in) {
  const auto axes  = static_cast<int64_t>(in.size());
  int64_t    first = Integers(f.array("start_dim"))[0], last = Integers(f.array("end_dim"))[0];
  first = first < 0 ? first + axes : first;
  last  = last < 0 ? last + axes : last;
  if (first < 0 || last < first || last >= axes)
    f.refuse("axes {} to {} cannot be flattened in {} (NIR counts without a batch axis).", first, last, to_string(in));
  Shape   out(in.begin(), in.begin() + first);
  int64_t product = 1;
  for (int64_t a = first; a <= last; ++a) product *= in[static_cast<size_t>(a)];
  out.push_back(product);
  out.insert(out.end(), in.begin() + last + 1, in.end());
  return out;
}

Shape shape_after(const NodeFields& f, const Shape& in) {
  const std::string& type = f.type();
  if (type == "Linear" || type == "Affine") {
    const Array& w = f.array("weight");
    if (w.shape().size() != 2) f.refuse("weight: expected (outputs, inputs), got {}.", to_string(w.type()));
    if (in.empty() || in.back() != w.shape()[1])
      f.refuse("it reads {} numbers, but {} comes to it.", w.shape()[1], to_string(in));
    Shape out  = in;
    out.back() = w.shape()[0];
    return out;
  }
  if (type == "Conv1d" || type == "Conv2d") return after_convolution(f, in, type == "Conv1d" ? 1 : 2);
  if (type == "SumPool2d" || type == "AvgPool2d") return after_pool(f, in);
  if (type == "Flatten") return after_flatten(f, in);
  if (!unit_fields(type).empty()) {
    const Shape own = f.unit_shape(unit_fields(type));
    if (!own.empty() && own != in) f.refuse("it has {} units, but {} comes to it.", to_string(own), to_string(in));
    return in;
  }
  std::vector<std::string> known = {"Affine", "AvgPool2d", "Conv1d", "Conv2d",   "Flatten",
                                    "Input",  "Linear",    "Output", "NIRGraph", "SumPool2d"};
  for (const auto& [name, fields] : populations()) known.push_back(name);
  std::sort(known.begin(), known.end());
  f.refuse("this type is unknown{}\n  Known: {}.", hint(type, known), fmt::join(known, ", "));
}

}  // namespace

const std::vector<const char*>& unit_fields(const std::string& type) {
  static const std::vector<const char*> none;
  const auto                            it = populations().find(type);
  return it == populations().end() ? none : it->second;
}

const Array& NodeFields::array(const char* field) const {
  const auto it = node_.fields.find(field);
  if (it == node_.fields.end()) refuse("the field '{}' is missing.", field);
  if (it->second.size() == 0) refuse("the field '{}' is empty.", field);
  if (!all_finite(it->second)) refuse("the field '{}' holds values that are not finite.", field);
  return it->second;
}

Ints NodeFields::integers(const char* field, size_t n, int64_t least) const {
  const Array& a = array(field);
  if (is_float(a.dtype()) || (a.size() != 1 && a.size() != static_cast<int64_t>(n)))
    refuse("{}: expected one whole number or {}, got {}.", field, n, to_string(a.type()));
  const Integers values(a);
  Ints           out;
  for (size_t i = 0; i < n; ++i) {
    out.push_back(values[a.size() == 1 ? 0 : static_cast<int64_t>(i)]);
    if (out.back() < least || out.back() > (int64_t{1} << 31))
      refuse("{}: expected whole numbers of at least {}, got {}.", field, least, out.back());
  }
  return out;
}

std::string NodeFields::padding_word() const {
  const auto it = node_.texts.find("padding");
  if (it == node_.texts.end()) return "";
  if (it->second != "same" && it->second != "valid")
    refuse("padding: expected numbers, 'same' or 'valid', got '{}'.", it->second);
  return it->second;
}

Shape NodeFields::unit_shape(const std::vector<const char*>& fields) const {
  Shape shape;
  for (const char* field : fields) {
    if (!has(field)) continue;
    const Array& a = array(field);
    if (a.size() == 1) continue;
    if (!shape.empty() && shape != a.shape())
      refuse("its fields differ in shape: {} and {}.", to_string(shape), to_string(a.shape()));
    shape = a.shape();
  }
  return shape;
}

std::string port(const Graph& graph, const char* type) {
  std::string found;
  for (const auto& [name, node] : graph.nodes) {
    if (node.type != type) continue;
    require(found.empty(), "nodes '{}' and '{}': networks with several nodes of type {} are not supported.", found,
            name, type);
    found = name;
  }
  require(!found.empty(), "the graph has no node of type {}.", type);
  return found;
}

namespace {

// A plausible number of units.
void check_size(const NodeFields& f, const Shape& shape) {
  double size = 1;
  for (int64_t d : shape) size *= static_cast<double>(d);
  if (size > most_units) f.refuse("{} units are more than {}.", size, most_units);
}

std::map<std::string, Shape> shapes_from(const Graph& graph, const std::string& input, const Shape& shape) {
  check_size({input, graph.nodes.at(input)}, shape);
  std::map<std::string, Shape> out{{input, shape}};
  std::deque<std::string>      open{input};
  while (!open.empty()) {
    const std::string from = open.front();
    open.pop_front();
    for (const auto& [a, to] : graph.edges) {
      if (a != from) continue;
      const Node& node  = graph.nodes.at(to);
      const Shape given = node.type == "Output" ? out[from] : shape_after({to, node}, out[from]);
      check_size({to, node}, given);
      const auto [it, is_new] = out.emplace(to, given);
      require(is_new || it->second == given, "node '{}' ({}): what comes to it has different shapes: {} and {}.", to,
              node.type, to_string(it->second), to_string(given));
      if (is_new) open.push_back(to);
    }
  }
  return out;
}

}  // namespace

std::map<std::string, Shape> shapes_of(const Graph& graph) {
  const std::string input = port(graph, "Input");
  const NodeFields  f(input, graph.nodes.at(input));
  const Array&      given = f.array("shape");
  if (is_float(given.dtype()) || given.shape().size() > 1 || given.size() > 8)
    f.refuse("shape: expected a list of whole numbers, got {}.", to_string(given.type()));
  const Shape shape = f.integers("shape", static_cast<size_t>(given.size()), 1);
  try {
    return shapes_from(graph, input, shape);
  } catch (const UserError&) {
    if (shape.size() < 2 || shape[0] != 1) throw;
    return shapes_from(graph, input, Shape(shape.begin() + 1, shape.end()));  // some write the batch axis of a sample
  }
}

namespace {

void add_nodes(const Graph& graph, const std::string& prefix, int depth, Graph& out, std::set<std::string>& inner) {
  require(depth < 32, "graphs are nested too deeply.");
  const auto known = [&](const std::string& name) {
    require(graph.nodes.contains(name), "edges: there is no node '{}{}'.", prefix, name);
  };
  for (const auto& [name, node] : graph.nodes) {
    const std::string full = prefix + name;
    if (node.graph) {
      add_nodes(*node.graph, full + ".", depth + 1, out, inner);
      for (const char* type : {"Input", "Output"}) inner.insert(full + "." + port(*node.graph, type));
    } else {
      require(out.nodes.emplace(full, node).second, "two nodes are called '{}'.", full);
    }
  }
  const auto end = [&](const std::string& name, const char* type) {
    const Node& node = graph.nodes.at(name);
    return node.graph ? prefix + name + "." + port(*node.graph, type) : prefix + name;
  };
  for (const auto& [from, to] : graph.edges) {
    known(from);
    known(to);
    const std::string a = end(from, "Output"), b = end(to, "Input");
    out.edges.emplace_back(a, b);
  }
}

}  // namespace

Graph flat(const Graph& graph) {
  Graph                 out;
  std::set<std::string> inner;  // inputs and outputs of nested graphs: what comes to them goes on
  add_nodes(graph, "", 0, out, inner);
  out.metadata = graph.metadata;
  for (const std::string& through : inner) {
    std::vector<std::string>                         before, after;
    std::vector<std::pair<std::string, std::string>> kept;
    for (const auto& [from, to] : out.edges) {
      require(from != to || from != through, "node '{}' leads to itself.", through);
      if (to == through)
        before.push_back(from);
      else if (from == through)
        after.push_back(to);
      else
        kept.emplace_back(from, to);
    }
    require(before.size() * after.size() < 1000000, "node '{}' has too many edges.", through);
    for (const std::string& from : before)
      for (const std::string& to : after) kept.emplace_back(from, to);
    out.edges = std::move(kept);
    out.nodes.erase(through);
  }
  std::set<std::pair<std::string, std::string>> once;
  std::erase_if(out.edges, [&](const auto& e) { return !once.insert(e).second; });
  return out;
}

}  // namespace braintrace::nir

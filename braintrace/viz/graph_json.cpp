// SPDX-License-Identifier: Apache-2.0
// JSON form of a GraphView. The fields of each record are listed once (`fields`); a writer and a reader visit them.
#include <algorithm>

#include <nlohmann/json.hpp>

#include "braintrace/base/json.h"
#include "braintrace/viz/graph_view.h"

namespace braintrace {

namespace {

using Json                        = nlohmann::ordered_json;
constexpr std::string_view schema = "braintrace-graph/1";

constexpr std::string_view learns_names[] = {"trace", "window", "same_step", "unused"};
constexpr std::string_view edge_names[]   = {"weight", "data", "recurrent"};

template <class V>
void fields(V& v, Type& t) {
  v("dtype", t.dtype), v("shape", t.shape);
}
template <class V>
void fields(V& v, GraphView::Value& x) {
  v("name", x.name), v("type", x.type);
}
template <class V>
void fields(V& v, GraphView::State& x) {
  v("path", x.path), v("kind", x.kind), v("type", x.type), v("group", x.group);
}
template <class V>
void fields(V& v, GraphView::Group& x) {
  v("hidden_paths", x.hidden_paths), v("varshape", x.varshape), v("num_state", x.num_state);
  v("trace_state_width", x.trace_state_width), v("is_diagonal_recurrence", x.is_diagonal_recurrence);
  v("diagonal", x.diagonal), v("transition", x.transition);
}
template <class V>
void fields(V& v, GraphView::Weight& x) {
  v("path", x.path), v("leaves", x.leaves), v("learns", x.learns), v("reason", x.reason), v("why", x.why);
}
template <class V>
void fields(V& v, GraphView::Operation& x) {
  v("name", x.name), v("trainable", x.trainable), v("weights", x.weights), v("y", x.y), v("equation", x.equation);
}
template <class V>
void fields(V& v, GraphView::Trace& x) {
  v("group", x.group), v("type", x.type), v("bytes", x.bytes);
}
template <class V>
void fields(V& v, GraphView::Trainable& x) {
  v("key", x.key), v("leaves", x.leaves), v("chain", x.chain), v("traces", x.traces);
}
template <class V>
void fields(V& v, GraphView::Connection& x) {
  v("group", x.group), v("path", x.path), v("hidden_paths", x.hidden_paths);
  v("position_preserving", x.position_preserving), v("tail", x.tail);
}
template <class V>
void fields(V& v, GraphView::Relation& x) {
  v("operation", x.operation), v("weight_path", x.weight_path), v("trainables", x.trainables);
  v("connections", x.connections), v("through", x.through);
}
template <class V>
void fields(V& v, GraphView::Edge& x) {
  v("from", x.from), v("to", x.to), v("kind", x.kind);
}
template <class V>
void fields(V& v, GraphView::Context& x) {
  v("key", x.key), v("text", x.text);
}
template <class V>
void fields(V& v, GraphView::Record& x) {
  v("kind", x.kind), v("level", x.level), v("message", x.message), v("primitive", x.primitive);
  v("weight_path", x.weight_path), v("hidden_paths", x.hidden_paths), v("context", x.context);
}
template <class V>
void fields(V& v, GraphView& x) {
  v("model", x.model), v("inputs", x.inputs), v("outputs", x.outputs), v("states", x.states), v("groups", x.groups);
  v("weights", x.weights), v("operations", x.operations), v("relations", x.relations), v("edges", x.edges);
  v("perturbed", x.perturbed), v("diagnostics", x.diagnostics), v("program", x.program);
}

template <class E>
std::vector<E> every() {
  int n = 0;
  if constexpr (std::is_same_v<E, DType>) return {std::begin(all_dtypes), std::end(all_dtypes)};
  if constexpr (std::is_same_v<E, Learns>) n = std::size(learns_names);
  if constexpr (std::is_same_v<E, EdgeKind>) n = std::size(edge_names);
  if constexpr (std::is_same_v<E, PathClass>) n = 3;
  if constexpr (std::is_same_v<E, DiagnosticLevel>) n = 3;
  if constexpr (std::is_same_v<E, DiagnosticKind>) n = num_diagnostic_kinds;
  std::vector<E> all;
  for (int i = 0; i < n; ++i) all.push_back(static_cast<E>(i));
  return all;
}

template <class T>
concept List = !std::is_same_v<T, std::string> && requires(T x) {
  x.push_back(x[0]);
};

struct Writer {
  Json json = Json::object();

  template <class T>
  void operator()(const char* key, const T& x) {
    json[key] = write(x);
  }
  template <class T>
  static Json write(const T& x) {
    if constexpr (std::is_enum_v<T>) {
      return name_of(x);
    } else if constexpr (std::is_class_v<T> && !std::is_same_v<T, std::string>) {
      Writer inner;
      fields(inner, const_cast<T&>(x));
      return inner.json;
    } else {
      return x;
    }
  }
  template <List T>
  static Json write(const T& xs) {
    Json list = Json::array();
    for (const auto& x : xs) list.push_back(write(x));
    return list;
  }
};

[[noreturn]] void wrong(const std::string& at, const char* expected, const Json& got) {
  fail("graph JSON: at {}: expected {}, got {}.", at, expected, shown_json(got));
}

struct Reader {
  const Json&              json;
  std::string              at;
  std::vector<std::string> seen = {};

  template <class T>
  void operator()(const char* key, T& x) {
    const auto field = json.find(key);
    require(field != json.end(), "graph JSON: at {}: the field \"{}\" is missing.", at, key);
    seen.push_back(key);
    read(*field, x, at + "." + key);
  }
  void refuse_others() const {
    for (const auto& item : json.items())
      require(std::find(seen.begin(), seen.end(), item.key()) != seen.end(),
              "graph JSON: at {}: unknown field \"{}\"; this program reads schema {}.", at, item.key(), schema);
  }

  static void read(const Json& j, std::string& x, const std::string& at) {
    if (!j.is_string()) wrong(at, "a string", j);
    x = j.get<std::string>();
  }
  static void read(const Json& j, bool& x, const std::string& at) {
    if (!j.is_boolean()) wrong(at, "true or false", j);
    x = j.get<bool>();
  }
  static void read(const Json& j, int64_t& x, const std::string& at) {
    const bool huge = j.is_number_unsigned() && j.get<uint64_t>() > static_cast<uint64_t>(INT64_MAX);
    if (!j.is_number_integer() || huge) wrong(at, "a whole number", j);
    x = j.get<int64_t>();
  }
  static void read(const Json& j, int& x, const std::string& at) {
    int64_t wide = 0;
    read(j, wide, at);
    if (wide < INT32_MIN || wide > INT32_MAX) wrong(at, "a number of 32 bits", j);
    x = static_cast<int>(wide);
  }
  template <List T>
  static void read(const Json& j, T& xs, const std::string& at) {
    if (!j.is_array()) wrong(at, "a list", j);
    xs.assign(j.size(), {});
    for (size_t i = 0; i < j.size(); ++i) read(j[i], xs[i], fmt::format("{}[{}]", at, i));
  }
  template <class T>
  static void read(const Json& j, T& x, const std::string& at) {
    if constexpr (std::is_enum_v<T>) {
      std::string name, all;
      read(j, name, at);
      for (T value : every<T>()) {
        if (name_of(value) == name) return void(x = value);
        all += (all.empty() ? "" : ", ") + std::string(name_of(value));
      }
      wrong(at, ("one of " + all).c_str(), j);
    } else {
      if (!j.is_object()) wrong(at, "an object", j);
      Reader inner{j, at};
      fields(inner, x);
      inner.refuse_others();
    }
  }
};

}  // namespace

std::string_view name_of(Learns learns) { return learns_names[static_cast<size_t>(learns)]; }
std::string_view name_of(EdgeKind kind) { return edge_names[static_cast<size_t>(kind)]; }

std::string graph_json(const GraphView& view) {
  Json json = {{"schema", schema}};
  json.update(Writer::write(view));
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

GraphView read_graph_json(std::string_view text) {
  Json json = read_ordered_json(text, "graph JSON");
  if (!json.is_object()) wrong("$", "an object", json);
  std::string found;
  Reader{json, "$"}("schema", found);
  require(found == schema, "graph JSON: at $.schema: expected \"{}\", got \"{}\".", schema, found);
  json.erase("schema");
  GraphView view;
  Reader::read(json, view, "$");
  check(view, "graph JSON");
  return view;
}

}  // namespace braintrace

// SPDX-License-Identifier: Apache-2.0
#include "braintrace/base/json.h"

#include <unordered_set>
#include <vector>

#include <nlohmann/json.hpp>

#include "braintrace/base/ascii.h"
#include "braintrace/base/error.h"

namespace braintrace {

namespace {

std::string shortened(std::string text) {
  if (text.size() > 60) text.replace(57, text.npos, "...");
  return text;
}

// Receives the events of the parser, which itself needs no stack, and builds the value.
template <class Json>
class Listener {
 public:
  Listener(const std::string& where, const JsonLimits& limits) : where_(where), limits_(limits) {}

  Json value;

  bool null() { return add(Json()); }
  bool boolean(bool b) { return add(Json(b)); }
  bool number_integer(int64_t n) { return add(Json(n)); }
  bool number_unsigned(uint64_t n) { return add(Json(n)); }
  bool number_float(double x, const std::string&) { return add(Json(x)); }
  bool string(std::string& s) { return add(Json(std::move(s))); }
  bool binary(typename Json::binary_t&) { return false; }  // no JSON text has these
  bool start_object(size_t) { return open(Json(Json::value_t::object)); }
  bool start_array(size_t) { return open(Json(Json::value_t::array)); }
  bool end_object() { return close(); }
  bool end_array() { return close(); }

  bool key(std::string& name) {
    Level& level = open_.back();
    level.key    = name;
    require(level.keys.insert(name).second, "{}: the field '{}' is given twice.", place(), shortened(name));
    return true;
  }
  bool parse_error(size_t, const std::string&, const nlohmann::detail::exception& error) {
    const std::string_view what = error.what();  // [json.exception.…] words
    const size_t           end  = what.find("] ");
    fail("{}: this is not JSON: {}.", place(), what.substr(end == what.npos ? 0 : end + 2));
  }

 private:
  struct Level {
    Json                            value;
    std::string                     key;  // of the member that comes
    std::unordered_set<std::string> keys = {};
  };

  bool open(Json empty) {
    open_.push_back({std::move(empty), {}});
    require(open_.size() <= limits_.depth, "{}: more than {} nested brackets.", place(), limits_.depth);
    return true;
  }
  bool close() {
    Json done = std::move(open_.back().value);
    open_.pop_back();
    return add(std::move(done));
  }
  bool add(Json&& item) {
    if (open_.empty()) {
      value = std::move(item);
      return true;
    }
    Level& level = open_.back();
    if (level.value.is_array())
      level.value.push_back(std::move(item));
    else
      append(*level.value.template get_ptr<typename Json::object_t*>(), level.key, std::move(item));
    return true;
  }
  // The key is known to be new: an ordered object, which is a list, needs no search.
  template <class Object>
  static void append(Object& object, const std::string& key, Json&& item) {
    if constexpr (requires { object.emplace_back(key, std::move(item)); })
      object.emplace_back(key, std::move(item));
    else
      object.emplace(key, std::move(item));
  }

  // where: at layers[2].n_in
  std::string place() const {
    constexpr size_t most = 8;  // levels that are shown
    std::string      at;
    for (size_t i = 0; i < open_.size() && i < most; ++i) {
      const Level& level = open_[i];
      if (level.value.is_array())
        at += fmt::format("[{}]", level.value.size());
      else if (!level.key.empty())
        at += (at.empty() ? "" : ".") + shortened(level.key);
    }
    if (open_.size() > most) at += "…";
    return at.empty() ? where_ : fmt::format("{}: at {}", where_, at);
  }

  const std::string& where_;
  const JsonLimits&  limits_;
  std::vector<Level> open_;
};

template <class Json>
Json read(std::string_view text, const std::string& where, const JsonLimits& limits) {
  require(text.size() <= limits.bytes, "{}: {} bytes of JSON; at most {} are read.", where, text.size(), limits.bytes);
  require(!trimmed(text).empty(), "{}: expected JSON, got an empty text.", where);
  Listener<Json> listener(where, limits);
  Json::sax_parse(text, &listener);
  return std::move(listener.value);
}

template <class Json>
std::string text_of(const Json& value, int indent) {
  return value.dump(indent, ' ', false, Json::error_handler_t::replace);
}

}  // namespace

nlohmann::json read_json(std::string_view text, const std::string& where, const JsonLimits& limits) {
  return read<nlohmann::json>(text, where, limits);
}
nlohmann::ordered_json read_ordered_json(std::string_view text, const std::string& where, const JsonLimits& limits) {
  return read<nlohmann::ordered_json>(text, where, limits);
}

std::string json_text(const nlohmann::json& value, int indent) { return text_of(value, indent); }
std::string json_text(const nlohmann::ordered_json& value, int indent) { return text_of(value, indent); }
std::string shown_json(const nlohmann::json& value) { return shortened(text_of(value, -1)); }
std::string shown_json(const nlohmann::ordered_json& value) { return shortened(text_of(value, -1)); }

double json_number(const nlohmann::json& value, const std::string& where) {
  require(value.is_number(), "{} must be a number, got {}.", where, shown_json(value));
  return value.get<double>();
}
int64_t json_integer(const nlohmann::json& value, const std::string& where) {
  require(value.is_number_integer(), "{} must be an integer, got {}.", where, shown_json(value));
  return value.get<int64_t>();
}
std::string json_word(const nlohmann::json& value, const std::string& where) {
  require(value.is_string(), "{} must be a string, got {}.", where, shown_json(value));
  return value.get<std::string>();
}

}  // namespace braintrace

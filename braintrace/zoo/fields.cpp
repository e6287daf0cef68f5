// SPDX-License-Identifier: Apache-2.0
#include "braintrace/zoo/fields.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "braintrace/base/json.h"
#include "braintrace/base/nearest.h"

namespace braintrace::zoo {

using nlohmann::json;

namespace {

std::string joined_path(const std::string& path, const std::string& name) {
  return path.empty() ? name : path + "." + name;
}

void collect(const json& j, std::vector<double>& out, Shape& shape, size_t depth, const std::string& where) {
  if (!j.is_array()) {
    require(j.is_number() || j.is_boolean(), "{}: expected numbers, got {}.", where, shown_json(j));
    require(depth == shape.size(), "{}: the nested lists have different depths.", where);
    out.push_back(j.is_boolean() ? double(j.get<bool>()) : j.get<double>());
    return;
  }
  const auto n = static_cast<int64_t>(j.size());
  if (depth == shape.size() && out.empty()) shape.push_back(n);
  require(depth < shape.size() && shape[depth] == n, "{}: the nested lists have different lengths.", where);
  for (const json& item : j) collect(item, out, shape, depth + 1, where);
}

}  // namespace

std::vector<FieldSpec> field_specs(std::string_view text) {
  std::vector<FieldSpec> out;
  for (size_t i = 0; i < text.size();) {
    if (text[i] == ' ') {
      ++i;
      continue;
    }
    const size_t end = std::min(text.find(' ', i), text.size());
    std::string  word(text.substr(i, end - i));
    FieldSpec    f;
    if (const size_t eq = word.find('='); eq != word.npos) {
      f.otherwise = word.substr(eq + 1);
      f.required  = false;
      word.resize(eq);
    } else if (word.back() == '?') {
      f.required = false;
      word.pop_back();
    }
    f.name = word;
    out.push_back(f);
    i = end;
  }
  return out;
}

std::string field_list(const std::string& specs) {
  std::string out;
  for (const FieldSpec& f : field_specs(specs)) {
    out += out.empty() ? "" : ", ";
    out += f.required    ? fmt::format("`{}`", f.name)
           : f.otherwise ? fmt::format("`{} = {}`", f.name, *f.otherwise)
                         : fmt::format("[`{}`]", f.name);
  }
  return out.empty() ? "–" : out;
}

Fields::Fields(const json& object, std::string path, std::string what, std::vector<FieldSpec> specs)
    : json_(&object),
      path_(std::move(path)),
      what_(std::move(what)),
      specs_(std::move(specs)),
      defaults_(std::make_shared<json>(json::object())) {
  const std::string where = path_.empty() ? "model" : path_;
  require(object.is_object(), "{}: expected an object, got {}.", where, shown_json(object));
  std::vector<std::string> names, shown_names;
  for (const FieldSpec& f : specs_) {
    names.push_back(f.name);
    shown_names.push_back(f.required ? f.name : f.otherwise ? f.name + " = " + *f.otherwise : "[" + f.name + "]");
    if (f.otherwise) (*defaults_)[f.name] = read_json(*f.otherwise, f.name);
  }
  const std::string fields = fmt::format("Fields of {}: {}", what_, fmt::join(shown_names, ", "));
  for (const auto& [key, value] : object.items())
    if (key != "type" && key != "name" && std::find(names.begin(), names.end(), key) == names.end())
      fail("{}: {} has no such field{}\n  {}.", joined_path(where, key), what_, hint(key, names), fields);
  for (const FieldSpec& f : specs_)
    require(!f.required || object.contains(f.name), "{}: {} needs this field.\n  {}.", joined_path(where, f.name),
            what_, fields);
}

const json& Fields::at(const std::string& name, const char* expected) const {
  if (const auto it = json_->find(name); it != json_->end()) return *it;
  if (const auto it = defaults_->find(name); it != defaults_->end()) return *it;
  fail("{}: {} needs {} here.", joined_path(path_, name), what_, expected);
}

bool Fields::has(const std::string& name) const {
  const auto it = json_->find(name);
  return it != json_->end() ? !it->is_null() : defaults_->contains(name);
}

void Fields::refuse(const std::string& field, const std::string& why) const {
  fail("{}: {}", joined_path(path_, field), why);
}

int64_t Fields::integer(const std::string& name) const {
  const json& j = at(name, "a positive whole number");
  if (!j.is_number_integer() || j.get<int64_t>() <= 0)
    refuse(name, fmt::format("expected a positive whole number, got {}.", shown_json(j)));
  return j.get<int64_t>();
}
double Fields::number(const std::string& name) const {
  const json& j = at(name, "a number");
  if (!j.is_number()) refuse(name, fmt::format("expected a number, got {}.", shown_json(j)));
  return j.get<double>();
}
std::optional<double> Fields::number_if(const std::string& name) const {
  return has(name) ? std::optional(number(name)) : std::nullopt;
}
bool Fields::flag(const std::string& name) const {
  const json& j = at(name, "true or false");
  if (!j.is_boolean()) refuse(name, fmt::format("expected true or false, got {}.", shown_json(j)));
  return j.get<bool>();
}
std::string Fields::text(const std::string& name) const {
  const json& j = at(name, "a text");
  if (!j.is_string()) refuse(name, fmt::format("expected a string, got {}.", shown_json(j)));
  return j.get<std::string>();
}
std::vector<std::string> Fields::texts(const std::string& name) const {
  const json&              j = at(name, "texts");
  std::vector<std::string> out;
  if (j.is_string()) {
    const auto& list = j.get_ref<const std::string&>();
    for (size_t from = 0; from <= list.size();) {
      const size_t comma = std::min(list.find(',', from), list.size());
      out.push_back(list.substr(from, comma - from));
      from = comma + 1;
    }
    return out;
  }
  if (!j.is_array() || j.empty()) refuse(name, fmt::format("expected strings, got {}.", shown_json(j)));
  for (const json& item : j) {
    if (!item.is_string()) refuse(name, fmt::format("expected strings, got {}.", shown_json(j)));
    out.push_back(item.get<std::string>());
  }
  return out;
}
std::string Fields::choice(const std::string& name, const std::vector<std::string>& allowed) const {
  const std::string t = text(name);
  if (std::find(allowed.begin(), allowed.end(), t) == allowed.end())
    refuse(name, fmt::format("'{}' is unknown{}\n  Allowed: {}.", t, hint(t, allowed), fmt::join(allowed, ", ")));
  return t;
}
Ints Fields::integers(const std::string& name) const {
  const json& j = at(name, "a list of whole numbers");
  Ints        out;
  for (const json& item : j.is_array() ? j : json::array({j})) {
    if (!item.is_number_integer()) refuse(name, fmt::format("expected whole numbers, got {}.", shown_json(j)));
    out.push_back(item.get<int64_t>());
  }
  return out;
}
Tensor Fields::array(const std::string& name) const {
  std::vector<double> values;
  Shape               shape;
  collect(at(name, "numbers"), values, shape, 0, joined_path(path_, name));
  return Tensor(Array::of<double>(values, shape));
}
bool Fields::is_list(const std::string& name) const { return has(name) && at(name, "a value").is_array(); }
bool Fields::is_text(const std::string& name) const { return has(name) && at(name, "a value").is_string(); }
bool Fields::is_object(const std::string& name) const { return has(name) && at(name, "a value").is_object(); }

std::vector<std::pair<int64_t, int64_t>> Fields::pairs(const std::string& name) const {
  std::vector<std::pair<int64_t, int64_t>> out;
  for (const json& item : at(name, "(before, after) pairs")) {
    const bool one = item.is_number_integer();
    if (!one && !(item.is_array() && item.size() == 2 && item[0].is_number_integer() && item[1].is_number_integer()))
      refuse(name, fmt::format("expected whole numbers or pairs of them, got {}.", shown_json(item)));
    out.emplace_back((one ? item : item[0]).get<int64_t>(), (one ? item : item[1]).get<int64_t>());
  }
  return out;
}

const json& Fields::object(const std::string& name) const {
  const json& j = at(name, "an object");
  if (!j.is_object()) refuse(name, fmt::format("expected an object, got {}.", shown_json(j)));
  return j;
}
Fields Fields::nested(const std::string& name, std::string what, std::string_view specs) const {
  return Fields(object(name), joined_path(path_, name), std::move(what), field_specs(specs));
}
std::string Fields::kind_of(const std::string& name, const std::string& kind_key) const {
  const json& j = object(name);
  if (!j.contains(kind_key) || !j[kind_key].is_string())
    refuse(name, fmt::format("needs a string field '{}', got {}.", kind_key, shown_json(j)));
  return j[kind_key].get<std::string>();
}

}  // namespace braintrace::zoo

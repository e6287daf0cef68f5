// SPDX-License-Identifier: Apache-2.0
#include "braintrace/train/section.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "braintrace/base/json.h"
#include "braintrace/base/nearest.h"

namespace braintrace::train {

namespace {

std::vector<zoo::FieldSpec> specs_of(const Section& s) {
  std::vector<zoo::FieldSpec> out;
  for (const Option& o : s.options) out.push_back(zoo::field_specs(o.spec).front());
  return out;
}

}  // namespace

zoo::Fields Section::fields(const nlohmann::json& object, const std::string& path) const {
  return zoo::Fields(object, path, what, specs_of(*this));
}

ordered_json Section::filled(const ordered_json& object, const std::string& path) const {
  fields(nlohmann::json(object), path);
  ordered_json out = ordered_json::object();
  for (const char* name : {"name", "type"})
    if (object.contains(name)) out[name] = object[name];
  for (const zoo::FieldSpec& f : specs_of(*this))
    if (object.contains(f.name))
      out[f.name] = object[f.name];
    else if (f.otherwise)
      out[f.name] = read_ordered_json(*f.otherwise, f.name);
  return out;
}

std::string Section::table() const {
  std::string out;
  const auto  specs = specs_of(*this);
  for (size_t i = 0; i < specs.size(); ++i)
    out += fmt::format("| `{}` | {} | {} |\n", specs[i].name,
                       specs[i].required    ? "required"
                       : specs[i].otherwise ? fmt::format("`{}`", *specs[i].otherwise)
                                            : "",
                       options[i].doc);
  return out;
}

int64_t whole(const zoo::Fields& f, const std::string& name, int64_t least) {
  const double v = f.number(name);
  if (v != std::floor(v) || v < static_cast<double>(least) || v > 9e15)
    f.refuse(name, fmt::format("expected a whole number of at least {}, got {}.", least, v));
  return static_cast<int64_t>(v);
}

std::string kind_named(const ordered_json& object, const std::string& path, const std::vector<std::string>& known) {
  require(object.is_object(), "{}: expected an object, got {}.", path, object.dump());
  require(object.contains("type") && object["type"].is_string(), "{}: needs a string field 'type', one of {}.", path,
          fmt::join(known, ", "));
  const auto name = object["type"].get<std::string>();
  known_index(name, known, path + ".type: there is no");
  return name;
}

}  // namespace braintrace::train

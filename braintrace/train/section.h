// SPDX-License-Identifier: Apache-2.0
// Sections of a configuration: each field is defined once, with its default and meaning; reading, defaults and
// documentation use this definition.
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "braintrace/zoo/fields.h"

namespace braintrace::train {

using nlohmann::ordered_json;

struct Option {
  const char* spec;  // in the format of zoo::field_specs
  const char* doc;
};

struct Section {
  std::string         what;  // in messages
  std::vector<Option> options;

  // The object with missing defaults filled in. Throws UserError for unknown and missing fields.
  ordered_json filled(const ordered_json& object, const std::string& path) const;
  zoo::Fields  fields(const nlohmann::json& object, const std::string& path) const;
  std::string  table() const;  // markdown rows
};

// A kind of optimizer or schedule.
template <class Make>
struct Kind {
  std::string name, doc;
  Section     section;
  Make        make;
};

// An integer of at least `least`.
int64_t whole(const zoo::Fields& f, const std::string& name, int64_t least);

// The kind named by the "type" of an object; throws a UserError that suggests the closest name.
std::string kind_named(const ordered_json& object, const std::string& path, const std::vector<std::string>& known);
template <class Make>
const Kind<Make>& kind_of(const std::vector<Kind<Make>>& kinds, const ordered_json& object, const std::string& path) {
  std::vector<std::string> known;
  for (const auto& k : kinds) known.push_back(k.name);
  const std::string name = kind_named(object, path, known);
  size_t            i    = 0;
  while (kinds[i].name != name) ++i;
  return kinds[i];
}

}  // namespace braintrace::train

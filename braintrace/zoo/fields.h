// SPDX-License-Identifier: Apache-2.0
// Reads model descriptions: one JSON object at a time, checked against the fields that its type declares. Messages name
// the location inside the description and the closest known name.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "braintrace/ir/tensor.h"

namespace braintrace::zoo {

// One field of a type, declared as text: "n_in" is required, "name?" may be missing, "leak=0.5" has a JSON default.
struct FieldSpec {
  std::string                name;
  bool                       required = true;
  std::optional<std::string> otherwise;  // default, as JSON
};
std::vector<FieldSpec> field_specs(std::string_view text);
std::string field_list(const std::string& specs);  // as shown in documentation: `n_in`, [`name`], `leak = 0.5`

class Fields {
 public:
  // Throws UserError if a required field is missing or there is an unknown field.
  Fields(const nlohmann::json& object, std::string path, std::string what, std::vector<FieldSpec> specs);

  const std::string& path() const { return path_; }
  const std::string& what() const { return what_; }
  bool               has(const std::string& name) const;  // given or with a default, and not null

  int64_t                  integer(const std::string& name) const;  // positive
  double                   number(const std::string& name) const;
  std::optional<double>    number_if(const std::string& name) const;  // empty if the field is missing
  bool                     flag(const std::string& name) const;
  std::string              text(const std::string& name) const;
  std::vector<std::string> texts(const std::string& name) const;  // a list, or one text separated by commas
  std::string              choice(const std::string& name, const std::vector<std::string>& allowed) const;
  Ints                     integers(const std::string& name) const;  // a list, or one number
  Tensor                   array(const std::string& name) const;     // numbers, nested lists: f64
  bool                     is_list(const std::string& name) const;
  bool                     is_text(const std::string& name) const;
  bool                     is_object(const std::string& name) const;
  std::vector<std::pair<int64_t, int64_t>> pairs(const std::string& name) const;

  // A nested object, with the fields of its kind. `kind_key` is the field that names the kind.
  const nlohmann::json& object(const std::string& name) const;
  Fields                nested(const std::string& name, std::string what, std::string_view specs) const;
  std::string           kind_of(const std::string& name, const std::string& kind_key) const;

  // Throws a UserError that names this location.
  [[noreturn]] void refuse(const std::string& field, const std::string& why) const;

 private:
  const nlohmann::json& at(const std::string& name, const char* expected) const;

  const nlohmann::json*           json_;
  std::string                     path_, what_;
  std::vector<FieldSpec>          specs_;
  std::shared_ptr<nlohmann::json> defaults_;
};

}  // namespace braintrace::zoo

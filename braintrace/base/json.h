// SPDX-License-Identifier: Apache-2.0
// JSON from outside: files, arguments, records of a stream. All of it is parsed here.
//
// Invalid JSON, a number outside the range of double, a duplicate field, brackets nested too deeply (code that walks a
// value recurses as deeply) and a text that is too long throw a UserError that names the location: `model.json: at
// layers[2].n_in: …`.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <nlohmann/json_fwd.hpp>

namespace braintrace {

struct JsonLimits {
  size_t bytes = size_t{1} << 28;
  size_t depth = 100;  // nested brackets
};

nlohmann::json         read_json(std::string_view text, const std::string& where, const JsonLimits& limits = {});
nlohmann::ordered_json read_ordered_json(std::string_view text, const std::string& where,
                                         const JsonLimits& limits = {});

// The text of a value. Bytes in its strings that are not UTF-8 become U+FFFD.
std::string json_text(const nlohmann::json& value, int indent = -1);
std::string json_text(const nlohmann::ordered_json& value, int indent = -1);
// The same for messages: one line of at most about 60 bytes.
std::string shown_json(const nlohmann::json& value);
std::string shown_json(const nlohmann::ordered_json& value);

// A value converted to the required type; throws a UserError for any other type: "{where} must be a number, got …".
double      json_number(const nlohmann::json& value, const std::string& where);
int64_t     json_integer(const nlohmann::json& value, const std::string& where);
std::string json_word(const nlohmann::json& value, const std::string& where);

}  // namespace braintrace

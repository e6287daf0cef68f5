// SPDX-License-Identifier: Apache-2.0
// JSON that comes from outside: files, arguments, records of a stream. Everything we take goes through here.
//
// Text that is not JSON, a number that no double holds, a field that is given twice, brackets that go too deep (what
// walks through a value afterwards goes as deep on the stack) and a text that is too long throw a UserError, which
// names the place inside: `model.json: at layers[2].n_in: …`.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <nlohmann/json_fwd.hpp>

namespace braintrace {

struct JsonLimits {
  size_t bytes = size_t{1} << 28;
  size_t depth = 100;  // brackets inside each other
};

nlohmann::json         read_json(std::string_view text, const std::string& where, const JsonLimits& limits = {});
nlohmann::ordered_json read_ordered_json(std::string_view text, const std::string& where,
                                         const JsonLimits& limits = {});

// Text of a value, whatever bytes its texts hold: those that are not UTF-8 become U+FFFD.
std::string json_text(const nlohmann::json& value, int indent = -1);
std::string json_text(const nlohmann::ordered_json& value, int indent = -1);
// The same as messages show it: one line of at most about 60 bytes.
std::string shown_json(const nlohmann::json& value);
std::string shown_json(const nlohmann::ordered_json& value);

// A value as what it has to be; a UserError for any other: "{where} must be a number, got …".
double      json_number(const nlohmann::json& value, const std::string& where);
int64_t     json_integer(const nlohmann::json& value, const std::string& where);
std::string json_word(const nlohmann::json& value, const std::string& where);

}  // namespace braintrace

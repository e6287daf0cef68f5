// SPDX-License-Identifier: Apache-2.0
#include "braintrace/stream/record.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include <nlohmann/json.hpp>

#include "braintrace/base/ascii.h"
#include "braintrace/base/counted.h"
#include "braintrace/base/json.h"
#include "braintrace/data/csv_row.h"
#include "braintrace/viz/escape.h"

namespace braintrace::stream {

namespace {

using nlohmann::json;

void flatten(const json& j, const char* name, std::vector<double>& out) {
  if (j.is_array()) {
    for (const json& part : j) flatten(part, name, out);
    return;
  }
  require(j.is_number(), "\"{}\" holds {}; expected numbers.", name, shown_json(j));
  out.push_back(j.get<double>());
}

// Also infinite, as a number that is too large, or not a number.
std::optional<double> number_in(std::string_view text) {
  double     value = 0;
  const auto end   = std::from_chars(text.data(), text.data() + text.size(), value);
  if (end.ec == std::errc::invalid_argument || end.ptr != text.data() + text.size()) return {};
  return end.ec == std::errc::result_out_of_range ? HUGE_VAL : value;
}

// Converts to elements of the model: a finite double may overflow, and an integer may not be representable.
Array converted(const Type& type, const std::vector<double>& values, const char* what) {
  Array a = from_doubles(type, values);
  for (int64_t i = 0; i < a.size(); ++i) {
    const double given = values[static_cast<size_t>(i)];
    require(is_float(type.dtype) ? std::isfinite(at(a, i)) : at(a, i) == given,
            "{} {} is {:g}; expected a {} number of type {}.", what, i + 1, given,
            is_float(type.dtype) ? "finite" : "whole", name_of(type.dtype));
  }
  return a;
}

// A name that stays readable in messages and files.
std::string checked_id(const std::string& id) {
  constexpr size_t longest = 200;
  require(!id.empty() && id.size() <= longest && utf8(id) == id,
          "the id of a member is '{}'; expected 1 to {} bytes of text in UTF-8.", utf8(id.substr(0, 40)), longest);
  return id;
}

}  // namespace

Array RecordParser::input(const std::vector<double>& values) const {
  require(static_cast<int64_t>(values.size()) == input_.size(), "{}, but the model takes {} ({}).",
          counted(values.size(), "input value"), input_.size(), to_string(input_));
  return converted(input_, values, "input");
}

Array RecordParser::target(const std::vector<double>& values) const {
  if (classes_ > 0) {
    require(values.size() == 1, "{} target values; a class is one number.", values.size());
    require(values[0] >= 0 && values[0] < static_cast<double>(classes_) && values[0] == std::floor(values[0]),
            "the target is {}; a class is one of 0 … {}.", values[0], classes_ - 1);
  }
  require(static_cast<int64_t>(values.size()) == target_.size(), "{}, but the model returns {} ({}).",
          counted(values.size(), "target value"), target_.size(), to_string(target_));
  return converted(target_, values, "target");
}

Record RecordParser::parse_json(std::string_view line) const {
  const json j = read_json(line, "record");
  require(j.is_object(), "this is not a JSON object: {}", line.substr(0, 60));
  for (const auto& [key, value] : j.items())
    require(key == "x" || key == "y" || key == "reset" || (has_ids_ && (key == "id" || key == "remove")),
            "there is no field \"{}\"; known: {}.", key.substr(0, 40),
            has_ids_ ? "id, x, y, reset and remove" : "x, y and reset; ids are for --fleet");
  Record r;
  if (has_ids_) {
    require(j.contains("id"), "the field \"id\" is missing; in a fleet every record names its member.");
    const json& id = j["id"];
    require(id.is_string() || id.is_number_integer(), "\"id\" is {}; expected a text or a whole number.",
            shown_json(id));
    r.id = checked_id(id.is_string() ? id.get<std::string>() : id.dump());
    if (j.contains("remove")) {
      require(j["remove"] == true && j.size() == 2, "\"remove\" must be true and stand alone with \"id\".");
      r.remove = true;
      return r;
    }
  }
  if (j.contains("reset")) {
    require(j["reset"].is_boolean(), "\"reset\" must be true or false.");
    r.reset = j["reset"].get<bool>();
  }
  require(j.contains("x") || (r.reset && !j.contains("y")), "the field \"x\" is missing.");
  std::vector<double> values;
  if (j.contains("x")) {
    flatten(j["x"], "x", values);
    r.x = input(values);
  }
  if (j.contains("y") && !j["y"].is_null()) {
    values.clear();
    flatten(j["y"], "y", values);
    r.y = target(values);
  }
  return r;
}

Record RecordParser::parse_csv(std::string_view line, bool is_first) const {
  Record                        r;
  std::string                   unquoted;
  std::vector<std::string_view> cells = data::csv_cells(line, ',', unquoted);
  if (has_ids_) {
    if (is_first && cells[0] == "id") return {};
    r.id = checked_id(std::string(cells[0]));
    cells.erase(cells.begin());
  }
  const size_t fields = cells.size(), inputs = static_cast<size_t>(input_.size()),
               targets = static_cast<size_t>(target_.size());
  require(fields == inputs || fields == inputs + targets, "{}{}; expected {} and {}, or inputs only.",
          counted(fields, "field"), has_ids_ ? " after the id" : "", counted(inputs, "input"),
          counted(targets, "target"));
  std::vector<double> values;
  size_t              empty = 0;
  for (size_t i = 0; i < fields; ++i) {
    const std::string_view field  = trimmed(cells[i]);
    const size_t           number = i + (has_ids_ ? 2 : 1);
    if (field.empty()) {
      require(i >= inputs, "field {} is empty.", number);
      ++empty;
      continue;
    }
    const auto value = number_in(field);
    if (!value && is_first && i == 0) return {};  // names of columns
    require(value && std::isfinite(*value), "field {} is '{}'; expected a finite number.", number, field.substr(0, 40));
    values.push_back(*value);
  }
  require(empty == 0 || empty == targets, "{} of {} targets are empty; give all or none.", empty, targets);
  const auto middle = values.begin() + static_cast<int64_t>(inputs);
  r.x               = input({values.begin(), middle});
  if (middle != values.end()) r.y = target({middle, values.end()});
  return r;
}

Record RecordParser::parse(std::string_view line, bool is_first) const {
  constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";  // at the head of what spreadsheets write
  if (is_first && line.starts_with(byte_order_mark)) line.remove_prefix(byte_order_mark.size());
  line = trimmed(line);
  if (line.empty()) return {};
  const bool is_json = format_ == RecordFormat::Jsonl || (format_ == RecordFormat::Automatic && line[0] == '{');
  return is_json ? parse_json(line) : parse_csv(line, is_first);
}

}  // namespace braintrace::stream

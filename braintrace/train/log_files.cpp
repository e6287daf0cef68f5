// SPDX-License-Identifier: Apache-2.0
#include "braintrace/train/log_files.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <fstream>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "braintrace/base/json.h"
#include "braintrace/viz/escape.h"

namespace braintrace::train {

namespace {

using nlohmann::ordered_json;

// Bytes of a text file to keep: its whole lines up to the first that is not before the checkpoint. `is_before` decides
// for a line; it returns nothing if the line is not a record.
template <class IsBefore>
int64_t kept_lines(const std::string& path, const RunRecord& run, IsBefore is_before) {
  if (run.start_step == 0 || !std::filesystem::exists(path)) return 0;
  std::ifstream file(path, std::ios::binary);
  require(file.good(), "{}: cannot open the log of the run.", path);
  int64_t     kept = 0, number = 0;
  std::string line;
  while (std::getline(file, line) && !file.eof()) {  // what ends without a newline was cut off
    ++number;
    const std::optional<bool> before = is_before(line, number);
    require(before.has_value(), "{}:{}: this is not a line of a run's log.\n  Move the file away, or log elsewhere.",
            path, number);
    if (!*before) break;
    kept += static_cast<int64_t>(line.size()) + 1;
  }
  return kept;
}

// As short as possible and read back exactly.
std::string text(double value) {
  return std::isfinite(value) ? fmt::format("{}", value) : std::isnan(value) ? "nan" : value > 0 ? "inf" : "-inf";
}

std::optional<bool> json_is_before(const RunRecord& run, const std::string& line) {
  ordered_json j;
  try {
    j = read_ordered_json(line, "log");
  } catch (const UserError&) {
    return {};
  }
  if (!j.is_object() || !j.contains("step") || !j["step"].is_number_integer()) return {};
  const auto word = [&](const char* key) {
    return j.contains(key) && j[key].is_string() ? j[key].get<std::string>() : "";
  };
  const auto step = j["step"].get<int64_t>();
  if (word("kind") != "alarm") return is_before_checkpoint(run, step, word("kind") == "validation");
  return std::any_of(run.alarms.begin(), run.alarms.end(), [&](const Alarm& a) {
    return a.step == step && utf8(a.kind) == word("alarm") && utf8(a.where) == word("where");
  });
}

constexpr std::string_view csv_head = "step,part,loss,accuracy,gradient_norm,learning_rate,seconds";

std::optional<bool> csv_is_before(const RunRecord& run, const std::string& line, int64_t number) {
  if (number == 1) return line == csv_head ? std::optional(true) : std::nullopt;
  int64_t    step = 0;
  const auto end  = std::from_chars(line.data(), line.data() + line.size(), step);
  if (end.ec != std::errc() || *end.ptr != ',') return {};
  return is_before_checkpoint(run, step, std::string_view(end.ptr).starts_with(",validation,"));
}

}  // namespace

bool is_before_checkpoint(const RunRecord& run, int64_t step, bool validation) {
  if (!validation) return step <= run.start_step;
  return std::any_of(run.validations.begin(), run.validations.end(),
                     [&](const ValidationRecord& v) { return v.step == step; });
}

void JsonlLog::begin(const RunRecord& run) {
  file_.emplace(path_,
                kept_lines(path_, run, [&](const std::string& line, int64_t) { return json_is_before(run, line); }));
}
void JsonlLog::step(const StepRecord& r) {
  ordered_json j = {{"kind", "step"}, {"step", r.step}, {"loss", r.loss}};
  if (r.accuracy >= 0) j["accuracy"] = r.accuracy;
  j.update({{"gradient_norm", r.gradient_norm}, {"learning_rate", r.learning_rate}, {"seconds", r.seconds}});
  file_->append(j.dump() + "\n");
}
void JsonlLog::validation(const ValidationRecord& r) {
  ordered_json j = {{"kind", "validation"}, {"step", r.step}, {"loss", r.loss}};
  if (r.accuracy >= 0) j["accuracy"] = r.accuracy;
  file_->append(j.dump() + "\n");
}
void JsonlLog::alarm(const Alarm& a) {
  const ordered_json j = {{"kind", "alarm"},
                          {"step", a.step},
                          {"alarm", utf8(a.kind)},
                          {"where", utf8(a.where)},
                          {"message", utf8(a.message)}};
  file_->append(j.dump() + "\n");
}

void CsvLog::begin(const RunRecord& run) {
  const int64_t kept =
      kept_lines(path_, run, [&](const std::string& line, int64_t number) { return csv_is_before(run, line, number); });
  file_.emplace(path_, kept);
  if (kept == 0) file_->append(std::string(csv_head) + "\n");
}
void CsvLog::step(const StepRecord& r) {
  file_->append(fmt::format("{},train,{},{},{},{},{}\n", r.step, text(r.loss), r.accuracy < 0 ? "" : text(r.accuracy),
                            text(r.gradient_norm), text(r.learning_rate), text(r.seconds)));
}
void CsvLog::validation(const ValidationRecord& r) {
  file_->append(fmt::format("{},validation,{},{},,,\n", r.step, text(r.loss), r.accuracy < 0 ? "" : text(r.accuracy)));
}

}  // namespace braintrace::train

// SPDX-License-Identifier: Apache-2.0
#include "braintrace/train/log_files.h"

#include <charconv>
#include <cmath>
#include <filesystem>
#include <fstream>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "braintrace/viz/escape.h"

namespace braintrace::train {

namespace {

using nlohmann::ordered_json;

// Bytes of a text file to keep: its whole lines up to the first whose step is beyond the checkpoint. `step_of` gives
// the step of a line, or nothing where the line is no record.
template <class StepOf>
int64_t kept_lines(const std::string& path, int64_t start_step, StepOf step_of) {
  if (start_step == 0 || !std::filesystem::exists(path)) return 0;
  std::ifstream file(path, std::ios::binary);
  require(file.good(), "{}: cannot open the log of the run.", path);
  int64_t     kept = 0, number = 0;
  std::string line;
  while (std::getline(file, line) && !file.eof()) {  // what ends without a newline was cut off
    ++number;
    const std::optional<int64_t> step = step_of(line, number);
    require(step.has_value(), "{}:{}: this is no line of a run's log.\n  Move the file away, or log elsewhere.", path,
            number);
    if (*step > start_step) break;
    kept += static_cast<int64_t>(line.size()) + 1;
  }
  return kept;
}

// As short as possible and read back exactly.
std::string text(double value) {
  return std::isfinite(value) ? fmt::format("{}", value) : std::isnan(value) ? "nan" : value > 0 ? "inf" : "-inf";
}

std::optional<int64_t> json_step(const std::string& line, int64_t) {
  const auto j = ordered_json::parse(line, nullptr, false);
  if (!j.is_object() || !j.contains("step") || !j["step"].is_number_integer()) return {};
  return j["step"].get<int64_t>();
}

constexpr std::string_view csv_head = "step,part,loss,accuracy,gradient_norm,learning_rate,seconds";

std::optional<int64_t> csv_step(const std::string& line, int64_t number) {
  if (number == 1) return line == csv_head ? std::optional<int64_t>(0) : std::nullopt;
  int64_t    step = 0;
  const auto end  = std::from_chars(line.data(), line.data() + line.size(), step);
  return end.ec == std::errc() && *end.ptr == ',' ? std::optional(step) : std::nullopt;
}

}  // namespace

void JsonlLog::begin(const RunRecord& run) { file_.emplace(path_, kept_lines(path_, run.start_step, json_step)); }
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
  const int64_t kept = kept_lines(path_, run.start_step, csv_step);
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

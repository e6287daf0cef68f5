// SPDX-License-Identifier: Apache-2.0
#include "braintrace/sweep/results.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <fstream>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "braintrace/base/error.h"
#include "braintrace/base/json.h"
#include "braintrace/base/percent.h"
#include "braintrace/io/file.h"
#include "braintrace/train/history.h"

namespace braintrace::sweep {

namespace {

using nlohmann::ordered_json;
using Status = Outcome::Status;

std::optional<double> number_at(const ordered_json& object, const char* key) {
  if (!object.contains(key) || !object[key].is_number()) return {};
  return object[key].get<double>();
}

// A line of metrics.csv: step,part,loss,accuracy,…
struct MetricsLine {
  int64_t          step = 0;
  std::string_view part;
  double           loss = 0, accuracy = -1;
};

double number_in(std::string_view text, double otherwise) {
  double     value = otherwise;
  const auto end   = std::from_chars(text.data(), text.data() + text.size(), value);
  return end.ec == std::errc() ? value : otherwise;
}

std::optional<MetricsLine> metrics_in(std::string_view line) {
  std::array<std::string_view, 4> fields;
  for (size_t i = 0, at = 0; i < fields.size(); ++i) {
    const size_t comma = line.find(',', at);
    if (comma == line.npos) return {};
    fields[i] = line.substr(at, comma - at);
    at        = comma + 1;
  }
  MetricsLine out;
  const auto  end = std::from_chars(fields[0].data(), fields[0].data() + fields[0].size(), out.step);
  if (end.ec != std::errc()) return {};
  out.part     = fields[1];
  out.loss     = number_in(fields[2], NAN);
  out.accuracy = fields[3].empty() ? -1 : number_in(fields[3], -1);
  return out;
}

std::string cell(const std::optional<double>& v) { return v ? fmt::format("{}", *v) : ""; }

ordered_json json_of(const Spread& s) {
  const auto value = [](const std::optional<double>& v) { return v ? ordered_json(*v) : ordered_json(); };
  return {{"mean", value(s.mean)}, {"deviation", value(s.deviation)}};
}

// A text of CSV: quoted if it contains a comma, a quote or a line break.
std::string csv_text(const std::string& text) {
  if (text.find_first_of(",\"\n") == text.npos) return text;
  std::string out = "\"";
  for (char c : text) out += c == '"' ? std::string("\"\"") : std::string(1, c);
  return out + "\"";
}

const char* word_of(Status s) { return s == Status::Finished ? "finished" : s == Status::Failed ? "failed" : "open"; }

}  // namespace

std::optional<Outcome> outcome_in(const std::string& text) {
  try {
    const ordered_json j = read_ordered_json(text, "result");
    if (!j.is_object() || !j.contains("ending") || !j["ending"].is_string()) return {};
    const std::string ending = j["ending"].get<std::string>();
    Outcome           out;
    out.status   = ending == "finished" || ending == "early_stop" ? Status::Finished
                   : ending == "not_finite"                       ? Status::Failed
                                                                  : Status::Open;
    out.updates  = static_cast<int64_t>(number_at(j, "updates").value_or(0));
    out.loss     = number_at(j, "loss");
    out.accuracy = number_at(j, "accuracy");
    return out;
  } catch (const UserError&) {
    return {};
  }
}

Outcome finished_outcome(const std::string& folder) {
  const std::string path = folder + "/result.json";
  if (!std::filesystem::is_regular_file(path)) return {};
  const auto found = outcome_in(read_text(path));
  return found && found->status == Status::Finished ? *found : Outcome();
}

Course read_course(const std::string& path) {
  Course         out;
  train::History history;
  std::ifstream  file(path, std::ios::binary);
  for (std::string line; std::getline(file, line);)
    if (const auto m = metrics_in(line)) {
      if (m->part == "validation")
        out.validations.push_back({m->step, m->loss, m->accuracy});
      else
        history.add({.step = m->step, .loss = m->loss, .accuracy = m->accuracy});
    }
  out.steps = history.stretches();
  return out;
}

train::StepRecord last_step(const std::string& path) {
  constexpr std::streamoff tail = 2048;
  std::ifstream            file(path, std::ios::binary);
  file.seekg(0, std::ios::end);
  const std::streamoff size = file.tellg();
  if (size <= 0) return {};
  file.seekg(std::max<std::streamoff>(0, size - tail));
  train::StepRecord out;
  for (std::string line; std::getline(file, line) && !file.eof();)  // a line without its end is being written
    if (const auto m = metrics_in(line); m && m->part == "train")
      out = {.step = m->step, .loss = m->loss, .accuracy = m->accuracy};
  return out;
}

Spread spread_of(const std::vector<double>& values) {
  if (values.empty()) return {};
  const auto n    = static_cast<double>(values.size());
  double     mean = 0, squares = 0;
  for (double v : values) mean += v / n;
  for (double v : values) squares += (v - mean) * (v - mean);
  if (values.size() == 1) return {mean, {}};
  return {mean, std::sqrt(squares / (n - 1))};
}

std::vector<Row> table_of(const Plan& plan, const std::vector<Outcome>& outcomes) {
  std::vector<Row> rows(plan.points().size());
  for (size_t p = 0; p < rows.size(); ++p) {
    rows[p].point = p;
    std::vector<double> loss, accuracy, updates;
    for (size_t r = 0; r < outcomes.size(); ++r) {
      if (plan.runs()[r].point != p) continue;
      const Outcome& o = outcomes[r];
      ++(o.status == Status::Finished ? rows[p].finished : o.status == Status::Failed ? rows[p].failed : rows[p].open);
      if (o.status != Status::Finished) continue;
      updates.push_back(static_cast<double>(o.updates));
      if (o.loss) loss.push_back(*o.loss);
      if (o.accuracy) accuracy.push_back(*o.accuracy);
    }
    rows[p].loss     = spread_of(loss);
    rows[p].accuracy = spread_of(accuracy);
    rows[p].updates  = spread_of(updates);
  }
  // Smaller is better, in this order; NaN is worse than any number.
  const auto badness = [](const Row& row) {
    const double error = row.accuracy.mean ? -*row.accuracy.mean : INFINITY, loss = row.loss.mean.value_or(INFINITY);
    return std::pair(std::isfinite(error) ? error : INFINITY, std::isfinite(loss) ? loss : INFINITY);
  };
  std::stable_sort(rows.begin(), rows.end(), [&](const Row& a, const Row& b) { return badness(a) < badness(b); });
  return rows;
}

std::string shown(const Spread& s, bool as_percent) {
  if (!s.mean) return "–";
  const auto text = [&](double v) { return as_percent ? percent(v) : fmt::format("{:.4g}", v); };
  return text(*s.mean) + (s.deviation ? " ± " + text(*s.deviation) : "");
}

std::string table_text(const Plan& plan, const std::vector<Row>& rows) {
  const bool has_accuracy = std::any_of(rows.begin(), rows.end(), [](const Row& r) { return r.accuracy.mean; });
  size_t     width        = 5;
  for (const Point& p : plan.points()) width = std::max(width, p.name.size());
  std::string out = fmt::format("{:<{}}  {:>5}  {:<22}  {}\n", "point", width, "runs", "validation loss",
                                has_accuracy ? "accuracy" : "");
  for (const Row& r : rows) {
    const int64_t all = r.finished + r.failed + r.open;
    out += fmt::format("{:<{}}  {:>5}  {:<22}  {}", plan.points()[r.point].name, width,
                       r.finished == all ? fmt::format("{}", all) : fmt::format("{}/{}", r.finished, all),
                       shown(r.loss), has_accuracy ? shown(r.accuracy, true) : "");
    while (out.back() == ' ') out.pop_back();
    out += r.failed ? fmt::format("  {} failed\n", r.failed) : "\n";
  }
  return out;
}

std::string table_csv(const Plan& plan, const std::vector<Row>& rows) {
  std::string out = "rank";
  for (const Axis& a : plan.axes()) out += "," + csv_text(a.field);
  out += ",finished,failed,open,loss_mean,loss_deviation,accuracy_mean,accuracy_deviation,updates_mean\n";
  for (size_t i = 0; i < rows.size(); ++i) {
    const Row& r = rows[i];
    out += fmt::format("{}", i + 1);
    for (const std::string& a : plan.points()[r.point].assignments) out += "," + csv_text(a.substr(a.find('=') + 1));
    out += fmt::format(",{},{},{},{},{},{},{},{}\n", r.finished, r.failed, r.open, cell(r.loss.mean),
                       cell(r.loss.deviation), cell(r.accuracy.mean), cell(r.accuracy.deviation), cell(r.updates.mean));
  }
  return out;
}

std::string table_json(const Plan& plan, const std::vector<Row>& rows, const std::vector<Outcome>& outcomes) {
  ordered_json points = ordered_json::array();
  for (const Row& r : rows) {
    ordered_json values = ordered_json::object(), runs = ordered_json::array();
    for (const std::string& a : plan.points()[r.point].assignments)
      values[a.substr(0, a.find('='))] = a.substr(a.find('=') + 1);
    for (size_t i = 0; i < outcomes.size(); ++i) {
      const Run&     run = plan.runs()[i];
      const Outcome& o   = outcomes[i];
      if (run.point != r.point) continue;
      ordered_json j = {{"seed", run.seed}, {"folder", run.folder}, {"status", word_of(o.status)}};
      if (o.status == Status::Finished) j["updates"] = o.updates;
      if (o.loss) j["loss"] = *o.loss;
      if (o.accuracy) j["accuracy"] = *o.accuracy;
      if (!o.reason.empty()) j["reason"] = o.reason;
      runs.push_back(j);
    }
    points.push_back({{"point", values},
                      {"finished", r.finished},
                      {"failed", r.failed},
                      {"open", r.open},
                      {"loss", json_of(r.loss)},
                      {"accuracy", json_of(r.accuracy)},
                      {"runs", runs}});
  }
  return json_text(ordered_json{{"name", plan.name()}, {"points", points}}, 2) + "\n";
}

}  // namespace braintrace::sweep

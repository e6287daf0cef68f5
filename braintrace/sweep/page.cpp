// SPDX-License-Identifier: Apache-2.0
#include "braintrace/sweep/page.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "braintrace/base/percent.h"
#include "braintrace/train/report_parts.h"
#include "braintrace/viz/chart.h"
#include "braintrace/viz/chart_scale.h"
#include "braintrace/viz/escape.h"

namespace braintrace::sweep {

namespace {

using Status = Outcome::Status;

constexpr size_t most_curves = 8;  // as many as there are colors

// The mean over runs at every step that any of them has.
template <class Record>
Curve mean_curve(const std::string& name, const std::vector<const std::vector<Record>*>& runs, double Record::*field) {
  std::map<int64_t, std::vector<double>> values;
  for (const auto* records : runs)
    for (const Record& r : *records) values[r.step].push_back(r.*field);
  Curve c;
  c.name = name;
  for (const auto& [step, at_step] : values) {
    c.x.push_back(static_cast<double>(step));
    c.y.push_back(*spread_of(at_step).mean);
  }
  return c;
}

// The runs of a point that have something to show.
std::vector<size_t> runs_of(const Plan& plan, size_t point, const std::vector<Course>& courses) {
  std::vector<size_t> out;
  for (size_t r = 0; r < courses.size(); ++r)
    if (plan.runs()[r].point == point && !(courses[r].steps.empty() && courses[r].validations.empty()))
      out.push_back(r);
  return out;
}

template <class Record>
std::vector<const std::vector<Record>*> parts_of(const std::vector<Course>& courses, const std::vector<size_t>& runs,
                                                 std::vector<Record> Course::*part) {
  std::vector<const std::vector<Record>*> out;
  for (size_t r : runs) out.push_back(&(courses[r].*part));
  return out;
}

bool has_accuracy(const std::vector<Course>& courses) {
  return std::any_of(courses.begin(), courses.end(),
                     [](const Course& c) { return !c.validations.empty() && c.validations.back().accuracy >= 0; });
}

// The same four charts for any sets of runs: every set is one curve, the mean of its runs.
std::string overlay(const std::vector<std::pair<std::string, std::vector<size_t>>>& sets,
                    const std::vector<Course>&                                      courses) {
  using train::StepRecord, train::ValidationRecord;
  LineChart training{"Training loss", "update", {}, {}, false, true};
  LineChart loss{"Validation loss", "update", {}, {}, false, true};
  LineChart accuracy{"Validation accuracy", "update", {}, std::pair(0.0, 1.0), true, false};
  for (const auto& [name, runs] : sets) {
    training.curves.push_back(mean_curve(name, parts_of(courses, runs, &Course::steps), &StepRecord::loss));
    training.curves.back().smooth = true;
    const auto validations        = parts_of(courses, runs, &Course::validations);
    loss.curves.push_back(mean_curve(name, validations, &ValidationRecord::loss));
    accuracy.curves.push_back(mean_curve(name, validations, &ValidationRecord::accuracy));
    loss.curves.back().points = accuracy.curves.back().points = true;
  }
  return line_chart(loss) + (has_accuracy(courses) ? line_chart(accuracy) : "") + line_chart(training);
}

std::string table_html(const Plan& plan, const std::vector<Row>& rows) {
  const bool  has_accuracy = std::any_of(rows.begin(), rows.end(), [](const Row& r) { return r.accuracy.mean; });
  std::string out          = "<div class=\"wide\"><table><thead><tr><th>rank</th>";
  if (plan.axes().empty()) out += "<th>point</th>";
  for (const Axis& a : plan.axes()) out += fmt::format("<th>{}</th>", xml_text(a.field));
  out += fmt::format("<th>runs</th><th>validation loss</th>{}<th>failed</th></tr></thead><tbody>\n",
                     has_accuracy ? "<th>accuracy</th>" : "");
  for (size_t i = 0; i < rows.size(); ++i) {
    const Row&   r     = rows[i];
    const Point& point = plan.points()[r.point];
    out += fmt::format("<tr><td>{}</td>", i + 1);
    if (plan.axes().empty()) out += fmt::format("<td>{}</td>", xml_text(point.name));
    for (const std::string& a : point.assignments)
      out += fmt::format("<td><b>{}</b></td>", xml_text(a.substr(a.find('=') + 1)));
    out += fmt::format("<td>{}</td><td>{}</td>", r.finished, xml_text(shown(r.loss)));
    if (has_accuracy) out += fmt::format("<td>{}</td>", xml_text(shown(r.accuracy, true)));
    out += fmt::format("<td>{}</td></tr>\n", r.failed);
  }
  return out + "</tbody></table></div>\n";
}

std::string failures(const Plan& plan, const std::vector<Outcome>& outcomes) {
  std::string out;
  for (size_t r = 0; r < outcomes.size(); ++r)
    if (outcomes[r].status == Status::Failed)
      out += fmt::format("<div class=\"record\"><p><b>{}</b>: {}</p></div>\n", xml_text(plan.runs()[r].name),
                         xml_text(outcomes[r].reason));
  return out;
}

// "copy: sweep of optimizer.lr and rule"
std::string title_of(const Plan& plan) {
  std::string fields;
  for (size_t i = 0; i < plan.axes().size(); ++i)
    fields += (i == 0 ? "" : i + 1 == plan.axes().size() ? " and " : ", ") + plan.axes()[i].field;
  return fmt::format("{}: sweep of {}", plan.name(), fields.empty() ? "seeds" : fields);
}

}  // namespace

std::string sweep_page(const Plan& plan, const std::vector<Row>& rows, const std::vector<Outcome>& outcomes,
                       const std::vector<Course>& courses) {
  int64_t finished = 0, failed = 0;
  for (const Row& r : rows) finished += r.finished, failed += r.failed;
  const Row&  best = rows.front();
  std::string out  = "<dl class=\"tiles\">";
  out += train::tile("points", fmt::format("{}", rows.size()));
  out += train::tile("runs finished", fmt::format("{} of {}", finished, outcomes.size()));
  out += train::tile("runs failed", fmt::format("{}", failed), failed ? "bad" : "");
  if (best.loss.mean) out += train::tile("best point, loss", short_number(*best.loss.mean), "good");
  if (best.accuracy.mean) out += train::tile("best point, accuracy", percent(*best.accuracy.mean), "good");
  out += "</dl>\n";
  out += train::section("Failed runs", "The other runs continued.", failures(plan, outcomes));
  out += train::section("Table",
                        "The last validation of every run: mean over seeds ± standard deviation. The best comes first.",
                        table_html(plan, rows));

  std::vector<std::pair<std::string, std::vector<size_t>>> points, seeds;
  for (const Row& r : rows) {
    const auto runs = runs_of(plan, r.point, courses);
    if (!runs.empty() && points.size() < most_curves) points.emplace_back(plan.points()[r.point].name, runs);
  }
  const auto of_best = runs_of(plan, best.point, courses);
  for (size_t r : of_best)
    if (seeds.size() < most_curves) seeds.emplace_back(fmt::format("seed {}", plan.runs()[r].seed), std::vector{r});
  if (!points.empty())
    out += train::section("Points",
                          rows.size() > most_curves
                              ? fmt::format("The best {} points; each curve is the mean over seeds.", most_curves)
                              : "Each curve is the mean over seeds.",
                          train::charts(overlay(points, courses)));
  if (seeds.size() > 1)
    out += train::section("Seeds of the best point", xml_text(plan.points()[best.point].name),
                          train::charts(overlay(seeds, courses)));
  out += train::section("Settings", "Every run has its own folder with configuration, checkpoints and report.",
                        train::text_block("Configuration", plan.config(), false));
  return train::report_page(title_of(plan), "sweep report",
                            {fmt::format("{} points, {} runs", rows.size(), outcomes.size())}, out);
}

}  // namespace braintrace::sweep

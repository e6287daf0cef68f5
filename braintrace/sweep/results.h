// SPDX-License-Identifier: Apache-2.0
// The results of a sweep: a table with one row per point of the grid, best first.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "braintrace/sweep/plan.h"
#include "braintrace/train/run_record.h"

namespace braintrace::sweep {

struct Outcome {
  enum class Status : uint8_t { Open, Finished, Failed };  // open: not begun, or interrupted
  Status                status   = Status::Open;
  std::string           reason   = {};  // why it failed
  int64_t               updates  = 0;
  std::optional<double> loss     = {};  // of the last validation
  std::optional<double> accuracy = {};
};

// The result that `braintrace train --json` printed about a run, or nothing if it ended in another way.
std::optional<Outcome> outcome_in(const std::string& text);
// The result of a run, from the file `result.json` in its folder, which only finished runs have.
Outcome finished_outcome(const std::string& folder);

// The history of a run in bounded memory, from its metrics.csv; unreadable lines are skipped.
struct Course {
  std::vector<train::StepRecord>       steps;
  std::vector<train::ValidationRecord> validations;
};
Course read_course(const std::string& path);
// The last update in the file, without reading the rest; step 0 if there is none.
train::StepRecord last_step(const std::string& path);

// Mean and standard deviation s = √(Σ (v - mean)² / (n-1)); no deviation for one value, no mean for none.
struct Spread {
  std::optional<double> mean = {}, deviation = {};
};
Spread spread_of(const std::vector<double>& values);

struct Row {
  size_t  point    = 0;
  int64_t finished = 0, failed = 0, open = 0;  // runs
  Spread  loss, accuracy, updates;
};
// Sorted by accuracy, if there is one, then by loss; points without a finished run come last.
std::vector<Row> table_of(const Plan& plan, const std::vector<Outcome>& outcomes);

std::string table_text(const Plan& plan, const std::vector<Row>& rows);  // for a terminal
std::string table_csv(const Plan& plan, const std::vector<Row>& rows);
// The table, with the runs of every point.
std::string table_json(const Plan& plan, const std::vector<Row>& rows, const std::vector<Outcome>& outcomes);
// "0.25 ± 0.01"
std::string shown(const Spread& s, bool as_percent = false);

}  // namespace braintrace::sweep

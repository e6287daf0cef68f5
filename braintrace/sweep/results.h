// SPDX-License-Identifier: Apache-2.0
// What the runs of a sweep reached: a table with a row for every point of the grid, the best first.
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

// What `braintrace train --json` printed about a run, or nothing where it ended in another way.
std::optional<Outcome> outcome_in(const std::string& text);
// Of a run in its folder, from the file `result.json` that only finished runs have.
Outcome finished_outcome(const std::string& folder);

// The course of a run in bounded memory, from its metrics.csv; what cannot be read is left out.
struct Course {
  std::vector<train::StepRecord>       steps;
  std::vector<train::ValidationRecord> validations;
};
Course read_course(const std::string& path);
// The last update in it, without reading the rest; step 0 where there is none.
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
// By accuracy where there is one, then by loss; points without a finished run come last.
std::vector<Row> table_of(const Plan& plan, const std::vector<Outcome>& outcomes);

std::string table_text(const Plan& plan, const std::vector<Row>& rows);  // for a terminal
std::string table_csv(const Plan& plan, const std::vector<Row>& rows);
// The table and, inside every point, its runs.
std::string table_json(const Plan& plan, const std::vector<Row>& rows, const std::vector<Outcome>& outcomes);
// "0.25 ± 0.01"
std::string shown(const Spread& s, bool as_percent = false);

}  // namespace braintrace::sweep

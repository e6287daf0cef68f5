// SPDX-License-Identifier: Apache-2.0
// Tables: a row is a step, columns are named; rows with the same value in column `sequence` are one sequence, or every
// `length` rows are; target at every step, or at the last one. Columns that are not named may hold anything. With
// `ahead` the targets of a step stand so many rows below it: forecasts.
#include "braintrace/data/csv.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "braintrace/tasks/families.h"
#include "braintrace/tasks/sequence_files.h"

namespace braintrace::tasks {

namespace {

class CsvSequences final : public SequenceFile {
 public:
  CsvSequences(const std::string& path, const zoo::Fields& f);

  const TaskFacts& facts() const override { return facts_; }
  bool             is_series() const override { return series_; }
  int64_t          size() const override { return std::ssize(ranges_); }
  int64_t          length(int64_t i) const override { return ranges_[static_cast<size_t>(i)].second; }
  void             read(int64_t i, const Sample& s) const override;
  std::string      place(int64_t i, int64_t t, const std::string& what) const override {
    return fmt::format("{}: row {}, {}", file_.path(), ranges_[static_cast<size_t>(i)].first + t + 1, what);
  }
  std::string name_of_input(size_t k) const override { return column_name(k); }
  std::string name_of_target(size_t k) const override { return column_name(inputs_ + k); }

 private:
  std::string column_name(size_t k) const { return fmt::format("column '{}'", file_.columns()[used_[k]]); }
  void        add_columns(const std::string& names);
  // Rows [from, from + count) of each sequence.
  std::vector<std::pair<int64_t, int64_t>> ranges_by(const std::string& column) const;
  std::vector<std::pair<int64_t, int64_t>> ranges_of(int64_t length) const;

  data::CsvFile                            file_;
  std::vector<size_t>                      used_;  // columns of inputs, then of targets
  size_t                                   inputs_ = 0;
  int64_t                                  ahead_  = 0;
  bool                                     series_ = false, only_last_ = false, has_targets_ = true;
  std::vector<std::pair<int64_t, int64_t>> ranges_;
  TaskFacts                                facts_;
};

std::vector<std::string> names_in(const std::string& list) {
  std::vector<std::string> out;
  for (size_t from = 0; from <= list.size();) {
    const size_t comma = std::min(list.find(',', from), list.size());
    out.push_back(list.substr(from, comma - from));
    from = comma + 1;
  }
  return out;
}

void CsvSequences::add_columns(const std::string& names) {
  for (const std::string& name : names_in(names)) used_.push_back(file_.column(name));
}

std::vector<std::pair<int64_t, int64_t>> CsvSequences::ranges_of(int64_t length) const {
  std::vector<std::pair<int64_t, int64_t>> out;
  for (int64_t from = 0; from + length + ahead_ <= file_.size(); from += length) out.emplace_back(from, length);
  require(!out.empty(), "{}: {} rows are less than one sequence of {}{}.", file_.path(), file_.size(), length,
          ahead_ > 0 ? fmt::format(" and {} ahead", ahead_) : "");
  return out;
}

std::vector<std::pair<int64_t, int64_t>> CsvSequences::ranges_by(const std::string& column) const {
  std::vector<std::pair<int64_t, int64_t>> out;
  const size_t                             id      = file_.column(column);
  double                                   current = 0;
  for (int64_t from = 0; from < file_.size(); from += 4096)
    for (int64_t row = from; const auto& cells : file_.rows(from, std::min<int64_t>(4096, file_.size() - from), {id})) {
      require(!std::isnan(cells[0]), "{}: row {}, column '{}': the cell that names the sequence is missing.",
              file_.path(), row + 1, column);
      if (out.empty() || cells[0] != current) out.emplace_back(row, 0);
      current = cells[0];
      ++out.back().second;
      ++row;
    }
  for (auto& range : out) range.second -= ahead_;
  std::erase_if(out, [](const auto& range) { return range.second < 1; });
  require(!out.empty(), "{}: no sequence has more than {} rows, which \"ahead\" asks for.", file_.path(), ahead_);
  return out;
}

CsvSequences::CsvSequences(const std::string& path, const zoo::Fields& f)
    : file_(path),
      ahead_(f.has("ahead") ? count(f, "ahead") : 0),
      series_(f.has("length")),
      only_last_(f.choice("asked", {"every", "last"}) == "last") {
  add_columns(f.text("inputs"));
  inputs_            = used_.size();
  const auto targets = names_in(f.text("targets"));
  has_targets_       = !f.flag("targets_optional") || file_.has_column(targets[0]);
  if (has_targets_) add_columns(f.text("targets"));
  const bool values = !f.has("classes");
  if (!values && targets.size() != 1) f.refuse("targets", "classes need exactly one column.");
  if (f.has("sequence") == f.has("length"))
    f.refuse("sequence", "either the column `sequence` or the `length` in rows is needed, and not both.");
  if (f.flag("contiguous") && !series_) f.refuse("contiguous", "only pieces of one series, of `length` rows, go on.");
  ranges_        = series_ ? ranges_of(count(f, "length")) : ranges_by(f.text("sequence"));
  facts_.input   = {static_cast<int64_t>(inputs_)};
  facts_.targets = values ? TargetKind::Values : TargetKind::Classes;
  facts_.outputs = values ? std::ssize(targets) : count(f, "classes");
  facts_.ahead   = ahead_;
  for (const auto& [from, length] : ranges_) facts_.length = std::max(facts_.length, length);
}

void CsvSequences::read(int64_t i, const Sample& s) const {
  const auto [from, steps] = ranges_[static_cast<size_t>(i)];
  const auto rows          = file_.rows(from, steps + (has_targets_ ? ahead_ : 0), used_);
  for (int64_t t = 0; t < steps; ++t) {
    for (size_t k = 0; k < inputs_; ++k) s.input(t)[k] = static_cast<float>(rows[static_cast<size_t>(t)][k]);
    if (!has_targets_) continue;
    const auto& row = rows[static_cast<size_t>(t + ahead_)];
    if (facts_.targets == TargetKind::Values) {
      for (size_t k = inputs_; k < row.size(); ++k) s.value(t)[k - inputs_] = static_cast<float>(row[k]);
    } else {
      const double label = row[inputs_];
      if (!std::isnan(label)) check_class(place(i, t + ahead_, column_name(inputs_)), label, facts_.outputs);
      s.classes[static_cast<size_t>(t)] = std::isnan(label) ? missing_class : static_cast<int32_t>(label);
    }
  }
  if (only_last_) s.score_only(steps - 1);
  s.end_at(steps);
}

std::shared_ptr<Task> csv(const zoo::Fields& f, uint64_t seed) {
  return task_of_files(f, seed, [&](const std::string& path) { return std::make_shared<CsvSequences>(path, f); });
}

}  // namespace

std::vector<TaskType> csv_tasks() {
  return {{"csv",
           "columns of a table, a row per step: names of `inputs` and `targets` with commas between; numbers, or one "
           "of so many `classes`; `asked` at `\"every\"` step or at the `\"last\"`; targets of `ahead` rows later",
           with_file_fields("file inputs targets sequence? length? classes? ahead? asked=\"every\" contiguous=false "
                            "targets_optional=false"),
           csv}};
}

}  // namespace braintrace::tasks

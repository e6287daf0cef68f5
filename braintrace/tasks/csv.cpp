// SPDX-License-Identifier: Apache-2.0
// Tables: a row is a step, columns are named; rows with the same value in column `sequence` are one sequence, or every
// `length` rows are; target at every step, or at the last one. Other columns may contain anything. With `ahead`, the
// targets of a step are that many rows below it: forecasts.
#include "braintrace/data/csv.h"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

#include "braintrace/base/lists.h"
#include "braintrace/base/nearest.h"
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
  std::string name_of_input(size_t k) const override { return name_of(inputs_[k]); }
  std::string name_of_target(size_t k) const override { return name_of(targets_[k]); }

 private:
  std::string          name_of(size_t column) const { return fmt::format("column '{}'", file_.columns()[column]); }
  std::vector<size_t>  columns_of(const std::vector<std::string>& names) const;
  std::vector<int32_t> labels(int64_t i) const;
  // Rows [from, from + count) of each sequence.
  std::vector<std::pair<int64_t, int64_t>> ranges_by(const std::string& column) const;
  std::vector<std::pair<int64_t, int64_t>> ranges_of(int64_t length) const;

  data::CsvFile                            file_;
  std::vector<size_t>                      inputs_, targets_;  // columns
  int64_t                                  ahead_  = 0;
  bool                                     series_ = false, only_last_ = false;
  std::vector<std::pair<int64_t, int64_t>> ranges_;
  TaskFacts                                facts_;
};

std::vector<size_t> CsvSequences::columns_of(const std::vector<std::string>& names) const {
  std::vector<size_t> out;
  for (const std::string& name : names) out.push_back(file_.column(name));
  return out;
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
  const size_t                             id = file_.column(column);
  std::string                              current;
  for (int64_t from = 0; from < file_.size(); from += 4096)
    for (int64_t row = from; const auto& name : file_.texts(from, std::min<int64_t>(4096, file_.size() - from), id)) {
      require(!data::is_missing(name), "{}: row {}, column '{}': the cell that names the sequence is missing.",
              file_.path(), row + 1, column);
      if (out.empty() || name != current) out.emplace_back(row, 0);
      current = name;
      ++out.back().second;
      ++row;
    }
  for (auto& range : out) range.second -= ahead_;
  std::erase_if(out, [](const auto& range) { return range.second < 1; });
  require(!out.empty(), "{}: \"ahead\" needs a sequence with more than {} rows.", file_.path(), ahead_);
  return out;
}

CsvSequences::CsvSequences(const std::string& path, const zoo::Fields& f)
    : file_(path),
      ahead_(f.has("ahead") ? count(f, "ahead") : 0),
      series_(f.has("length")),
      only_last_(f.choice("target_at", {"every", "last"}) == "last") {
  inputs_            = columns_of(f.texts("inputs"));
  const auto targets = f.texts("targets");
  facts_.has_targets = !f.flag("targets_optional") || file_.has_column(targets[0]);
  const bool values  = !f.has("classes");
  facts_.class_names = f.is_list("classes") ? f.texts("classes") : std::vector<std::string>{};
  if (facts_.has_targets) targets_ = columns_of(targets);
  if (!values && targets.size() != 1) f.refuse("targets", "classes need exactly one column.");
  if (f.has("sequence") == f.has("length"))
    f.refuse("sequence", "give either the column `sequence` or the `length` in rows, not both.");
  if (f.flag("contiguous") && !series_)
    f.refuse("contiguous", "only pieces of one series (`length` rows each) can be contiguous.");
  ranges_        = series_ ? ranges_of(count(f, "length")) : ranges_by(f.text("sequence"));
  facts_.input   = {std::ssize(inputs_)};
  facts_.targets = values ? TargetKind::Values : TargetKind::Classes;
  facts_.outputs = values                       ? std::ssize(targets)
                   : facts_.class_names.empty() ? count(f, "classes")
                                                : std::ssize(facts_.class_names);
  facts_.ahead   = ahead_;
  for (const auto& [from, length] : ranges_) facts_.length = std::max(facts_.length, length);
}

// Whole numbers, or names from the list of classes.
std::vector<int32_t> CsvSequences::labels(int64_t i) const {
  const auto [from, steps]              = ranges_[static_cast<size_t>(i)];
  const std::vector<std::string>& names = facts_.class_names;
  const auto                      cells = file_.texts(from + ahead_, steps, targets_[0]);
  std::vector<int32_t>            out(cells.size(), missing_class);
  for (size_t t = 0; t < cells.size(); ++t) {
    const std::string& cell = cells[t];
    if (data::is_missing(cell)) continue;
    const std::string here = place(i, static_cast<int64_t>(t) + ahead_, name_of(targets_[0]));
    if (!names.empty()) {
      out[t] = static_cast<int32_t>(known_index(cell, names, here + ": there is no class", "Classes"));
      continue;
    }
    double     x   = 0;
    const auto end = std::from_chars(cell.data(), cell.data() + cell.size(), x);
    require(
        end.ec == std::errc() && end.ptr == cell.data() + cell.size(),
        "{}: expected the number of a class, found '{}'.\n  Classes that are texts are listed: \"classes\": [\"{}\", "
        "…].",
        here, cell.substr(0, 40), cell.substr(0, 40));
    check_class(here, x, facts_.outputs);
    out[t] = static_cast<int32_t>(x);
  }
  return out;
}

void CsvSequences::read(int64_t i, const Sample& s) const {
  const auto [from, steps] = ranges_[static_cast<size_t>(i)];
  const bool values        = facts_.targets == TargetKind::Values;
  const auto rows     = file_.rows(from, steps + (values ? ahead_ : 0), values ? joined(inputs_, targets_) : inputs_);
  const auto as_float = [](double x) { return static_cast<float>(x); };
  for (size_t t = 0; t < static_cast<size_t>(steps); ++t) {
    std::transform(rows[t].begin(), rows[t].begin() + std::ssize(inputs_), s.input(static_cast<int64_t>(t)).begin(),
                   as_float);
    if (!values) continue;
    const auto& later = rows[t + static_cast<size_t>(ahead_)];
    std::transform(later.begin() + std::ssize(inputs_), later.end(), s.value(static_cast<int64_t>(t)).begin(),
                   as_float);
  }
  if (facts_.has_targets && !values) std::ranges::copy(labels(i), s.classes.begin());
  if (only_last_) s.score_only(steps - 1);
  s.end_at(steps);
}

std::shared_ptr<Task> csv(const zoo::Fields& f, uint64_t seed) {
  return task_of_files(f, seed, [&](const std::string& path) { return std::make_shared<CsvSequences>(path, f); });
}

}  // namespace

std::vector<TaskType> csv_tasks() {
  return {
      {"csv",
       "columns of a table, one row per step; `inputs` and `targets` name columns, as a list or separated by commas; "
       "targets are numbers, or classes if `classes` is their number or a list of their names; `target_at`: a target "
       "at "
       "`\"every\"` step or only at the `\"last\"`; `ahead`: take targets that many rows later",
       with_file_fields("file inputs targets sequence? length? classes? ahead? target_at=\"every\" contiguous=false "
                        "targets_optional=false"),
       csv}};
}

}  // namespace braintrace::tasks

// SPDX-License-Identifier: Apache-2.0
// Time series with one label each, as archives distribute them (data/series.h): .ts, .arff or UCR's .tsv.
#include <algorithm>

#include <fmt/format.h>

#include "braintrace/data/series.h"
#include "braintrace/tasks/families.h"
#include "braintrace/tasks/sequence_files.h"

namespace braintrace::tasks {

namespace {

class SeriesSequences final : public SequenceFile {
 public:
  SeriesSequences(const std::string& path, const zoo::Fields& f)
      : file_(data::read_series(path)), only_last_(f.choice("target_at", {"last", "every"}) == "last") {
    const bool classes = !file_.classes.empty();
    facts_             = {.input       = {file_.dimensions},
                          .targets     = classes ? TargetKind::Classes : TargetKind::Values,
                          .outputs     = classes ? std::ssize(file_.classes) : 1,
                          .class_names = file_.classes};
    for (const data::Series& s : file_.series) facts_.length = std::max(facts_.length, file_.length(s));
  }

  const TaskFacts& facts() const override { return facts_; }
  bool             is_series() const override { return false; }
  int64_t          size() const override { return std::ssize(file_.series); }
  int64_t          length(int64_t i) const override { return file_.length(file_.series[static_cast<size_t>(i)]); }
  void             read(int64_t i, const Sample& s) const override {
    const data::Series& series = file_.series[static_cast<size_t>(i)];
    std::copy(series.values.begin(), series.values.end(), s.inputs.begin());
    if (facts_.targets == TargetKind::Classes)
      s.label(series.label);
    else
      std::fill(s.values.begin(), s.values.end(), static_cast<float>(series.value));
    if (only_last_) s.score_only(length(i) - 1);
    s.end_at(length(i));
  }
  std::string place(int64_t i, int64_t t, const std::string& what) const override {
    return fmt::format("{}: line {}, step {}, {}", file_.path, file_.series[static_cast<size_t>(i)].line, t, what);
  }
  std::string name_of_input(size_t k) const override { return fmt::format("dimension {}", k); }

 private:
  data::SeriesFile file_;
  bool             only_last_;
  TaskFacts        facts_;
};

std::shared_ptr<Task> ts(const zoo::Fields& f, uint64_t seed) {
  return task_of_files(f, seed, [&](const std::string& path) { return std::make_shared<SeriesSequences>(path, f); });
}

}  // namespace

std::vector<TaskType> ts_tasks() {
  return {
      {"ts",
       "time series with one label each, from a `.ts`, `.arff` or UCR `.tsv` file; target at the `\"last\"` step or "
       "at `\"every\"` step (`target_at`): the class or the number",
       with_file_fields("file target_at=\"last\""), ts}};
}

}  // namespace braintrace::tasks

// SPDX-License-Identifier: Apache-2.0
#include "braintrace/tasks/sequence_files.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "braintrace/tasks/preparation.h"

namespace braintrace::tasks {

namespace {

struct Sequence {
  std::shared_ptr<const SequenceFile> file;
  int64_t                             index = 0;
  std::map<int32_t, int64_t>          asked = {};             // classes, and how often
  int32_t                             last  = missing_class;  // of them
};
using Sequences = std::vector<Sequence>;

// Memory for one sequence, which is cleared before each use.
class Room {
 public:
  explicit Room(const TaskFacts& f)
      : inputs_(static_cast<size_t>(f.length * size_of(f.input))),
        values_(f.targets == TargetKind::Values ? static_cast<size_t>(f.length * f.outputs) : 0),
        mask_(static_cast<size_t>(f.length)),
        classes_(f.targets == TargetKind::Classes ? static_cast<size_t>(f.length) : 0) {}

  Sample sample() {
    std::fill(inputs_.begin(), inputs_.end(), 0.f);
    std::fill(values_.begin(), values_.end(), 0.f);
    std::fill(mask_.begin(), mask_.end(), 1.f);
    std::fill(classes_.begin(), classes_.end(), 0);
    return {inputs_, classes_, values_, mask_};
  }

 private:
  std::vector<float>   inputs_, values_, mask_;
  std::vector<int32_t> classes_;
};

// The location of a missing value in steps 0 … length-1; empty if nothing is missing. Targets count only at steps with
// a loss.
std::optional<std::string> missing_in(const SequenceFile& file, int64_t i, const Sample& s) {
  for (int64_t t = 0; t < file.length(i); ++t) {
    for (size_t k = 0; k < s.input(t).size(); ++k)
      if (std::isnan(s.input(t)[k])) return file.place(i, t, file.name_of_input(k));
    if (s.mask[static_cast<size_t>(t)] == 0) continue;
    if (!s.classes.empty() && s.classes[static_cast<size_t>(t)] == missing_class)
      return file.place(i, t, file.name_of_target(0));
    for (size_t k = 0; !s.values.empty() && k < s.value(t).size(); ++k)
      if (std::isnan(s.value(t)[k])) return file.place(i, t, file.name_of_target(k));
  }
  return std::nullopt;
}

// Every sequence is read once, so errors in a file are reported before training starts.
Sequences sequences_of(const std::shared_ptr<const SequenceFile>& file, const TaskFacts& facts, Missing way) {
  Sequences out;
  Room      room(facts);
  for (int64_t i = 0; i < file->size(); ++i) {
    const Sample s = room.sample();
    file->read(i, s);
    const auto missing = missing_in(*file, i, s);
    require(!missing || way != Missing::Error,
            "{}: the number is missing.\n  Choose how to handle missing cells: \"missing\": \"skip\" (skips the whole "
            "sequence), \"zero\" or \"mean\".",
            missing.value_or(""));
    if (missing && way == Missing::Skip) continue;
    out.push_back({file, i});
    for (size_t t = 0; t < s.classes.size(); ++t)
      if (s.mask[t] != 0 && s.classes[t] != missing_class) ++out.back().asked[out.back().last = s.classes[t]];
  }
  return out;
}

// An order in which every stretch has each class in proportion: the r-th of the n sequences of a class, in a fixed
// random order, is at (r + 1/2) / n.
std::vector<int64_t> stratified_order(const Sequences& all) {
  std::map<int32_t, std::vector<int64_t>> of_class;
  for (int64_t i = 0; i < std::ssize(all); ++i) of_class[all[static_cast<size_t>(i)].last].push_back(i);
  std::vector<std::pair<double, int64_t>> places;
  for (const auto& [label, members] : of_class)
    for (int64_t n = std::ssize(members), r = 0; r < n; ++r)
      places.emplace_back((double(permuted(r, n, 0, 0)) + 0.5) / double(n), members[static_cast<size_t>(r)]);
  std::sort(places.begin(), places.end());
  std::vector<int64_t> out;
  for (const auto& [place, i] : places) out.push_back(i);
  return out;
}

// The order in which parts take sequences: validation, test, training.
std::vector<int64_t> order_of(const Sequences& all, const std::string& way, int64_t train) {
  const int64_t n = std::ssize(all);
  if (way == "stratified") return stratified_order(all);
  std::vector<int64_t> out(static_cast<size_t>(n));
  if (way == "random") {
    for (int64_t i = 0; i < n; ++i) out[static_cast<size_t>(permuted(i, n, 0, 0))] = i;
  } else {
    std::iota(out.begin(), out.end(), 0);
    std::rotate(out.begin(), out.begin() + train, out.end());
  }
  return out;
}

using Parts = std::array<Sequences, 3>;  // by Part

// How a file is split for parts that have no separate file.
struct Division {
  double      validation = 0, test = 0;
  std::string way;
};

Division division_of(const zoo::Fields& f, const SequenceFile& file) {
  const auto fraction = [&](const char* field, const char* own) { return f.has(own) ? 0 : probability(f, field); };
  Division   out      = {fraction("validation", "validation_file"), fraction("test", "test_file"),
                         f.choice("split", {"auto", "random", "stratified", "chronological"})};
  const bool classes  = file.facts().targets == TargetKind::Classes;
  if (out.validation + out.test > 1)
    f.refuse("test", fmt::format("{} and {} for validation are more than all.", out.test, out.validation));
  if (out.way == "stratified" && !classes) f.refuse("split", "stratified needs classes.");
  if (out.way == "auto") out.way = file.is_series() ? "chronological" : classes ? "stratified" : "random";
  if (f.has("contiguous") && f.flag("contiguous") && out.way != "chronological")
    f.refuse("split", "contiguous pieces need a chronological one.");
  return out;
}

void divide(const Sequences& all, const zoo::Fields& f, const Division& d, Parts& parts) {
  const int64_t n = std::ssize(all), validating = std::llround(d.validation * double(n));
  const int64_t testing = std::min<int64_t>(std::llround(d.test * double(n)), n - validating);
  const int64_t train   = n - validating - testing;
  const bool    judges  = validating > 0 || f.has("validation_file");
  if (d.test < 1 && (train < 1 || !judges))  // a test part alone is for networks that have learned
    f.refuse("validation", fmt::format("{} of {} samples leaves one part empty.", d.validation, n));
  if (d.test > 0 && testing < 1) f.refuse("test", fmt::format("{} of {} samples leaves one part empty.", d.test, n));
  std::vector<int64_t> order = order_of(all, d.way, train);
  const auto           deal  = [&](Part part, int64_t from, int64_t count) {
    std::sort(order.begin() + from, order.begin() + from + count);
    for (int64_t k = from; k < from + count; ++k)
      parts[static_cast<size_t>(part)].push_back(all[static_cast<size_t>(order[static_cast<size_t>(k)])]);
  };
  deal(Part::Validation, 0, validating);
  deal(Part::Test, validating, testing);
  deal(Part::Train, validating + testing, train);
}

std::map<int32_t, int64_t> asked_in(const Sequences& part) {
  std::map<int32_t, int64_t> out;
  for (const Sequence& s : part)
    for (const auto& [c, n] : s.asked) out[c] += n;
  return out;
}

// A part that lacks a class says nothing about it.
void warn_of_classes(const Parts& parts, Part part, const char* name, std::vector<std::string>& warnings) {
  if (parts[static_cast<size_t>(part)].empty()) return;
  const auto known = asked_in(parts[static_cast<size_t>(Part::Train)]),
             there = asked_in(parts[static_cast<size_t>(part)]);
  std::string lost;
  for (const auto& [c, n] : known)
    if (!there.contains(c)) lost += fmt::format("{}{}", lost.empty() ? "" : ", ", c);
  if (!lost.empty())
    warnings.push_back(
        fmt::format("the {} part has no target of class {}, which the training part has; the results do not cover "
                    "it.\n  Use \"split\": \"stratified\", a larger part, or a separate file.",
                    name, lost));
}

// Weights of the losses of the training part; empty: all are one.
std::vector<float> class_weights(const zoo::Fields& f, const TaskFacts& facts, const Sequences& train) {
  if (f.is_text("class_weights") && f.choice("class_weights", {"none", "balanced"}) == "none") return {};
  if (facts.targets != TargetKind::Classes) f.refuse("class_weights", "they need classes.");
  std::vector<float> out(static_cast<size_t>(facts.outputs), 1.f);
  if (f.is_text("class_weights")) {
    const auto counts = asked_in(train);
    double     n      = 0;
    for (const auto& [c, count] : counts) n += double(count);
    for (const auto& [c, count] : counts)
      out[static_cast<size_t>(c)] = static_cast<float>(n / (double(counts.size()) * double(count)));
    return out;
  }
  const Array given = f.array("class_weights").array();
  if (given.shape() != Shape{facts.outputs})
    f.refuse("class_weights", fmt::format("expected {} numbers, one for every class.", facts.outputs));
  for (int64_t c = 0; c < facts.outputs; ++c) {
    out[static_cast<size_t>(c)] = static_cast<float>(at(given, c));
    if (!(at(given, c) > 0) || !std::isfinite(at(given, c)))
      f.refuse("class_weights", fmt::format("expected positive numbers, got {}.", at(given, c)));
  }
  return out;
}

// The facts of all files together.
void join(TaskFacts& all, const TaskFacts& more, const std::string& path) {
  require(more.input == all.input && more.targets == all.targets &&
              (all.targets == TargetKind::Classes || more.outputs == all.outputs),
          "{}: expected inputs {} and {} {}, as in the training file; found {} and {} {}.", path, to_string(all.input),
          all.outputs, all.targets == TargetKind::Classes ? "classes" : "values", to_string(more.input), more.outputs,
          more.targets == TargetKind::Classes ? "classes" : "values");
  require(more.class_names == all.class_names, "{}: expected the classes {}, as in the training file; found {}.", path,
          fmt::join(all.class_names, ", "), fmt::join(more.class_names, ", "));
  all.outputs = std::max(all.outputs, more.outputs);
  all.length  = std::max(all.length, more.length);
}

}  // namespace

std::string with_file_fields(const std::string& own) {
  return own +
         " validation=0.2 test=0 split=\"auto\" validation_file? test_file? missing=\"error\" normalize=\"none\" "
         "fitted? class_weights=\"none\" buckets=1";
}

void check_class(const std::string& where, double found, int64_t classes) {
  require(found >= 0 && found < double(classes) && found == std::floor(found),
          "{}: expected a class from 0 to {}, found {}.", where, classes - 1, found);
}

std::shared_ptr<Task> task_of_files(const zoo::Fields& f, uint64_t seed, const OpenFile& open) {
  const auto                                          first = open(f.text("file"));
  TaskFacts                                           facts = first->facts();
  std::map<Part, std::shared_ptr<const SequenceFile>> others;
  const std::vector<std::pair<Part, std::string>>     named = {{Part::Validation, "validation_file"},
                                                               {Part::Test, "test_file"}};
  for (const auto& [part, field] : named) {
    if (!f.has(field)) continue;
    others[part] = open(f.text(field));
    join(facts, others[part]->facts(), f.text(field));
  }
  const Missing missing = missing_of(f);
  Parts         parts;
  const auto    all = sequences_of(first, facts, missing);
  require(!all.empty(), "{}: a cell is missing in every sequence.", f.text("file"));
  divide(all, f, division_of(f, *first), parts);
  for (const auto& [part, file] : others) {
    parts[static_cast<size_t>(part)] = sequences_of(file, facts, missing);
    require(!parts[static_cast<size_t>(part)].empty(), "{}: a cell is missing in every sequence.",
            f.text(part == Part::Test ? "test_file" : "validation_file"));
  }

  const Preparation prepared(f, size_of(facts.input), [&](const Preparation::Show& show) {
    Room room(facts);
    for (const Sequence& each : parts[static_cast<size_t>(Part::Train)]) {
      const Sample s = room.sample();
      each.file->read(each.index, s);
      show(s, each.file->length(each.index));
    }
  });
  nlohmann::json    found = nlohmann::json::object();
  if (facts.targets == TargetKind::Classes && facts.class_names.empty()) found["classes"] = facts.outputs;
  if (!prepared.fitted().is_null()) found["fitted"] = prepared.fitted();
  facts.found              = found.dump();
  facts.train_samples      = std::ssize(parts[static_cast<size_t>(Part::Train)]);
  facts.validation_samples = std::ssize(parts[static_cast<size_t>(Part::Validation)]);
  facts.test_samples       = std::ssize(parts[static_cast<size_t>(Part::Test)]);
  facts.has_test           = facts.test_samples > 0;
  facts.lengths            = count(f, "buckets");
  facts.contiguous         = first->is_series() && f.flag("contiguous");
  warn_of_classes(parts, Part::Validation, "validation", facts.warnings);
  warn_of_classes(parts, Part::Test, "test", facts.warnings);
  const std::vector<float> weights     = class_weights(f, facts, parts[static_cast<size_t>(Part::Train)]);
  const auto               sequence_at = [parts](Part part, int64_t which) -> const Sequence& {
    return parts[static_cast<size_t>(part)].at(static_cast<size_t>(which));
  };
  const Read read = [=](Part part, int64_t which, Random&, const Sample& s) {
    const Sequence& each = sequence_at(part, which);
    each.file->read(each.index, s);
    prepared.apply(s, each.file->length(each.index));
    for (size_t t = 0; part == Part::Train && !weights.empty() && t < s.mask.size(); ++t)
      s.mask[t] *= weights[static_cast<size_t>(s.classes[t])];
  };
  const auto length = [=](Part part, int64_t which) {
    const Sequence& each = sequence_at(part, which);
    return each.file->length(each.index);
  };
  return sampled(facts, seed, read, {facts.lengths, length});
}

}  // namespace braintrace::tasks

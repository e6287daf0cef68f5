// SPDX-License-Identifier: Apache-2.0
// Arrays of a NumPy archive: inputs [N, T, …] and targets: one per sequence ([N], [N, n]) is the target at its last
// step, one per step ([N, T], [N, T, n]) at every step. Integers are classes. `lengths` [N] is the length of each
// sequence.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "braintrace/io/npy.h"
#include "braintrace/tasks/families.h"
#include "braintrace/tasks/sequence_files.h"

namespace braintrace::tasks {

namespace {

class NpzSequences final : public SequenceFile {
 public:
  NpzSequences(const std::string& path, const zoo::Fields& f);

  const TaskFacts& facts() const override { return facts_; }
  bool             is_series() const override { return false; }
  int64_t          size() const override { return std::ssize(lengths_); }
  int64_t          length(int64_t i) const override { return lengths_[static_cast<size_t>(i)]; }
  void             read(int64_t i, const Sample& s) const override;
  std::string      place(int64_t i, int64_t t, const std::string& what) const override {
    return fmt::format("{}: sequence {}, step {}, {}", path_, i, t, what);
  }

 private:
  std::string          path_;
  Array                inputs_, targets_;
  bool                 per_step_ = false;
  std::vector<int64_t> lengths_;
  TaskFacts            facts_;
};

const Array& member(const NamedArrays& arrays, const zoo::Fields& f, const std::string& path, const std::string& field,
                    const std::string& name) {
  std::vector<std::string> names;
  for (const auto& [known, array] : arrays) names.push_back(known);
  const auto found = arrays.find(name);
  if (found == arrays.end())
    f.refuse(field, fmt::format("{} has no array '{}'; it has: {}.", path, name, fmt::join(names, ", ")));
  return found->second;
}

// One array, or several, separated by commas: their features concatenated, [N, T, n].
Array inputs_of(const NamedArrays& arrays, const zoo::Fields& f, const std::string& path) {
  std::vector<Array> all;
  for (const std::string& name : f.texts("inputs"))
    all.push_back(convert(member(arrays, f, path, "inputs", name), DType::F32));
  if (all.size() == 1) return all[0];
  int64_t width = 0;
  for (const Array& a : all) {
    require(
        a.shape().size() >= 2 && a.size() > 0 && a.shape()[0] == all[0].shape()[0] && a.shape()[1] == all[0].shape()[1],
        "{}: expected inputs [N, T, …] with the same N and T, found {} and {}.", path, to_string(all[0].shape()),
        to_string(a.shape()));
    width += a.size() / (a.shape()[0] * a.shape()[1]);
  }
  const int64_t N = all[0].shape()[0], T = all[0].shape()[1];
  Array         out({DType::F32, {N, T, width}});
  float*        to = out.mutable_data<float>();
  for (int64_t row = 0; row < N * T; ++row)
    for (const Array& a : all) to = std::copy_n(a.data<float>() + row * (a.size() / (N * T)), a.size() / (N * T), to);
  return out;
}

NpzSequences::NpzSequences(const std::string& path, const zoo::Fields& f) : path_(path) {
  const NamedArrays arrays = read_npz(path);
  inputs_                  = inputs_of(arrays, f, path);
  targets_                 = member(arrays, f, path, "targets", f.text("targets"));
  if (targets_.dtype() == DType::Bool) targets_ = convert(targets_, DType::I32);  // classes 0 and 1
  const Shape& in  = inputs_.shape();
  const Shape& out = targets_.shape();
  require(in.size() >= 2 && inputs_.size() > 0, "{}: expected inputs [N, T, …], found {}.", path, to_string(in));
  const int64_t N = in[0], T = in[1];
  const bool    classes  = is_integer(targets_.dtype());
  const size_t  per_item = classes ? 1 : 2;  // rank of targets with one per sequence
  per_step_              = out.size() == per_item + 1;
  require((out.size() == per_item || per_step_) && out[0] == N && (!per_step_ || out[1] == T) && targets_.size() > 0,
          "{}: for inputs {} expected integer targets [{}] or [{}, {}], or numbers [{}, n] or [{}, {}, n]; found {}.",
          path, to_string(in), N, N, T, N, N, T, to_string(targets_.type()));
  lengths_.assign(static_cast<size_t>(N), T);
  if (arrays.contains(f.text("lengths"))) {
    const Array& given = arrays.at(f.text("lengths"));
    require(given.shape() == Shape{N} && is_integer(given.dtype()), "{}: expected {} integer lengths, found {}.", path,
            N, to_string(given.type()));
    for (int64_t i = 0; i < N; ++i) {
      lengths_[static_cast<size_t>(i)] = static_cast<int64_t>(at(given, i));
      require(at(given, i) >= 1 && at(given, i) <= double(T), "{}: length {} is {}; expected 1 to {}.", path, i,
              at(given, i), T);
    }
  }
  facts_         = {.input = Shape(in.begin() + 2, in.end()), .outputs = classes ? 1 : out.back(), .length = T};
  facts_.targets = classes ? TargetKind::Classes : TargetKind::Values;
  if (!classes) return;
  for (int64_t i = 0; i < targets_.size(); ++i)
    facts_.outputs = std::max(facts_.outputs, static_cast<int64_t>(at(targets_, i)) + 1);
  if (f.has("classes")) facts_.outputs = count(f, "classes");
  for (int64_t i = 0; i < targets_.size(); ++i)
    check_class(fmt::format("{}: target {}", path, i), at(targets_, i), facts_.outputs);
}

void NpzSequences::read(int64_t i, const Sample& s) const {
  const int64_t T = inputs_.shape()[1], width = inputs_.size() / (size() * T), steps = length(i);
  std::copy_n(inputs_.data<float>() + i * T * width, steps * width, s.inputs.begin());
  for (int64_t t = 0; t < steps; ++t) {
    const int64_t row = per_step_ ? i * T + t : i;
    if (facts_.targets == TargetKind::Classes) {
      s.classes[static_cast<size_t>(t)] = static_cast<int32_t>(at(targets_, row));
      continue;
    }
    for (size_t k = 0; k < s.value(t).size(); ++k)
      s.value(t)[k] = static_cast<float>(at(targets_, row * facts_.outputs + static_cast<int64_t>(k)));
  }
  if (!per_step_) s.score_only(steps - 1);
  s.end_at(steps);
}

std::shared_ptr<Task> npz(const zoo::Fields& f, uint64_t seed) {
  return task_of_files(f, seed, [&](const std::string& path) { return std::make_shared<NpzSequences>(path, f); });
}

}  // namespace

std::vector<TaskType> npz_tasks() {
  return {{"npz",
           "arrays of a NumPy archive: inputs [N, T, …], or the names of several, separated by commas, to concatenate; "
           "targets per sequence or per step; lengths (optional)",
           with_file_fields("file inputs=\"inputs\" targets=\"targets\" lengths=\"lengths\" classes?"), npz}};
}

}  // namespace braintrace::tasks

// SPDX-License-Identifier: Apache-2.0
// Sequences from files of numbers.
//
//   mnist  images of 28×28 (IDX files, plain or .gz), row by row or pixel by pixel; asked at the end: the digit.
//          With "synthetic": true the 8×8 digits of the library, enlarged
//   npz    inputs [N, T, …] and targets: one per sequence ([N], [N, n]) is asked at its last step, one per step
//          ([N, T], [N, T, n]) at every step. Integers are classes. `lengths` [N] tells how long each sequence is
//   csv    a row is a step, columns are named; rows with the same value in column `sequence` are one sequence, or every
//          `length` rows are; asked at every step
#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "braintrace/data/csv.h"
#include "braintrace/data/idx.h"
#include "braintrace/io/npy.h"
#include "braintrace/tasks/digits.h"
#include "braintrace/tasks/families.h"
#include "braintrace/tasks/sample.h"

namespace braintrace::tasks {

namespace {

struct Mnist {
  data::IdxFile images, labels;

  Mnist(const std::string& folder, const std::string& part)
      : images(data::open_idx(folder, part + "-images-idx3-ubyte")),
        labels(data::open_idx(folder, part + "-labels-idx1-ubyte")) {
    require(images.shape() == Shape{images.size(), 28, 28}, "{}: expected images of 28×28, found {}.", images.path(),
            to_string(images.shape()));
    require(labels.shape() == Shape{images.size()}, "{}: expected one label for each of {} images, found {}.",
            labels.path(), images.size(), to_string(labels.shape()));
  }
};

std::shared_ptr<Task> mnist(const zoo::Fields& f, uint64_t seed) {
  const bool by_row = f.choice("by", {"row", "pixel"}) == "row";
  TaskFacts  facts{.input = {by_row ? 28 : 1}, .outputs = 10, .length = by_row ? 28 : 784};
  if (f.flag("synthetic")) {
    const Split parts        = split(std::ssize(digits()), f, "validation");
    facts.train_samples      = std::ssize(parts.train);
    facts.validation_samples = std::ssize(parts.validation);
    return sampled(facts, seed, [=](Part part, int64_t which, Random&, const Sample& s) {
      const Digit& digit = digits()[static_cast<size_t>(parts.of(part)[static_cast<size_t>(which)])];
      for (size_t i = 0; i < 784; ++i) s.inputs[i] = digit.pixels[i / 28 * 8 / 28 * 8 + i % 28 * 8 / 28];
      s.label(digit.label);
      s.score_only(-1);
    });
  }
  if (!f.has("folder"))
    f.refuse("folder", "the folder with train-images-idx3-ubyte and the like is needed, or \"synthetic\": true.");
  const auto train         = std::make_shared<Mnist>(f.text("folder"), "train");
  const auto validation    = std::make_shared<Mnist>(f.text("folder"), "t10k");
  facts.train_samples      = train->images.size();
  facts.validation_samples = validation->images.size();
  return sampled(facts, seed, [=](Part part, int64_t which, Random&, const Sample& s) {
    const Mnist& set    = part == Part::Train ? *train : *validation;
    const Bytes  pixels = set.images.item(which);
    for (size_t i = 0; i < pixels.size(); ++i) s.inputs[i] = float(pixels[i]) / 255;
    const int32_t label = std::to_integer<int32_t>(set.labels.item(which)[0]);
    require(label < 10, "{}: label {} is {}; expected a digit.", set.labels.path(), which, label);
    s.label(label);
    s.score_only(-1);
  });
}

const Array& member(const NamedArrays& arrays, const zoo::Fields& f, const std::string& field) {
  const std::string        name = f.text(field);
  std::vector<std::string> names;
  for (const auto& [known, array] : arrays) names.push_back(known);
  const auto found = arrays.find(name);
  if (found == arrays.end())
    f.refuse(field, fmt::format("{} has no array '{}'; it has: {}.", f.text("file"), name, fmt::join(names, ", ")));
  return found->second;
}

void refuse_class(const std::string& where, double found, int64_t classes) {
  require(found >= 0 && found < double(classes) && found == std::floor(found),
          "{}: expected a class from 0 to {}, found {}.", where, classes - 1, found);
}

std::shared_ptr<Task> npz(const zoo::Fields& f, uint64_t seed) {
  const std::string file    = f.text("file");
  const NamedArrays arrays  = read_npz(file);
  const Array       inputs  = convert(member(arrays, f, "inputs"), DType::F32);
  const Array&      targets = member(arrays, f, "targets");
  const Shape&      in      = inputs.shape();
  const Shape&      out     = targets.shape();
  require(in.size() >= 2 && inputs.size() > 0, "{}: expected inputs [N, T, …], found {}.", file, to_string(in));
  const int64_t N = in[0], T = in[1], width = inputs.size() / (N * T);
  const bool    classes  = is_integer(targets.dtype());
  const size_t  per_item = classes ? 1 : 2;  // rank of targets with one per sequence
  const bool    per_step = out.size() == per_item + 1;
  require((out.size() == per_item || per_step) && out[0] == N && (!per_step || out[1] == T) && targets.size() > 0,
          "{}: for inputs {} expected integer targets [{}] or [{}, {}], or numbers [{}, n] or [{}, {}, n]; found {}.",
          file, to_string(in), N, N, T, N, N, T, to_string(targets.type()));
  std::vector<int64_t> lengths(static_cast<size_t>(N), T);
  if (arrays.contains(f.text("lengths"))) {
    const Array& given = arrays.at(f.text("lengths"));
    require(given.shape() == Shape{N} && is_integer(given.dtype()), "{}: expected {} integer lengths, found {}.", file,
            N, to_string(given.type()));
    for (int64_t i = 0; i < N; ++i) {
      lengths[static_cast<size_t>(i)] = static_cast<int64_t>(at(given, i));
      require(at(given, i) >= 1 && at(given, i) <= double(T), "{}: length {} is {}; expected 1 to {}.", file, i,
              at(given, i), T);
    }
  }
  TaskFacts facts{.input = Shape(in.begin() + 2, in.end()), .outputs = classes ? 1 : out.back(), .length = T};
  facts.targets = classes ? TargetKind::Classes : TargetKind::Values;
  if (classes) {
    for (int64_t i = 0; i < targets.size(); ++i)
      facts.outputs = std::max(facts.outputs, static_cast<int64_t>(at(targets, i)) + 1);
    if (f.has("classes")) facts.outputs = count(f, "classes");
    for (int64_t i = 0; i < targets.size(); ++i)
      refuse_class(fmt::format("{}: target {}", file, i), at(targets, i), facts.outputs);
  }
  const Split parts        = split(N, f, "validation");
  facts.train_samples      = std::ssize(parts.train);
  facts.validation_samples = std::ssize(parts.validation);
  return sampled(facts, seed, [=](Part part, int64_t which, Random&, const Sample& s) {
    const int64_t i = parts.of(part)[static_cast<size_t>(which)], length = lengths[static_cast<size_t>(i)];
    std::copy_n(inputs.data<float>() + i * T * width, length * width, s.inputs.begin());
    for (int64_t t = 0; t < length; ++t) {
      const int64_t row = per_step ? i * T + t : i;
      if (classes) s.classes[static_cast<size_t>(t)] = static_cast<int32_t>(at(targets, row));
      for (size_t k = 0; !classes && k < s.value(t).size(); ++k)
        s.value(t)[k] = static_cast<float>(at(targets, row * std::ssize(s.value(t)) + static_cast<int64_t>(k)));
    }
    if (!per_step) s.score_only(length - 1);
    s.end_at(length);
  });
}

std::vector<size_t> columns(const data::CsvFile& file, const std::string& names) {
  std::vector<size_t> out;
  for (size_t from = 0; from <= names.size();) {
    const size_t comma = std::min(names.find(',', from), names.size());
    out.push_back(file.column(names.substr(from, comma - from)));
    from = comma + 1;
  }
  return out;
}

// Rows [from, from + count) of each sequence.
std::vector<std::pair<int64_t, int64_t>> sequences(const data::CsvFile& file, const zoo::Fields& f) {
  std::vector<std::pair<int64_t, int64_t>> out;
  if (f.has("sequence") == f.has("length"))
    f.refuse("sequence", "either the column `sequence` or the `length` in rows is needed, and not both.");
  if (f.has("length")) {
    const int64_t length = count(f, "length");
    for (int64_t from = 0; from + length <= file.size(); from += length) out.emplace_back(from, length);
    return out;
  }
  const size_t id      = file.column(f.text("sequence"));
  double       current = std::nan("");
  for (int64_t from = 0; from < file.size(); from += 4096)
    for (int64_t row = from; const auto& cells : file.rows(from, std::min<int64_t>(4096, file.size() - from))) {
      if (cells[id] != current) out.emplace_back(row, 0);
      current = cells[id];
      ++out.back().second;
      ++row;
    }
  return out;
}

std::shared_ptr<Task> csv(const zoo::Fields& f, uint64_t seed) {
  const auto file   = std::make_shared<data::CsvFile>(f.text("file"));
  const auto shown  = columns(*file, f.text("inputs"));
  const auto asked  = columns(*file, f.text("targets"));
  const auto ranges = sequences(*file, f);
  const bool values = !f.has("classes");
  if (!values && asked.size() != 1) f.refuse("targets", "classes need exactly one column.");
  const Split parts = split(std::ssize(ranges), f, "validation");
  int64_t     T     = 0;
  for (const auto& [from, length] : ranges) T = std::max(T, length);
  const int64_t   outputs = values ? std::ssize(asked) : count(f, "classes");
  const TaskFacts facts{.input              = {std::ssize(shown)},
                        .targets            = values ? TargetKind::Values : TargetKind::Classes,
                        .outputs            = outputs,
                        .length             = T,
                        .train_samples      = std::ssize(parts.train),
                        .validation_samples = std::ssize(parts.validation)};
  return sampled(facts, seed, [=](Part part, int64_t which, Random&, const Sample& s) {
    const auto range = ranges[static_cast<size_t>(parts.of(part)[static_cast<size_t>(which)])];
    for (int64_t t = 0; const auto& row : file->rows(range.first, range.second)) {
      for (size_t i = 0; i < shown.size(); ++i) s.input(t)[i] = static_cast<float>(row[shown[i]]);
      for (size_t k = 0; values && k < asked.size(); ++k) s.value(t)[k] = static_cast<float>(row[asked[k]]);
      if (!values) {
        refuse_class(fmt::format("{}: row {}", file->path(), range.first + t + 1), row[asked[0]], outputs);
        s.classes[static_cast<size_t>(t)] = static_cast<int32_t>(row[asked[0]]);
      }
      ++t;
    }
    s.end_at(range.second);
  });
}

}  // namespace

std::vector<TaskType> table_tasks() {
  return {
      {"mnist",
       "MNIST: images by `\"row\"` or by `\"pixel\"`, folder with the four IDX files; asked at the end: which digit",
       "folder? by=\"row\" synthetic=false validation=0.2", mnist},
      {"npz", "arrays of a NumPy archive: inputs [N, T, …], targets per sequence or per step, lengths if any",
       "file inputs=\"inputs\" targets=\"targets\" lengths=\"lengths\" classes? validation=0.2", npz},
      {"csv",
       "columns of a table, a row per step: names of `inputs` and `targets` with commas between; numbers, or one "
       "of so many `classes`",
       "file inputs targets sequence? length? classes? validation=0.2", csv},
  };
}

}  // namespace braintrace::tasks

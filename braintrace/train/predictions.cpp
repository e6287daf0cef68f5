// SPDX-License-Identifier: Apache-2.0
#include "braintrace/train/predictions.h"

#include <fmt/format.h>

#include "braintrace/io/file.h"
#include "braintrace/io/npy.h"

namespace braintrace::train {

namespace {

// A cell of CSV: quoted if it contains a separator, quote or line break.
std::string csv_cell(const std::string& text) {
  if (text.find_first_of(",\"\n\r") == text.npos) return text;
  std::string out = "\"";
  for (char c : text) out += c == '"' ? std::string("\"\"") : std::string(1, c);
  return out + "\"";
}

std::string csv_of(const Predictions& p) {
  const int64_t rows = p.samples.size(), n = p.outputs.shape()[1];
  const bool    classes = p.classes.size() > 0, asked = p.targets.size() > 0;
  const auto    name = [&](int64_t k) {
    return p.class_names.empty() ? std::to_string(k) : p.class_names[static_cast<size_t>(k)];
  };
  std::string out = "sample,step";
  if (classes) out += asked ? ",target,class" : ",class";
  for (int64_t k = 0; !classes && asked && k < n; ++k) out += fmt::format(",target {}", k);
  for (int64_t k = 0; k < n; ++k) out += fmt::format(",output {}", k);
  for (int64_t k = 0; classes && k < n; ++k) out += "," + csv_cell("p(" + name(k) + ")");
  out += "\n";
  const Doubles outputs(p.outputs), targets(p.targets), probabilities(p.probabilities);
  for (int64_t r = 0; r < rows; ++r) {
    out += fmt::format("{},{}", at(p.samples, r), at(p.steps, r));
    if (classes && asked) out += "," + csv_cell(name(static_cast<int64_t>(targets[r])));
    if (classes) out += "," + csv_cell(name(static_cast<int64_t>(at(p.classes, r))));
    for (int64_t k = 0; !classes && asked && k < n; ++k) out += fmt::format(",{:.9g}", targets[r * n + k]);
    for (int64_t k = 0; k < n; ++k) out += fmt::format(",{:.9g}", outputs[r * n + k]);
    for (int64_t k = 0; classes && k < n; ++k) out += fmt::format(",{:.9g}", probabilities[r * n + k]);
    out += "\n";
  }
  return out;
}

}  // namespace

void write_predictions(const std::string& path, const Predictions& p) {
  const bool csv = path.ends_with(".csv");
  require(csv || path.ends_with(".npz"), "{}: give a name that ends in .npz or .csv.", path);
  if (csv) return write_text(path, csv_of(p));
  NamedArrays arrays = {{"samples", p.samples}, {"steps", p.steps}, {"outputs", p.outputs}};
  if (p.targets.size() > 0) arrays.emplace("targets", p.targets);
  if (p.classes.size() > 0) arrays.insert({{"classes", p.classes}, {"probabilities", p.probabilities}});
  write_npz(path, arrays);
}

}  // namespace braintrace::train

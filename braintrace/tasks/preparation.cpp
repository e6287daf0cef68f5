// SPDX-License-Identifier: Apache-2.0
#include "braintrace/tasks/preparation.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace braintrace::tasks {

namespace {

// Running mean and sum of squared distances from it (Welford 1962), and bounds.
struct Statistics {
  double n = 0, mean = 0, squares = 0, least = INFINITY, most = -INFINITY;

  void add(double x) {
    const double before = x - mean;
    mean += before / ++n;
    squares += before * (x - mean);
    least = std::min(least, x);
    most  = std::max(most, x);
  }
};

double or_one(double scale) { return scale > 0 ? scale : 1; }  // an input that never changes

std::vector<double> numbers(const zoo::Fields& f, const std::string& name, int64_t width) {
  const Array a = f.array(name).array();
  if (a.shape() != Shape{width}) f.refuse(name, fmt::format("expected {} numbers, one for every input.", width));
  std::vector<double> out;
  for (int64_t i = 0; i < width; ++i) {
    out.push_back(at(a, i));
    if (!std::isfinite(out.back())) f.refuse(name, fmt::format("number {} is not finite.", i));
  }
  return out;
}

}  // namespace

Missing missing_of(const zoo::Fields& f) {
  const std::string way = f.choice("missing", {"error", "skip", "zero", "mean"});
  return way == "error"  ? Missing::Error
         : way == "skip" ? Missing::Skip
         : way == "zero" ? Missing::Zero
                         : Missing::Mean;
}

Preparation::Preparation(const zoo::Fields& f, int64_t width, const std::function<void(const Show&)>& visit) {
  const std::string way = f.choice("normalize", {"none", "standard", "minmax"});
  fills_                = missing_of(f) == Missing::Mean;
  scales_               = way != "none";
  if (!fills_ && !scales_) return;
  if (f.has("fitted")) {
    const zoo::Fields fitted = f.nested("fitted", "fitted", "mean shift scale");
    mean_                    = numbers(fitted, "mean", width);
    shift_                   = numbers(fitted, "shift", width);
    scale_                   = numbers(fitted, "scale", width);
    for (double s : scale_)
      if (!(s > 0)) fitted.refuse("scale", fmt::format("expected positive numbers, got {}.", s));
    return;
  }
  std::vector<Statistics> all(static_cast<size_t>(width));
  visit([&](const Sample& s, int64_t length) {
    for (int64_t i = 0; i < length * width; ++i)
      if (const double x = s.inputs[static_cast<size_t>(i)]; !std::isnan(x)) all[static_cast<size_t>(i % width)].add(x);
  });
  for (const Statistics& s : all) {
    mean_.push_back(s.mean);
    shift_.push_back(way == "minmax" && s.n > 0 ? s.least : s.mean);
    scale_.push_back(way == "minmax" ? or_one(s.most - s.least) : or_one(std::sqrt(s.squares / std::max(s.n, 1.0))));
  }
}

void Preparation::apply(const Sample& s, int64_t length) const {
  const size_t width = s.inputs.size() / s.mask.size();
  for (size_t i = 0; i < static_cast<size_t>(length) * width; ++i) {
    double x = s.inputs[i];
    if (std::isnan(x)) x = fills_ ? mean_[i % width] : 0;
    if (scales_) x = (x - shift_[i % width]) / scale_[i % width];
    s.inputs[i] = static_cast<float>(x);
  }
  const size_t outputs = s.values.size() / s.mask.size();
  for (size_t t = 0; t < static_cast<size_t>(length); ++t) {
    bool lost = !s.classes.empty() && s.classes[t] == missing_class;
    if (lost) s.classes[t] = 0;
    for (size_t k = t * outputs; k < (t + 1) * outputs; ++k) {
      if (!std::isnan(s.values[k])) continue;
      s.values[k] = 0;
      lost        = true;
    }
    if (lost) s.mask[t] = 0;
  }
}

nlohmann::json Preparation::fitted() const {
  if (mean_.empty()) return nullptr;
  return {{"mean", mean_}, {"shift", shift_}, {"scale", scale_}};
}

}  // namespace braintrace::tasks

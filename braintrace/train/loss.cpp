// SPDX-License-Identifier: Apache-2.0
#include "braintrace/train/loss.h"

#include <algorithm>

#include <fmt/ranges.h>

#include "braintrace/nn/loss.h"
#include "braintrace/ops/compare.h"
#include "braintrace/ops/math.h"
#include "braintrace/ops/move.h"
#include "braintrace/ops/reduce.h"

namespace braintrace::train {

namespace {

struct Entry {
  const char* name;
  bool        classes;
  Tensor (*loss)(const Tensor&, const Tensor&);
};

// Over all axes but the batch.
Tensor per_sample(const Tensor& e) {
  Ints axes;
  for (int i = 1; i < e.rank(); ++i) axes.push_back(i);
  return axes.empty() ? e : mean(e, axes);
}

const std::vector<Entry>& entries() {
  static const std::vector<Entry> all = {
      {"cross_entropy", true, losses::softmax_cross_entropy_with_integer_labels},
      {"nll", true, losses::nll_loss},
      {"mse", false, [](const Tensor& y, const Tensor& t) { return per_sample(losses::squared_error(y, t)); }},
      {"mae", false,
       [](const Tensor& y, const Tensor& t) {
         return per_sample(losses::absolute_error(y, t, losses::Reduction::None));
       }},
      {"huber", false, [](const Tensor& y, const Tensor& t) { return per_sample(losses::huber_loss(y, t)); }},
      {"binary_cross_entropy", false,
       [](const Tensor& y, const Tensor& t) { return per_sample(losses::sigmoid_binary_cross_entropy(y, t)); }},
  };
  return all;
}

}  // namespace

const std::vector<std::string>& loss_names() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> out{"auto"};
    for (const Entry& e : entries()) out.emplace_back(e.name);
    return out;
  }();
  return names;
}

StepLoss::StepLoss(const std::string& name, bool classes) : classes_(classes), loss_(nullptr) {
  std::vector<std::string> fitting;
  for (const Entry& e : entries()) {
    if (e.classes != classes) continue;
    fitting.emplace_back(e.name);
    if (!loss_ && (name == e.name || name == "auto")) loss_ = e.loss;
  }
  require(loss_ != nullptr, "config.loss: '{}' is not a loss for {}, the targets of this task; use {}.", name,
          classes ? "classes" : "values", fmt::join(fitting, ", "));
}

Tensor StepLoss::correct(const Tensor& outputs, const Tensor& targets) const {
  if (!classes_) return zeros({outputs.shape()[0]}, outputs.dtype());
  return convert(equal(convert(argmax(outputs, -1), targets.dtype()), targets), outputs.dtype());
}

}  // namespace braintrace::train

// SPDX-License-Identifier: Apache-2.0
#include "braintrace/train/baselines.h"

#include <algorithm>
#include <cmath>
#include <functional>

#include <fmt/format.h>

#include "braintrace/train/coverage.h"

namespace braintrace::train {

namespace {

constexpr int64_t most_features = 200, most_fitted = 2000, most_training_batches = 64;

// One step with a target.
struct Asked {
  const tasks::Batch* batch;
  int64_t             step, row;
  double              weight;

  int64_t place() const { return step * batch->mask.shape()[1] + row; }
};
using Visit = std::function<bool(const Asked&)>;  // false: enough

// Steps of the evaluated samples, or of the first training batches.
void each_asked(const Config& config, const tasks::Task& task, tasks::Part part, int64_t batches, const Visit& visit) {
  const Coverage covered(task.facts(), part, batches, config.batch);
  for (int64_t i = 0; i < covered.batches(); ++i) {
    const tasks::Batch batch = task.batch(part, i, config.batch);
    const Doubles      mask(batch.mask);
    for (int64_t k = 0; k < batch.mask.size(); ++k)
      if (mask[k] != 0 && covered.holds(i * config.batch + k % config.batch) &&
          !visit({&batch, k / config.batch, k % config.batch, mask[k]}))
        return;
  }
}

// The target of a prediction, and sums over predictions.
class Score {
 public:
  explicit Score(const tasks::TaskFacts& facts) : facts_(&facts), errors_(facts.outputs) {}

  bool    classes() const { return facts_->targets == tasks::TargetKind::Classes; }
  int64_t outputs() const { return facts_->outputs; }
  double  target(const Asked& a, int64_t k) const {  // one-hot for classes
    if (classes()) return at(a.batch->targets, a.place()) == double(k) ? 1 : 0;
    return at(a.batch->targets, a.place() * outputs() + k);
  }
  void add(const Asked& a, const std::vector<double>& answer) {
    if (classes()) {
      const auto best = std::max_element(answer.begin(), answer.end()) - answer.begin();
      right_ += target(a, best) * a.weight;
      weight_ += a.weight;
      return;
    }
    for (int64_t k = 0; k < outputs(); ++k)
      errors_.add(static_cast<size_t>(k), target(a, k), answer[static_cast<size_t>(k)], a.weight);
    weight_ += a.weight;
  }
  bool     empty() const { return weight_ == 0; }
  Baseline baseline(std::string name) const {
    if (classes()) return {std::move(name), right_ / weight_};
    return {std::move(name), -1, errors_.metrics()};
  }

 private:
  const tasks::TaskFacts* facts_;
  ValueErrors             errors_;
  double                  right_ = 0, weight_ = 0;
};

// The inputs of the last K steps and 1, standardized by the training part.
class Features {
 public:
  explicit Features(const tasks::TaskFacts& facts)
      : width_(size_of(facts.input)), steps_(std::min(facts.length, most_features / std::max<int64_t>(width_, 1))) {}

  int64_t             steps() const { return steps_; }  // 0: the inputs are too wide
  int64_t             count() const { return steps_ * width_ + 1; }
  std::vector<double> of(const Asked& a) const {
    std::vector<double> x(static_cast<size_t>(count()), 0);
    x.back() = 1;
    for (int64_t s = 0; s < std::min(steps_, a.step + 1); ++s)
      for (int64_t j = 0; j < width_; ++j)
        x[static_cast<size_t>(s * width_ + j)] =
            at(a.batch->inputs, ((a.step - s) * a.batch->mask.shape()[1] + a.row) * width_ + j);
    for (size_t i = 0; i < mean_.size(); ++i) x[i] = (x[i] - mean_[i]) / scale_[i];
    return x;
  }
  void standardize(std::vector<std::vector<double>>& rows) {
    const size_t d = static_cast<size_t>(count()) - 1;
    mean_.assign(d, 0);
    scale_.assign(d, 0);
    for (const auto& x : rows)
      for (size_t i = 0; i < d; ++i) mean_[i] += x[i] / double(rows.size());
    for (const auto& x : rows)
      for (size_t i = 0; i < d; ++i) scale_[i] += (x[i] - mean_[i]) * (x[i] - mean_[i]) / double(rows.size());
    for (double& s : scale_) s = s > 0 ? std::sqrt(s) : 1;
    for (auto& x : rows)
      for (size_t i = 0; i < d; ++i) x[i] = (x[i] - mean_[i]) / scale_[i];
  }

 private:
  int64_t             width_, steps_;
  std::vector<double> mean_, scale_;
};

using Matrix = std::vector<std::vector<double>>;

// Solves A X = B in place of B, A positive definite: A = L Lᵀ, then forward and back.
void solve(Matrix& A, Matrix& B) {
  const size_t n = A.size();
  for (size_t j = 0; j < n; ++j) {
    for (size_t k = 0; k < j; ++k) A[j][j] -= A[j][k] * A[j][k];
    A[j][j] = std::sqrt(A[j][j]);
    for (size_t i = j + 1; i < n; ++i) {
      for (size_t k = 0; k < j; ++k) A[i][j] -= A[i][k] * A[j][k];
      A[i][j] /= A[j][j];
    }
  }
  for (size_t c = 0; c < B[0].size(); ++c) {
    for (size_t i = 0; i < n; ++i) {
      for (size_t k = 0; k < i; ++k) B[i][c] -= A[i][k] * B[k][c];
      B[i][c] /= A[i][i];
    }
    for (size_t i = n; i-- > 0;) {
      for (size_t k = i + 1; k < n; ++k) B[i][c] -= A[k][i] * B[k][c];
      B[i][c] /= A[i][i];
    }
  }
}

// W [features, outputs]
Matrix ridge(const Matrix& xs, const Matrix& ys) {
  const size_t d = xs[0].size(), outputs = ys[0].size();
  Matrix       A(d, std::vector<double>(d)), W(d, std::vector<double>(outputs));
  for (size_t n = 0; n < xs.size(); ++n)
    for (size_t i = 0; i < d; ++i) {
      if (xs[n][i] == 0) continue;
      for (size_t j = 0; j <= i; ++j) A[i][j] += xs[n][i] * xs[n][j];
      for (size_t k = 0; k < outputs; ++k) W[i][k] += xs[n][i] * ys[n][k];
    }
  for (size_t i = 0; i < d; ++i) A[i][i] += 1;
  solve(A, W);
  return W;
}

}  // namespace

std::vector<Baseline> baselines(const Config& config, const tasks::Task& task, tasks::Part part, int64_t batches) {
  const tasks::TaskFacts& facts = task.facts();
  if (facts.train_samples == 0 && facts.test_samples > 0) return {};
  Features features(facts);
  Score    constant(facts), last(facts), linear(facts);
  Matrix   xs, ys;
  each_asked(config, task, tasks::Part::Train, most_training_batches, [&](const Asked& a) {
    if (features.steps() > 0) xs.push_back(features.of(a));
    ys.emplace_back();
    for (int64_t k = 0; k < facts.outputs; ++k) ys.back().push_back(linear.target(a, k));
    return std::ssize(ys) < most_fitted;
  });
  if (ys.empty()) return {};
  std::vector<double> usual(static_cast<size_t>(facts.outputs));
  for (const auto& y : ys)
    for (size_t k = 0; k < usual.size(); ++k) usual[k] += y[k] / double(ys.size());
  Matrix W;
  if (features.steps() > 0) {
    features.standardize(xs);
    W = ridge(xs, ys);
  }

  each_asked(config, task, part, batches, [&](const Asked& a) {
    constant.add(a, usual);
    const Asked         before{a.batch, a.step - facts.ahead, a.row, a.weight};
    std::vector<double> answer(usual.size());
    if (facts.ahead > 0 && before.step >= 0 && at(a.batch->mask, before.place()) != 0) {
      for (size_t k = 0; k < answer.size(); ++k) answer[k] = last.target(before, static_cast<int64_t>(k));
      last.add(a, answer);
    }
    if (W.empty()) return true;
    const std::vector<double> x = features.of(a);
    std::fill(answer.begin(), answer.end(), 0);
    for (size_t i = 0; i < x.size(); ++i)
      for (size_t k = 0; x[i] != 0 && k < answer.size(); ++k) answer[k] += x[i] * W[i][k];
    linear.add(a, answer);
    return true;
  });
  if (constant.empty()) return {};
  std::vector<Baseline> out = {constant.baseline(constant.classes() ? "most common class" : "mean")};
  if (!last.empty()) out.push_back(last.baseline("last target"));
  if (!linear.empty())
    out.push_back(linear.baseline(features.steps() == 1 ? "linear, this input"
                                                        : fmt::format("linear, last {} inputs", features.steps())));
  return out;
}

}  // namespace braintrace::train

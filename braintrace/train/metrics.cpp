// SPDX-License-Identifier: Apache-2.0
#include "braintrace/train/metrics.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "braintrace/base/percent.h"

namespace braintrace::train {

namespace {

double ratio(double a, double b) { return b == 0 ? 0 : a / b; }

}  // namespace

ClassMetrics class_metrics(const Array& confusion) {
  const int64_t  classes = confusion.shape()[0];
  const int64_t* C       = confusion.data<int64_t>();
  ClassMetrics   out;
  double         n = 0, most = 0, with_recall = 0, with_f1 = 0;
  for (int64_t i = 0; i < classes; ++i) {
    int64_t asked = 0, answered = 0;
    for (int64_t j = 0; j < classes; ++j) {
      asked += C[i * classes + j];
      answered += C[j * classes + i];
    }
    const auto right = static_cast<double>(C[i * classes + i]);
    out.asked.push_back(asked);
    out.recall.push_back(ratio(right, double(asked)));
    out.precision.push_back(ratio(right, double(answered)));
    out.f1.push_back(ratio(2 * right, double(asked + answered)));
    out.balanced_accuracy += out.recall.back();
    out.macro_f1 += out.f1.back();
    with_recall += asked > 0 ? 1 : 0;
    with_f1 += asked + answered > 0 ? 1 : 0;
    n += double(asked);
    most = std::max(most, double(asked));
  }
  out.balanced_accuracy = ratio(out.balanced_accuracy, with_recall);
  out.macro_f1          = ratio(out.macro_f1, with_f1);
  out.majority          = ratio(most, n);
  return out;
}

std::string r2_text(const ValueMetrics& m) { return std::isnan(m.r2) ? "–" : fmt::format("{:.4g}", m.r2); }
std::string words_of(const ValueMetrics& m) {
  return fmt::format("R² {}, RMSE {:.4g}, MAE {:.4g}", r2_text(m), m.rmse, m.mae);
}
std::string words_of(const Baseline& b) {
  return fmt::format("{}: {}", b.name, b.values ? words_of(*b.values) : percent(b.accuracy));
}

void ValueErrors::add(size_t output, double y, double answer, double weight) {
  if (weight == 0) return;
  Moments&     m      = targets_[output];  // Welford 1962
  const double before = y - m.mean;
  m.weight += weight;
  m.mean += before * weight / m.weight;
  m.squares += weight * before * (y - m.mean);
  weight_ += weight;
  squares_ += weight * (y - answer) * (y - answer);
  distances_ += weight * std::abs(y - answer);
}

ValueMetrics ValueErrors::metrics() const {
  double spread = 0;
  for (const Moments& m : targets_) spread += m.squares;
  return {std::sqrt(ratio(squares_, weight_)), ratio(distances_, weight_),
          spread > 0 ? 1 - squares_ / spread : std::nan("")};
}

std::vector<double> ValueErrors::packed() const {
  std::vector<double> out{weight_, squares_, distances_};
  for (const Moments& m : targets_) out.insert(out.end(), {m.weight, m.mean, m.squares});
  return out;
}
Numbers ValueErrors::add(Numbers from) {
  for (double* sum : {&weight_, &squares_, &distances_}) *sum += *from++;
  for (Moments& m : targets_) {  // Chan et al. 1979
    const double weight = *from++, mean = *from++, squares = *from++, both = m.weight + weight;
    if (weight == 0) continue;
    m.squares += squares + (mean - m.mean) * (mean - m.mean) * m.weight * weight / both;
    m.mean += (mean - m.mean) * weight / both;
    m.weight = both;
  }
  return from;
}

std::vector<double> Calibration::packed() const {
  std::vector<double> out;
  for (const Bin& b : bins_) out.insert(out.end(), {b.weight, b.right, b.probability});
  return out;
}
Numbers Calibration::add(Numbers from) {
  for (Bin& b : bins_)
    for (double* sum : {&b.weight, &b.right, &b.probability}) *sum += *from++;
  return from;
}

void Calibration::add(double probability, bool right, double weight) {
  const double place = std::clamp(probability, 0.0, 1.0) * double(count);  // 1 belongs to the last bin
  Bin&         bin   = bins_[std::min(static_cast<size_t>(place), count - 1)];
  bin.weight += weight;
  bin.right += right ? weight : 0;
  bin.probability += weight * probability;
}

double Calibration::error() const {
  double sum = 0, weight = 0;
  for (const Bin& b : bins_) {
    sum += std::abs(b.right - b.probability);
    weight += b.weight;
  }
  return ratio(sum, weight);
}

}  // namespace braintrace::train

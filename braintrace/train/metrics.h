// SPDX-License-Identifier: Apache-2.0
// Metrics of predictions.
//
// Derived from a confusion matrix, where C_ij counts predictions j for true class i; n = Σ C_ij:
//
//   recall_i = C_ii / Σ_j C_ij      precision_j = C_jj / Σ_i C_ij      F1_i = 2 C_ii / (Σ_j C_ij + Σ_j C_ji)
//   balanced accuracy               mean of recall_i over the classes that occur as targets
//   macro F1                        mean of F1_i over the classes that occur as targets or predictions
//   majority                        max_i Σ_j C_ij / n, the accuracy of always predicting the most common class
//
// For values y and predictions ŷ, over steps, samples and outputs; ȳ_k is the mean of output k:
//
//   RMSE = √mean (y - ŷ)²      MAE = mean |y - ŷ|      R² = 1 - Σ (y - ŷ)² / Σ (y - ȳ_k)²
//
// Expected calibration error: predictions are sorted into bins by their probability p; Σ_bins (n_bin/n) |accuracy -
// mean p|.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "braintrace/base/array.h"

namespace braintrace::train {

struct ClassMetrics {
  double               balanced_accuracy = 0, macro_f1 = 0, majority = 0;
  std::vector<double>  recall, precision, f1;  // of every class; 0 if the denominator is 0
  std::vector<int64_t> asked;                  // number of targets of each class
};
ClassMetrics class_metrics(const Array& confusion);  // i64[classes, classes]

struct ValueMetrics {
  double rmse = 0, mae = 0;
  double r2 = 0;  // NaN if targets are constant
};
// The result of a baseline; see baselines.h.
struct Baseline {
  std::string                 name;
  double                      accuracy = -1;  // for classes
  std::optional<ValueMetrics> values   = {};
};

std::string r2_text(const ValueMetrics& m);   // "0.93"; "–" if targets are constant
std::string words_of(const ValueMetrics& m);  // "R² 0.93, RMSE 0.11, MAE 0.08"
std::string words_of(const Baseline& b);      // "mean: R² 0, RMSE 0.4, MAE 0.3", "most common class: 25.0%"

using Numbers = std::vector<double>::const_iterator;

class ValueErrors {
 public:
  explicit ValueErrors(int64_t outputs) : targets_(static_cast<size_t>(outputs)) {}
  void         add(size_t output, double y, double answer, double weight);
  ValueMetrics metrics() const;
  // Conversion to a list of numbers, and merging with those of other samples; returns the end of the list.
  std::vector<double> packed() const;
  Numbers             add(Numbers from);

 private:
  struct Moments {
    double weight = 0, mean = 0, squares = 0;  // Σ (y - ȳ)²
  };
  std::vector<Moments> targets_;
  double               weight_ = 0, squares_ = 0, distances_ = 0;
};

class Calibration {
 public:
  void                add(double probability, bool right, double weight);
  double              error() const;
  std::vector<double> packed() const;  // as above
  Numbers             add(Numbers from);

 private:
  static constexpr size_t count = 15;
  struct Bin {
    double weight = 0, right = 0, probability = 0;
  };
  std::array<Bin, count> bins_;
};

}  // namespace braintrace::train

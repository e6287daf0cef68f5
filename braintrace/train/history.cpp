// SPDX-License-Identifier: Apache-2.0
#include "braintrace/train/history.h"

#include "braintrace/base/error.h"

namespace braintrace::train {

namespace {

constexpr int64_t width = 5;

void append(std::vector<double>& to, const StepRecord& r) {
  to.insert(to.end(), {static_cast<double>(r.step), r.loss, r.accuracy, r.gradient_norm, r.learning_rate});
}
StepRecord record(const double* v) { return {static_cast<int64_t>(v[0]), v[1], v[2], v[3], v[4], 0}; }

// Sums; values of a single moment are those of the later record.
StepRecord joined(const StepRecord& a, const StepRecord& b) {
  return {b.step,          a.loss + b.loss, a.accuracy + b.accuracy, a.gradient_norm + b.gradient_norm,
          b.learning_rate, b.seconds};
}
StepRecord divided(StepRecord r, double n) {
  r.loss /= n;
  r.accuracy /= n;
  r.gradient_norm /= n;
  return r;
}

}  // namespace

void History::add(const StepRecord& r) {
  open_ = joined(count_ == 0 ? StepRecord{.accuracy = 0} : open_, r);
  if (++count_ < length_) return;
  done_.push_back(divided(open_, static_cast<double>(count_)));
  count_ = 0;
  if (done_.size() < most) return;
  for (size_t i = 0; i < most / 2; ++i) done_[i] = divided(joined(done_[2 * i], done_[2 * i + 1]), 2);
  done_.resize(most / 2);
  length_ *= 2;
}

void History::save(NamedArrays& to) const {
  std::vector<double> values, open;
  for (const StepRecord& r : done_) append(values, r);
  append(open, open_);
  open.insert(open.end(), {static_cast<double>(count_), static_cast<double>(length_)});
  to["run.steps"]   = Array::of<double>(values, {static_cast<int64_t>(done_.size()), width});
  to["run.stretch"] = Array::of<double>(open, {width + 2});
}

void History::load(const NamedArrays& from) {
  const Array   steps = from.at("run.steps"), open = from.at("run.stretch");
  const int64_t rows = steps.shape().empty() ? 0 : steps.shape()[0];
  require(steps.type() == Type{DType::F64, {rows, width}} && rows < static_cast<int64_t>(most),
          "run.steps is {}, expected {} numbers for each of less than {} stretches", to_string(steps.type()), width,
          most);
  require(open.type() == Type{DType::F64, {width + 2}}, "run.stretch is {}", to_string(open.type()));
  const double *v = steps.data<double>(), *o = open.data<double>(), count = o[width], length = o[width + 1];
  require(length >= 1 && length < 0x1p53 && count >= 0 && count < length, "a stretch has {} of {} updates", count,
          length);
  const auto is_step = [](double step) { return step >= 0 && step < 0x1p53; };
  require(is_step(o[0]), "a step is {}", o[0]);
  done_.clear();
  for (int64_t i = 0; i < rows; ++i) {
    require(is_step(v[i * width]), "a step is {}", v[i * width]);
    done_.push_back(record(v + i * width));
  }
  open_   = record(o);
  count_  = static_cast<int64_t>(count);
  length_ = static_cast<int64_t>(length);
}

}  // namespace braintrace::train

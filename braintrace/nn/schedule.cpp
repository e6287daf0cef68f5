// SPDX-License-Identifier: Apache-2.0
#include "braintrace/nn/schedule.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include <fmt/format.h>

#include "braintrace/model/frame.h"

namespace braintrace::optim {

namespace {

void require_rate(const char* name, double lr) {
  require(lr >= 0 && std::isfinite(lr), "{}: the learning rate must not be negative, got {}.", name, lr);
}
void require_positive(const char* name, const char* what, int64_t n) {
  require(n > 0, "{}: {} must be positive, got {}.", name, what, n);
}
double cosine(double from, double to, double progress) {
  return to + (from - to) * (1 + std::cos(std::numbers::pi * progress)) / 2;
}

}  // namespace

Schedule::Schedule(double constant) : Schedule(fmt::format("{}", constant), [constant](int64_t) { return constant; }) {
  require_rate("schedule", constant);
}
Schedule::Schedule(std::string text, Rate rate)
    : text_(std::move(text)),
      rate_(std::move(rate)),
      now_(std::make_shared<Now>(Now{0, LongTermState(Array::scalar(DType::F64, rate_(0)))})) {
  now_->rate.cell()->places = {{{}, "learning rate"}};
}

void Schedule::set_epoch(int64_t e) {
  require(!StateFrame::current(),
          "schedule: it moves inside a traced function, where it would move once and not at every call.\n"
          "  Call step() or set_epoch() outside; jitted updates read the new rate.");
  now_->epoch = e;
  now_->rate.set(Array::scalar(DType::F64, rate_(e)));
}

Schedule step_lr(double lr, int64_t size, double gamma) {
  require_rate("step_lr", lr);
  require_positive("step_lr", "size", size);
  return {"step_lr", [=](int64_t e) { return lr * std::pow(gamma, static_cast<double>(e / size)); }};
}
Schedule multi_step_lr(double lr, std::vector<int64_t> milestones, double gamma) {
  require_rate("multi_step_lr", lr);
  return {"multi_step_lr", [=](int64_t e) {
            const auto passed = std::count_if(milestones.begin(), milestones.end(), [e](int64_t m) { return m <= e; });
            return lr * std::pow(gamma, static_cast<double>(passed));
          }};
}
Schedule exponential_lr(double lr, double gamma) {
  require_rate("exponential_lr", lr);
  return {"exponential_lr", [=](int64_t e) { return lr * std::pow(gamma, static_cast<double>(e)); }};
}
Schedule exponential_decay_lr(double lr, int64_t decay_steps, double decay_rate, ExponentialDecayOptions o) {
  require_rate("exponential_decay_lr", lr);
  require_positive("exponential_decay_lr", "decay_steps", decay_steps);
  return {"exponential_decay_lr", [=](int64_t e) {
            double power = static_cast<double>(std::max<int64_t>(e - o.begin, 0)) / static_cast<double>(decay_steps);
            if (o.staircase) power = std::floor(power);
            const double v = lr * std::pow(decay_rate, power);
            if (!o.end_value) return v;
            return decay_rate < 1 ? std::max(v, *o.end_value) : std::min(v, *o.end_value);
          }};
}
Schedule cosine_annealing_lr(double lr, int64_t T, double eta) {
  require_rate("cosine_annealing_lr", lr);
  require_positive("cosine_annealing_lr", "T_max", T);
  return {"cosine_annealing_lr",
          [=](int64_t e) { return cosine(lr, eta, static_cast<double>(std::min(e, T)) / static_cast<double>(T)); }};
}
Schedule polynomial_lr(double lr, int64_t n, double power) {
  require_rate("polynomial_lr", lr);
  require_positive("polynomial_lr", "n", n);
  return {"polynomial_lr", [=](int64_t e) {
            return lr * std::pow(1 - static_cast<double>(std::min(e, n)) / static_cast<double>(n), power);
          }};
}
Schedule linear_lr(double lr, double start, double end, int64_t n) {
  require_rate("linear_lr", lr);
  require_positive("linear_lr", "n", n);
  return {"linear_lr", [=](int64_t e) {
            return lr * (start + (end - start) * static_cast<double>(std::min(e, n)) / static_cast<double>(n));
          }};
}
Schedule warmup_lr(int64_t n, Schedule after) {
  require_positive("warmup_lr", "n", n);
  return {"warmup_lr",
          [=](int64_t e) { return after.at(e) * std::min(1.0, static_cast<double>(e) / static_cast<double>(n)); }};
}
Schedule warmup_cosine_lr(double lr, int64_t warmup, int64_t total, double eta) {
  require_rate("warmup_cosine_lr", lr);
  require(warmup >= 0 && total > warmup, "warmup_cosine_lr: 0 ≤ warmup < total is needed, got {} and {}.", warmup,
          total);
  return {"warmup_cosine_lr", [=](int64_t e) {
            if (e < warmup) return lr * static_cast<double>(e) / static_cast<double>(warmup);
            const double done = static_cast<double>(std::min(e, total) - warmup);
            return cosine(lr, eta, done / static_cast<double>(total - warmup));
          }};
}
Schedule cosine_warm_restarts_lr(double lr, int64_t T_0, int64_t T_mult, double eta) {
  require_rate("cosine_warm_restarts_lr", lr);
  require_positive("cosine_warm_restarts_lr", "T_0", T_0);
  require_positive("cosine_warm_restarts_lr", "T_mult", T_mult);
  return {"cosine_warm_restarts_lr", [=](int64_t e) {
            int64_t T = T_0;
            for (; e >= T; T *= T_mult) e -= T;
            return cosine(lr, eta, static_cast<double>(e) / static_cast<double>(T));
          }};
}
Schedule one_cycle_lr(double max_lr, int64_t total, double warm, double div, double final_div) {
  require_rate("one_cycle_lr", max_lr);
  require_positive("one_cycle_lr", "total", total);
  require(warm > 0 && warm < 1, "one_cycle_lr: warm_fraction must lie between 0 and 1, got {}.", warm);
  return {"one_cycle_lr", [=](int64_t e) {
            const double t = static_cast<double>(std::min(e, total)) / static_cast<double>(total), low = max_lr / div;
            return t < warm ? cosine(low, max_lr, t / warm) : cosine(max_lr, low / final_div, (t - warm) / (1 - warm));
          }};
}
Schedule cyclic_lr(double base_lr, double max_lr, int64_t half) {
  require_rate("cyclic_lr", base_lr);
  require_positive("cyclic_lr", "half_cycle", half);
  return {"cyclic_lr", [=](int64_t e) {
            const int64_t p = e % (2 * half), up = p < half ? p : 2 * half - p;
            return base_lr + (max_lr - base_lr) * static_cast<double>(up) / static_cast<double>(half);
          }};
}
Schedule piecewise_constant_lr(std::vector<int64_t> boundaries, std::vector<double> values) {
  require(values.size() == boundaries.size() + 1, "piecewise_constant_lr: {} boundaries need {} values, got {}.",
          boundaries.size(), boundaries.size() + 1, values.size());
  return {"piecewise_constant_lr", [=](int64_t e) {
            const auto passed = std::count_if(boundaries.begin(), boundaries.end(), [e](int64_t b) { return b <= e; });
            return values[static_cast<size_t>(passed)];
          }};
}
Schedule sequential_lr(std::vector<Schedule> parts, std::vector<int64_t> milestones) {
  require(parts.size() == milestones.size() + 1, "sequential_lr: {} milestones need {} schedules, got {}.",
          milestones.size(), milestones.size() + 1, parts.size());
  return {"sequential_lr", [=](int64_t e) {
            size_t i = 0;
            while (i < milestones.size() && e >= milestones[i]) ++i;
            return parts[i].at(i ? e - milestones[i - 1] : e);
          }};
}

ReduceOnPlateau::ReduceOnPlateau(double lr, Options options)
    : options_(options),
      lr_(std::make_shared<double>(lr)),
      schedule_("ReduceOnPlateau", [lr = lr_](int64_t) { return *lr; }),
      best_(std::numeric_limits<double>::infinity()) {
  require_rate("ReduceOnPlateau", lr);
  require(options.factor > 0 && options.factor < 1, "ReduceOnPlateau: factor must lie between 0 and 1, got {}.",
          options.factor);
}

void ReduceOnPlateau::step(double value) {
  if (value < best_ * (1 - options_.threshold)) {
    best_ = value;
    bad_  = 0;
  } else if (++bad_ > options_.patience) {
    *lr_ = std::max(options_.min_lr, *lr_ * options_.factor);
    bad_ = 0;
    schedule_.step();
  }
}

}  // namespace braintrace::optim

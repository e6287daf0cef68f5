// SPDX-License-Identifier: Apache-2.0
// Learning rates over time. A schedule is a function of an epoch counter e, which starts at 0 and changes only when
// `step` or `set_epoch` is called; optimizer updates do not change it. A plain number is a constant schedule. The
// current rate is a state, so that jitted updates use it.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "braintrace/model/state.h"

namespace braintrace::optim {

class Schedule {
 public:
  using Rate = std::function<double(int64_t epoch)>;

  Schedule(double constant);
  Schedule(std::string text, Rate rate);

  double               operator()() const { return rate_(now_->epoch); }  // now
  double               at(int64_t epoch) const { return rate_(epoch); }
  void                 step() { set_epoch(epoch() + 1); }  // outside traced functions
  int64_t              epoch() const { return now_->epoch; }
  void                 set_epoch(int64_t e);
  const LongTermState& rate() const { return now_->rate; }  // f64, of the current epoch
  const std::string&   text() const { return text_; }

 private:
  struct Now {
    int64_t       epoch;
    LongTermState rate;
  };
  std::string          text_;
  Rate                 rate_;
  std::shared_ptr<Now> now_;  // shared by copies
};

Schedule step_lr(double lr, int64_t size, double gamma = 0.1);                           // lr γ^⌊e/s⌋
Schedule multi_step_lr(double lr, std::vector<int64_t> milestones, double gamma = 0.1);  // lr γ^#{m ≤ e}
Schedule exponential_lr(double lr, double gamma);                                        // lr γ^e
struct ExponentialDecayOptions {
  int64_t               begin     = 0;
  bool                  staircase = false;
  std::optional<double> end_value = {};
};
Schedule exponential_decay_lr(double lr, int64_t decay_steps, double decay_rate,
                              ExponentialDecayOptions options = {});         // lr rate^{max(e-begin,0)/steps}
Schedule cosine_annealing_lr(double lr, int64_t T_max, double eta_min = 0);  // η + (lr-η)(1+cos(π min(e,T)/T))/2
Schedule polynomial_lr(double lr, int64_t n, double power = 1);              // lr (1 - min(e,n)/n)^p
Schedule linear_lr(double lr, double start_factor, double end_factor, int64_t n);
Schedule warmup_lr(int64_t n, Schedule after);  // from 0 to `after` over n epochs
Schedule warmup_cosine_lr(double lr, int64_t warmup, int64_t total, double eta_min = 0);
Schedule cosine_warm_restarts_lr(double lr, int64_t T_0, int64_t T_mult = 1, double eta_min = 0);
Schedule one_cycle_lr(double max_lr, int64_t total, double warm_fraction = 0.3, double div = 25,
                      double final_div = 1e4);
Schedule cyclic_lr(double base_lr, double max_lr, int64_t half_cycle);  // triangles
Schedule piecewise_constant_lr(std::vector<int64_t> boundaries, std::vector<double> values);
Schedule sequential_lr(std::vector<Schedule> parts,
                       std::vector<int64_t>  milestones);  // each counts epochs from its start

// Multiplies the rate by a factor if a watched value has not improved for `patience` calls of `step(value)`. Pass it to
// an optimizer as its schedule.
class ReduceOnPlateau {
 public:
  struct Options {
    double  factor = 0.1, threshold = 1e-4, min_lr = 0;
    int64_t patience = 10;
  };
  ReduceOnPlateau(double lr, Options options);
  explicit ReduceOnPlateau(double lr) : ReduceOnPlateau(lr, Options()) {}
  void   step(double value);  // smaller is better
  double operator()() const { return *lr_; }
         operator Schedule() const { return schedule_; }

 private:
  Options                 options_;
  std::shared_ptr<double> lr_;
  Schedule                schedule_;
  double                  best_;
  int64_t                 bad_ = 0;
};

}  // namespace braintrace::optim

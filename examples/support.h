// SPDX-License-Identifier: Apache-2.0
// Code that the training examples share: flags, the training loop, one line per epoch, a picture of the losses.
//
// For each batch of sequences
//   states and traces are reset      sequences are independent
//   a sweep                          runs the model and accumulates the gradient of the learning rule
//   the optimizer                    takes one step
#pragma once

#include "braintrace/braintrace.h"
#include "braintrace/tasks/task.h"
#include "braintrace/viz/chart.h"

namespace examples {

// The default of a flag, in full and with --quick. Bars separate the possible values; the first is the default.
struct Default {
  std::string full, quick;
  Default(const char* always) : full(always), quick(always) {}
  Default(const char* in_full, const char* shortened) : full(in_full), quick(shortened) {}
};

// Flags `--name value`, in addition to `--quick`, `--seed N` and `--plot FILE`. For an unknown flag or an invalid
// value, the program prints the list of flags and ends.
class Flags {
 public:
  Flags(int argc, char** argv, const std::map<std::string, Default>& defaults = {});

  bool               quick() const { return quick_; }
  int64_t            length(int64_t full, int64_t shortened) const { return quick_ ? shortened : full; }
  const std::string& operator[](const std::string& name) const { return values_.at(name); }
  bool               yes(const std::string& name) const { return values_.at(name) == "yes"; }
  int64_t            count(const std::string& name) const;  // a whole number from 1
  double             real(const std::string& name) const;
  uint64_t           seed() const { return static_cast<uint64_t>(count("seed")); }

 private:
  std::map<std::string, std::string> values_;
  bool                               quick_ = false;
};

struct Settings {
  std::string           rule      = "D_RTRL";
  bt::RuleOptions       options   = {};
  int64_t               batch     = 32;
  double                lr        = 1e-3;
  double                eps       = 1e-8;                 // of Adam
  std::optional<double> clip      = {};                   // of the gradient's norm
  bt::Reduction         reduction = bt::Reduction::Mean;  // over the scored steps
  double                l2        = 0;                    // times Σ θ², added to the loss
  bool                  lanes     = false;                // one learner per sample, instead of one for the batch
  bool                  votes     = false;                // outputs are averaged over scored steps before they answer
};

struct Score {
  double loss     = 0;  // mean over scored steps and samples
  double accuracy = 0;  // of classes
};

class Trainer {
 public:
  // The model and the task must outlive the trainer.
  Trainer(bt::nn::Module& model, const bt::tasks::Task& task, Settings settings);

  bt::OnlineLearner& learner() { return *learner_; }

  // One update of the weights for each of `count` batches; the mean score.
  Score train(int64_t first, int64_t count) { return mean_score(bt::tasks::Part::Train, first, count, update_); }
  // The mean score on sequences that are not used for training.
  Score test(int64_t count) { return mean_score(bt::tasks::Part::Validation, 0, count, test_); }
  // The model's outputs [T, B, …] for inputs [T, B, …].
  bt::Tensor outputs(const bt::Tensor& xs);

 private:
  using Scores   = std::pair<bt::Tensor, bt::Tensor>;  // loss, accuracy
  using Function = std::function<Scores(bt::Tensor xs, bt::Tensor ys, bt::Tensor mask)>;

  Score         mean_score(bt::tasks::Part part, int64_t first, int64_t count, const bt::Jitted<Function>& f) const;
  bt::BatchSize batch_of_states() const { return settings_.lanes ? bt::BatchSize() : settings_.batch; }
  bt::Tensor    loss_of(const bt::Tensor& out, const bt::Tensor& y) const;
  bt::Tensor    penalty() const;
  bt::Window    window() const { return settings_.rule == "BPTT" ? bt::Window::all() : bt::Window::automatic(); }
  Scores        update(const bt::Tensor& xs, const bt::Tensor& ys, const bt::Tensor& mask);
  Scores        scores(const bt::Tensor& outputs, const bt::Tensor& ys, const bt::Tensor& mask) const;

  bt::nn::Module&                    model_;
  const bt::tasks::Task&             task_;
  Settings                           settings_;
  bt::optim::Adam                    opt_;
  std::unique_ptr<bt::OnlineLearner> learner_;
  bt::Jitted<Function>               update_, test_;
};

// The mean loss of every epoch, one curve per run.
using Curves = std::vector<bt::Curve>;

// `epochs` times `batches` updates, with a line for each epoch; stops early if `enough` returns true.
std::vector<Score> train(Trainer& trainer, const std::string& name, int64_t epochs, int64_t batches, Curves& curves,
                         const std::function<bool(const Score&)>& enough = {});

// Writes a page with the loss curves if --plot is given, prints whether the goal was reached, returns the exit code.
int finish(const Flags& flags, const Curves& curves, bool reached, const std::string& goal);

// Runs the example on the compiled backend; an error becomes a message and exit code 2.
int        guarded(const std::function<int()>& example);
inline int guarded(int (*example)(const Flags&), const Flags& flags) {
  return guarded([&] { return example(flags); });
}

}  // namespace examples

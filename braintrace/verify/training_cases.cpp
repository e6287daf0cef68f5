// SPDX-License-Identifier: Apache-2.0
// Training cases: short runs of Adam, with the first gradients and parameters and the curve of losses.
#include <algorithm>

#include "braintrace/algorithms/compile.h"
#include "braintrace/algorithms/etrace_vmap.h"
#include "braintrace/functions/functions.h"
#include "braintrace/functions/loops.h"
#include "braintrace/nn/loss.h"
#include "braintrace/nn/optim.h"
#include "braintrace/ops/math.h"
#include "braintrace/ops/move.h"
#include "braintrace/ops/reduce.h"
#include "braintrace/verify/recorded_run.h"
#include "braintrace/verify/verify.h"

namespace braintrace::golden {

namespace {

constexpr int64_t tight_spiking_updates = 10;  // later a spike may flip by rounding

struct Task {
  std::string name;
  DType       dtype;
  int64_t     width;  // of the model input

  Tensor input(const Tensor& x) const { return name == "copying" ? one_hot(x, width, dtype) : convert(x, dtype); }
  Tensor loss(const Tensor& y, const Tensor& target) const {
    return name == "integrator" ? mean(square(y - target))
                                : mean(losses::softmax_cross_entropy_with_integer_labels(y, target));
  }
};

Array             first_rows(const Array& a, int64_t n) { return slice_axis(Tensor(a), 0, 0, n).array(); }
constexpr int64_t recorded_updates = 3;  // whose gradients and parameters a case holds

RuleOptions options_of(const Case& c, const json& algorithm) {
  RuleOptions options{.compile = compile_options(c)};
  if (algorithm.value("vjp_method", "") == "multi-step") options.vjp_method = VjpMethod::MultiStep;
  if (algorithm.contains("decay_or_rank")) options.decay_or_rank = TraceDecay::decay(algorithm["decay_or_rank"]);
  if (algorithm.contains("kappa_filter_decay"))
    options.kappa_filter_decay = algorithm["kappa_filter_decay"].get<double>();
  return options;
}

// The run that a case describes, and what it left.
class RecordedTraining {
 public:
  explicit RecordedTraining(const Case& c);

  void run();
  void compare(CaseReport& report) const;

 private:
  using ByLeaf = std::map<std::string, std::vector<Array>>;  // one array an update

  Tensor answer(const Tensor& x) { return mapped_ ? (*mapped_)(task_.input(x)) : (*learner_)(task_.input(x)); }
  void   clear_states();
  // Of one sequence; the loss is the mean over its counted steps.
  std::pair<double, Gradients> gradient(const Array& xs, const Array& targets);
  // As recorded, weights without a trace stay where they are in the single-step method.
  Gradients moving(const Gradients& grads) const;
  void      keep_first(const Gradients& grads);
  void      leave_out_the_rest(CaseReport& report) const;

  const Case&                    case_;
  const json&                    algorithm_;
  const std::string              name_;
  const bool                     multi_;
  const int64_t                  updates_, warmup_;
  const Task                     task_;
  const bool                     spiking_;
  const std::string              unsound_;  // why only the first loss can be compared; empty: all can
  std::shared_ptr<Module>        model_;
  std::unique_ptr<OnlineLearner> learner_;
  std::optional<ETraceVmap>      mapped_;
  std::vector<Array>             losses_;
  ByLeaf                         grads_first_, params_first_;

  std::function<Tensor(Tensor)>                               step_;  // without learning
  std::function<std::pair<Tensor, Gradients>(Tensor, Tensor)> gradient_of_step_, gradient_of_sequence_;
};

RecordedTraining::RecordedTraining(const Case& c)
    : case_(c),
      algorithm_(c.info.at("algorithm")),
      name_(algorithm_.at("name")),
      multi_(algorithm_.value("vjp_method", "") == "multi-step"),
      updates_(c.info.at("n_steps")),
      warmup_(c.info.at("warmup_steps")),
      task_{c.info.at("task").at("name"), DType::F64, c.info.at("model").at("layers")[0].at("n_in").get<int64_t>()},
      spiking_(task_.name == "spike classification"),
      unsound_(multi_ ? doubtful_multi_step(name_) : "") {
  const bool lanes    = algorithm_.value("batching", "") == "vmap";
  model_              = lanes ? load_lane_model(c) : load_parameters(c);
  learner_            = algorithm_named(name_).learner(*model_, options_of(c, algorithm_));
  const Tensor sample = task_.input(at_step(at_step(c.array("data.x"), 0).array(), 0));
  learner_->compile_graph(lanes ? at_step(sample.array(), 0) : sample);
  if (lanes) mapped_.emplace(*learner_, c.info.at("B").get<int64_t>());

  const auto step     = [this](Tensor x, Tensor target) { return task_.loss(answer(x), target); };
  const auto sequence = [this](Tensor xs, Tensor targets) {  // one window over everything
    const Tensor ys = (*learner_)(MultiStepData{{task_.input(xs)}});
    return sum(for_loop([&](Tensor y, Tensor t) { return task_.loss(y, t); }, slice_axis(ys, 0, warmup_, ys.shape()[0]),
                        targets));
  };
  step_                 = jit([this](Tensor x) { return answer(x); });
  gradient_of_step_     = jit(value_and_grad(step, model_->params()));
  gradient_of_sequence_ = jit(value_and_grad(sequence, model_->params()));
}

void RecordedTraining::clear_states() {
  for (const auto& [path, state] : model_->states())
    if (!state.is_param())
      for (const std::string& leaf : state.leaf_names()) state.set_leaf(leaf, zeros_like(state.leaf(leaf)));
  learner_->reset_state();
}

std::pair<double, Gradients> RecordedTraining::gradient(const Array& xs, const Array& targets) {
  const int64_t T     = xs.shape()[0];
  const double  count = static_cast<double>(T - warmup_);
  Gradients     grads;
  double        total = 0;
  if (!algorithm_named(name_).learns_step_by_step()) {
    const auto [value, g] = gradient_of_sequence_(Tensor(xs), Tensor(targets));
    grads                 = g;
    total                 = value.item();
  } else {
    for (int64_t t = 0; t < warmup_; ++t) step_(at_step(xs, t));
    for (int64_t t = warmup_; t < T; ++t) {
      const Tensor target   = spiking_ ? Tensor(targets) : at_step(targets, t - warmup_);
      const auto [value, g] = gradient_of_step_(at_step(xs, t), target);
      grads                 = t == warmup_ ? g : grads + g;
      total += value.item();
    }
  }
  if (case_.info.at("reduction") == "mean") grads = grads / Tensor(count);
  return {total / count, grads};
}

Gradients RecordedTraining::moving(const Gradients& grads) const {
  Gradients::Map kept;
  for (const auto& [path, leaves] : grads)
    for (const auto& [leaf, g] : leaves) {
      const bool moves = multi_ || !algorithm_named(name_).learns_step_by_step() ||
                         is_traced(learner_->graph(), leaf_name(path, leaf));
      kept[path][leaf] = moves ? g : zeros_like(g);
    }
  return Gradients(kept);
}

void RecordedTraining::run() {
  optim::Adam opt(case_.info.at("optimizer").at("lr").get<double>());
  opt.register_trainable_weights(model_->params());
  for (int64_t k = 0; k < updates_; ++k) {
    clear_states();
    const Tensor xs = at_step(case_.array("data.x"), k), targets = at_step(case_.array("data.target"), k);
    const auto [loss, all] = gradient(xs.array(), targets.array());
    losses_.push_back(Array::of<double>({loss}, {}));
    if (!unsound_.empty()) return;
    const Gradients grads = moving(all);
    opt.update(grads);
    if (k < recorded_updates) keep_first(grads);
  }
}

void RecordedTraining::keep_first(const Gradients& grads) {
  for (const auto& [path, leaves] : grads)
    for (const auto& [leaf, g] : leaves) grads_first_[leaf_name(path, leaf)].push_back(g.array());
  for (const auto& [path, state] : model_->params())
    for (const std::string& leaf : state.leaf_names())
      params_first_[leaf_name(path, leaf)].push_back(state.leaf(leaf).array());
}

void RecordedTraining::leave_out_the_rest(CaseReport& report) const {
  for (const auto& entry : case_.arrays)
    if (entry.first.rfind("param.", 0) != 0 && entry.first.rfind("data.", 0) != 0)
      report.leave_out(entry.first + (entry.first == "loss" ? " after the first update" : ""), unsound_);
}

void RecordedTraining::compare(CaseReport& report) const {
  const Array& curve = case_.array("loss");
  if (!unsound_.empty()) {
    report.array("loss", stacked(losses_), first_rows(curve, 1), {1e-9});
    return leave_out_the_rest(report);
  }
  for (const auto& [leaf, rows] : grads_first_)
    report.array("grad_first." + leaf, stacked(rows), case_.array("grad_first." + leaf), {1e-8});
  for (const auto& [leaf, rows] : params_first_)
    report.array("param_first." + leaf, stacked(rows), case_.array("param_first." + leaf), {1e-8});
  const int64_t n = spiking_ ? std::min(tight_spiking_updates, updates_) : updates_;
  report.array("loss", first_rows(stacked(losses_), n), first_rows(curve, n), {1e-6});
  if (spiking_) {
    report.leave_out("loss and parameters after update " + std::to_string(n), "a spike may flip by rounding");
    return;
  }
  for (const auto& [path, state] : model_->params())
    for (const std::string& leaf : state.leaf_names()) {
      const std::string full = "param_final." + leaf_name(path, leaf);
      report.array(full, state.leaf(leaf).array(), case_.array(full), {1e-6});
    }
}

}  // namespace

void verify_training_case(const Case& c, CaseReport& report) {
  RecordedTraining training(c);
  training.run();
  training.compare(report);
}

}  // namespace braintrace::golden

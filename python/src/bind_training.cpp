// SPDX-License-Identifier: Apache-2.0
// Initializers, losses, optimizers, schedules.
#include <exception>
#include <functional>
#include <optional>
#include <type_traits>

#include "bindings.h"
#include "braintrace/nn/init.h"
#include "braintrace/nn/loss.h"
#include "braintrace/nn/optim.h"
#include "casters.h"
#include "doc.h"
#include "gil.h"
#include "tree.h"

namespace pybraintrace {

namespace {

// Parameters that several docstrings describe.
namespace about {
constexpr const char* lr         = "lr: learning rate, a number or a Schedule.";
constexpr const char* momentum   = "momentum: momentum factor.";
constexpr const char* clip_norm  = "grad_clip_norm: clip gradients to this global norm.";
constexpr const char* clip_value = "grad_clip_value: clip each element to [-c, c].";
constexpr const char* l2         = "weight_decay: L2 weight decay.";
constexpr const char* decoupled  = "weight_decay: decoupled weight decay.";
constexpr const char* average    = "average: number of updates that the averaged weights cover; 0 for no averages.";
constexpr const char* eps        = "eps: added to the denominator.";
}  // namespace about

using Init = Given<bt::nn::Initializer>;

// An operator between initializers; its results record how they were made, for copies (_pickle.py).
template <class F>
auto combined(const char* name, F f) {
  return [name, f](nb::handle a, Init b) {
    nb::object made = nb::cast(bt::nn::Initializer(f(nb::cast<bt::nn::Initializer&>(a), b.get())));
    made.attr("_made") =
        nb::make_tuple(nb::module_::import_("operator").attr(name), nb::make_tuple(a, b.source), nb::dict());
    return made;
  };
}

void bind_initializers(nb::module_& parent) {
  nb::module_ m  = parent.def_submodule("init", "Initializers of parameters and states.");
  namespace init = bt::nn::init;
  using bt::nn::Initializer;
  nb::class_<Initializer>(
      m, "Initializer", nb::dynamic_attr(),
      "A function from a shape to an initial value. Initializers can be added, subtracted, multiplied and divided.")
      .def(
          "__call__", [](const Initializer& f, Dims shape, nb::args, nb::kwargs) { return f(shape); }, "shape"_a,
          "args"_a, "kwargs"_a, "Return a new value of the given shape.")
      .def("__repr__", [](const Initializer& f) { return f.text(); })
      .def(
          "clip", [](const Initializer& a, double lo, double hi) { return bt::nn::clipped(a, lo, hi); }, "lo"_a, "hi"_a,
          "Return an initializer whose values are limited to [lo, hi].")
      .def("__add__", combined("add", std::plus<>()), nb::is_operator(),
           nb::sig("def __add__(self, other: pybraintrace.typing.InitializerLike) -> Initializer"))
      .def("__sub__", combined("sub", std::minus<>()), nb::is_operator(),
           nb::sig("def __sub__(self, other: pybraintrace.typing.InitializerLike) -> Initializer"))
      .def("__mul__", combined("mul", std::multiplies<>()), nb::is_operator(),
           nb::sig("def __mul__(self, other: pybraintrace.typing.InitializerLike) -> Initializer"))
      .def("__rmul__", combined("mul", std::multiplies<>()), nb::is_operator(),
           nb::sig("def __rmul__(self, other: pybraintrace.typing.InitializerLike) -> Initializer"))
      .def("__truediv__", combined("truediv", std::divides<>()), nb::is_operator(),
           nb::sig("def __truediv__(self, other: pybraintrace.typing.InitializerLike) -> Initializer"));
  m.def(
      "initializer", [](Init f) { return f.get(); }, "value"_a,
      "Convert a number, an array, a name, or a function of the shape to an initializer.");
  m.def("names", &init::names, "Return the names of the known initializers.");
  m.def("constant", &init::constant, "value"_a, "Fill with one value.");
  m.def("uniform", &init::uniform, "low"_a = 0.0, "high"_a = 1.0, "Draw uniformly from [low, high).");
  m.def("normal", &init::normal, "mean"_a = 0.0, "std"_a = 1.0, "Draw from a normal distribution.");
  m.def("truncated_normal", &init::truncated_normal, "mean"_a = 0.0, "std"_a = 1.0, "low"_a = -2.0, "high"_a = 2.0,
        "Draw from a truncated normal distribution; `low` and `high` are in standard deviations.");
  m.def("log_normal", &init::log_normal, "mean"_a = 0.0, "std"_a = 1.0, "Draw from a log-normal distribution.");
  m.def("exponential", &init::exponential, "scale"_a = 1.0, "Draw from an exponential distribution.");
  m.def("gamma", &init::gamma, "shape"_a, "scale"_a = 1.0, "Draw from a gamma distribution.");
  m.def("beta", &init::beta, "a"_a, "b"_a, "Draw from a beta distribution.");
  m.def("weibull", &init::weibull, "shape"_a, "scale"_a = 1.0, "Draw from a Weibull distribution.");
  m.def("identity", &init::identity, "gain"_a = 1.0, "Return a multiple of the identity matrix.");
  m.def("orthogonal", &init::orthogonal, "gain"_a = 1.0, "Draw a random orthogonal matrix.");
  m.def("delta_orthogonal", &init::delta_orthogonal, "gain"_a = 1.0,
        "Draw a convolution kernel that is orthogonal at its center and zero elsewhere.");
  namespace p = init::plain;
  m.def("kaiming_normal", &p::kaiming_normal, "scale"_a = 2.0,
        "Draw from a normal distribution with variance scale/fan_in.");
  m.def("kaiming_uniform", &p::kaiming_uniform, "scale"_a = 2.0,
        "Draw from a uniform distribution with variance scale/fan_in.");
  m.def("xavier_normal", &p::xavier_normal, "scale"_a = 1.0,
        "Draw from a normal distribution with variance scale/fan_avg.");
  m.def("xavier_uniform", &p::xavier_uniform, "scale"_a = 1.0,
        "Draw from a uniform distribution with variance scale/fan_avg.");
  m.def("lecun_normal", &p::lecun_normal, "scale"_a = 1.0,
        "Draw from a normal distribution with variance scale/fan_in.");
  m.def("lecun_uniform", &p::lecun_uniform, "scale"_a = 1.0,
        "Draw from a uniform distribution with variance scale/fan_in.");
}

using Loss = bt::Tensor (*)(const bt::Tensor&, const bt::Tensor&);

// The leaves of a tree of weights.
bt::Tensors all_tensors(nb::handle weights) {
  Tree::Leaves leaves;
  Tree::of(weights, leaves);
  return tensors_of(leaves, "a regularizer");
}

void bind_losses(nb::module_& parent) {
  nb::module_ m = parent.def_submodule("losses", "Losses, regularizers and metrics.");
  namespace l   = bt::losses;
  const std::tuple<const char*, Loss, const char*> two[] = {
      {"softmax_cross_entropy_with_integer_labels", l::softmax_cross_entropy_with_integer_labels,
       "Softmax cross-entropy of logits [..., C] and integer labels [...], one value per row."},
      {"softmax_cross_entropy", l::softmax_cross_entropy,
       "Softmax cross-entropy of logits [..., C] and distributions [..., C], one value per row."},
      {"sigmoid_binary_cross_entropy", l::sigmoid_binary_cross_entropy,
       "Binary cross-entropy of logits and targets in [0, 1], one value per element."},
      {"nll_loss", l::nll_loss,
       "Negative log-likelihood of log-probabilities [..., C] and integer labels [...], one value per row."},
      {"kl_divergence", l::kl_divergence,
       "Kullback-Leibler divergence sum y (log y - log p) of log-probabilities and target distributions, one value per "
       "row."},
      {"hinge_loss", l::hinge_loss,
       "Hinge loss max(0, 1 - prediction y) with targets y of +1 or -1, one value per element."},
      {"mse", l::mse, "Mean squared error."},
      {"l2_loss", l::l2_loss, "Half the squared error, one value per element."},
      {"mae", l::mae, "Mean absolute error."},
      {"log_cosh", l::log_cosh, "Log-cosh of the error, one value per element."},
      {"masked_mean", l::masked_mean, "Mean of the values where a mask is one."},
      {"accuracy", bt::metrics::accuracy, "Fraction of rows whose largest score is at the label."},
      {"accuracy_over_time", bt::metrics::accuracy_over_time,
       "Accuracy of scores [T, ..., C] after averaging over time."},
      {"r2_score", bt::metrics::r2_score,
       "Coefficient of determination R^2: 1 - sum (y - prediction)^2 / sum (y - mean y)^2."},
  };
  for (const auto& [name, f, doc] : two)
    m.def(
        name, [f = f](Arg a, Arg b) { return f(a, b); }, "predictions"_a, "targets"_a, doc);
  const auto reduction = [](const std::string& name) {
    bt::require(name == "none" || name == "mean" || name == "sum",
                "reduction: expected 'none', 'mean' or 'sum', got '{}'.", name);
    return name == "none" ? l::Reduction::None : name == "mean" ? l::Reduction::Mean : l::Reduction::Sum;
  };
  m.def(
      "squared_error", [reduction](Arg a, Arg b, const std::string& r) { return l::squared_error(a, b, reduction(r)); },
      "predictions"_a, "targets"_a, "reduction"_a = "none", "Squared error; `reduction` is 'none', 'mean' or 'sum'.");
  m.def(
      "absolute_error",
      [reduction](Arg a, Arg b, const std::string& r) { return l::absolute_error(a, b, reduction(r)); },
      "predictions"_a, "targets"_a, "reduction"_a = "mean", "Absolute error; `reduction` is 'none', 'mean' or 'sum'.");
  m.def(
      "huber_loss", [](Arg a, Arg b, double delta) { return l::huber_loss(a, b, delta); }, "predictions"_a, "targets"_a,
      "delta"_a = 1.0, "Huber loss: quadratic for errors up to `delta`, linear beyond; one value per element.");
  m.def(
      "cosine_similarity", [](Arg a, Arg b, double eps) { return l::cosine_similarity(a, b, eps); }, "predictions"_a,
      "targets"_a, "epsilon"_a = 1e-8,
      "Cosine similarity of the rows of the last axis; norms below `epsilon` count as `epsilon`.");
  m.def(
      "confusion_matrix", [](Arg a, Arg b, int64_t n) { return bt::metrics::confusion_matrix(a, b, n); }, "scores"_a,
      "labels"_a, "num_classes"_a,
      "Count predictions: entry [i, j] is the number of samples of class i predicted as j.");
  m.def(
      "l1", [](nb::handle w) { return l::l1(all_tensors(w)); }, "weights"_a, "Sum of absolute values over all leaves.");
  m.def(
      "l2", [](nb::handle w) { return l::l2(all_tensors(w)); }, "weights"_a, "Sum of squares over all leaves.");
  m.def(
      "voltage_regularizer",
      [](nb::handle V, double lo, double hi, double factor) {
        return l::voltage_regularizer(tensors_from(V), lo, hi, factor);
      },
      "V"_a, "lo"_a, "hi"_a, "factor"_a = 1.0,
      "Penalty on membrane potentials outside [lo, hi].\n"
      "\n"
      "Args:\n"
      "    V: potentials, one array per layer.\n"
      "    lo: lower bound.\n"
      "    hi: upper bound.\n"
      "    factor: weight of the penalty.");
  m.def(
      "rate_regularizer",
      [](nb::handle z, double hz, double dt, double factor) {
        return l::rate_regularizer(tensors_from(z), hz, dt, factor);
      },
      "spikes"_a, "rate_hz"_a, "dt_ms"_a, "factor"_a = 1.0,
      "Penalty on the deviation of firing rates from a target.\n"
      "\n"
      "Args:\n"
      "    spikes: spikes, one array per layer.\n"
      "    rate_hz: target rate (Hz).\n"
      "    dt_ms: time step (ms).\n"
      "    factor: weight of the penalty.");
}

bt::optim::Common common(std::optional<double> norm, std::optional<double> value, double decay, int64_t average) {
  return {norm, value, decay, average};
}

// The context manager of `with optimizer.averaged():`.
class Judged {
 public:
  explicit Judged(const bt::optim::Optimizer& optimizer) : optimizer_(optimizer) {
    bt::require(optimizer.averages(), "averaged: this optimizer keeps no averages; create it with average=N.");
  }
  Judged(const Judged&)            = delete;
  Judged& operator=(const Judged&) = delete;
  ~Judged() {
    try {
      leave();
    } catch (const std::exception&) {  // weights of a finished trace
    }
  }

  void enter() {
    bt::require(!weights_, "averaged: the weights are already averaged; call averaged() for each `with` block.");
    weights_.emplace(optimizer_);
  }
  void leave() {
    if (weights_) weights_->end();
    weights_.reset();
  }

 private:
  const bt::optim::Optimizer&        optimizer_;
  std::optional<bt::optim::Averaged> weights_;
};

void bind_optimizers(nb::module_& parent) {
  nb::module_ m = parent.def_submodule("optim", "Optimizers and learning-rate schedules.");
  namespace o   = bt::optim;
  using Rate    = Given<o::Schedule>;
  nb::class_<o::Schedule>(m, "Schedule", nb::dynamic_attr(),
                          "A learning rate as a function of the epoch.\n"
                          "\n"
                          "Args:\n"
                          "    rate: a constant, or a function from the epoch to the rate.")
      .def(
          "__init__",
          [](nb::pointer_and_handle<o::Schedule> self, nb::handle f) {
            if (PyFloat_Check(f.ptr()) || PyLong_Check(f.ptr()))
              new (self.p) o::Schedule(nb::cast<double>(f));
            else
              new (self.p) o::Schedule("custom", [f = hold(f)](int64_t epoch) {
                WithGil gil;
                return nb::cast<double>(nb::float_(nb::handle(f.get())(epoch)));
              });
            self.h.attr("_made") = nb::make_tuple(self.h.type(), nb::make_tuple(f), nb::dict());
          },
          "rate"_a)
      .def(
          "__call__", [](const o::Schedule& s, std::optional<int64_t> epoch) { return epoch ? s.at(*epoch) : s(); },
          "epoch"_a = nb::none(), "Return the rate at an epoch, by default the current one.")
      .def("step_epoch", &o::Schedule::step, "Advance to the next epoch.")
      .def_prop_rw("epoch", &o::Schedule::epoch, &o::Schedule::set_epoch, "The current epoch.")
      .def("__repr__", [](const o::Schedule& s) { return s.text(); });
  m.def("StepLR", &o::step_lr, "lr"_a, "step_size"_a, "gamma"_a = 0.1,
        "Multiply the rate by gamma every `step_size` epochs.");
  m.def("MultiStepLR", &o::multi_step_lr, "lr"_a, "milestones"_a, "gamma"_a = 0.1,
        "Multiply the rate by gamma at each milestone.");
  m.def("ExponentialLR", &o::exponential_lr, "lr"_a, "gamma"_a, "Multiply the rate by gamma in every epoch.");
  m.def(
      "ExponentialDecayLR",
      [](double lr, int64_t steps, double rate, int64_t begin, bool staircase, std::optional<double> end) {
        return o::exponential_decay_lr(lr, steps, rate, {begin, staircase, end});
      },
      "lr"_a, "decay_steps"_a, "decay_rate"_a, "transition_begin"_a = 0, "staircase"_a = false,
      "end_value"_a = nb::none(),
      "Exponential decay lr decay_rate^(e / decay_steps).\n"
      "\n"
      "Args:\n"
      "    lr: initial rate.\n"
      "    decay_steps: epochs per factor of `decay_rate`.\n"
      "    decay_rate: the factor.\n"
      "    transition_begin: epoch where the decay starts.\n"
      "    staircase: decay in steps.\n"
      "    end_value: limit of the rate.");
  m.def("CosineAnnealingLR", &o::cosine_annealing_lr, "lr"_a, "T_max"_a, "eta_min"_a = 0.0,
        "Cosine annealing from `lr` to `eta_min` over `T_max` epochs.");
  m.def("PolynomialLR", &o::polynomial_lr, "lr"_a, "total_iters"_a, "power"_a = 1.0,
        "Polynomial decay lr (1 - e/total_iters)^power.");
  m.def("LinearLR", &o::linear_lr, "lr"_a, "start_factor"_a, "end_factor"_a, "total_iters"_a,
        "Linear change from lr start_factor to lr end_factor over `total_iters` epochs.");
  m.def(
      "WarmupLR", [](int64_t n, Rate after) { return o::warmup_lr(n, after); }, "n"_a, "after"_a,
      "Linear warmup from 0 over n epochs, then the schedule `after`.");
  m.def("WarmupCosineLR", &o::warmup_cosine_lr, "lr"_a, "warmup"_a, "total"_a, "eta_min"_a = 0.0,
        "Linear warmup, then cosine annealing to `eta_min` at epoch `total`.");
  m.def("CosineAnnealingWarmRestarts", &o::cosine_warm_restarts_lr, "lr"_a, "T_0"_a, "T_mult"_a = 1, "eta_min"_a = 0.0,
        "Cosine annealing with restarts: the first period has `T_0` epochs, each next one `T_mult` times as many.");
  m.def("OneCycleLR", &o::one_cycle_lr, "max_lr"_a, "total"_a, "pct_start"_a = 0.3, "div_factor"_a = 25.0,
        "final_div_factor"_a = 1e4, "One-cycle schedule: from max_lr/div_factor up to `max_lr`, then down.");
  m.def("CyclicLR", &o::cyclic_lr, "base_lr"_a, "max_lr"_a, "step_size_up"_a,
        "Triangular cycles between `base_lr` and `max_lr`.");
  m.def(
      "SequentialLR",
      [](nb::handle parts, std::vector<int64_t> milestones) {
        std::vector<o::Schedule> schedules;
        for (nb::handle part : nb::iter(parts)) schedules.push_back(schedule_from(part));
        return o::sequential_lr(std::move(schedules), std::move(milestones));
      },
      "schedules"_a, "milestones"_a,
      "Schedules in sequence; each starts at its milestone and counts epochs from there.");
  m.def("PiecewiseConstantLR", &o::piecewise_constant_lr, "boundaries"_a, "values"_a,
        "Piecewise constant rate: values[i] before boundaries[i], and the last value after them.");

  nb::class_<o::ReduceOnPlateau>(
      m, "ReduceLROnPlateau",
      "Multiply the rate by `factor` when a value has not improved for `patience` calls of `step`.\n"
      "\n"
      "Args:\n"
      "    lr: initial rate.\n"
      "    factor: factor of each reduction.\n"
      "    patience: calls without improvement before a reduction.\n"
      "    threshold: smallest change that counts as an improvement.\n"
      "    min_lr: lower limit of the rate.")
      .def(
          "__init__",
          [](o::ReduceOnPlateau* self, double lr, double factor, int64_t patience, double threshold, double min_lr) {
            new (self) o::ReduceOnPlateau(
                lr, {.factor = factor, .threshold = threshold, .min_lr = min_lr, .patience = patience});
          },
          "lr"_a, "factor"_a = 0.1, "patience"_a = 10, "threshold"_a = 1e-4, "min_lr"_a = 0.0)
      .def("step", &o::ReduceOnPlateau::step, "value"_a, "Report the watched value; smaller is better.")
      .def("__call__", &o::ReduceOnPlateau::operator(), "Return the current rate.")
      .def_prop_ro(
          "schedule", [](const o::ReduceOnPlateau& r) { return o::Schedule(r); },
          "The rate as a Schedule, for an optimizer.");
  nb::class_<o::Accumulator>(m, "Accumulator", "Accumulate gradients over `every` calls.")
      .def(nb::init<int64_t>(), "every"_a)
      .def(
          "add",
          [](o::Accumulator& a, nb::handle grads) {
            const auto mean = a.add(gradients_from(grads));
            return mean ? dict_of(*mean) : nb::object(nb::none());
          },
          "grads"_a, "Add gradients; return their mean after every `every` calls, else None.");

  nb::class_<o::Optimizer> c(m, "Optimizer", "Base class of optimizers.");
  c.def(
      "register_trainable_weights",
      [](o::Optimizer& self, nb::handle weights) { self.register_trainable_weights(states_from(weights)); },
      "weights"_a, "Set the weights to update: states by path, or a model.");
  c.def(
      "update", [](o::Optimizer& self, nb::handle grads) { self.update(gradients_from(grads)); }, "grads"_a,
      "Update the weights once.\n"
      "\n"
      "Args:\n"
      "    grads: gradients by path, as `grad` returns them.");
  c.def(
      "step", [](o::Optimizer& self, nb::handle grads) { self.update(gradients_from(grads)); }, "grads"_a,
      "Update the weights once; same as `update`.");
  c.def("step_epoch", &o::Optimizer::step_epoch, "Advance the learning-rate schedule by one epoch.");
  c.def(
      "group",
      [](o::Optimizer& self, Given<bt::Path> path, double lr_factor, std::optional<double> decay) {
        self.group(path, {lr_factor, decay});
      },
      "path"_a, "lr_factor"_a = 1.0, "weight_decay"_a = nb::none(),
      "Override settings for the weights at or below a path.\n"
      "\n"
      "Args:\n"
      "    path: path of a weight or a submodule.\n"
      "    lr_factor: factor of the learning rate.\n"
      "    weight_decay: weight decay of the group; None keeps that of the optimizer.");
  c.def_prop_ro("step_count", &o::Optimizer::step_count, "Number of updates so far.");
  c.def_prop_ro("current_lr", &o::Optimizer::current_lr, "The current learning rate.");
  c.def_prop_ro(
      "lr", [](o::Optimizer& self) { return self.lr(); }, "The learning-rate schedule.");
  c.def_prop_ro(
      "param_states",
      [](const o::Optimizer& self) {
        return nb::module_::import_("pybraintrace._modules").attr("StateDict")(dict_of(self.param_states()));
      },
      "The registered weights by path.");
  c.def(
      "states", [](const o::Optimizer& self) { return dict_of(self.states()); },
      "Return the states of the optimizer, for checkpoints.");
  nb::class_<Judged>(m, "Averaged", "Context manager in which the weights have their averaged values.")
      .def("__enter__", &Judged::enter)
      .def(
          "__exit__", [](Judged& self, nb::handle, nb::handle, nb::handle) { self.leave(); }, "kind"_a = nb::none(),
          "error"_a = nb::none(), "where"_a = nb::none());
  c.def(
      "averaged", [](const o::Optimizer& self) { return new Judged(self); }, nb::rv_policy::take_ownership,
      nb::keep_alive<0, 1>(),
      "Return a context manager in which the weights have their averages over about the last `average` updates.\n"
      "\n"
      "Evaluate the model inside `with optimizer.averaged():`; training continues with the original weights.");

  const auto none = nb::none();
#define PYBRAINTRACE_COMMON std::optional<double> norm, std::optional<double> value, double decay, int64_t average
#define PYBRAINTRACE_COMMON_ARGS(d) \
  nb::kw_only(), "grad_clip_norm"_a = none, "grad_clip_value"_a = none, "weight_decay"_a = d, "average"_a = 0
  nb::class_<o::SGD, o::Optimizer>(m, "SGD",
                                   with_args("Stochastic gradient descent, optionally with momentum.",
                                             {about::lr, about::momentum, "nesterov: use Nesterov momentum.",
                                              about::clip_norm, about::clip_value, about::l2, about::average})
                                       .c_str())
      .def(
          "__init__",
          [](o::SGD* self, Rate lr, double momentum, bool nesterov, PYBRAINTRACE_COMMON) {
            new (self) o::SGD(lr.get(), {momentum, nesterov, common(norm, value, decay, average)});
          },
          "lr"_a = 1e-3, "momentum"_a = 0.0, "nesterov"_a = false, PYBRAINTRACE_COMMON_ARGS(0.0));
  const auto with_momentum = [&]<class O>(std::type_identity<O>, const char* name, const char* doc) {
    nb::class_<O, o::SGD>(m, name, doc)
        .def(
            "__init__",
            [](O* self, Rate lr, double momentum, PYBRAINTRACE_COMMON) {
              new (self) O(lr.get(), momentum, common(norm, value, decay, average));
            },
            "lr"_a = 1e-3, "momentum"_a = 0.9, PYBRAINTRACE_COMMON_ARGS(0.0));
  };
  with_momentum(std::type_identity<o::Momentum>(), "Momentum",
                with_args("Gradient descent with momentum.",
                          {about::lr, about::momentum, about::clip_norm, about::clip_value, about::l2, about::average})
                    .c_str());
  with_momentum(std::type_identity<o::MomentumNesterov>(), "MomentumNesterov",
                with_args("Gradient descent with Nesterov momentum.",
                          {about::lr, about::momentum, about::clip_norm, about::clip_value, about::l2, about::average})
                    .c_str());
  const auto adam = [&]<class O, class Base>(std::type_identity<O>, std::type_identity<Base>, const char* name,
                                             double usual_decay, const char* doc) {
    nb::class_<O, Base>(m, name, doc)
        .def(
            "__init__",
            [](O* self, Rate lr, double b1, double b2, double eps, bool amsgrad, PYBRAINTRACE_COMMON) {
              new (self) O(lr.get(), {b1, b2, eps, amsgrad, common(norm, value, decay, average)});
            },
            "lr"_a = 1e-3, "beta1"_a = 0.9, "beta2"_a = 0.999, "eps"_a = 1e-8, "amsgrad"_a = false,
            PYBRAINTRACE_COMMON_ARGS(usual_decay));
  };
  adam(std::type_identity<o::Adam>(), std::type_identity<o::Optimizer>(), "Adam", 0.0,
       with_args("Adam (Kingma & Ba 2015).",
                 {about::lr, "beta1: decay of the first moment.", "beta2: decay of the second moment.", about::eps,
                  "amsgrad: use the largest second moment so far.", about::clip_norm, about::clip_value, about::l2,
                  about::average})
           .c_str());
  adam(std::type_identity<o::AdamW>(), std::type_identity<o::Adam>(), "AdamW", 0.01,
       with_args("Adam with decoupled weight decay (Loshchilov & Hutter 2019).",
                 {about::lr, "beta1: decay of the first moment.", "beta2: decay of the second moment.", about::eps,
                  "amsgrad: use the largest second moment so far.", about::clip_norm, about::clip_value,
                  about::decoupled, about::average})
           .c_str());
  nb::class_<o::RMSProp, o::Optimizer>(
      m, "RMSProp",
      with_args("RMSProp (Hinton 2012).", {about::lr, "rho: decay of the mean square.", about::eps, about::clip_norm,
                                           about::clip_value, about::l2, about::average})
          .c_str())
      .def(
          "__init__",
          [](o::RMSProp* self, Rate lr, double rho, double eps, PYBRAINTRACE_COMMON) {
            new (self) o::RMSProp(lr.get(), {rho, eps, common(norm, value, decay, average)});
          },
          "lr"_a = 1e-3, "rho"_a = 0.9, "eps"_a = 1e-8, PYBRAINTRACE_COMMON_ARGS(0.0));
  nb::class_<o::Adagrad, o::Optimizer>(
      m, "Adagrad",
      with_args("Adagrad (Duchi et al. 2011).",
                {about::lr, about::eps, about::clip_norm, about::clip_value, about::l2, about::average})
          .c_str())
      .def(
          "__init__",
          [](o::Adagrad* self, Rate lr, double eps, PYBRAINTRACE_COMMON) {
            new (self) o::Adagrad(lr.get(), {eps, common(norm, value, decay, average)});
          },
          "lr"_a = 1e-2, "eps"_a = 1e-10, PYBRAINTRACE_COMMON_ARGS(0.0));
  nb::class_<o::Adadelta, o::Optimizer>(
      m, "Adadelta",
      with_args("Adadelta (Zeiler 2012).",
                {about::lr, "rho: decay of the mean squares.", "eps: added to the mean squares.", about::clip_norm,
                 about::clip_value, about::l2, about::average})
          .c_str())
      .def(
          "__init__",
          [](o::Adadelta* self, Rate lr, double rho, double eps, PYBRAINTRACE_COMMON) {
            new (self) o::Adadelta(lr.get(), {rho, eps, common(norm, value, decay, average)});
          },
          "lr"_a = 1.0, "rho"_a = 0.9, "eps"_a = 1e-6, PYBRAINTRACE_COMMON_ARGS(0.0));
  nb::class_<o::Lion, o::Optimizer>(
      m, "Lion",
      with_args("Lion (Chen et al. 2023): the sign of an interpolated momentum.",
                {about::lr, "beta1: interpolation of momentum and gradient.", "beta2: decay of the momentum.",
                 about::clip_norm, about::clip_value, about::decoupled, about::average})
          .c_str())
      .def(
          "__init__",
          [](o::Lion* self, Rate lr, double b1, double b2, PYBRAINTRACE_COMMON) {
            new (self) o::Lion(lr.get(), {b1, b2, common(norm, value, decay, average)});
          },
          "lr"_a = 1e-4, "beta1"_a = 0.9, "beta2"_a = 0.99, PYBRAINTRACE_COMMON_ARGS(0.0));
  m.def(
      "clip_grad_norm", [](nb::handle g, double c) { return dict_of(o::clip_grad_norm(gradients_from(g), c)); },
      "grads"_a, "max_norm"_a, "Scale gradients so that their global norm is at most `max_norm`.");
  m.def(
      "clip_grad_value", [](nb::handle g, double c) { return dict_of(o::clip_grad_value(gradients_from(g), c)); },
      "grads"_a, "clip_value"_a, "Limit every element of the gradients to [-clip_value, clip_value].");
}

}  // namespace

void bind_training(nb::module_& m) {
  bind_initializers(m);
  bind_losses(m);
  bind_optimizers(m);
}

}  // namespace pybraintrace

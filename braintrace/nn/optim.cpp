// SPDX-License-Identifier: Apache-2.0
#include "braintrace/nn/optim.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "braintrace/ops/compare.h"
#include "braintrace/ops/math.h"
#include "braintrace/ops/move.h"

namespace braintrace::optim {

namespace {

void require_fraction(const char* name, const char* what, double v) {
  require(v >= 0 && v < 1, "{}: {} must lie in [0, 1), got {}.", name, what, v);
}

void require_not_negative(const char* name, const char* what, double v) {
  require(v >= 0 && std::isfinite(v), "{}: {} must be a number of at least 0, got {}.", name, what, v);
}

// As averages and counts are kept: a small part of 16 bits would be lost.
Tensor wide(const Tensor& theta) { return convert(theta, promote(theta.dtype(), DType::F32)); }

}  // namespace

Gradients clip_grad_norm(const Gradients& grads, double c) {
  require(c > 0, "clip_grad_norm: the norm must be positive, got {}.", c);
  return grads * minimum(c / (sqrt(grads.squared_norm()) + 1e-6), 1);
}
Gradients clip_grad_value(const Gradients& grads, double c) {
  require(c > 0, "clip_grad_value: the bound must be positive, got {}.", c);
  return grads.map([c](const Tensor& g) { return clamp(g, -c, c); });
}

Optimizer::~Optimizer() = default;

Optimizer::Optimizer(std::string name, Schedule lr, Common common, std::vector<std::string> memory)
    : name_(std::move(name)),
      schedule_(std::move(lr)),
      common_(common),
      memory_names_(std::move(memory)),
      count_(Tensor(Array::of<int64_t>({0}, {}))) {
  require_not_negative(name_.c_str(), "weight_decay", common.weight_decay);
  require(common.average >= 0, "{}: average is a number of updates and must not be negative, got {}.", name_,
          common.average);
  for (const auto& [what, v] : {std::pair("clip_norm", common.clip_norm), std::pair("clip_value", common.clip_value)})
    require(!v || *v > 0, "{}: {} must be positive, got {}.", name_, what, v.value_or(0));
}

void Optimizer::register_trainable_weights(const StateMap& weights) {
  require(!weights.empty(), "{}: there is no weight to train.", name_);
  weights_.clear();
  for (const auto& [path, state] : weights)
    for (const std::string& leaf : state.leaf_names()) {
      const Tensor theta = state.leaf(leaf);
      Weight       w{path, state, leaf, {}, {}, {}};
      if (averages()) w.average = LongTermState(wide(theta));
      for (size_t i = 0; i < memory_names_.size(); ++i)
        w.slot.memory.push_back(LongTermState(Tensor(Array(theta.type()))));
      weights_.push_back(std::move(w));
    }
  count_.set(0);
  registered_ = true;
}

void Optimizer::group(const Path& path, const Group& options) {
  require(options.lr_factor >= 0, "{}: the learning-rate factor of '{}' must not be negative, got {}.", name_,
          path.str(), options.lr_factor);
  require(options.weight_decay.value_or(0) >= 0, "{}: the weight_decay of '{}' must not be negative, got {}.", name_,
          path.str(), options.weight_decay.value_or(0));
  bool found = false;
  for (Weight& w : weights_) {
    const auto &keys = path.keys(), &all = w.path.keys();
    if (all.size() < keys.size() || !std::equal(keys.begin(), keys.end(), all.begin())) continue;
    w.group = options;
    found   = true;
  }
  require(found, "{}: there is no registered weight at or below '{}'; register weights before grouping them.", name_,
          path.str());
}

Gradients Optimizer::prepared(const Gradients& grads) const {
  Gradients::Map own;
  for (const Weight& w : weights_) {
    require(grads.contains(w.path), "{}: the gradients lack '{}'; give one for every registered weight.", name_,
            w.path.str());
    own[w.path][w.leaf] = grads.at(w.path, w.leaf);
  }
  Gradients g(std::move(own));
  if (common_.clip_norm) g = clip_grad_norm(g, *common_.clip_norm);
  if (common_.clip_value) g = clip_grad_value(g, *common_.clip_value);
  return g;
}

void Optimizer::update(const Gradients& grads) {
  require(registered_, "{}: call register_trainable_weights before update.", name_);
  require(lent_ == 0 || !averages(),
          "{}: the weights are their averages now, and an update of them would be lost; update afterwards.", name_);
  const Gradients g = prepared(grads);
  count_.set(count_.value() + 1);
  for (const Weight& w : weights_) {
    const double decay = w.group.weight_decay.value_or(common_.weight_decay);
    const Tensor theta = w.state.leaf(w.leaf);
    Tensor       slope = g.at(w.path, w.leaf);
    require(slope.shape() == theta.shape(), "{}: the gradient of '{}' is {}, the weight {}.", name_, w.path.str(),
            to_string(slope.type()), to_string(theta.type()));
    if (decay > 0 && !decoupled_) slope = slope + decay * theta;
    const Tensor t = convert(count_.value(), promote(theta.dtype(), DType::F32));
    Tensor       d = direction(slope, theta, t, w.slot);
    if (decay > 0 && decoupled_) d = d + decay * theta;
    const Tensor next = theta - w.group.lr_factor * convert(schedule_.rate().value(), theta.dtype()) * d;
    w.state.set_leaf(w.leaf, next);
    if (!w.average) continue;
    const Tensor a = 1 / minimum(t, static_cast<double>(common_.average));  // 1 at first: θ̄ is θ
    w.average->set((1 - a) * w.average->value() + a * wide(next));
  }
}

StateMap Optimizer::param_states() const {
  StateMap out;
  for (const Weight& w : weights_)
    if (out.empty() || out.back().first != w.path) out.emplace_back(w.path, w.state);
  return out;
}

Averaged::Averaged(const Optimizer& o) : optimizer_(o), before_(o.averages() ? o.param_states() : StateMap()) {
  for (const auto& w : o.weights_) {
    if (!w.average) continue;
    const Tensor theta = w.state.leaf(w.leaf);
    w.state.set_leaf(w.leaf, select(o.count_.value() > 0, convert(w.average->value(), theta.dtype()), theta));
  }
  ++o.lent_;
}
void Averaged::end() {
  if (std::exchange(ended_, true)) return;
  --optimizer_.lent_;
  before_.restore();
}

int64_t Optimizer::step_count() const { return static_cast<int64_t>(count_.value().item()); }

StateMap Optimizer::states() const {
  StateMap out{{Path{"step_count"}, count_}};
  for (const Weight& w : weights_) {
    for (size_t i = 0; i < memory_names_.size(); ++i) out.emplace_back(w.name() / memory_names_[i], w.slot.memory[i]);
    if (w.average) out.emplace_back(w.name() / "average", *w.average);
  }
  std::sort(out.begin(), out.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  return out;
}

SGD::SGD(Schedule lr, SGDOptions o)
    : Optimizer("SGD", std::move(lr), o.common,
                o.momentum > 0 ? std::vector<std::string>{"m"} : std::vector<std::string>{}),
      options_(o) {
  require_fraction("SGD", "momentum", o.momentum);
}
Tensor SGD::direction(const Tensor& g, const Tensor&, const Tensor&, const Slot& slot) const {
  if (options_.momentum == 0) return g;
  const Tensor m = g + options_.momentum * slot.memory[0].value();
  slot.memory[0].set(m);
  return options_.nesterov ? g + options_.momentum * m : m;
}

Adam::Adam(Schedule lr, AdamOptions o)
    : Optimizer("Adam", std::move(lr), o.common,
                o.amsgrad ? std::vector<std::string>{"m", "v", "v_max"} : std::vector<std::string>{"m", "v"}),
      options_(o) {
  require_fraction("Adam", "beta1", o.beta1);
  require_fraction("Adam", "beta2", o.beta2);
  require_not_negative("Adam", "eps", o.eps);
}
Tensor Adam::direction(const Tensor& g, const Tensor&, const Tensor& t, const Slot& slot) const {
  const auto&  o = options_;
  const Tensor m = o.beta1 * slot.memory[0].value() + (1 - o.beta1) * g;
  const Tensor v = o.beta2 * slot.memory[1].value() + (1 - o.beta2) * square(g);
  slot.memory[0].set(m);
  slot.memory[1].set(v);
  // 1 - βᵗ in the type of t: β would round to 1 in a 16-bit type.
  const auto   missing = [&](double beta) { return convert(1 - pow(full({}, beta, t.dtype()), t), m.dtype()); };
  const Tensor m_hat   = m / missing(o.beta1);
  Tensor       v_hat   = v / missing(o.beta2);
  if (o.amsgrad) {
    v_hat = maximum(v_hat, slot.memory[2].value());
    slot.memory[2].set(v_hat);
  }
  return m_hat / (sqrt(v_hat) + o.eps);
}
AdamW::AdamW(Schedule lr, AdamOptions o) : Adam(std::move(lr), o) { decoupled_ = true; }

RMSProp::RMSProp(Schedule lr, RMSPropOptions o) : Optimizer("RMSProp", std::move(lr), o.common, {"v"}), options_(o) {
  require_fraction("RMSProp", "rho", o.rho);
  require_not_negative("RMSProp", "eps", o.eps);
}
Tensor RMSProp::direction(const Tensor& g, const Tensor&, const Tensor&, const Slot& slot) const {
  const Tensor v = options_.rho * slot.memory[0].value() + (1 - options_.rho) * square(g);
  slot.memory[0].set(v);
  return g / (sqrt(v) + options_.eps);
}

Adagrad::Adagrad(Schedule lr, AdagradOptions o) : Optimizer("Adagrad", std::move(lr), o.common, {"v"}), options_(o) {
  require_not_negative("Adagrad", "eps", o.eps);
}
Tensor Adagrad::direction(const Tensor& g, const Tensor&, const Tensor&, const Slot& slot) const {
  const Tensor v = slot.memory[0].value() + square(g);
  slot.memory[0].set(v);
  return g / (sqrt(v) + options_.eps);
}

Adadelta::Adadelta(Schedule lr, AdadeltaOptions o)
    : Optimizer("Adadelta", std::move(lr), o.common, {"u", "v"}), options_(o) {
  require_fraction("Adadelta", "rho", o.rho);
  require_not_negative("Adadelta", "eps", o.eps);
}
Tensor Adadelta::direction(const Tensor& g, const Tensor&, const Tensor&, const Slot& slot) const {
  const double rho = options_.rho, eps = options_.eps;
  const Tensor u = slot.memory[0].value(), v = rho * slot.memory[1].value() + (1 - rho) * square(g);
  const Tensor d = sqrt(u + eps) / sqrt(v + eps) * g;
  slot.memory[0].set(rho * u + (1 - rho) * square(d));
  slot.memory[1].set(v);
  return d;
}

Lion::Lion(Schedule lr, LionOptions o) : Optimizer("Lion", std::move(lr), o.common, {"m"}), options_(o) {
  require_fraction("Lion", "beta1", o.beta1);
  require_fraction("Lion", "beta2", o.beta2);
  decoupled_ = true;
}
Tensor Lion::direction(const Tensor& g, const Tensor&, const Tensor&, const Slot& slot) const {
  const Tensor m = slot.memory[0].value();
  slot.memory[0].set(options_.beta2 * m + (1 - options_.beta2) * g);
  return sign(options_.beta1 * m + (1 - options_.beta1) * g);
}

Accumulator::Accumulator(int64_t every) : every_(every) {
  require(every > 0, "Accumulator: the number of gradients must be positive, got {}.", every);
}
std::optional<Gradients> Accumulator::add(const Gradients& g) {
  sum_ = sum_ ? *sum_ + g : g;
  if (++count_ < every_) return std::nullopt;
  const Gradients mean = *sum_ / static_cast<double>(every_);
  sum_.reset();
  count_ = 0;
  return mean;
}

}  // namespace braintrace::optim

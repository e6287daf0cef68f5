// SPDX-License-Identifier: Apache-2.0
// Optimizers. One update of the weights θ with gradients g, in this order:
//
//   g ← clip by global norm     g min(1, c/(‖g‖ + 1e-6)), ‖g‖ over all leaves
//   g ← clip by value           to [-c, c]
//   g ← g + decay θ             coupled L2
//   d  = direction(g)           the method
//   d ← d + decoupled θ         AdamW
//   θ ← θ - lr d                lr and decay may differ between groups of weights
//   θ̄ ← (1-a) θ̄ + a θ          a = 1/min(t, N): the average over about the last N updates, where it is asked for
//
//   bt::optim::Adam opt(1e-3);
//   opt.register_trainable_weights(model.params());
//   opt.update(grads);
//
// The memory of the method consists of states, so updates may be part of a jitted step, and checkpoints include it.
#pragma once

#include "braintrace/functions/gradients.h"
#include "braintrace/model/module.h"
#include "braintrace/model/snapshot.h"
#include "braintrace/nn/schedule.h"

namespace braintrace::optim {

struct Common {
  std::optional<double> clip_norm = {}, clip_value = {};
  double                weight_decay = 0;  // L2, coupled; AdamW, Lion: decoupled
  int64_t               average      = 0;  // N, updates; 0: weights are not averaged
};

// Options for a group of weights.
struct Group {
  double                lr_factor    = 1;  // multiplies the learning rate
  std::optional<double> weight_decay = {};
};

// The memory of a method for one weight leaf.
struct Slot {
  std::vector<State> memory;  // as many as the method needs, of the shape of the weight, initially zero
};

class Optimizer {
 public:
  virtual ~Optimizer();

  void register_trainable_weights(const StateMap& weights);
  // Sets `options` for the registered weights at or below `path`; if several groups match a weight, the last one
  // applies.
  void group(const Path& path, const Group& options);
  // Gradients of other paths are ignored; a missing one is an error.
  void update(const Gradients& grads);

  // Advances the learning-rate schedule.
  void step_epoch() { schedule_.step(); }

  int64_t       step_count() const;
  double        current_lr() const { return schedule_(); }
  Schedule&     lr() { return schedule_; }
  StateMap      param_states() const;  // the registered weights
  StateMap      states() const;        // all memory, for checkpoints: <path>.<leaf>.<name>
  const Common& common() const { return common_; }
  bool          averages() const { return common_.average > 0; }

 protected:
  Optimizer(std::string name, Schedule lr, Common common, std::vector<std::string> memory);

  // d for one leaf; t counts updates from 1, in the type of the weight or f32, whichever is wider. Reads and writes
  // `memory`.
  virtual Tensor direction(const Tensor& g, const Tensor& theta, const Tensor& t, const Slot& memory) const = 0;
  bool           decoupled_                                                                                 = false;

 private:
  friend class Averaged;
  struct Weight {
    Path                 path;
    State                state;
    std::string          leaf;
    Group                group;
    Slot                 slot;
    std::optional<State> average;  // θ̄, in the type of the weight or f32, whichever is wider

    Path name() const { return leaf.empty() ? path : path / leaf; }
  };
  Gradients prepared(const Gradients& grads) const;

  std::string              name_;
  Schedule                 schedule_;
  Common                   common_;
  std::vector<std::string> memory_names_;
  std::vector<Weight>      weights_;
  LongTermState            count_;
  bool                     registered_ = false;
  mutable int64_t          lent_       = 0;  // how many Averaged there are
};

// The weights are their averages until its end; they stay as they are where the optimizer does not average, and before
// its first update. A model is judged with them:
//
//   { const bt::optim::Averaged weights(opt);  loss = judged(model); }
//
// Do not update meanwhile: the result would be lost at the end. It is an error, but for programs compiled before.
class Averaged {
 public:
  explicit Averaged(const Optimizer& optimizer);
  ~Averaged() { end(); }
  Averaged(const Averaged&)            = delete;
  Averaged& operator=(const Averaged&) = delete;

  void end();  // now; the second time nothing happens

 private:
  const Optimizer& optimizer_;
  Snapshot         before_;
  bool             ended_ = false;
};

// Every leaf × min(1, c/(‖all leaves‖₂ + 1e-6)).
Gradients clip_grad_norm(const Gradients& grads, double c);
Gradients clip_grad_value(const Gradients& grads, double c);

struct SGDOptions {
  double momentum = 0;
  bool   nesterov = false;
  Common common   = {};
};
// g;   with momentum m ← g + μ m, d = m;   Nesterov d = g + μ m
class SGD : public Optimizer {
 public:
  explicit SGD(Schedule lr = 1e-3, SGDOptions options = {});

 protected:
  Tensor direction(const Tensor& g, const Tensor&, const Tensor&, const Slot&) const override;

 private:
  SGDOptions options_;
};
struct Momentum : SGD {
  explicit Momentum(Schedule lr = 1e-3, double momentum = 0.9, Common common = {})
      : SGD(std::move(lr), {momentum, false, common}) {}
};
struct MomentumNesterov : SGD {
  explicit MomentumNesterov(Schedule lr = 1e-3, double momentum = 0.9, Common common = {})
      : SGD(std::move(lr), {momentum, true, common}) {}
};

struct AdamOptions {
  double beta1 = 0.9, beta2 = 0.999, eps = 1e-8;
  bool   amsgrad = false;
  Common common  = {};
};
// m ← β₁ m + (1-β₁) g,  v ← β₂ v + (1-β₂) g²,  d = m̂/(√v̂ + ε)
// with m̂ = m/(1-β₁ᵗ) and v̂ = v/(1-β₂ᵗ)                      Kingma & Ba 2015
// AMSGrad: the largest v̂ so far instead of v̂.
class Adam : public Optimizer {
 public:
  explicit Adam(Schedule lr = 1e-3, AdamOptions options = {});

 protected:
  Tensor direction(const Tensor& g, const Tensor&, const Tensor& t, const Slot&) const override;

 private:
  AdamOptions options_;
};
// Adam; decay θ is added after the method.                                         Loshchilov & Hutter 2019
class AdamW : public Adam {
 public:
  explicit AdamW(Schedule lr = 1e-3, AdamOptions options = {.common = {.weight_decay = 0.01}});
};

struct RMSPropOptions {
  double rho = 0.9, eps = 1e-8;
  Common common = {};
};
// v ← ρ v + (1-ρ) g²,  d = g/(√v + ε)                                                       Hinton 2012
class RMSProp : public Optimizer {
 public:
  explicit RMSProp(Schedule lr = 1e-3, RMSPropOptions options = {});

 protected:
  Tensor direction(const Tensor& g, const Tensor&, const Tensor&, const Slot&) const override;

 private:
  RMSPropOptions options_;
};

struct AdagradOptions {
  double eps    = 1e-10;
  Common common = {};
};
// v ← v + g²,  d = g/(√v + ε)                                                          Duchi et al. 2011
class Adagrad : public Optimizer {
 public:
  explicit Adagrad(Schedule lr = 1e-2, AdagradOptions options = {});

 protected:
  Tensor direction(const Tensor& g, const Tensor&, const Tensor&, const Slot&) const override;

 private:
  AdagradOptions options_;
};

struct AdadeltaOptions {
  double rho = 0.9, eps = 1e-6;
  Common common = {};
};
// v ← ρ v + (1-ρ) g²,  d = √(u+ε)/√(v+ε) g,  u ← ρ u + (1-ρ) d²                                 Zeiler 2012
class Adadelta : public Optimizer {
 public:
  explicit Adadelta(Schedule lr = 1.0, AdadeltaOptions options = {});

 protected:
  Tensor direction(const Tensor& g, const Tensor&, const Tensor&, const Slot&) const override;

 private:
  AdadeltaOptions options_;
};

struct LionOptions {
  double beta1 = 0.9, beta2 = 0.99;
  Common common = {};
};
// d = sign(β₁ m + (1-β₁) g),  m ← β₂ m + (1-β₂) g;  decoupled decay                   Chen et al. 2023
class Lion : public Optimizer {
 public:
  explicit Lion(Schedule lr = 1e-4, LionOptions options = {});

 protected:
  Tensor direction(const Tensor& g, const Tensor&, const Tensor&, const Slot&) const override;

 private:
  LionOptions options_;
};

// Accumulates gradients; after `every` of them, their mean is ready.
class Accumulator {
 public:
  explicit Accumulator(int64_t every);
  std::optional<Gradients> add(const Gradients& g);

 private:
  int64_t                  every_, count_ = 0;
  std::optional<Gradients> sum_;
};

}  // namespace braintrace::optim

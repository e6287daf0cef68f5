// SPDX-License-Identifier: Apache-2.0
#include "braintrace/algorithms/three_factor.h"

#include "braintrace/ops/move.h"

namespace braintrace {

namespace {

std::shared_ptr<const LearningRule> modulated_rule() {
  return std::make_shared<ParamDimRule>("ThreeFactor", ParamDimOptions{.signal = LearningSignal::modulatory()});
}

// Sets a value for the duration of a call.
struct ForThisCall {
  Tensor& place;
  ForThisCall(Tensor& where, Tensor value) : place(where) { place = std::move(value); }
  ~ForThisCall() { place = Tensor(); }
};

}  // namespace

ThreeFactor::ThreeFactor(Module& model, std::shared_ptr<const LearningRule> rule, Tensor modulator,
                         LearnerOptions options)
    : OnlineLearner(model, std::move(rule), std::move(options)), standing_(std::move(modulator)) {
  require(vjp_method() == VjpMethod::SingleStep,
          "ThreeFactor: a modulator replaces the learning signal, which only the single-step method has.");
}
ThreeFactor::ThreeFactor(Module& model, Tensor modulator, LearnerOptions options)
    : ThreeFactor(model, modulated_rule(), std::move(modulator), std::move(options)) {}
ThreeFactor::ThreeFactor(Module& model, LearnerOptions options) : ThreeFactor(model, Tensor(), std::move(options)) {}

Tensor ThreeFactor::operator()(const Tensor& x, const Tensor& modulator) {
  ForThisCall           call(once_, modulator);
  return OnlineLearner::operator()(x);
}
Tensor ThreeFactor::operator()(const MultiStepData& xs, const Tensor& modulator) {
  ForThisCall           call(once_, modulator);
  return OnlineLearner::operator()(xs);
}

Tensors ThreeFactor::aux(const std::optional<int64_t>& length) const {
  Tensor m = once_.defined() ? once_ : standing_;
  require(m.defined(),
          "ThreeFactor: no modulator.\n  Give one with the call, learner(x, modulator), or set_modulator.");
  if (length && once_.defined())
    require(m.rank() > 0 && m.shape()[0] == *length,
            "ThreeFactor: the modulator of a window of {} steps needs that leading axis, got {}.", *length,
            to_string(m.shape()));
  else if (length)
    m = repeated(m, *length);
  for (const TraceSite& site : trace_sites(graph())) {
    Tensor one = m;
    if (length) one = Tensor(Type{m.dtype(), Shape(m.shape().begin() + 1, m.shape().end())}, 0);
    modulator_of(graph().hidden_groups[site.group], one);
  }
  return {m};
}

}  // namespace braintrace

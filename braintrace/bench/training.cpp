// SPDX-License-Identifier: Apache-2.0
#include "braintrace/bench/training.h"

#include "braintrace/algorithms/registry.h"
#include "braintrace/functions/functions.h"
#include "braintrace/ops/math.h"
#include "braintrace/ops/reduce.h"
#include "braintrace/runtime/backend.h"

namespace braintrace::bench {

std::string_view name_of(Mode mode) { return mode == Mode::Sequence ? "sequence" : "stream"; }

Mode mode_named(const std::string& name) {
  for (const Mode m : {Mode::Sequence, Mode::Stream})
    if (name == name_of(m)) return m;
  fail("bench: there is no mode '{}'; known: sequence, stream.", name);
}

bool is_measurable(const std::string& rule, Mode mode) {
  const Algorithm& a = algorithm_named(rule);
  require(a.needs() != Need::Modulator,
          "bench: {} needs {} in addition to a loss, which is not available here.\n  Use another rule.", a.name,
          to_string(a.needs()));
  return mode == Mode::Sequence || (a.learns_step_by_step() && a.needs() == Need::Nothing);
}

Tensor Training::mean_square(const Tensor& a, const Tensor& b) { return mean(square(a - b)); }

Training::Training(Module& model, const std::string& rule, Mode mode, Tensor x, Tensor y)
    : model_(model), mode_(mode), x_(std::move(x)), y_(std::move(y)) {
  const Algorithm& algorithm = algorithm_named(rule);
  learner_                   = algorithm.learner(model, algorithm.usual(1).options);
  Type input                 = x_.type();
  if (mode == Mode::Sequence) input.shape.erase(input.shape.begin());
  learner_->compile_graph(Types{input});
  optimizer_.register_trainable_weights(model.params());
  if (mode == Mode::Sequence)
    call_ = [this, whole = jit([this](Tensor xs, Tensor ys) { return gradients(xs, ys).grads; })] {
      return whole(x_, y_);
    };
  else
    call_ = [this, step = jit([this](Tensor xi, Tensor yi) { return update(xi, yi); })] {
      step(x_, y_);
      return Gradients();
    };
}

void Training::run() {
  if (!run_ && mode_ == Mode::Sequence && default_backend().memory()) keep_on_device();
  if (!run_) run_ = [this] { call_(); };
  run_();
}

void Training::keep_on_device() {
  for (const auto& [path, leaves] : call_())
    for (const auto& [leaf, gradient] : leaves) kept_.emplace_back(Tensor(gradient.type(), 0));
  run_  = [this, whole = jit([this](Tensor xs, Tensor ys) {
                  const auto result = gradients(xs, ys);
                  size_t     i      = 0;
                  for (const auto& [path, leaves] : result.grads)
                    for (const auto& [leaf, gradient] : leaves) kept_[i++].set(gradient);
                  return result.losses;
                })] { whole(x_, y_); };
  call_ = nullptr;  // and with it the memory of its program
}

detail::EtraceResult<Tensor> Training::gradients(const Tensor& xs, const Tensor& ys) {
  const auto step = [this](Tensor x, Tensor y) { return loss(x, y); };
  return etrace_grad(step, *learner_, {.window = Window::all(), .drop_traces = true})(xs, ys);
}

Tensor Training::update(const Tensor& x, const Tensor& y) {
  auto [value, grads] = value_and_grad([this](Tensor xi, Tensor yi) { return loss(xi, yi); }, model_.params())(x, y);
  optimizer_.update(grads);
  return value;
}

StatefulProgram Training::traced() {
  return trace_function({x_.type(), y_.type()}, [this](const Tensors& in) -> Tensors {
    if (mode_ == Mode::Stream) return {update(in[0], in[1])};
    Tensors    out;
    const auto result = gradients(in[0], in[1]);
    for (const auto& [path, leaves] : result.grads)
      for (const auto& [leaf, gradient] : leaves) out.push_back(gradient);
    return out;
  });
}

size_t Training::trace_bytes() const {
  size_t bytes = 0;
  for (const Tensor& t : learner_->memory()) bytes += static_cast<size_t>(t.size()) * size_of(t.dtype());
  return bytes;
}

}  // namespace braintrace::bench

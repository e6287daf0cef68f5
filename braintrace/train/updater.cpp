// SPDX-License-Identifier: Apache-2.0
#include "braintrace/train/updater.h"

#include "braintrace/algorithms/three_factor.h"
#include "braintrace/functions/functions.h"
#include "braintrace/functions/loops.h"
#include "braintrace/ops/math.h"
#include "braintrace/ops/move.h"
#include "braintrace/ops/reduce.h"
#include "braintrace/train/undo.h"

namespace braintrace::train {

namespace {

using Results = std::vector<Tensor>;  // loss, correct, then a norm per weight
using Fit     = std::function<void(const Tensors& hidden, const Tensors& target)>;

// A step of the synthesizer towards credit that was seen; null for rules that have none.
Fit fit_of(Parts& parts) {
  if (!parts.synthesizer) return nullptr;
  return [&parts](const Tensors& hidden, const Tensors& target) {
    const auto error = [&](std::vector<Tensor> h, std::vector<Tensor> g) { return parts.synthesizer->error(h, g); };
    parts.synthesizer_optimizer->update(
        grad(error, parts.synthesizer->params())(std::vector<Tensor>(hidden), std::vector<Tensor>(target)));
  };
}

// The modulator that the task gives is in force for a while: the stretch is run once without learning to know it.
class Modulated {
 public:
  Modulated(Parts& parts, const Tensor& xs, const Tensor& ys, const Tensor& mask) {
    if (!parts.modulation) return;
    const auto judge = [&](Tensor x, Tensor y) {
      const Tensor out = parts.model->call({x}).front();
      return std::pair((*parts.loss)(out, y), parts.loss->correct(out, y));
    };
    const auto [losses, correct] = [&] {
      const Undo undo(*parts.model);
      return for_loop(judge, xs, ys);
    }();
    learner_ = &parts.learner->as<ThreeFactor>();
    learner_->set_modulator(parts.modulation->next(losses, correct, mask));
  }
  ~Modulated() {
    if (learner_) learner_->set_modulator(Tensor(0.0));
  }
  Modulated(const Modulated&)            = delete;
  Modulated& operator=(const Modulated&) = delete;

 private:
  ThreeFactor* learner_ = nullptr;
};

std::function<UpdateOutcome(const Stretch&)> learning(const Config& config, Parts& parts, bool fresh) {
  const auto step = jit([&config, &parts, fresh](Tensor xs, Tensor ys, Tensor mask) {
    const auto ask = [&](Tensor x, Tensor y) {
      const Tensor out = (*parts.learner)(x);
      return std::pair((*parts.loss)(out, y), parts.loss->correct(out, y));
    };
    const Modulated modulated(parts, xs, ys, mask);
    // Where the window is the whole sequence, nothing is cut off that must be estimated.
    const auto r = etrace_grad(ask, *parts.learner,
                               {.mask         = mask,
                                .window       = config.window,
                                .reduction    = config.reduction,
                                .loss_output  = LossOutput::Masked,
                                .drop_traces  = fresh,
                                .after_window = fresh ? nullptr : fit_of(parts)})(xs, ys);
    Results    norms;
    for (const auto& [path, leaves] : r.grads) {
      Tensor squares = 0.0;
      for (const auto& [leaf, g] : leaves) squares = squares + sum(square(convert(g, DType::F64)));
      norms.push_back(sqrt(squares));
    }
    parts.optimizer->update(r.grads);
    const Tensor count = maximum(sum(mask), 1.0);
    Results      out{sum(r.losses) / count, sum(r.aux * mask) / count};
    out.insert(out.end(), norms.begin(), norms.end());
    return out;
  });
  return [step](const Stretch& s) {
    const Results out = step(s.inputs, s.targets, s.mask);
    UpdateOutcome o{out[0].item(), out[1].item(), {}};
    for (size_t i = 2; i < out.size(); ++i) o.gradient_norms.push_back(out[i].item());
    return o;
  };
}

Array rows(const Array& a, int64_t from, int64_t to) {
  Shape        shape = a.shape();
  const size_t bytes = shape[0] > 0 ? a.bytes() / static_cast<size_t>(shape[0]) : 0;
  shape[0]           = to - from;
  return Array::borrow({a.dtype(), shape}, static_cast<const std::byte*>(a.raw()) + bytes * static_cast<size_t>(from),
                       std::make_shared<Array>(a));
}

}  // namespace

Stretch stretch_of(const tasks::Batch& batch, int64_t from, int64_t to) {
  return {rows(batch.inputs, from, to), rows(batch.targets, from, to), rows(batch.mask, from, to)};
}

Updater::Updater(const Config& config, Parts& parts)
    : learn_(learning(config, parts, false)), learn_fresh_(learning(config, parts, true)) {
  const auto move = jit([&parts](Tensor xs) { return parts.learner->update(MultiStepData{{xs}}); });
  advance_        = [move](const Stretch& s) { move(s.inputs); };
  if (!parts.synthesizer) return;
  // An estimate of the future is handed back through stretches without a loss too, and ends with the sequence.
  const auto hand_back = jit([&config, &parts](Tensor xs) {
    const auto nothing = [&](Tensor x) { return mean((*parts.learner)(x)); };
    return etrace_grad(nothing, *parts.learner,
                       {.mask = zeros({xs.shape()[0]}), .window = config.window, .after_window = fit_of(parts)})(xs)
        .losses;
  });
  const auto end       = jit([&parts](Tensor none) {
    const Tensors last = hidden_per_group(parts.learner->graph());
    Tensors       zero;
    for (const Tensor& h : last) zero.push_back(zeros_like(h));
    fit_of(parts)(last, zero);
    return none;
  });
  advance_             = [hand_back](const Stretch& s) { hand_back(s.inputs); };
  close_               = [end] { end(Tensor(0.0)); };
}

}  // namespace braintrace::train

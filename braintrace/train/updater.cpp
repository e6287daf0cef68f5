// SPDX-License-Identifier: Apache-2.0
#include "braintrace/train/updater.h"

#include "braintrace/model/functions.h"
#include "braintrace/ops/math.h"
#include "braintrace/ops/move.h"
#include "braintrace/ops/reduce.h"

namespace braintrace::train {

namespace {

using Results = std::vector<Tensor>;  // loss, correct, then a norm per weight

std::function<UpdateOutcome(const Stretch&)> learning(const Config& config, Parts& parts, bool fresh) {
  const auto step = jit([&config, &parts, fresh](Tensor xs, Tensor ys, Tensor mask) {
    const auto ask = [&](Tensor x, Tensor y) {
      const Tensor out = (*parts.learner)(x);
      return std::pair((*parts.loss)(out, y), parts.loss->correct(out, y));
    };
    const auto r = etrace_grad(ask, *parts.learner,
                               {.mask        = mask,
                                .window      = config.window,
                                .reduction   = config.reduction,
                                .loss_output = LossOutput::Masked,
                                .drop_traces = fresh})(xs, ys);
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
}

}  // namespace braintrace::train

// SPDX-License-Identifier: Apache-2.0
#include "braintrace/train/updater.h"

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

// A training step of the synthesizer towards the observed credit; null for rules without a synthesizer.
Fit fit_of(Parts& parts) {
  if (!parts.synthesizer) return nullptr;
  return [&parts](const Tensors& hidden, const Tensors& target) {
    const auto error = [&](std::vector<Tensor> h, std::vector<Tensor> g) { return parts.synthesizer->error(h, g); };
    parts.synthesizer_optimizer->update(
        grad(error, parts.synthesizer->params())(std::vector<Tensor>(hidden), std::vector<Tensor>(target)));
  };
}

// The costs of a stretch that runs once without learning.
Modulation::Costs judged(Parts& parts, const Tensor& xs, const Tensor& ys, const Tensor& mask) {
  const auto judge = [&](Tensor x, Tensor y) {
    const Tensor out = parts.model->call({x}).front();
    return std::pair((*parts.loss)(out, y), parts.loss->correct(out, y));
  };
  const ModelUndo undo(*parts.model);
  const auto [losses, correct] = for_loop(judge, xs, ys);
  return parts.modulation->costs(losses, correct, mask);
}

// Sets the modulator from the task for a scope.
class Modulated {
 public:
  Modulated(Parts& parts, const Modulation::Costs& costs) : learner_(parts.learner.get()) {
    learner_->set_modulator(parts.modulation->modulator(costs));
  }
  ~Modulated() { learner_->set_modulator(Tensor(0.0)); }
  Modulated(const Modulated&)            = delete;
  Modulated& operator=(const Modulated&) = delete;

 private:
  OnlineLearner* learner_;
};

// Gradient, losses and right answers of a stretch.
auto gradient_of(const Config& config, Parts& parts, const Stretch& s, bool fresh, Reduction reduction) {
  const auto ask = [&parts](Tensor x, Tensor y) {
    const Tensor out = (*parts.learner)(x);
    return std::pair((*parts.loss)(out, y), parts.loss->correct(out, y));
  };
  // If the window covers the whole sequence, there is nothing to estimate.
  return etrace_grad(ask, *parts.learner,
                     {.mask         = s.mask,
                      .window       = config.window,
                      .reduction    = reduction,
                      .loss_output  = LossOutput::Masked,
                      .drop_traces  = fresh,
                      .after_window = fresh ? nullptr : fit_of(parts)})(s.inputs, s.targets);
}

// Updates the weights; loss and correct are sums over `count` steps with a target.
Results updated(Parts& parts, const Gradients& grads, const Tensor& loss, const Tensor& correct, const Tensor& count) {
  Results out{loss / count, correct / count};
  for (const auto& [path, leaves] : grads) {
    Tensor squares = 0.0;
    for (const auto& [leaf, g] : leaves) squares = squares + sum(square(convert(g, DType::F64)));
    out.push_back(sqrt(squares));
  }
  parts.optimizer->update(grads);
  return out;
}

UpdateOutcome outcome_of(const Results& results) {
  UpdateOutcome o{results[0].item(), results[1].item(), {}};
  for (size_t i = 2; i < results.size(); ++i) o.gradient_norms.push_back(results[i].item());
  return o;
}

// Gradient and update as one program.
std::function<UpdateOutcome(const Stretches&)> learning_whole(const Config& config, Parts& parts, bool fresh) {
  const auto step = jit([&config, &parts, fresh](Tensor xs, Tensor ys, Tensor mask) {
    std::optional<Modulated> modulated;
    if (parts.modulation) {
      const auto costs = judged(parts, xs, ys, mask);
      parts.modulation->move(sum(costs.is_asked * costs.of_sample), sum(costs.is_asked));
      modulated.emplace(parts, costs);
    }
    const auto r = gradient_of(config, parts, {xs, ys, mask}, fresh, config.reduction);
    return updated(parts, r.grads, sum(r.losses), sum(r.aux * mask), maximum(sum(mask), 1.0));
  });
  return [step](const Stretches& s) { return outcome_of(step(s[0].inputs, s[0].targets, s[0].mask)); };
}

// All gradients as one vector, in the order of the weights, and back.
Tensor flat_of(const Gradients& grads, DType dtype) {
  Tensors parts;
  for (const auto& [path, leaves] : grads)
    for (const auto& [leaf, g] : leaves) parts.push_back(reshape(convert(g, dtype), {g.size()}));
  return concat(parts, 0);
}
Gradients gradients_in(const Tensor& flat, const StateMap& weights) {
  Gradients::Map out;
  int64_t        at = 0;
  for (const auto& [path, state] : weights)
    for (const std::string& leaf : state.leaf_names()) {
      const Type type = state.type(leaf);
      out[path][leaf] = convert(reshape(slice_axis(flat, 0, at, at + type.size()), type.shape), type.dtype);
      at += type.size();
    }
  return Gradients(out);
}

// Σ over all shards of one tensor per shard of this process.
Tensor summed(Shards& shards, const Results& mine) {
  Array      out(mine[0].type());
  const auto in = [&]<class T>(T) {
    std::vector<Array>              arrays;
    std::vector<std::span<const T>> values;
    for (const Tensor& t : mine) arrays.push_back(t.array());
    for (const Array& a : arrays) values.emplace_back(a.data<T>(), static_cast<size_t>(a.size()));
    shards.sum(values, {out.mutable_data<T>(), static_cast<size_t>(out.size())});
  };
  mine[0].dtype() == DType::F64 ? in(double{}) : in(float{});
  return Tensor(out);
}

Tensor totals_of(const Results& sums) {
  Tensors out;
  for (const Tensor& t : sums) out.push_back(reshape(convert(t, DType::F64), {1}));
  return concat(out, 0);
}
Tensor entry(const Tensor& totals, int64_t i, DType dtype) {
  return convert(squeeze(slice_axis(totals, 0, i, i + 1), {0}), dtype);
}

// R_b of the shards, and the update of R̄.
std::function<std::vector<Modulation::Costs>(const Stretches&)> judging_shards(const Config& config, Parts& parts,
                                                                               Shards& shards) {
  const auto judge = jit([&parts](Tensor xs, Tensor ys, Tensor mask) {
    const auto c = judged(parts, xs, ys, mask);
    return Results{c.of_sample, c.is_asked, totals_of({sum(c.is_asked * c.of_sample), sum(c.is_asked)})};
  });
  const auto move  = jit([&config, &parts](Tensor totals) {
    parts.modulation->move(entry(totals, 0, config.precision), entry(totals, 1, config.precision));
    return totals;
  });
  return [judge, move, &shards](const Stretches& s) {
    std::vector<Modulation::Costs> costs;
    Results                        totals;
    shards.each([&](int64_t k) {
      const auto&   one = s[static_cast<size_t>(k)];
      const Results r   = judge(one.inputs, one.targets, one.mask);
      costs.push_back({r[0], r[1]});
      totals.push_back(r[2]);
    });
    move(summed(shards, totals));
    return costs;
  };
}

// The gradient of each shard by one program, and the update with their sum by another.
std::function<UpdateOutcome(const Stretches&)> learning_shards(const Config& config, Parts& parts, Shards& shards,
                                                               bool fresh) {
  const auto gradient = jit([&config, &parts, fresh](Tensor xs, Tensor ys, Tensor mask, std::vector<Tensor> costs) {
    std::optional<Modulated> modulated;
    if (parts.modulation) modulated.emplace(parts, Modulation::Costs{costs[0], costs[1]});
    const auto r = gradient_of(config, parts, {xs, ys, mask}, fresh, Reduction::Sum);
    return Results{flat_of(r.grads, config.precision), totals_of({sum(r.losses), sum(r.aux * mask), sum(mask)})};
  });
  const auto update   = jit([&config, &parts](Tensor flat, Tensor totals) {
    const Tensor count = maximum(entry(totals, 2, config.precision), 1.0);
    Gradients    grads = gradients_in(flat, parts.model->params());
    if (config.reduction == Reduction::Mean) grads = grads / count;
    return updated(parts, grads, entry(totals, 0, DType::F64), entry(totals, 1, DType::F64),
                     convert(count, DType::F64));
  });
  const auto judge    = parts.modulation ? judging_shards(config, parts, shards) : nullptr;
  return [gradient, update, judge, &shards](const Stretches& s) {
    const auto costs = judge ? judge(s) : std::vector<Modulation::Costs>(s.size());
    Results    flat, totals;
    shards.each([&](int64_t k) {
      const auto& one  = s[static_cast<size_t>(k)];
      const auto& cost = costs[static_cast<size_t>(k)];
      const auto  r    = gradient(one.inputs, one.targets, one.mask,
                              judge ? std::vector<Tensor>{cost.of_sample, cost.is_asked} : std::vector<Tensor>{});
      flat.push_back(r[0]);
      totals.push_back(r[1]);
    });
    return outcome_of(update(summed(shards, flat), summed(shards, totals)));
  };
}

std::function<UpdateOutcome(const Stretches&)> learning(const Config& config, Parts& parts, Shards& shards,
                                                        bool fresh) {
  return shards.count() == 1 ? learning_whole(config, parts, fresh) : learning_shards(config, parts, shards, fresh);
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

void Updater::advance(const Stretches& s) const {
  shards_->each([&](int64_t k) { advance_(s[static_cast<size_t>(k)]); });
}
void Updater::close() const {
  if (close_) shards_->each([&](int64_t) { close_(); });
}

Updater::Updater(const Config& config, Parts& parts, Shards& shards)
    : shards_(&shards),
      learn_(learning(config, parts, shards, false)),
      learn_fresh_(learning(config, parts, shards, true)) {
  const auto move = jit([&parts](Tensor xs) { return parts.learner->update(MultiStepData{{xs}}); });
  advance_        = [move](const Stretch& s) { move(s.inputs); };
  if (!parts.synthesizer) return;
  // An estimate of future credit also passes back through stretches without a loss, and ends with the sequence.
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

// SPDX-License-Identifier: Apache-2.0
#include "braintrace/train/evaluator.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>

#include "braintrace/functions/functions.h"
#include "braintrace/functions/loops.h"
#include "braintrace/model/environment.h"
#include "braintrace/ops/math.h"
#include "braintrace/ops/move.h"
#include "braintrace/ops/reduce.h"
#include "braintrace/ops/softmax.h"
#include "braintrace/ops/spike.h"
#include "braintrace/train/coverage.h"
#include "braintrace/train/undo.h"

namespace braintrace::train {

namespace {

using Values = std::vector<Tensor>;

bool is_batched(const Type& t, int64_t batch) { return !t.shape.empty() && t.shape[0] == batch && is_float(t.dtype); }

// Membrane potentials are called V.
std::string kind_of(const Path& path) { return path.keys().back() == "V" ? "voltage" : "hidden"; }

// The step of a model, with the hidden states it writes and its spikes as additional results.
StatefulProgram watched_step(const Module& model, const Type& input, const Function& call, int64_t batch,
                             std::vector<Watched>& watched) {
  const Environment::Scope scope({.training = false});
  StatefulProgram          step = trace_function({input}, call);
  Program&                 p    = step.program;
  const auto               add  = [&](Var v, Watched w) {
    if (!is_batched(p.type(v), batch)) return;
    p.results.push_back(v);
    watched.push_back(std::move(w));
  };
  const Vars made(p.results.begin() + static_cast<int64_t>(step.num_results), p.results.end());
  for (const auto& [path, state] : model.states())
    for (size_t w = 0; w < step.writes.size(); ++w)
      if (state.is_hidden() && step.writes[w].state == state) add(made[w], {path.str(), kind_of(path)});
  // A neuron computes its spikes before and after a step; the last ones of a layer are its output. The layer around it
  // may use those of the previous step.
  std::map<std::string, Var> spikes;
  for (const Eqn& e : p.eqns)
    if (e.op == &spike_op) spikes[p.notes[e.note]] = e.out[0];
  for (auto it = spikes.begin(); it != spikes.end(); ++it) {
    const auto inner = spikes.lower_bound(it->first + ".");
    if (inner == spikes.end() || !inner->first.starts_with(it->first + ".")) add(it->second, {it->first, "spikes"});
  }
  return step;
}

struct StepValues {
  Tensor out;
  Values watched;
};
StepValues take_step(const StatefulProgram& step, const Tensor& x) {
  Tensors      all = replay(step.program, step.constants, step.inputs({x}));
  const size_t own = step.num_results + step.writes.size();
  StepValues   out = {{}, Values(all.begin() + static_cast<int64_t>(own), all.end())};
  all.resize(own);
  out.out = step.store(all)[0];
  return out;
}

// Merges all axes except the batch: [B, …] as [B, n].
Tensor flat_units(const Tensor& t) { return reshape(t, {t.shape()[0], t.size() / t.shape()[0]}); }

// The entries at one position of an axis, which is removed.
Tensor entry_of(const Tensor& t, int64_t axis, int64_t i) { return squeeze(slice_axis(t, axis, i, i + 1), {axis}); }

// The results of a shard for some batches, as one list of numbers: sums, calibration and errors, then the confusion
// matrix, then mean, least and most of the units.
struct Tally {
  double              weight = 0, loss = 0, right = 0;
  Calibration         calibration = {};
  ValueErrors         errors;
  std::vector<double> counts, mean, least, most;

  std::vector<double> packed() const {
    std::vector<double> out{weight, loss, right};
    for (const auto& part : {calibration.packed(), errors.packed()}) out.insert(out.end(), part.begin(), part.end());
    for (const auto* part : {&counts, &mean, &least, &most}) out.insert(out.end(), part->begin(), part->end());
    return out;
  }
  // Of another shard of so many.
  void add(const std::vector<double>& other, int64_t shards) {
    auto at = other.begin();
    for (double* sum : {&weight, &loss, &right}) *sum += *at++;
    at = calibration.add(at);
    at = errors.add(at);
    for (double& n : counts) n += *at++;
    for (double& m : mean) m += *at++ / static_cast<double>(shards);
    for (double& l : least) l = std::min(l, *at++);
    for (double& m : most) m = std::max(m, *at++);
  }
};

// Of no batch.
Tally no_tally(int64_t outputs, int64_t classes, const std::vector<int64_t>& widths) {
  const auto units = static_cast<size_t>(std::accumulate(widths.begin(), widths.end(), int64_t{0}));
  return {.errors = ValueErrors(outputs),
          .counts = std::vector<double>(static_cast<size_t>(classes * classes)),
          .mean   = std::vector<double>(units),
          .least  = std::vector<double>(units, INFINITY),
          .most   = std::vector<double>(units, -INFINITY)};
}

using Holds = std::function<bool(int64_t k)>;  // whether a row counts: place k of the mask

// The loss of each prediction with a target; `each` gets its position and its weight.
void add_losses(Tally& t, const Array& losses, const Array& mask, const Holds& holds,
                const std::function<void(int64_t k, double m)>& each) {
  const Doubles loss(losses), weight(mask);
  for (int64_t k = 0; k < mask.size(); ++k) {
    const double m = weight[k];
    if (m == 0 || !holds(k)) continue;
    t.weight += m;
    t.loss += m * loss[k];
    each(k, m);
  }
}

// Results: losses, predictions, and their probabilities.
void add_classes(Tally& t, const std::vector<Array>& result, const tasks::Batch& batch, const Holds& holds,
                 int64_t classes) {
  const Doubles answers(result[1]), targets(batch.targets);
  add_losses(t, result[0], batch.mask, holds, [&](int64_t k, double m) {
    const auto truth = static_cast<int64_t>(targets[k]), answer = static_cast<int64_t>(answers[k]);
    t.right += truth == answer ? m : 0;
    t.calibration.add(at(result[2], k), truth == answer, m);
    ++t.counts[static_cast<size_t>(truth * classes + answer)];
  });
}

// Results: losses and predictions.
void add_values(Tally& t, const std::vector<Array>& result, const tasks::Batch& batch, const Holds& holds,
                int64_t outputs) {
  const Doubles answers(result[1]), targets(batch.targets);
  add_losses(t, result[0], batch.mask, holds, [&](int64_t k, double m) {
    for (int64_t j = 0; j < outputs; ++j)
      t.errors.add(static_cast<size_t>(j), targets[k * outputs + j], answers[k * outputs + j], m);
  });
}

// Three results for each of what is watched, mean, least and most by step and unit; of one of so many batches.
void add_units(Tally& t, std::span<const Array> result, const std::vector<int64_t>& widths, int64_t batches) {
  size_t from = 0;
  for (size_t w = 0; w < widths.size(); from += static_cast<size_t>(widths[w++])) {
    const Doubles mean(result[3 * w]), least(result[3 * w + 1]), most(result[3 * w + 2]);
    const int64_t T = result[3 * w].shape()[0], n = widths[w];
    for (int64_t k = 0; k < T * n; ++k) {
      const size_t u = from + static_cast<size_t>(k % n);
      t.mean[u] += mean[k] / static_cast<double>(T * batches);
      t.least[u] = std::min(t.least[u], least[k]);
      t.most[u]  = std::max(t.most[u], most[k]);
    }
  }
}

// Without units.
Evaluation evaluation_of(const Tally& all, int64_t classes) {
  Evaluation out;
  out.loss      = all.loss / std::max(all.weight, 1.0);
  out.confusion = Array::of<int64_t>(std::vector<int64_t>(all.counts.begin(), all.counts.end()), {classes, classes});
  if (classes > 0) {
    out.accuracy          = all.right / std::max(all.weight, 1.0);
    out.calibration_error = all.calibration.error();
  } else {
    out.values = all.errors.metrics();
  }
  return out;
}

std::vector<UnitStatistics> units_of(const Tally& all, const std::vector<Watched>& watched,
                                     const std::vector<int64_t>& widths) {
  std::vector<UnitStatistics> out;
  int64_t                     from = 0;
  for (size_t w = 0; w < watched.size(); from += widths[w++]) {
    const auto of = [&](const std::vector<double>& v) {
      return std::vector<double>(v.begin() + from, v.begin() + from + widths[w]);
    };
    out.push_back({watched[w], of(all.mean), of(all.least), of(all.most)});
  }
  return out;
}

}  // namespace

Evaluator::Evaluator(const Config& config, Parts& parts, Shards& shards)
    : config_(&config), parts_(&parts), shards_(&shards) {
  const StatefulProgram& trained = parts.learner->graph().module_info.step;
  const Type             input   = trained.program.type(trained.program.args[0]);
  step_                          = watched_step(
                               *parts.model, input, [&](const Tensors& xs) { return parts.model->call(xs); }, config.batch, watched_);
  judged_   = jit([this](Tensor xs, Tensor ys) {
    return for_loop(
        [this](Tensor x, Tensor y) {
          const auto [out, watched] = take_step(step_, x);
          Values result{(*parts_->loss)(out, y)};
          if (parts_->classes()) {
            result.push_back(argmax(out, -1));
            result.push_back(max(softmax(out, -1), {-1}));
          } else {
            result.push_back(out);
          }
          for (const Tensor& w : watched) {
            const Tensor units = flat_units(w);
            result.push_back(mean(units, {0}));
            result.push_back(min(units, {0}));
            result.push_back(max(units, {0}));
          }
          return result;
        },
        xs, ys);
  });
  answered_ = jit([this](Tensor xs, Tensor) {
    return for_loop([this](Tensor x) { return Values{convert(flat_units(take_step(step_, x).out), DType::F32)}; }, xs);
  });
  followed_ = jit([this](Tensor xs, Tensor) {
    return for_loop(
        [this](Tensor x) {
          const auto [out, watched] = take_step(step_, x);
          Values result{entry_of(flat_units(out), 0, 0)};
          for (const Tensor& w : watched) result.push_back(convert(entry_of(flat_units(w), 0, 0), DType::F32));
          return result;
        },
        xs);
  });
}

std::vector<Array> Evaluator::run(const std::function<Values(Tensor, Tensor)>& jitted, const tasks::Batch& batch,
                                  int64_t number) {
  std::optional<ModelUndo> undo;
  if (!lives_on()) undo.emplace(*parts_->model);
  if (!lives_on() || number == 0) reset_all_states(*parts_->model);
  const Environment::Scope scope({.training = false});
  std::vector<Array>       out;
  for (const Tensor& t : jitted(batch.inputs, batch.targets)) out.push_back(t.array());
  return out;
}

// Rows continue from batch to batch.
bool                       Evaluator::lives_on() const { return !config_->reset && parts_->task->facts().contiguous; }
std::unique_ptr<ModelUndo> Evaluator::undo_of_all() const {
  return lives_on() ? std::make_unique<ModelUndo>(*parts_->model) : nullptr;
}

Evaluation Evaluator::evaluate(int64_t batches, tasks::Part part) {
  const tasks::TaskFacts& facts = parts_->task->facts();
  const int64_t           S = shards_->count(), B = config_->batch;  // rows of a shard
  const Coverage          covered(facts, part, batches, B * S);
  const int64_t           classes = parts_->classes() ? facts.outputs : 0;
  const size_t            watched = parts_->classes() ? 3 : 2;  // the first result of what is watched
  std::vector<int64_t>    widths;                               // units of what is watched
  for (size_t w = 0; w < watched_.size(); ++w) {
    const Type& t = step_.program.type(step_.program.results[step_.num_results + step_.writes.size() + w]);
    widths.push_back(t.size() / t.shape[0]);
  }
  const Tally none = no_tally(facts.outputs, classes, widths);

  std::vector<std::vector<double>> mine;
  shards_->each([&](int64_t number) {
    const int64_t shard = shards_->first() + number;
    const auto    undo  = undo_of_all();
    Tally         t     = none;
    for (int64_t i = 0; i < covered.batches(); ++i) {
      const tasks::Batch       batch  = batch_of_shard(*config_, *parts_->task, part, i, shard, S);
      const std::vector<Array> result = run(judged_, batch, i);
      const auto               holds  = [&](int64_t k) { return covered.holds((i * S + shard) * B + k % B); };
      if (parts_->classes())
        add_classes(t, result, batch, holds, classes);
      else
        add_values(t, result, batch, holds, facts.outputs);
      add_units(t, std::span(result).subspan(watched), widths, covered.batches());
    }
    mine.push_back(t.packed());
  });

  Tally all = none;
  for (const auto& one : shards_->all(mine)) all.add(one, S);
  Evaluation out = evaluation_of(all, classes);
  if (covered.batches() > 0) out.units = units_of(all, watched_, widths);
  return out;
}

Predictions Evaluator::predict(tasks::Part part) {
  const tasks::TaskFacts& facts = parts_->task->facts();
  require(
      facts.samples(part) > 0,
      "predict: the task generates samples without limit, so there is no list of them to predict.\n  Train on a file: "
      "csv, npz, ts or wav. `braintrace eval` evaluates this checkpoint.");
  const Coverage       covered(facts, part, 0, config_->batch);
  const int64_t        B = config_->batch, n = facts.outputs;
  const bool           classes = parts_->classes();
  const auto           undo    = undo_of_all();
  std::vector<int64_t> samples, steps, right, answers;
  std::vector<float>   outputs, values, probabilities;
  for (int64_t i = 0; i < covered.batches(); ++i) {
    const tasks::Batch batch  = batch_of(*config_, *parts_->task, part, i);
    const Array        result = run(answered_, batch, i)[0];  // [T, B, n]
    const float*       row    = result.data<float>();
    const Doubles      mask(batch.mask), targets(batch.targets);
    for (int64_t b = 0; b < B && covered.holds(i * B + b); ++b)
      for (int64_t t = 0; t < batch.mask.shape()[0]; ++t) {
        const int64_t k = t * B + b;
        if (mask[k] == 0) continue;
        samples.push_back(i * B + b);
        steps.push_back(t);
        outputs.insert(outputs.end(), row + k * n, row + (k + 1) * n);
        if (!classes) {
          for (int64_t j = 0; j < n; ++j) values.push_back(static_cast<float>(targets[k * n + j]));
          continue;
        }
        const float* const z    = row + k * n;
        const float        most = *std::max_element(z, z + n);
        double             sum  = 0;
        for (int64_t j = 0; j < n; ++j) sum += std::exp(double(z[j] - most));
        for (int64_t j = 0; j < n; ++j)
          probabilities.push_back(static_cast<float>(std::exp(double(z[j] - most)) / sum));
        right.push_back(static_cast<int64_t>(targets[k]));
        answers.push_back(std::max_element(z, z + n) - z);
      }
  }
  const int64_t R = std::ssize(samples);
  Predictions   out;
  out.samples = Array::of<int64_t>(samples, {R});
  out.steps   = Array::of<int64_t>(steps, {R});
  out.outputs = Array::of<float>(outputs, {R, n});
  if (facts.has_targets) out.targets = classes ? Array::of<int64_t>(right, {R}) : Array::of<float>(values, {R, n});
  out.class_names = facts.class_names;
  if (!classes) return out;
  out.classes       = Array::of<int64_t>(answers, {R});
  out.probabilities = Array::of<float>(probabilities, {R, n});
  return out;
}

Activity Evaluator::watch() {
  const tasks::Batch       batch  = batch_of(*config_, *parts_->task, tasks::Part::Validation, 0);
  const auto               undo   = undo_of_all();
  const std::vector<Array> result = run(followed_, batch, 0);
  const auto               first  = [](const Array& a) {  // of the samples, as [T, n], or [T] for classes
    const Tensor one = entry_of(Tensor(a), 1, 0);
    return (one.rank() == 1 ? one : reshape(one, {one.shape()[0], one.size() / one.shape()[0]})).array();
  };
  Activity out;
  out.inputs  = first(batch.inputs);
  out.targets = first(batch.targets);
  if (parts_->classes()) {
    std::vector<int64_t> targets;
    for (int64_t t = 0; t < out.targets.size(); ++t)
      targets.push_back(at(batch.mask, t * batch.mask.shape()[1]) == 0 ? -1 : static_cast<int64_t>(at(out.targets, t)));
    out.targets = from_integers(out.targets.type(), targets);
  }
  out.outputs = result[0];
  for (size_t w = 0; w < watched_.size(); ++w)
    out.states.push_back({watched_[w].path, watched_[w].kind, result[1 + w]});
  return out;
}

std::map<std::string, std::vector<double>> trace_norms(Parts& probe, const Array& inputs) {
  const ModelUndo undo(*probe.model);
  probe.learner->reset();
  std::map<std::string, std::vector<double>> out;
  const auto                                 step = jit([&](Tensor x) { return (*probe.learner)(x); });
  // Slots of each weight, found once: their positions do not change.
  std::vector<Path> traced;
  for (const auto& [path, state] : probe.model->params()) {
    try {
      probe.learner->get_etrace_of(path);
      traced.push_back(path);
    } catch (const UserError&) {  // carries no trace
    }
  }
  for (int64_t t = 0; t < inputs.shape()[0]; ++t) {
    step(entry_of(Tensor(inputs), 0, t));
    for (const Path& path : traced) {
      double squares = 0;
      for (const auto& entry : probe.learner->get_etrace_of(path)) {
        const Doubles v(entry.value.array());
        for (int64_t k = 0; k < entry.value.size(); ++k) squares += v[k] * v[k];
      }
      out[path.str()].push_back(std::sqrt(squares));
    }
  }
  return out;
}

}  // namespace braintrace::train

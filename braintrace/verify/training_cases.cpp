// SPDX-License-Identifier: Apache-2.0
// Training cases: short runs of Adam, with the first gradients and parameters and the curve of losses.
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

}  // namespace

void verify_training_case(const Case& c, CaseReport& report) {
  const json&       algorithm = c.info.at("algorithm");
  const std::string name      = algorithm.at("name");
  const bool        lanes     = algorithm.value("batching", "") == "vmap";
  const bool        multi     = algorithm.value("vjp_method", "") == "multi-step";
  const int64_t     B = c.info.at("B"), updates = c.info.at("n_steps"), warmup = c.info.at("warmup_steps");
  const json&       layer = c.info.at("model").at("layers")[0];
  const Task        task{c.info.at("task").at("name"), DType::F64, layer.at("n_in").get<int64_t>()};
  const bool        spiking = task.name == "spike classification";
  const Tensor      all_x(c.array("data.x")), all_targets(c.array("data.target"));

  const auto  model = lanes ? load_lane_model(c) : load_parameters(c);
  RuleOptions options{.compile = compile_options(c)};
  if (multi) options.vjp_method = VjpMethod::MultiStep;
  if (algorithm.contains("decay_or_rank")) options.decay_or_rank = TraceDecay::decay(algorithm["decay_or_rank"]);
  if (algorithm.contains("kappa_filter_decay"))
    options.kappa_filter_decay = algorithm["kappa_filter_decay"].get<double>();
  const auto   learner = algorithm_named(name).learner(*model, options);
  const Tensor sample  = task.input(at_step(at_step(all_x.array(), 0).array(), 0));
  learner->compile_graph(lanes ? at_step(sample.array(), 0) : sample);
  std::optional<ETraceVmap> mapped;
  if (lanes) mapped.emplace(*learner, B);

  const auto step = [&](Tensor x, Tensor target) {
    return task.loss(mapped ? (*mapped)(task.input(x)) : (*learner)(task.input(x)), target);
  };
  const auto sequence = [&](Tensor xs, Tensor targets) {  // one window over everything: back-propagation through time
    const Tensor ys     = (*learner)(MultiStepData{{task.input(xs)}});
    const Tensor losses = for_loop([&](Tensor y, Tensor t) { return task.loss(y, t); },
                                   slice_axis(ys, 0, warmup, ys.shape()[0]), targets);
    return sum(losses);
  };
  auto run      = jit([&](Tensor x) { return mapped ? (*mapped)(task.input(x)) : (*learner)(task.input(x)); });
  auto gradient = jit(value_and_grad(step, model->params()));
  auto whole    = jit(value_and_grad(sequence, model->params()));

  optim::Adam opt(c.info.at("optimizer").at("lr").get<double>());
  opt.register_trainable_weights(model->params());
  std::vector<Array>                        losses;
  std::map<std::string, std::vector<Array>> grads_first, params_first;
  const std::string                         unsound =
      name == "ES_D_RTRL" && multi ? "superseded: defect D5, the bias correction counts calls" : "";
  for (int64_t k = 0; k < updates; ++k) {
    for (const auto& [path, state] : model->states())
      if (!state.is_param())
        for (const std::string& leaf : state.leaf_names()) state.set_leaf(leaf, zeros_like(state.leaf(leaf)));
    learner->reset_state();
    const Array   xs = at_step(all_x.array(), k).array(), targets = at_step(all_targets.array(), k).array();
    const int64_t T = xs.shape()[0], counted = T - warmup;
    Gradients     grads;
    double        total = 0;
    if (name == "BPTT") {
      const auto [value, g] = whole(Tensor(xs), Tensor(targets));
      grads                 = g;
      total                 = value.item();
    } else {
      for (int64_t t = 0; t < warmup; ++t) run(at_step(xs, t));
      for (int64_t t = warmup; t < T; ++t) {
        const auto [value, g] = gradient(at_step(xs, t), spiking ? Tensor(targets) : at_step(targets, t - warmup));
        grads                 = t == warmup ? g : grads + g;
        total += value.item();
      }
    }
    if (c.info.at("reduction") == "mean") grads = grads / Tensor(static_cast<double>(counted));
    losses.push_back(Array::of<double>({total / static_cast<double>(counted)}, {}));
    if (!unsound.empty()) break;

    // As recorded, weights without a trace stay where they are in the single-step method.
    Gradients::Map kept;
    for (const auto& [path, leaves] : grads)
      for (const auto& [leaf, g] : leaves) {
        const std::string full  = leaf_name(path, leaf);
        const bool        moves = multi || name == "BPTT" || is_traced(learner->graph(), full);
        kept[path][leaf]        = moves ? g : zeros_like(g);
        if (static_cast<size_t>(k) < 3) grads_first[full].push_back(kept[path][leaf].array());
      }
    opt.update(Gradients(kept));
    if (k < 3)
      for (const auto& [path, state] : model->params())
        for (const std::string& leaf : state.leaf_names())
          params_first[leaf_name(path, leaf)].push_back(state.leaf(leaf).array());
  }

  const auto stacked = [](const std::vector<Array>& rows) {
    return stack(Tensors(rows.begin(), rows.end()), 0).array();
  };
  const auto   rows_of = [](const Array& a, int64_t n) { return slice_axis(Tensor(a), 0, 0, n).array(); };
  const Array& curve   = c.array("loss");
  if (!unsound.empty()) {
    report.array("loss", stacked(losses), rows_of(curve, 1), {1e-9});
    for (const auto& entry : c.arrays)
      if (entry.first.rfind("param.", 0) != 0 && entry.first.rfind("data.", 0) != 0)
        report.leave_out(entry.first + (entry.first == "loss" ? " after the first update" : ""), unsound);
    return;
  }
  for (const auto& [leaf, rows] : grads_first)
    report.array("grad_first." + leaf, stacked(rows), c.array("grad_first." + leaf), {1e-8});
  for (const auto& [leaf, rows] : params_first)
    report.array("param_first." + leaf, stacked(rows), c.array("param_first." + leaf), {1e-8});
  const int64_t n = spiking ? std::min(tight_spiking_updates, updates) : updates;
  report.array("loss", rows_of(stacked(losses), n), rows_of(curve, n), {1e-6});
  if (spiking)
    report.leave_out("loss and parameters after update " + std::to_string(n), "a spike may flip by rounding");
  else
    for (const auto& [path, state] : model->params())
      for (const std::string& leaf : state.leaf_names()) {
        const std::string full = "param_final." + leaf_name(path, leaf);
        report.array(full, state.leaf(leaf).array(), c.array(full), {1e-6});
      }
}

}  // namespace braintrace::golden

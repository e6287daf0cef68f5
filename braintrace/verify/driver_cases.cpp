// SPDX-License-Identifier: Apache-2.0
// Driver cases: gradients over sequences with masks, reductions, windows, warm-up and lanes.
#include "braintrace/algorithms/compile.h"
#include "braintrace/algorithms/drivers.h"
#include "braintrace/algorithms/etrace_vmap.h"
#include "braintrace/functions/functions.h"
#include "braintrace/ops/move.h"
#include "braintrace/ops/reduce.h"
#include "braintrace/verify/recorded_run.h"
#include "braintrace/verify/verify.h"

namespace braintrace::golden {

namespace {

// Why a recorded gradient is not a target; empty when it is one.
std::string doubtful(const ETraceGraph& graph, VjpMethod method, const std::string& algorithm,
                     const std::string& leaf) {
  if (method == VjpMethod::SingleStep && !is_traced(graph, leaf))
    return "superseded: defect D1, no gradient for weights without a trace";
  return method == VjpMethod::MultiStep && is_traced(graph, leaf) ? doubtful_multi_step(algorithm) : "";
}

}  // namespace

void verify_driver_case(const Case& c, CaseReport& report) {
  const std::string loss_name = c.info.at("loss").at("name");
  for (const json& call : c.info.at("calls")) {
    const std::string id = call.at("id"), algorithm = call.at("algorithm");
    const json&       driver = call.at("driver");
    const bool        lanes  = call.value("vmap", false);
    const auto        model  = lanes ? load_lane_model(c) : load_model(c);
    const Tensor      x(c.array("x")), target(c.array("target"));
    const Tensor      first = at_step(c.array("x"), 0);
    RuleOptions       options{.compile = compile_options(c)};
    if (call.at("options").value("vjp_method", "") == "multi-step") options.vjp_method = VjpMethod::MultiStep;
    if (call["options"].contains("decay_or_rank"))
      options.decay_or_rank = TraceDecay::decay(call["options"]["decay_or_rank"]);
    const auto learner = algorithm_named(algorithm).learner(*model, options);
    learner->compile_graph(lanes ? at_step(first.array(), 0) : first);
    std::optional<ETraceVmap> mapped;
    if (lanes) mapped.emplace(*learner, c.info.at("B").get<int64_t>());

    const int64_t T = x.shape()[0], warmup = driver.value("warmup", 0);
    const auto    step = [&](Tensor x_t, Tensor target_t) {
      return loss_of(loss_name, mapped ? (*mapped)(x_t) : (*learner)(x_t), target_t);
    };
    EtraceGradOptions o{.window    = Window::of(driver.value("chunk_size", 1)),
                        .reduction = driver.at("reduction") == "mean" ? Reduction::Mean : Reduction::Sum};
    if (driver.value("mask", false)) o.mask = Tensor(c.array("mask"));
    const auto swept = [&](auto& by, const Tensor& xs, const Tensor& targets) {
      if (warmup > 0) etrace_evolve(by, Tensors{slice_axis(xs, 0, 0, warmup)});
      const auto r = etrace_grad(step, by, o)(slice_axis(xs, 0, warmup, T), slice_axis(targets, 0, warmup, T));
      return std::pair(r.grads, r.losses);
    };
    const auto run = jit(
        [&](Tensor xs, Tensor targets) { return mapped ? swept(*mapped, xs, targets) : swept(*learner, xs, targets); });
    const auto [grads, losses] = run(x, target);
    report.array("call." + id + ".loss_per_step", losses.array(), c.array("call." + id + ".loss_per_step"), {1e-11});
    for (const auto& [path, leaves] : grads)
      for (const auto& [leaf, g] : leaves) {
        const std::string name = leaf_name(path, leaf), array = "call." + id + ".grad." + name;
        const std::string doubt = doubtful(learner->graph(), learner->vjp_method(), algorithm, name);
        doubt.empty() ? report.array(array, g.array(), c.array(array), {1e-9}) : report.leave_out(array, doubt);
      }
  }
}

}  // namespace braintrace::golden

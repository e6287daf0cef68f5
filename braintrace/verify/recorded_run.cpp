// SPDX-License-Identifier: Apache-2.0
#include "braintrace/verify/recorded_run.h"

#include <algorithm>

#include "braintrace/algorithms/config_json.h"
#include "braintrace/algorithms/dni.h"
#include "braintrace/algorithms/registry.h"
#include "braintrace/functions/functions.h"
#include "braintrace/functions/loops.h"
#include "braintrace/nn/loss.h"
#include "braintrace/ops/math.h"
#include "braintrace/ops/move.h"
#include "braintrace/ops/reduce.h"

namespace braintrace::golden {

namespace {

// Each step is given recorded values: random signs in place of draws, or a modulator.
struct GivenValues : OnlineLearner {
  Tensors values;
  using OnlineLearner::OnlineLearner;
  Tensors aux(const std::optional<int64_t>&) const override { return values; }
};

const json& graph_of(const Case& c, const json& run) {
  return run.contains("graph") ? run["graph"] : c.info.at("graph");
}

// Arrays run.<id>.<what>.g<j>, by a hidden state of group j.
std::map<Path, Tensor> by_group(const Case& c, const json& run, const std::string& what) {
  std::map<Path, Tensor> out;
  const json&            groups = graph_of(c, run).at("hidden_groups");
  for (size_t j = 0; j < groups.size(); ++j)
    if (const auto it = c.arrays.find("run." + run.at("id").get<std::string>() + "." + what + ".g" + std::to_string(j));
        it != c.arrays.end())
      out[Path::dotted(groups[j].at("hidden_paths")[0].get<std::string>())] = Tensor(it->second);
  return out;
}

// None for rules outside the axis space.
std::optional<ETraceConfig> point_of(const json& run) {
  if (run.at("axes").is_null()) return {};
  return config_from_json(run["axes"]);
}

std::shared_ptr<const LearningRule> rule_of(const Case& c, const json& run) {
  const std::string name  = run.at("algorithm");
  const auto        point = point_of(run);
  if (!point) return algorithm_named(name == "TruncatedBPTT" ? "BPTT" : name).rule();  // the record's word for windows
  const json& hyperparameters = run.at("hyperparameters");
  RuleOptions options;
  if ((*point)->learning_signal == SignalSource::RandomFeedback)
    options.feedback = RandomFeedback{.from_output = hyperparameters.value("feedback_source", "state") == "output",
                                      .given       = by_group(c, run, "feedback")};
  if (hyperparameters.contains("projection_eps"))
    options.projection_eps = hyperparameters["projection_eps"].get<double>();
  return make_rule(*point, options, name);
}

}  // namespace

Tensor loss_of(const std::string& name, const Tensor& y, const Tensor& target) {
  if (name == "xent_mean") return mean(losses::softmax_cross_entropy_with_integer_labels(y, target));
  require(name == "half_sse", "the loss {} is not known here; known: half_sse, xent_mean.", name);
  return 0.5 * sum(square(y - target));
}

std::vector<double> step_weights(const Case& c) {
  const auto          it = c.arrays.find("loss.step_weights");
  std::vector<double> out(static_cast<size_t>(c.info.at("T").get<int64_t>()), 1.0);
  for (size_t t = 0; it != c.arrays.end() && t < out.size(); ++t) out[t] = at(it->second, static_cast<int64_t>(t));
  return out;
}

CompileOptions compile_options(const Case& c) {
  return c.info.at("produced_by").contains("oracle") ? CompileOptions() : CompileOptions::reference();
}

std::string doubtful_multi_step(const std::string& algorithm) {
  const auto& config = algorithm_named(algorithm).config;
  return config && config({})->trace_factorization == TraceFactorization::IoFactorized
             ? "superseded: defect D5, the bias correction counts calls"
             : "";
}

bool is_traced(const ETraceGraph& graph, const std::string& leaf) {
  const ModuleInfo& info   = graph.module_info;
  const Mask        traced = traced_inputs(graph);
  return std::any_of(info.weights.begin(), info.weights.end(),
                     [&](const WeightVar& w) { return w.name() == leaf && traced[input_index(info, w.var)]; });
}

RecordedRun::RecordedRun(const Case& c, const json& run)
    : case_(c),
      run_(run),
      id_(run.at("id").get<std::string>()),
      model_(run.value("batching", "") == "vmap" ? load_lane_model(c) : load_model(c)) {
  const LearnerOptions options{
      .vjp_method = run.at("vjp_method") == "multi-step" ? VjpMethod::MultiStep : VjpMethod::SingleStep,
      .compile    = compile_options(c)};
  const auto point = point_of(run);
  const Need need  = point ? need_of(*point) : Need::Nothing;
  const bool draws = point && (*point)->trace_factorization == TraceFactorization::RandomProjection;
  if (need == Need::Synthesizer) {
    learner_ = make_learner(*model_, *point, {.vjp_method = options.vjp_method, .compile = options.compile},
                            run.at("algorithm"));
    learner_->compile_graph(at_step(c.array("x"), 0));
    const auto W = by_group(c, run, "synth_w"), b = by_group(c, run, "synth_b");
    auto       synthesizer = std::make_shared<SyntheticGradient>(learner_->group_signal_shapes());
    for (const HiddenGroup& g : learner_->graph().hidden_groups)
      for (const Path& p : g.hidden_paths) {
        if (W.contains(p)) synthesizer->state_at({"weight" + std::to_string(g.index)}).set(W.at(p));
        if (b.contains(p)) synthesizer->state_at({"bias" + std::to_string(g.index)}).set(b.at(p));
      }
    learner_->attach_synthesizer(synthesizer);
    return;
  }
  if (need == Need::Modulator || draws) {
    auto made = std::make_unique<GivenValues>(*model_, rule_of(c, run), options);
    give_     = [to = made.get()](const Tensors& values) { to->values = values; };
    learner_  = std::move(made);
    if (!draws) given_ = {"run." + id_ + ".modulator"};
  } else {
    learner_ = std::make_unique<OnlineLearner>(*model_, rule_of(c, run), options);
  }
  const Tensor sample = at_step(c.array("x"), 0);
  if (run.value("batching", "") == "vmap") {
    learner_->compile_graph(at_step(sample.array(), 0));
    lanes_.emplace(*learner_, c.info.at("B").get<int64_t>());
    load_hidden(c, *model_);
  } else {
    learner_->compile_graph(sample);
  }
  if (draws) {
    const json& groups = graph_of(c, run).at("hidden_groups");
    for (const MemorySlot& slot : learner_->memory_slots())
      if (slot.kind == "s")
        for (size_t j = 0; j < groups.size(); ++j)
          if (groups[j].at("hidden_paths")[0] == learner_->graph().hidden_groups[slot.group].hidden_paths[0].str())
            given_.push_back("run." + id_ + ".nu.g" + std::to_string(j));
  }
}

std::vector<RecordedRun::Call> RecordedRun::drive() {
  const Array &       x = case_.array("x"), &target = case_.array("target");
  const int64_t       T = x.shape()[0], free_run = run_.at("drive").value("free_run_steps", 0);
  const bool          windows   = run_.at("drive").at("mode") == "window";
  const int64_t       K         = windows ? run_["drive"].at("window").get<int64_t>() : 1;
  const std::string   loss_name = case_.info.at("loss").at("name");
  std::vector<double> weights   = step_weights(case_);
  const DType         dtype     = case_.info.value("dtype", "float64") == "float32" ? DType::F32 : DType::F64;

  std::fill(weights.begin(), weights.begin() + free_run, 0.0);
  const Array step_losses = Array::of<double>(weights, {T});

  auto loss = [&](Tensor in, Tensor goal, Tensor w, std::vector<Tensor> extra) {
    give_(extra);
    if (!windows) return w * loss_of(loss_name, lanes_ ? (*lanes_)(in) : (*learner_)(in), goal);
    const Tensor y = (*learner_)(MultiStepData{{in}});
    return sum(for_loop([&](Tensor y_t, Tensor goal_t, Tensor w_t) { return w_t * loss_of(loss_name, y_t, goal_t); }, y,
                        goal, w));
  };
  auto              step = jit(value_and_grad(loss, model_->params()));
  std::vector<Call> calls;
  for (int64_t t = 0; t < T; t += K) {
    const int64_t end  = std::min(t + K, T);
    const auto    rows = [&](const Array& a) { return windows ? slice_axis(Tensor(a), 0, t, end) : at_step(a, t); };
    std::vector<Tensor> extra;
    for (const std::string& name : given_) extra.push_back(rows(case_.array(name)));
    const Tensor losses       = convert(rows(step_losses), dtype);
    const auto [value, grads] = step(rows(x), rows(target), losses, extra);
    Call call;
    for (const auto& [path, leaves] : grads)
      for (const auto& [leaf, g] : leaves) call.gradients[leaf_name(path, leaf)] = g.array();
    for (const Remembered& r : learner_->remembered()) call.memory.push_back(r.value);
    calls.push_back(std::move(call));
  }
  return calls;
}

}  // namespace braintrace::golden

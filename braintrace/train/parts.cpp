// SPDX-License-Identifier: Apache-2.0
#include "braintrace/train/parts.h"

#include <algorithm>
#include <new>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "braintrace/algorithms/compile.h"
#include "braintrace/algorithms/config_json.h"
#include "braintrace/base/json.h"
#include "braintrace/base/machine.h"
#include "braintrace/compiler/diagnostics.h"
#include "braintrace/model/random_stream.h"
#include "braintrace/model/snapshot.h"
#include "braintrace/ops/move.h"
#include "braintrace/train/optimizer.h"
#include "braintrace/zoo/model.h"
#include "braintrace/zoo/weights.h"

namespace braintrace::train {

namespace {

// A message with its location in the configuration.
template <class F>
auto at_place(const std::string& place, F f) {
  try {
    return f();
  } catch (const UserError& error) {
    fail(error.kind(), "{}: {}", place, error.what());
  } catch (const std::bad_alloc&) {
    fail("{}: not enough memory.", place);
  }
}

struct Rule {
  std::string                 name;  // or
  std::optional<ETraceConfig> point;
  RuleOptions                 options;
  std::string                 modulator;  // where it comes from; empty for a number
  std::optional<double>       synthesizer_lr;
};

constexpr double usual_synthesizer_lr = 1e-2;

Rule rule_of(const std::string& text) {
  nlohmann::json object = read_json(text, "config.rule");
  Rule           out;
  if (object.contains("name")) {
    require(object["name"].is_string(), "name: expected a string, got {}.", object["name"].dump());
    out.name = object["name"].get<std::string>();
  } else {
    out.point = config_from_json(object["config"]);
  }
  object.erase("name");
  object.erase("config");
  Tensor modulator;
  if (object.contains("modulator")) {
    const nlohmann::json& given = object["modulator"];
    const auto&           words = Modulation::sources();
    const auto is_word = [&](const std::string& word) { return given.is_string() && given.get<std::string>() == word; };
    require(given.is_number() || std::any_of(words.begin(), words.end(), is_word),
            "modulator: expected a number or one of {}, got {}.", fmt::join(words, ", "), given.dump());
    if (given.is_string()) out.modulator = given.get<std::string>();
    modulator = Tensor(Array::scalar(DType::F32, given.is_number() ? given.get<double>() : 0));
    object.erase("modulator");
  }
  if (object.contains("synthesizer_lr")) {
    const nlohmann::json& given = object["synthesizer_lr"];
    require(given.is_number() && given.get<double>() > 0, "synthesizer_lr: expected a positive number, got {}.",
            given.dump());
    out.synthesizer_lr = given.get<double>();
    object.erase("synthesizer_lr");
  }
  out.options           = rule_options_from_json(object);
  out.options.modulator = modulator;
  return out;
}

Type step_type(const tasks::Batch& batch) {
  return {batch.inputs.dtype(), Shape(batch.inputs.shape().begin() + 1, batch.inputs.shape().end())};
}

// The learner of a model on the inputs of a task. If the model fails, model and task do not match.
std::unique_ptr<OnlineLearner> learner_of(const Rule& rule, Module& model, const Type& input) {
  const SetupOptions setup{.batch_size = input.shape[0]};
  const Tensor       x(input, 0);
  auto               learner = at_place("config.rule", [&] {
    return rule.point ? make_learner(model, *rule.point, rule.options)
                                    : algorithm_named(rule.name).learner(model, rule.options);
  });
  try {
    prepare_model(model, x, setup);
    compile_learner(*learner, x, setup);
  } catch (const CompileError& error) {
    std::string message = fmt::format("config.model: {}", error.what());
    for (const CompilationRecord& r : error.diagnostics)
      if (r.level != DiagnosticLevel::Info) message += fmt::format("\n  {}: {}", name_of(r.kind), r.message);
    throw UserError(message);
  } catch (const UserError& error) {
    fail("config.model: it does not run on the inputs of the task, {} for {} sequences.\n  {}", to_string(input),
         input.shape[0], error.what());
  }
  return learner;
}

std::string names_of(Need need) {
  std::vector<std::string> names;
  for (const Algorithm& a : algorithms())
    if (a.needs() == need) names.push_back(a.name);
  return fmt::format("{}", fmt::join(names, ", "));
}

// What some rules ask for besides a loss. Shapes come from the compiled graph.
void add_signals(Parts& p, Rule rule, const Config& config) {
  const Need need = rule.point ? need_of(*rule.point) : algorithm_named(rule.name).needs();
  require(need == Need::Synthesizer || !rule.synthesizer_lr,
          "synthesizer_lr: this rule has no synthesizer; it is for {}.", names_of(Need::Synthesizer));
  if (need == Need::Synthesizer) {  // it starts at zero: it estimates nothing yet
    p.synthesizer = std::make_shared<SyntheticGradient>(p.learner->group_signal_shapes(), 0, 0, config.precision);
    p.learner->attach_synthesizer(p.synthesizer);
    p.synthesizer_optimizer = std::make_unique<optim::Adam>(rule.synthesizer_lr.value_or(usual_synthesizer_lr));
    p.synthesizer_optimizer->register_trainable_weights(p.synthesizer->params());
  }
  if (need != Need::Modulator) return;
  if (!rule.options.modulator.defined()) rule.modulator = "loss";
  if (rule.modulator.empty()) return;
  p.modulation.emplace(rule.modulator, p.classes(), p.learner->graph(), config.batch, config.precision);
  p.learner->set_modulator(Tensor(Type{config.precision, {}}, 0));  // until an update knows better
}

void check_outputs(const Config& config, const Parts& p, const tasks::Batch& batch) {
  const Types            results = p.learner->graph().module_info.step.result_types();
  const tasks::TaskFacts facts   = p.task->facts();
  Shape                  want    = {config.batch};
  if (p.classes())
    want.push_back(facts.outputs);
  else
    want.assign(batch.targets.shape().begin() + 1, batch.targets.shape().end());
  require(results.size() == 1 && is_float(results[0].dtype),
          "config.model: it must return one floating-point value per step, got {}.", results.size());
  require(results[0].shape == want,
          "config.model: a step returns {}, but the task expects {} ({} {} of {} sequences).\n  Change the size of the "
          "last layer, or the task.",
          to_string(results[0].shape), to_string(want), facts.outputs, p.classes() ? "classes" : "values",
          config.batch);
}

// The minimum memory of a batch: its sequences, as generated and in the precision of the run, and states and traces
// before and after an update. A system that overcommits memory kills the process that uses it.
void check_memory(const Config& config, const tasks::TaskFacts& task, double bytes_of_states) {
  const double values = 2 + static_cast<double>(size_of(task.input)) +
                        static_cast<double>(task.targets == tasks::TargetKind::Classes ? 0 : task.outputs);
  const double bytes =
      2 * (4 * values * static_cast<double>(task.length) * static_cast<double>(config.batch)) + 2 * bytes_of_states;
  const auto there = static_cast<double>(physical_memory());
  require(bytes <= there,
          "config.batch: {} sequences of {} steps need at least {:.3g} GB of memory, this machine has {:.3g} GB.\n  "
          "Choose a smaller batch.",
          config.batch, task.length, bytes / 1e9, there / 1e9);
}

double bytes_of(const std::vector<std::pair<std::string, StateMap>>& parts) {
  double sum = 0;
  for (const auto& [name, states] : parts)
    for (const auto& [path, state] : states)
      for (const std::string& leaf : state.leaf_names()) sum += static_cast<double>(state.leaf(leaf).type().bytes());
  return sum;
}

}  // namespace

tasks::Batch batch_of(const Config& config, const tasks::Task& task, tasks::Part part, int64_t index) {
  tasks::Batch b     = task.batch(part, index, config.batch);
  const auto   exact = [&](const Array& a) { return is_float(a.dtype()) ? convert(a, config.precision) : a; };
  return {exact(b.inputs), exact(b.targets), exact(b.mask)};
}

tasks::Batch batch_of_shard(const Config& config, const tasks::Task& task, tasks::Part part, int64_t index,
                            int64_t shard, int64_t shards) {
  const bool rows_are_samples = !task.facts().contiguous && task.facts().lengths == 1;
  if (shards == 1 || rows_are_samples) return batch_of(config, task, part, index * shards + shard);
  Config whole = config;
  whole.batch *= shards;
  const tasks::Batch b    = batch_of(whole, task, part, index);
  const auto         rows = [&](const Array& a) {
    return slice_axis(Tensor(a), 1, shard * config.batch, (shard + 1) * config.batch).array();
  };
  return {rows(b.inputs), rows(b.targets), rows(b.mask)};
}

Parts make_parts(const Config& config) {
  Parts p;
  p.task  = at_place("config.task", [&] { return tasks::make_task(config.task, config.seed); });
  p.model = at_place("config.model", [&] { return zoo::build_model(config.model); });
  if (!config.init.empty())
    at_place("config.init: " + config.init, [&] { zoo::load_weights(*p.model, zoo::read_weights(config.init)); });
  p.loss.emplace(config.loss, p.classes());
  auto made           = make_optimizer(read_ordered_json(config.optimizer, "config.optimizer"), "config.optimizer");
  p.updates_per_epoch = made.updates_per_epoch;
  require(config.epochs == 0 || p.task->facts().train_samples > 0,
          "config.epochs: this task is unlimited; give steps.");
  check_memory(config, p.task->facts(), 0);
  const auto part  = p.only_test() ? tasks::Part::Test : tasks::Part::Train;
  const auto batch = at_place("config.batch", [&] { return batch_of(config, *p.task, part, 0); });
  const Rule rule  = at_place("config.rule", [&] { return rule_of(config.rule); });
  p.learner        = learner_of(rule, *p.model, step_type(batch));
  at_place("config.rule", [&] { add_signals(p, rule, config); });
  check_outputs(config, p, batch);
  p.optimizer = std::move(made.optimizer);
  p.optimizer->register_trainable_weights(p.model->params());
  check_memory(config, p.task->facts(), bytes_of(p.states()));
  return p;
}

bool mixes_rows(const Config& config) {
  const Undo undo({{Path{}, random::default_stream()}});
  const auto model = at_place("config.model", [&] { return zoo::build_model(config.model); });
  return !model->states(StateKind::LongTerm).empty();
}

Parts make_probe(const Config& config, const Parts& trained) {
  Parts p;
  p.task          = trained.task;
  p.model         = zoo::build_model(config.model);
  p.loss          = trained.loss;
  Config one      = config;
  one.batch       = 1;
  const Type in   = step_type(batch_of(one, *p.task, tasks::Part::Validation, 0));
  const Rule rule = rule_of(config.rule);
  p.learner       = learner_of(rule, *p.model, in);
  add_signals(p, rule, one);
  const auto put = [](const StateMap& from, const StateMap& to) {
    for (size_t i = 0; i < from.size(); ++i)
      for (const std::string& leaf : from[i].second.leaf_names())
        to[i].second.set_leaf(leaf, from[i].second.leaf(leaf));
  };
  for (StateKind kind : {StateKind::Param, StateKind::LongTerm})
    put(trained.model->states(kind), p.model->states(kind));
  return p;
}

std::vector<std::pair<std::string, StateMap>> Parts::states() const {
  std::vector<std::pair<std::string, StateMap>> out = {
      {"model", model->states()}, {"optimizer", optimizer->states()}, {"learner", learner->own_states()}};
  if (synthesizer) out.emplace_back("synthesizer", synthesizer->states());
  if (synthesizer) out.emplace_back("synthesizer_optimizer", synthesizer_optimizer->states());
  if (modulation) out.emplace_back("modulation", modulation->states());
  return out;
}

}  // namespace braintrace::train

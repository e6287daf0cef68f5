// SPDX-License-Identifier: Apache-2.0
#include "braintrace/train/trainer.h"

#include <chrono>
#include <cmath>
#include <optional>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "braintrace/base/finite.h"
#include "braintrace/base/json.h"
#include "braintrace/parallel/collective.h"
#include "braintrace/train/alarms.h"
#include "braintrace/train/alike.h"
#include "braintrace/train/baselines.h"
#include "braintrace/train/checkpoint.h"
#include "braintrace/train/evaluator.h"
#include "braintrace/train/history.h"
#include "braintrace/train/surroundings.h"
#include "braintrace/train/updater.h"
#include "braintrace/viz/graph_view.h"

namespace braintrace::train {

namespace {

using Clock = std::chrono::steady_clock;
using nlohmann::json;

struct Range {
  int64_t from, to;
};
// A batch, divided into the shards of this process.
struct ShardedBatch {
  int64_t                   index;
  std::vector<tasks::Batch> shards;
  std::vector<double>       asked;  // by time step: whether any shard of any rank has a target

  int64_t length() const { return std::ssize(asked); }
};

std::vector<double> asked_in(const Array& mask) {
  const int64_t       T = mask.shape()[0], B = mask.shape()[1];
  std::vector<double> out(static_cast<size_t>(T));
  for (int64_t i = 0; i < T * B; ++i)
    if (at(mask, i) != 0) out[static_cast<size_t>(i / B)] = 1;
  return out;
}

// The first stretch of K steps, counted from `time`, that has a target.
std::optional<Range> asked_stretch(const std::vector<double>& asked, int64_t time, int64_t K) {
  const int64_t T = std::ssize(asked);
  for (int64_t t = time; t < T; ++t) {
    if (asked[static_cast<size_t>(t)] == 0) continue;
    const int64_t from = time + (t - time) / K * K;
    return Range{from, std::min(from + K, T)};
  }
  return std::nullopt;
}

// One shard per process, unless the configuration says otherwise.
Config for_group(Config config, const parallel::Group& group) {
  return group.size() > 1 && config.shards == 0 ? with_shards(config, group.size()) : config;
}
// The number of shards of a run: one if the model mixes the rows of a batch.
int64_t shards_for(const Config& config, const parallel::Group& group) {
  const int64_t P = group.size(), S = config.shards;
  require(P == 1 || S % P == 0, "config.shards: {} shards cannot be divided among {} processes; give a multiple of {}.",
          S, P, P);
  return S > 1 && !mixes_rows(config) ? S : 1;
}
// One device for each process of a machine.
std::string backend_for(const Config& config, const parallel::Group& group) {
  return config.backend == "cuda" && group.size() > 1 ? fmt::format("cuda:{}", group.local_rank()) : config.backend;
}
Config of_one_shard(Config config, int64_t shards) {
  config.batch /= shards;
  return config;
}

// The locations of files do not affect learning.
std::string stored_config(const Config& config) {
  auto c = read_ordered_json(config.text, "config");
  c.erase("output");
  c.erase("init");
  c["checkpoint"].erase("dir");
  return c.dump();
}

// Whether the run learns online, as text.
std::string pace_of(const Config& config, int64_t length) {
  if (config.update_every == 1)
    return "online: the weights change after every time step with a target; traces carry the past";
  if (config.update_every > 1 && config.update_every < length)
    return fmt::format(
        "in windows: the weights change after every {} of {} time steps; set \"update\": \"step\" to learn online",
        config.update_every, length);
  return fmt::format(
      "by sequence: the weights change once per sequence of {} time steps, with gradients of windows of {}; set "
      "\"update\": \"step\" to learn online",
      length, config.window.steps_of(length));
}

json json_of(const Alarm& a) {
  return {{"step", a.step}, {"kind", a.kind}, {"where", a.where}, {"message", a.message}};
}
Alarm alarm_of(const json& j) {
  return {j.at("step").get<int64_t>(), j.at("kind").get<std::string>(), j.at("where").get<std::string>(),
          j.at("message").get<std::string>()};
}

}  // namespace

struct Trainer::Impl {
  Impl(Config c, std::shared_ptr<parallel::Group> group);

  Ending               run(const std::function<bool()>& stop);
  StepRecord           step();
  ValidationRecord     validate(int64_t batches, tasks::Part part = tasks::Part::Validation);
  void                 compare();         // with baselines, on the samples of the last evaluation
  bool                 has_valid_loss();  // validates and remembers; if the loss is not finite, an alarm says so
  void                 remember(const ValidationRecord& v);  // for early stopping
  bool                 done() const;
  bool                 enough() const;
  ShardedBatch         training_batch(int64_t index);
  std::optional<Range> next_stretch(const ShardedBatch& b, int64_t from) const;
  Stretches            stretches(const ShardedBatch& b, int64_t from, int64_t to) const;
  void                 alarm(const Alarm& a);
  void                 describe_end(Ending ending);
  Checkpoint           checkpoint();
  void                 write(const std::function<void(const Checkpoint&)>& to_file);
  void                 load(const std::string& path);
  std::string          save();
  bool                 is_sound();  // all states are finite; if not, an alarm says which one is not

  // The contents of a checkpoint in addition to states.
  struct Place {
    int64_t                       updates = 0, batch = 0, time = 0, bad = 0, schedule = 0;
    double                        best = INFINITY;
    History                       history;
    std::vector<ValidationRecord> validations;
    std::vector<Alarm>            alarms;
  };
  Place read_place(const Checkpoint& c) const;

  template <class F>
  void tell(F f) const {
    for (const auto& o : observers) f(*o);
  }

  Config                   config;
  Surroundings             surroundings;
  Shards                   shards;
  Config                   shard_config;  // the same with the rows of a shard
  Parts                    parts;
  std::optional<Updater>   updater;
  std::optional<Evaluator> evaluator;

  // The position of the run: number of updates, next batch and next time step in it.
  int64_t updates = 0, batch = 0, time = 0;
  double  best = INFINITY;  // validation loss
  int64_t bad  = 0;         // validations since then
  History history;

  RunRecord                              record;
  std::optional<ShardedBatch>            current;            // the batch in use
  int64_t                                last_batch   = 0;   // of epochs
  int64_t                                evaluated_at = -1;  // by this process
  int64_t                                saved_at     = -1;
  bool                                   spoiled      = false;
  Clock::time_point                      start        = Clock::now();
  std::pair<tasks::Part, int64_t>        judged       = {tasks::Part::Validation, 0};  // part and batches
  std::vector<std::shared_ptr<Observer>> observers;
};

Trainer::Impl::Impl(Config c, std::shared_ptr<parallel::Group> group)
    : config(for_group(std::move(c), *group)),
      surroundings{backend_for(config, *group), config.dt, config.precision, random::key(config.seed)},
      shards(group, shards_for(config, *group)),
      shard_config(of_one_shard(config, shards.count())) {
  const InForce here(surroundings);
  parallel::all_succeed(*group, [&] {
    parts = make_parts(shard_config);
    updater.emplace(shard_config, parts, shards);
    evaluator.emplace(shard_config, parts, shards);
  });
  check_alike(*group, config, *parts.task);
  shards.adopt(parts);
  const tasks::TaskFacts& facts = parts.task->facts();
  add_to_task(config, facts.found);
  record.config     = config.text;
  record.seed       = config.seed;
  record.model_text = to_string(*parts.model);
  for (const auto& [path, state] : parts.model->params())
    for (const std::string& leaf : state.leaf_names()) record.parameters += state.type(leaf).size();
  record.graph_svg   = graph_svg(view_of(parts.learner->graph(), config.name.empty() ? "model" : config.name));
  record.class_names = facts.class_names;
  record.pace        = pace_of(config, facts.length);
  record.total_steps = config.steps;
  if (config.epochs > 0) {
    last_batch                  = (config.epochs * facts.train_samples + config.batch - 1) / config.batch;
    const ShardedBatch first    = training_batch(0);
    int64_t            per_pass = 0;
    for (auto s = next_stretch(first, 0); s; s = next_stretch(first, s->to)) ++per_pass;
    record.total_steps = last_batch * per_pass;
  }
}

ShardedBatch Trainer::Impl::training_batch(int64_t index) {
  ShardedBatch                     b{index, {}, {}};
  std::vector<std::vector<double>> asked;
  for (int64_t s = shards.first(); s < shards.first() + shards.here(); ++s) {
    b.shards.push_back(batch_of_shard(shard_config, *parts.task, tasks::Part::Train, index, s, shards.count()));
    asked.push_back(asked_in(b.shards.back().mask));
  }
  b.asked.resize(asked[0].size());
  shards.sum(std::vector<std::span<const double>>(asked.begin(), asked.end()), b.asked);
  return b;
}

std::optional<Range> Trainer::Impl::next_stretch(const ShardedBatch& b, int64_t from) const {
  return asked_stretch(b.asked, from, config.update_every == 0 ? b.length() : config.update_every);
}

Stretches Trainer::Impl::stretches(const ShardedBatch& b, int64_t from, int64_t to) const {
  Stretches out;
  for (const tasks::Batch& s : b.shards) out.push_back(stretch_of(s, from, to));
  return out;
}

StepRecord Trainer::Impl::step() {
  const InForce here(surroundings);
  if (!current || current->index != batch) current.emplace(training_batch(batch));
  const ShardedBatch& b = *current;
  const int64_t       T = b.length();
  const auto          s = next_stretch(b, time);
  require(s.has_value(), "config.task: batch {} has no targets: its mask is zero everywhere.", batch);
  if (time == 0 && config.reset) shards.each([&](int64_t) { parts.learner->reset(); });
  if (s->from > time) updater->advance(stretches(b, time, s->from));
  // If one window covers the whole sequence, traces are neither read nor written.
  const bool          fresh = config.reset && s->from == 0 && s->to == T && config.window.steps_of(T) == T;
  const UpdateOutcome o     = updater->learn(stretches(b, s->from, s->to), fresh);
  const bool          last  = !next_stretch(b, s->to);
  time                      = s->to;
  if (last) {  // what is left of the sequence matters only to states that live on
    if (config.reset && !fresh) updater->close();
    if (time < T && !config.reset) updater->advance(stretches(b, time, T));
    time = 0;
    ++batch;
  }

  double squares = 0;
  for (double n : o.gradient_norms) squares += n * n;
  const StepRecord r{++updates,
                     o.loss,
                     parts.classes() ? o.correct : -1,
                     std::sqrt(squares),
                     parts.optimizer->current_lr(),
                     std::chrono::duration<double>(Clock::now() - start).count()};
  if (updates % parts.updates_per_epoch == 0) parts.optimizer->step_epoch();
  history.add(r);
  tell([&](Observer& each) { each.step(r); });
  for (const Alarm& a : finite_alarms(updates, o.loss, parts.model->params(), o.gradient_norms)) {
    spoiled = true;
    alarm(a);
  }
  return r;
}

ValidationRecord Trainer::Impl::validate(int64_t batches, tasks::Part part) {
  const InForce         here(surroundings);
  const optim::Averaged weights(*parts.optimizer);
  const Evaluation      e = evaluator->evaluate(batches, part);
  record.judgment         = {e.confusion, e.calibration_error, e.values};
  judged                  = {part, batches};
  evaluated_at            = updates;
  const ValidationRecord v{updates, e.loss, e.accuracy};
  for (const Alarm& a : joined_alarms(activity_alarms(updates, e.units))) alarm(a);
  return v;
}

void Trainer::Impl::compare() {
  record.judgment.baselines = baselines(config, *parts.task, judged.first, judged.second);
}

void Trainer::Impl::alarm(const Alarm& a) {
  for (const Alarm& known : record.alarms)
    if (known.kind == a.kind && known.where == a.where) return;
  record.alarms.push_back(a);
  tell([&](Observer& each) { each.alarm(a); });
}

bool Trainer::Impl::has_valid_loss() {
  const ValidationRecord v = validate(config.validation.batches);
  if (!std::isfinite(v.loss)) {
    spoiled = true;
    alarm({updates, "not_finite", "validation",
           fmt::format("the validation loss is {} after update {}.\n  {}", v.loss, updates, finite_advice)});
    return false;
  }
  if (record.validations.empty() || record.validations.back().step != updates) remember(v);
  return true;
}

void Trainer::Impl::remember(const ValidationRecord& v) {
  record.validations.push_back(v);
  const bool better = v.loss < best - config.early_stop.min_delta;
  bad               = better ? 0 : bad + 1;
  if (better) best = v.loss;
  if (better && config.checkpoint.best && !config.checkpoint.dir.empty())
    write([&](const Checkpoint& c) {
      write_checkpoint(CheckpointFolder(config.checkpoint.dir, config.checkpoint.keep).best_path(), c);
    });
  tell([&](Observer& each) { each.validation(v); });
}

bool Trainer::Impl::done() const { return config.epochs > 0 ? batch >= last_batch : updates >= config.steps; }
bool Trainer::Impl::enough() const {
  if (config.early_stop.patience > 0 && bad >= config.early_stop.patience) return true;
  if (!config.early_stop.at_goal || record.validations.empty()) return false;
  return config.goal.reached(record.validations.back().loss, record.validations.back().accuracy);
}

Checkpoint Trainer::Impl::checkpoint() {
  const InForce here(surroundings);
  Checkpoint    c;
  c.arrays = shards.gathered();
  history.save(c.arrays);
  std::vector<double> validations;
  for (const ValidationRecord& v : record.validations)
    validations.insert(validations.end(), {static_cast<double>(v.step), v.loss, v.accuracy});
  c.arrays["run.validations"] = Array::of<double>(validations, {static_cast<int64_t>(record.validations.size()), 3});
  c.arrays["run.best"]        = Array::of<double>({best}, {});
  json progress               = {{"updates", updates}, {"batch", batch},
                                 {"time", time},       {"schedule", parts.optimizer->lr().epoch()},
                                 {"bad", bad},         {"alarms", json::array()}};
  for (const Alarm& a : record.alarms) progress["alarms"].push_back(json_of(a));
  c.progress = progress.dump();
  c.config   = stored_config(config);
  return c;
}

// One process writes for all; if it fails, all stop.
void Trainer::Impl::write(const std::function<void(const Checkpoint&)>& to_file) {
  const Checkpoint c = checkpoint();
  parallel::all_succeed(shards.group(), [&] {
    if (shards.group().is_first()) to_file(c);
  });
}

void Trainer::Impl::load(const std::string& path) {
  const Checkpoint  c     = read_checkpoint(path);
  const Config      there = read_config(c.config, path);
  const std::string what  = difference(there, config);
  require(what.empty(), "{}: the checkpoint belongs to a different run: {}.", path, what);
  // A checksum shows that a file is intact, not who wrote it: everything is checked before anything changes.
  const auto read = [&] {
    try {
      return read_place(c);
    } catch (const std::exception& error) {
      fail("{}: the file is damaged: {}.", path, error.what());
    }
  }();
  const InForce here(surroundings);
  shards.restore(c.arrays, path);
  updates            = read.updates;
  batch              = read.batch;
  time               = read.time;
  bad                = read.bad;
  best               = read.best;
  history            = read.history;
  record.validations = read.validations;
  record.alarms      = read.alarms;
  parts.optimizer->lr().set_epoch(read.schedule);
  record.start_step = saved_at = updates;
}

Trainer::Impl::Place Trainer::Impl::read_place(const Checkpoint& c) const {
  const json progress = read_json(c.progress, "progress");
  const auto number   = [&](const char* name, int64_t most) {
    const json& n = progress.at(name);
    require(n.is_number_integer() && n >= 0 && n <= most, "{} is {}, expected a whole number of 0 … {}", name, n.dump(),
              most);
    return n.get<int64_t>();
  };
  const auto array = [&](const char* name, const Type& type) {
    const Array& a = c.arrays.at(name);
    require(a.type() == type, "{} is {}, expected {}", name, to_string(a.type()), to_string(type));
    return a;
  };
  Place p;
  p.updates  = number("updates", int64_t{1} << 53);
  p.batch    = number("batch", std::min(p.updates, (int64_t{1} << 53) / config.batch));  // each had an update
  p.bad      = number("bad", p.updates);
  p.schedule = number("schedule", p.updates);
  if (parts.only_test()) {
    p.time = number("time", int64_t{1} << 53);
  } else {
    const int64_t T = p.updates == 0 ? 1 : parts.task->facts().length;
    p.time          = number("time", T - 1);
  }
  p.best = at(array("run.best", {DType::F64, {}}), 0);
  require(!std::isnan(p.best), "run.best is not a number");
  p.history.load(c.arrays);
  const Shape& rows        = c.arrays.at("run.validations").shape();
  const Array  validations = array("run.validations", {DType::F64, {rows.empty() ? 0 : rows[0], 3}});
  const auto   step_of     = [&](double step) {
    require(step >= 0 && step <= static_cast<double>(p.updates), "a step is {}, after the last update", step);
    return static_cast<int64_t>(step);
  };
  for (int64_t i = 0; i < validations.shape()[0]; ++i)
    p.validations.push_back({step_of(at(validations, 3 * i)), at(validations, 3 * i + 1), at(validations, 3 * i + 2)});
  for (const json& a : progress.at("alarms")) {
    p.alarms.push_back(alarm_of(a));
    step_of(static_cast<double>(p.alarms.back().step));
  }
  return p;
}

bool Trainer::Impl::is_sound() {
  const InForce here(surroundings);
  std::string   bad_one;
  shards.each([&](int64_t) {
    for (const auto& [owner, states] : shards.states())
      for (const auto& [path, state] : states)
        for (const std::string& leaf : state.leaf_names())
          if (bad_one.empty() && !all_finite(state.leaf(leaf).array())) bad_one = owner + "." + leaf_name(path, leaf);
  });
  for (const std::string& name : parallel::all_gather(shards.group(), bad_one)) {
    if (name.empty()) continue;
    spoiled = true;
    alarm({updates, "not_finite", name,
           fmt::format("{} is not finite after update {}.\n  {}", name, updates, finite_advice)});
    return false;
  }
  return true;
}

std::string Trainer::Impl::save() {
  const CheckpointFolder folder(config.checkpoint.dir, config.checkpoint.keep);
  saved_at = updates;
  write([&](const Checkpoint& c) { folder.write(updates, c); });
  return folder.path_of(updates);
}

void Trainer::Impl::describe_end(Ending ending) {
  record.steps = history.stretches();
  if (ending == Ending::Interrupted || ending == Ending::NotFinite) return;
  if (observers.empty()) return;
  compare();
  const InForce         here(surroundings);
  const optim::Averaged weights(*parts.optimizer);
  record.activity             = evaluator->watch();
  Parts  probe                = make_probe(config, parts);
  Config one                  = config;
  one.batch                   = 1;
  record.activity.trace_norms = trace_norms(probe, batch_of(one, *parts.task, tasks::Part::Validation, 0).inputs);
}

Trainer::Trainer(Config config, std::shared_ptr<parallel::Group> group)
    : impl_(std::make_unique<Impl>(std::move(config), group ? std::move(group) : parallel::alone())) {}
Trainer::~Trainer() = default;

void Trainer::observe(std::shared_ptr<Observer> observer) { impl_->observers.push_back(std::move(observer)); }

Ending Trainer::Impl::run(const std::function<bool()>& stop) {
  const bool saves   = !config.checkpoint.dir.empty();
  const auto is_time = [&](int64_t every) { return every > 0 && updates % every == 0; };
  record.steps       = history.stretches();
  tell([&](Observer& each) { each.begin(record); });
  if (const auto& warnings = parts.task->facts().warnings; !warnings.empty())
    alarm({updates, "data", "task", fmt::format("{}", fmt::join(warnings, "\n  "))});
  bool stopped = false;
  while (!spoiled && !stopped && !done() && !enough()) {
    step();
    const bool saves_now = saves && is_time(config.checkpoint.every);
    if (spoiled || ((saves_now || is_time(config.validation.every)) && !is_sound())) break;
    if (is_time(config.validation.every) && !has_valid_loss()) break;
    if (saves_now) save();
    stopped = parallel::any(shards.group(), stop && stop());
  }
  const bool is_saved = saved_at == updates;
  Ending     ending   = spoiled || (!is_saved && !is_sound()) ? Ending::NotFinite
                        : done()                              ? Ending::Finished
                        : enough()                            ? Ending::EarlyStop
                                                              : Ending::Interrupted;
  if (saves && !spoiled && !is_saved) save();
  if ((ending == Ending::Finished || ending == Ending::EarlyStop) && evaluated_at != updates && !has_valid_loss())
    ending = Ending::NotFinite;
  describe_end(ending);
  tell([&](Observer& each) { each.end(record); });
  return ending;
}

Ending Trainer::run(const std::function<bool()>& stop) {
  const Config::Checkpoints& where = impl_->config.checkpoint;
  if (where.dir.empty()) return impl_->run(stop);
  const CheckpointFolder folder(where.dir, where.keep);
  parallel::Group&       group = impl_->shards.group();
  parallel::all_succeed(group, [&] {
    if (group.is_first()) folder.prepare();
  });
  const auto with_last = [&](const UserError& error) {
    const auto left = folder.files();
    return fmt::format(
        "{}\n  {}", error.what(),
        left.empty() ? "There is no checkpoint yet."
                     : fmt::format("The last good checkpoint is {}; continue from it with --resume.", left.back()));
  };
  try {
    return impl_->run(stop);
  } catch (const parallel::SharedError& error) {
    throw parallel::SharedError(with_last(error));
  } catch (const UserError& error) {
    throw UserError(with_last(error));
  }
}

StepRecord       Trainer::step() { return impl_->step(); }
ValidationRecord Trainer::validate(int64_t batches) { return impl_->validate(batches); }
ValidationRecord Trainer::validate(int64_t batches, tasks::Part part) { return impl_->validate(batches, part); }
const std::vector<Baseline>& Trainer::compare() {
  impl_->compare();
  return impl_->record.judgment.baselines;
}
Predictions Trainer::predict(tasks::Part part) {
  const InForce         here(impl_->surroundings);
  const optim::Averaged weights(*impl_->parts.optimizer);
  return impl_->evaluator->predict(part);
}

std::string Trainer::save() {
  require(!impl_->config.checkpoint.dir.empty(), "Trainer: the configuration names no folder for checkpoints.");
  return impl_->save();
}
void Trainer::save(const std::string& path) const {
  impl_->write([&](const Checkpoint& c) { write_checkpoint(path, c); });
}
void Trainer::load(const std::string& path) {
  parallel::all_succeed(impl_->shards.group(), [&] { impl_->load(path); });
}

int64_t          Trainer::updates() const { return impl_->updates; }
const RunRecord& Trainer::record() const { return impl_->record; }
const Config&    Trainer::config() const { return impl_->config; }
OnlineLearner&   Trainer::learner() { return *impl_->parts.learner; }
bool             Trainer::goal_reached() const {
              const auto& all = impl_->record.validations;
              return !all.empty() && impl_->config.goal.reached(all.back().loss, all.back().accuracy);
}

Config config_of_checkpoint(const std::string& path) { return read_config(read_checkpoint(path).config, path); }

Config with_test_file(Config config, const std::string& file, Targets targets) {
  json       task = read_json(config.task, "config.task");
  const bool fits = task.contains("file") && tasks::is_of_files(task["type"]);
  require(fits, "{}: the task of the checkpoint, {}, does not read files; only npz, csv, ts and wav do.", file,
          shown_json(task["type"]));
  for (const char* field : {"validation_file", "test_file"}) task.erase(field);
  task.update({{"file", file}, {"validation", 0}, {"test", 1}});
  if (targets == Targets::Optional && task["type"] == "csv") task["targets_optional"] = true;
  config.task   = task.dump();
  config.epochs = 0;  // nothing is left to train with
  return config;
}

}  // namespace braintrace::train

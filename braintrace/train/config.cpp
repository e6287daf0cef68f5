// SPDX-License-Identifier: Apache-2.0
#include "braintrace/train/config.h"

#include <algorithm>
#include <filesystem>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "braintrace/base/ascii.h"
#include "braintrace/base/counted.h"
#include "braintrace/base/json.h"
#include "braintrace/io/file.h"
#include "braintrace/runtime/backend.h"
#include "braintrace/train/loss.h"
#include "braintrace/train/optimizer.h"
#include "braintrace/viz/escape.h"
#include "braintrace/zoo/model.h"
#include "braintrace/zoo/weights.h"

namespace braintrace::train {

namespace {

const Section top{
    "a training configuration",
    {{"about?", "name of the run, shown in its report"},
     {"model", "a model description, the name of a built-in model, or a file with a description"},
     {"rule=\"D_RTRL\"",
      "name of a learning rule, or an object with `name` (or `config`, a point of the rule space) and the options "
      "of the rule"},
     {"task", "a task description"},
     {"optimizer={}", "see below"},
     {"loss=\"auto\"", "loss of a step; `auto` is `cross_entropy` for classes and `mse` for values"},
     {"batch=32", "sequences per batch"},
     {"shards?",
      "parts of the batch, whose gradients are summed in a fixed order: the same bits for any number of processes "
      "that divides it ([many machines](many_machines.md))"},
     {"steps?", "weight updates in the whole run; give this or `epochs`"},
     {"epochs?", "passes over the training samples, for finite tasks"},
     {"update=\"sequence\"", "when weights change: `sequence`, `step`, or a number of time steps"},
     {"window=\"auto\"", "time steps per window of the gradient: a number, `auto` (at most 128) or `all`"},
     {"reduction=\"mean\"", "how to combine the losses of an update: `mean` or `sum`"},
     {"reset=true", "reset states and traces before every sequence"},
     {"seed=0", "seed of initial weights, task and noise"},
     {"init?",
      "file of initial weights (.npz, .safetensors, a checkpoint, or msgpack) with a value for every parameter, by "
      "path"},
     {"backend=\"cpu\"",
      "`cpu` compiles models; `cuda` runs on a GPU; `auto` uses a GPU if there is one; `reference` interprets"},
     {"precision=\"f32\"", "element type of weights and states: `f32` or `f64`"},
     {"dt=1.0", "time step in ms, for layers that use one"},
     {"validation={}", "see below"},
     {"early_stop={}", "see below"},
     {"goal={}", "see below"},
     {"checkpoint={}", "see below"},
     {"output?", "folder of logs, checkpoints and report; the command uses `runs/NAME`"}}};
const Section validation{
    "validation",
    {{"every=100", "updates between two validations; 0: only at the end"},
     {"batches=\"all\"",
      "batches of the validation part; `all` means the whole part, or four batches if the task is endless"}}};
const Section early_stop{"early_stop",
                         {{"patience=0", "stop after this many validations without improvement; 0: never"},
                          {"min_delta=0", "smallest decrease of the loss that counts as improvement"},
                          {"at_goal=false", "stop when the goal is reached"}}};
const Section goal{
    "goal",
    {{"accuracy?", "minimum accuracy of the last validation"}, {"loss?", "maximum loss of the last validation"}}};
const Section checkpoint{
    "checkpoint",
    {{"dir?", "folder; default: `checkpoints` in `output`"},
     {"every=100", "updates between two checkpoints; 0: only at the end"},
     {"keep=3", "number of recent checkpoints to keep"},
     {"best=true", "also keep the checkpoint with the lowest validation loss, as `best.safetensors`"}}};

const std::vector<std::pair<const char*, const Section*>> nested = {
    {"validation", &validation}, {"early_stop", &early_stop}, {"goal", &goal}, {"checkpoint", &checkpoint}};
// Fields that may differ between a checkpoint and the run that resumes it.
const std::vector<std::string> free_fields = {"about", "name",       "steps",  "epochs",     "backend", "validation",
                                              "goal",  "early_stop", "output", "checkpoint", "init"};

// The description that a text refers to.
ordered_json model_of(const ordered_json& given, const std::string& where, const std::string& folder) {
  if (!given.is_string()) return given;
  const auto name = given.get<std::string>();
  if (name.find_first_of("/.") == name.npos) return read_ordered_json(zoo::builtin_model(name).description, name);
  const auto path = (std::filesystem::path(folder) / name).string();
  require(std::filesystem::is_regular_file(path), "{}.model: there is no file {}.", where, path);
  ordered_json description = read_ordered_json(read_text(path), path);
  if (description.contains("weights") && description["weights"].is_string())
    description["weights"] = zoo::weights_beside(description["weights"].get<std::string>(), name);
  return description;
}

// The file of initial weights: that of the configuration, or that of the model, from whose description it is then
// removed.
void find_initial_weights(ordered_json& config, const std::string& where, const std::string& folder) {
  ordered_json& model = config["model"];
  const bool    named = model.is_object() && model.contains("weights");
  if (named && (!config.contains("init") || config["init"].is_null())) config["init"] = model["weights"];
  if (named) model.erase("weights");
  if (!config.contains("init") || config["init"].is_null()) return;
  require(config["init"].is_string(), "{}.init: expected the name of a file, got {}.", where,
          shown_json(config["init"]));
  config["init"] = std::filesystem::absolute(std::filesystem::path(folder) / config["init"].get<std::string>())
                       .lexically_normal()
                       .string();
}

ordered_json rule_of(const ordered_json& given, const std::string& where) {
  if (given.is_string()) return {{"name", given}};
  require(given.is_object() && given.contains("name") != given.contains("config"),
          "{}.rule: expected the name of a rule, or an object with 'name' or 'config' and options, got {}.", where,
          shown_json(given));
  return given;
}

int64_t number_or_word(const zoo::Fields& f, const std::string& name,
                       const std::vector<std::pair<std::string, int64_t>>& words) {
  if (!f.is_text(name)) return f.integer(name);
  std::vector<std::string> known;
  for (const auto& w : words) known.push_back(w.first);
  const std::string given = f.choice(name, known);
  return std::find_if(words.begin(), words.end(), [&](const auto& w) { return w.first == given; })->second;
}

std::string text_if(const zoo::Fields& f, const std::string& name) { return f.has(name) ? f.text(name) : ""; }

// JSON, or plain text: a value that does not start with a bracket or quote need not be JSON.
ordered_json value_of(const std::string& text, const std::string& where) {
  if (!text.empty() && std::string_view("[{\"").find(text[0]) != std::string_view::npos)
    return read_ordered_json(text, where);
  try {
    return read_ordered_json(text, where);
  } catch (const UserError&) {
    return text;
  }
}

void set_field(ordered_json& config, const std::string& assignment) {
  const size_t eq = assignment.find('=');
  require(eq != assignment.npos && eq > 0, "--set {}: expected FIELD=VALUE, such as optimizer.lr=0.01.", assignment);
  require(utf8(assignment) == assignment, "--set {}: this is not valid UTF-8.", utf8(assignment));
  const auto depth = static_cast<size_t>(std::count(assignment.begin(), assignment.begin() + eq, '.'));
  require(depth < JsonLimits{}.depth, "--set {}…: more than {} nested names.", assignment.substr(0, 40),
          JsonLimits{}.depth);
  ordered_json* at = &config;
  for (size_t from = 0; from < eq;) {
    const size_t      dot = std::min(assignment.find('.', from), eq);
    const std::string key = assignment.substr(from, dot - from);
    from                  = dot + 1;
    require(!key.empty(), "--set {}: the name of a field is empty.", assignment);
    if (at->is_array()) {
      const bool digits = key.size() < 9 && std::all_of(key.begin(), key.end(), is_digit);
      require(digits && std::stoul(key) < at->size(), "--set {}: '{}' is not a position in a list of {}.", assignment,
              key, at->size());
      at = &(*at)[std::stoul(key)];
    } else {
      require(at->is_null() || at->is_object(), "--set {}: there is nothing to set inside {}; replace it as a whole.",
              assignment, shown_json(*at));
      at = &(*at)[key];
    }
  }
  *at = value_of(assignment.substr(eq + 1), "--set " + assignment.substr(0, eq));
}

// The configuration with all its fields, as a run stores it.
ordered_json completed(const ordered_json& given, const std::string& where, const std::string& folder) {
  ordered_json out = top.filled(given, where);
  out["model"]     = model_of(out["model"], where, folder);
  find_initial_weights(out, where, folder);
  out["rule"]      = rule_of(out["rule"], where);
  out["optimizer"] = filled_optimizer(out["optimizer"], where + ".optimizer");
  for (const auto& [name, section] : nested) out[name] = section->filled(out[name], fmt::format("{}.{}", where, name));
  return out;
}

void read_amounts(const zoo::Fields& f, Config& c) {
  c.batch = f.integer("batch");
  if (c.batch > 1'000'000'000) f.refuse("batch", "at most 1,000,000,000 sequences per batch.");
  if (const auto& task = f.object("task"); task.contains("test") && task["test"].is_number() && task["test"] >= 1)
    f.refuse("task", "with \"test\": 1 there is nothing to learn from; choose a smaller fraction.");
  if (f.has("shards")) c.shards = whole(f, "shards", 1);
  if (c.shards > 0 && c.batch % c.shards != 0)
    f.refuse("shards", fmt::format("a batch of {} cannot be divided into {} equal parts.", counted(c.batch, "sequence"),
                                   c.shards));
  if (f.has("steps") == f.has("epochs")) f.refuse("steps", "give either steps or epochs.");
  c.steps  = f.has("steps") ? f.integer("steps") : 0;
  c.epochs = f.has("epochs") ? f.integer("epochs") : 0;
}

std::string backend_of(const zoo::Fields& f) {
  std::vector<std::string> engines;
  for (const Backend* b : backends()) engines.emplace_back(b->name());
  // Names with a device number, and "auto", are not in the list of backends.
  if (const std::string given = f.text("backend"); given == "auto" || given.starts_with("cuda"))
    engines.push_back(given);
  const std::string name = f.choice("backend", engines);
  find_backend(name);
  return name;
}

void read_nested(const nlohmann::json& json, const std::string& where, Config& c) {
  const auto inner = [&](const char* name, const Section& s) {
    return s.fields(json[name], fmt::format("{}.{}", where, name));
  };
  const zoo::Fields v = inner("validation", validation), e = inner("early_stop", early_stop), g = inner("goal", goal),
                    k = inner("checkpoint", checkpoint);
  c.validation        = {whole(v, "every", 0), number_or_word(v, "batches", {{"all", 0}})};
  c.early_stop        = {whole(e, "patience", 0), e.number("min_delta"), e.flag("at_goal")};
  c.goal              = {g.number_if("accuracy"), g.number_if("loss")};
  if (c.early_stop.at_goal && !c.goal.exists())
    e.refuse("at_goal", "there is no goal; give goal.accuracy or goal.loss.");
  c.checkpoint = {text_if(k, "dir"), whole(k, "every", 0), k.integer("keep"), k.flag("best")};
  if (c.checkpoint.dir.empty() && !c.output.empty()) c.checkpoint.dir = c.output + "/checkpoints";
}

Config from_json(const ordered_json& given, const std::string& where, const std::string& folder) {
  const ordered_json   all  = completed(given, where, folder);
  const nlohmann::json json = all;
  const zoo::Fields    f    = top.fields(json, where);
  Config               c;
  c.text      = all.dump(2);
  c.model     = f.object("model").dump();
  c.rule      = f.object("rule").dump();
  c.task      = f.object("task").dump();
  c.optimizer = all["optimizer"].dump();
  c.about     = text_if(f, "about");
  c.name      = given.contains("name") ? f.text("name") : "";
  c.loss      = f.choice("loss", loss_names());
  read_amounts(f, c);

  const int64_t window = number_or_word(f, "window", {{"auto", 0}, {"all", -1}});
  c.window             = window > 0 ? Window::of(window) : window == 0 ? Window::automatic() : Window::all();
  c.update_every       = number_or_word(f, "update", {{"sequence", 0}, {"step", 1}});
  c.reduction          = f.choice("reduction", {"mean", "sum"}) == "mean" ? Reduction::Mean : Reduction::Sum;
  c.reset              = f.flag("reset");
  c.seed               = static_cast<uint64_t>(whole(f, "seed", 0));
  c.backend            = backend_of(f);
  c.precision          = *dtype_named(f.choice("precision", {"f32", "f64"}));
  c.dt                 = f.number("dt");
  if (!(c.dt > 0)) f.refuse("dt", fmt::format("expected a positive number, got {}.", c.dt));
  c.init   = text_if(f, "init");
  c.output = text_if(f, "output");
  if (f.has("output") && c.output.empty()) f.refuse("output", "the name of the folder is empty.");
  read_nested(json, where, c);
  return c;
}

}  // namespace

Config read_config(const std::string& json, const std::string& where, const std::string& folder) {
  return from_json(read_ordered_json(json, where), where, folder);
}

Config load_config(const std::string& path, const std::vector<std::string>& replaced) {
  ordered_json given = read_ordered_json(read_text(path), path);
  require(given.is_object(), "{}: expected an object with the fields of a training configuration.", path);
  const std::filesystem::path file(path);
  for (const std::string& assignment : replaced) set_field(given, assignment);
  const std::string stem = utf8(file.stem().string());
  if (!given.contains("name")) given["name"] = stem;
  if (!given.contains("output")) given["output"] = "runs/" + stem;
  return from_json(given, "config", file.parent_path().string());
}

Config with_shards(const Config& config, int64_t shards) {
  ordered_json given = read_ordered_json(config.text, "config");
  given["shards"]    = shards;
  return from_json(given, "config", ".");
}

std::string difference(const Config& a, const Config& b) {
  nlohmann::json x = read_json(a.text, "config"), y = read_json(b.text, "config");
  for (const std::string& name : free_fields) {
    x.erase(name);
    y.erase(name);
  }
  const nlohmann::json changes = nlohmann::json::diff(x, y);
  if (changes.empty()) return "";
  const nlohmann::json::json_pointer at(changes[0]["path"].get<std::string>());
  const auto  shown = [&](const nlohmann::json& j) { return j.contains(at) ? j[at].dump() : std::string("not given"); };
  std::string place = at.to_string().substr(1);
  std::replace(place.begin(), place.end(), '/', '.');
  return fmt::format("{} is {} there and {} here", place, shown(x), shown(y));
}

void add_to_task(Config& config, const std::string& found) {
  ordered_json whole = read_ordered_json(config.text, "config");
  ordered_json task  = read_ordered_json(config.task, "config.task");
  const auto   more  = read_ordered_json(found, "task");
  for (const auto& [name, value] : more.items()) whole["task"][name] = task[name] = value;
  config.text = whole.dump(2);
  config.task = task.dump();
}

std::string config_reference() {
  const std::string head = "| field | default | meaning |\n|---|---|---|\n";
  std::string       out  = head + top.table();
  for (const auto& [name, section] : nested) out += fmt::format("\n`{}`:\n\n{}{}", name, head, section->table());
  return out + fmt::format("\nLosses: `{}`.\n\n", fmt::join(loss_names(), "`, `")) + optimizer_reference();
}

}  // namespace braintrace::train

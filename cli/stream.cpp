// SPDX-License-Identifier: Apache-2.0
// braintrace stream: predicts each record as it arrives, and learns from it.
#include <chrono>
#include <cmath>
#include <unistd.h>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "braintrace/algorithms/config_json.h"
#include "braintrace/base/counted.h"
#include "braintrace/base/json.h"
#include "braintrace/io/file.h"
#include "braintrace/io/folder.h"
#include "braintrace/io/line_sink.h"
#include "braintrace/io/stop_signals.h"
#include "braintrace/model/random_stream.h"
#include "braintrace/stream/latency.h"
#include "braintrace/stream/prequential.h"
#include "braintrace/stream/save_pace.h"
#include "braintrace/stream/source.h"
#include "braintrace/stream/taker.h"
#include "braintrace/train/trainer.h"
#include "cli/backend_choice.h"
#include "cli/command.h"
#include "cli/model_argument.h"

namespace braintrace::cli {

namespace {

using nlohmann::ordered_json;
using Clock = std::chrono::steady_clock;

struct StreamArguments {
  ModelArgument            model;
  stream::StreamOptions    learning;
  BackendChoice            backend;
  std::string              rule_options = "{}", loss = "mse", format = "auto", save, load;
  std::string              schedule, normalize = "none";
  std::optional<double>    clip_norm, weight_decay;
  std::optional<int64_t>   average;
  int64_t                  normalize_over = 10000;
  std::optional<int>       udp;
  int64_t                  every = 1, count = 0, most_bytes = 1 << 16, save_every = 10000;
  int64_t                  members = 1'000'000;
  std::vector<std::string> load_members, save_members;  // ID=FILE
  uint64_t                 seed   = 1;
  bool                     strict = false, json = false, fleet = false;
};

constexpr int64_t most_complaints = 20;

struct Totals {
  stream::Latency     latency;
  int64_t             refused = 0, undone = 0;
  stream::Prequential losses;
};

ordered_json as_json(const Array& a) {
  ordered_json out = ordered_json::array();
  for (int64_t i = 0; i < a.size(); ++i) out.push_back(at(a, i));
  return a.size() == 1 ? out[0] : out;
}

int64_t largest(const Array& a) {
  int64_t best = 0;
  for (int64_t i = 1; i < a.size(); ++i)
    if (at(a, i) > at(a, best)) best = i;
  return best;
}

std::string line_of(int64_t number, const std::string& id, const stream::GuardedStream::Answer& answer,
                    bool has_classes) {
  ordered_json line = {{"record", number}};
  if (!id.empty()) line["id"] = id;
  if (answer.loss) line["loss"] = *answer.loss;
  line["prediction"] = as_json(answer.prediction);
  if (has_classes) line["class"] = largest(answer.prediction);
  return line.dump() + "\n";
}

std::string duration(double seconds) {
  return seconds < 1e-3  ? fmt::format("{:.3g} µs", 1e6 * seconds)
         : seconds < 1.0 ? fmt::format("{:.3g} ms", 1e3 * seconds)
                         : fmt::format("{:.3g} s", seconds);
}

void summarize(const Totals& t, const stream::Taker& net, const StreamArguments& o) {
  const auto& l = t.latency;
  if (o.json) {
    const ordered_json summary = {{"learned", net.learned()},
                                  {"predicted", net.predicted()},
                                  {"refused", t.refused},
                                  {"undone", t.undone},
                                  {"loss", t.losses.count() ? ordered_json(t.losses.recent()) : nullptr},
                                  {"prequential_loss", t.losses.count() ? ordered_json(t.losses.mean()) : nullptr},
                                  {"least_loss", t.losses.least() ? ordered_json(*t.losses.least()) : nullptr},
                                  {"drifts", t.losses.drifts()},
                                  {"latency_seconds",
                                   {{"mean", l.mean()},
                                    {"p50", l.percentile(0.5)},
                                    {"p90", l.percentile(0.9)},
                                    {"p99", l.percentile(0.99)},
                                    {"max", l.max()}}}};
    LineSink(STDOUT_FILENO).write(ordered_json{{"summary", summary}}.dump() + "\n");
    return;
  }
  note("learned from {}, predicted {} more, skipped {}, undid {}", counted(net.learned(), "record"), net.predicted(),
       t.refused, t.undone);
  if (t.losses.count()) note("; recent loss {:.4g}", t.losses.recent());
  note("\n");
  if (t.losses.count())
    note("loss      {:.4g} over all records (predicted before learning){}; rose {}\n", t.losses.mean(),
         t.losses.least() ? fmt::format("; {:.4g} in the best thousand", *t.losses.least()) : "",
         counted(t.losses.drifts(), "time"));
  if (l.count())
    note("latency   p50 {}   p90 {}   p99 {}   max {}\n", duration(l.percentile(0.5)), duration(l.percentile(0.9)),
         duration(l.percentile(0.99)), duration(l.max()));
}

stream::RecordFormat format_of(const std::string& name) {
  return name == "jsonl" ? stream::RecordFormat::Jsonl
         : name == "csv" ? stream::RecordFormat::Csv
                         : stream::RecordFormat::Automatic;
}

std::unique_ptr<stream::LineSource> source_of(const StreamArguments& o) {
  if (!o.udp) return stream::lines_of(STDIN_FILENO, static_cast<size_t>(o.most_bytes));
  auto port = stream::datagrams_on(*o.udp, static_cast<size_t>(o.most_bytes));
  note("listening on 127.0.0.1 port {}; press Ctrl-C to stop\n", port->port());
  return port;
}

// Fail at the start, not at the first save, if the file cannot be written. Also removes partial files that killed
// processes left behind.
void check_place(const std::string& path) {
  check_writable(path);
  remove_leftovers(path);
}

// Reports the first records that could not be read or had to be undone.
class Complaints {
 public:
  explicit Complaints(Totals& totals) : totals_(totals) {}

  void refused(int64_t number, const std::string& why) { add(totals_.refused, number, "skipped", why); }
  void undone(const std::vector<stream::Taker::Undone>& all) {
    for (const auto& u : all) add(totals_.undone, u.number, "undone", u.why);
  }

 private:
  static void add(int64_t& count, int64_t number, const char* what, const std::string& why) {
    if (count++ < most_complaints) say("record {} {}: {}\n", number, what, why);
    if (count == most_complaints) say("further messages are suppressed; the summary gives the totals\n");
  }

  Totals& totals_;
};

// Saves periodically and at the end.
class Saver {
 public:
  Saver(const StreamArguments& o, stream::Taker& net, Complaints& complaints)
      : path_(o.save), pace_(path_.empty() ? 0 : o.save_every), net_(net), complaints_(complaints) {
    if (path_.empty()) return;
    check_place(path_);
    lock_.emplace(path_);
  }

  void add_record() {
    pace_.add_record();
    StopSignals::set_unsaved(!path_.empty());
  }
  std::optional<Clock::duration> due_in() const { return pace_.due_in(Clock::now()); }
  void                           save_if_due() {
                              const auto start = Clock::now();
                              if (pace_.due_in(start) != Clock::duration::zero()) return;
    try {
                                save();
    } catch (const UserError& error) {  // a disk may have room again later
      say("cannot save now: {}\n", error.what());
    }
                              pace_.tried(start, Clock::now());
  }
  void save() {
    if (path_.empty()) return;
    complaints_.undone(net_.check());
    net_.save(path_);
    StopSignals::set_unsaved(false);
  }

 private:
  std::string             path_;
  std::optional<FileLock> lock_;  // two streams would undo each other's saves
  stream::SavePace        pace_;
  stream::Taker&          net_;
  Complaints&             complaints_;
};

// Runs until the input ends, the reader of the predictions exits, --count is reached, or a signal arrives.
void answer_all(const StreamArguments& o, const stream::RecordParser& parser, stream::LineSource& source,
                stream::Taker& net, bool has_classes, Saver& saver, Complaints& complaints, Totals& totals) {
  const LineSink sink(STDOUT_FILENO);
  stream::Line   line;
  while (!StopSignals::asked()) {
    saver.save_if_due();
    const stream::Arrival arrival = source.next(line, saver.due_in());
    if (arrival == stream::Arrival::Nothing) continue;
    if (arrival == stream::Arrival::End) break;
    const auto     start = Clock::now();
    stream::Record record;
    try {
      require(!line.too_long, "it is longer than {} bytes; see --max-bytes.", o.most_bytes);
      record = parser.parse(line.text, line.number == 1);
    } catch (const UserError& error) {
      if (o.strict) fail("record {}: {}", line.number, error.what());
      complaints.refused(line.number, error.what());
      continue;
    }
    if (!record.x && !record.reset && !record.remove) continue;
    const auto [answer, undone] = net.take(line.number, record);
    saver.add_record();
    if (o.strict && !undone.empty()) fail("record {}: {}", undone[0].number, undone[0].why);
    complaints.undone(undone);
    if (!answer) continue;  // a reset alone, or undone
    if (const auto drift = answer->loss ? totals.losses.add(*answer->loss) : std::nullopt)
      note("warning: record {}: the loss is rising: mean {:.4g} over the last {} records, {:.4g} at its best\n",
           line.number, drift->loss, stream::Prequential::block, drift->best);
    const int64_t done = net.learned() + net.predicted();
    if (o.every != 0 && done % o.every == 0 &&
        sink.write(line_of(line.number, record.id, *answer, has_classes)) != LineSink::Result::Written)
      break;
    totals.latency.add(std::chrono::duration<double>(Clock::now() - start).count());
    if (o.count && done >= o.count) break;
  }
}

// ID=FILE
std::vector<std::pair<std::string, std::string>> members_in(const std::vector<std::string>& given, const char* option) {
  std::vector<std::pair<std::string, std::string>> out;
  for (const std::string& text : given) {
    const size_t eq = text.rfind('=');
    require(eq != text.npos && eq > 0 && eq + 1 < text.size(), "{} {}: expected ID=FILE.", option, text);
    out.emplace_back(text.substr(0, eq), text.substr(eq + 1));
  }
  return out;
}

// The optimizer, with the settings of separate options merged in.
std::string optimizer_of(const StreamArguments& o) {
  // JSON writes numbers that are not finite as null, as if the field were missing.
  for (const auto& [name, value] : {std::pair("--clip-norm", o.clip_norm), std::pair("--weight-decay", o.weight_decay)})
    require(std::isfinite(value.value_or(0)), "{} {}: expected a finite number.", name, value.value_or(0));
  if (!o.clip_norm && !o.weight_decay && !o.average && o.schedule.empty()) return o.learning.optimizer;
  ordered_json out = {{"type", o.learning.optimizer}};
  if (o.learning.optimizer.starts_with("{")) out = read_ordered_json(o.learning.optimizer, "--optimizer");
  if (o.clip_norm) out["clip_norm"] = *o.clip_norm;
  if (o.weight_decay) out["weight_decay"] = *o.weight_decay;
  if (o.average) out["average"] = *o.average;
  if (!o.schedule.empty()) out["schedule"] = read_ordered_json(o.schedule, "--schedule");
  return out.dump();
}

stream::Scaling scaling_of(const StreamArguments& o) {
  if (o.normalize == "none") return {};
  if (o.normalize == "running") return {.horizon = o.normalize_over};
  require(!o.model.weights.empty(),
          "--normalize fitted: give the checkpoint that contains the fitted numbers with --weights.");
  const auto task = read_json(train::config_of_checkpoint(o.model.weights).task, "task");
  require(task.contains("fitted"), "{}: its task has no fitted numbers; train with \"normalize\": \"standard\".",
          o.model.weights);
  const auto numbers = [&](const char* name) {
    const auto values = task["fitted"].at(name).get<std::vector<double>>();
    return Tensor(Array::of<double>(values, {std::ssize(values)}));
  };
  const Tensor shift = numbers("shift");
  return {.shift = shift, .scale = numbers("scale")};
}

int run_stream(StreamArguments& o) {
  const StopSignals stop;
  o.backend.apply();
  random::seed(o.seed);
  if (quiet) o.every = 0;
  o.learning.rule_options                     = rule_options_from_json(read_json(o.rule_options, "--rule-options"));
  o.learning.loss                             = o.loss == "mse" ? stream::Loss::Mse : stream::Loss::CrossEntropy;
  o.learning.optimizer                        = optimizer_of(o);
  o.learning.scaling                          = scaling_of(o);
  const BuiltModel                      model = build_argument(o.model);
  std::unique_ptr<stream::OnlineStream> single;
  std::unique_ptr<stream::Fleet>        fleet;
  std::unique_ptr<stream::Taker>        net;
  if (o.fleet) {
    fleet = std::make_unique<stream::Fleet>(*model.module, model.input, o.learning,
                                            stream::FleetOptions{.most = o.members, .guard = true});
    if (!o.load.empty()) fleet->load(o.load);
    for (const auto& [id, path] : members_in(o.load_members, "--load-member")) fleet->load_member(id, path);
    net = std::make_unique<stream::FleetTaker>(*fleet);
  } else {
    single = std::make_unique<stream::OnlineStream>(*model.module, model.input, o.learning);
    net    = std::make_unique<stream::SingleTaker>(*single, o.load.empty() ? 0 : stream::load(*single, o.load));
  }
  const stream::OnlineStream& way           = o.fleet ? fleet->stream() : *single;
  const auto                  saved_members = members_in(o.save_members, "--save-member");
  for (const auto& [id, path] : saved_members) check_place(path);
  Totals     totals;
  Complaints complaints(totals);
  Saver      saver(o, *net, complaints);

  const stream::RecordParser parser(model.input, way.target(), way.classes(), format_of(o.format), o.fleet);
  const auto                 source = source_of(o);
  try {
    answer_all(o, parser, *source, *net, way.classes() > 0, saver, complaints, totals);
  } catch (const std::exception&) {  // whatever ends the stream, what was learned before is saved
    try {
      saver.save();
    } catch (const UserError& error) {
      say("error: {}\n", error.what());
    }
    throw;
  }
  saver.save();
  for (const auto& [id, path] : saved_members) fleet->save_member(id, path);
  if (fleet) note("{}\n", counted(fleet->size(), "member"));
  summarize(totals, *net, o);
  require(net->learned() > 0 || totals.undone == 0,
          "nothing was learned: all {} records had to be undone.\n  Lower --lr, or scale inputs and targets.",
          totals.undone);
  return 0;
}

void add_learning(CLI::App& command, StreamArguments& o) {
  add_rule(command, o.learning.rule, o.rule_options);
  command.add_option("--loss", o.loss, "Loss")->check(CLI::IsMember({"mse", "cross_entropy"}))->capture_default_str();
  command
      .add_option("--optimizer", o.learning.optimizer,
                  "Optimizer, such as sgd or {\"type\": \"sgd\", \"momentum\": 0.9}")
      ->type_name("NAME|JSON")
      ->capture_default_str();
  command.add_option("--lr", o.learning.lr, "Learning rate")->capture_default_str();
  command.add_option("--clip-norm", o.clip_norm, "Largest norm of the gradient of a record");
  command.add_option("--weight-decay", o.weight_decay, "Weight decay; decoupled in adamw and lion");
  command.add_option("--average", o.average, "Predict with weights averaged over about N records")
      ->check(whole_number(1));
  command
      .add_option("--schedule", o.schedule,
                  "Schedule of the rate, such as {\"type\": \"exponential\", \"gamma\": 0.99, \"every\": 1000}")
      ->type_name("JSON");
  command
      .add_option("--normalize", o.normalize,
                  "Scale inputs: by a running mean and deviation, or by the fitted numbers of --weights")
      ->check(CLI::IsMember({"none", "running", "fitted"}))
      ->capture_default_str();
  command.add_option("--normalize-over", o.normalize_over, "Number of records in the running mean")
      ->check(whole_number(1))
      ->capture_default_str();
}

}  // namespace

void add_stream(CLI::App& app, Action& chosen) {
  auto  o       = std::make_shared<StreamArguments>();
  auto* command = app.add_subcommand("stream", "Predict records from stdin or a UDP port, and learn from each");
  o->model.add_model(*command);
  add_learning(*command, *o);
  command->add_option("--seed", o->seed, "Seed of the initial weights")->check(whole_number(0))->capture_default_str();
  command->add_option("--udp", o->udp, "Read datagrams from this port of 127.0.0.1; 0 takes any free one")
      ->type_name("PORT")
      ->check(whole_number(0, 65535));
  command->add_option("--format", o->format, "Format of the records; auto reads a line that starts with { as JSON")
      ->check(CLI::IsMember({"auto", "jsonl", "csv"}))
      ->capture_default_str();
  command->add_option("--max-bytes", o->most_bytes, "Largest record, in bytes")
      ->check(whole_number(16, 1 << 26))
      ->capture_default_str();
  command->add_option("--every", o->every, "Print every n-th prediction; 0 prints none")
      ->check(whole_number(0))
      ->capture_default_str();
  command->add_option("--count", o->count, "Stop after this many records")->check(whole_number(1));
  command->add_flag("--strict", o->strict, "Stop with exit status 2 at the first record that cannot be read");
  auto* load = command->add_option("--load", o->load, "Continue from a file that --save wrote")->type_name("FILE");
  command->get_option("--weights")->excludes(load);
  command
      ->add_option("--save", o->save,
                   "Save weights, states, traces and optimizer to this file, periodically and at the end")
      ->type_name("FILE");
  command->add_option("--save-every", o->save_every, "Records between saves; 0 saves only at the end")
      ->check(whole_number(0))
      ->capture_default_str();
  auto* fleet =
      command->add_flag("--fleet", o->fleet, "Keep a separate learner for each id; every record names its id");
  command->add_option("--members", o->members, "Largest number of members")
      ->check(whole_number(1))
      ->needs(fleet)
      ->capture_default_str();
  command
      ->add_option("--load-member", o->load_members, "Load a member from the file of a single stream; may be repeated")
      ->type_name("ID=FILE")
      ->needs(fleet)
      ->allow_extra_args(false);
  command->add_option("--save-member", o->save_members, "Save a member as a single stream at the end; may be repeated")
      ->type_name("ID=FILE")
      ->needs(fleet)
      ->allow_extra_args(false);
  o->backend.add_options(*command);
  command->add_flag("--json", o->json, "Print the summary as JSON on the last line of stdout");
  command->footer(
      "  braintrace stream gru --lr 0.01 --save net.state < records.csv\n"
      "  braintrace stream gru --load net.state --udp 7777 --every 10\n"
      "  braintrace stream gru --fleet --save fleet.state < records.jsonl\n");
  command->callback([o, &chosen] { chosen = [o] { return run_stream(*o); }; });
}

}  // namespace braintrace::cli

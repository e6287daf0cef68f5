// SPDX-License-Identifier: Apache-2.0
// braintrace stream: a model answers records as they come, and learns from each.
#include <cerrno>
#include <chrono>
#include <cmath>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <unistd.h>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "braintrace/algorithms/config_json.h"
#include "braintrace/model/random_stream.h"
#include "braintrace/stream/latency.h"
#include "braintrace/stream/online_stream.h"
#include "braintrace/stream/record.h"
#include "braintrace/stream/source.h"
#include "cli/command.h"
#include "cli/model_argument.h"

namespace braintrace::cli {

namespace {

using nlohmann::ordered_json;
using Clock = std::chrono::steady_clock;

struct Options {
  ModelArgument         model;
  stream::StreamOptions learning;
  std::string           rule_options = "{}", loss = "mse", format = "auto", save, load, weights;
  std::optional<int>    udp;
  int64_t               every = 1, count = 0, most_bytes = 1 << 16;
  uint64_t              seed   = 1;
  bool                  strict = false, json = false;
};

constexpr int64_t most_complaints = 20;

struct Totals {
  stream::Latency latency;
  int64_t         learnt = 0, predicted = 0, refused = 0;
  double          loss = 0;  // running mean, about the last thousand records

  void add_loss(double l) {
    ++learnt;
    loss += (l - loss) / static_cast<double>(std::min<int64_t>(learnt, 1000));
  }
};

ordered_json as_json(const Array& a) {
  ordered_json out = ordered_json::array();
  for (int64_t i = 0; i < a.size(); ++i) out.push_back(at(a, i));
  return a.size() == 1 ? out[0] : out;
}

// False when nobody reads any more.
bool print_line(const std::string& line) {
  const bool written = std::fwrite(line.data(), 1, line.size(), stdout) == line.size() && std::fflush(stdout) == 0;
  require(written || errno == EPIPE, "the predictions could not be written; is the disk full?");
  return written;
}

int64_t largest(const Array& a) {
  int64_t best = 0;
  for (int64_t i = 1; i < a.size(); ++i)
    if (at(a, i) > at(a, best)) best = i;
  return best;
}

// Answers one record; false when nobody reads the answers.
bool answer(const stream::Record& record, int64_t number, stream::OnlineStream& net, const Options& o, Totals& totals) {
  if (record.reset) net.reset();
  if (!record.x) return true;
  ordered_json line = {{"record", number}};
  Array        prediction;
  if (record.y) {
    const auto result = net.learn(*record.x, *record.y);
    require(std::isfinite(result.loss),
            "record {}: the loss is {}; the weights are spoilt and nothing is saved.\n  Lower --lr, or scale the "
            "inputs.",
            number, result.loss);
    prediction   = result.prediction;
    line["loss"] = result.loss;
    totals.add_loss(result.loss);
  } else {
    prediction = net.predict(*record.x);
    ++totals.predicted;
  }
  const int64_t done = totals.learnt + totals.predicted;
  if (o.every == 0 || done % o.every != 0) return true;
  line["prediction"] = as_json(prediction);
  if (net.classes()) line["class"] = largest(prediction);
  return print_line(line.dump() + "\n");
}

std::string duration(double seconds) {
  return seconds < 1e-3  ? fmt::format("{:.3g} µs", 1e6 * seconds)
         : seconds < 1.0 ? fmt::format("{:.3g} ms", 1e3 * seconds)
                         : fmt::format("{:.3g} s", seconds);
}

void summarise(const Totals& t, const Options& o) {
  const auto& l = t.latency;
  if (o.json) {
    print_line(ordered_json{{"summary",
                             {{"learnt", t.learnt},
                              {"predicted", t.predicted},
                              {"refused", t.refused},
                              {"loss", t.learnt ? ordered_json(t.loss) : nullptr},
                              {"latency_seconds",
                               {{"mean", l.mean()},
                                {"p50", l.percentile(0.5)},
                                {"p90", l.percentile(0.9)},
                                {"p99", l.percentile(0.99)},
                                {"max", l.max()}}}}}}
                   .dump() +
               "\n");
    return;
  }
  say("learnt from {} records, predicted {} more, refused {}", t.learnt, t.predicted, t.refused);
  if (t.learnt) say("; loss {:.4g} of late", t.loss);
  say("\n");
  if (l.count())
    say("latency   p50 {}   p90 {}   p99 {}   max {}\n", duration(l.percentile(0.5)),
               duration(l.percentile(0.9)), duration(l.percentile(0.99)), duration(l.max()));
}

stream::RecordFormat format_of(const std::string& name) {
  return name == "jsonl" ? stream::RecordFormat::Jsonl
         : name == "csv" ? stream::RecordFormat::Csv
                         : stream::RecordFormat::Automatic;
}

std::unique_ptr<stream::LineSource> source_of(const Options& o) {
  if (!o.udp) return stream::lines_of(STDIN_FILENO, static_cast<size_t>(o.most_bytes));
  auto port = stream::datagrams_on(*o.udp, static_cast<size_t>(o.most_bytes));
  say("listening on 127.0.0.1 port {}; Ctrl-C ends\n", port->port());
  return port;
}

// What is learnt is saved at the end: a place where that cannot be is better known before.
void check_place(const std::string& path) {
  require(!std::filesystem::is_directory(path), "--save {}: this is a folder; name a file in it.", path);
  const std::string beside = fmt::format("{}.{}.tmp", path, ::getpid());
  const int         file   = ::open(beside.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
  require(file >= 0, "--save {}: nothing can be written there: {}.", path, std::strerror(errno));
  ::close(file);
  ::unlink(beside.c_str());
}

int run(Options& o) {
  std::signal(SIGPIPE, SIG_IGN);
  random::seed(o.seed);
  const auto options = nlohmann::json::parse(o.rule_options, nullptr, false);
  require(!options.is_discarded(), "--rule-options {}: this is not JSON.", o.rule_options);
  o.learning.rule_options    = rule_options_from_json(options);
  o.learning.loss            = o.loss == "mse" ? stream::Loss::Mse : stream::Loss::CrossEntropy;
  const BuiltModel     model = build_argument(o.model);
  stream::OnlineStream net(*model.module, model.input, o.learning);
  if (!o.weights.empty()) stream::load_weights(*model.module, o.weights);
  const int64_t before = o.load.empty() ? 0 : stream::load(net, o.load);
  if (!o.save.empty()) check_place(o.save);

  const stream::RecordParser parser(model.input, net.target(), net.classes(), format_of(o.format));
  const stream::StopSignal   stop;
  const auto                 source = source_of(o);
  Totals                     totals;
  std::string                problem;  // that ended a strict stream
  for (stream::Line line; source->next(line);) {
    const auto     start = Clock::now();
    stream::Record record;
    try {
      require(!line.too_long, "it is longer than {} bytes; see --max-bytes.", o.most_bytes);
      record = parser.parse(line.text, line.number == 1);
    } catch (const UserError& error) {
      if (o.strict) {
        problem = fmt::format("record {}: {}", line.number, error.what());
        break;
      }
      if (totals.refused++ < most_complaints) say("record {} refused: {}\n", line.number, error.what());
      if (totals.refused == most_complaints) say("further ones are only counted\n");
      continue;
    }
    if (!answer(record, line.number, net, o, totals)) break;
    if (record.x) totals.latency.add(std::chrono::duration<double>(Clock::now() - start).count());
    if (o.count && totals.learnt + totals.predicted >= o.count) break;
  }
  if (!o.save.empty()) stream::save(net, o.save, before + totals.learnt);
  summarise(totals, o);
  require(problem.empty(), "{}", problem);
  return 0;
}

}  // namespace

void add_stream(CLI::App& app, Action& chosen) {
  auto  o       = std::make_shared<Options>();
  auto* command = app.add_subcommand("stream", "answer records from stdin or a UDP port and learn from each");
  o->model.add_model(*command);
  command->add_option("--rule", o->learning.rule, "learning rule, see 'braintrace info --algorithms'")
      ->capture_default_str();
  command->add_option("--rule-options", o->rule_options, "its options as JSON, such as {\"decay_or_rank\": 0.9}");
  command->add_option("--loss", o->loss)->check(CLI::IsMember({"mse", "cross_entropy"}))->capture_default_str();
  command->add_option("--optimizer", o->learning.optimizer, "see docs/training.md")->capture_default_str();
  command->add_option("--lr", o->learning.lr, "learning rate")->capture_default_str();
  command->add_option("--seed", o->seed, "of the first weights")->capture_default_str();
  command->add_option("--udp", o->udp, "take datagrams on this port of 127.0.0.1; 0: any free one")
      ->check(CLI::Range(0, 65535));
  command->add_option("--format", o->format, "of records; auto: JSON where a line starts with {")
      ->check(CLI::IsMember({"auto", "jsonl", "csv"}))
      ->capture_default_str();
  command->add_option("--max-bytes", o->most_bytes, "of one record")
      ->check(CLI::Range(16, 1 << 26))
      ->capture_default_str();
  command->add_option("--every", o->every, "print each n-th prediction; 0: none")
      ->check(whole_number(0))
      ->capture_default_str();
  command->add_option("--count", o->count, "end after so many records")->check(whole_number(0));
  command->add_flag("--strict", o->strict, "a record that cannot be read ends the stream with status 2");
  auto* load = command->add_option("--load", o->load, "go on from what --save wrote");
  command->add_option("--weights", o->weights, "first weights, from a checkpoint of 'braintrace train'")
      ->excludes(load);
  command->add_option("--save", o->save, "weights, states, traces and optimiser, written at the end");
  command->add_flag("--json", o->json, "the summary as the last line of stdout");
  command->callback([o, &chosen] { chosen = [o] { return run(*o); }; });
}

}  // namespace braintrace::cli

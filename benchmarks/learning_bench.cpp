// SPDX-License-Identifier: Apache-2.0
// One learning workload, timed end to end on the machine-code backend; one JSON object on stdout.
//
//   sequence   gradient of the mean loss over a sequence of T steps, traces start at zero and are dropped
//   stream     one step with gradient and weight update (plain gradient descent), traces carried on
//
// With --data the parameters and inputs are read from an .npz file, and gradients of the first call are compared with
// those in it: param.<path>, grad.<path>, x, y. benchmarks/peer/run drives this program.
#include <algorithm>
#include <chrono>
#include <cstring>
#include <ctime>
#include <fstream>
#include <functional>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "braintrace/algorithms/bptt.h"
#include "braintrace/algorithms/drivers.h"
#include "braintrace/backends/cpu/stepper.h"
#include "braintrace/braintrace.h"
#include "braintrace/io/npy.h"
#include "braintrace/model/frame.h"
#include "braintrace/runtime/backend.h"
#include "braintrace/transforms/simplify.h"

namespace {

using namespace braintrace;
using Clock = std::chrono::steady_clock;

struct Workload {
  std::string model = "gru", rule = "D_RTRL", mode = "sequence", data;
  int64_t     batch = 64, n_in = 64, n = 128, steps = 100;
  double      seconds = 1;  // of timing
  double      spikes  = 0;  // how many inputs are one, the others zero; 0: normal numbers
};

constexpr int64_t n_out = 10;

class LifLayer : public nn::Module {
 public:
  LifLayer(int64_t n_in, int64_t n) : w(n_in + n, n), neuron(n) { children({{"w", w}, {"neuron", neuron}}); }
  Tensor update(const Tensor& x) override { return neuron(w(concat({x, neuron.spikes()}, -1))); }

  nn::Linear w;
  nn::LIF    neuron;
};

class Net : public nn::Module {
 public:
  explicit Net(const Workload& w) : cell(make(w)), out(w.n, n_out) { children({{"cell", *cell}, {"out", out}}); }
  Tensor update(const Tensor& x) override { return out(cell->update(x)); }

  std::shared_ptr<nn::Module> cell;
  nn::Linear                  out;

 private:
  static std::shared_ptr<nn::Module> make(const Workload& w) {
    if (w.model == "rnn")
      return std::make_shared<nn::ValinaRNNCell>(w.n_in, w.n, nn::CellOptions{.activation = "tanh"});
    if (w.model == "gru") return std::make_shared<nn::GRUCell>(w.n_in, w.n);
    if (w.model == "lif") return std::make_shared<LifLayer>(w.n_in, w.n);
    fail("learning_bench: unknown model '{}'; known are rnn, gru and lif.", w.model);
  }
};

std::shared_ptr<OnlineLearner> learner_of(const Workload& w, Module& model) {
  if (w.rule == "D_RTRL") return std::make_shared<D_RTRL>(model);
  if (w.rule == "ES_D_RTRL") return std::make_shared<ES_D_RTRL>(model, TraceDecay::decay(0.9));
  if (w.rule == "BPTT") return std::make_shared<BPTT>(model);
  fail("learning_bench: unknown rule '{}'; known are D_RTRL, ES_D_RTRL and BPTT.", w.rule);
}

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

// Of all threads: what other programs on the machine take is not in it.
double processor_seconds() {
  timespec t{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

double resident_megabytes(const char* field) {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with(field)) return std::stod(line.substr(std::strlen(field) + 1)) / 1024;
  return 0;
}

Tensor drawn(const Shape& shape, const std::function<double()>& draw) {
  std::vector<float> v(static_cast<size_t>(size_of(shape)));
  for (float& x : v) x = static_cast<float>(draw());
  return Tensor(Array::of<float>(v, shape));
}

// Seconds that copying as many bytes as the learner remembers takes: the least a step in which all of it changes needs.
double copy_seconds(const OnlineLearner& learner) {
  size_t bytes = 1;
  for (const Tensor& t : learner.memory()) bytes += static_cast<size_t>(t.size()) * size_of(t.dtype());
  std::vector<char> from(bytes, 1), to(bytes);
  double            best = 1e30;
  for (int i = 0; i < 7; ++i) {
    const auto start = Clock::now();
    std::memcpy(to.data(), from.data(), bytes);
    from[0] = to[bytes / 2];
    best    = std::min(best, seconds_since(start));
  }
  return best;
}

// A step as one program; states, traces and weights stay where they are from step to step.
class Stream {
 public:
  Stream(StatefulProgram step, const Tensors& args) {
    for (const Tensor& t : step.inputs(args)) in_.push_back(t.array());
    std::vector<cpu::Stepper::Feed> feeds;
    std::vector<bool>               fed(in_.size());
    for (size_t w = 0; w < step.writes.size(); ++w) {
      const auto read = std::find(step.reads.begin(), step.reads.end(), step.writes[w]);
      if (read == step.reads.end()) continue;
      feeds.push_back({step.num_results + w, step.num_args + static_cast<size_t>(read - step.reads.begin())});
      fed[feeds.back().arg] = true;
    }
    Arrays constants;
    for (const Tensor& c : step.constants) constants.push_back(c.array());
    const Program program = simplify(step.program);
    stepper_              = std::make_unique<cpu::Stepper>(program, constants, feeds, in_);
    std::vector<bool> fed_result(program.results.size());
    for (const auto& f : feeds) fed_result[f.result] = true;
    for (size_t i = 0; i < in_.size(); ++i)
      if (!fed[i]) args_.push_back(in_[i].raw());
    for (size_t k = 0; k < program.results.size(); ++k)
      if (!fed_result[k]) out_.emplace_back(program.type(program.results[k]));
    for (Array& a : out_) results_.push_back(a.mutable_raw());
  }
  void step() { stepper_->step(args_.data(), results_.data()); }

 private:
  Arrays                        in_, out_;
  std::unique_ptr<cpu::Stepper> stepper_;
  std::vector<const void*>      args_;
  std::vector<void*>            results_;
};

bool is_zero(const Array& a) {
  for (int64_t i = 0; i < a.size(); ++i)
    if (at(a, i) != 0) return false;
  return true;
}
// Largest difference, relative to the largest element.
double relative_error(const Array& got, const Array& want) {
  double worst = 0, scale = 0;
  for (int64_t i = 0; i < want.size(); ++i) {
    worst = std::max(worst, std::abs(at(got, i) - at(want, i)));
    scale = std::max(scale, std::abs(at(want, i)));
  }
  return worst / scale;
}

nlohmann::json run(const Workload& w) {
  set_default_backend("cpu");
  Environment::set({.dt = 1.0});
  random::seed(1);
  Net model(w);
  init_all_states(model, {.batch_size = w.batch});
  NamedArrays given;
  if (!w.data.empty()) given = read_npz(w.data);
  for (const auto& [path, state] : model.params())
    for (const std::string& leaf : state.leaf_names())
      if (const auto it = given.find("param." + path.str() + (leaf.empty() ? "" : "." + leaf)); it != given.end())
        state.set_leaf(leaf, Tensor(it->second));

  const auto learner = learner_of(w, model);
  learner->compile_graph(zeros({w.batch, w.n_in}));
  auto        loss     = [&](Tensor x, Tensor y) { return mean(square((*learner)(x)-y)); };
  const bool  sequence = w.mode == "sequence";
  Rng         rng(2);
  const Shape lead = sequence ? Shape{w.steps, w.batch} : Shape{w.batch};
  auto        draw = [&](const char* name, int64_t width, double spikes) {
    Shape shape = lead;
    shape.push_back(width);
    const auto it = given.find(name);
    if (it != given.end()) return Tensor(it->second);
    return drawn(shape, [&] { return spikes > 0 ? static_cast<double>(rng.uniform() < spikes) : rng.normal(); });
  };
  const Tensor x = draw("x", w.n_in, w.spikes), y = draw("y", n_out, 0);

  auto       sweep = etrace_grad(loss, *learner, {.window = Window::all(), .drop_traces = true});
  auto       whole = jit([&](Tensor xs, Tensor ys) { return sweep(xs, ys).grads; });
  optim::SGD opt(1e-3);
  opt.register_trainable_weights(model.params());
  const auto update = [&](const Tensors& in) -> Tensors {
    auto [value, grads] = value_and_grad(loss, model.params())(in[0], in[1]);
    opt.update(grads);
    return {value};
  };
  std::unique_ptr<Stream> stream;
  auto                    call = [&] {
    if (sequence) return whole(x, y);
    if (!stream) stream = std::make_unique<Stream>(trace_function({x.type(), y.type()}, update), Tensors{x, y});
    stream->step();
    return Gradients();
  };

  const double before  = resident_megabytes("VmRSS:");
  const auto   start   = Clock::now();
  const auto   first   = call();
  const double compile = seconds_since(start);

  nlohmann::json errors = nlohmann::json::object();
  for (const auto& [path, leaves] : first)
    for (const auto& [leaf, gradient] : leaves) {
      const std::string name = path.str() + (leaf.empty() ? "" : "." + leaf);
      // Weights that the other side leaves without a gradient are not compared.
      if (const auto it = given.find("grad." + name); it != given.end() && !is_zero(it->second))
        errors[name] = relative_error(gradient.array(), it->second);
    }

  std::vector<double> times;
  double              least_busy = 1e30;
  const double        parts      = sequence ? static_cast<double>(w.steps) : 1;
  for (const auto begin = Clock::now(); times.size() < 5 || seconds_since(begin) < w.seconds;) {
    const double busy = processor_seconds();
    const auto   at   = Clock::now();
    call();
    times.push_back(1e6 * seconds_since(at) / parts);
    least_busy = std::min(least_busy, 1e6 * (processor_seconds() - busy) / parts);
  }
  std::sort(times.begin(), times.end());
  return {{"median_us", times[times.size() / 2]},
          {"p99_us", times[times.size() * 99 / 100]},
          {"min_us", times[0]},
          {"processor_us", least_busy},
          {"calls", times.size()},
          {"first_call_s", compile},
          {"peak_growth_mb", resident_megabytes("VmHWM:") - before},
          {"copy_traces_us", 1e6 * copy_seconds(*learner)},
          {"gradient_errors", errors}};
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Times one learning workload.");
  Workload w;
  app.add_option("--model", w.model, "rnn, gru or lif");
  app.add_option("--rule", w.rule, "D_RTRL, ES_D_RTRL or BPTT");
  app.add_option("--mode", w.mode, "sequence or stream")->check(CLI::IsMember({"sequence", "stream"}));
  app.add_option("--batch", w.batch);
  app.add_option("--n-in", w.n_in);
  app.add_option("--n", w.n);
  app.add_option("--steps", w.steps);
  app.add_option("--seconds", w.seconds, "time to spend on measuring");
  app.add_option("--spikes", w.spikes, "inputs are one so often and zero else; normal numbers without it");
  app.add_option("--data", w.data, "parameters, inputs and expected gradients");
  CLI11_PARSE(app, argc, argv);
  try {
    fmt::print("{}\n", run(w).dump());
  } catch (const Error& e) {
    fmt::print(stderr, "{}\n", e.what());
    return 2;
  }
}

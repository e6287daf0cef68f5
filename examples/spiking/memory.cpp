// SPDX-License-Identifier: Apache-2.0
// The cost of learning as sequences grow: layers of spiking neurons on random frames, trained with backpropagation
// through time and with two online rules. BPTT keeps every step of the sequence; the online rules keep traces.
//
//   --synapse    delta: weights act on the potential;  expon: through an exponential synapse
//   --surrogate  relu_grad, s2nn or multi_gaussian
//   --layers     of --units neurons each
//
// Online rules compute gradients in windows of at most 128 steps, and all sequences of the full run are longer than
// that, so traces pass from window to window. Each line is a separate process; its memory is the peak minus the memory
// before training.
//
// Should reach: from the shortest to the longest sequence the memory of BPTT grows more than that of both online rules.
#include <chrono>
#include <cstdio>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "examples/spiking/layers.h"

namespace {

constexpr int64_t classes = 11;

struct Net : examples::SpikingLayers {
  Net(const examples::Flags& flags, int64_t n_in, int64_t n) : SpikingLayers(n, classes, 10) {
    for (int64_t layer = 0; layer < flags.count("layers"); ++layer) {
      const bt::Tensor tau = bt::nn::init::normal(10, 1)({n});
      neurons.push_back(std::make_shared<bt::nn::LIF>(
          n, bt::nn::LIFOptions{.tau = tau, .surrogate = bt::Surrogate(flags["surrogate"])}));
      const auto comm = std::make_shared<bt::nn::Linear>((layer ? n : n_in) + n, n);
      if (flags["synapse"] == "expon")
        inputs.push_back(std::make_shared<bt::nn::AlignPostProj>(comm, std::make_shared<bt::nn::Expon>(n, 10.0),
                                                                 bt::nn::cuba(), neurons.back()));
      else
        inputs.push_back(std::make_shared<bt::nn::DeltaProj>(comm, neurons.back()));
    }
    children({{"neurons", neurons}, {"inputs", inputs}, {"out", out}});
  }
};

double peak_megabytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024;
}

struct Cost {
  double loss = 0, seconds = 0, megabytes = 0;
};

// Trains in this process: three batches, the last one timed.
Cost measure(const examples::Flags& flags, const std::string& rule, int64_t length) {
  const bt::Environment::Scope ms({.dt = 1.0});
  const int64_t                width = flags.length(1024, 64), units = flags.count("units");
  const auto                   frames = R"({{"type": "random_frames", "length": {}, "width": {}, "classes": {}}})";
  const auto task = bt::tasks::make_task(fmt::format(fmt::runtime(frames), length, width, classes), flags.seed());
  bt::random::seed(flags.seed());
  Net                model(flags, width, units);
  examples::Settings settings{.rule = rule, .batch = flags.length(32, 16), .clip = 1.0};
  if (rule == "ES_D_RTRL") settings.options.decay_or_rank = bt::TraceDecay::decay(0.9);
  examples::Trainer trainer(model, *task, settings);
  const double      before = peak_megabytes();
  trainer.train(0, 2);
  const auto            start   = std::chrono::steady_clock::now();
  const examples::Score score   = trainer.train(2, 1);
  const double          seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return {score.loss, seconds, peak_megabytes() - before};
}

Cost in_own_process(const examples::Flags& flags, const std::string& rule, int64_t length) {
  int pipe_ends[2];
  bt::require(pipe(pipe_ends) == 0, "memory: no pipe could be made.");
  Cost cost;
  std::fflush(stdout);  // or the child would print it again
  const pid_t child = fork();
  bt::require(child >= 0, "memory: no process could be started.");
  if (child == 0) {
    const int failed = examples::guarded([&] {
      cost = measure(flags, rule, length);
      return write(pipe_ends[1], &cost, sizeof cost) == sizeof cost ? 0 : 1;
    });
    std::fflush(stdout);
    _exit(failed);
  }
  close(pipe_ends[1]);  // so that a child that dies ends the wait
  const bool received = read(pipe_ends[0], &cost, sizeof cost) == sizeof cost;
  int        status   = 0;
  waitpid(child, &status, 0);
  close(pipe_ends[0]);
  bt::require(received && status == 0, "memory: the run of {} over {} steps failed.", rule, length);
  return cost;
}

int compare(const examples::Flags& flags) {
  std::map<std::string, double> growth;
  const std::vector<int64_t>    lengths =
      flags.quick() ? std::vector<int64_t>{128, 512} : std::vector<int64_t>{256, 512, 1024};
  fmt::print("{:<10} {:>6} {:>8} {:>12} {:>12}\n", "rule", "steps", "loss", "s per batch", "memory, MB");
  for (const std::string rule : {"ES_D_RTRL", "D_RTRL", "BPTT"})
    for (int64_t length : lengths) {
      const Cost c = in_own_process(flags, rule, length);
      growth[rule] += length == lengths.front() ? -c.megabytes : length == lengths.back() ? c.megabytes : 0;
      fmt::print("{:<10} {:>6} {:>8.3f} {:>12.3f} {:>12.1f}\n", rule, length, c.loss, c.seconds, c.megabytes);
      std::fflush(stdout);
    }
  return examples::finish(
      flags, {}, growth["BPTT"] > growth["D_RTRL"] && growth["BPTT"] > growth["ES_D_RTRL"],
      fmt::format("more memory for {} than for {} steps: BPTT {:.0f} MB, D_RTRL {:.0f}, ES_D_RTRL {:.0f}",
                  lengths.back(), lengths.front(), growth["BPTT"], growth["D_RTRL"], growth["ES_D_RTRL"]));
}

}  // namespace

int main(int argc, char** argv) {
  return examples::guarded(compare, {argc,
                                     argv,
                                     {{"synapse", "delta|expon"},
                                      {"surrogate", "relu_grad|s2nn|multi_gaussian"},
                                      {"layers", "1"},
                                      {"units", {"512", "128"}}}});
}

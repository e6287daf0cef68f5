// SPDX-License-Identifier: Apache-2.0
// What it costs to divide work, apart from synchronization: gradients of sequences, compiled for 2, 8 and 16 cores, and
// always run by one thread, in turn. Prints the median of microseconds per step, and its ratio to that for 2 cores.
//
//   cores_bench [rounds=7]
#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <memory>
#include <vector>

#include <fmt/format.h>

#include "braintrace/backends/cpu/thread_pool.h"
#include "braintrace/bench/workload.h"
#include "braintrace/model/environment.h"
#include "braintrace/model/random_stream.h"
#include "braintrace/ops/random.h"

namespace {

using namespace braintrace;
using bench::Mode;
using bench::Training;
using bench::Workload;

constexpr int cores[] = {2, 8, 16};

// A learner whose programs are compiled for some number of cores; the first call compiles.
struct Compiled {
  std::shared_ptr<Module>   model;
  std::unique_ptr<Training> training;

  Compiled(const Workload& w, int for_cores) : model(bench::network(w)) {
    cpu::set_num_threads(for_cores);
    init_all_states(*model, {.batch_size = w.size.batch});
    const auto drawn = [&](int64_t width) { return random::normal(random::next(), {w.steps, w.size.batch, width}); };
    training = std::make_unique<Training>(*model, w.rule, w.mode, drawn(w.size.n_in), drawn(bench::network_outputs));
    training->call();
    cpu::set_num_threads(1);
    training->run();
  }
};

double microseconds_of(Compiled& c) {
  const auto start = std::chrono::steady_clock::now();
  c.training->run();
  return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - start).count();
}

double median(std::vector<double> v) {
  std::nth_element(v.begin(), v.begin() + static_cast<int64_t>(v.size() / 2), v.end());
  return v[v.size() / 2];
}

void measure(const Workload& w, int rounds) {
  std::vector<std::unique_ptr<Compiled>> all;
  std::vector<std::vector<double>>       times(std::size(cores));
  for (int n : cores) all.push_back(std::make_unique<Compiled>(w, n));
  for (int r = 0; r < rounds; ++r)
    for (size_t i = 0; i < all.size(); ++i) times[i].push_back(microseconds_of(*all[i]) / static_cast<double>(w.steps));
  const double few = median(times[0]);
  fmt::print("{:<4} {:<8} B = {:>3}, n_in = {:>3}, n = {:>4} ", w.model, w.rule, w.size.batch, w.size.n_in, w.size.n);
  for (const auto& t : times) fmt::print("  {:>8.0f} {:>5.2f}", median(t), median(t) / few);
  fmt::print("\n");
}

}  // namespace

int main(int count, char** words) {
  const int rounds = count > 1 ? std::atoi(words[1]) : 7;
  if (rounds < 1) {
    fmt::print(stderr, "cores_bench: expected a number of rounds, got '{}'\n", words[1]);
    return 2;
  }
  Environment::set({.dt = 1.0});
  fmt::print("one thread, code for                    ");
  for (int n : cores) fmt::print("  {:>8} cores", n);
  fmt::print("\n");
  const auto sequence = [](const char* model, const char* rule, bench::Size size) {
    return Workload{model, rule, Mode::Sequence, size, 100, 0};
  };
  measure(sequence("gru", "D_RTRL", {64, 128, 256}), rounds);
  measure(sequence("gru", "D_RTRL", {64, 128, 512}), rounds);
  measure(sequence("gru", "D_RTRL", {64, 512, 512}), rounds);
  measure(sequence("rnn", "D_RTRL", {64, 512, 512}), rounds);
  measure(sequence("gru", "BPTT", {64, 128, 256}), rounds);
}

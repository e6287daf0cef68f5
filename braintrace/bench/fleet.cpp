// SPDX-License-Identifier: Apache-2.0
#include "braintrace/bench/fleet.h"

#include <algorithm>
#include <chrono>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "braintrace/algorithms/registry.h"
#include "braintrace/base/rng.h"
#include "braintrace/functions/functions.h"
#include "braintrace/model/environment.h"
#include "braintrace/model/random_stream.h"
#include "braintrace/model/state.h"
#include "braintrace/ops/math.h"
#include "braintrace/stream/fleet.h"

namespace braintrace::bench {

namespace {

using Clock = std::chrono::steady_clock;

Array records(Shape shape, Rng& rng) {
  Array a({DType::F32, std::move(shape)});
  for (int64_t i = 0; i < a.size(); ++i) a.mutable_data<float>()[i] = static_cast<float>(rng.normal());
  return a;
}

std::shared_ptr<Module> one_network(const Workload& w) {
  random::seed(1);
  auto model = network(w);
  init_all_states(*model);
  return model;
}

// The best rate of several rounds of `pieces` each, to exclude the influence of other programs.
template <class F>
double best_rate(double seconds, int64_t pieces, F round) {
  round();
  double     best = 0;
  const auto end  = Clock::now() + std::chrono::duration<double>(seconds);
  do {
    const auto start = Clock::now();
    round();
    best = std::max(best, static_cast<double>(pieces) / std::chrono::duration<double>(Clock::now() - start).count());
  } while (Clock::now() < end);
  return best;
}

// Bytes per second that a program reads and writes with all threads, of memory that no cache holds.
double memory_rate(double seconds) {
  constexpr int64_t    numbers = int64_t{1} << 26;  // 256 MiB
  const ShortTermState memory(Tensor(Type{DType::F32, {numbers}}, 0));
  const auto           add = jit([&](Tensor x) {
    memory.set(memory.value() + x);
    return x;
  });
  const Tensor         one(Type{DType::F32, {}}, 1);
  return best_rate(seconds, 2 * numbers * static_cast<int64_t>(sizeof(float)), [&] { add(one); });
}

// Single learners, each a separate object with its own model, as in a program that does not use fleets.
class Singles {
 public:
  Singles(const Workload& w, const stream::StreamOptions& options, int64_t count, int64_t window, Rng& rng) {
    const Type input{DType::F32, {w.size.n_in}};
    for (int64_t i = 0; i < count; ++i) {
      models_.push_back(one_network(w));
      learners_.push_back(std::make_unique<stream::OnlineStream>(*models_.back(), input, options));
    }
    for (int64_t t = 0; t < window; ++t) {
      xs_.push_back(records({w.size.n_in}, rng));
      ys_.push_back(records({network_outputs}, rng));
    }
  }
  // This many records for each learner in turn.
  void learn(size_t window) {
    for (auto& learner : learners_)
      for (size_t t = 0; t < window; ++t) learner->learn(xs_[t], ys_[t]);
  }

 private:
  std::vector<std::shared_ptr<Module>>               models_;
  std::vector<std::unique_ptr<stream::OnlineStream>> learners_;
  Arrays                                             xs_, ys_;
};

}  // namespace

nlohmann::ordered_json measured_fleet(const Workload& w, const FleetChoice& choice) {
  require(choice.members > 0 && choice.singles > 0 && choice.window > 0, "bench: a fleet needs members, got {}.",
          choice.members);
  Environment::set({.dt = 1.0});
  const Type                  input{DType::F32, {w.size.n_in}};
  const stream::StreamOptions options{
      .rule = w.rule, .rule_options = algorithm_named(w.rule).usual(1).options, .optimizer = "sgd", .lr = 1e-3};
  Rng        rng(2);
  const auto rate = [&](int64_t steps, auto round) { return best_rate(choice.seconds, steps, round); };

  const int64_t n = choice.members, k = choice.window, s = choice.singles;
  const auto    model = one_network(w);
  stream::Fleet fleet(*model, input, options, {.most = n});
  for (int64_t i = 0; i < n; ++i) fleet.add(fmt::format("{}", i));
  const Array  x = records({n, w.size.n_in}, rng), y = records({n, network_outputs}, rng);
  const double together = rate(n, [&] { fleet.learn(x, y); });
  const Array  xs = records({n, k, w.size.n_in}, rng), ys = records({n, k, network_outputs}, rng);
  const double together_window = rate(n * k, [&] { fleet.learn(xs, ys); });

  Singles      singles(w, options, s, k, rng);
  const double alone        = rate(s, [&] { singles.learn(1); });
  const double alone_window = rate(s * k, [&] { singles.learn(static_cast<size_t>(k)); });

  const double bytes = static_cast<double>(fleet.bytes_per_member()), memory = memory_rate(choice.seconds);
  return {{"model", w.model},
          {"rule", w.rule},
          {"n_in", w.size.n_in},
          {"n", w.size.n},
          {"members", n},
          {"member_kb", bytes / 1024},
          {"window", k},
          {"singles", s},
          {"fleet", together},
          {"fleet_window", together_window},
          {"single", alone},
          {"single_window", alone_window},
          {"ratio", together / alone},
          {"ratio_window", together_window / alone_window},
          {"memory_gb_per_s", memory / 1e9},
          {"bound", memory / (2 * bytes)}};
}

}  // namespace braintrace::bench

// SPDX-License-Identifier: Apache-2.0
#include "braintrace/bench/fleet.h"

#include <algorithm>
#include <chrono>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "braintrace/algorithms/registry.h"
#include "braintrace/base/rng.h"
#include "braintrace/model/environment.h"
#include "braintrace/model/random_stream.h"
#include "braintrace/stream/fleet.h"

namespace braintrace::bench {

namespace {

using Clock = std::chrono::steady_clock;

Array records(int64_t n, int64_t width, Rng& rng) {
  Array a({DType::F32, {n, width}});
  for (int64_t i = 0; i < a.size(); ++i) a.mutable_data<float>()[i] = static_cast<float>(rng.normal());
  return a;
}

std::shared_ptr<Module> one_network(const Workload& w) {
  random::seed(1);
  auto model = network(w);
  init_all_states(*model);
  return model;
}

// The best rate of several rounds, each of `steps` steps: what other programs take is not in it.
template <class F>
double best_rate(double seconds, int64_t steps, F round) {
  round();
  double     best = 0;
  const auto end  = Clock::now() + std::chrono::duration<double>(seconds);
  do {
    const auto start = Clock::now();
    round();
    best = std::max(best, static_cast<double>(steps) / std::chrono::duration<double>(Clock::now() - start).count());
  } while (Clock::now() < end);
  return best;
}

}  // namespace

nlohmann::ordered_json measured_fleet(const Workload& w, const FleetChoice& choice) {
  require(choice.members > 0 && choice.singles > 0, "bench: a fleet needs members, got {}.", choice.members);
  Environment::set({.dt = 1.0});
  const Type                  input{DType::F32, {w.size.n_in}};
  const stream::StreamOptions options{
      .rule = w.rule, .rule_options = algorithm_named(w.rule).usual(1).options, .optimizer = "sgd", .lr = 1e-3};
  Rng rng(2);

  const auto    model = one_network(w);
  stream::Fleet fleet(*model, input, options, {.most = choice.members});
  for (int64_t i = 0; i < choice.members; ++i) fleet.add(fmt::format("{}", i));
  const Array  x = records(choice.members, w.size.n_in, rng), y = records(choice.members, network_outputs, rng);
  const double together = best_rate(choice.seconds, choice.members, [&] { fleet.learn(x, y); });

  std::vector<std::shared_ptr<Module>>               models;
  std::vector<std::unique_ptr<stream::OnlineStream>> singles;
  Arrays                                             xs, ys;
  for (int64_t i = 0; i < choice.singles; ++i) {
    models.push_back(one_network(w));
    singles.push_back(std::make_unique<stream::OnlineStream>(*models.back(), input, options));
    xs.push_back(records(1, w.size.n_in, rng).reshaped({w.size.n_in}));
    ys.push_back(records(1, network_outputs, rng).reshaped({network_outputs}));
  }
  constexpr int64_t turns = 20;
  const double      alone = best_rate(choice.seconds, turns * choice.singles, [&] {
    for (int64_t t = 0; t < turns; ++t)
      for (size_t i = 0; i < singles.size(); ++i) singles[i]->learn(xs[i], ys[i]);
  });
  return {{"model", w.model},
               {"rule", w.rule},
               {"n_in", w.size.n_in},
               {"n", w.size.n},
               {"members", choice.members},
               {"member_kb", static_cast<double>(fleet.bytes_per_member()) / 1024},
               {"fleet_steps_per_s", together},
               {"single_steps_per_s", alone},
               {"ratio", together / alone}};
}

}  // namespace braintrace::bench

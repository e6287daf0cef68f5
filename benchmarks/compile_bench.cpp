// SPDX-License-Identifier: Apache-2.0
// Compiling a graph grows linearly with the model: stacks of 10, 100 and 1000 GRU layers of 8 units.
//
// After the timings: time(1000) / time(500). Exits with an error when it passes 2.4; small models are faster per layer
// because they stay in the cache.
#include <algorithm>
#include <cstdio>
#include <ctime>
#include <malloc.h>

#include <benchmark/benchmark.h>

#include "braintrace/compiler/graph.h"
#include "braintrace/nn/rnn.h"

namespace {

using namespace braintrace;

struct Stack : Module {
  explicit Stack(int depth) : layers(static_cast<size_t>(depth), nullptr) {
    for (auto& layer : layers) layer = std::make_shared<nn::GRUCell>(8, 8);
    children({{"layers", layers}});
    init_all_states(*this);
  }
  Tensor update(const Tensor& x) override {
    Tensor y = x;
    for (const auto& layer : layers) y = (*layer)(y);
    return y;
  }
  std::vector<std::shared_ptr<nn::GRUCell>> layers;
};

void compile_stack(benchmark::State& state) {
  Stack model(static_cast<int>(state.range(0)));
  for (auto _ : state) benchmark::DoNotOptimize(compile_etrace_graph(model, {{DType::F32, {8}}}));
  state.counters["per_layer"] = benchmark::Counter(
      static_cast<double>(state.range(0)), benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
}
BENCHMARK(compile_stack)->Arg(10)->Arg(100)->Arg(1000)->Unit(benchmark::kMillisecond);

double seconds(int depth) {
  Stack  model(depth);
  double best = 1e30;
  for (int i = 0; i < 3; ++i) {
    const std::clock_t start = std::clock();
    benchmark::DoNotOptimize(compile_etrace_graph(model, {{DType::F32, {8}}}));
    best = std::min(best, static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC);
  }
  return best;
}

}  // namespace

int main(int argc, char** argv) {
  // Memory that was given back to the system would be paid for again.
  mallopt(M_TRIM_THRESHOLD, 1 << 30);
  mallopt(M_MMAP_THRESHOLD, 1 << 30);
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
  const double ratio = seconds(1000) / seconds(500);
  std::printf("time of 1000 layers over that of 500: %.2f\n", ratio);
  return ratio > 2.4;
}

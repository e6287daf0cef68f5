// SPDX-License-Identifier: Apache-2.0
// Compiling a graph grows linearly with the model: stacks of 10, 100 and 1000 GRU layers of 8 units.
//
// After the timings: time(1000) / time(100) per layer. Exits with an error when it passes 1.5.
#include <chrono>
#include <cstdio>

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
    const auto start = std::chrono::steady_clock::now();
    benchmark::DoNotOptimize(compile_etrace_graph(model, {{DType::F32, {8}}}));
    best = std::min(best, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  }
  return best;
}

}  // namespace

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
  const double ratio = seconds(1000) / seconds(100) / 10;
  std::printf("time per layer, 1000 layers over 100: %.2f\n", ratio);
  return ratio > 1.5;
}

// SPDX-License-Identifier: Apache-2.0
// Building, verifying, differentiating and simplifying grow linearly with the program. The program is a chain of n
// steps in which every value is used twice, by its successor and by one a few steps later; `simplify` runs on its
// gradient, which is several times longer.
//
// After the timings: time(20k) / time(10k) per stage. Exits with an error when a ratio passes 2.3.
#include <algorithm>
#include <cstdio>
#include <ctime>
#include <functional>
#include <malloc.h>
#include <vector>

#include <benchmark/benchmark.h>

#include "braintrace/ir/builder.h"
#include "braintrace/ops/math.h"
#include "braintrace/transforms/linearize.h"
#include "braintrace/transforms/simplify.h"

namespace {

using namespace braintrace;

constexpr int    small = 10'000, large = 20'000;
constexpr double allowed_ratio = 2.3;

Program chain(int steps) {
  return trace({{DType::F32, {8}}, {DType::F32, {8}}},
               [&](const Tensors& args) -> Tensors {
                 Tensors recent(5, args[0]);
                 for (int i = 0; i < steps; ++i) {
                   Tensor&       x = recent[static_cast<size_t>(i) % 5];
                   const Tensor& y = recent[static_cast<size_t>(i + 1) % 5];
                   x               = i % 3 == 0 ? tanh(x) : i % 3 == 1 ? x * y : x + y * args[1];
                 }
                 return {recent[0] + recent[1]};
               })
      .program;
}
Program gradient(int steps) { return vjp_program(chain(steps), {true, true}); }

struct Stage {
  const char*                                    name;
  std::function<Program(int steps)>              input;
  std::function<void(const Program&, int steps)> run;
};
const std::vector<Stage>& stages() {
  static const std::vector<Stage> all = {
      {"build", [](int) { return Program(); }, [](const Program&, int n) { benchmark::DoNotOptimize(chain(n)); }},
      {"verify", chain, [](const Program& p, int) { verify(p); }},
      {"vjp", chain,
       [](const Program& p, int) {
         benchmark::DoNotOptimize(vjp_program(p, {true, true}));
       }},
      {"simplify", gradient, [](const Program& p, int) { benchmark::DoNotOptimize(simplify(p)); }},
      {"vjp_simplify", chain,
       [](const Program& p, int) {
         benchmark::DoNotOptimize(simplify(vjp_program(p, {true, true})));
       }},
  };
  return all;
}

// Processor time: the load of the machine does not count.
double seconds(const Stage& stage, const Program& p, int steps) {
  const std::clock_t start = std::clock();
  stage.run(p, steps);
  return static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
}

// time(20k) / time(10k): sizes in turn, so that both meet the same weather; the first round warms up and is not
// counted. A median, since one lucky or unlucky run says nothing.
double median(std::vector<double> v) {
  std::nth_element(v.begin(), v.begin() + static_cast<int64_t>(v.size() / 2), v.end());
  return v[v.size() / 2];
}
double report_ratio(const Stage& stage) {
  constexpr int       rounds = 21;
  const Program       p = stage.input(small), q = stage.input(large);
  std::vector<double> t, u;
  for (int i = 0; i <= rounds; ++i) {
    const double at_small = seconds(stage, p, small), at_large = seconds(stage, q, large);
    if (i == 0) continue;
    t.push_back(at_small);
    u.push_back(at_large);
  }
  const double ratio = median(u) / median(t);
  std::printf("%-12s 10k %8.2f ms   20k %8.2f ms   ratio %.2f\n", stage.name, median(t) * 1e3, median(u) * 1e3, ratio);
  return ratio;
}

}  // namespace

int main(int argc, char** argv) {
  // Freed memory stays with the process: fresh pages are the kernel's work, and whether malloc returns them between
  // runs depends on sizes that have nothing to do with the stage measured.
  mallopt(M_MMAP_MAX, 0);
  mallopt(M_TRIM_THRESHOLD, 1 << 30);
  for (const Stage& s : stages())
    benchmark::RegisterBenchmark(s.name,
                                 [&s](benchmark::State& state) {
                                   const int     steps = static_cast<int>(state.range(0));
                                   const Program p     = s.input(steps);
                                   for (auto _ : state) s.run(p, steps);
                                 })
        ->Arg(small)
        ->Arg(large)
        ->Unit(benchmark::kMillisecond);
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  benchmark::RunSpecifiedBenchmarks();
  double worst = 0;
  for (const Stage& s : stages()) worst = std::max(worst, report_ratio(s));
  return worst <= allowed_ratio ? 0 : 1;
}

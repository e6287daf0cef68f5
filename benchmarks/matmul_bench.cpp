// SPDX-License-Identifier: Apache-2.0
// Matrix products of emitted code beside OpenBLAS (where it is installed), one thread each, in Gflop/s: best of many.
#include <algorithm>
#include <chrono>
#include <dlfcn.h>
#include <functional>

#include <fmt/format.h>

#include "braintrace/backends/cpu/cpu_backend.h"
#include "braintrace/backends/cpu/thread_pool.h"
#include "braintrace/braintrace.h"

namespace {

using namespace braintrace;

struct Size {
  int64_t M, N, K;
};
constexpr Size sizes[] = {{64, 256, 128}, {64, 512, 128}, {64, 512, 512}, {640, 512, 6400}, {6400, 512, 128}};

double best_seconds(const std::function<void()>& f) {
  using Clock = std::chrono::steady_clock;
  double best = 1e30, total = 0;
  for (int runs = 0; runs < 10 || (runs < 200 && total < 1); ++runs) {
    const auto start = Clock::now();
    f();
    const double t = std::chrono::duration<double>(Clock::now() - start).count();
    best           = std::min(best, t);
    total += t;
  }
  return best;
}

// y = a b with a stored transposed or not, and so b.
std::function<void()> ours(const Size& s, bool a_t, bool b_t) {
  const Shape  a = a_t ? Shape{s.K, s.M} : Shape{s.M, s.K}, b = b_t ? Shape{s.N, s.K} : Shape{s.K, s.N};
  const Traced t = trace({{DType::F32, a}, {DType::F32, b}}, [&](const Tensors& in) -> Tensors {
    return {dot_general(in[0], in[1], {{a_t ? 0 : 1}, {b_t ? 1 : 0}, {}, {}})};
  });
  const auto   f = cpu::compile_together({t.program}, {{}})[0];
  return [f, x = full(a, 0.5).array(), w = full(b, 0.25).array(), y = Array(Type{DType::F32, {s.M, s.N}})]() mutable {
    const void* in[]  = {x.raw(), w.raw()};
    void*       out[] = {y.mutable_raw()};
    f->run_into(in, out);
  };
}

using Gemm = void (*)(int, int, int, int, int, int, float, const float*, int, const float*, int, float, float*, int);

std::function<void()> library(Gemm gemm, const Size& s, bool a_t, bool b_t) {
  constexpr int row_major = 101, plain = 111, transposed = 112;
  return [=, x = full({s.M, s.K}, 0.5).array(), w = full({s.K, s.N}, 0.25).array(),
          y = Array(Type{DType::F32, {s.M, s.N}})]() mutable {
    const auto M = static_cast<int>(s.M), N = static_cast<int>(s.N), K = static_cast<int>(s.K);
    gemm(row_major, a_t ? transposed : plain, b_t ? transposed : plain, M, N, K, 1, x.data<float>(), a_t ? M : K,
         w.data<float>(), b_t ? K : N, 0, y.mutable_data<float>(), N);
  };
}

}  // namespace

int main() {
  cpu::set_num_threads(1);
  void* blas = dlopen("libopenblas.so.0", RTLD_NOW);
  Gemm  gemm = blas ? reinterpret_cast<Gemm>(dlsym(blas, "cblas_sgemm")) : nullptr;
  if (auto* threads = blas ? reinterpret_cast<void (*)(int)>(dlsym(blas, "openblas_set_num_threads")) : nullptr)
    threads(1);
  fmt::print("{:>18}   {:>6} {:>6} {:>6}   {}\n", "M x N x K", "A B", "At B", "A Bt",
             gemm ? "OpenBLAS, the same" : "OpenBLAS is not installed");
  for (const Size& s : sizes) {
    const double work = 2e-9 * static_cast<double>(s.M * s.N * s.K);
    auto         row  = [&](auto make) {
      std::string text;
      for (const auto& [a_t, b_t] : {std::pair{false, false}, std::pair{true, false}, std::pair{false, true}})
        text += fmt::format(" {:6.1f}", work / best_seconds(make(a_t, b_t)));
      return text;
    };
    fmt::print("{:>18}  {}  {}\n", fmt::format("{} x {} x {}", s.M, s.N, s.K),
               row([&](bool a_t, bool b_t) { return ours(s, a_t, b_t); }),
               gemm ? row([&](bool a_t, bool b_t) { return library(gemm, s, a_t, b_t); }) : "");
  }
}

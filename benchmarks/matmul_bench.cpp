// SPDX-License-Identifier: Apache-2.0
// Matrix products of emitted code beside OpenBLAS, BLIS and oneDNN (where they are installed), one thread each, in
// Gflop/s of processor time, best of many: what other programs take meanwhile does not count.
#include <algorithm>
#include <cstdlib>
#include <ctime>
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
  bool    a_t;  // a is stored transposed
};
constexpr Size sizes[] = {{4, 128, 128, false},   {4, 512, 512, false},   {8, 512, 512, false},  {16, 128, 128, false},
                          {64, 128, 128, false},  {64, 512, 128, false},  {16, 512, 512, false}, {64, 512, 512, false},
                          {6400, 128, 64, false}, {192, 128, 6400, true}, {512, 512, 6400, true}};

double processor_seconds() {
  timespec t{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

double best_seconds(const Size& s, const std::function<void()>& f) {
  const int calls = 1 + static_cast<int>(2e7 / static_cast<double>(s.M * s.N * s.K));
  double    best = 1e30, total = 0;
  for (int runs = 0; runs < 5 || (runs < 50 && total < 0.5); ++runs) {
    const double start = processor_seconds();
    for (int i = 0; i < calls; ++i) f();
    const double t = processor_seconds() - start;
    best           = std::min(best, t / calls);
    total += t;
  }
  return best;
}

// The memory that a product reads and writes.
struct Operands {
  Array x, w, y;
  explicit Operands(const Size& s)
      : x(full(s.a_t ? Shape{s.K, s.M} : Shape{s.M, s.K}, 0.5).array()),
        w(full({s.K, s.N}, 0.25).array()),
        y(Type{DType::F32, {s.M, s.N}}) {}
};

std::function<void()> ours(const Size& s) {
  Operands     o(s);
  const Traced t = trace({o.x.type(), o.w.type()}, [&](const Tensors& in) -> Tensors {
    return {dot_general(in[0], in[1], {{s.a_t ? 0 : 1}, {0}, {}, {}})};
  });
  return [f = cpu::compile_together({t.program}, {{}})[0], o]() mutable {
    const void* in[]  = {o.x.raw(), o.w.raw()};
    void*       out[] = {o.y.mutable_raw()};
    f->run_into(in, out);
  };
}

using Gemm = void (*)(int, int, int, int, int, int, float, const float*, int, const float*, int, float, float*, int);

std::function<void()> cblas(void* gemm, const Size& s) {
  constexpr int row_major = 101, plain = 111, transposed = 112;
  return [=, o = Operands(s)]() mutable {
    const auto M = static_cast<int>(s.M), N = static_cast<int>(s.N), K = static_cast<int>(s.K);
    reinterpret_cast<Gemm>(gemm)(row_major, s.a_t ? transposed : plain, plain, M, N, K, 1, o.x.data<float>(),
                                 s.a_t ? M : K, o.w.data<float>(), N, 0, o.y.mutable_data<float>(), N);
  };
}

using DnnlGemm = int (*)(char, char, int64_t, int64_t, int64_t, float, const float*, int64_t, const float*, int64_t,
                         float, float*, int64_t);

std::function<void()> dnnl(void* gemm, const Size& s) {
  return [=, o = Operands(s)]() mutable {
    reinterpret_cast<DnnlGemm>(gemm)(s.a_t ? 'T' : 'N', 'N', s.M, s.N, s.K, 1, o.x.data<float>(), s.a_t ? s.M : s.K,
                                     o.w.data<float>(), s.N, 0, o.y.mutable_data<float>(), s.N);
  };
}

void* found(std::initializer_list<const char*> files, const char* function) {
  for (const char* file : files)
    if (void* library = dlopen(file, RTLD_NOW | RTLD_LOCAL)) return dlsym(library, function);
  return nullptr;
}

}  // namespace

int main() {
  cpu::set_num_threads(1);
  for (const char* name : {"OPENBLAS_NUM_THREADS", "BLIS_NUM_THREADS", "OMP_NUM_THREADS"}) setenv(name, "1", 1);
  void* openblas = found({"libopenblas.so.0"}, "cblas_sgemm");
  void* blis     = found({"libblis.so.4"}, "cblas_sgemm");
  void* onednn   = found({"libdnnl.so.2", "libdnnl.so.3"}, "dnnl_sgemm");
  fmt::print("{:>22} {:>9} {:>9} {:>9} {:>9}\n", "M x N x K", "ours", "OpenBLAS", "BLIS", "oneDNN");
  for (const Size& s : sizes) {
    auto speed = [&](const std::function<void()>& f) {
      return f ? fmt::format("{:9.0f}", 2e-9 * static_cast<double>(s.M * s.N * s.K) / best_seconds(s, f))
               : fmt::format("{:>9}", "-");
    };
    fmt::print("{:>22} {} {} {} {}\n", fmt::format("{} x {} x {}{}", s.M, s.N, s.K, s.a_t ? " At" : ""), speed(ours(s)),
               speed(openblas ? cblas(openblas, s) : nullptr), speed(blis ? cblas(blis, s) : nullptr),
               speed(onednn ? dnnl(onednn, s) : nullptr));
  }
}

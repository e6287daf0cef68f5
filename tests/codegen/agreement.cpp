// SPDX-License-Identifier: Apache-2.0
#include "tests/codegen/agreement.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include <fmt/format.h>

#include "braintrace/backends/cpu/cpu_backend.h"

namespace braintrace::testing_support {

namespace {

constexpr size_t        guard  = 64;
constexpr unsigned char signal = 0xA5;

// Memory between two guards, aligned as compiled code wants it.
class Guarded {
 public:
  explicit Guarded(size_t bytes) : bytes_(bytes) {
    memory_.assign((2 * guard + bytes_ + sizeof(Line) - 1) / sizeof(Line), {});
    std::memset(memory_.data(), signal, memory_.size() * sizeof(Line));
  }
  char* data() { return memory_.front().bytes + guard; }
  bool  is_intact() const {
     for (size_t i = 0; i < guard; ++i)
      if (at(i) != signal || at(guard + bytes_ + i) != signal) return false;
    return true;
  }

 private:
  struct alignas(64) Line {
    char bytes[64];
  };
  unsigned char at(size_t i) const { return static_cast<unsigned char>(memory_[i / 64].bytes[i % 64]); }

  size_t            bytes_;
  std::vector<Line> memory_;
};

Array copied(const Array& a) {
  Array b(a.type());
  if (a.bytes()) std::memcpy(b.mutable_raw(), a.raw(), a.bytes());
  return b;
}

}  // namespace

double distance(const Array& got, const Array& want) {
  double worst = 0;
  for (int64_t i = 0; i < want.size(); ++i) {
    const double a = at(got, i), b = at(want, i);
    if (a == b || (std::isnan(a) && std::isnan(b))) continue;
    if (!is_float(want.dtype()) || !std::isfinite(a) || !std::isfinite(b)) return INFINITY;
    worst = std::max(worst, std::abs(a - b) / (1 + std::abs(b)));
  }
  return worst;
}

Worst worst_disagreement(const std::vector<Job>& jobs, const codegen::Options& options) {
  std::vector<Program> programs;
  std::vector<Arrays>  constants;
  for (const Job& j : jobs) {
    programs.push_back(j.program);
    constants.push_back(j.constants);
  }
  const auto compiled = cpu::compile_together(programs, constants, options);
  Worst      worst;
  for (size_t k = 0; k < jobs.size(); ++k) {
    const Job& j = jobs[k];
    if (!compiled[k]->is_native()) return {"nothing was compiled", INFINITY};
    const Arrays             want = evaluate(j.program, j.constants, j.args);
    std::vector<Guarded>     memory;
    std::vector<const void*> in;
    std::vector<void*>       out;
    Guarded                  arena(static_cast<size_t>(compiled[k]->arena_bytes()));
    Arrays                   args;
    for (const Array& a : want) memory.emplace_back(a.bytes());
    for (Guarded& m : memory) out.push_back(m.data());
    for (const Array& a : j.args) args.push_back(copied(a));
    for (const Array& a : args) in.push_back(a.raw());
    compiled[k]->run_in(arena.data(), in.data(), out.data());
    if (!arena.is_intact()) worst = {j.name + ", working memory", INFINITY};
    for (size_t a = 0; a < args.size(); ++a)
      if (!identical(args[a], j.args[a])) worst = {fmt::format("{}, argument {} has changed", j.name, a), INFINITY};
    for (size_t r = 0; r < want.size(); ++r) {
      Array got(want[r].type());
      if (got.bytes()) std::memcpy(got.mutable_raw(), memory[r].data(), got.bytes());
      const double d = memory[r].is_intact() ? distance(got, want[r]) : INFINITY;
      if (!(d <= worst.distance)) worst = {fmt::format("{}, result {}", j.name, r), d};
    }
  }
  return worst;
}

}  // namespace braintrace::testing_support

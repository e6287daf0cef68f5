// SPDX-License-Identifier: Apache-2.0
#include "tests/codegen/agreement.h"

#include <cmath>
#include <cstring>

#include <fmt/format.h>

#include "braintrace/backends/cpu/cpu_backend.h"

namespace braintrace::testing_support {

namespace {

constexpr size_t        guard  = 64;
constexpr unsigned char signal = 0xA5;

// Memory for one result between two guards.
class Guarded {
 public:
  explicit Guarded(const Type& type) : bytes_(static_cast<size_t>(type.size()) * size_of(type.dtype)) {
    memory_.assign(2 * guard + bytes_, signal);
  }
  unsigned char* data() { return memory_.data() + guard; }
  bool           is_intact() const {
              for (size_t i = 0; i < guard; ++i)
      if (memory_[i] != signal || memory_[guard + bytes_ + i] != signal) return false;
    return true;
  }

 private:
  size_t                     bytes_;
  std::vector<unsigned char> memory_;
};

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

}  // namespace

Worst worst_disagreement(const std::vector<Job>& jobs) {
  std::vector<Program> programs;
  std::vector<Arrays>  constants;
  for (const Job& j : jobs) {
    programs.push_back(j.program);
    constants.push_back(j.constants);
  }
  const auto compiled = cpu::compile_together(programs, constants);
  Worst      worst;
  for (size_t k = 0; k < jobs.size(); ++k) {
    const Job& j = jobs[k];
    if (!compiled[k]->is_native()) return {"nothing was compiled", INFINITY};
    const Arrays             want = evaluate(j.program, j.constants, j.args);
    std::vector<Guarded>     memory;
    std::vector<const void*> in;
    std::vector<void*>       out;
    for (const Array& a : want) memory.emplace_back(a.type());
    for (Guarded& m : memory) out.push_back(m.data());
    for (const Array& a : j.args) in.push_back(a.raw());
    compiled[k]->run_into(in.data(), out.data());
    for (size_t r = 0; r < want.size(); ++r) {
      Array got(want[r].type());
      std::memcpy(got.mutable_raw(), memory[r].data(), got.bytes());
      const double d = memory[r].is_intact() ? distance(got, want[r]) : INFINITY;
      if (!(d <= worst.distance)) worst = {fmt::format("{}, result {}", j.name, r), d};
    }
  }
  return worst;
}

}  // namespace braintrace::testing_support

// SPDX-License-Identifier: Apache-2.0
// Runs work in a separate process, with limits on its memory and time.
#pragma once

#include <cstring>
#include <functional>
#include <string>
#include <type_traits>

namespace braintrace {

struct ApartLimits {
  int     seconds = 0;  // of the processor
  int64_t bytes   = 0;  // of address space
};

// Returns the result of `work`. Its UserErrors and CompileErrors are rethrown as UserErrors; if it exceeded a limit or
// was killed, a UserError says so.
std::string run_apart(const std::function<std::string()>& work, const ApartLimits& limits);

template <class F>
auto apart(const F& work, const ApartLimits& limits) {
  using Result = decltype(work());
  static_assert(std::is_trivially_copyable_v<Result>);
  const std::string bytes = run_apart(
      [&] {
        const Result r = work();
        return std::string(reinterpret_cast<const char*>(&r), sizeof r);
      },
      limits);
  Result r;
  std::memcpy(&r, bytes.data(), sizeof r);
  return r;
}

int64_t resident_bytes();       // of this process now
int64_t peak_resident_bytes();  // maximum so far

}  // namespace braintrace

// SPDX-License-Identifier: Apache-2.0
// Work in a process of its own: what it allocates, and how long it takes, is not a burden on this one.
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

// What `work` gives. Its UserErrors and CompileErrors are thrown here as UserErrors, and one says when it exceeded a
// limit or was killed.
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
int64_t peak_resident_bytes();  // and at most so far

}  // namespace braintrace

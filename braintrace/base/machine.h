// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <fstream>
#include <sched.h>
#include <string>
#include <thread>
#include <unistd.h>

namespace braintrace {

// Bytes of memory of this machine, or the limit of the container.
inline int64_t physical_memory() {
  static const int64_t bytes = [] {
    int64_t least = int64_t{::sysconf(_SC_PHYS_PAGES)} * int64_t{::sysconf(_SC_PAGESIZE)};
    for (const char* limit : {"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"})
      if (int64_t n = 0; std::ifstream(limit) >> n && n > 0) least = std::min(least, n);
    return least;
  }();
  return bytes;
}

// Number of processors that this thread may use now, by its CPU affinity and the CPU quota of the container.
inline int count_processors() {
  double most = std::max(1U, std::thread::hardware_concurrency()), quota = 0, period = 0;
#ifdef __linux__
  cpu_set_t allowed;  // which hardware_concurrency does not consult everywhere
  if (::sched_getaffinity(0, sizeof allowed, &allowed) == 0) most = CPU_COUNT(&allowed);
#endif
  const auto file = [](const char* name) { return std::ifstream(std::string("/sys/fs/cgroup/") + name); };
  const bool told = (file("cpu.max") >> quota >> period) ||
                    (file("cpu/cpu.cfs_quota_us") >> quota && file("cpu/cpu.cfs_period_us") >> period);
  if (told && quota > 0 && period > 0) most = std::min(most, std::ceil(quota / period));
  return static_cast<int>(std::max(1.0, most));
}

// The same for this process, counted once.
inline int usable_processors() {
  static const int count = count_processors();
  return count;
}

}  // namespace braintrace

// SPDX-License-Identifier: Apache-2.0
// Any bytes either fail with a UserError or are rows of spikes at valid times.
#include <algorithm>

#include "braintrace/data/spike_file.h"
#include "tests/fuzz/memory_file.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace braintrace::data;
  const MemoryFile bytes(data, size);
  try {
    const SpikeFile file(bytes.path());
    for (int64_t i = 0; i < std::min<int64_t>(file.size(), 8); ++i)
      for (const Event& e : file.read(i))
        if (e.time_us < 0 || e.time_us > int64_t{1000000000} * 1000000) __builtin_trap();
  } catch (const braintrace::UserError&) {
  }
  return 0;
}

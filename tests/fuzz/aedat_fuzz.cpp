// SPDX-License-Identifier: Apache-2.0
// Any bytes either fail with a UserError or give a recording whose clips are parts of it.
#include "braintrace/data/aedat.h"
#include "tests/fuzz/memory_file.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace braintrace::data;
  const MemoryFile bytes(data, size);
  try {
    const AedatFile file(bytes.path());
    const Events    all = file.read(0, int64_t{1} << 62), half = file.read(0, 1000);
    if (all.size() * 8 > size || half.size() > all.size()) __builtin_trap();
    for (const Event& e : half)
      if (e.time_us < 0 || e.time_us >= 1000) __builtin_trap();
  } catch (const braintrace::UserError&) {
  }
  return 0;
}

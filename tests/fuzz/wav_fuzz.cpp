// SPDX-License-Identifier: Apache-2.0
// Any bytes either fail with a UserError or give as many samples as the header states.
#include "braintrace/base/error.h"
#include "braintrace/data/wav.h"
#include "tests/fuzz/memory_file.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace braintrace::data;
  const MemoryFile bytes(data, size);
  try {
    const WavFile file(bytes.path());
    if (static_cast<int64_t>(file.samples().size()) != file.size() * file.channels()) __builtin_trap();
  } catch (const braintrace::UserError&) {
  }
  return 0;
}

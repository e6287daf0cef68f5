// SPDX-License-Identifier: Apache-2.0
// Any bytes, plain or gzipped, either fail with a UserError or give items of equal size.
#include "braintrace/data/idx.h"
#include "tests/fuzz/memory_file.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace braintrace::data;
  const MemoryFile bytes(data, size);
  try {
    const IdxFile file(bytes.path());
    if (file.item(0).size() != file.item(file.size() - 1).size()) __builtin_trap();
  } catch (const braintrace::UserError&) {
  }
  return 0;
}

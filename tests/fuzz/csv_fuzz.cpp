// SPDX-License-Identifier: Apache-2.0
// Any text either fails with a UserError or gives rows as wide as the headings, the same however they are asked
// for.
#include "braintrace/base/error.h"
#include "braintrace/data/csv.h"
#include "tests/fuzz/memory_file.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace braintrace::data;
  const MemoryFile bytes(data, size);
  try {
    const CsvFile file(bytes.path());
    const auto    all = file.rows(0, file.size());
    for (const auto& row : all)
      if (row.size() != file.columns().size()) __builtin_trap();
    if (file.rows(file.size() - 1, 1)[0] != all.back()) __builtin_trap();
  } catch (const braintrace::UserError&) {
  }
  return 0;
}

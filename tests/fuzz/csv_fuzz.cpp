// SPDX-License-Identifier: Apache-2.0
// Any text either fails with a UserError or gives rows as wide as the headings, the same however they are read. The
// cells of a row are what lies between its separators outside of quotes, and quoted text comes back unchanged.
#include <string>

#include "braintrace/base/error.h"
#include "braintrace/data/csv.h"
#include "braintrace/data/csv_row.h"
#include "tests/fuzz/memory_file.h"

namespace {

using namespace braintrace::data;

void read_row(std::string_view text) {
  std::string unquoted;
  size_t      separators = 0;
  find_outside_quotes(text, 0, ",", [&](char c) { return separators += c == ',', false; });
  try {
    if (csv_cells(text, ',', unquoted).size() != separators + 1) __builtin_trap();
  } catch (const braintrace::UserError&) {
  }
  std::string row = "1,\"";
  for (const char c : text) row += c == '"' ? std::string(2, c) : std::string(1, c);
  row += "\",2";
  const auto cells = csv_cells(row, ',', unquoted);
  if (cells.size() != 3 || cells[1] != text || cells[2] != "2") __builtin_trap();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  read_row({reinterpret_cast<const char*>(data), size});
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

// SPDX-License-Identifier: Apache-2.0
// Any text either fails with a UserError or gives a program that survives printing, equality and hashing.
#include "braintrace/base/error.h"
#include "braintrace/ir/program.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace braintrace;
  try {
    const Program p    = parse({reinterpret_cast<const char*>(data), size});
    const Program back = parse(print(p));
    if (!equal(p, back) || hash(p) != hash(back)) __builtin_trap();
  } catch (const UserError&) {
  }
  return 0;
}

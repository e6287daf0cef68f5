// SPDX-License-Identifier: Apache-2.0
// Any bytes either fail with a UserError or are a value that is the same when it is written and read again.
#include <nlohmann/json.hpp>

#include "braintrace/base/error.h"
#include "braintrace/base/json.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace braintrace;
  try {
    const auto a = read_ordered_json({reinterpret_cast<const char*>(data), size}, "fuzz");
    if (read_ordered_json(json_text(a), "again") != a) __builtin_trap();
  } catch (const UserError&) {
  }
  return 0;
}

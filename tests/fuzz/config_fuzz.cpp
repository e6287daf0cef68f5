// SPDX-License-Identifier: Apache-2.0
// Any bytes either fail with a UserError or are a configuration that is the same when written and read again.
#include "braintrace/train/config.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace braintrace;
  try {
    const train::Config a = train::read_config(std::string(reinterpret_cast<const char*>(data), size));
    const train::Config b = train::read_config(a.text);
    if (a.text != b.text || !difference(a, b).empty()) __builtin_trap();
  } catch (const UserError&) {
  }
  return 0;
}

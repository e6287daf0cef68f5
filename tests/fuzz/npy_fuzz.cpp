// SPDX-License-Identifier: Apache-2.0
// Any bytes either fail with a UserError or give an array that survives writing and reading again.
#include "braintrace/io/npy.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace braintrace;
  try {
    const Array a = decode_npy({reinterpret_cast<const std::byte*>(data), size}, "fuzz");
    if (!identical(a, decode_npy(encode_npy(a), "again"))) __builtin_trap();
  } catch (const UserError&) {
  }
  return 0;
}

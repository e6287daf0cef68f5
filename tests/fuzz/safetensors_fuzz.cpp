// SPDX-License-Identifier: Apache-2.0
// Any bytes either fail with a UserError or give arrays that survive writing and reading again.
#include "braintrace/io/safetensors.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace braintrace;
  try {
    const SafeTensors a = decode_safetensors({reinterpret_cast<const std::byte*>(data), size}, "fuzz");
    const SafeTensors b = decode_safetensors(encode_safetensors(a), "again");
    if (a.metadata != b.metadata || a.arrays.size() != b.arrays.size() || !b.checked) __builtin_trap();
    for (const auto& [name, array] : a.arrays)
      if (!identical(array, b.arrays.at(name))) __builtin_trap();
  } catch (const UserError&) {
  }
  return 0;
}

// SPDX-License-Identifier: Apache-2.0
// Any bytes either fail with a UserError or give arrays with all their elements.
#include "braintrace/io/msgpack.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace braintrace;
  try {
    for (const auto& [name, array] : decode_msgpack_arrays({reinterpret_cast<const std::byte*>(data), size}, "fuzz"))
      if (!identical(array, array.copy())) __builtin_trap();
  } catch (const UserError&) {
  }
  return 0;
}

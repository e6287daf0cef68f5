// SPDX-License-Identifier: Apache-2.0
// Any bytes either fail with a UserError or give arrays that survive writing and reading again.
#include "braintrace/io/npy.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace braintrace;
  try {
    const NamedArrays arrays = decode_npz({reinterpret_cast<const std::byte*>(data), size}, "fuzz");
    for (Compression method : {Compression::Stored, Compression::Deflated}) {
      const NamedArrays back = decode_npz(encode_npz(arrays, method), "again");
      if (arrays.size() != back.size()) __builtin_trap();
      for (const auto& [name, a] : arrays)
        if (!identical(a, back.at(name))) __builtin_trap();
    }
  } catch (const UserError&) {
  }
  return 0;
}

// SPDX-License-Identifier: Apache-2.0
// Checkpoints in msgpack, as written by braintools.file.msgpack_save and flax.serialization: nested maps with texts as
// keys and arrays as extension 1 (shape, element type, bytes in C order), large arrays in chunks.
#pragma once

#include "braintrace/io/npy.h"

namespace braintrace {

// Arrays by their path of keys, joined with dots. Numbers become arrays without axes; texts, bools and null are
// skipped. A quantity with a unit is its mantissa. Malformed content throws UserError; `where` names the source.
NamedArrays decode_msgpack_arrays(ByteSpan bytes, const std::string& where);

}  // namespace braintrace

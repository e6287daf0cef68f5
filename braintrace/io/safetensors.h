// SPDX-License-Identifier: Apache-2.0
// Safetensors files: named arrays and a few texts, in a format that many tools read.
//
//   u64 n, n bytes of JSON {"__metadata__": {…}, "name": {"dtype", "shape", "data_offsets"}, …}, then the elements
//
// Writing adds the metadata entry `crc32`: the checksum of the whole file with these eight digits set to zero. Reading
// checks it if it is present, and that the elements of all arrays fill the rest of the file without gap or overlap.
// Malformed files throw a UserError that says what is wrong; a file is either written whole or not at all.
#pragma once

#include "braintrace/io/npy.h"

namespace braintrace {

struct SafeTensors {
  NamedArrays                        arrays;
  std::map<std::string, std::string> metadata;         // without the checksum
  bool                               checked = false;  // the file has a checksum, and it is right
};

SafeTensors read_safetensors(const std::string& path);
void        write_safetensors(const std::string& path, const SafeTensors& content);

// The same from and to memory; `where` names the source in messages, arrays share the bytes of an owner.
SafeTensors decode_safetensors(ByteSpan bytes, const std::string& where,
                               const std::shared_ptr<const void>& owner = nullptr);
Bytes       encode_safetensors(const SafeTensors& content);

}  // namespace braintrace

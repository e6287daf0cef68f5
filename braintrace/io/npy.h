// SPDX-License-Identifier: Apache-2.0
// NumPy files: .npy holds one array, .npz (a zip archive of .npy members) holds named arrays.
//
// Reading supports format versions 1.0 to 3.0, either byte order, C or Fortran order, stored or deflated members;
// arrays share the memory of the file if alignment allows. Files are written in little-endian C order, version 1.0.
// Element types: f2 f4 f8 i4 i8 u4 b1, V2 for bf16 (as ml_dtypes stores it); i1 u1 i2 u2 are read as i32. Malformed
// files throw a UserError that says what is wrong; a file is either written whole or not at all. Zip64 archives
// (members or archives of 4 GiB and more) are an error.
#pragma once

#include <map>
#include <string>

#include "braintrace/base/array.h"
#include "braintrace/io/file.h"

namespace braintrace {

using NamedArrays = std::map<std::string, Array>;
enum class Compression : uint8_t { Stored, Deflated };

Array       read_npy(const std::string& path);
void        write_npy(const std::string& path, const Array& array);
NamedArrays read_npz(const std::string& path);
void        write_npz(const std::string& path, const NamedArrays& arrays, Compression method = Compression::Stored);

// The same from and to memory. With an owner, arrays may share the bytes and keep the owner alive; without, they are
// copies. `where` names the source in messages.
Array decode_npy(ByteSpan bytes, const std::string& where, const std::shared_ptr<const void>& owner = nullptr);
// Members that are one text (S…) are stored in `texts`; without it they are an error, like any unsupported element
// type.
using NamedTexts = std::map<std::string, std::string>;
NamedArrays decode_npz(ByteSpan bytes, const std::string& where, const std::shared_ptr<const void>& owner = nullptr,
                       NamedTexts* texts = nullptr);
Bytes       encode_npy(const Array& array);
Bytes       encode_npz(const NamedArrays& arrays, Compression method = Compression::Stored);

}  // namespace braintrace

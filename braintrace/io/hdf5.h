// SPDX-License-Identifier: Apache-2.0
// HDF5 files as trees of groups and data sets, in the formats that h5py and the HDF5 library write by default
// (superblock 0 to 3, groups by symbol table or with few links, contiguous, compact or chunked data, deflate, shuffle
// and Fletcher's checksum; numbers, flags and texts of fixed or variable length).
//
// This reader does not use the HDF5 library, which may crash on a damaged file and is not part of the Python package
// and the portable command. Every offset and size is checked against the file before it is used; malformed files throw
// a UserError that says what is wrong. Formats of newer settings (libver='latest') are an error. Attributes, references
// and links to other files are ignored.
#pragma once

#include <map>
#include <string>
#include <variant>
#include <vector>

#include "braintrace/base/array.h"
#include "braintrace/io/file.h"

namespace braintrace {

struct Hdf5Texts {
  Shape                    shape;  // empty: one text
  std::vector<std::string> values;
};
struct Hdf5Group;
using Hdf5Item = std::variant<Array, Hdf5Texts, std::shared_ptr<Hdf5Group>>;
struct Hdf5Group {
  std::map<std::string, Hdf5Item> members;
};

// Integers are read as i64, flags as bool.
Hdf5Group read_hdf5(const std::string& path);
// Data sets are contiguous; texts have variable length, as h5py writes them.
void write_hdf5(const std::string& path, const Hdf5Group& root);

// The same from and to memory; `where` names the source in messages.
Hdf5Group decode_hdf5(ByteSpan bytes, const std::string& where);
Bytes     encode_hdf5(const Hdf5Group& root);

}  // namespace braintrace

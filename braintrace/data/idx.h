// SPDX-License-Identifier: Apache-2.0
// IDX files of bytes, the format of MNIST, plain or gzipped.
//
//   0, 0, 8 (unsigned bytes), rank;  the sizes, u32 big-endian;  the elements, last index fastest
//
// A plain file is read item by item; a gzipped file is unpacked as a whole, at most to the size given in its header.
#pragma once

#include "braintrace/base/array.h"
#include "braintrace/data/source.h"

namespace braintrace::data {

class IdxFile {
 public:
  explicit IdxFile(const std::string& path);

  const std::string& path() const { return source_.path(); }
  const Shape&       shape() const { return shape_; }
  int64_t            size() const { return shape_[0]; }  // items
  Bytes              item(int64_t i) const;              // the elements at first index i

 private:
  Source source_;
  Bytes  unpacked_;  // of a gzipped file
  Shape  shape_;
};

// `name` or `name`.gz in the folder; throws UserError if there is neither.
IdxFile open_idx(const std::string& folder, const std::string& name);

}  // namespace braintrace::data

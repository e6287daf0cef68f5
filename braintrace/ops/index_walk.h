// SPDX-License-Identifier: Apache-2.0
// Iteration over the indices of a shape, and the two copies that implement most movement ops.
#pragma once

#include "braintrace/base/array.h"

namespace braintrace {

struct Rng;

// All indices of a shape in row-major order.
class IndexWalk {
 public:
  explicit IndexWalk(Shape shape) : shape_(std::move(shape)), index_(shape_.size(), 0), size_(size_of(shape_)) {}
  bool        done() const { return flat_ >= size_; }
  const Ints& index() const { return index_; }
  int64_t     flat() const { return flat_; }
  int64_t     dot(const Ints& strides) const {
        int64_t at = 0;
        for (size_t k = 0; k < index_.size(); ++k) at += index_[k] * strides[k];
    return at;
  }
  void next() {
    ++flat_;
    for (size_t k = shape_.size(); k-- > 0;) {
      if (++index_[k] < shape_[k]) return;
      index_[k] = 0;
    }
  }

 private:
  Shape   shape_;
  Ints    index_;
  int64_t size_, flat_ = 0;
};

// y[i] = x[base + Σ_k i_k strides_k]
Array read_strided(const Array& x, const Type& out, int64_t base, const Ints& strides);
// y[base + Σ_k i_k strides_k] = x[i]
void write_strided(Array& y, const Array& x, int64_t base, const Ints& strides);

// Normal floats, integers 0 … 4, random bools: operands of samples.
Array random_array(Rng& rng, Type type);

}  // namespace braintrace

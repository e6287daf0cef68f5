// SPDX-License-Identifier: Apache-2.0
// Walks all indices of a shape in row-major order.
#pragma once

#include "braintrace/base/array.h"

namespace braintrace {

struct Rng;

class IndexWalk {
 public:
  explicit IndexWalk(Shape shape) : shape_(std::move(shape)), index_(shape_.size(), 0), size_(size_of(shape_)) {}
  bool        done() const { return flat_ >= size_; }
  const Ints& index() const { return index_; }
  int64_t     flat() const { return flat_; }
  void        next() {
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

// Normal floats, integers 0 … 4, random bools: operands of samples.
Array random_array(Rng& rng, Type type);

}  // namespace braintrace

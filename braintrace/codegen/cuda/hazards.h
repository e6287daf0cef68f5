// SPDX-License-Identifier: Apache-2.0
// Detects data hazards (read-after-write, write-after-read, write-after-write) between kernels of a nested function.
// Kernels without one can run without a barrier between them.
//
//   a = f(x);  b = g(y);  c = h(a)   →   f, g, barrier, h
#pragma once

#include "braintrace/codegen/schedule.h"

namespace braintrace::codegen {

// Memory accessed by kernels since the last barrier.
class Hazards {
 public:
  explicit Hazards(const Function& f) : f_(f) {}

  // Whether a barrier is needed before the kernel.
  bool must_wait(const Kernel& k) const {
    return overlap(written(k), reads_) || overlap(written(k), writes_) || overlap(read(k), writes_);
  }
  void add(const Kernel& k) {
    for (const Range& r : read(k)) reads_.push_back(r);
    for (const Range& r : written(k)) writes_.push_back(r);
  }
  void clear() {
    reads_.clear();
    writes_.clear();
  }
  bool writes(Var v) const { return overlap(Ranges{range(v)}, writes_); }

 private:
  struct Range {
    Place   place;
    int64_t bytes;
  };
  using Ranges = std::vector<Range>;

  Range range(Var v) const {
    const Buffer& b = f_.buffers[static_cast<size_t>(v)];
    return {b.place, b.type.bytes()};
  }
  Ranges read(const Kernel& k) const {
    Ranges out;
    for (Var v : k.reads) out.push_back(range(v));
    return out;
  }
  Ranges written(const Kernel& k) const {
    Ranges out;
    for (Var v : k.writes) out.push_back(range(v));
    if (k.scratch > 0) out.push_back({{Place::Kind::Arena, k.place}, k.scratch});
    return out;
  }
  // A result may alias an argument.
  bool overlap(const Range& a, const Range& b) const {
    using Kind = Place::Kind;
    if (a.place.kind == Kind::Input && b.place.kind == Kind::Result) {
      const auto input = static_cast<size_t>(a.place.at);
      return input >= f_.first_arg && f_.may_share(static_cast<size_t>(b.place.at), input - f_.first_arg);
    }
    if (a.place.kind == Kind::Result && b.place.kind == Kind::Input) return overlap(b, a);
    if (a.place.kind != b.place.kind || a.place.kind == Kind::Constant) return false;
    if (a.place.kind != Kind::Arena) return a.place.at == b.place.at;
    return a.place.at < b.place.at + b.bytes && b.place.at < a.place.at + a.bytes;
  }
  bool overlap(const Ranges& a, const Ranges& b) const {
    for (const Range& x : a)
      for (const Range& y : b)
        if (overlap(x, y)) return true;
    return false;
  }

  const Function& f_;
  Ranges          reads_, writes_;
};

}  // namespace braintrace::codegen

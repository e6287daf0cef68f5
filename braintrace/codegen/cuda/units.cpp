// SPDX-License-Identifier: Apache-2.0
#include "braintrace/codegen/cuda/units.h"

#include <algorithm>

namespace braintrace::codegen {

namespace {

class Units {
 public:
  Units(const TimeLoop& loop, int64_t units) : l_(loop), f_(*loop.body), units_(units) {}

  bool are_apart() const {
    return f_.copies.empty() && places_are_apart() &&
           std::all_of(f_.kernels.begin(), f_.kernels.end(), [&](const Kernel& k) {
             if (const auto* n = std::get_if<LoopNest>(&k.what)) return is_apart(*n);
             const auto* c = std::get_if<Copies>(&k.what);
             return c && is_apart(*c);
           });
  }

 private:
  // Whether values that reuse the same scratch memory have the same layout: each unit at the same offset.
  bool places_are_apart() const {
    std::vector<const Buffer*> used;
    for (const Kernel& k : f_.kernels)
      for (Var v : k.writes)
        if (const Buffer& b = f_.buffers[static_cast<size_t>(v)]; b.place.kind == Place::Kind::Arena)
          used.push_back(&b);
    for (const Buffer* a : used)
      for (const Buffer* b : used) {
        const bool alike   = a->place.at == b->place.at && a->type.bytes() == b->type.bytes();
        const bool overlap = a->place.at < b->place.at + b->type.bytes() && b->place.at < a->place.at + a->type.bytes();
        if (overlap && !alike) return false;
      }
    return true;
  }

  int64_t size(Var v) const { return f_.buffers[static_cast<size_t>(v)].type.size(); }

  // Whether no step writes it, so that any block may read all of it.
  bool stays(Var v) const {
    const Place& place = f_.buffers[static_cast<size_t>(v)].place;
    if (place.kind == Place::Kind::Constant) return true;
    if (place.kind != Place::Kind::Input) return false;
    const auto arg = static_cast<size_t>(place.at);  // a step has no constants of its own
    return std::none_of(l_.carries.begin(), l_.carries.end(), [&](const auto& c) { return c.arg == arg; }) &&
           !is_overwritten(arg);
  }

  bool is_overwritten(size_t arg) const {
    for (size_t r = 0; r < f_.in_place.results.size(); ++r)
      if (f_.may_share(r, arg)) return true;
    return false;
  }

  // Whether loops over these sizes, the last fastest, access only the current unit's elements of a buffer. Units are
  // the outer loops combined, or parts of the only loop.
  bool is_own(const Shape& sizes, const Ints& strides, int64_t at, Var buffer) const {
    const int64_t all = size_of(sizes), of_unit = size(buffer) / units_;
    if (size(buffer) % units_) return false;
    if (sizes.size() == 1 && all > units_) return at == 0 && strides[0] == 1 && size(buffer) == all;
    size_t  outer = 0;
    int64_t count = 1;
    while (outer < sizes.size() && count < units_) count *= sizes[outer++];
    if (count != units_) return false;
    int64_t stride = of_unit, reach = at;
    for (size_t i = outer; i-- > 0; stride *= sizes[i])
      if (sizes[i] > 1 && strides[i] != stride) return false;
    for (size_t i = outer; i < sizes.size(); ++i) {
      if (strides[i] < 0) return false;
      reach += strides[i] * (sizes[i] - 1);
    }
    return at >= 0 && reach < of_unit;
  }
  bool is_own(const LoopNest& n, const Affine& at, Var buffer) const {
    Shape sizes;
    Ints  strides;
    for (size_t i = 0; i < n.loops.size(); ++i) {
      sizes.push_back(n.extent(i));
      strides.push_back(at.c[static_cast<size_t>(n.loops[i])]);
    }
    return size_of(sizes) % units_ == 0 && is_own(sizes, strides, at.k, buffer);
  }
  bool is_apart(const LoopNest& n) const {
    if (!n.reductions.empty() || n.loops.empty()) return false;
    for (const Store& s : n.stores)
      if (!is_own(n, s.at, s.buffer)) return false;
    for (const Element& e : n.elements) {
      if (e.kind == Element::Kind::Load && !stays(e.buffer) && !is_own(n, e.at, e.buffer)) return false;
      if (e.kind == Element::Kind::Gather && !stays(e.buffer)) return false;
    }
    return true;
  }
  bool is_apart(const Copies& c) const {
    return !c.fill && std::all_of(c.blocks.begin(), c.blocks.end(), [&](const BlockCopy& b) {
      return size_of(b.shape) % units_ == 0 && is_own(b.shape, b.to_strides, b.to_at, b.to) &&
             (stays(b.from) || is_own(b.shape, b.from_strides, b.from_at, b.from));
    });
  }

  const TimeLoop& l_;
  const Function& f_;
  int64_t         units_;
};

}  // namespace

int64_t units_of(const TimeLoop& loop) {
  int64_t least = 0;  // fewest elements that a kernel of the step writes
  for (const Kernel& k : loop.body->kernels)
    for (Var v : k.writes) {
      const int64_t size = loop.body->buffers[static_cast<size_t>(v)].type.size();
      least              = least ? std::min(least, size) : size;
    }
  return least > 0 && Units(loop, least).are_apart() ? least : 0;
}

}  // namespace braintrace::codegen

// SPDX-License-Identifier: Apache-2.0
// Plays the kernels of a function in their order and keeps track of the values that lie in memory.
#include <algorithm>

#include <fmt/format.h>

#include "braintrace/base/error.h"
#include "braintrace/base/lists.h"
#include "braintrace/codegen/memory.h"

namespace braintrace::codegen {

namespace {

class Verifier {
 public:
  explicit Verifier(const Function& f) : f_(f), is_held_(f.buffers.size()) {}

  void run() {
    for (Var v = 0; v < static_cast<Var>(f_.buffers.size()); ++v) {
      is_held_[v] = kind(v) == Place::Kind::Input || kind(v) == Place::Kind::Constant;
      check_inside(range_of(f_, v));
    }
    for (; at_ < f_.kernels.size(); ++at_) play(f_.kernels[at_]);
    for (const auto& [from, to] : f_.copies) check_held(from, fmt::format("the copy to result {}", to));
    for (Var v = 0; v < static_cast<Var>(f_.buffers.size()); ++v)
      if (kind(v) == Place::Kind::Result) check_held(v, "the caller");
  }

 private:
  Place::Kind kind(Var v) const { return f_.buffers[static_cast<size_t>(v)].place.kind; }

  void check_held(Var v, const std::string& reader) const {
    ensure(is_held_[v], "schedule: {} reads v{}, but nothing wrote it before, or something else overwrote it", reader,
           v);
  }
  void check_inside(const MemoryRange& r) const {
    ensure(r.place.kind != Place::Kind::Arena || (r.place.at >= 0 && r.place.at + r.bytes <= f_.arena_bytes),
           "schedule: {} bytes at {} lie outside the arena of {} bytes", r.bytes, r.place.at, f_.arena_bytes);
  }

  void play(const Kernel& k) {
    const std::string name = fmt::format("kernel [{}]", at_);
    for (Var v : k.reads) check_held(v, name);
    check_inside(scratch_of(k));
    for (const Contained& c : contained(k)) {
      ensure(c.function->arena_bytes <= k.scratch, "schedule: {} has too little working memory for its {}", name,
             c.role);
      Verifier(*c.function).run();
    }
    ensure(!overlap(f_, scratch_of(k), ranges_of(f_, joined(k.reads, k.writes))),
           "schedule: the working memory of {} holds a value that it reads or writes", name);
    for (Var v : k.writes)
      for (Var u : k.reads)
        ensure(!overlap(f_, range_of(f_, v), range_of(f_, u)) || may_overwrite(k, v, u),
               "schedule: {} writes v{} over v{}, which it still reads", name, v, u);
    check_region(k, name);
    for (const MemoryRange& r : written_by(f_, k)) forget(r);
    MemoryRanges written;
    for (Var v : k.writes) {
      ensure(!overlap(f_, range_of(f_, v), written), "schedule: {} writes v{} over another of its results", name, v);
      written.push_back(range_of(f_, v));
      is_held_[v] = true;
    }
  }
  // Other threads may still run the kernels before it of the same region.
  void check_region(const Kernel& k, const std::string& name) {
    if (!k.joins) region_ = {};
    for (Var v : k.writes)
      for (Var u : region_)
        ensure(!overlap(f_, range_of(f_, v), range_of(f_, u)) || (contains(k.reads, u) && may_overwrite(k, v, u)),
               "schedule: {} writes v{} over v{}, which another part of its region may use", name, v, u);
    region_ = joined(region_, joined(k.reads, k.writes));
  }
  // A loop nest reads an element before it writes the one in its place.
  bool may_overwrite(const Kernel& k, Var v, Var u) const {
    if (std::binary_search(k.in_place.begin(), k.in_place.end(), std::pair(v, u))) return true;
    const Buffer &to = f_.buffers[static_cast<size_t>(v)], &from = f_.buffers[static_cast<size_t>(u)];
    return std::holds_alternative<LoopNest>(k.what) && size_of(to.type.dtype) == size_of(from.type.dtype) &&
           (to.place.kind != Place::Kind::Arena || to.place.at == from.place.at);
  }
  void forget(const MemoryRange& r) {
    for (Var u = 0; u < static_cast<Var>(f_.buffers.size()); ++u)
      if (is_held_[u] && overlap(f_, r, range_of(f_, u))) is_held_[u] = false;
  }

  const Function& f_;
  Mask            is_held_;
  size_t          at_     = 0;
  Vars            region_ = {};  // values that the kernels before it of its region use
};

}  // namespace

void verify(const Schedule& schedule) {
  for (const FunctionPtr& f : schedule.entries) Verifier(*f).run();
}

}  // namespace braintrace::codegen

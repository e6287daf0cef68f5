// SPDX-License-Identifier: Apache-2.0
#include "braintrace/codegen/cuda/ownership.h"

#include <algorithm>

#include "braintrace/base/lists.h"
#include "braintrace/codegen/cuda/tiles.h"

namespace braintrace::codegen {

namespace {

// Memory of a value. Two values overlap if they have regions of the same kind and number with overlapping bytes.
struct Region {
  enum class Kind : uint8_t { Arena, Carry, Stack, Input };
  Kind    kind;
  int64_t number, step;        // step: of a stack or input; a carry alternates between two buffers
  int64_t begin = 0, end = 1;  // bytes

  bool overlaps(const Region& o) const {
    return kind == o.kind && number == o.number && step == o.step && begin < o.end && o.begin < end;
  }
};
using Regions = std::vector<Region>;

class Regioner {
 public:
  Regioner(const TimeLoop& loop, const std::vector<Home>& home) : l_(loop), home_(home) {}

  // Regions of buffer v in a step; empty for values private to a block.
  Regions of(Var v, int64_t step) const {
    const Buffer& b = l_.body->buffers[static_cast<size_t>(v)];
    const Home    h = home_[static_cast<size_t>(v)];
    if (h != Home::Memory && h != Home::Early && h != Home::Number) return {};
    if (b.place.kind == Place::Kind::Arena)
      return {{Region::Kind::Arena, 0, 0, b.place.at, b.place.at + b.type.bytes()}};
    if (b.place.kind == Place::Kind::Input) return of_arg(static_cast<size_t>(b.place.at), step);
    if (b.place.kind == Place::Kind::Result) return of_result(static_cast<size_t>(b.place.at), step);
    return {};
  }
  Regions of_result(size_t r, int64_t step) const {
    Regions out;
    for (size_t c = 0; c < l_.carries.size(); ++c)
      if (l_.carries[c].result == r && !l_.carries[c].is_stacked)
        out.push_back({Region::Kind::Carry, static_cast<int64_t>(c), (step + 1) % 2});
    if (out.empty()) out.push_back({Region::Kind::Stack, static_cast<int64_t>(r), step});
    for (size_t arg = 0; arg < l_.body->in_place.args.size(); ++arg)
      if (l_.body->may_share(r, arg)) out.push_back({Region::Kind::Input, static_cast<int64_t>(arg), step});
    return out;
  }

 private:
  Regions of_arg(size_t a, int64_t step) const {
    for (size_t c = 0; c < l_.carries.size(); ++c) {
      const auto& x = l_.carries[c];
      if (x.arg != a) continue;
      if (!x.is_stacked) return {{Region::Kind::Carry, static_cast<int64_t>(c), step % 2}};
      return {{Region::Kind::Stack, static_cast<int64_t>(x.result), step - 1}};
    }
    return {{Region::Kind::Input, static_cast<int64_t>(a), step}};
  }

  const TimeLoop&          l_;
  const std::vector<Home>& home_;
};

// Accesses since the last barrier.
class Since {
 public:
  // Whether a barrier is needed before an act.
  bool waits(const Act& a, const Regioner& where, int64_t step) const {
    const auto touches = [&](const Regions& regions, const std::vector<Touched>& list, bool same_split_is_fine) {
      return std::any_of(list.begin(), list.end(), [&](const Touched& t) {
        return !(same_split_is_fine && t.split == a.split) &&
               std::any_of(regions.begin(), regions.end(), [&](const Region& r) { return r.overlaps(t.region); });
      });
    };
    for (Var v : a.far_reads)
      if (touches(where.of(v, step), writes_, false)) return true;
    for (Var v : a.own_reads)
      if (touches(where.of(v, step), writes_, true)) return true;
    for (const Regions& r : written(a, where, step))
      if (touches(r, writes_, true) || touches(r, own_reads_, true) || touches(r, far_reads_, false)) return true;
    return false;
  }
  void add(const Act& a, const Regioner& where, int64_t step) {
    for (Var v : a.far_reads) note(far_reads_, where.of(v, step), a.split);
    for (Var v : a.own_reads) note(own_reads_, where.of(v, step), a.split);
    for (const Regions& r : written(a, where, step)) note(writes_, r, a.split);
  }
  void met() { *this = {}; }

 private:
  struct Touched {
    Region region;
    Split  split;
  };
  static std::vector<Regions> written(const Act& a, const Regioner& where, int64_t step) {
    if (a.from >= 0) return {where.of_result(a.result, step)};
    std::vector<Regions> out;
    for (Var v : a.writes) out.push_back(where.of(v, step));
    return out;
  }
  static void note(std::vector<Touched>& list, const Regions& regions, const Split& split) {
    for (const Region& r : regions) list.push_back({r, split});
  }

  std::vector<Touched> own_reads_, far_reads_, writes_;
};

// Inserts barriers. Four steps cover every alternation of buffers; a barrier needed in any of them is emitted in all.
void place_barriers(Ownership& o, const TimeLoop& loop) {
  const Regioner where(loop, o.home);
  for (bool again = true; again;) {
    again = false;
    Since since;
    for (int64_t step = 0; step < 4; ++step)
      for (Act& a : o.acts) {
        if (a.meets || since.waits(a, where, step)) {
          again   = again || !a.meets;
          a.meets = true;
          since.met();
        }
        since.add(a, where, step);
      }
  }
}

class Owner {
 public:
  Owner(const TimeLoop& loop, int64_t blocks, const Target::Blocks& of) : l_(loop), f_(*loop.body), of_(of) {
    o_.blocks = blocks;
  }

  std::optional<Ownership> run() {
    if (l_.length == 0 || f_.may_stop) return {};
    for (const Kernel& k : f_.kernels)
      if (const auto* p = std::get_if<Product>(&k.what); p && p->matrix) {
        o_.rows       = p->matrix->m;
        has_products_ = true;
      }
    for (const Kernel& k : f_.kernels)
      if (!add(k)) return {};
    for (const auto& [from, result] : f_.copies) {
      Act a{.from = from, .result = result, .split = split_of(f_.buffers[static_cast<size_t>(from)].type.size())};
      a.own_reads = {from};
      o_.acts.push_back(a);
    }
    find_homes();
    place_barriers(o_, l_);
    return o_;
  }

 private:
  Split split_of(int64_t size) const {
    const int64_t rows = size % o_.rows == 0 ? o_.rows : 1, columns = size / rows,
                  unit = has_products_ ? warp_columns : of_.run;
    return {rows, columns, parts_in(parts_in(columns, o_.blocks), unit) * unit};
  }
  bool add(const Kernel& k) {
    if (const auto* p = std::get_if<Product>(&k.what)) return add(*p);
    if (const auto* n = std::get_if<LoopNest>(&k.what)) return add(*n);
    return false;
  }
  bool add(const Product& p) {
    const Buffer& weights = f_.buffers[static_cast<size_t>(p.rhs.buffer)];
    const bool    stay    = weights.place.kind == Place::Kind::Constant ||
                      (weights.place.kind == Place::Kind::Input &&
                       std::any_of(l_.consts.begin(), l_.consts.end(), [&](const TimeLoop::Given& g) {
                         return static_cast<int64_t>(g.arg) == weights.place.at && g.part == 0;
                       }));
    if (!stay || !p.matrix || !p.batch.empty() || p.dtype != DType::F32 || p.matrix->m != o_.rows ||
        p.matrix->lhs_k != 1)
      return false;
    Act a{.product = &p, .split = split_of(p.matrix->m * p.matrix->n)};
    a.far_reads = {p.lhs.buffer};
    a.writes    = {p.out};
    o_.acts.push_back(a);
    return true;
  }
  bool add(const LoopNest& n) {
    if (!n.reductions.empty()) return false;
    int64_t size = 1;
    for (size_t i = 0; i < n.loops.size(); ++i) size *= n.extent(i);
    Act          a{.nest = &n, .split = split_of(size)};
    const Affine own = own_position(n);
    for (const Element& e : n.elements) {
      if (e.kind == Element::Kind::Load) (e.at == own ? a.own_reads : a.far_reads).push_back(e.buffer);
      if (e.kind == Element::Kind::Gather) a.far_reads.push_back(e.buffer);
    }
    for (const Store& s : n.stores) {
      if (!(s.at == own)) return false;
      a.writes.push_back(s.buffer);
    }
    o_.acts.push_back(a);
    return true;
  }
  // Buffers that all kernels access only at their own positions under one split can stay out of memory.
  void find_homes() {
    const size_t n = f_.buffers.size();
    o_.home.assign(n, Home::Memory);
    o_.split.assign(n, Split{});
    std::vector<bool> is_own(n, true), is_seen(n, false);
    for (const Act& a : o_.acts) {
      for (Var v : a.far_reads) is_own[static_cast<size_t>(v)] = false;
      for (Var v : joined(a.own_reads, a.writes)) {
        const auto i = static_cast<size_t>(v);
        if (is_seen[i] && !(o_.split[i] == a.split)) is_own[i] = false;
        is_seen[i]  = true;
        o_.split[i] = a.split;
      }
    }
    const auto fits = [&](size_t v) {
      const int64_t more = turns(o_.split[v], of_.threads) * (f_.buffers[v].type.dtype == DType::F32 ? 1 : 2);
      if (!is_own[v] || !is_seen[v] || registers_ + more > of_.values) return false;
      registers_ += more;
      return true;
    };
    for (size_t v = 0; v < n; ++v)
      if (is_own[v] && is_seen[v] && f_.buffers[v].place.kind == Place::Kind::Arena &&
          f_.buffers[v].type.dtype == DType::F32)
        o_.home[v] = fits(v) ? Home::Local : Home::Shared;
    for (const TimeLoop::Carry& c : l_.carries) {
      const auto before = buffer_at(Place::Kind::Input, c.arg), after = buffer_at(Place::Kind::Result, c.result);
      if (c.is_stacked || !before || !after || !is_own[*after] || !is_written_by_nest(*after) ||
          !(o_.split[*before] == o_.split[*after]) || !fits(*before) || !fits(*after))
        continue;
      o_.home[*before] = Home::Carried;
      o_.home[*after]  = Home::Next;
    }
    for (const TimeLoop::Stacked& x : l_.inputs) {
      const auto v = buffer_at(Place::Kind::Input, x.arg);
      if (v && fits(*v)) o_.home[*v] = Home::Early;
      if (v && !is_own[*v] && f_.buffers[*v].type.size() == 1 && is_read_by_nests_alone(*v)) o_.home[*v] = Home::Number;
    }
  }
  // The unique buffer at this place.
  std::optional<size_t> buffer_at(Place::Kind kind, size_t at) const {
    std::optional<size_t> out;
    for (size_t v = 0; v < f_.buffers.size(); ++v) {
      const Place& p = f_.buffers[v].place;
      if (p.kind != kind || p.at != static_cast<int64_t>(at)) continue;
      if (out) return {};
      out = v;
    }
    return out;
  }
  bool is_read_by_nests_alone(size_t v) const {
    const auto reads = [&](const Vars& vars) {
      return std::find(vars.begin(), vars.end(), static_cast<Var>(v)) != vars.end();
    };
    return std::none_of(o_.acts.begin(), o_.acts.end(), [&](const Act& a) {
      return (!a.nest && (reads(a.own_reads) || reads(a.far_reads))) ||
             (a.nest && gathers(*a.nest, static_cast<Var>(v)));
    });
  }
  static bool gathers(const LoopNest& n, Var v) {
    return std::any_of(n.elements.begin(), n.elements.end(),
                       [&](const Element& e) { return e.kind == Element::Kind::Gather && e.buffer == v; });
  }
  bool is_written_by_nest(size_t v) const {
    return std::any_of(o_.acts.begin(), o_.acts.end(), [&](const Act& a) {
      return a.nest && std::find(a.writes.begin(), a.writes.end(), static_cast<Var>(v)) != a.writes.end();
    });
  }

  const TimeLoop&       l_;
  const Function&       f_;
  const Target::Blocks& of_;
  Ownership             o_;
  int64_t               registers_    = 0;  // registers per thread that hold values
  bool                  has_products_ = false;
};

}  // namespace

Affine own_position(const LoopNest& n) {
  Affine  at{Ints(n.extents.size()), 0};
  int64_t stride = 1;
  for (size_t i = n.loops.size(); i-- > 0; stride *= n.extent(i)) at.c[static_cast<size_t>(n.loops[i])] = stride;
  return at;
}

int64_t turns(const Split& s, int64_t threads) { return parts_in(s.rows * s.own, threads); }

std::optional<Ownership> ownership(const TimeLoop& loop, int64_t blocks, const Target::Blocks& of) {
  return Owner(loop, blocks, of).run();
}

}  // namespace braintrace::codegen

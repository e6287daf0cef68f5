// SPDX-License-Identifier: Apache-2.0
#include "braintrace/codegen/plan.h"

#include <algorithm>
#include <map>

#include "braintrace/base/lists.h"
#include "braintrace/codegen/regions.h"

namespace braintrace::codegen {

namespace {

// Allocated blocks by offset. A new block goes into the lowest gap that fits or, if `keeps_places`, into one freed by a
// block of the same size.
class Arena {
 public:
  explicit Arena(bool keeps_places) : keeps_places_(keeps_places) {}

  int64_t take(int64_t bytes) {
    if (keeps_places_) {
      std::vector<int64_t>& left = left_[bytes];
      const int64_t         at   = left.empty() ? top_ : left.back();
      if (left.empty())
        top_ += bytes;
      else
        left.pop_back();
      used_[at] = bytes;
      return at;
    }
    int64_t at = 0;
    for (const auto& [begin, size] : used_) {
      if (begin - at >= bytes) break;
      at = begin + size;
    }
    used_[at] = bytes;
    top_      = std::max(top_, at + bytes);
    return at;
  }
  void give_back(int64_t at) {
    const auto block = used_.find(at);
    if (block == used_.end()) return;
    if (keeps_places_) left_[block->second].push_back(at);
    used_.erase(block);
  }
  int64_t top() const { return top_; }

 private:
  bool                                    keeps_places_;
  std::map<int64_t, int64_t>              used_;
  std::map<int64_t, std::vector<int64_t>> left_;  // offsets by size
  int64_t                                 top_ = 0;
};

class Planner {
 public:
  Planner(Function& f, const Program& p, const Fused& fused, const Options& o)
      : f_(f),
        p_(p),
        stages_(fused.stages),
        target_(o.target),
        reuses_(o.runs("reuse")),
        arena_(o.target.places_by_size && o.depth > 0) {}

  void run(const Vars& memory, const std::vector<std::pair<Var, int64_t>>& constants) {
    for (const Type& t : p_.types) f_.buffers.push_back({.type = t, .place = {}, .device = target_.device});
    f_.first_arg   = p_.constants.size();
    int64_t number = 0;
    for (const Vars* inputs : {&p_.constants, &p_.args})
      for (Var v : *inputs) place(v) = {Place::Kind::Input, number++};
    for (const auto& [v, constant] : constants) place(v) = {Place::Kind::Constant, constant};
    for (size_t k = 0; k < p_.results.size(); ++k) {
      const Var home = memory[p_.results[k]];
      if (place(home).kind == Place::Kind::None)
        place(home) = {Place::Kind::Result, static_cast<int64_t>(k)};
      else
        f_.copies.emplace_back(home, k);
    }
    find_lifetimes();
    for (size_t s = 0; s < stages_.size(); ++s) place_results(s);
    f_.arena_bytes = arena_.top();
    find_in_place();
  }

 private:
  Place&  place(Var v) { return f_.buffers[v].place; }
  bool    in_arena(Var v) { return place(v).kind == Place::Kind::Arena; }
  int64_t rounded_up(int64_t bytes) const {
    return (bytes + target_.alignment - 1) / target_.alignment * target_.alignment;
  }
  int64_t room_for(Var v) const { return std::max(rounded_up(p_.type(v).bytes()), target_.alignment); }

  void find_lifetimes() {
    for (size_t s = 0; s < stages_.size(); ++s) {
      for (Var v : stages_[s].writes) f_.buffers[v].first = static_cast<int32_t>(s);
      for (Var v : stages_[s].reads) f_.buffers[v].last = static_cast<int32_t>(region_end(f_.kernels, s));
    }
  }

  // Whether the stage computes v in one loop over all its elements.
  bool is_elementwise(const Stage& s, Var v) const { return s.loop && p_.type(v).size() == size_of(s.space); }

  void place_results(size_t s) {
    const Stage& stage = stages_[s];
    Vars         ends  = ending(s);
    for (Var v : stage.writes) {
      if (place(v).kind != Place::Kind::None) continue;
      const auto heir = std::find_if(ends.begin(), ends.end(), [&](Var r) { return may_replace(s, v, r); });
      if (heir != ends.end()) {
        place(v) = place(*heir);
        inherited_.push_back(*heir);
        ends.erase(heir);
      } else {
        place(v) = {Place::Kind::Arena, arena_.take(room_for(v))};
      }
    }
    Kernel& k = f_.kernels[s];
    k.place   = arena_.take(rounded_up(std::max<int64_t>(k.scratch, 1)));
    arena_.give_back(k.place);
    if (region_end(f_.kernels, s) == s) free_region(s);
  }
  // Values in the arena that the stage reads and that nothing reads after its region.
  Vars ending(size_t s) {
    Vars       out;
    const auto end = static_cast<int32_t>(region_end(f_.kernels, s));
    for (Var v : stages_[s].reads)
      if (reuses_ && in_arena(v) && f_.buffers[v].last == end) out.push_back(v);
    return out;
  }
  // Kernels of a region run at the same time, so what they read keeps its memory until the last of them.
  void free_region(size_t last) {
    for (size_t s = region_begin(last); s <= last; ++s)
      for (Var v : ending(s))
        if (!contains(inherited_, v)) arena_.give_back(place(v).at);
    for (size_t s = region_begin(last); s <= last; ++s)
      for (Var v : stages_[s].writes)
        if (reuses_ && in_arena(v) && f_.buffers[v].last < 0) arena_.give_back(place(v).at);
    inherited_.clear();
  }
  size_t region_begin(size_t s) const {
    while (f_.kernels[s].joins) --s;
    return s;
  }
  // Whether the stage reads v and other kernels of its region do not.
  bool is_only_reader(size_t s, Var v) const {
    for (size_t k = region_begin(s); k <= region_end(f_.kernels, s); ++k)
      if (contains(stages_[k].reads, v) != (k == s)) return false;
    return true;
  }
  bool is_named(size_t s, Var v, Var r) const {
    const auto& allowed = f_.kernels[s].in_place;
    return std::binary_search(allowed.begin(), allowed.end(), std::pair(v, r));
  }
  // Whether v can alias an operand r that dies here and is read only at the same position.
  bool may_replace(size_t s, Var v, Var r) const {
    if (is_named(s, v, r)) return true;
    return is_elementwise(stages_[s], v) && is_only_reader(s, r) && room_for(r) == room_for(v) &&
           size_of(p_.type(r).dtype) == size_of(p_.type(v).dtype) && !contains(stages_[s].scattered, r);
  }

  // Finds results of the function that can overwrite an argument: nothing reads it later or at another position.
  void find_in_place() {
    InPlaceResults& out = f_.in_place;
    out.results.resize(p_.results.size());
    std::vector<int64_t> number(p_.types.size(), -1);  // among the arguments
    for (size_t a = 0; a < p_.args.size(); ++a) {
      const Var   u    = p_.args[a];
      const auto  last = f_.buffers[u].last;
      const Type& t    = p_.type(u);
      number[u]        = static_cast<int64_t>(a);
      out.args.push_back(
          {.last         = last,
           .is_scattered = last >= 0 && (contains(stages_[last].scattered, u) || !is_only_reader(last, u)),
           .dtype        = t.dtype,
           .size         = t.size()});
    }
    for (const auto& [from, to] : f_.copies)
      if (number[from] >= 0) out.args[number[from]].is_result = true;
    for (size_t s = 0; s < stages_.size(); ++s) {
      for (Var v : stages_[s].writes)
        if (place(v).kind == Place::Kind::Result)
          out.results[place(v).at] = {static_cast<int32_t>(s), is_elementwise(stages_[s], v), p_.type(v).dtype,
                                      p_.type(v).size()};
      for (const auto& [v, u] : f_.kernels[s].in_place)
        if (place(v).kind == Place::Kind::Result && number[u] >= 0)
          out.named.emplace_back(static_cast<size_t>(place(v).at), static_cast<size_t>(number[u]));
    }
    std::sort(out.named.begin(), out.named.end());
  }

  Function&                 f_;
  const Program&            p_;
  const std::vector<Stage>& stages_;
  const Target&             target_;
  bool                      reuses_;
  Arena                     arena_;
  Vars                      inherited_;  // values of the region at hand whose memory others have taken
};

}  // namespace

void place_buffers(Function& function, const Program& program, const Fused& fused,
                   const std::vector<std::pair<Var, int64_t>>& constants, const Options& options) {
  Planner(function, program, fused, options).run(fused.memory, constants);
}

}  // namespace braintrace::codegen

// SPDX-License-Identifier: Apache-2.0
#include "braintrace/codegen/plan.h"

#include <algorithm>
#include <map>

namespace braintrace::codegen {

namespace {

// Blocks in use, by offset; new blocks go to the lowest gap that holds them.
class Arena {
 public:
  int64_t take(int64_t bytes) {
    int64_t at = 0;
    for (const auto& [begin, size] : used_) {
      if (begin - at >= bytes) break;
      at = begin + size;
    }
    used_[at] = bytes;
    top_      = std::max(top_, at + bytes);
    return at;
  }
  void    give_back(int64_t at) { used_.erase(at); }
  int64_t top() const { return top_; }

 private:
  std::map<int64_t, int64_t> used_;
  int64_t                    top_ = 0;
};

std::vector<InPlace> in_place_results(const Program& p, const Fused& f, const Plan& plan,
                                      const std::vector<int64_t>& last) {
  std::vector<InPlace> out;
  for (size_t s = 0; s < f.stages.size(); ++s) {
    const Stage& stage = f.stages[s];
    for (Var v : stage.writes) {
      if (plan.places[v].kind != Place::Kind::Result) continue;
      const bool elementwise = stage.loop && p.type(v).size() == size_of(stage.space);
      for (size_t a = 0; a < p.args.size(); ++a) {
        const Var  u       = p.args[a];
        const bool here    = last[u] == static_cast<int64_t>(s);
        const bool aligned = std::find(stage.scattered.begin(), stage.scattered.end(), u) == stage.scattered.end();
        const bool copied =
            std::any_of(plan.copies.begin(), plan.copies.end(), [&](const auto& c) { return c.first == u; });
        const bool fits = p.type(u).dtype == p.type(v).dtype && p.type(u).size() == p.type(v).size();
        if (fits && !copied && (last[u] < static_cast<int64_t>(s) || (here && elementwise && aligned)))
          out.push_back({static_cast<size_t>(plan.places[v].at), a});
      }
    }
  }
  return out;
}

}  // namespace

Plan planned(const Program& p, const Fused& f, const std::vector<Needs>& needs,
             const std::vector<std::pair<Var, int64_t>>& constants, int64_t alignment) {
  const auto rounded_up = [&](int64_t bytes) { return (bytes + alignment - 1) / alignment * alignment; };
  const auto room_for   = [&](const Type& t) { return std::max(rounded_up(t.bytes()), alignment); };
  Plan       plan;
  plan.places.resize(p.types.size());
  int64_t number = 0;
  for (const Vars* inputs : {&p.constants, &p.args})
    for (Var v : *inputs) plan.places[v] = {Place::Kind::Input, number++};
  for (const auto& [v, constant] : constants) plan.places[v] = {Place::Kind::Constant, constant};
  for (size_t k = 0; k < p.results.size(); ++k) {
    const Var home = f.memory[p.results[k]];
    if (plan.places[home].kind == Place::Kind::None)
      plan.places[home] = {Place::Kind::Result, static_cast<int64_t>(k)};
    else
      plan.copies.emplace_back(home, k);
  }

  std::vector<int64_t> last(p.types.size(), -1);  // stage that reads the value last
  for (size_t s = 0; s < f.stages.size(); ++s)
    for (Var v : f.stages[s].reads) last[v] = static_cast<int64_t>(s);

  Arena arena;
  auto  in_arena = [&](Var v) { return plan.places[v].kind == Place::Kind::Arena; };
  for (size_t s = 0; s < f.stages.size(); ++s) {
    const Stage& stage = f.stages[s];
    Vars         ends;
    for (Var v : stage.reads)
      if (in_arena(v) && last[v] == static_cast<int64_t>(s)) ends.push_back(v);
    for (Var v : stage.writes) {
      if (plan.places[v].kind != Place::Kind::None) continue;
      // Its place may be that of an operand which the loop reads at the same position only.
      const bool  elementwise = stage.loop && p.type(v).size() == size_of(stage.space);
      const auto& allowed     = needs[s].in_place;
      const auto  heir        = std::find_if(ends.begin(), ends.end(), [&](Var r) {
        if (std::find(allowed.begin(), allowed.end(), std::pair(v, r)) != allowed.end()) return true;
        return elementwise && room_for(p.type(r)) == room_for(p.type(v)) &&
               size_of(p.type(r).dtype) == size_of(p.type(v).dtype) &&
               std::find(stage.scattered.begin(), stage.scattered.end(), r) == stage.scattered.end();
      });
      if (heir != ends.end()) {
        plan.places[v] = plan.places[*heir];
        ends.erase(heir);
      } else {
        plan.places[v] = {Place::Kind::Arena, arena.take(room_for(p.type(v)))};
      }
    }
    plan.scratch.push_back(arena.take(rounded_up(std::max<int64_t>(needs[s].scratch, 1))));
    arena.give_back(plan.scratch.back());
    for (Var v : ends) arena.give_back(plan.places[v].at);
    for (Var v : stage.writes)
      if (in_arena(v) && last[v] < 0) arena.give_back(plan.places[v].at);
  }
  plan.arena_bytes = arena.top();
  plan.in_place    = in_place_results(p, f, plan, last);
  return plan;
}

}  // namespace braintrace::codegen

// SPDX-License-Identifier: Apache-2.0
#include "braintrace/codegen/fuse.h"

#include <algorithm>
#include <map>
#include <queue>
#include <tuple>

#include "braintrace/codegen/elementwise.h"
#include "braintrace/codegen/known_indices.h"
#include "braintrace/codegen/lower.h"
#include "braintrace/codegen/view.h"
#include "braintrace/control/scan_parts.h"
#include "braintrace/ir/op.h"
#include "braintrace/ops/constant.h"
#include "braintrace/ops/contract.h"
#include "braintrace/ops/index.h"
#include "braintrace/ops/keys.h"
#include "braintrace/ops/move.h"

namespace braintrace::codegen {

namespace {

enum class Kind : uint8_t {
  Elementwise,  // one result element from one element of each operand
  Reduction,    // a sum, maximum, … over axes
  View,         // rearranges elements of one operand: read in place, never materialized
  Source,       // no operands: full, iota
  Constant,     // an array stored in the program
  Joined,       // a concatenation that only time loops read, row by row, so it is never materialized
  Other         // needs its own kernel
};

Kind kind_of(const Eqn& e) {
  if (has_expression(*e.op)) return Kind::Elementwise;
  if (is_reduction(e)) return Kind::Reduction;
  if (is_view(*e.op)) return Kind::View;
  if (e.op == &full_op || e.op == &iota_op) return Kind::Source;
  return e.op == &constant_op ? Kind::Constant : Kind::Other;
}

// Maps axes of `shape` to axes of squeezed(shape).
Ints squeezed_axes(const Shape& shape, const Ints& axes) {
  const Ints kept = long_axes(shape);
  Ints       out;
  for (size_t i = 0; i < kept.size(); ++i)
    if (contains(axes, kept[i])) out.push_back(static_cast<int64_t>(i));
  return out;
}

// A set of small integers that grows on demand.
class Numbers {
 public:
  bool has(int32_t i) const {
    const auto w = static_cast<size_t>(i) / 64;
    return w < words_.size() && (words_[w] >> (i % 64) & 1);
  }
  void add(int32_t i) {
    const auto w = static_cast<size_t>(i) / 64;
    if (w >= words_.size()) words_.resize(w + 1, 0);
    words_[w] |= uint64_t{1} << (i % 64);
  }
  void add(const Numbers& other) {
    if (other.words_.size() > words_.size()) words_.resize(other.words_.size(), 0);
    for (size_t w = 0; w < other.words_.size(); ++w) words_[w] |= other.words_[w];
  }

 private:
  std::vector<uint64_t> words_;
};

class Fuser {
 public:
  Fuser(const Program& p, const Options& o)
      : p_(p),
        joins_(o.runs("fuse")),
        longest_(static_cast<size_t>(o.target.longest_nest)),
        longest_chain_(static_cast<size_t>(o.target.longest_chain)),
        in_turn_(o.target.in_turn),
        producer_(producers(p)),
        stage_of_(p.eqns.size(), -1),
        memory_(p.types.size(), -1) {
    for (const Eqn& e : p.eqns) kinds_.push_back(is_gather(e) ? Kind::View : kind_of(e));
    find_joined();
  }

  Fused run() {
    for (size_t i = 0; i < p_.eqns.size(); ++i) place(static_cast<int32_t>(i));
    if (joins_) join_last();
    for (const Vars* inputs : {&p_.constants, &p_.args})
      for (Var v : *inputs) memory_[v] = v;
    for (size_t i = 0; i < p_.eqns.size(); ++i)
      if (kinds_[i] == Kind::Constant) memory_[p_.eqns[i].out[0]] = p_.eqns[i].out[0];
    for (size_t s = 0; s < stages_.size(); ++s) find_reads(static_cast<int32_t>(s));
    for (Var v : p_.results) demand(v);
    for (size_t s = 0; s < stages_.size(); ++s)
      for (int32_t i : stages_[s].eqns)
        for (Var v : p_.eqns[i].out)
          if (memory_[v] == v) stages_[s].writes.push_back(v);
    return {ordered(), memory_, producer_};
  }

 private:
  // A gather at indices known at compile time that are not affine in the loop counters.
  bool is_gather(const Eqn& e) const {
    if (e.op != &take_op || e.attrs[keys::batch] != 0) return false;
    const bool is_source = producer_[e.in[0]] >= 0 && kinds_[producer_[e.in[0]]] == Kind::Source;
    return !is_source && is_known_below(p_, e.in[1], p_.type(e.in[0]).shape[e.attrs[keys::axis]]);
  }

  // Time loops can read the rows of a step from any buffer: a concatenation that only they use is not materialized.
  void find_joined() {
    std::vector<bool> elsewhere(p_.types.size());
    for (Var v : p_.results) elsewhere[v] = true;
    for (const Eqn& e : p_.eqns)
      for (size_t i = 0; i < e.in.size(); ++i)
        if (!is_stacked_input(e, i)) elsewhere[e.in[i]] = true;
    for (size_t i = 0; i < p_.eqns.size(); ++i) {
      const Eqn& e = p_.eqns[i];
      if (e.op == &concat_op && !elsewhere[e.out[0]] && !dense_pieces(p_, producer_, e.out[0]).empty())
        kinds_[i] = Kind::Joined;
    }
  }
  static bool is_stacked_input(const Eqn& e, size_t i) {
    if (e.op != &scan_op) return false;
    const ScanParts scan(e.attrs);
    return i >= scan.consts + scan.carry;
  }
  // The operands of an equation; a joined operand is replaced by its pieces.
  Vars operands(const Eqn& e) const {
    Vars out;
    for (Var v : e.in)
      if (producer_[v] >= 0 && kinds_[producer_[v]] == Kind::Joined)
        for (const Piece& piece : dense_pieces(p_, producer_, v)) out.push_back(piece.base);
      else
        out.push_back(v);
    return out;
  }

  // The value behind affine views. `same_positions`: it is read element by element. `same_rows`: the same along all
  // axes but the last, and at a fixed index along the last, as each new trace of a neuron reads the traces of all its
  // states. For a gather, the base is the gathered value.
  struct Source {
    Var     base;
    bool    same_positions, same_rows;
    int32_t gather = -1;  // its equation
  };
  Source behind(Var v) const {
    const Shape shape = p_.type(v).shape;
    Index       index = natural_index(shape);
    const auto  n     = squeezed(shape).size();
    v                 = behind_views(p_, producer_, v, index, n);
    if (const int32_t made = producer_[v]; made >= 0 && kinds_[made] == Kind::View) {
      if (p_.eqns[made].op == &take_op) return {p_.eqns[made].in[0], false, false, made};
      return {v, false, false};
    }
    const Shape& base    = p_.type(v).shape;
    const Index  natural = natural_index(base);
    if (size_of(base) == size_of(shape) && offset(index, base, n) == offset(natural_index(shape), shape, n))
      return {v, true, false};
    if (squeezed(base) != squeezed(shape)) return {v, false, false};
    const auto last = static_cast<size_t>(long_axes(base).back());
    const bool one  = index[last].is_constant();
    index[last]     = natural[last];
    return {v, false, one && index == natural};
  }
  // The stage that computes the base, or -1 for inputs and sources. Non-affine views belong to the stage of their
  // operand.
  int32_t maker(Var base) const {
    while (producer_[base] >= 0 && kinds_[producer_[base]] == Kind::View) base = p_.eqns[producer_[base]].in[0];
    return producer_[base] < 0 ? -1 : stage_of_[producer_[base]];
  }

  // Whether a value is read from memory. Sharing a generated value, such as a constant, does not justify fusion.
  bool is_array(Var base) const { return producer_[base] < 0 || kinds_[producer_[base]] != Kind::Source; }

  int32_t new_stage(const Shape& space, const Reduced& reduced, bool loop) {
    stages_.push_back({.loop = loop, .space = space, .reduced = reduced});
    before_.emplace_back();
    has_reduction_.push_back(false);
    merged_.push_back(static_cast<int32_t>(stages_.size()) - 1);
    return merged_.back();
  }

  Reduced reduced_by(const Eqn& e) const {
    return {squeezed_axes(p_.type(e.in[0]).shape, e.attrs[keys::axes]), e.op == &part_sums_op ? e.attrs[parts] : 0};
  }

  void place(int32_t i) {
    const Eqn& e    = p_.eqns[i];
    const bool loop = kinds_[i] == Kind::Elementwise || kinds_[i] == Kind::Reduction;
    if (!loop && kinds_[i] != Kind::Other) return;
    const Shape         shape   = loop ? p_.type(e.in[0]).shape : Shape{};
    const Shape         space   = squeezed(shape);
    const Reduced       reduced = kinds_[i] == Kind::Reduction ? reduced_by(e) : Reduced{};
    std::vector<Source> sources;
    for (Var v : operands(e)) sources.push_back(behind(v));
    int32_t home     = -1;
    auto    consider = [&](int32_t c, size_t longest) {
      if (home < 0 && c >= 0 && stages_[c].eqns.size() < longest && fits(c, i, space, reduced, sources)) home = c;
    };
    if (loop && joins_) {
      for (const Source& s : sources) consider(maker(s.base), longest_chain_);
      // Otherwise, a loop that reads the same array at the same positions: one pass over memory serves both.
      for (const Source& s : sources)
        if (s.same_positions && size_of(space) > 1)
          for (int32_t c : readers_[s.base]) consider(now(c), longest_);
    }
    if (home < 0) home = new_stage(space, reduced, loop);
    if (kinds_[i] == Kind::Reduction) {
      stages_[home].reduced = reduced;
      has_reduction_[home]  = true;
    }
    if (loop)
      for (const Source& s : sources) {
        if (joins_ && may_merge(home, maker(s.base), sources)) merge(home, maker(s.base));
        if (s.same_positions && is_array(s.base)) readers_[s.base].push_back(home);
      }
    stages_[home].eqns.push_back(i);
    stage_of_[i] = home;
    for (const Source& s : sources) depend(home, maker(s.base));
  }

  // Equation i can join stage c if both have the same iteration space, it reads values of c element by element, and
  // none of its other operands depends on c.
  bool fits(int32_t c, int32_t i, const Shape& space, const Reduced& reduced,
            const std::vector<Source>& sources) const {
    const Stage& s = stages_[c];
    if (!s.loop || s.space != space) return false;
    if (kinds_[i] == Kind::Reduction && has_reduction_[c] && s.reduced != reduced) return false;
    return reads_in_step(c, sources);
  }

  // The stage that a stage was merged into, or itself.
  int32_t now(int32_t stage) const {
    while (merged_[stage] != stage) stage = merged_[stage];
    return stage;
  }
  // Whether another loop over the same space, which computes an operand of the equation placed in `home`, can be merged
  // with it: neither depends on the other, and no other operand of the equation depends on either.
  bool may_merge(int32_t home, int32_t other, const std::vector<Source>& sources) const {
    if (other < 0 || other == home || !stages_[other].loop) return false;
    const Stage &a = stages_[home], &b = stages_[other];
    if (a.space != b.space || (has_reduction_[home] && has_reduction_[other] && a.reduced != b.reduced)) return false;
    if (a.eqns.size() + b.eqns.size() >= longest_chain_) return false;
    return !before_[home].has(other) && !before_[other].has(home) && reads_in_step(other, sources);
  }
  // All reads from stage c are element by element, and no other operand depends on c.
  bool reads_in_step(int32_t c, const std::vector<Source>& sources) const {
    return std::all_of(sources.begin(), sources.end(), [&](const Source& x) {
      const int32_t m = maker(x.base);
      if (m == c) return x.same_positions && kinds_[producer_[x.base]] == Kind::Elementwise;
      return m < 0 || !before_[m].has(c);
    });
  }
  void merge(int32_t home, int32_t other) {
    Stage &a = stages_[home], &b = stages_[other];
    for (int32_t i : b.eqns) stage_of_[i] = home;
    a.eqns.insert(a.eqns.end(), b.eqns.begin(), b.eqns.end());
    std::sort(a.eqns.begin(), a.eqns.end());
    b.eqns.clear();
    if (has_reduction_[other]) a.reduced = b.reduced;
    has_reduction_[home] = has_reduction_[home] || has_reduction_[other];
    merged_[other]       = home;
    before_[home].add(before_[other]);
    for (Numbers& n : before_)
      if (n.has(home) || n.has(other)) {
        n.add(home);
        n.add(before_[home]);
      }
  }

  // Merges loops over the same space that no stage depends on, such as weight updates: threads synchronize once for
  // all.
  void join_last() {
    std::vector<int32_t> last;
    for (int32_t s = 0; s < static_cast<int32_t>(stages_.size()); ++s) {
      const bool waited = std::any_of(before_.begin(), before_.end(), [&](const Numbers& b) { return b.has(s); });
      if (now(s) != s || !stages_[s].loop || has_reduction_[s] || waited) continue;
      const auto same = std::find_if(last.begin(), last.end(), [&](int32_t h) {
        return stages_[h].space == stages_[s].space && stages_[h].eqns.size() + stages_[s].eqns.size() <= longest_;
      });
      if (same == last.end())
        last.push_back(s);
      else
        merge(*same, s);
    }
  }

  void depend(int32_t stage, int32_t on) {
    if (on < 0 || on == stage || before_[stage].has(on)) return;
    Numbers more = before_[on];
    more.add(on);
    before_[stage].add(more);
    for (Numbers& b : before_)
      if (b.has(stage)) b.add(more);
  }

  // Allocates memory for v; returns the value that owns the memory, or -1 if none is needed.
  Var demand(Var v) {
    if (memory_[v] >= 0) return memory_[v];
    const int32_t made = producer_[v];
    if (kinds_[made] == Kind::View && p_.eqns[made].op == &reshape_op) return memory_[v] = demand(p_.eqns[made].in[0]);
    if (kinds_[made] == Kind::View || kinds_[made] == Kind::Source) {
      const int32_t s = new_stage(squeezed(p_.type(v).shape), {}, true);
      stages_[s].eqns.push_back(made);
      memory_[v] = v;
      find_reads(s);
      return v;
    }
    return memory_[v] = v;
  }

  void read(int32_t stage, Var v, bool same_positions = false) {
    const Var m   = demand(v);
    auto      add = [m](Vars& vars) {
      if (!contains(vars, m)) vars.push_back(m);
    };
    add(stages_[stage].reads);
    if (!same_positions) add(stages_[stage].scattered);
  }

  // A loop that reads through views depends on the value behind them.
  void read_through_views(int32_t stage, Var v) {
    const Source s = behind(v);
    if (s.gather >= 0) {
      const Eqn& e = p_.eqns[s.gather];
      if (!stages_[stage].loop) return read(stage, e.out[0]);
      for (Var x : e.in) read(stage, x);
      stages_[stage].gathers.push_back(s.gather);
      return;
    }
    if (producer_[s.base] >= 0) {
      const Kind k = kinds_[producer_[s.base]];
      if (k == Kind::Source && stages_[stage].loop) return;
      if (k == Kind::Elementwise && stage_of_[producer_[s.base]] == stage) return;
    }
    // If the elements of a row are computed in sequence, a fixed index along the row is read before any element is
    // written.
    const Stage& reader = stages_[stage];
    const bool   before = s.same_positions || (in_turn_ && s.same_rows && reader.reduced.axes.empty());
    read(stage, s.base, before && squeezed(p_.type(v).shape) == reader.space);
  }

  void find_reads(int32_t stage) {
    const std::vector<int32_t> eqns = stages_[stage].eqns;
    for (int32_t i : eqns) {
      const Eqn& e        = p_.eqns[i];
      const bool in_place = stages_[stage].loop || e.op == &dot_general_op;
      for (Var v : kinds_[i] == Kind::View ? e.out : operands(e))
        in_place ? read_through_views(stage, v) : read(stage, v);
      if (kinds_[i] != Kind::Elementwise && kinds_[i] != Kind::View && kinds_[i] != Kind::Source)
        for (Var v : e.out) memory_[v] = v;
    }
  }

  // Topological order of the stages. Stages that no other stage depends on come last, when the values their results
  // replace have been read and can be overwritten; among them, those that share operands come last. Otherwise program
  // order.
  std::vector<Stage> ordered() const {
    std::vector<int32_t>              writer(p_.types.size(), -1);
    std::vector<std::vector<int32_t>> next(stages_.size());
    std::vector<int32_t>              waits(stages_.size(), 0);
    for (size_t s = 0; s < stages_.size(); ++s)
      for (Var v : stages_[s].writes) writer[v] = static_cast<int32_t>(s);
    for (size_t s = 0; s < stages_.size(); ++s)
      for (Var v : stages_[s].reads)
        if (writer[v] >= 0) {
          next[writer[v]].push_back(static_cast<int32_t>(s));
          ++waits[s];
        }
    std::vector<int32_t> readers(p_.types.size(), 0);  // readers among the stages that no other stage depends on
    for (size_t s = 0; s < stages_.size(); ++s)
      for (Var v : stages_[s].reads)
        if (next[s].empty()) ++readers[v];
    const auto shares = [&](const Stage& s) {
      return std::any_of(s.reads.begin(), s.reads.end(), [&](Var u) {
        const auto fits = [&](Var v) { return p_.type(v).size() == p_.type(u).size(); };
        return readers[u] > 1 && std::any_of(s.writes.begin(), s.writes.end(), fits);
      });
    };
    using Entry = std::tuple<bool, bool, int32_t, int32_t>;  // no dependents, shares operands, first equation, stage
    auto entry  = [&](size_t s) {
      const bool last = next[s].empty();
      return Entry{last, last && shares(stages_[s]), stages_[s].eqns.front(), static_cast<int32_t>(s)};
    };
    std::priority_queue<Entry, std::vector<Entry>, std::greater<>> ready;
    for (size_t s = 0; s < stages_.size(); ++s)
      if (waits[s] == 0 && !stages_[s].eqns.empty()) ready.push(entry(s));
    std::vector<Stage> out;
    while (!ready.empty()) {
      const int32_t s = std::get<3>(ready.top());
      ready.pop();
      if (!stages_[s].writes.empty()) out.push_back(stages_[s]);
      for (int32_t t : next[s])
        if (--waits[t] == 0) ready.push(entry(static_cast<size_t>(t)));
    }
    const auto lost = std::any_of(waits.begin(), waits.end(), [](int32_t n) { return n > 0; });
    ensure(!lost, "codegen: stages wait for each other");
    return out;
  }

  const Program&                      p_;
  bool                                joins_;
  size_t                              longest_, longest_chain_;
  bool                                in_turn_;
  std::vector<int32_t>                producer_;
  std::vector<Kind>                   kinds_;
  std::vector<int32_t>                stage_of_;
  Vars                                memory_;
  std::vector<Stage>                  stages_;
  std::vector<Numbers>                before_;  // per stage: the stages it depends on
  std::vector<bool>                   has_reduction_;
  std::vector<int32_t>                merged_;   // per stage: itself, or the stage it was merged into
  std::map<Var, std::vector<int32_t>> readers_;  // stages that read a value element by element
};

}  // namespace

bool is_reduction(const Eqn& e) { return e.op->fold != Fold::None && e.attrs.find(keys::axes); }

Fused fused(const Program& program, const Options& options) { return Fuser(program, options).run(); }

}  // namespace braintrace::codegen

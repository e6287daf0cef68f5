// SPDX-License-Identifier: Apache-2.0
#include "braintrace/transforms/simplify.h"

#include <algorithm>
#include <bit>
#include <numeric>

#include "braintrace/base/hash.h"
#include "braintrace/ops/constant.h"
#include "braintrace/transforms/inline.h"
#include "braintrace/transforms/walk.h"

namespace braintrace {

namespace {

// The program with the equations to keep, its values numbered in order of definition.
Program rebuilt(Program p, const Mask& keep) {
  Program out;
  Vars    to(p.types.size(), -1);
  auto    define = [&](Vars& vars) {
    for (Var& v : vars) v = to[v] = out.add_value(std::move(p.types[v]));
  };
  auto rename = [&](Vars& vars) {
    for (Var& v : vars) v = to[v];
  };
  out.types.reserve(p.types.size());
  out.eqns.reserve(p.eqns.size());
  define(p.constants);
  define(p.args);
  for (size_t i = 0; i < p.eqns.size(); ++i) {
    if (!keep[i]) continue;
    rename(p.eqns[i].in);
    define(p.eqns[i].out);
    out.eqns.push_back(std::move(p.eqns[i]));
  }
  rename(p.results);
  out.constants = std::move(p.constants);
  out.args      = std::move(p.args);
  out.results   = std::move(p.results);
  out.notes     = std::move(p.notes);
  return out;
}

size_t computation_hash(const Eqn& e) {
  size_t h = std::hash<const void*>{}(e.op);
  for (Var v : e.in) hash_add(h, static_cast<size_t>(v));
  if (!e.attrs.empty()) hash_add(h, e.attrs.hash());
  return h * 0x9e3779b97f4a7c15ULL ^ h >> 29;
}
bool same_computation(const Eqn& a, const Eqn& b) { return a.op == b.op && a.in == b.in && a.attrs == b.attrs; }

// The literal result of an elementwise op on literals, folded without making arrays of full size.
Tensor fold_literals(const Op& op, const Tensors& in, const Attrs& attrs, const Type& out) {
  if (!op.is_elementwise() || in.empty()) return {};
  Arrays scalars;
  for (const Tensor& t : in) {
    if (!t.is_literal()) return {};
    scalars.push_back(Array::scalar(t.dtype(), t.fill()));
  }
  return Tensor(out, at(op.eval(op, scalars, attrs, {{out.dtype, {}}})[0], 0));
}

// Re-emits the program, replacing equations by what their `simplify` rule returns.
// Counts the replacements in `fired`.
Program peephole(Program program, bool nested, size_t& fired) {
  auto    builder = Builder::open();
  Tensors values(program.types.size());
  // Constants stay constants of the result: make them arguments first and split again at the end.
  for (Var v : program_inputs(program)) values[v] = builder->argument(program.type(v));
  const LastUses last(program);
  for (size_t i = 0; i < program.eqns.size(); ++i) {
    const Eqn e = std::move(program.eqns[i]);  // its memory is reused for later equations
    if (e.op->fill) {
      values[e.out[0]] = Tensor(program.type(e.out[0]), e.op->fill(e.attrs));
      continue;
    }
    EqnNote       note(program, e);
    const Tensors in    = gather(values, e.in);
    const Attrs   attrs = nested ? map_nested(e.attrs, simplify) : e.attrs;
    const Types   types = program.types_of(e.out);
    Tensors       out;
    if (e.op->simplify) out = e.op->simplify(*e.op, in, attrs);
    if (out.empty() && types.size() == 1) {
      if (Tensor t = fold_literals(*e.op, in, attrs, types[0]); t.defined()) out = {t};
    }
    fired += !out.empty();
    if (out.empty()) out = builder->emit(*e.op, in, attrs, types);
    scatter(values, e.out, out);
    last.release(e, i, values);
  }
  Program p = with_constants_inside(builder->finish(gather(values, program.results)));
  args_as_constants(p, program.constants.size());
  return p;
}

}  // namespace

namespace {

// Common-subexpression elimination: every use of a repeated computation refers to the first one; repeats are dropped.
void join_repeats(Program& p, Mask& keep) {
  // An open-addressing table of kept equations by hash: one flat array, because cache misses dominate on large
  // programs.
  struct Slot {
    size_t  hash = 0;
    int64_t eqn  = -1;
  };
  const size_t      mask = std::bit_ceil(2 * p.eqns.size() + 1) - 1;
  std::vector<Slot> table(mask + 1);
  Vars              to(p.types.size());
  std::iota(to.begin(), to.end(), 0);
  for (size_t i = 0; i < p.eqns.size(); ++i) {
    Eqn& e = p.eqns[i];
    for (Var& v : e.in) v = to[v];
    const size_t h  = computation_hash(e);
    size_t       at = h & mask;
    while (table[at].eqn >= 0 && (table[at].hash != h || !same_computation(p.eqns[table[at].eqn], e)))
      at = (at + 1) & mask;
    if (table[at].eqn < 0) {
      table[at] = {h, static_cast<int64_t>(i)};
      continue;
    }
    keep[i]           = false;
    const Vars& first = p.eqns[table[at].eqn].out;
    for (size_t k = 0; k < first.size(); ++k) to[e.out[k]] = first[k];
  }
  for (Var& v : p.results) v = to[v];
}

// Restricts control flow to the results that are used; true if anything was removed.
bool prune(Eqn& e, const Mask& live) {
  Mask used;
  for (Var v : e.out) used.push_back(live[v]);
  Pruned p = e.op->prune(e.attrs, used);
  if (all_true(p.operands) && all_true(p.results)) return false;
  e.attrs = std::move(p.attrs);
  e.in    = chosen(e.in, p.operands);
  e.out   = chosen(e.out, p.results);
  return true;
}

// Drops equations whose results are not used. Returns the number of equations that became smaller.
size_t drop_dead(Program& p, Mask& keep) {
  size_t pruned = 0;
  Mask   live(p.types.size());
  for (Var v : p.results) live[v] = true;
  for (size_t i = p.eqns.size(); i-- > 0;) {
    Eqn& e  = p.eqns[i];
    keep[i] = keep[i] && std::any_of(e.out.begin(), e.out.end(), [&](Var v) { return live[v]; });
    if (!keep[i]) continue;
    if (e.op->prune) pruned += prune(e, live);
    for (Var v : e.in) live[v] = true;
  }
  return pruned;
}

}  // namespace

Program dce(Program p) {
  Mask keep(p.eqns.size(), true);
  drop_dead(p, keep);
  return rebuilt(std::move(p), keep);
}

Program cse(const Program& p) {
  Program out = p;
  Mask    keep(p.eqns.size(), true);
  join_repeats(out, keep);
  return rebuilt(std::move(out), keep);
}

Program simplify(const Program& program) {
  Program p = dce(program);
  for (bool first = true;; first = false) {
    // Nested programs do not depend on their surroundings: simplify them only once.
    const size_t before = p.eqns.size();
    size_t       fired  = 0;
    p                   = peephole(std::move(p), first, fired);
    Mask keep(p.eqns.size(), true);
    join_repeats(p, keep);
    fired += drop_dead(p, keep);
    if (fired > 0 || !all_true(keep)) p = rebuilt(std::move(p), keep);
    if (fired == 0 && p.eqns.size() == before) return p;
  }
}

}  // namespace braintrace

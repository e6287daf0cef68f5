// SPDX-License-Identifier: Apache-2.0
#include "braintrace/transforms/simplify.h"

#include <algorithm>
#include <bit>

#include "braintrace/base/hash.h"
#include "braintrace/ops/constant.h"
#include "braintrace/transforms/walk.h"

namespace braintrace {

namespace {

constexpr Key<double> value{"value"};

// A program rebuilt from parts of another, its values numbered in order of definition.
class Rebuilt {
 public:
  explicit Rebuilt(Program from) : from_(std::move(from)), to_(from_.types.size(), -1) {
    out.constants = define(from_.constants);
    out.args      = define(from_.args);
    out.notes     = std::move(from_.notes);
    out.eqns.reserve(from_.eqns.size());
  }
  // Takes over equation i; its operands must have been taken over or joined.
  void keep(size_t i) {
    Eqn& e = from_.eqns[i];
    rename(e.in);
    last_ = e.out;
    e.out = define(last_);
    out.eqns.push_back(std::move(e));
  }
  // Takes back the equation kept last; `values` of the new program stand for its results.
  void drop_last(const Vars& values) {
    out.eqns.pop_back();
    out.types.resize(out.types.size() - last_.size());
    for (size_t k = 0; k < values.size(); ++k) to_[last_[k]] = values[k];
  }
  void rename(Vars& vars) const {
    for (Var& v : vars) v = to_[v];
  }
  Program finish() {
    rename(from_.results);
    out.results = std::move(from_.results);
    return std::move(out);
  }

  Program out;

 private:
  Vars define(Vars vars) {
    for (Var& v : vars) v = to_[v] = out.add_value(std::move(from_.types[v]));
    return vars;
  }

  Program from_;
  Vars    to_;    // value of the old program → of the new
  Vars    last_;  // results, in the old program, of the equation kept last
};

size_t computation_hash(const Eqn& e) {
  size_t h = std::hash<const void*>{}(e.op);
  for (Var v : e.in) hash_add(h, static_cast<size_t>(v));
  if (!e.attrs.empty()) hash_add(h, e.attrs.hash());
  return h * 0x9e3779b97f4a7c15ULL ^ h >> 29;
}
bool same_computation(const Eqn& a, const Eqn& b) { return a.op == b.op && a.in == b.in && a.attrs == b.attrs; }

Attrs simplify_nested(const Attrs& attrs) {
  Attrs out = attrs;
  for (const Attr& a : attrs) {
    if (const auto* one = std::get_if<ProgramPtr>(&a.value))
      out.set(Attr(a.name, std::make_shared<const Program>(simplify(**one))));
    if (const auto* many = std::get_if<ProgramPtrs>(&a.value)) {
      ProgramPtrs list;
      for (const ProgramPtr& p : *many) list.push_back(std::make_shared<const Program>(simplify(*p)));
      out.set(Attr(a.name, std::move(list)));
    }
  }
  return out;
}

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
Program peephole(const Program& program, bool nested, size_t& fired) {
  auto    builder = Builder::open();
  Tensors values(program.types.size());
  // Constants stay constants of the result: make them arguments first and split again at the end.
  for (Var v : program_inputs(program)) values[v] = builder->argument(program.type(v));
  for (const Eqn& e : program.eqns) {
    if (e.op->name == "full") {
      values[e.out[0]] = Tensor(program.type(e.out[0]), e.attrs[value]);
      continue;
    }
    EqnNote       note(program, e);
    const Tensors in    = gather(values, e.in);
    const Attrs   attrs = nested ? simplify_nested(e.attrs) : e.attrs;
    const Types   types = program.types_of(e.out);
    Tensors       out;
    if (e.op->simplify) out = e.op->simplify(*e.op, in, attrs);
    if (out.empty() && types.size() == 1) {
      if (Tensor t = fold_literals(*e.op, in, attrs, types[0]); t.defined()) out = {t};
    }
    fired += !out.empty();
    if (out.empty()) out = builder->emit(*e.op, in, attrs, types);
    scatter(values, e.out, out);
  }
  Program    p = with_constants_inside(builder->finish(gather(values, program.results)));
  const auto n = static_cast<int64_t>(program.constants.size());
  p.constants.assign(p.args.begin(), p.args.begin() + n);
  p.args.erase(p.args.begin(), p.args.begin() + n);
  return p;
}

}  // namespace

namespace {

Program without_dead(Program p) {
  Mask live(p.types.size()), keep(p.eqns.size());
  for (Var v : p.results) live[v] = true;
  for (size_t i = p.eqns.size(); i-- > 0;) {
    const Eqn& e = p.eqns[i];
    keep[i]      = std::any_of(e.out.begin(), e.out.end(), [&](Var v) { return live[v]; });
    if (keep[i])
      for (Var v : e.in) live[v] = true;
  }
  Rebuilt r(std::move(p));
  for (size_t i = 0; i < keep.size(); ++i)
    if (keep[i]) r.keep(i);
  return r.finish();
}

Program without_repeats(Program p) {
  // An open table of kept equations by hash: one flat array, since its misses dominate on large programs.
  struct Slot {
    size_t  hash = 0;
    int64_t eqn  = -1;
  };
  const size_t      n = p.eqns.size(), mask = std::bit_ceil(2 * n + 1) - 1;
  std::vector<Slot> table(mask + 1);
  Rebuilt           r(std::move(p));
  for (size_t i = 0; i < n; ++i) {
    r.keep(i);
    const Eqn&   e  = r.out.eqns.back();
    const size_t h  = computation_hash(e);
    size_t       at = h & mask;
    while (table[at].eqn >= 0 && (table[at].hash != h || !same_computation(r.out.eqns[table[at].eqn], e)))
      at = (at + 1) & mask;
    if (table[at].eqn < 0)
      table[at] = {h, static_cast<int64_t>(r.out.eqns.size()) - 1};
    else
      r.drop_last(r.out.eqns[table[at].eqn].out);
  }
  return r.finish();
}

}  // namespace

Program dce(const Program& p) { return without_dead(p); }
Program cse(const Program& p) { return without_repeats(p); }

Program simplify(const Program& program) {
  Program p = dce(program);
  for (bool first = true;; first = false) {
    // Nested programs know nothing of their surroundings: once is enough.
    const size_t before = p.eqns.size();
    size_t       fired  = 0;
    p                   = without_dead(without_repeats(peephole(p, first, fired)));
    if (fired == 0 && p.eqns.size() == before) return p;
  }
}

}  // namespace braintrace

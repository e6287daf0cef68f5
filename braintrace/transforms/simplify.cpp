// SPDX-License-Identifier: Apache-2.0
#include "braintrace/transforms/simplify.h"

#include <algorithm>
#include <unordered_map>

#include "braintrace/base/hash.h"
#include "braintrace/ops/constant.h"
#include "braintrace/transforms/walk.h"

namespace braintrace {

namespace {

constexpr Key<double> value{"value"};

// The program with only the values in use, numbered in order of definition.
Program renumbered(const Program& p, const Mask& keep_eqn) {
  Program out;
  Vars    to(p.types.size(), -1);
  auto    define = [&](const Vars& vars) {
    Vars v;
    for (Var x : vars) v.push_back(to[x] = out.add_value(p.type(x)));
    return v;
  };
  auto use = [&](const Vars& vars) {
    Vars v;
    for (Var x : vars) v.push_back(to[x]);
    return v;
  };
  out.constants = define(p.constants);
  out.args      = define(p.args);
  out.notes     = p.notes;
  for (size_t i = 0; i < p.eqns.size(); ++i) {
    if (!keep_eqn[i]) continue;
    const Eqn& e  = p.eqns[i];
    Vars       in = use(e.in);
    out.eqns.push_back({e.op, std::move(in), define(e.out), e.attrs, e.note});
  }
  out.results = use(p.results);
  return out;
}

struct EqnKey {
  const Op*    op;
  Vars         in;
  const Attrs* attrs;
  bool         operator==(const EqnKey& o) const { return op == o.op && in == o.in && *attrs == *o.attrs; }
};
struct EqnKeyHash {
  size_t operator()(const EqnKey& k) const {
    size_t h = std::hash<const void*>{}(k.op);
    for (Var v : k.in) hash_add(h, static_cast<size_t>(v));
    hash_add(h, k.attrs->hash());
    return h;
  }
};

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
Program peephole(const Program& program, bool nested) {
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

Program dce(const Program& p) {
  Mask live(p.types.size()), keep(p.eqns.size());
  for (Var v : p.results) live[v] = true;
  for (size_t i = p.eqns.size(); i-- > 0;) {
    const Eqn& e = p.eqns[i];
    keep[i]      = std::any_of(e.out.begin(), e.out.end(), [&](Var v) { return live[v]; });
    if (keep[i])
      for (Var v : e.in) live[v] = true;
  }
  return renumbered(p, keep);
}

Program cse(const Program& p) {
  Program out = p;
  Vars    to(p.types.size());
  for (size_t i = 0; i < to.size(); ++i) to[i] = static_cast<Var>(i);
  Mask                                           keep(p.eqns.size(), true);
  std::unordered_map<EqnKey, size_t, EqnKeyHash> seen;
  for (size_t i = 0; i < p.eqns.size(); ++i) {
    Eqn& e = out.eqns[i];
    for (Var& v : e.in) v = to[v];
    const auto [it, is_new] = seen.try_emplace(EqnKey{e.op, e.in, &p.eqns[i].attrs}, i);
    if (is_new) continue;
    keep[i] = false;
    for (size_t k = 0; k < e.out.size(); ++k) to[e.out[k]] = to[out.eqns[it->second].out[k]];
  }
  for (Var& v : out.results) v = to[v];
  return renumbered(out, keep);
}

Program simplify(const Program& program) {
  // Nested programs know nothing of their surroundings: once is enough, unless a rule brings new ones.
  Program p = dce(cse(peephole(dce(program), true)));
  for (;;) {
    Program next = dce(cse(peephole(p, false)));
    if (equal(next, p)) return next;
    p = std::move(next);
  }
}

}  // namespace braintrace

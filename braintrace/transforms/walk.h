// SPDX-License-Identifier: Apache-2.0
// Helpers shared by all transforms, which traverse a program with tensors.
#pragma once

#include <algorithm>

#include "braintrace/base/pack.h"
#include "braintrace/ir/builder.h"
#include "braintrace/ir/op.h"

namespace braintrace {

inline Vars program_inputs(const Program& p) { return joined(p.constants, p.args); }

// The entries at some indices: tensors or marks of some values, …
template <class List, class Places>
List gather(const List& list, const Places& places) {
  List out;
  out.reserve(places.size());
  for (auto i : places) out.push_back(list[static_cast<size_t>(i)]);
  return out;
}
inline void scatter(Tensors& values, const Vars& vars, const Tensors& given) {
  for (size_t i = 0; i < vars.size(); ++i) values[static_cast<size_t>(vars[i])] = given[i];
}
inline void bind_inputs(const Program& p, const Tensors& given, Tensors& values) {
  const Vars inputs = program_inputs(p);
  ensure(given.size() == inputs.size(), "transform: {} inputs given, the program has {}", given.size(), inputs.size());
  scatter(values, inputs, given);
}

// Replaces undefined tensors by zeros.
inline Tensors instantiated(Tensors tensors, const Types& types) {
  for (size_t i = 0; i < tensors.size(); ++i)
    if (!tensors[i].defined()) tensors[i] = Tensor(types[i], 0);
  return tensors;
}

inline Tensors zeros_of(const Types& types) { return instantiated(Tensors(types.size()), types); }

inline bool any_true(const Mask& m) { return std::find(m.begin(), m.end(), true) != m.end(); }
inline bool all_true(const Mask& m) { return std::find(m.begin(), m.end(), false) == m.end(); }
inline Mask defined_mask(const Tensors& tensors) {
  Mask m;
  m.reserve(tensors.size());
  for (const Tensor& t : tensors) m.push_back(t.defined());
  return m;
}

// The chosen entries, and the inverse for tensors: undefined where not chosen.
template <class List>
List chosen(const List& list, const Mask& mask) {
  List out;
  for (size_t i = 0; i < list.size(); ++i)
    if (mask[i]) out.push_back(list[i]);
  return out;
}
inline Tensors spread(const Tensors& tensors, const Mask& mask) {
  Tensors out(mask.size());
  size_t  next = 0;
  for (size_t i = 0; i < mask.size(); ++i)
    if (mask[i]) out[i] = tensors[next++];
  return out;
}

// Values that depend on the inputs marked in `active` (constants, then arguments).
inline Mask forward_dependence(const Program& p, const Mask& active) {
  Mask       depends(p.types.size());
  const Vars inputs = program_inputs(p);
  for (size_t i = 0; i < inputs.size(); ++i) depends[inputs[i]] = active[i];
  for (const Eqn& e : p.eqns) {
    const bool any = std::any_of(e.in.begin(), e.in.end(), [&](Var v) { return depends[v]; });
    if (any && e.op->reach) {
      const Mask out = e.op->reach(*e.op, e.attrs, gather(depends, e.in));
      for (size_t k = 0; k < out.size(); ++k) depends[e.out[k]] = out[k];
    } else {
      for (Var v : e.out) depends[v] = any;
    }
  }
  return depends;
}
// The results among them.
inline Mask result_dependence(const Program& p, const Mask& active) {
  return gather(forward_dependence(p, active), p.results);
}

// Values on which the marked results depend.
inline Mask backward_dependence(const Program& p, const Mask& results) {
  Mask needed(p.types.size());
  for (Var v : chosen(p.results, results)) needed[v] = true;
  for (size_t i = p.eqns.size(); i-- > 0;)
    if (const Eqn& e = p.eqns[i]; std::any_of(e.out.begin(), e.out.end(), [&](Var v) { return needed[v]; }))
      for (Var v : e.in) needed[v] = true;
  return needed;
}

// The last use of each value, so that traversals release tensors early: memory allocation dominates the time for large
// programs.
class LastUses {
 public:
  explicit LastUses(const Program& p) : last_(p.types.size(), -1) {
    for (size_t i = 0; i < p.eqns.size(); ++i)
      for (Var v : p.eqns[i].in) last_[v] = static_cast<int32_t>(i);
    for (Var v : p.results) last_[v] = static_cast<int32_t>(p.eqns.size());
  }
  // Releases values that are not used after equation number i.
  void release(const Eqn& e, size_t i, Tensors& values) const {
    for (Var v : e.in)
      if (last_[v] == static_cast<int32_t>(i)) values[v] = Tensor();
    for (Var v : e.out)
      if (last_[v] < 0) values[v] = Tensor();
  }

 private:
  std::vector<int32_t> last_;
};

// The attributes with f applied to every nested program.
template <class F>
Attrs map_nested(const Attrs& attrs, F f) {
  Attrs      out  = attrs;
  const auto made = [&](const ProgramPtr& p) { return std::make_shared<const Program>(f(*p)); };
  for (const Attr& a : attrs) {
    if (const auto* one = std::get_if<ProgramPtr>(&a.value)) out.set(Attr(a.name, made(*one)));
    if (const auto* many = std::get_if<ProgramPtrs>(&a.value)) {
      ProgramPtrs list;
      for (const ProgramPtr& p : *many) list.push_back(made(p));
      out.set(Attr(a.name, std::move(list)));
    }
  }
  return out;
}

// Equations emitted during its lifetime carry the note of `e`.
struct EqnNote {
  EqnNote(const Program& p, const Eqn& e) : scope(e.note ? p.notes[e.note] : NoteScope::current()) {}
  NoteScope scope;
};

}  // namespace braintrace

// SPDX-License-Identifier: Apache-2.0
#include "braintrace/ir/builder.h"

#include <algorithm>
#include <atomic>
#include <bit>

#include "braintrace/ir/op.h"

namespace braintrace {

namespace {

std::atomic<uint64_t> next_serial{1};

// Formats the message only when needed: this runs for every operand of every equation.
void require_open(const Tensor& t) {
  if (t.trace()->is_open()) return;
  fail(ErrorKind::State,
       "trace: a tensor {} belongs to a trace that has already ended.\n"
       "  Return it from the traced function instead of keeping it in a variable.",
       to_string(t.type()));
}

}  // namespace

Builder::Builder() : serial_(next_serial++) {}
Builder::~Builder() = default;

std::shared_ptr<Builder> Builder::open() { return std::shared_ptr<Builder>(new Builder()); }

Tensor Builder::argument(const Type& type) {
  const Var v = program_.add_value(type);
  program_.args.push_back(v);
  return Tensor(shared_from_this(), v, type);
}

int32_t Builder::note_index() {
  const std::string& note = NoteScope::current();
  if (note.empty()) return 0;
  const auto [it, is_new] = note_index_.try_emplace(note, static_cast<int32_t>(program_.notes.size()));
  if (is_new) program_.notes.push_back(note);
  return it->second;
}

// The equation just appended defines v.
void Builder::note_producer(Var v) {
  producer_.resize(program_.types.size(), -1);
  producer_[v] = static_cast<int32_t>(program_.eqns.size()) - 1;
}

const Eqn* Builder::producer(Var v) const {
  const auto i = static_cast<size_t>(v);
  return i < producer_.size() && producer_[i] >= 0 ? &program_.eqns[producer_[i]] : nullptr;
}

Tensor Builder::captured(Var v) const {
  const auto at = std::find(program_.constants.begin(), program_.constants.end(), v);
  return at == program_.constants.end() ? Tensor() : constants_[static_cast<size_t>(at - program_.constants.begin())];
}

Var Builder::literal(const Tensor& t) {
  const std::tuple key{t.dtype(), t.shape(), std::bit_cast<uint64_t>(t.fill())};
  const auto [it, is_new] = literals_.try_emplace(key, -1);
  if (is_new) {
    it->second = program_.add_value(t.type());
    program_.eqns.push_back({find_op("full"),
                             {},
                             {it->second},
                             {{keys::dtype, t.dtype()}, {keys::shape, t.shape()}, {keys::value, t.fill()}},
                             note_index()});
    note_producer(it->second);
  }
  return it->second;
}

Var Builder::constant(const Tensor& value) {
  program_.constants.push_back(program_.add_value(value.type()));
  constants_.push_back(value);
  return program_.constants.back();
}

Var Builder::outer(const Tensor& t) {
  require_open(t);
  ensure(t.trace()->serial() < serial_, "trace: an outer trace cannot use a tensor of an inner one");
  const auto [it, is_new] = outer_.try_emplace({t.trace()->serial(), t.trace_var()}, -1);
  if (is_new) it->second = constant(t);
  return it->second;
}

// Arrays of one storage may differ in type. The owner of borrowed memory may write to it later, even between two uses
// here, so the program keeps a copy.
Var Builder::concrete(const Array& array) {
  std::vector<Capture>& same_storage = captured_[array.raw()];
  for (const Capture& c : same_storage)
    if (c.array.type() == array.type() && (!array.is_borrowed() || identical(c.array, array))) return c.var;
  const Array kept = array.is_borrowed() ? array.copy() : array;
  same_storage.push_back({kept, constant(kept)});
  return same_storage.back().var;
}

Var Builder::use(const Tensor& t) {
  if (t.is_literal()) return literal(t);
  if (!t.is_traced()) return concrete(t.array());
  return t.trace().get() == this ? t.trace_var() : outer(t);
}

Tensors Builder::emit(const Op& op, const Tensors& in, Attrs attrs, const Types& out_types) {
  ensure(open_, "{}: the trace is finished", op.name);
  Eqn eqn{&op, {}, {}, std::move(attrs), note_index()};
  eqn.in.reserve(in.size());
  for (const Tensor& t : in) eqn.in.push_back(use(t));
  Tensors out;
  out.reserve(out_types.size());
  for (const Type& t : out_types) {
    eqn.out.push_back(program_.add_value(t));
    out.emplace_back(shared_from_this(), eqn.out.back(), t);
  }
  program_.eqns.push_back(std::move(eqn));
  for (Var v : program_.eqns.back().out) note_producer(v);
  return out;
}

Traced Builder::finish(const Tensors& results) {
  for (const Tensor& t : results) {
    require(t.defined(), ErrorKind::State, "trace: the function returned an undefined tensor; assign every result.");
    program_.results.push_back(use(t));
  }
  open_ = false;
  return {std::move(program_), std::move(constants_)};
}

std::optional<Made> made_by(const Op& op, const Tensor& t) {
  if (!t.is_traced() || !t.trace()->is_open()) return std::nullopt;
  const Eqn* e = t.trace()->producer(t.trace_var());
  if (!e || e->op != &op) return std::nullopt;
  Made made{{}, e->attrs};
  for (Var v : e->in) made.in.emplace_back(t.trace(), v, t.trace()->type(v));
  return made;
}

std::shared_ptr<Builder> innermost_trace(const Tensors& tensors) {
  const Tensor* innermost = nullptr;
  for (const Tensor& t : tensors) {
    if (!t.is_traced()) continue;
    require_open(t);
    if (!innermost || t.trace()->serial() > innermost->trace()->serial()) innermost = &t;
  }
  return innermost ? innermost->trace() : nullptr;
}

Tensors replay(const Program& program, const Tensors& constants, const Tensors& args) {
  ensure(constants.size() == program.constants.size() && args.size() == program.args.size(),
         "replay: {}+{} inputs given, the program has {}+{}", constants.size(), args.size(), program.constants.size(),
         program.args.size());
  const auto           n = static_cast<int32_t>(program.eqns.size());
  std::vector<int32_t> last_use(program.types.size(), -1);
  for (int32_t i = 0; i < n; ++i)
    for (Var v : program.eqns[i].in) last_use[v] = i;
  for (Var v : program.results) last_use[v] = n;

  const auto at_constants = innermost_trace(constants), at_args = innermost_trace(args);
  const auto home = !at_constants || (at_args && at_args->serial() > at_constants->serial()) ? at_args : at_constants;

  Tensors values(program.types.size());
  for (size_t i = 0; i < constants.size(); ++i) values[program.constants[i]] = constants[i];
  for (size_t i = 0; i < args.size(); ++i) values[program.args[i]] = args[i];
  for (int32_t i = 0; i < n; ++i) {
    const Eqn& eqn = program.eqns[i];
    NoteScope  note(eqn.note ? program.notes[eqn.note] : NoteScope::current());
    Tensors    in;
    in.reserve(eqn.in.size());
    for (Var v : eqn.in) in.push_back(values[v]);
    Tensors out = apply_in(home, *eqn.op, std::move(in), eqn.attrs);
    for (size_t k = 0; k < out.size(); ++k) values[eqn.out[k]] = std::move(out[k]);
    for (Var v : eqn.in)
      if (last_use[v] == i) values[v] = Tensor();
  }
  Tensors results;
  for (Var v : program.results) results.push_back(values[v]);
  return results;
}

}  // namespace braintrace

// SPDX-License-Identifier: Apache-2.0
// Structure of programs: equality, hash, producers, and the verifier.
#include "braintrace/ir/program.h"

#include <algorithm>

#include <fmt/format.h>

#include "braintrace/base/hash.h"
#include "braintrace/ir/op.h"

namespace braintrace {

std::vector<Type> Program::types_of(const Vars& vars) const {
  std::vector<Type> out;
  out.reserve(vars.size());
  for (Var v : vars) out.push_back(type(v));
  return out;
}

bool equal(const Program& a, const Program& b) {
  if (a.constants.size() != b.constants.size() || a.args.size() != b.args.size() || a.eqns.size() != b.eqns.size() ||
      a.results.size() != b.results.size())
    return false;
  Vars map(a.types.size(), -1);  // value of a -> value of b
  auto bind = [&](const Vars& x, const Vars& y) {
    if (x.size() != y.size()) return false;
    for (size_t i = 0; i < x.size(); ++i) {
      if (a.type(x[i]) != b.type(y[i])) return false;
      map[x[i]] = y[i];
    }
    return true;
  };
  auto match = [&](const Vars& x, const Vars& y) {
    return std::equal(x.begin(), x.end(), y.begin(), y.end(), [&](Var p, Var q) { return map[p] == q; });
  };
  if (!bind(a.constants, b.constants) || !bind(a.args, b.args)) return false;
  for (size_t i = 0; i < a.eqns.size(); ++i) {
    const Eqn &x = a.eqns[i], &y = b.eqns[i];
    if (x.op != y.op || !match(x.in, y.in) || !(x.attrs == y.attrs) || !bind(x.out, y.out)) return false;
  }
  return match(a.results, b.results);
}

size_t hash(const Program& p) {
  Vars   number(p.types.size(), -1);
  Var    next = 0;
  size_t h    = 0;
  auto   bind = [&](const Vars& vars) {
    for (Var v : vars) {
      number[v] = next++;
      hash_add(h, static_cast<size_t>(p.type(v).dtype));
      for (int64_t d : p.type(v).shape) hash_add(h, static_cast<size_t>(d));
    }
    hash_add(h, vars.size());
  };
  auto use = [&](const Vars& vars) {
    for (Var v : vars) hash_add(h, static_cast<size_t>(number[v]));
  };
  bind(p.constants);
  bind(p.args);
  for (const Eqn& e : p.eqns) {
    hash_add(h, std::hash<std::string_view>{}(e.op->name));
    use(e.in);
    hash_add(h, e.attrs.hash());
    bind(e.out);
  }
  use(p.results);
  return h;
}

std::vector<int32_t> producers(const Program& program) {
  std::vector<int32_t> producer(program.types.size(), -1);
  for (size_t i = 0; i < program.eqns.size(); ++i)
    for (Var v : program.eqns[i].out) producer[v] = static_cast<int32_t>(i);
  return producer;
}

std::vector<const Eqn*> makers(const Program& program) {
  std::vector<const Eqn*> maker(program.types.size(), nullptr);
  for (const Eqn& e : program.eqns)
    for (Var v : e.out) maker[v] = &e;
  return maker;
}

std::vector<int> uses(const Program& program) {
  std::vector<int> count(program.types.size(), 0);
  for (const Eqn& e : program.eqns)
    for (Var v : e.in) ++count[v];
  for (Var v : program.results) ++count[v];
  return count;
}

Program constants_as_args(Program program) {
  program.args.insert(program.args.begin(), program.constants.begin(), program.constants.end());
  program.constants.clear();
  return program;
}

namespace {

[[noreturn]] void malformed(const Program& p, size_t at, const std::string& what) {
  std::string text = "program: " + what + "\n";
  for (size_t i = at > 3 ? at - 3 : 0; i < std::min(p.eqns.size(), at + 4); ++i)
    text += fmt::format("  {} {}\n", i == at ? "→" : " ", describe(p, i));
  throw UserError(text + "  Build programs with the public functions, or correct the text that was parsed.");
}

// The first of `vars` that is not a value of the program, as a message; empty when all are.
std::string out_of_range(const Program& p, const Vars& vars, const char* role) {
  for (Var v : vars)
    if (v < 0 || static_cast<size_t>(v) >= p.types.size())
      return fmt::format("{} %{} is not a value of the program, which has {}.", role, v, p.types.size());
  return "";
}

void check_inputs(const Program& p) {
  for (const auto& [vars, role] :
       {std::pair{&p.constants, "constant"}, {&p.args, "argument"}, {&p.results, "result"}}) {
    const std::string what = out_of_range(p, *vars, role);
    require(what.empty(), "program: {}", what);
  }
}

// Errors in the fields of an equation, checked before calling its operation.
std::string broken_fields(const Program& p, const Eqn& e) {
  if (!e.op) return "the equation has no operation.";
  if (e.note < 0 || static_cast<size_t>(e.note) >= p.notes.size()) return fmt::format("there is no note {}.", e.note);
  const std::string what = out_of_range(p, e.in, "operand");
  return what.empty() ? out_of_range(p, e.out, "result") : what;
}

void verify_nested(const Attr& a) {
  auto check = [&](const ProgramPtr& q) {
    require(q != nullptr, "attribute '{}' holds no program.", a.name);
    verify(*q);
  };
  if (const auto* one = std::get_if<ProgramPtr>(&a.value)) check(*one);
  if (const auto* many = std::get_if<ProgramPtrs>(&a.value))
    for (const ProgramPtr& q : *many) check(q);
}

}  // namespace

void verify(const Program& p) {
  check_inputs(p);
  std::vector<bool> defined(p.types.size());
  auto              define = [&](const Vars& vars, auto&& error) {
    for (Var v : vars) {
      if (defined[v]) error(v);
      defined[v] = true;
    }
  };
  auto twice = [&](Var v) { fail("program: input %{} is listed twice.", v); };
  define(p.constants, twice);
  define(p.args, twice);
  for (size_t i = 0; i < p.eqns.size(); ++i) {
    const Eqn& e = p.eqns[i];
    if (const std::string what = broken_fields(p, e); !what.empty()) malformed(p, i, what);
    for (Var v : e.in)
      if (!defined[v]) malformed(p, i, fmt::format("%{} is used before it is defined.", v));
    Types inferred;
    try {
      for (const Attr& a : e.attrs) verify_nested(a);
      inferred = infer(*e.op, p.types_of(e.in), e.attrs);
    } catch (const UserError& error) {
      malformed(p, i, error.what());
    }
    if (inferred != p.types_of(e.out)) {
      std::string got, want;
      for (const Type& t : p.types_of(e.out)) got += " " + to_string(t);
      for (const Type& t : inferred) want += " " + to_string(t);
      malformed(p, i, fmt::format("{} yields{}, but the equation declares{}.", e.op->name, want, got));
    }
    define(e.out, [&](Var v) { malformed(p, i, fmt::format("%{} is assigned twice.", v)); });
  }
  for (Var v : p.results) require(defined[v], "program: result %{} is never defined.", v);
}

}  // namespace braintrace

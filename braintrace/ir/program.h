// SPDX-License-Identifier: Apache-2.0
// A program is data: typed values with dense ids and equations in single-assignment form.
//
// Semantics, for every backend:
//  - Equations run in order; they have no side effects. Random numbers come from explicit keys.
//  - Arrays are dense and row major. Elementwise equations need operands of equal shape: broadcasting is an equation.
//  - Floats follow IEEE-754 including NaN and infinities; results are rounded once to their type.
//    No pass may assume that 0·x is 0. The sign of a zero may change.
//  - Integers wrap modulo 2^width; division by zero returns 0. Bool is 0 or 1.
//  - Reductions accumulate in at least double for floats and int64 for integers, sums of products in the floats' type.
//  - An index outside its axis (take, scatter_add, sparse products) is an error when the equation runs; the position of
//    a dynamic block is clamped instead, so that the block fits.
#pragma once

#include <string>
#include <vector>

#include "braintrace/base/type.h"
#include "braintrace/ir/attrs.h"

namespace braintrace {

struct Op;
using Var  = int32_t;  // id of a value inside its program, 0 … size-1
using Vars = SmallVector<Var, 4>;

struct Eqn {
  const Op* op = nullptr;
  Vars      in;
  Vars      out;
  Attrs     attrs;
  int32_t   note = 0;  // index into Program::notes: where the equation comes from
};

struct Program {
  std::vector<Type>        types;      // of every value, by id
  Vars                     constants;  // inputs bound when the program is created
  Vars                     args;       // inputs given at each call
  std::vector<Eqn>         eqns;
  Vars                     results;
  std::vector<std::string> notes{""};

  const Type&       type(Var v) const { return types[static_cast<size_t>(v)]; }
  std::vector<Type> types_of(const Vars& vars) const;
  Var               add_value(Type t) {
                  types.push_back(std::move(t));
                  return static_cast<Var>(types.size()) - 1;
  }
};

// Throws a UserError that shows the invalid equation and its neighbors.
void verify(const Program& program);

// Text form; parse(print(p)) is structurally equal to p.
std::string print(const Program& program);
Program     parse(std::string_view text);
std::string describe(const Program& program, size_t eqn_index);  // one equation as text

// Equality up to the numbering of values; notes are ignored.
bool   equal(const Program& a, const Program& b);
size_t hash(const Program& program);

// Index of the equation that defines each value, or -1 for inputs.
std::vector<int32_t> producers(const Program& program);
// The equation itself, or null. The pointer is valid while the equations of the program do not change.
std::vector<const Eqn*> makers(const Program& program);
// How often each value is read, by equations and as a result.
std::vector<int> uses(const Program& program);

// The same program with its constants as leading arguments: the form of nested programs.
Program constants_as_args(Program program);

}  // namespace braintrace

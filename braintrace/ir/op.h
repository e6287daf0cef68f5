// SPDX-License-Identifier: Apache-2.0
// The Op record: everything that the library needs to know about an operation. Slots are plain function pointers, so a
// record is `constinit`; family builders (ops/families.h) fill the slots that all members share.
//
// A rule *emits* operations: it computes with Tensors, so the same rule works for evaluation, tracing, differentiation
// and batching. An undefined Tensor means zero (tangents, cotangents) or "not given".
#pragma once

#include <functional>
#include <string_view>

#include "braintrace/ir/tensor.h"

namespace braintrace {

struct Op;
struct Rng;
using Mask = std::vector<bool>;

struct JvpArgs {
  const Op&      op;
  const Attrs&   attrs;
  const Tensors& in;
  const Tensors& tangents;  // of in; undefined = zero
  const Tensors& out;
};
struct TransposeArgs {
  const Op&      op;
  const Attrs&   attrs;
  const Tensors& in;      // undefined where linear
  const Types&   types;   // of all operands
  const Mask&    linear;  // which operands to transpose; the cotangents of the others are not used
  const Tensors& ct;      // cotangents of the results; at least one is defined
};
struct BatchArgs {
  const Op&      op;
  const Attrs&   attrs;
  const Tensors& in;
  const Mask&    batched;  // these operands carry a new leading axis; at least one does
  int64_t        size;     // of that axis
};
// Results of an equation and their tangents (undefined = zero), computed together.
struct Pushed {
  Tensors out, tangents;
};
struct LinearizeArgs {
  const Op&      op;
  const Attrs&   attrs;
  const Tensors& in;
  const Mask&    active;  // operands that may have a tangent
};
// Results of an equation and the map from operand tangents to result tangents.
struct Linearized {
  Tensors                                out;
  std::function<Tensors(const Tensors&)> tangent;
};

// Joint: linear in all its linear operands together (add, reshape).  Each: linear in each alone (mul, dot).
enum class Linearity : uint8_t { None, Joint, Each };

// How positions of a result depend on positions of an operand. A link means that the flat position inside the operand
// axes [op_begin, op_end) and inside the result axes [res_begin, res_end) correspond one to one: Same = equal position,
// Moved = a different position (roll, flip, permutation along the axis). Operand axes without a link are mixed: every
// position may reach every result position. Result axes without a link repeat the same operand values.
struct AxisLink {
  enum class Kind : uint8_t { Same, Moved };
  int  op_begin, op_end, res_begin, res_end;
  Kind kind                              = Kind::Same;
  bool operator==(const AxisLink&) const = default;
};
using AxisLinks = std::vector<AxisLink>;
struct DependArgs {
  const Op&    op;
  const Attrs& attrs;
  const Types& in;
  const Types& out;
  int          operand, result;
};

// An equation reduced to what some of its results need: the remaining operands and results, and the new attributes.
struct Pruned {
  Attrs attrs;
  Mask  operands, results;
};

// One valid use of an op, for the tests of the generic laws.
struct Sample {
  Tensors in;  // concrete
  Attrs   attrs;
};

// The scalar function of an elementwise op, and its partial derivatives with respect to each operand.
struct Scalar {
  using Partial = Tensor (*)(const Tensors& x, const Tensor& y);

  double (*real)(const double* x)      = nullptr;
  int64_t (*integer)(const int64_t* x) = nullptr;
  Partial partial[3]                   = {nullptr, nullptr, nullptr};  // null = zero
  double  lo = -2, hi = 2;                                             // range of sample operands
};

// The cost per element in addition to reading and writing it: a few instructions, a division or root, or a series.
enum class ElementCost : uint8_t { Simple, Division, Series };

// An elementwise op as an expression in C. $a $b $c are the operands' elements, $t is the type, $f the suffix of its
// functions: empty for double, f for float. Floats of 16 bits are computed in double; integers as int64_t, which wraps.
// Functions @bt_… are defined in codegen/c/scalar.c. An empty text means that there is no expression for these types.
struct Code {
  std::string_view real, integer;
  ElementCost      cost = ElementCost::Simple;

  bool is_given() const { return !real.empty() || !integer.empty(); }
};

// How a reduction or a cumulative operation combines two elements.
enum class Fold : uint8_t { None, Sum, Prod, Min, Max, Any, All };

struct EtpRules;

struct Op {
  std::string_view name;
  std::string_view doc;
  std::string_view operands = "x";  // names, for messages; a trailing "..." means any number
  std::string_view function = {};   // that users call; empty: has the same name

  Types (*infer)(const Op&, const Types&, const Attrs&)                = nullptr;  // types → types
  Arrays (*eval)(const Op&, const Arrays&, const Attrs&, const Types&) = nullptr;  // reference code, or
  Tensors (*expand)(const Op&, const Tensors&, const Attrs&)           = nullptr;  // definition by simpler ops
  Linearity linearity                                                  = Linearity::None;
  uint32_t  linear_operands                           = ~0u;      // bit i: operand i takes part in `linearity`
  Tensors (*jvp)(const JvpArgs&)                      = nullptr;  // nonlinear ops; null = zero derivative
  Pushed (*push)(const JvpArgs&)                      = nullptr;  // control ops: results with tangents; no out
  Linearized (*linearize)(const LinearizeArgs&)       = nullptr;  // control ops: split primal from tangent
  Tensors (*transpose)(const TransposeArgs&)          = nullptr;  // linear ops
  Tensors (*batch)(const BatchArgs&)                  = nullptr;  // reached results get the axis; empty: expand
  Mask (*reach)(const Op&, const Attrs&, const Mask&) = nullptr;  // marked operands → results; null = all
  Tensors (*simplify)(const Op&, const Tensors&, const Attrs&) = nullptr;     // cheaper equal results, or empty
  Pruned (*prune)(const Attrs&, const Mask& used)              = nullptr;     // control ops: marked results only
  AxisLinks (*depend)(const DependArgs&)                       = nullptr;     // null = all positions mix
  double (*fill)(const Attrs&)                                 = nullptr;     // value of all elements of the result
  bool   is_call                                               = false;       // may be replaced by its body
  Fold   fold                                                  = Fold::None;  // reductions only
  Code   code                                                  = {};          // elementwise ops only: in C,
  Scalar scalar                                                = {};          // and as functions
  std::vector<Sample> (*sample)(const Op&, Rng&)               = nullptr;     // inputs for the generic laws

  const EtpRules* etp = nullptr;  // trainable operations only: how an eligibility trace follows their weights

  std::string_view called() const { return function.empty() ? name : function; }
  bool             is_elementwise() const { return scalar.real || scalar.integer; }
  bool             is_linear_in(size_t operand) const {
                return linearity != Linearity::None && (operand >= 32 || (linear_operands >> operand & 1));
  }
};

// Every operation known to this process: the built-in ones, and those added with register_op. Names are unique.
const std::vector<const Op*>& all_ops();
const Op*                     find_op(std::string_view name);  // null when unknown
// Records must live as long as the process.
void register_op(const Op& op);
void replace_op(const Op& before, const Op& op);  // of the same name; programs already traced keep `before`

Types infer(const Op& op, const Types& in, const Attrs& attrs);  // checks the operand count, names the op in errors

// Runs a program on arrays with the reference implementation of every op.
Arrays evaluate(const Program& program, const Arrays& constants, const Arrays& args);

}  // namespace braintrace

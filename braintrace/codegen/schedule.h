// SPDX-License-Identifier: Apache-2.0
// A schedule: what is computed, in which order and in which memory. It is the last representation of a program before
// it is printed as text; printers make no decisions.
//
//   Schedule    functions, the constants they share, and the equations left to the host
//   Function    buffers, and kernels in execution order
//   Kernel      a loop nest, a matrix product, a routine over indices, …, or a kernel that contains functions:
//               a time loop, a branch, a while loop, a call
//
// A buffer has the number of the value it holds in the function's program.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <variant>

#include "braintrace/codegen/passes.h"
#include "braintrace/codegen/view.h"
#include "braintrace/ir/op.h"

namespace braintrace::codegen {

struct Place {
  enum class Kind : uint8_t { None, Input, Constant, Result, Arena };
  Kind    kind = Kind::None;
  int64_t at   = 0;  // index of the input, constant or result, or offset in bytes
};

struct Buffer {
  Type    type;
  Place   place;
  int32_t first = -1, last = -1;  // first writer and last reader among the kernels; -1: none in this function
  Device  device = Device::Cpu;
};

// ---- Loop nests ----------------------------------------------------------------------------------------------------

// One value per iteration of the loops. A nest lists them in order of computation.
struct Element {
  enum class Kind : uint8_t { Literal, Counter, Load, Gather, Apply };
  Kind                 kind;
  DType                dtype;
  double               literal = 0;
  Affine               at      = {};       // Counter: its value; Load, Gather: the position in the buffer
  int64_t              stride  = 0;        // Gather: stride of the gathered axis; element `in` is the index along it
  Var                  buffer  = -1;       // Load, Gather
  const Op*            op      = nullptr;  // Apply; `of` is the type of its first operand
  DType                of      = DType::F32;
  std::vector<int32_t> in      = {};

  bool has_position() const { return kind == Kind::Counter || kind == Kind::Load || kind == Kind::Gather; }
};
struct Store {
  Var     buffer;
  Affine  at;
  int32_t value;
};
// buffer[at] = a₁ ⊕ a₂ ⊕ …, or Σ a b of two operands, over the reduced loops.
struct Reduction {
  Fold    fold;
  DType   dtype;
  int32_t a, b;  // b: -1 for one operand
  Var     buffer;
  Affine  at;
};

// How a nest is tiled for the caches and registers of the target.
struct Tiling {
  enum class Form : uint8_t {
    Plain,   // no reduction
    Blocks,  // the last axis is kept: accumulates a tile of the last loops in an array, for contiguous access
    Lanes    // the last axis is reduced: a few interleaved accumulators, combined by a tree
  };
  Form    form     = Form::Plain;
  int64_t width    = 1;      // columns of a block, or lanes
  int64_t height   = 1;      // rows of a tile
  int64_t together = 1;      // rows that are unrolled and jammed
  bool    two_axes = false;  // the tile covers two loops instead of one
  size_t  vectors  = 1;      // number of innermost loops that are vectorized together: the last one may be short
  bool    is_short = false;  // the last loop of a tile, which nothing around it can be vectorized with
  int64_t parts    = 1;      // parts of each sum, computed in parallel and combined afterwards
};

struct LoopNest {
  Shape                  extents;   // per counter
  Ints                   loops;     // counters of the loops, outermost first
  size_t                 kept = 0;  // number of outer loops outside the reductions
  std::vector<Element>   elements;
  std::vector<Store>     stores;
  std::vector<Reduction> reductions;
  Tiling                 tiling;
  // If nonzero, counters 0 and 1 are parts and rows of an axis of so many rows, and the last part has fewer than
  // others.
  int64_t rows = 0;
  // If nonzero, the two loops are rows and columns, and parts are blocks of both, as those of a product.
  int64_t part_rows = 0, part_columns = 0;

  int64_t extent(size_t loop) const { return extents[static_cast<size_t>(loops[loop])]; }
  bool    is_shared() const { return kept > 0 && !part_rows; }  // the outermost loop runs over the kernel's parts
  // The number of loops whose counters an element depends on: it is computed inside that many.
  size_t              level(const Affine& at) const;
  std::vector<size_t> levels() const;  // per element
};

// ---- Kernels over whole arrays -------------------------------------------------------------------------------------

// y[b,m,n] = Σ_k l[b,m,k] r[b,k,n]; each letter stands for any number of axes.
struct Product {
  // Layout in memory: views are folded into the strides.
  struct Side {
    Var     buffer;
    int64_t at;
    Ints    batch, free, inner;  // strides
  };
  // If each letter is a single axis.
  struct Matrix {
    int64_t m, n, k;
    int64_t lhs_m, lhs_k, rhs_k, rhs_n;  // strides
  };
  // Otherwise: a product of packed blocks of the left operand. A block covers all axes after `axis`, and `step`
  // elements of `axis`.
  struct Block {
    size_t  axis;
    int64_t step, size;  // size: elements of the block
  };
  struct Blocks {
    Block                  rows, inner;
    bool                   by_rows;       // layout of the packed block: contiguous rows, otherwise columns
    std::optional<int64_t> rhs_k, rhs_n;  // strides of the right operand inside a block; none: it is packed, too
  };
  DType                 dtype;
  Shape                 batch, rows, columns, inner;
  Side                  lhs, rhs;
  Var                   out;
  Ints                  out_batch;  // strides
  std::optional<Matrix> matrix;
  std::optional<Blocks> blocks = {};
  // Rows and columns of a part of the kernel; parts are numbered along the columns first. 0: a single part.
  int64_t part_rows = 0, part_columns = 0;
};

// A fixed algorithm over arrays, parameterized by named sizes.
struct Routine {
  const Op*                                         op;
  DType                                             dtype;  // of the elements
  std::vector<std::pair<std::string_view, int64_t>> sizes;
  std::vector<std::pair<std::string_view, Var>>     buffers;
  std::vector<std::pair<std::string_view, DType>>   types = {};
  bool reverse = false;  // running reduction: from the end; sort: largest first; update: subtract
  bool checks  = true;   // check indices at run time, because they are not known at compile time

  int64_t size(std::string_view name) const;
  bool    has(std::string_view buffer) const;
};

// to[to_at + Σ i_k to_strides_k] = from[from_at + Σ i_k from_strides_k] for all i in shape
struct BlockCopy {
  Shape   shape;
  Var     to;
  int64_t to_at;
  Ints    to_strides;
  Var     from;
  int64_t from_at;
  Ints    from_strides;
  int64_t row = 0;  // first row of the result, if rows are parts of the kernel
};
struct Copies {
  std::optional<Var>     fill   = {};  // a scalar that fills the result first
  int64_t                size   = 0;
  Var                    out    = -1;
  std::vector<BlockCopy> blocks = {};
  int64_t                rows   = 0;  // parts of the kernel, along the first axis; 0: a single part
};
// A block of each entry of a batch at a dynamic position: read, or overwritten in a copy.
struct DynamicBlock {
  bool    writes;
  int64_t entries;
  Shape   inner, block;
  Var     start, x, update, out;  // update: -1 when reading
  int64_t bytes;                  // of x
};
// y[p] = ⊕_k x[p·stride + k]
struct Window {
  const Op* op;
  DType     dtype;
  Shape     from, to, window;
  Ints      stride;
  Var       x, out;
};
// y[n, gO+o, p] = Σ_{c,k} x̃[n, gC+c, p·stride + k·rhs_dilation - lo] w[gO+o, c, k]
struct Convolution {
  DType   dtype;
  int64_t batch, groups, in, out;  // in and out: channels per group
  Shape   from, kernel, to;        // along the spatial axes
  Ints    stride, lo, lhs_dilation, rhs_dilation;
  Var     x, w, y;
};
struct HostCall {
  int32_t number;  // index among the calls of the schedule
  Vars    in, out;
};

// ---- Kernels that contain functions --------------------------------------------------------------------------------

struct Function;
using FunctionPtr = std::shared_ptr<const Function>;

// Runs a body once per step. Carries are double-buffered between their result and scratch memory, so that the last step
// writes the result; a carry that is also stacked is read from the stack. If the rows of a batch are independent, parts
// of them run through all steps on their own, each in its own scratch memory; the first part writes what all parts
// share. Offsets are relative to the scratch memory of a part; `part` is the stride in bytes between parts, 0 if
// shared.
struct TimeLoop {
  struct Given {
    size_t  arg;
    Var     buffer;
    int64_t part;
  };
  struct Carry {
    size_t                 arg, result;  // of the body; `result` is that of the stack if the carry is stacked
    Var                    init, out;
    int64_t                bytes, part;
    bool                   is_stacked;
    int64_t                other;  // offset of its second buffer
    std::optional<int64_t> own;    // offset, if every part has its own copy
  };
  struct Stacked {  // an input, row by row, possibly in several pieces
    struct Rows {
      Var     buffer;
      int64_t at, first;  // offset in bytes, first step
    };
    size_t            arg;
    std::vector<Rows> pieces;
    int64_t           row, part;  // bytes
    bool              is_whole;   // a single buffer from its start
  };
  struct Stacks {  // a result, row by row
    size_t                 result;
    Var                    out;
    int64_t                row, part;  // bytes
    std::optional<int64_t> spare;      // offset: where all parts but the first write
  };
  FunctionPtr            body;
  int64_t                length;
  bool                   reverse;
  std::vector<Given>     consts;
  std::vector<Carry>     carries;
  std::vector<Stacked>   inputs;
  std::vector<Stacks>    outputs;
  std::optional<int64_t> part_bytes;  // scratch memory per part; none if the batch is not split
};
struct Branch {
  Var                      index;
  std::vector<FunctionPtr> branches;
  Vars                     in, out;
};
struct WhileLoop {
  struct Carry {
    Var     out;
    int64_t bytes, other;  // other: offset of its second buffer
  };
  FunctionPtr        cond, body;
  int64_t            consts, max_steps;  // 0: no limit
  int64_t            go;                 // offset of the result of the condition
  Vars               in;
  std::vector<Carry> carries;
};
struct Call {
  FunctionPtr body;
  Vars        in, out;
};

// --------------------------------------------------------------------------------------------------------------------

struct Kernel {
  std::variant<LoopNest, Product, Routine, Copies, DynamicBlock, Window, Convolution, HostCall, TimeLoop, Branch,
               WhileLoop, Call>
                                   what;
  std::vector<const Op*>           ops   = {};  // of its equations, for display
  Vars                             reads = {}, writes = {};
  int64_t                          scratch  = 0;      // bytes of scratch memory
  int64_t                          place    = 0;      // its offset in the arena
  int64_t                          parts    = 1;      // number of independent parts
  int64_t                          work     = 0;      // cost, in elements of an elementwise loop
  int64_t                          grain    = 0;      // parts per thread; 0: not parallel
  int64_t                          first    = 0;      // the parts are first, first + 1, …
  int64_t                          whole    = 0;      // of `whole`, if nonzero: rows of a large array
  bool                             joins    = false;  // the parallel region of the kernel before it (regions.h)
  bool                             may_stop = false;  // on an out-of-range index or a host error
  std::vector<std::pair<Var, Var>> in_place = {};     // (result, operand), sorted: the result may alias the operand
};

// The functions that a kernel contains, in execution order, with their roles: its step, its branch 0, …
struct Contained {
  std::string role;
  FunctionPtr function;
};
std::vector<Contained> contained(const Kernel& kernel);

// Which results may take the memory of which arguments: arguments of the same type and size that only earlier kernels
// read, or that the kernel of the result reads at the same positions. In a deep network nearly every pair of equal
// arrays qualifies, so only the pairs that a kernel names are listed.
struct InPlaceResults {
  static constexpr int32_t none = -1;
  struct Result {
    int32_t kernel      = none;   // that writes it
    bool    elementwise = false;  // in one loop over all its elements
    DType   dtype       = DType::F32;
    int64_t size        = 0;
  };
  struct Argument {
    int32_t last         = none;   // kernel that reads it
    bool    is_scattered = false;  // and at other positions than it writes
    bool    is_result    = false;  // copied to a result after the last kernel
    DType   dtype        = DType::F32;
    int64_t size         = 0;
  };
  std::vector<Result>                    results;
  std::vector<Argument>                  args;
  std::vector<std::pair<size_t, size_t>> named;  // (result, argument) of Kernel::in_place, sorted

  bool allows(size_t result, size_t arg) const;
};

struct Function {
  std::vector<Buffer>                 buffers;  // per value; those without a place have no memory
  std::vector<Kernel>                 kernels;
  std::vector<std::pair<Var, size_t>> copies;  // results stored elsewhere: (source, index of the result)
  InPlaceResults                      in_place;
  int64_t                             arena_bytes = 0;      // needed by a call
  bool                                may_stop    = false;  // some kernel may
  size_t                              first_arg   = 0;      // index of the first argument, after the constants

  bool may_share(size_t result, size_t arg) const { return in_place.allows(result, arg); }
};
// Whether the function, or one that it contains, has such a kernel.
bool any_kernel(const Function& function, const std::function<bool(const Kernel&)>& is_such);
bool has_loops(const Function& function);  // over time, or while loops

// An equation that compiled code leaves to the host.
struct HostEqn {
  Eqn   eqn;
  Types in, out;
};

struct Schedule {
  std::vector<FunctionPtr> entries;  // one per program
  Arrays                   constants;
  std::vector<HostEqn>     calls;
};

// If the target has no host, an equation without a kernel is a UserError that names it.
Schedule scheduled(const std::vector<Program>& programs, const Options& options = {});

// An InternalError where a kernel reads what was not written, or memory that another value has taken; debug builds
// verify every schedule.
void verify(const Schedule& schedule);

// For people.
std::string to_string(const Schedule& schedule);

}  // namespace braintrace::codegen

// SPDX-License-Identifier: Apache-2.0
// What is computed, in which order and in which memory: the last form of a program before it is text. A printer turns a
// schedule into a language and decides nothing.
//
//   Schedule    functions, the constants they share and the equations left to the host
//   Function    buffers, and kernels in the order they run
//   Kernel      a loop nest, a matrix product, a routine over indices, … or a node that contains functions: a time
//   loop,
//               a branch, a while loop, a call
//
// Buffers are named by the value of the function's program that they hold.
#pragma once

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
  int64_t at   = 0;  // number of the input, constant or result, or offset in bytes
};

struct Buffer {
  Type    type;
  Place   place;
  int32_t first = -1, last = -1;  // kernels that write it and read it last; -1: none in this function
  Device  device = Device::Cpu;
};

// ---- Loop nests ----------------------------------------------------------------------------------------------------

// One value per turn of the loops. A nest lists them in the order they are made.
struct Element {
  enum class Kind : uint8_t { Literal, Counter, Load, Gather, Apply };
  Kind                 kind;
  DType                dtype;
  double               literal = 0;
  Affine               at      = {};       // Counter: its value; Load, Gather: the position in the buffer,
  int64_t              stride  = 0;        // Gather: and so far from it by the element `in`, a known index
  Var                  buffer  = -1;       // Load, Gather
  const Op*            op      = nullptr;  // Apply, with the type of its first operand
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

// How a nest is cut for the caches and registers of the target.
struct Tiling {
  enum class Form : uint8_t {
    Plain,   // no reduction
    Blocks,  // the last axis is kept: a tile of the last loops is summed in an array, so that memory is walked in runs
    Lanes    // the last axis is reduced: a few interleaved sums, joined by a tree
  };
  Form    form     = Form::Plain;
  int64_t width    = 1;      // columns of a block, or lanes
  int64_t height   = 1;      // rows of a tile
  int64_t together = 1;      // rows that share a turn of the loop around the sums
  bool    two_axes = false;  // the tile covers two loops; else one
  size_t  vectors  = 1;      // innermost loops that become vector code together: the last one may be short
  int64_t parts    = 1;      // of each sum, taken side by side and joined after
};

struct LoopNest {
  Shape                  extents;   // by counter
  Ints                   loops;     // counters that are loops, outermost first
  size_t                 kept = 0;  // so many of them, from the front, run outside the reductions
  std::vector<Element>   elements;
  std::vector<Store>     stores;
  std::vector<Reduction> reductions;
  Tiling                 tiling;

  int64_t extent(size_t loop) const { return extents[static_cast<size_t>(loops[loop])]; }
  bool    is_shared() const { return kept > 0; }  // the outermost loop runs over the kernel's parts
  // The number of loops that an element waits for: it is computed inside that many.
  size_t              level(const Affine& at) const;
  std::vector<size_t> levels() const;  // by element
};

// ---- Kernels over whole arrays -------------------------------------------------------------------------------------

// y[b,m,n] = Σ_k l[b,m,k] r[b,k,n]; each letter stands for any number of axes.
struct Product {
  // As it lies in memory: views are folded into the strides.
  struct Side {
    Var     buffer;
    int64_t at;
    Ints    batch, free, inner;  // strides
  };
  // Where each letter is one axis.
  struct Matrix {
    int64_t m, n, k;
    int64_t lhs_m, lhs_k, rhs_k, rhs_n;  // strides
  };
  // Where not: products of blocks of the left operand, copied one by one. A block has all of the axes after `axis`, and
  // `step` of that one.
  struct Block {
    size_t  axis;
    int64_t step, size;  // size: of the block
  };
  struct Blocks {
    Block                  rows, inner;
    bool                   by_rows;       // how the copy lies: rows that are dense, or columns
    std::optional<int64_t> rhs_k, rhs_n;  // strides of the right operand inside a block; without them it is copied too
  };
  DType                 dtype;
  Shape                 batch, rows, columns, inner;
  Side                  lhs, rhs;
  Var                   out;
  Ints                  out_batch;  // strides
  std::optional<Matrix> matrix;
  std::optional<Blocks> blocks = {};
  // Rows and columns of a part of the kernel; parts follow each other along the columns. 0: it has one part.
  int64_t part_rows = 0, part_columns = 0;
};

// A fixed way through arrays by named sizes.
struct Routine {
  const Op*                                         op;
  DType                                             dtype;  // of the elements
  std::vector<std::pair<std::string_view, int64_t>> sizes;
  std::vector<std::pair<std::string_view, Var>>     buffers;
  std::vector<std::pair<std::string_view, DType>>   types = {};
  bool reverse = false;  // of a running reduction; a sort: largest first; an update: minus
  bool checks  = true;   // by index: those that were not known
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
  int64_t row = 0;  // of the result, with which it begins; of those that are parts of the kernel
};
struct Copies {
  std::optional<Var>     fill   = {};  // a scalar, with which the result is filled before
  int64_t                size   = 0;
  Var                    out    = -1;
  std::vector<BlockCopy> blocks = {};
  int64_t                rows   = 0;  // parts of the kernel: along the first axis; 0: it has one
};
// A block of each entry of a batch at a position found at run time: read, or overwritten in a copy.
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
  int64_t batch, groups, in, out;  // in and out: channels of a group
  Shape   from, kernel, to;        // along the axes of space
  Ints    stride, lo, lhs_dilation, rhs_dilation;
  Var     x, w, y;
};
struct HostCall {
  int32_t number;  // among the calls of the schedule
  Vars    in, out;
};

// ---- Nodes that contain functions ----------------------------------------------------------------------------------

struct Function;
using FunctionPtr = std::shared_ptr<const Function>;

// A body run once per step. Carries alternate between their result and working memory, so that the last step writes the
// result; one that is stacked as well is read from the stack. Where the rows of a batch never meet, parts of them run
// through all steps on their own, each in working memory of its own; what all parts share is written by the first.
// Offsets are those in the working memory of a part; `part` are bytes from one part to the next, 0 for what is shared.
struct TimeLoop {
  struct Given {
    size_t  arg;
    Var     buffer;
    int64_t part;
  };
  struct Carry {
    size_t                 arg, result;  // of the body; `result` is that of the stack for one that is stacked
    Var                    init, out;
    int64_t                bytes, part;
    bool                   is_stacked;
    int64_t                other;  // offset of the place it alternates with
    std::optional<int64_t> own;    // offset: every part carries it for itself
  };
  struct Stacked {  // an input, row by row, perhaps in several pieces
    struct Rows {
      Var     buffer;
      int64_t at, first;  // bytes, step
    };
    size_t            arg;
    std::vector<Rows> pieces;
    int64_t           row, part;  // bytes
    bool              is_whole;   // one buffer from its beginning on
  };
  struct Stacks {  // a result, row by row
    size_t                 result;
    Var                    out;
    int64_t                row, part;  // bytes
    std::optional<int64_t> spare;      // offset: where parts but the first write
  };
  FunctionPtr            body;
  int64_t                length;
  bool                   reverse;
  std::vector<Given>     consts;
  std::vector<Carry>     carries;
  std::vector<Stacked>   inputs;
  std::vector<Stacks>    outputs;
  std::optional<int64_t> part_bytes;  // working memory of a part; none where the batch stays together
};
struct Branch {
  Var                      index;
  std::vector<FunctionPtr> branches;
  Vars                     in, out;
};
struct WhileLoop {
  struct Carry {
    Var     out;
    int64_t bytes, other;  // offset of the place it alternates with
  };
  FunctionPtr        cond, body;
  int64_t            consts, max_steps;  // 0: no limit
  int64_t            go;                 // offset of what the condition says
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
  std::vector<const Op*>           ops   = {};  // of its equations, for people
  Vars                             reads = {}, writes = {};
  int64_t                          scratch  = 0;      // bytes of working memory
  int64_t                          place    = 0;      // its offset in the arena
  int64_t                          parts    = 1;      // independent parts
  int64_t                          work     = 0;      // what an elementwise loop over so many elements takes
  int64_t                          grain    = 0;      // parts that are worth a thread; 0: none are
  int64_t                          first    = 0;      // the parts are those from `first` on
  int64_t                          whole    = 0;      // of so many, if given: rows of a large array
  bool                             may_stop = false;  // at a wrong index, or because the host says so
  std::vector<std::pair<Var, Var>> in_place =
      {};  // (result, operand), sorted: the result may lie where the operand does
};

// The functions that a kernel contains, in the order they run, and what they are in it: its step, its branch 0, …
struct Contained {
  std::string role;
  FunctionPtr function;
};
std::vector<Contained> contained(const Kernel& kernel);

struct Function {
  std::vector<Buffer>                    buffers;  // by value; those without a place have no memory
  std::vector<Kernel>                    kernels;
  std::vector<std::pair<Var, size_t>>    copies;    // results that are made elsewhere: from, number of the result
  std::vector<std::pair<size_t, size_t>> in_place;  // (result, argument) that may share memory, sorted
  int64_t                                arena_bytes = 0;      // that a call needs
  bool                                   may_stop    = false;  // any kernel may
  size_t                                 first_arg   = 0;      // among the inputs: constants of the program come first

  bool may_share(size_t result, size_t arg) const;
};

// An equation that compiled code asks the host to evaluate.
struct HostEqn {
  Eqn   eqn;
  Types in, out;
};

struct Schedule {
  std::vector<FunctionPtr> entries;  // one per program
  Arrays                   constants;
  std::vector<HostEqn>     calls;
};

// Where the target has no host, an equation without a kernel is a UserError that names it.
Schedule scheduled(const std::vector<Program>& programs, const Options& options = {});

// For people.
std::string to_string(const Schedule& schedule);

}  // namespace braintrace::codegen

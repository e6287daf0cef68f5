// SPDX-License-Identifier: Apache-2.0
#include "braintrace/codegen/loop_nest.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>

#include "braintrace/base/lists.h"
#include "braintrace/codegen/elementwise.h"
#include "braintrace/codegen/lower.h"
#include "braintrace/ops/constant.h"
#include "braintrace/ops/keys.h"
#include "braintrace/ops/math.h"
#include "braintrace/ops/move.h"

namespace braintrace::codegen {

size_t LoopNest::level(const Affine& at) const {
  size_t level = 0;
  for (size_t i = 0; i < loops.size(); ++i)
    if (at.c[static_cast<size_t>(loops[i])] != 0) level = i + 1;
  return level;
}

std::vector<size_t> LoopNest::levels() const {
  std::vector<size_t> out;
  for (const Element& e : elements) {
    size_t at = e.has_position() ? level(e.at) : 0;
    for (int32_t x : e.in) at = std::max(at, out[static_cast<size_t>(x)]);
    out.push_back(at);
  }
  return out;
}

namespace {

class NestBuilder {
 public:
  NestBuilder(const Program& p, const Stage& stage, const Fused& fused, const Target& target)
      : p_(p),
        stage_(stage),
        memory_(fused.memory),
        target_(target),
        producer_(fused.producer),
        space_(stage.space),
        reduced_(stage.reduced.axes) {
    if (const int64_t parts = stage.reduced.parts) {
      const int64_t rows = space_[0];
      space_[0]          = parts_in(rows, parts);
      space_.insert(space_.begin(), parts);
      reduced_ = {1};
      if (rows % parts) nest_.rows = rows;
    }
    n_ = space_.size();
  }

  Kernel kernel() {
    nest_.extents = space_;
    for (Var v : stage_.writes) add(v);
    order_loops();
    merge_loops();
    tile();
    Kernel k;
    k.work    = work();
    k.scratch = part_sums();
    if (nest_.is_shared()) share_rows_of_large_array(k);
    k.parts = nest_.is_shared() ? nest_.extent(0) : form() == Tiling::Form::Blocks ? tiles() : 1;
    k.what  = std::move(nest_);
    return k;
  }

 private:
  Tiling::Form& form() { return nest_.tiling.form; }
  // Cost model: accessing a few arrays costs as much as one element; a transcendental function, as much as several.
  int64_t work() const {
    const auto levels = nest_.levels();
    int64_t    arrays = static_cast<int64_t>(nest_.stores.size()), series = 0;
    for (size_t i = 0; i < levels.size(); ++i) {
      const Element& e = nest_.elements[i];
      if (levels[i] < nest_.loops.size()) continue;
      arrays += e.kind == Element::Kind::Load ? 1 : 0;
      series += e.op && e.op->code.cost == ElementCost::Series ? 1 : 0;
    }
    return size_of(space_) * (std::max<int64_t>(1, arrays / 4) + series * target_.series_elements);
  }
  bool is_reduced(size_t axis) const { return contains(reduced_, static_cast<int64_t>(axis)); }

  // ---- Elements

  int32_t keep(Element e) {
    nest_.elements.push_back(std::move(e));
    return static_cast<int32_t>(nest_.elements.size()) - 1;
  }
  // The element of v at an index.
  int32_t element(Var v, const Index& index) {
    const auto key = std::make_pair(v, index);
    if (const auto it = memo_.find(key); it != memo_.end()) return it->second;
    const int32_t e = fresh_element(v, index);
    memo_.emplace(key, e);
    return e;
  }
  int32_t fresh_element(Var v, const Index& index) {
    const Type&   type = p_.type(v);
    const int32_t made = producer_[v];
    if (made >= 0) {
      const Eqn& e = p_.eqns[made];
      if (e.op->fill)
        return keep({.kind = Element::Kind::Literal, .dtype = type.dtype, .literal = e.op->fill(e.attrs)});
      if (e.op == &constant_op && type.size() == 1 && type.dtype != DType::I64)
        return keep({.kind = Element::Kind::Literal, .dtype = type.dtype, .literal = at(e.attrs[keys::array], 0)});
      if (e.op == &iota_op)
        return keep({.kind = Element::Kind::Counter, .dtype = type.dtype, .at = index[e.attrs[keys::axis]]});
      if (std::find(stage_.gathers.begin(), stage_.gathers.end(), made) != stage_.gathers.end())
        return gathered(e, index);
      if (is_view(*e.op))
        if (const auto deeper = seen(e, p_, index, n_)) return element(e.in[0], *deeper);
      if (has_expression(*e.op) && contains(stage_.eqns, made)) return applied(*e.op, e.in, index, type.dtype);
    }
    ensure(memory_[v] >= 0, "codegen: value {} is read but has no memory", v);
    const Affine from = offset(index, type.shape, n_);
    if (type.size() >= target_.shared_elements) large_reads_.emplace_back(type.size(), from);
    return keep({.kind = Element::Kind::Load, .dtype = type.dtype, .at = from, .buffer = memory_[v]});
  }
  // The element of x at the given gather index, along the axis that the axes of the index replace.
  int32_t gathered(const Eqn& e, const Index& index) {
    const Type& x     = p_.type(e.in[0]);
    const auto  axis  = index.begin() + e.attrs[keys::axis];
    const auto  after = axis + p_.type(e.in[1]).rank();
    Index       from(index.begin(), axis);
    from.push_back(constant(n_, 0));
    from.insert(from.end(), after, index.end());
    return keep({.kind   = Element::Kind::Gather,
                 .dtype  = x.dtype,
                 .at     = offset(from, x.shape, n_),
                 .stride = strides_of(x.shape)[static_cast<size_t>(e.attrs[keys::axis])],
                 .buffer = memory_[e.in[0]],
                 .in     = {element(e.in[1], Index(axis, after))}});
  }
  int32_t applied(const Op& op, const Vars& operands, const Index& index, DType dtype) {
    Element y{.kind = Element::Kind::Apply, .dtype = dtype, .op = &op, .of = p_.type(operands[0]).dtype};
    for (Var x : operands) y.in.push_back(element(x, index));
    return keep(std::move(y));
  }

  // The counters as an index into a value of the iteration space. Row r of its first axis is in part r / size.
  Index natural(const Shape& shape) const {
    Index index = natural_index(shape);
    if (stage_.reduced.parts)
      for (Affine& a : index) a.c.insert(a.c.begin(), a.c[0] * space_[1]);
    return index;
  }

  // Adds a store or reduction for a value that the stage materializes.
  void add(Var v) {
    const Eqn&  e     = p_.eqns[producer_[v]];
    const bool  folds = is_reduction(e);
    const Index index = natural(folds ? p_.type(e.in[0]).shape : p_.type(v).shape);
    const Type& type  = p_.type(v);
    if (folds && !reduced_.empty()) {
      Reduction r{e.op->fold, type.dtype, element(e.in[0], index), -1, v, place_of_sum(e)};
      if (e.in.size() > 1) r.b = element(e.in[1], index);
      nest_.reductions.push_back(std::move(r));
      return;
    }
    const int32_t x = !folds            ? element(v, index)
                      : e.in.size() > 1 ? applied(mul_op, e.in, index, type.dtype)
                                        : element(e.in[0], index);
    nest_.stores.push_back({v, offset(natural(type.shape), type.shape, n_), x});
  }
  // Position of a reduction's result, in the counters of the kept axes.
  Affine place_of_sum(const Eqn& e) const {
    const Shape& shape = p_.type(e.out[0]).shape;
    const Ints   axes  = long_axes(shape);
    Index        index(shape.size(), constant(n_, 0));
    size_t       k = 0;
    for (size_t a = 0; a < n_; ++a)
      if (!is_reduced(a)) index[axes[k++]].c[a] = 1;
    return offset(index, shape, n_);
  }

  // ---- Loops

  // Long sums of few columns: a single accumulator per column would be latency-bound, so use interleaved ones as for
  // rows.
  bool has_narrow_sums() const {
    return nest_.stores.empty() && target_.in_turn && space_[n_ - 1] <= target_.few_columns &&
           space_[static_cast<size_t>(reduced_.back())] >= 4 * target_.lanes;
  }

  void order_loops() {
    const bool folds = !reduced_.empty(), kept_last = !folds || (!is_reduced(n_ - 1) && !has_narrow_sums());
    form()             = !folds ? Tiling::Form::Plain : kept_last ? Tiling::Form::Blocks : Tiling::Form::Lanes;
    const bool blocked = form() == Tiling::Form::Blocks;
    Ints&      loops   = nest_.loops;
    for (size_t a = 0; a < n_; ++a)
      if (!is_reduced(a) && (!blocked || a + 1 < n_)) loops.push_back(static_cast<int64_t>(a));
    nest_.tiling.two_axes = blocked && !loops.empty() && loops.back() == static_cast<int64_t>(n_) - 2;
    if (nest_.tiling.two_axes) loops.pop_back();
    nest_.kept = loops.size();
    loops.insert(loops.end(), reduced_.begin(), reduced_.end());
    if (nest_.tiling.two_axes) loops.push_back(static_cast<int64_t>(n_) - 2);
    if (blocked) loops.push_back(static_cast<int64_t>(n_) - 1);
  }

  template <class F>
  void for_positions(const F& f) {
    for (Element& e : nest_.elements)
      if (e.has_position()) f(e.at);
    for (Store& s : nest_.stores) f(s.at);
    for (Reduction& r : nest_.reductions) f(r.at);
  }
  // Collapses adjacent loops if every position is the same affine function of both. The inner counter then runs over
  // both.
  //
  //   for i < 4: for j < 8: y[8 i + j] = x[8 i + j]      →      for j < 32: y[j] = x[j]
  void merge_loops() {
    Ints&        loops  = nest_.loops;
    const size_t inside = form() != Tiling::Form::Blocks ? 0 : nest_.tiling.two_axes ? 2 : 1;  // the loops of the tile
    Ints         first  = loops;  // per loop: the outermost of its axes
    Ints         dropped;
    for (size_t i = loops.size(); i-- > 1;) {
      const int64_t outer = loops[i - 1], inner = loops[i], next = first[i], size = space_[next];
      bool          alike = true;
      for_positions([&](const Affine& x) { alike = alike && x.c[outer] == x.c[next] * size; });
      const bool in_tile = inside > 0 && i + inside >= loops.size();
      if (next != outer + 1 || i == nest_.kept || in_tile || !alike) continue;
      nest_.extents[inner] *= nest_.extents[outer];
      dropped.push_back(outer);
      first[i] = first[i - 1];
      first.erase(first.begin() + static_cast<int64_t>(i) - 1);
      loops.erase(loops.begin() + static_cast<int64_t>(i) - 1);
      if (i < nest_.kept) --nest_.kept;
    }
    for_positions([&](Affine& x) {
      for (int64_t a : dropped) x.c[a] = 0;
    });
  }

  void tile() {
    Tiling&       t    = nest_.tiling;
    const int64_t size = size_of(space_);
    if (form() == Tiling::Form::Plain) {
      const size_t n = nest_.loops.size();
      if (n > 1 && nest_.extent(n - 1) <= target_.unrolled) t.vectors = 2;
      return;
    }
    const size_t  last = nest_.loops.size() - 1;
    const int64_t n    = nest_.extent(last);
    if (form() == Tiling::Form::Lanes) {
      // All lanes, if each has several terms; for short rows, the largest power of two. Jammed rows with a remainder,
      // such as ten terms, are faster without lanes.
      const auto terms = static_cast<uint64_t>(std::max<int64_t>(n, 1));
      const bool rest  = !std::has_single_bit(terms);
      t.together       = nest_.kept == 0 || size < target_.together_from
                             ? 1
                             : std::min(target_.sum_rows, nest_.extent(nest_.kept - 1));
      t.width          = static_cast<int64_t>(t.together > 1 && rest ? 1 : std::bit_floor(terms));
      if (n >= 2 * target_.lanes) t.width = target_.lanes;
      return;
    }
    // If threads can split only the blocks, use more of them.
    const bool    shared = nest_.kept == 0 && !t.two_axes && size >= target_.shared_elements;
    const int64_t share  = std::max(target_.lanes, n / target_.cores / target_.lanes * target_.lanes);
    t.is_short           = n <= target_.unrolled;
    t.width              = std::clamp<int64_t>(n, 1, shared ? std::min(target_.block / 4, share) : target_.block);
    if (t.two_axes && size >= target_.tiled_from)
      t.height = std::clamp<int64_t>(target_.tile / t.width, 1, nest_.extent(last - 1));
    if (!t.two_axes && last > nest_.kept && size >= target_.together_from) t.together = target_.column_rows;
  }
  // Splits sums into parts if there are too few for all blocks of threads, each part with enough terms for one block;
  // returns the bytes of memory for the partial sums.
  int64_t part_sums() {
    if (form() == Tiling::Form::Plain || target_.sum_blocks == 0) return 0;
    int64_t terms = 1;
    for (int64_t a : reduced_) terms *= space_[a];
    const bool    by_rows = form() == Tiling::Form::Blocks;
    const int64_t kept    = size_of(space_) / std::max<int64_t>(terms, 1);
    const int64_t sums = target_.block_sums, blocks = std::max<int64_t>(by_rows ? parts_in(kept, sums) : kept, 1);
    const int64_t least = by_rows ? target_.least_rows : target_.least_terms;
    nest_.tiling.parts  = std::max<int64_t>(std::min(target_.sum_blocks / blocks, terms / least), 1);
    if (nest_.tiling.parts == 1) return 0;
    return nest_.tiling.parts * kept * 8 * static_cast<int64_t>(nest_.reductions.size());
  }
  int64_t tiles() const {
    const Tiling& t    = nest_.tiling;
    const size_t  last = nest_.loops.size() - 1;
    const int64_t rows = t.two_axes ? nest_.extent(last - 1) : 1;
    return parts_in(nest_.extent(last), t.width) * parts_in(rows, t.height);
  }

  // If the outermost loop iterates over rows of a large array, threads split the rows as in all other kernels.
  void share_rows_of_large_array(Kernel& k) const {
    for (const auto& [size, at] : large_reads_) {
      const int64_t row    = at.c[nest_.loops[0]];
      int64_t       inside = 0;  // extent of the other loops: a column is not a row
      for (size_t l = 1; l < nest_.loops.size(); ++l) inside += std::abs(at.c[nest_.loops[l]]) * (nest_.extent(l) - 1);
      if (row <= inside || (size % row && !nest_.rows) || at.k % row) continue;
      if (at.k / row + nest_.extent(0) > parts_in(size, row)) continue;
      k.first = at.k / row;
      k.whole = parts_in(size, row);
      k.work  = std::max(k.work, target_.shared_elements);
      // As many threads as blocks, which also split sums over blocks.
      k.grain = k.whole <= target_.most_blocks ? 1 : k.whole / target_.row_blocks(k.whole, size);
      return;
    }
  }

  const Program&                           p_;
  const Stage&                             stage_;
  const Vars&                              memory_;
  const Target&                            target_;
  const std::vector<int32_t>&              producer_;
  Shape                                    space_;    // of the stage; the first axis as two if sums are in parts
  Ints                                     reduced_;  // axes of it
  size_t                                   n_ = 0;
  LoopNest                                 nest_;
  std::vector<std::pair<int64_t, Affine>>  large_reads_;  // (size of the array, position of the element)
  std::map<std::pair<Var, Index>, int32_t> memo_;
};

}  // namespace

Kernel loop_kernel(const Program& p, const Stage& stage, const Fused& fused, const Target& target) {
  return NestBuilder(p, stage, fused, target).kernel();
}

}  // namespace braintrace::codegen

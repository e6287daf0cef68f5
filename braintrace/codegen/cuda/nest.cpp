// SPDX-License-Identifier: Apache-2.0
// CUDA text of loop nests. The kept loops are distributed over the threads of the team, with adjacent threads along the
// last one. Each sum is computed
//
//   by one thread     if it is short, or if the last axis is kept and there are enough sums for all threads
//   by one warp       along its last axis, which is contiguous; a tree combines the partial sums
//   by one block      along its last axis, if there are few long sums
//   by many warps     32 sums per block, each warp adds some of their terms, if the last axis is kept
//
// In the last two cases, few sums are split into parts, which are combined after a barrier of all blocks. The strategy
// and the order of additions depend only on the shapes, so results are reproducible.
#include <cmath>

#include "braintrace/codegen/c/elements.h"
#include "braintrace/codegen/c/fold.h"
#include "braintrace/codegen/cuda/context.h"

namespace braintrace::codegen {

namespace {

class CudaNest {
 public:
  CudaNest(const LoopNest& nest, const CudaContext& c)
      : n_(nest), c_(c), words_(plain_words(nest, [&](const Element& e, const std::string& where) {
          return fmt::format("{}[{}]", c_.name(e.buffer), where);
        })) {
    const size_t all  = nest.loops.size();
    const size_t tile = nest.tiling.form != Tiling::Form::Blocks ? 0 : nest.tiling.two_axes ? 2 : 1;
    for (size_t i = 0; i < all; ++i)
      (nest.reductions.empty() || i < nest.kept || i + tile >= all ? kept_ : reduced_).push_back(i);
    for (const Reduction& r : nest.reductions) folds_.push_back(fold_text(r));
    index_ = is_narrow() ? DType::I32 : DType::I64;
    type_  = storage_type(index_);
  }

  CudaKernelText text() const {
    const int64_t kept = count(kept_), reduced = count(reduced_);
    if (folds_.empty()) return {each(kept_, values() + stores()), c_.blocks_for(kept)};
    const auto& of    = c_.target.blocks;
    const bool  parts = n_.tiling.parts > 1, rows = n_.tiling.form == Tiling::Form::Blocks;
    if (!parts && (reduced <= of.thread_terms || (rows && kept >= of.thread_sums))) return by_thread();
    if (!parts && !rows && (reduced < of.block_terms || kept >= of.warp_sums)) return by_warp();
    return join_parts(rows ? by_many_warps() : by_block());
  }

 private:
  using Loops = std::vector<size_t>;

  int64_t count(const Loops& loops) const {
    int64_t n = 1;
    for (size_t i : loops) n *= n_.extent(i);
    return n;
  }
  // Whether all counters and positions fit in 31 bits.
  bool is_narrow() const {
    constexpr int64_t most = (int64_t{1} << 31) - 1;
    const auto        fits = [&](const Affine& x) {
      double reach = std::abs(static_cast<double>(x.k));
      for (size_t i = 0; i < x.c.size(); ++i)
        reach += std::abs(static_cast<double>(x.c[i])) * static_cast<double>(n_.extents[i]);
      return reach < static_cast<double>(most);
    };
    for (const Element& e : n_.elements)
      if (e.has_position() && !fits(e.at)) return false;
    for (const Store& s : n_.stores)
      if (!fits(s.at)) return false;
    for (const Reduction& r : n_.reductions)
      if (!fits(r.at)) return false;
    return static_cast<double>(count(kept_)) * 1.5 < most && static_cast<double>(count(reduced_)) * 1.5 < most;
  }

  std::string counters(const Loops& loops, const std::string& name) const {
    Shape sizes;
    for (size_t i : loops) sizes.push_back(n_.extent(i));
    return cuda_counters(name, sizes, index_, [&](size_t k) { return "i" + str(n_.loops[loops[k]]); });
  }
  std::string each(const Loops& loops, const std::string& body) const {
    return cuda_for_each("e", count(loops), index_, counters(loops, "e") + body, c_.units);
  }

  std::string value(int32_t i) const { return words_.value(i); }
  std::string position(const Affine& x) const { return words_.position(x); }
  std::string values() const { return all_elements(n_, words_); }
  std::string stores() const {
    std::string out;
    for (const Store& s : n_.stores)
      out += fmt::format("{}[{}] = {};\n", c_.name(s.buffer), position(s.at),
                         stored(n_.elements[static_cast<size_t>(s.value)].dtype, value(s.value)));
    return out;
  }

  template <class F>
  std::string for_sums(const F& text) const {
    std::string out;
    for (size_t k = 0; k < folds_.size(); ++k) out += text(k, folds_[k]);
    return out;
  }
  std::string begin() const {
    return for_sums([](size_t k, const FoldText& f) { return fmt::format("{} s{} = {};\n", f.type, k, f.start); });
  }
  std::string next() const {
    return for_sums([&](size_t k, const FoldText& f) {
      const Reduction& r = n_.reductions[k];
      return fmt::format("s{} = {};\n", k,
                         filled(f.next, {{"s", "s" + str(k)}, {"a", value(r.a)}, {"b", r.b < 0 ? "" : value(r.b)}}));
    });
  }
  std::string joined(size_t k, const std::string& other) const {
    return fmt::format("s{} = {};\n", k, filled(folds_[k].join, {{"s", "s" + str(k)}, {"a", other}, {"b", ""}}));
  }
  std::string finish(size_t k) const {
    const Reduction& r = n_.reductions[k];
    const auto       s = "s" + str(k);
    return fmt::format("{}[{}] = {};\n", c_.name(r.buffer), position(r.at),
                       is_half(r.dtype) ? stored(r.dtype, s) : fmt::format("({}){}", value_type(r.dtype), s));
  }
  std::string finish_all() const {
    return for_sums([&](size_t k, const FoldText&) { return finish(k); });
  }
  // The terms `from`, from + step, …, below `to`.
  std::string terms(const std::string& from, const std::string& step, const std::string& to) const {
    return fmt::format("{0}for ({1} r = {2}; r < {3}; r += {4}) {{\n{5}{6}{7}{8}}}\n",
                       n_.stores.empty() ? "#pragma unroll 4\n" : "", type_, from, to, step, counters(reduced_, "r"),
                       values(), stores(), next());
  }
  std::string all_terms(const std::string& from, const std::string& step) const {
    return terms(from, step, str(count(reduced_)));
  }
  // The terms of one part.
  std::string terms_of_part(const std::string& from, const std::string& step) const {
    if (n_.tiling.parts == 1) return all_terms(from, step);
    const int64_t all = count(reduced_), part = parts_in(all, n_.tiling.parts);
    return fmt::format("const {0} end = part * {1} + {1} < {2} ? part * {1} + {1} : {2};\n", type_, part, all) +
           terms(fmt::format("part * {} + {}", part, from), step, "end");
  }
  // Where the partial sum of a part is stored.
  std::string of_part(size_t k, const std::string& part) const {
    const int64_t kept = count(kept_);
    return fmt::format("(({}*)(w + {}))[{} * {} + e]", folds_[k].type,
                       static_cast<int64_t>(k) * n_.tiling.parts * kept * 8, part, kept);
  }
  std::string finish_part(size_t k) const {
    return n_.tiling.parts == 1 ? finish(k) : fmt::format("{} = s{};\n", of_part(k, "part"), k);
  }
  // Loops over the parts of `units` units of work.
  std::string for_units(int64_t units, const std::string& name, const std::string& body) const {
    if (n_.tiling.parts == 1)
      return fmt::format("for ({0} {1} = t.block; {1} < {2}; {1} += t.blocks) {{\n{3}}}\n", type_, name, units, body);
    return fmt::format(
        "for ({0} unit = t.block; unit < {1}; unit += t.blocks) {{\nconst {0} {2} = unit % {3}, part = unit / "
        "{3};\n{4}}}\n",
        type_, units * n_.tiling.parts, name, units, body);
  }
  CudaKernelText join_parts(CudaKernelText sums) const {
    if (n_.tiling.parts == 1) return sums;
    const std::string join = for_sums([&](size_t k, const FoldText& f) {
      return fmt::format(
          "{0} s{1} = {2};\n_Pragma(\"unroll 4\") for (int32_t part = 1; part < {3}; ++part) {{\n{4}}}\n{5}", f.type, k,
          of_part(k, "0"), n_.tiling.parts, joined(k, of_part(k, "part")), finish(k));
    });
    sums.body += "bt_meet(t);\n" + each(kept_, join);
    sums.meets = true;
    return sums;
  }
  // Reduces over the lanes of a warp; all lanes get the result.
  std::string over_lanes() const {
    return for_sums([&](size_t k, const FoldText&) {
      return fmt::format("for (int32_t half = 16; half; half /= 2) {{\n{}}}\n",
                         joined(k, fmt::format("__shfl_xor_sync(0xffffffffu, s{}, half)", k)));
    });
  }

  CudaKernelText by_thread() const {
    const int64_t kept = count(kept_);
    return {each(kept_, begin() + all_terms("0", "1") + finish_all()), c_.blocks_for(kept)};
  }
  CudaKernelText by_warp() const {
    const int64_t kept = count(kept_);
    return {
        fmt::format("const int32_t lane = threadIdx.x % 32;\nfor ({0} e = t.rank / 32; e < {1}; e += t.size / 32) "
                    "{{\n{2}{3}{4}{5}if (lane == 0) {{\n{6}}}\n}}\n",
                    type_, kept, counters(kept_, "e"), begin(), all_terms("lane", "32"), over_lanes(), finish_all()),
        c_.blocks_for(kept, c_.target.blocks.warps())};
  }
  CudaKernelText by_block() const {
    const int64_t     kept       = count(kept_);
    const std::string over_warps = for_sums([&](size_t k, const FoldText& f) {
      return filled(
          R"(
__syncthreads();
if (lane == 0) (($T*)bt_shared_memory)[warp] = s$k;
__syncthreads();
s$k = (($T*)bt_shared_memory)[0];
for (int32_t other = 1; other < (int32_t)blockDim.x / 32; ++other) { $joined }
)",
          {{"T", f.type}, {"k", str(k)}, {"joined", joined(k, fmt::format("(({}*)bt_shared_memory)[other]", f.type))}});
    });
    const std::string ends       = for_sums([&](size_t k, const FoldText&) { return finish_part(k); });
    const std::string body       = counters(kept_, "e") + begin() + terms_of_part("threadIdx.x", "blockDim.x") +
                             over_lanes() + over_warps + fmt::format("if (threadIdx.x == 0) {{\n{}}}\n", ends);
    return {"const int32_t lane = threadIdx.x % 32, warp = threadIdx.x / 32;\n" + for_units(kept, "e", body),
            c_.blocks_for(kept * n_.tiling.parts, 1), c_.target.blocks.warps() * 8};
  }
  CudaKernelText by_many_warps() const {
    const int64_t     kept       = count(kept_);
    const std::string over_warps = for_sums([&](size_t k, const FoldText& f) {
      return filled(R"(
__syncthreads();
(($T*)bt_shared_memory)[threadIdx.x] = s$k;
__syncthreads();
if (warp == 0 && is_inside) {
  for (int32_t other = 1; other < (int32_t)blockDim.x / 32; ++other) { $joined }
  $finish
}
)",
                    {{"T", f.type},
                     {"k", str(k)},
                     {"joined", joined(k, fmt::format("(({}*)bt_shared_memory)[other * 32 + lane]", f.type))},
                     {"finish", finish_part(k)}});
    });
    const std::string body =
        fmt::format("const bool is_inside = g * 32 + lane < {1};\nconst {0} e = is_inside ? g * 32 + lane : {1} - 1;\n",
                    type_, kept) +
        counters(kept_, "e") + begin() +
        fmt::format("if (is_inside) {{\n{}}}\n", terms_of_part("warp", "(int32_t)blockDim.x / 32")) + over_warps;
    return {
        "const int32_t lane = threadIdx.x % 32, warp = threadIdx.x / 32;\n" + for_units(parts_in(kept, 32), "g", body),
        c_.blocks_for(parts_in(kept, 32) * n_.tiling.parts, 1), c_.target.blocks.threads * 8};
  }

  const LoopNest&       n_;
  const CudaContext&    c_;
  ElementWords          words_;
  Loops                 kept_, reduced_;
  std::vector<FoldText> folds_;
  DType                 index_ = DType::I64;  // type of loop counters
  std::string_view      type_;                // the same as text
};

}  // namespace

CudaKernelText cuda_text(const LoopNest& nest, const CudaContext& c) { return CudaNest(nest, c).text(); }

}  // namespace braintrace::codegen

// SPDX-License-Identifier: Apache-2.0
// Schedules read as data, without a compiler.
#include "braintrace/codegen/schedule.h"

#include <algorithm>
#include <functional>

#include <gtest/gtest.h>

#include "braintrace/codegen/c/emit.h"
#include "braintrace/codegen/cost.h"
#include "braintrace/control/scan.h"
#include "braintrace/functions/loops.h"
#include "braintrace/ir/builder.h"
#include "braintrace/model/frame.h"
#include "braintrace/ops/contract.h"
#include "braintrace/ops/cumulative.h"
#include "braintrace/ops/elementary.h"
#include "braintrace/ops/index.h"
#include "braintrace/ops/math.h"
#include "braintrace/ops/move.h"
#include "braintrace/ops/reduce.h"
#include "braintrace/ops/sort.h"

namespace braintrace::codegen {
namespace {

constexpr DType F32 = DType::F32;

template <class T>
T only(const Function& f) {
  T   found{};
  int count = 0;
  for (const Kernel& k : f.kernels)
    if (const T* what = std::get_if<T>(&k.what)) found = *what, ++count;
  EXPECT_EQ(count, 1);
  return found;
}
int buffers_in_arena(const Function& f) {
  return static_cast<int>(std::count_if(f.buffers.begin(), f.buffers.end(),
                                        [](const Buffer& b) { return b.place.kind == Place::Kind::Arena; }));
}

// A chain of products: each waits for the previous one.
TEST(Schedule, IsVerified) {
  const Program  p     = trace({{F32, {8, 8}}, {F32, {8, 8}}}, [](const Tensors& in) -> Tensors {
                      const Tensor a = dot(in[0], in[1]), b = dot(a, exp(a));
                      return {dot(b, dot(a, b))};
                    }).program;
  const Schedule whole = scheduled({p});
  const auto     fails = [&](const std::function<void(Function&)>& change) -> std::string {
    auto f = std::make_shared<Function>(*whole.entries[0]);
    change(*f);
    try {
      verify(Schedule{{f}, whole.constants, whole.calls});
    } catch (const InternalError& e) {
      return e.what();
    }
    return "";
  };
  const auto in_arena = [](Function& f) {
    std::vector<Buffer*> out;
    for (Buffer& b : f.buffers)
      if (b.place.kind == Place::Kind::Arena) out.push_back(&b);
    return out;
  };
  EXPECT_EQ(fails([](Function&) {}), "");
  EXPECT_NE(fails([](Function& f) { std::swap(f.kernels[0], f.kernels[1]); }).find("nothing wrote it"),
            std::string::npos);
  EXPECT_NE(fails([](Function& f) { f.kernels.pop_back(); }).find("the caller reads"), std::string::npos);
  EXPECT_NE(fails([&](Function& f) { in_arena(f)[1]->place = in_arena(f)[0]->place; }), "") << "both are live";
  EXPECT_NE(fails([&](Function& f) { in_arena(f)[0]->place.at = f.arena_bytes; }).find("outside the arena"),
            std::string::npos);
  EXPECT_NE(fails([&](Function& f) {
              f.kernels[1].scratch = 4;
              f.kernels[1].place   = in_arena(f)[0]->place.at;
            }).find("working memory of kernel [1]"),
            std::string::npos);
}

// The whole text: buffers with their places and lifetimes, kernels with what they need, what loops contain.
TEST(Schedule, PrintsAllThatRuns) {
  const Program p = trace({{F32, {2, 3}}, {F32, {3, 3}}, {F32, {4, 2, 3}}}, [](const Tensors& in) -> Tensors {
                      const ScanBody body = [&](const Tensors& h, const Tensors& x) -> ScanResult {
                        const Tensor y = tanh(dot(h[0], in[1]) + x[0]);
                        return {{y}, {sum(y, Ints{1})}};
                      };
                      const ScanResult r = scan(body, {in[0]}, {in[2]});
                      const Tensor     s = take(r.ys[0], argmax(sum(r.ys[0], Ints{1}), 0), 0);
                      return {r.carry[0], cumsum(s, 0), in[0], sort(s)};
                    }).program;
  EXPECT_EQ("\n" + to_string(scheduled({p})), R"(
function 0: 6 kernels, 256 bytes of working memory
  v0 : f32[2,3] at input 0, read until [0]
  v1 : f32[3,3] at input 1, read until [0]
  v2 : f32[4,2,3] at input 2, read until [0]
  v3 : f32[2,3] at result 0, written by [0]
  v4 : f32[4,2] at arena + 0, [0] to [3]
  v5 : f32[4] at arena + 64, [1] to [2]
  v6 : i32[] at arena + 128, [2] to [3]
  v7 : f32[2] at arena + 64, [3] to [5]
  v8 : f32[2] at result 1, written by [4]
  v9 : f32[2] at result 3, written by [5]
  v10 : i32[2] at arena + 0, written by [5]
  [0] time loop of 4 steps (v3, v4 ← v1, v0, v2), 192 bytes at arena + 64
      step: 2 kernels, 128 bytes of working memory
        v0 : f32[3,3] at input 0, read until [0]
        v1 : f32[2,3] at input 1, read until [0]
        v2 : f32[2,3] at input 2, read until [1]
        v3 : f32[2,3] at arena + 0, [0] to [1]
        v5 : f32[2,3] at result 0, written by [1]
        v6 : f32[2] at result 1, written by [1]
        [0] matrix product 2x3x3 (v3 ← v1, v0)
        [1] sums along rows i0 < 2; i1 < 3 (v5, v6 ← v3, v2)
            t0 = v3[3 * i0 + i1]
            t1 = v2[3 * i0 + i1]
            t2 = add(t0, t1)
            t3 = tanh(t2)
            v5[3 * i0 + i1] = t3
            v6[i0] = sum of t3
  [1] sums along rows i0 < 4; i1 < 2 (v5 ← v4)
      t0 = v4[2 * i0 + i1]
      v5[i0] = sum of t0
  [2] argmax (v6 ← v5)
      lanes = 1, stride = 1, n = 4, m = 4, size = 4
  [3] take (v7 ← v4, v6), may stop
      B = 1, P = 1, N = 4, K = 1, Q = 2, size = 8
  [4] cumsum (v8 ← v7)
      lanes = 1, stride = 1, n = 2, m = 2, size = 2
  [5] sort (v9, v10 ← v7), 32 bytes at arena + 128
      lanes = 1, stride = 1, n = 2, m = 2, size = 2
  result 2 = v0
)");
}

TEST(Schedule, ElementwiseEquationsAreOneNest) {
  const Program   p = trace({{F32, {3, 4}}, {F32, {4}}}, [](const Tensors& in) -> Tensors {
                      return {tanh(in[0] + in[1]) * 2.};
                    }).program;
  const Schedule  s = scheduled({p});
  const Function& f = *s.entries[0];
  ASSERT_EQ(f.kernels.size(), 1u);
  const auto nest = only<LoopNest>(f);
  EXPECT_TRUE(nest.reductions.empty());
  ASSERT_EQ(nest.stores.size(), 1u);
  EXPECT_EQ(nest.loops.size(), 2u) << "the vector is read again in every row";
  const Element& y = nest.elements[static_cast<size_t>(nest.stores[0].value)];
  EXPECT_EQ(y.op, &mul_op);
  EXPECT_EQ(f.buffers[static_cast<size_t>(nest.stores[0].buffer)].place.kind, Place::Kind::Result);
  EXPECT_EQ(buffers_in_arena(f), 0) << "nothing between is stored";
  EXPECT_FALSE(f.may_stop);
  const Work w = work_of(s);
  EXPECT_EQ(w.elements, 24) << "a sum and a product of 12 elements";
  EXPECT_EQ(w.series, 12);
  EXPECT_EQ(w.bytes(), 4 * (12 + 4 + 12));
}

// A network of any depth: each layer reads the constant 1, which is not a reason to share a loop.
Program deep(int layers) {
  return trace({{F32, {4, 8}}, {F32, {8, 8}}},
               [layers](const Tensors& in) -> Tensors {
                 Tensor x = in[0];
                 for (int i = 0; i < layers; ++i) x = x * (1. - tanh(dot(x, in[1])));
                 return {x};
               })
      .program;
}

TEST(Schedule, EqualLayersShareCode) {
  const auto functions = [](int layers) {
    const std::string text  = emit({deep(layers)}).source;
    int               count = 0;
    for (size_t at = 0; (at = text.find("((noinline)) int32_t bt_", at)) != text.npos; ++at) ++count;
    return count;
  };
  EXPECT_EQ(functions(20), functions(40));
  EXPECT_LT(functions(20), 10);
}

TEST(Schedule, LoopsThatShareAConstantAloneStayApart) {
  const Types    types(12, Type{F32, {64}});
  const Program  p = trace(types, [](const Tensors& in) -> Tensors {
                      Tensors out;
                      for (const Tensor& x : in) out.push_back(sum(1. - tanh(x), 0));
                      return out;
                    }).program;
  const Schedule s = scheduled({p});
  EXPECT_EQ(s.entries[0]->kernels.size(), types.size());
}

TEST(Schedule, NestsOfLongChainsStayShort) {
  const Program  p = trace({{F32, {64}}, {F32, {64}}}, [](const Tensors& in) -> Tensors {
                      Tensor x = in[0];
                      for (int i = 0; i < 1000; ++i) x = tanh(x) + in[1];
                      return {x};
                    }).program;
  const Schedule s = scheduled({p});
  for (const Kernel& k : s.entries[0]->kernels)
    EXPECT_LE(k.ops.size(), static_cast<size_t>(native_target().longest_chain));
}

TEST(Schedule, EqualPositionsAreOneLoop) {
  const Program p =
      trace({{F32, {3, 4}}, {F32, {3, 4}}}, [](const Tensors& in) -> Tensors { return {in[0] + in[1]}; }).program;
  const auto nest = only<LoopNest>(*scheduled({p}).entries[0]);
  ASSERT_EQ(nest.loops.size(), 1u);
  EXPECT_EQ(nest.extent(0), 12);
}

TEST(Schedule, TheTextSaysWhereElementsLie) {
  const Program p =
      trace_function({{F32, {3, 4}}, {F32, {4, 3}}}, [](const Tensors& in) -> Tensors {
        const Tensor y = in[0] + transpose(in[1], {1, 0});
        return {scan([](Tensor h, Tensor x) { return std::pair(tanh(h + x), h); }, y, zeros({2, 3, 4}, F32)).first};
      }).program;
  const std::string text = to_string(scheduled({p}));
  EXPECT_NE(text.find("4 * i0 + i1"), std::string::npos) << text;
  EXPECT_NE(text.find("i0 + 3 * i1"), std::string::npos) << "the transposed operand\n" << text;
  EXPECT_NE(text.find(" bytes at arena + "), std::string::npos) << "working memory of the loop\n" << text;
}

TEST(Schedule, AProductHasItsShape) {
  const Program  p       = trace({{F32, {5, 3}}, {F32, {4, 3}}}, [](const Tensors& in) -> Tensors {
                      return {dot(in[0], transpose(in[1], {1, 0}))};
                    }).program;
  const Schedule s       = scheduled({p});
  const auto     product = only<Product>(*s.entries[0]);
  ASSERT_TRUE(product.matrix);
  EXPECT_EQ(product.matrix->m, 5);
  EXPECT_EQ(product.matrix->n, 4);
  EXPECT_EQ(product.matrix->k, 3);
  EXPECT_EQ(product.matrix->rhs_k, 1) << "the transpose is a matter of strides";
  EXPECT_EQ(product.matrix->rhs_n, 3);
  EXPECT_EQ(work_of(s).products, 60);
}

TEST(Schedule, ATimeLoopContainsItsStep) {
  const Program  p    = trace_function({{F32, {3}}, {F32, {7, 3}}}, [](const Tensors& in) -> Tensors {
                      const auto [last, all] =
                          scan([](Tensor h, Tensor x) { return std::pair(tanh(h + x), h); }, in[0], in[1]);
                      return {last, all};
                    }).program;
  const Schedule s    = scheduled({p});
  const auto     loop = only<TimeLoop>(*s.entries[0]);
  EXPECT_EQ(loop.length, 7);
  EXPECT_FALSE(loop.reverse);
  EXPECT_EQ(loop.carries.size(), 1u);
  EXPECT_EQ(loop.inputs.size(), 1u);
  EXPECT_EQ(loop.inputs[0].row, 12);
  EXPECT_GE(work_of(s).series, 7 * 3);
  EXPECT_NE(to_string(s).find("time loop of 7 steps"), std::string::npos) << to_string(s);
}

TEST(Schedule, BuffersLiveFromTheFirstWriteToTheLastRead) {
  const Program p =
      trace({{F32, {4, 4}}}, [](const Tensors& in) -> Tensors { return {dot(tanh(in[0]), in[0])}; }).program;
  const Schedule  s = scheduled({p});
  const Function& f = *s.entries[0];
  ASSERT_EQ(f.kernels.size(), 2u);
  for (const Buffer& b : f.buffers) {
    if (b.place.kind != Place::Kind::Arena) continue;
    EXPECT_EQ(b.first, 0);
    EXPECT_EQ(b.last, 1);
    EXPECT_EQ(b.device, Device::Cpu);
  }
  EXPECT_EQ(buffers_in_arena(f), 1);
}

TEST(Schedule, KernelsThatCheckIndicesMayStop) {
  const Program  p = trace({{F32, {5, 3}}, {DType::I32, {2}}}, [](const Tensors& in) -> Tensors {
                      return {take(in[0], in[1], 0)};
                    }).program;
  const Schedule s = scheduled({p});
  EXPECT_TRUE(s.entries[0]->may_stop);
  EXPECT_EQ(only<Routine>(*s.entries[0]).op, &take_op);
}

// A target is a value: other numbers give other schedules, and the process does not know it.
TEST(Schedule, FollowsItsTarget) {
  const Program p  = trace({{F32, {64, 512}}}, [](const Tensors& in) -> Tensors { return {sum(in[0], 1)}; }).program;
  const auto nest  = [&](const Target& t) { return only<LoopNest>(*scheduled({p}, {.target = t}).entries[0]).tiling; };
  Target     small = native_target();
  small.lanes      = 4;
  small.sum_rows   = 2;
  EXPECT_EQ(nest(native_target()).width, 16);
  EXPECT_EQ(nest(small).width, 4);
  EXPECT_EQ(nest(small).together, 2);
  EXPECT_EQ(scheduled({p}, {.target = portable_target()}).entries[0]->kernels[0].grain, 0) << "no threads";
}

// Long rows have all lanes, short ones as many as they have terms; none where rows are taken together and terms remain.
TEST(Schedule, LanesOfARowDependOnItsTerms) {
  using Sizes       = std::pair<int64_t, int64_t>;  // lanes, rows taken together
  const auto tiling = [](int64_t rows, int64_t terms) {
    const auto   sums = [](const Tensors& in) -> Tensors { return {sum(in[0], 1)}; };
    const auto   p    = trace({{F32, {rows, terms}}}, sums).program;
    const Tiling t    = only<LoopNest>(*scheduled({p}).entries[0]).tiling;
    return Sizes(t.width, t.together);
  };
  EXPECT_EQ(tiling(512, 40), Sizes(16, 4));
  EXPECT_EQ(tiling(512, 8), Sizes(8, 4));
  EXPECT_EQ(tiling(512, 10), Sizes(1, 4));
  EXPECT_EQ(tiling(5, 10), Sizes(8, 1));
}

// C compilers unroll short loops, and may then vectorize nothing: the loop around one is vectorized with it, and one
// that adds to a tile of sums is kept as it is.
TEST(Schedule, ShortLoopsAreVectorized) {
  const auto elementwise = [](int64_t n) {
    return trace({{F32, {100, n}}, {F32, {100, 1}}}, [](const Tensors& in) -> Tensors { return {in[0] * in[1]}; })
        .program;
  };
  const auto sums = [](int64_t n) {
    return trace({{F32, {100, n}}}, [](const Tensors& in) -> Tensors { return {sum(in[0], 0)}; }).program;
  };
  const auto tiling = [](const Program& p) { return only<LoopNest>(*scheduled({p}).entries[0]).tiling; };
  const auto marked = [](const Program& p) { return emit({p}).source.find("\nBT_SHORT\n") != std::string::npos; };
  EXPECT_EQ(tiling(elementwise(8)).vectors, 2u);
  EXPECT_EQ(tiling(elementwise(9)).vectors, 1u);
  EXPECT_TRUE(tiling(sums(8)).is_short);
  EXPECT_FALSE(tiling(sums(9)).is_short);
  EXPECT_TRUE(marked(sums(8)));
  EXPECT_FALSE(marked(sums(9)));
}

}  // namespace
}  // namespace braintrace::codegen

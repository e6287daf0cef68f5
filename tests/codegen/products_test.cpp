// SPDX-License-Identifier: Apache-2.0
// Shortcuts around matrix products give what the products give.
#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "braintrace/backends/cpu/cpu_backend.h"
#include "braintrace/backends/reference/interpreter.h"
#include "braintrace/base/rng.h"
#include "braintrace/codegen/lower.h"
#include "braintrace/codegen/passes.h"
#include "braintrace/codegen/schedule.h"
#include "braintrace/control/scan.h"
#include "braintrace/control/scan_parts.h"
#include "braintrace/ir/builder.h"
#include "braintrace/ops/contract.h"
#include "braintrace/ops/elementary.h"
#include "braintrace/ops/index_walk.h"
#include "braintrace/ops/math.h"
#include "braintrace/ops/move.h"
#include "braintrace/runtime/values.h"
#include "braintrace/transforms/walk.h"
#include "tests/codegen/agreement.h"

namespace braintrace {
namespace {

using testing_support::worst_disagreement;

Array spikes(Rng& rng, const Type& type, double density) {
  Array a(type);
  for (int64_t i = 0; i < a.size(); ++i) a.mutable_data<float>()[i] = rng.uniform() < density ? 1.0F : 0.0F;
  return a;
}

// x w with the spikes in x as they lie, or in its transpose.
Program product(const Type& x, const Type& w, bool turned) {
  const int64_t over = turned ? 0 : 1;
  return trace({x, w},
               [&](const Tensors& in) -> Tensors {
                 return {dot_general(in[0], in[1], {{over}, {0}, {}, {}})};
               })
      .program;
}

// Products with at most 32 columns are never computed by events: they have the bits of the same columns of a larger
// product. The last columns of 81 and 127 do not fill a vector.
TEST(Events, HaveTheBitsOfTheDenseProduct) {
  constexpr int64_t rows = 70, few = 27;
  Rng               rng(1);
  for (const bool turned : {false, true})
    for (const int64_t columns : {33, 64, 81, 127, 200}) {
      const Type  type{DType::F32, turned ? Shape{300, rows} : Shape{rows, 300}};
      const Array w = random_array(rng, {DType::F32, {300, columns}});
      Arrays      pieces{w};
      for (int64_t n = 0; n < columns; n += few)
        pieces.push_back(slice_axis(Tensor(w), 1, n, std::min(n + few, columns)).array());
      std::vector<Program> programs;
      for (const Array& piece : pieces) programs.push_back(product(type, piece.type(), turned));
      const auto compiled = cpu::compile_together(programs, std::vector<Arrays>(programs.size()));
      for (const double density : {0.0, 0.05, 0.15, 0.5}) {
        const Array x = spikes(rng, type, density), all = compiled[0]->run({x, w})[0];
        Tensors     dense;
        for (size_t i = 1; i < pieces.size(); ++i) dense.emplace_back(compiled[i]->run({x, pieces[i]})[0]);
        EXPECT_TRUE(identical(all, concat(dense, 1).array())) << columns << " columns, " << density << " " << turned;
        EXPECT_EQ(max_difference(all, Tensor(all.type(), 0)) > 0, density > 0);
        EXPECT_LE(max_difference(all, evaluate(programs[0], {}, {x, w})[0]), 1e-4);
      }
    }
}

// Tiles have other shapes where vectors are shorter, and where there are fewer registers. With fused multiply-adds,
// bits are the same.
TEST(Products, OnProcessorsWithShorterVectors) {
  std::vector<const char*> processors = {""};
  if (__builtin_cpu_supports("avx2")) processors = {"", "-march=haswell", "-march=x86-64"};
  std::vector<testing_support::Job> jobs;
  Rng                               rng(8);
  for (const DType t : {DType::F32, DType::F64})
    for (const int64_t rows : {1, 2, 3, 4, 5, 6, 7, 8, 13, 19})
      for (const int64_t columns : {3, 64, 83}) {
        const Type x{t, {rows, 300}}, w{t, {300, columns}};
        jobs.push_back({"product", product(x, w, false), {}, {random_array(rng, x), random_array(rng, w)}});
      }
  std::vector<Program> programs;
  for (const testing_support::Job& j : jobs) programs.push_back(j.program);
  std::vector<Arrays> first;
  for (const std::string flags : processors) {
    setenv("BRAINTRACE_CFLAGS", flags.c_str(), 1);
    const auto compiled = cpu::compile_together(programs, std::vector<Arrays>(programs.size()));
    for (size_t i = 0; i < jobs.size(); ++i) {
      const Arrays y = compiled[i]->run(jobs[i].args), want = evaluate(jobs[i].program, {}, jobs[i].args);
      EXPECT_LE(max_difference(y[0], want[0]), y[0].dtype() == DType::F32 ? 1e-4 : 1e-12)
          << flags << " " << to_string(y[0].type());
      if (flags.empty())
        first.push_back(y);
      else if (flags == "-march=haswell")
        EXPECT_TRUE(identical(y[0], first[i][0])) << to_string(y[0].type());
    }
  }
  unsetenv("BRAINTRACE_CFLAGS");
}

// 0 · ∞ is not a number, for spikes too: in a row of w that some spikes meet, in one that none does, and after many
// rows that are finite.
TEST(Events, SeeWhatIsNotFinite) {
  Rng   rng(2);
  Array x = spikes(rng, {DType::F32, {16, 300}}, 0.05);
  for (int64_t m = 0; m < 16; ++m) x.mutable_data<float>()[m * 300 + 299] = 0;
  x.mutable_data<float>()[3 * 300 + 298] = 1;
  for (const int64_t columns : {64, 83}) {
    const Program p        = product(x.type(), {DType::F32, {300, columns}}, false);
    const auto    compiled = cpu_backend().compile(p, {});
    for (const int64_t row : {0, 298, 299})
      for (const int64_t column : {int64_t{5}, columns - 1}) {
        Array w                                         = random_array(rng, {DType::F32, {300, columns}});
        w.mutable_data<float>()[row * columns + column] = std::numeric_limits<float>::infinity();
        const Array y = compiled->run({x, w})[0], want = evaluate(p, {}, {x, w})[0];
        int         undefined = 0;
        for (int64_t m = 0; m < 16; ++m) {
          const int64_t i = m * columns + column;
          undefined += std::isnan(at(want, i)) ? 1 : 0;
          EXPECT_EQ(std::isnan(at(y, i)), std::isnan(at(want, i))) << row << " " << m << " " << column;
          EXPECT_NEAR(at(y, i - 1), at(want, i - 1), 1e-4) << row << " " << m << " " << column;
        }
        EXPECT_GT(undefined, 8);
      }
  }
}

// Carries that only change places, inputs that are carried on, and results that follow from both: what a step finds is
// what the step before left.
TEST(LoopsOverTime, KnowWhatAStepFinds) {
  const Type  h{DType::F64, {16, 5}}, w{DType::F64, {5, 5}}, xs{DType::F64, {4, 16, 5}};
  const Types types{h, h, h, h, w, xs};
  for (const bool reverse : {false, true}) {
    const Program p =
        trace(types, [&](const Tensors& in) -> Tensors {
          const ScanBody body = [&](const Tensors& c, const Tensors& x) -> ScanResult {
            const Tensor next = tanh(dot(c[0], in[4]) + x[0]);
            const Tensor sum  = c[4] + dot_general(concat({x[0], c[0]}, 1), next * c[1], {{0}, {0}, {}, {}});
            // a state, the state before it, an input carried on, two that swap through a sum
            return {{next, c[0], x[0], c[3] + 0.0 * c[2], sum},
                    {next * c[0] - c[1], concat({c[0], c[2]}, 1), square(c[1]) + c[3]}};
          };
          const ScanResult r = scan(body, {in[0], in[1], in[2], in[3], zeros({10, 5}, DType::F64)}, {in[5]},
                                    {.length = 4, .reverse = reverse});
          return joined(r.carry, r.ys);
        }).program;
    Rng    rng(5);
    Arrays args;
    for (const Type& t : types) args.push_back(random_array(rng, t));
    const auto worst = worst_disagreement({{"loop", p, {}, args}});
    EXPECT_LE(worst.distance, 1e-12) << (reverse ? "reverse" : "forward");
  }
}

// y_t = h_t W, which no carry needs, is one product of all steps after the loop where h is stacked anyway, and where
// steps have few rows or many cores would meet for it, unless its sums are short. Without h among the results it stays
// inside.
TEST(LoopsOverTime, LeaveReadoutsForLater) {
  const auto products_inside = [](int64_t batch, bool with_state, int64_t cores, int64_t n = 6) {
    const Types types{
        {DType::F64, {3, batch, n}}, {DType::F64, {batch, n}}, {DType::F64, {n, n}}, {DType::F64, {n, 4}}};
    const Program    p = trace(types, [&](const Tensors& in) -> Tensors {
                        const auto body = [&](const Tensors& c, const Tensors& x) -> ScanResult {
                          const Tensor h = tanh(dot(c[0], in[2]) + x[0]);
                          return {{h}, with_state ? Tensors{h, dot(h, in[3])} : Tensors{dot(h, in[3])}};
                        };
                        const ScanResult r = scan(body, {in[1]}, {in[0]}, {.length = 3});
                        return joined(r.carry, r.ys);
                      }).program;
    codegen::Options options;
    options.target.cores = cores;
    int inside           = 0;
    for (const Eqn& e : codegen::lowered(p, options).eqns)
      if (e.op == &scan_op)
        for (const Eqn& inner : ScanParts(e.attrs).body.eqns)
          inside += inner.op == &dot_general_op || inner.op == &codegen::product_sum_op;
    Rng    rng(6);
    Arrays args;
    for (const Type& t : types) args.push_back(random_array(rng, t));
    EXPECT_LE(worst_disagreement({{"readout", p, {}, args}}, options).distance, 1e-12);
    return inside;
  };
  EXPECT_EQ(products_inside(4, true, 2), 1);
  EXPECT_EQ(products_inside(4, false, 2), 2);
  EXPECT_EQ(products_inside(32, true, 2), 2);
  EXPECT_EQ(products_inside(32, true, 16), 2);
  EXPECT_EQ(products_inside(32, true, 16, 20), 1);
}

// a b + a c = a (b + c), through shared factors and signs; products without a common operand stay.
TEST(Factors, AreSharedByTerms) {
  const Type a{DType::F64, {6, 5}}, b{DType::F64, {5, 7}}, f{DType::F64, {6, 7}};
  const auto count = [](const Program& p) {
    int n = 0;
    for (const Eqn& e : codegen::lowered(p).eqns) n += e.op == &dot_general_op ? 1 : 0;
    return n;
  };
  const Types   types{a, b, b, f, a};
  const Program shared = trace(types, [](const Tensors& in) -> Tensors {
                           return {in[3] * dot(in[0], in[1]) - in[3] * dot(in[0], in[2]) + in[3]};
                         }).program;
  const Program apart  = trace(types, [](const Tensors& in) -> Tensors {
                          return {in[3] * dot(in[0], in[1]) - in[3] * dot(in[4], in[2]) + in[3]};
                        }).program;
  const Program twice  = trace(types, [](const Tensors& in) -> Tensors {
                          const Tensor y = dot(in[0], in[1]);
                          return {y + dot(in[0], in[2]), y};
                        }).program;
  EXPECT_EQ(count(shared), 1);
  EXPECT_EQ(count(apart), 2);
  EXPECT_EQ(count(twice), 2) << "a term that is needed besides stays";
  Rng    rng(3);
  Arrays args;
  for (const Type& t : types) args.push_back(random_array(rng, t));
  const auto w =
      worst_disagreement({{"shared", shared, {}, args}, {"apart", apart, {}, args}, {"twice", twice, {}, args}});
  EXPECT_LE(w.distance, 1e-12) << w.name;
}

const Type outer_w{DType::F64, {70, 80}}, outer_row{DType::F64, {80}}, outer_column{DType::F64, {70}};

// Operations on all elements of the matrix that an update of it takes; what it computes is checked.
int operations_of_update(const std::function<Tensor(const Tensors& in)>& g) {
  const Types   types{outer_w, outer_column, outer_column, outer_row, outer_row, outer_row, {DType::F64, {}}};
  const Program p = trace(types, [&](const Tensors& in) -> Tensors { return {in[0] - in[6] * g(in)}; }).program;
  const Program q = codegen::lowered(p);
  Rng           rng(4);
  Arrays        args;
  for (const Type& t : types) args.push_back(random_array(rng, t));
  EXPECT_LE(worst_disagreement({{"update", p, {}, args}}).distance, 1e-12);
  return static_cast<int>(std::count_if(q.eqns.begin(), q.eqns.end(), [&](const Eqn& e) {
    return (e.op == &mul_op || e.op == &add_op || e.op == &sub_op) && q.type(e.out[0]) == outer_w;
  }));
}
Tensor outer(const Tensor& x, const Tensor& y) {
  return dot_general(reshape(x, {1, 70}), reshape(y, {1, 80}), {{0}, {0}, {}, {}});
}

// w_ij - η (x_i a_j + x_i b_j + e_i c_j): two products and two differences per element, whatever the way it is written.
TEST(OuterProducts, AreSumsOfFewTerms) {
  EXPECT_EQ(operations_of_update(
                [](const Tensors& in) { return outer(in[1], in[3]) + outer(in[1], in[4]) + outer(in[2], in[5]); }),
            4);
}

// x (a (b - c)) + x (d + a c - b a) + ½ e d = (x + ½ e) d: one product and one difference.
TEST(OuterProducts, LoseWhatCancels) {
  const auto g = [](const Tensors& in, double times) {
    const Tensor &x = in[1], &e = in[2], &a = in[3], &b = in[4], &c = in[5], d = tanh(a);
    return outer(x, a * (b - c)) + outer(x, d + a * c - times * b * a) + outer(e, 0.5 * d);
  };
  EXPECT_EQ(operations_of_update([&](const Tensors& in) { return g(in, 1); }), 2);
  EXPECT_EQ(operations_of_update([&](const Tensors& in) { return g(in, 0.5); }), 4) << "this does not cancel";
}

// w - η xᵀ v for a batch of a few rows is one pass over w.
TEST(SumsOfFewTerms, FuseWithAnUpdate) {
  Rng        rng(7);
  const auto job = [&](int64_t batch) {
    const Types   types{{DType::F64, {70, 60}}, {DType::F64, {batch, 70}}, {DType::F64, {batch, 60}}};
    const Program p = trace(types, [](const Tensors& in) -> Tensors {
                        return {in[0] - 0.1 * dot_general(in[1], in[2], {{0}, {0}, {}, {}})};
                      }).program;
    Arrays        args;
    for (const Type& t : types) args.push_back(random_array(rng, t));
    return testing_support::Job{"update", p, {}, args};
  };
  const auto stores_gradient = [&](int64_t batch) {
    return codegen::scheduled({job(batch).program}).entries[0]->arena_bytes >= 70 * 60 * 8;
  };
  EXPECT_FALSE(stores_gradient(2));
  EXPECT_FALSE(stores_gradient(4));
  EXPECT_TRUE(stores_gradient(5)) << "a matrix product, and an update";
  EXPECT_LE(worst_disagreement({job(2), job(3), job(4)}).distance, 1e-12);
}

// A matrix product adds its terms in the same order, and zeros change nothing.
TEST(SumsOfFewTerms, HaveTheBitsOfAMatrixProduct) {
  Rng        rng(9);
  const auto product = [](int64_t terms) {
    return trace({{DType::F32, {terms, 70}}, {DType::F32, {terms, 60}}},
                 [](const Tensors& in) -> Tensors {
                   return {dot_general(in[0], in[1], {{0}, {0}, {}, {}})};
                 })
        .program;
  };
  const auto compiled = cpu::compile_together({product(3), product(5)}, {{}, {}});
  const auto padded   = [](const Array& x) {
    return concat({Tensor(x), zeros({2, x.shape()[1]}, DType::F32)}, 0).array();
  };
  const Array a = random_array(rng, {DType::F32, {3, 70}}), b = random_array(rng, {DType::F32, {3, 60}});
  EXPECT_TRUE(identical(compiled[0]->run({a, b})[0], compiled[1]->run({padded(a), padded(b)})[0]));
}

// A vector times a matrix large enough to be shared by its rows, also if the last part has fewer, and on either side.
TEST(SumsByParts, HaveTheValueOfTheWhole) {
  Rng  rng(6);
  int  by_parts = 0;
  auto job      = [&](const char* name, const Type& l, const Type& r, const DotAxes& axes) {
    const Program p =
        trace({l, r}, [&](const Tensors& in) -> Tensors { return {dot_general(in[0], in[1], axes)}; }).program;
    const Program q = codegen::lowered(p);
    for (const Eqn& e : q.eqns) by_parts += e.op == &codegen::part_sums_op ? 1 : 0;
    return testing_support::Job{name, p, {}, {random_array(rng, l), random_array(rng, r)}};
  };
  const auto w = worst_disagreement({
      job("even", {DType::F64, {1, 640}}, {DType::F64, {640, 128}}, {{1}, {0}, {}, {}}),
      job("odd", {DType::F64, {517}}, {DType::F64, {517, 131}}, {{0}, {0}, {}, {}}),
      job("left", {DType::F64, {517, 131}}, {DType::F64, {517}}, {{0}, {0}, {}, {}}),
      job("few columns", {DType::F64, {1, 30011}}, {DType::F64, {30011, 3}}, {{1}, {0}, {}, {}}),
      job("columns", {DType::F64, {1, 131}}, {DType::F64, {517, 131}}, {{1}, {1}, {}, {}}),
  });
  EXPECT_LE(w.distance, 1e-12) << w.name;
  EXPECT_EQ(by_parts, 4) << "all but the sum over columns";
}

}  // namespace
}  // namespace braintrace

// SPDX-License-Identifier: Apache-2.0
// Following values through a program, regions cut out of it, and where control flow hides a product.
#include "braintrace/compiler/flow.h"

#include <gtest/gtest.h>

#include "braintrace/control/cond.h"
#include "braintrace/control/scan.h"
#include "braintrace/control/while.h"
#include "braintrace/ops/compare.h"
#include "braintrace/ops/contract.h"
#include "braintrace/ops/math.h"
#include "braintrace/ops/reduce.h"
#include "braintrace/runtime/values.h"
#include "braintrace/transforms/walk.h"

namespace braintrace {

namespace {

const Type vec{DType::F64, {3}}, mat{DType::F64, {3, 3}};

//   c = tanh a     d = c b     e = c + d     f = exp e
struct Four {
  Program program = trace({vec, vec}, [](const Tensors& in) -> Tensors {
                      const Tensor c = tanh(in[0]), d = c * in[1], e = c + d;
                      return {c, d, e, exp(e)};
                    }).program;
  Flow    flow{program};
  Var a = program.args[0], b = program.args[1], c = program.results[0], d = program.results[1], e = program.results[2],
      f = program.results[3];

  Stops at(Var v) const {
    return {.value = [v](Var u) { return u == v; }};
  }
};

TEST(Reach, GoesOnUntilAStop) {
  const Four p;
  EXPECT_EQ(reach_forward(p.flow, {p.a}), (Vars{p.a, p.c, p.d, p.e, p.f}));
  EXPECT_EQ(reach_forward(p.flow, {p.b}), (Vars{p.b, p.d, p.e, p.f}));
  // A stopped value is reached and not followed; one to start from is followed.
  EXPECT_EQ(reach_forward(p.flow, {p.a}, p.at(p.c)), (Vars{p.a, p.c}));
  EXPECT_EQ(reach_forward(p.flow, {p.c}, p.at(p.c)), (Vars{p.c, p.d, p.e, p.f}));
  // The results of a stopped equation are not reached through it.
  const Stops no_product{.eqn = [](const Eqn& e) { return e.op == &mul_op; }};
  EXPECT_EQ(reach_forward(p.flow, {p.a}, no_product), (Vars{p.a, p.c, p.e, p.f}));
  EXPECT_EQ(reach_forward(p.flow, {p.b}, no_product), (Vars{p.b}));
}

TEST(CutRegion, HoldsWhatIsNotOnTheWay) {
  const Four p;
  const auto ops = [](const Region& r) {
    std::vector<std::string> out;
    for (const Eqn& e : r.program.eqns) out.emplace_back(e.op->name);
    return out;
  };
  using Names      = std::vector<std::string>;
  const Region all = cut_region(p.flow, {p.a}, {p.f});
  EXPECT_EQ(ops(all), (Names{"tanh", "mul", "add", "exp"}));
  EXPECT_EQ(all.constants, (Vars{p.b}));
  EXPECT_EQ(all.eqns, (std::vector<int32_t>{0, 1, 2, 3}));
  // c is held where d reads it, and still a result that the region does not make.
  const Region past = cut_region(p.flow, {p.b}, {p.e, p.c});
  EXPECT_EQ(ops(past), (Names{"mul", "add"}));
  EXPECT_EQ(past.constants, (Vars{p.c}));
  EXPECT_EQ(past.program.results[1], past.program.constants[0]);
  // Held on the way: the path through d is cut, the other one stays.
  const Region around = cut_region(p.flow, {p.c}, {p.e}, p.at(p.d));
  EXPECT_EQ(ops(around), (Names{"add"}));
  EXPECT_EQ(around.constants, (Vars{p.d}));
  // A stopped value may be where a region starts, and where it ends.
  EXPECT_EQ(ops(cut_region(p.flow, {p.d}, {p.f}, p.at(p.d))), (Names{"add", "exp"}));
  EXPECT_EQ(ops(cut_region(p.flow, {p.a}, {p.d}, p.at(p.d))), (Names{"tanh", "mul"}));
  EXPECT_TRUE(cut_region(p.flow, {p.f}, {p.a}).program.eqns.empty());
}

TEST(CutRegion, ComputesWhatTheProgramComputes) {
  const Four    p;
  const Tensors in{Tensor(Array::of<double>({0.1, -0.4, 0.9}, {3})), Tensor(Array::of<double>({2, 3, -1}, {3}))};
  Tensors       values(p.program.types.size());
  scatter(values, p.program.args, in);
  scatter(values, p.program.results, replay(p.program, {}, in));
  for (const Var from : {p.a, p.b, p.c, p.d})
    for (const Var stop : {-1, p.c, p.d}) {
      const Region  r   = cut_region(p.flow, {from}, {p.d, p.f}, p.at(stop));
      const Tensors out = replay(r.program, gather(values, r.constants), {values[from]});
      EXPECT_EQ(max_difference(out[0], values[p.d]) + max_difference(out[1], values[p.f]), 0);
    }
}

// Is the only control flow of the program a product, when `hidden` of its arguments (h, k, W) are hidden states?
bool is_product(const Function& f, const std::vector<size_t>& hidden) {
  const Program p = trace({vec, vec, mat}, f).program;
  Vars          entries;
  for (size_t i : hidden) entries.push_back(p.args[i]);
  const Flow flow(p, entries);
  for (const Eqn& e : p.eqns)
    if (e.op == &scan_op || e.op == &while_op || e.op == &cond_op) return flow.is_product(e);
  ADD_FAILURE() << "no control flow";
  return false;
}

TEST(Products, InsideALoopCountWhenTheyReadAHiddenState) {
  const Function own = [](const Tensors& in) -> Tensors {  // h ← h W
    return scan(
               [&](const Tensors& c, const Tensors&) -> ScanResult {
                 return {{dot(c[0], in[2])}, {}};
               },
               Tensors{in[0]}, Tensors{}, {.length = 30})
        .carry;
  };
  EXPECT_TRUE(is_product(own, {0}));
  EXPECT_FALSE(is_product(own, {}));
  EXPECT_FALSE(is_product(own, {1}));  // not read at all

  const Function beside = [](const Tensors& in) -> Tensors {  // h ← h + W_t W, a row of W in each turn
    return scan(
               [&](const Tensors& c, const Tensors& x) -> ScanResult {
                 return {{c[0] + dot(x[0], in[2])}, {}};
               },
               Tensors{in[0]}, Tensors{in[2]})
        .carry;
  };
  EXPECT_FALSE(is_product(beside, {0}));
  EXPECT_TRUE(is_product(beside, {2}));

  // A value carried next to a hidden state may have read it in the previous iteration.
  const Function turns = [](const Tensors& in) -> Tensors {  // h ← h,  k ← k W + h
    return scan(
               [&](const Tensors& c, const Tensors&) -> ScanResult {
                 return {{c[0], dot(c[1], in[2]) + c[0]}, {}};
               },
               Tensors{in[0], in[1]}, Tensors{}, {.length = 30})
        .carry;
  };
  EXPECT_TRUE(is_product(turns, {0}));
}

TEST(Products, InsideAWhileOrABranch) {
  const Function looped = [](const Tensors& in) -> Tensors {
    return while_loop([](const Tensors& c) { return less(sum(c[0]), 9.0); },
                      [&](const Tensors& c) -> Tensors { return {dot(c[0], in[2])}; }, Tensors{in[0]});
  };
  EXPECT_TRUE(is_product(looped, {0}));
  EXPECT_FALSE(is_product(looped, {1}));

  // The choice of a branch is not an operand of the branch.
  const Function chosen = [](const Tensors& in) -> Tensors {
    const Function yes = [](const Tensors& t) -> Tensors { return {dot(t[0], t[1])}; };
    const Function no  = [](const Tensors& t) -> Tensors { return {t[0]}; };
    return cond(greater(sum(in[0]), 0.0), yes, no, {in[1], in[2]});
  };
  EXPECT_FALSE(is_product(chosen, {0}));
  EXPECT_TRUE(is_product(chosen, {1}));
}

}  // namespace

}  // namespace braintrace

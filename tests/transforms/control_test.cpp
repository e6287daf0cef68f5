// SPDX-License-Identifier: Apache-2.0
// Control flow equals the same computation written out step by step: in value, under every word of transforms.
#include <gtest/gtest.h>

#include "braintrace/control/call.h"
#include "braintrace/control/cond.h"
#include "braintrace/control/custom.h"
#include "braintrace/control/remat.h"
#include "braintrace/control/scan.h"
#include "braintrace/control/while.h"
#include "braintrace/ops/compare.h"
#include "braintrace/ops/contract.h"
#include "braintrace/ops/math.h"
#include "braintrace/ops/move.h"
#include "braintrace/ops/reduce.h"
#include "braintrace/transforms/linearize.h"
#include "tests/transforms/words.h"

namespace braintrace {
namespace {

using testing_support::all_words;
using testing_support::difference;
using testing_support::forward_words;
using testing_support::normal;

constexpr double exact = 1e-12;  // the same operations in f64, sums in another order
constexpr int    T     = 4;

struct Pair {
  std::string name;
  Function    control, unrolled;
  Tensors     in;
  bool        reverse = true;
};

Tensor at_row(const Tensor& xs, int64_t t) { return squeeze(slice_axis(xs, 0, t, t + 1), {0}); }
Tensor int32(int32_t v) { return Array::of<int32_t>({v}, {}); }
Tensor one_of(bool pick, const Tensor& a, const Tensor& b) { return pick ? a : b; }

// h' = tanh(W h + exp(b) x), y = h'²
Tensor step(const Tensor& W, const Tensor& b, const Tensor& h, const Tensor& x) { return tanh(dot(W, h) + exp(b) * x); }

Pair rnn(bool reverse) {
  return {reverse ? "rnn_reversed" : "rnn",
          [=](const Tensors& v) {
            const auto r = scan(
                [&](const Tensors& c, const Tensors& x) -> ScanResult {
                  const Tensor h = step(v[0], v[1], c[0], x[0]);
                  return {{h, c[1] + 1}, {h * h}};
                },
                {v[2], int32(0)}, {v[3]}, {-1, reverse});
            return Tensors{r.carry[0], r.carry[1], r.ys[0]};
          },
          [=](const Tensors& v) {
            Tensor  h = v[2];
            Tensors ys(T);
            for (int i = 0; i < T; ++i) {
              const int t = reverse ? T - 1 - i : i;
              h           = step(v[0], v[1], h, at_row(v[3], t));
              ys[t]       = h * h;
            }
            return Tensors{h, int32(T), stack(ys, 0)};
          },
          {normal({3, 3}, 1), normal({3}, 2), normal({3}, 3), normal({T, 3}, 4)}};
}

// Rows with positive sum are squashed, others squared and halved; the choice is made per row.
Pair cond_in_scan() {
  return {"cond_in_scan",
          [](const Tensors& v) {
            return scan(
                       [&](const Tensors& c, const Tensors& x) -> ScanResult {
                         return {cond(
                                     greater(sum(x[0]), 0),
                                     [&](const Tensors& h) -> Tensors { return {tanh(h[0] * v[0] + x[0])}; },
                                     [&](const Tensors& h) -> Tensors { return {h[0] * h[0] * 0.5 - x[0]}; }, c),
                                 {}};
                       },
                       {v[1]}, {v[2]})
                .carry;
          },
          [](const Tensors& v) {
            Tensor h = v[1];
            for (int t = 0; t < T; ++t) {
              const Tensor x = at_row(v[2], t);
              h              = select(greater(sum(x), 0), tanh(h * v[0] + x), h * h * 0.5 - x);
            }
            return Tensors{h};
          },
          {normal({2}, 5), normal({2}, 6), normal({T, 2}, 7)}};
}

Pair scan_in_cond_in_scan() {
  auto inner = [](const Tensor& w, const Tensor& h, const Tensor& x) {
    return scan(
        [&](const Tensors& c, const Tensors&) -> ScanResult {
          return {{tanh(c[0] * w) + x}, {c[0]}};
        },
        {h}, {}, {3});
  };
  return {"scan_in_cond_in_scan",
          [=](const Tensors& v) {
            const auto r = scan(
                [&](const Tensors& c, const Tensors& x) -> ScanResult {
                  const Tensors y = switch_(x[1],
                                            {[&](const Tensors& h) -> Tensors {
                                               const auto q = inner(v[0], h[0], x[0]);
                                               return {q.carry[0], sum(q.ys[0])};
                                             },
                                             [&](const Tensors& h) -> Tensors {
                                               return {h[0] * v[0], 0.25};
                                             }},
                                            c);
                  return {{y[0]}, {y[1]}};
                },
                {v[1]}, {v[2], Tensor(Array::of<int32_t>({0, 1, 1, 0}, {T}))});
            return Tensors{r.carry[0], r.ys[0]};
          },
          [=](const Tensors& v) {
            Tensor  h = v[1];
            Tensors ys;
            for (int t = 0; t < T; ++t) {
              if (t == 1 || t == 2) {
                h = h * v[0];
                ys.push_back(Tensor(Type{DType::F64, {}}, 0.25));
                continue;
              }
              Tensor total = Tensor(Type{DType::F64, {}}, 0);
              for (int i = 0; i < 3; ++i) {
                total = total + sum(h);
                h     = tanh(h * v[0]) + at_row(v[2], t);
              }
              ys.push_back(total);
            }
            return Tensors{h, stack(ys, 0)};
          },
          {normal({2}, 8), normal({2}, 9), normal({T, 2}, 10)}};
}

// Grows until the sum of squares passes 20 (at most 8 steps): the number of steps depends on the data.
Pair bounded_while(int64_t max_steps) {
  auto more = [](const Tensor& h) { return less(sum(h * h), 20); };
  auto grow = [](const Tensor& w, const Tensor& h) { return h * 1.5 + tanh(w * h); };
  return {max_steps ? "while_bounded" : "while",
          [=](const Tensors& v) {
            return while_loop([&](const Tensors& c) { return more(c[0]); },
                              [&](const Tensors& c) -> Tensors {
                                return {grow(v[0], c[0]), c[1] + 1};
                              },
                              {v[1], int32(0)}, {max_steps});
          },
          [=](const Tensors& v) {
            Tensor h = v[1], n = int32(0);
            for (int i = 0; i < 8; ++i) {
              const Tensor run = more(h);
              n                = n + convert(run, DType::I32);
              h                = select(run, grow(v[0], h), h);
            }
            return Tensors{h, n};
          },
          {normal({2}, 11), normal({2}, 12)},
          max_steps > 0};
}

Pair for_loop(bool dynamic) {
  return {
      dynamic ? "fori_traced_bounds" : "fori",
      [=](const Tensors& v) {
        return fori_loop(
            1, dynamic ? v[2] : int32(4),
            [&](const Tensor& i, const Tensors& c) -> Tensors { return {tanh(c[0] * v[0]) * convert(i, DType::F64)}; },
            {v[1]}, 6);
      },
      [=](const Tensors& v) {
        Tensor h = v[1];
        for (int i = 1; i < 7; ++i) {
          const Tensor next = tanh(h * v[0]) * static_cast<double>(i);
          h                 = dynamic ? select(less(int32(i), v[2]), next, h) : one_of(i < 4, next, h);
        }
        return Tensors{h};
      },
      {normal({2}, 13), normal({2}, 14), int32(4)}};
}

Pair three_way() {
  return {"switch",
          [](const Tensors& v) {
            return switch_(v[0],
                           {[](const Tensors& x) -> Tensors {
                              return {x[0] * x[1], sum(x[0])};
                            },
                            [](const Tensors& x) -> Tensors {
                              return {tanh(x[0]), 0.5};
                            },
                            [&](const Tensors&) -> Tensors {
                              return {exp(v[2]), sum(v[2] * v[1])};
                            }},
                           {v[1], v[2]});
          },
          [](const Tensors& v) {
            const Tensor zero = less_equal(v[0], 0), one = less_equal(v[0], 1);
            return Tensors{select(zero, v[1] * v[2], select(one, tanh(v[1]), exp(v[2]))),
                           select(zero, sum(v[1]), select(one, 0.5, sum(v[2] * v[1])))};
          },
          {int32(0), normal({3}, 15), normal({3}, 16)}};
}

Tensors curve(const Tensors& x) { return {exp(tanh(x[0] * x[1])) * x[1]}; }

Pair in_scan(const std::string& name, const Function& f, const Function& plain) {
  auto loop = [](const Function& g) {
    return [=](const Tensors& v) {
      return scan(
                 [&](const Tensors& c, const Tensors& x) -> ScanResult {
                   return {g({c[0], x[0] + v[0]}), {}};
                 },
                 {v[1]}, {v[2]})
          .carry;
    };
  };
  return {name, loop(f), loop(plain), {normal({2}, 17), normal({2}, 18), normal({T, 2}, 19)}};
}

Function with_rule() {
  return custom_jvp(curve, [](const Tensors& x, const Tensors& dx) -> Tensors {
    const Tensor t = tanh(x[0] * x[1]), y = exp(t);
    return {y * dx[1] + y * x[1] * (1 - t * t) * (x[0] * dx[1] + x[1] * dx[0])};
  });
}
Function with_passes() {
  return custom_vjp(
      curve,
      [](const Tensors& x) -> ForwardPass {
        const Tensor t = tanh(x[0] * x[1]);
        return {{exp(t) * x[1]}, {x[0], x[1], t}};
      },
      [](const Tensors& r, const Tensors& ct) -> Tensors {
        const Tensor y = exp(r[2]), s = y * r[1] * (1 - r[2] * r[2]);
        return {ct[0] * s * r[1], ct[0] * (y + s * r[0])};
      });
}

Pair nested_calls() {
  return {"call",
          [](const Tensors& v) {
            const Function inner = [&](const Tensors& x) { return call("inner", curve, {x[0], v[1]}); };
            return call("outer", [&](const Tensors& x) { return inner(inner(x)); }, {v[0]});
          },
          [](const Tensors& v) {
            return curve({curve(v)[0], v[1]});
          },
          {normal({2}, 20), normal({2}, 21)}};
}

Pair scan_in_remat() {
  auto f = rnn(false).control;
  return {"scan_in_remat", remat(f), rnn(false).unrolled, rnn(false).in};
}

std::vector<Pair> pairs() {
  return {rnn(false),
          rnn(true),
          cond_in_scan(),
          scan_in_cond_in_scan(),
          bounded_while(8),
          bounded_while(0),
          for_loop(false),
          for_loop(true),
          three_way(),
          in_scan("custom_jvp_in_scan", with_rule(), curve),
          in_scan("custom_vjp_in_scan", with_passes(), curve),
          in_scan("remat_in_scan", remat(curve), curve),
          in_scan(
              "call_in_scan", [](const Tensors& x) { return call("curve", curve, x); }, curve),
          nested_calls(),
          scan_in_remat()};
}

class Control : public testing::TestWithParam<Pair> {};

TEST_P(Control, EqualsUnrolledUnderEveryWord) {
  const Pair& p = GetParam();
  for (const std::string& word : p.reverse ? all_words() : forward_words())
    EXPECT_LT(difference(p.control, p.unrolled, p.in, word), exact) << "word " << word;
}

INSTANTIATE_TEST_SUITE_P(Pairs, Control, testing::ValuesIn(pairs()), [](const auto& info) { return info.param.name; });

// What a backward rule leaves undefined is zero.
TEST(CustomVjp, LeavesGradientsOut) {
  const Type     three{DType::F64, {3}};
  const Function f    = custom_vjp([](const Tensors& x) -> Tensors { return {x[0] * x[1]}; },
                                [](const Tensors& x) -> ForwardPass {
                                  return {{x[0] * x[1]}, {x[1]}};
                                },
                                [](const Tensors& r, const Tensors& ct) -> Tensors {
                                  return {ct[0] * r[0], Tensor()};
                                });
  const Traced   t    = trace({three, three}, f);
  const Tensors  back = vjp(t.program, {Tensor(three, 2), Tensor(three, 5)}, {true, true}).pullback({Tensor(three, 1)});
  EXPECT_EQ(max(abs(back[0] - 5)).item(), 0);
  EXPECT_TRUE(!back[1].defined() || max(abs(back[1])).item() == 0);
}

// A choice among one branch is checked as one among several.
TEST(Cond, ChecksWhatEachBranchTakes) {
  const Function twice = [](const Tensors& v) -> Tensors { return {v[0] + v[0]}; };
  const Type     index{DType::I32, {}}, three{DType::F64, {3}};
  for (const std::vector<Function>& branches : {std::vector{twice}, std::vector{twice, twice}}) {
    const Traced t = trace({index, three}, [&](const Tensors& v) { return switch_(v[0], branches, {v[1]}); });
    ASSERT_EQ(t.program.eqns.size(), 1u);
    const Attrs& attrs = t.program.eqns[0].attrs;
    EXPECT_EQ(apply(cond_op, {Tensor(index, 0), Tensor(three, 1)}, attrs)[0].type(), three);
    EXPECT_THROW(apply(cond_op, {Tensor(index, 0), Tensor(Type{DType::F64, {2}}, 1)}, attrs), UserError);
  }
}

TEST(Cond, AnIndexOutsideTakesTheFirstOrTheLastBranch) {
  std::vector<Function> branches;
  for (const double k : {1, 2, 3}) branches.emplace_back([k](const Tensors& v) -> Tensors { return {v[0] * k}; });
  const Type index{DType::I32, {}};
  for (const auto& [i, k] : {std::pair(-7, 1), {-1, 1}, {0, 1}, {1, 2}, {2, 3}, {3, 3}, {99, 3}})
    for (const Tensor& at : {Tensor(index, i), Tensor(Array::of<int32_t>({i}, {}))})
      EXPECT_EQ(switch_(at, branches, {Tensor(Type{DType::F64, {}}, 5)})[0].item(), 5 * k) << i;
}

TEST(ControlControl, AnotherFunctionIsSeen) {
  const Pair p     = rnn(false);
  auto       other = [&](const Tensors& v) {
    Tensors y = p.unrolled(v);
    y[2]      = y[2] * 1.001;
    return y;
  };
  for (const char* word : {"", "F", "R", "RF", "M"}) EXPECT_GT(difference(p.control, other, p.in, word), 1e-6) << word;
}

}  // namespace
}  // namespace braintrace

// SPDX-License-Identifier: Apache-2.0
// What control flow does beyond equality with the unrolled form: user rules, structure of derivatives, transposition of
// mixed linear loops, messages.
#include <cmath>
#include <gmock/gmock.h>

#include <gtest/gtest.h>

#include "braintrace/control/call.h"
#include "braintrace/control/cond.h"
#include "braintrace/control/custom.h"
#include "braintrace/control/remat.h"
#include "braintrace/control/scan.h"
#include "braintrace/control/while.h"
#include "braintrace/ops/compare.h"
#include "braintrace/ops/constant.h"
#include "braintrace/ops/math.h"
#include "braintrace/ops/move.h"
#include "braintrace/ops/reduce.h"
#include "braintrace/transforms/inline.h"
#include "braintrace/transforms/jacobian.h"
#include "braintrace/transforms/jvp.h"
#include "braintrace/transforms/linearize.h"
#include "braintrace/transforms/simplify.h"
#include "braintrace/transforms/walk.h"
#include "tests/transforms/words.h"

namespace braintrace {
namespace {

using testing::HasSubstr;
using testing_support::difference;
using testing_support::normal;
using testing_support::results;
using testing_support::run_of;
using testing_support::transformed;

Tensor f64(double v) { return Array::scalar(DType::F64, v); }

template <class F>
std::string message_of(F f) {
  try {
    f();
  } catch (const UserError& e) {
    return e.what();
  }
  return "nothing was thrown";
}

// Equations of an op at the top level, and in all nested programs.
int64_t count(const Program& p, const std::string& op, bool nested) {
  int64_t n = 0;
  for (const Eqn& e : p.eqns) {
    n += e.op->name == op;
    if (!nested) continue;
    for (const Attr& a : e.attrs) {
      if (const auto* one = std::get_if<ProgramPtr>(&a.value)) n += count(**one, op, true);
      if (const auto* many = std::get_if<ProgramPtrs>(&a.value))
        for (const ProgramPtr& q : *many) n += count(*q, op, true);
    }
  }
  return n;
}

// A step function whose derivative is that of a smooth one.
Tensors spike(const Tensors& v) {
  return custom_jvp([](const Tensors& x) -> Tensors { return {convert(greater(x[0], 0), DType::F64)}; },
                    [](const Tensors& x, const Tensors& dx) -> Tensors {
                      const Tensor t = tanh(x[0]);
                      return {(1 - t * t) * dx[0]};
                    })(v);
}

TEST(CustomJvp, RuleServesBothModes) {
  const Tensor x = normal({4}, 1), v = normal({4}, 2);
  const auto   p    = run_of(spike, {x}).program;
  const Tensor push = jvp(p, {x}, {v}).tangents[0];
  const Tensor pull = vjp(p, {x}, {true}).pullback({v})[0];
  const Tensor want = (1 - tanh(x) * tanh(x)) * v;
  EXPECT_LT(difference({push}, {want}), 1e-15);
  EXPECT_LT(difference({pull}, {want}), 1e-15);
  EXPECT_EQ(at(replay(p, {}, {x})[0].array(), 0), at(x.array(), 0) > 0);
}

TEST(CustomJvp, TangentOnAClosedOverTensorIsRefused) {
  const Function f = [](const Tensors& v) {
    return custom_jvp([&](const Tensors& x) -> Tensors { return {x[0] * v[1]}; },
                      [&](const Tensors&, const Tensors& dx) -> Tensors { return {dx[0] * v[1]}; })({v[0]});
  };
  const Tensors in = {f64(2), f64(3)};
  const auto    p  = run_of(f, in).program;
  EXPECT_EQ(jvp(p, in, {f64(1), Tensor()}).tangents[0].item(), 3);
  EXPECT_THAT(message_of([&] { jvp(p, in, {f64(1), f64(1)}); }), HasSubstr("closes over a tensor f64[]"));
}

TEST(CustomJvp, OneOfTwoArgumentsMayBeFixed) {
  const Function f = [](const Tensors& v) {
    return custom_jvp([](const Tensors& x) -> Tensors { return {x[0] * x[1]}; },
                      [](const Tensors& x, const Tensors& dx) -> Tensors { return {x[1] * dx[0] + x[0] * dx[1]}; })(v);
  };
  const Tensors in = {normal({3}, 1), normal({3}, 2)};
  const Tensor  v  = normal({3}, 3);
  const auto    p  = run_of(f, in).program;
  EXPECT_LT(difference(vjp(p, in, {true, false}).pullback({v}), {in[1] * v}), 1e-15);
  EXPECT_LT(difference(vjp(p, in, {false, true}).pullback({v}), {in[0] * v}), 1e-15);
  EXPECT_LT(difference(jvp(p, in, {Tensor(), v}).tangents, {in[0] * v}), 1e-15);
}

Function clipped() {
  return custom_vjp([](const Tensors& x) -> Tensors { return {x[0] * 3}; },
                    [](const Tensors& x) -> ForwardPass {
                      return {{x[0] * 3}, {}};
                    },
                    [](const Tensors&, const Tensors& ct) -> Tensors {
                      return {maximum(-1, -maximum(-1, -ct[0])) * 3};  // clipped to [-1, 1]
                    });
}

TEST(CustomVjp, BackwardNeedNotBeLinear) {
  const auto p = run_of(clipped(), {f64(1)}).program;
  EXPECT_EQ(vjp(p, {f64(1)}, {true}).pullback({f64(5)})[0].item(), 3);
  EXPECT_EQ(vjp(p, {f64(1)}, {true}).pullback({f64(-0.5)})[0].item(), -1.5);
  // Inside a loop: the cotangent is clipped at each of the three steps, 1 → 3 → clipped.
  const Function loop = [](const Tensors& v) {
    return fori_loop(
        0, 3, [](const Tensor&, const Tensors& c) { return clipped()(c); }, v);
  };
  EXPECT_EQ(vjp(run_of(loop, {f64(1)}).program, {f64(1)}, {true}).pullback({f64(1)})[0].item(), 3);
}

TEST(CustomVjp, ForwardModeOfANonlinearBackwardIsRefused) {
  const auto p = run_of(clipped(), {f64(1)}).program;
  EXPECT_THAT(message_of([&] { jvp(p, {f64(1)}, {f64(1)}); }), HasSubstr("bwd is not linear in the cotangents"));
  const auto shifted = custom_vjp([](const Tensors& x) -> Tensors { return {x[0]}; },
                                  [](const Tensors& x) -> ForwardPass {
                                    return {{x[0]}, {}};
                                  },
                                  [](const Tensors&, const Tensors& ct) -> Tensors { return {ct[0] + 1}; });
  EXPECT_THAT(message_of([&] { jvp(run_of(shifted, {f64(1)}).program, {f64(1)}, {f64(1)}); }), HasSubstr("affine"));
}

TEST(Remat, KeepsOnlyInputs) {
  const Function f     = [](const Tensors& x) -> Tensors { return {exp(tanh(exp(x[0])))}; };
  const Program  plain = simplify(transformed(run_of(f, {f64(0.3)}), "R").program);
  const Program  saved = simplify(transformed(run_of(remat(f), {f64(0.3)}), "R").program);
  EXPECT_EQ(count(plain, "exp", true), 2);  // shared by both passes
  EXPECT_EQ(count(saved, "exp", false), 0);
  EXPECT_EQ(count(saved, "exp", true), 4);  // computed in each pass
  EXPECT_LT(difference(f, remat(f), {f64(0.3)}, "RR"), 1e-14);
}

TEST(Scan, WhatDependsOnConstsIsComputedOnce) {
  const Function f = [](const Tensors& v) {
    return scan(
               [&](const Tensors& c, const Tensors& x) -> ScanResult {
                 return {{c[0] * exp(v[0]) + x[0]}, {}};
               },
               {v[1]}, {v[2]})
        .carry;
  };
  const Program p = simplify(transformed(run_of(f, {normal({2}, 1), normal({2}, 2), normal({5, 2}, 3)}), "R").program);
  EXPECT_EQ(count(p, "exp", false), 1);
  EXPECT_EQ(count(p, "scan", false), 2);
  // The forward scan stacks one residual, the carry before each step.
  for (const Eqn& e : p.eqns)
    if (e.op->name == "scan") {
      EXPECT_LE(e.out.size(), 3u) << print(p);
    }
}

TEST(Scan, UnchangedCarryBecomesConst) {
  const Function f = [](const Tensors& v) {
    return scan(
               [&](const Tensors& c, const Tensors& x) -> ScanResult {
                 return {{c[0], c[1] + c[0] * x[0]}, {c[1]}};
               },
               {v[0], v[1]}, {v[2]})
        .carry;
  };
  const auto    run = run_of(f, {f64(2), f64(3), normal({5}, 4)});
  const Program p   = simplify(run.program);
  EXPECT_EQ(p.eqns.back().attrs[Key<int64_t>{"carry"}], 1);
  EXPECT_LT(difference(results(run), replay(p, {}, run.in)), 1e-15);
}

TEST(Cond, OnlyTheChosenBranchRuns) {
  // The other branch would never end.
  const Function forever = [](const Tensors& x) {
    return while_loop(
        [](const Tensors&) {
          return Tensor(Type{DType::Bool, {}}, 1);
        },
        [](const Tensors& c) -> Tensors { return {c[0] + 0}; }, x);
  };
  const Tensor y = cond(Array::of<bool>({true}, {}), [](const Tensors& x) { return x; }, forever, {f64(7)})[0];
  EXPECT_EQ(y.item(), 7);
}

TEST(Simplify, KnownChoicesAndCallsDisappear) {
  const Function f = [](const Tensors& v) {
    const Tensor known = Tensor(Type{DType::Bool, {}}, 1);
    return cond(
        known,
        [](const Tensors& x) {
          return call(
              "g", [](const Tensors& y) -> Tensors { return {tanh(y[0])}; }, x);
        },
        [](const Tensors& x) { return x; }, v);
  };
  const Program p = simplify(run_of(f, {f64(1)}).program);
  ASSERT_EQ(p.eqns.size(), 1u) << print(p);
  EXPECT_EQ(p.eqns[0].op->name, "tanh");
  // The only branch there is, whatever the index.
  const Function only = [](const Tensors& v) {
    return switch_(convert(v[0], DType::I32), {[](const Tensors& x) -> Tensors { return {tanh(x[0])}; }}, v);
  };
  const Program q = simplify(run_of(only, {f64(1)}).program);
  EXPECT_EQ(count(q, "cond", true), 0) << print(q);
  EXPECT_EQ(replay(q, {}, {f64(1)})[0].item(), std::tanh(1.));
  const auto calls = run_of([](const Tensors& v) { return call("g", spike, v); }, {f64(1)});
  EXPECT_EQ(count(calls.program, "call", true), 1);
  EXPECT_EQ(count(inline_calls(calls.program), "call", true), 0);
}

TEST(Simplify, LoopsThatNeverRunDisappear) {
  const auto loop = [](bool runs) {
    return simplify(run_of(
                        [=](const Tensors& v) {
                          return while_loop(
                              [=](const Tensors&) {
                                return Tensor(Type{DType::Bool, {}}, runs ? 1 : 0);
                              },
                              [](const Tensors& c) -> Tensors { return {tanh(c[0])}; }, v, {.max_steps = 3});
                        },
                        {f64(1)})
                        .program);
  };
  EXPECT_TRUE(loop(false).eqns.empty()) << print(loop(false));
  EXPECT_FALSE(loop(true).eqns.empty());
}

// y = Σ_t a_t x over t with a_{t+1} = tanh(a_t) · t: linear in x, not in a; the counter and a are carries too.
Tensors mixed_loop(const Tensors& v) {
  const Tensors c = fori_loop(0, 5,
                              [](const Tensor& i, const Tensors& c) -> Tensors {
                                return {tanh(c[0]) * convert(i, DType::F64) + 1, c[1] + c[0] * c[2], c[2] * 1.5};
                              },
                              {v[0], zeros_like(v[1]), v[1]});
  return {c[0], c[1]};
}

TEST(Transpose, LinearAndNonlinearCarriesInOneLoop) {
  const Tensor  a = normal({3}, 1), x = normal({3}, 2), ct = normal({3}, 3);
  const auto    p = run_of(mixed_loop, {a, x}).program;
  const Tensors t = transpose(p, {}, {a, Tensor()}, {false, true}, {Tensor(), ct});
  const Tensor  y = replay(p, {}, {a, x})[1];
  EXPECT_FALSE(t[0].defined());
  EXPECT_NEAR(sum(t[1] * x).item(), sum(ct * y).item(), 1e-12);
  EXPECT_GT(std::abs(sum(ct * y).item()), 1e-3);
}

// Only the operands in which a loop is linear get a gradient, also when others were read in the same equations.
TEST(Transpose, FixedOperandsOfALoopGetNothing) {
  const Tensor   a = normal({3}, 1), xs = normal({4, 3}, 2), h = normal({3}, 3), ct = normal({3}, 4);
  const Function f = [](const Tensors& v) {
    return scan(
               [&](const Tensors& c, const Tensors& x) -> ScanResult {
                 return {{c[0] * v[0] + x[0] * 2.}, {}};
               },
               {v[1]}, {v[2]})
        .carry;
  };
  const auto p = run_of(f, {a, h, xs}).program;
  const Eqn& e = p.eqns.back();
  ASSERT_EQ(e.op->name, "scan");
  const Tensors t = transpose(p, {}, {a, Tensor(), Tensor()}, {false, true, true}, {ct});
  EXPECT_FALSE(t[0].defined());
  const Tensor y = replay(p, {}, {a, h, xs})[0];
  EXPECT_NEAR(sum(t[1] * h).item() + sum(t[2] * xs).item(), sum(ct * y).item(), 1e-12);
  // The same for the operation itself.
  const Tensors in{a, Tensor(), Tensor()}, cts{ct};
  const Types   types = types_of({a, h, xs});
  const Mask    linear{false, true, true};
  const Tensors direct = e.op->transpose({*e.op, e.attrs, in, types, linear, cts});
  EXPECT_FALSE(direct[0].defined());
  EXPECT_TRUE(direct[1].defined());
}

TEST(Transpose, NonlinearFunctionsAreRefused) {
  auto refuse = [](const Function& f, const Tensors& in) {
    const auto p = run_of(f, in).program;
    return message_of([&] { transpose(p, {}, Tensors(in.size()), Mask(in.size(), true), {f64(1)}); });
  };
  EXPECT_THAT(refuse([](const Tensors& x) -> Tensors { return {x[0] * x[0]}; }, {f64(1)}),
              HasSubstr("each operand alone"));
  EXPECT_THAT(refuse([](const Tensors& x) -> Tensors { return {x[0] + 1}; }, {f64(1)}), HasSubstr("affine"));
  EXPECT_THAT(refuse([](const Tensors& x) -> Tensors { return {tanh(x[0])}; }, {f64(1)}), HasSubstr("tanh"));
  EXPECT_THAT(refuse(
                  [](const Tensors& x) {
                    return cond(
                        greater(x[0], 0), [](const Tensors& v) { return v; }, [](const Tensors& v) { return v; }, x);
                  },
                  {f64(1)}),
              HasSubstr("index"));
}

TEST(While, ReverseWithoutBoundSaysWhatToDo) {
  const Function f = [](const Tensors& v) {
    return while_loop([](const Tensors& c) { return less(c[0], 10); },
                      [](const Tensors& c) -> Tensors { return {c[0] * 2}; }, v);
  };
  const auto p = run_of(f, {f64(1)}).program;
  EXPECT_EQ(replay(p, {}, {f64(1)})[0].item(), 16);
  EXPECT_EQ(jvp(p, {f64(1)}, {f64(1)}).tangents[0].item(), 16);
  const std::string text = message_of([&] { vjp(p, {f64(1)}, {true}); });
  EXPECT_THAT(text, HasSubstr("max_steps"));
  EXPECT_THAT(text, HasSubstr("scan"));
}

// One step hands a value on to the next carry, so marks take as many rounds as there are carries.
TEST(While, DependenceReachesEveryCarry) {
  const Function f = [](const Tensors& v) {
    return while_loop([](const Tensors& c) { return less(c[3], 10); },
                      [&](const Tensors& c) -> Tensors {
                        return {c[0] + v[0], c[0] * 2, c[1] * 2, c[3] + 1};
                      },
                      {v[1], v[1], v[1], f64(0)}, {.max_steps = 10});
  };
  const auto p = run_of(f, {f64(1), f64(2)}).program;
  EXPECT_EQ(result_dependence(p, {true, false}), (Mask{true, true, true, false}));
}

TEST(While, StopsAtTheBound) {
  const Tensors y = while_loop(
      [](const Tensors&) {
        return Tensor(Type{DType::Bool, {}}, 1);
      },
      [](const Tensors& c) -> Tensors { return {c[0] + 1}; }, {f64(0)}, {5});
  EXPECT_EQ(y[0].item(), 5);
}

TEST(ControlErrors, NameTheCarryAndBothTypes) {
  const std::string text = message_of([] {
    scan(
        [](const Tensors& c, const Tensors& x) -> ScanResult {
          return {{c[0], c[1] + x[0]}, {}};
        },
        {f64(0), f64(0)}, {normal({4, 2}, 1)});
  });
  EXPECT_THAT(text, HasSubstr("scan: carry 1 starts as f64[] but the body returns f64[2]"));
  EXPECT_THAT(message_of([] {
                while_loop(
                    [](const Tensors&) {
                      return Tensor(Type{DType::Bool, {}}, 0);
                    },
                    [](const Tensors& c) -> Tensors {
                      return {c[0], c[0]};
                    },
                    {f64(0)});
              }),
              HasSubstr("while_loop: the body must return one tensor per carry (1), got 2"));
}

// Only numbers without a type of their own take the one of the carry.
TEST(ControlErrors, CarriesKeepTheirElementType) {
  const auto run = [](const Function& step) {
    return scan(
               [&](const Tensors& c, const Tensors&) -> ScanResult {
                 return {step(c), {}};
               },
               {Tensor(Type{DType::F32, {2}}, 1)}, {}, {.length = 2})
        .carry[0];
  };
  EXPECT_THAT(message_of([&] { run([](const Tensors& c) -> Tensors { return {convert(c[0], DType::F64)}; }); }),
              HasSubstr("carry 0 starts as f32[2] but the body returns f64[2]"));
  EXPECT_THAT(message_of([&] { run([](const Tensors&) -> Tensors { return {Tensor(2.)}; }); }),
              HasSubstr("carry 0 starts as f32[2] but the body returns"));
  EXPECT_EQ(run([](const Tensors& c) -> Tensors { return {c[0] * 2.}; }).dtype(), DType::F32);
}

TEST(ControlErrors, OtherMistakes) {
  const Function one = [](const Tensors& x) { return x; };
  EXPECT_THAT(message_of([&] {
                cond(Array::of<bool>({true}, {}), one,
                     [](const Tensors& x) -> Tensors { return {broadcast_to(x[0], {2})}; }, {f64(0)});
              }),
              HasSubstr("result 0 is f64[2] in branch 0 and f64[] in branch 1"));
  EXPECT_THAT(message_of([&] {
                cond(Array::of<bool>({true, false}, {2}), one, one, {f64(0)});
              }),
              HasSubstr("must be a scalar, got bool[2]"));
  EXPECT_THAT(message_of([&] { switch_(f64(1), {one}, {f64(0)}); }), HasSubstr("integer or bool"));
  EXPECT_THAT(message_of([] {
                scan([](const Tensors& c, const Tensors&) -> ScanResult { return {c, {}}; }, {f64(0)}, {});
              }),
              HasSubstr("ScanOptions.length"));
  EXPECT_THAT(message_of([] {
                scan(
                    [](const Tensors& c, const Tensors&) -> ScanResult {
                      return {c, {}};
                    },
                    {}, {normal({3}, 1), normal({4}, 1)});
              }),
              HasSubstr("xs 1 is f64[4], but the length is 3"));
  EXPECT_THAT(message_of([&] { while_loop([](const Tensors& c) { return greater(c[0], 0); }, one, {normal({2}, 1)}); }),
              HasSubstr("condition must be a scalar, got bool[2]"));
  EXPECT_THAT(message_of([] {
                custom_vjp([](const Tensors& x) { return x; },
                           [](const Tensors& x) -> ForwardPass {
                             return {x, {}};
                           },
                           [](const Tensors&, const Tensors& ct) -> Tensors { return {sum(ct[0])}; })({normal({2}, 1)});
              }),
              HasSubstr("bwd must return f64[2] as tensor 0, got f64[]"));
}

TEST(ControlErrors, MalformedTextIsRefused) {
  const std::string good = print(run_of(mixed_loop, {normal({3}, 1), normal({3}, 2)}).program);
  EXPECT_NO_THROW(parse(good));
  for (const auto& [from, to] : std::vector<std::pair<std::string, std::string>>{{"carry=3", "carry=4"},
                                                                                 {"carry=3", "carry=-1"},
                                                                                 {"carry=3", "carry=99"},
                                                                                 {"length=5", "length=-5"},
                                                                                 {"length=5", "length=6"},
                                                                                 {"consts=", "constants="},
                                                                                 {"reverse=false", "reverse=1"}}) {
    std::string bad = good;
    ASSERT_NE(bad.find(from), std::string::npos) << from;
    bad.replace(bad.find(from), from.size(), to);
    EXPECT_THROW(parse(bad), UserError) << to;
  }
}

TEST(Jacobian, ForwardIsReverse) {
  const Function f = [](const Tensors& v) -> Tensors {
    return {tanh(v[0] * 2), sum(v[0] * v[0]), v[1], mixed_loop({sum(v[0], Ints{0}), v[1]})[1]};
  };
  const auto run = run_of(f, {normal({2, 3}, 1), normal({3}, 2)});
  for (size_t input : {size_t{0}, size_t{1}}) {
    const Program forward = jacfwd_program(run.program, input), reverse = jacrev_program(run.program, input);
    verify(forward);
    verify(reverse);
    const Tensors j = replay(forward, {}, run.in);
    EXPECT_LT(difference(j, replay(reverse, {}, run.in)), 1e-12);
    EXPECT_EQ(j.size(), 8u);
  }
  const Tensor d = jacfwd(run.program, run.in, 0).of[1];  // ∂Σx²/∂x = 2x
  EXPECT_LT(difference({d}, {run.in[0] * 2}), 1e-14);
  EXPECT_THAT(message_of([&] { jacrev(run.program, run.in, 2); }), HasSubstr("input 2"));
}

// Patterns made by iota survive program-level transforms, as equations or as constants of the program.
TEST(Programs, ConstantsMadeInsideAreKept) {
  const Function f = [](const Tensors& v) -> Tensors {
    return {v[0] * convert(iota({3}, 0), DType::F64), v[0] * Tensor(Array::of<double>({1, 2, 3}, {3}))};
  };
  const Function g = [](const Tensors& v) -> Tensors {
    return {v[0] * Tensor(Array::of<double>({0, 1, 2}, {3})), v[0] * Tensor(Array::of<double>({1, 2, 3}, {3}))};
  };
  for (const auto& word : testing_support::all_words())
    EXPECT_LT(difference(f, g, {normal({3}, 1)}, word), 1e-15) << word;
}

}  // namespace
}  // namespace braintrace

// SPDX-License-Identifier: Apache-2.0
// Properties of transforms on random programs. Each is a measurement of a program; a broken op shows that it can fail.
#include <cmath>
#include <cstdlib>

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "braintrace/control/custom.h"
#include "braintrace/ops/families.h"
#include "braintrace/ops/math.h"
#include "braintrace/ops/move.h"
#include "braintrace/ops/reduce.h"
#include "braintrace/transforms/jvp.h"
#include "braintrace/transforms/linearize.h"
#include "braintrace/transforms/simplify.h"
#include "braintrace/transforms/vmap.h"
#include "braintrace/transforms/walk.h"
#include "tests/transforms/random_program.h"

namespace braintrace {
namespace {

using namespace testing_support;

constexpr double exact       = 1e-10;  // the same sums in another order, through several ops
constexpr double by_quotient = 1e-5;   // central differences in f64

// A fixed seed makes failures repeatable; RC_PARAMS in the environment takes precedence.
const int configured = setenv("RC_PARAMS", "seed=3 max_success=60 max_size=60", 0);

rc::Gen<Recipe> recipes() {
  const auto number = rc::gen::resize(100, rc::gen::inRange<uint32_t>(0, 1u << 16));
  const auto step   = rc::gen::map(rc::gen::tuple(number, number, number), [](const auto& t) {
    return Step{std::get<0>(t), std::get<1>(t), std::get<2>(t)};
  });
  return rc::gen::mapcat(rc::gen::inRange<size_t>(0, 7), [=](size_t n) { return rc::gen::container<Recipe>(n, step); });
}

template <class Property>
bool holds(const char* name, Property property) {
  return rc::check(name, [&] {
    const Recipe recipe = *recipes();
    RC_LOG() << "ops: " << testing_support::describe(recipe) << "\n";
    property(random_run(recipe));
  });
}

double dot_all(const Tensors& a, const Tensors& b) {
  double s = 0;
  for (size_t i = 0; i < a.size(); ++i)
    if (a[i].defined() && b[i].defined()) s += sum(a[i] * b[i]).item();
  return s;
}
Tensors directions(const Tensors& like, uint64_t seed) {
  Tensors out;
  for (const Tensor& t : like) out.push_back(normal(t.shape(), seed++));
  return out;
}
Tensors moved(const Tensors& x, double h, const Tensors& v) {
  Tensors out;
  for (size_t i = 0; i < x.size(); ++i) out.push_back(x[i] + v[i] * h);
  return out;
}
double relative(double a, double b) { return std::abs(a - b) / std::max({1.0, std::abs(a), std::abs(b)}); }

// |Jv - difference quotient|, or -1 where two step sizes disagree: a kink is near.
double jvp_error(const Instance& r) {
  const Tensors v        = directions(r.in, 7);
  auto          quotient = [&](double h) {
    const Tensors up = replay(r.program, {}, moved(r.in, h, v)), down = replay(r.program, {}, moved(r.in, -h, v));
    Tensors       out;
    for (size_t k = 0; k < up.size(); ++k) out.push_back((up[k] - down[k]) * (0.5 / h));
    return out;
  };
  const Tensors fine = quotient(1e-5);
  if (!(difference(fine, quotient(1e-4)) < by_quotient)) return -1;
  const Pushed p = jvp(r.program, r.in, v);
  return difference(instantiated(p.tangents, types_of(p.out)), fine);
}

// |⟨c, Jv⟩ - ⟨Jᵀc, v⟩|
double adjoint_error(const Instance& r) {
  const Tensors v = directions(r.in, 7);
  const Pushed  p = jvp(r.program, r.in, v);
  const Tensors c = directions(p.out, 9);
  return relative(dot_all(c, p.tangents), dot_all(vjp(r.program, r.in, {true, true}).pullback(c), v));
}

// vmap against a loop over samples
double vmap_error(const Instance& r) {
  const Instance wide   = transformed(r, "M");
  const Tensors  all    = results(wide);
  double         error  = 0;
  auto           sample = [](const Tensors& batch, int64_t b) {
    Tensors out;
    for (const Tensor& t : batch) out.push_back(squeeze(slice_axis(t, 0, b, b + 1), {0}));
    return out;
  };
  for (int64_t b = 0; b < 3; ++b)
    error = std::max(error, difference(sample(all, b), replay(r.program, {}, sample(wide.in, b))));
  return error;
}

// vmap of jvp against jvp of vmap
double commute_error(const Instance& r) {
  Instance       fm = transformed(r, "FM");
  const Instance mf{jvp_program(vmap_program(r.program, {true, true}, 3), {true, true}), fm.in};
  verify(mf.program);
  return difference(results(fm), results(mf));
}

// A pass changes a value, or changes its own result.
double pass_error(const Instance& r, const std::function<Program(const Program&)>& pass) {
  const Program once = pass(r.program);
  verify(once);
  if (!equal(pass(once), once)) return INFINITY;
  return difference(replay(once, {}, r.in), results(r));
}

double text_error(const Instance& r) {
  const Program back = parse(print(r.program));
  return equal(back, r.program) && hash(back) == hash(r.program) ? 0 : 1;
}

// ⟨u, H v⟩ against ⟨v, H u⟩ of the sum of all results
double hessian_error(const Instance& r) {
  const auto    run  = transformed(r, "R");
  const size_t  outs = r.program.results.size();
  const Tensors u = directions(r.in, 7), v = directions(r.in, 8), y = results(r);
  Tensors       at = r.in;
  for (const Tensor& t : y) at.push_back(Tensor(t.type(), 1));
  auto product = [&](const Tensors& d) {
    const Pushed p = jvp(run.program, at, joined(d, Tensors(outs)));
    return Tensors(p.tangents.begin() + static_cast<int64_t>(outs), p.tangents.end());
  };
  return relative(dot_all(u, product(v)), dot_all(v, product(u)));
}

bool finite(const Instance& r) { return difference(results(r), results(r)) == 0; }

TEST(RandomPrograms, JvpIsDifferenceQuotient) {
  EXPECT_TRUE(holds("jvp = differences", [](const Instance& r) {
    RC_PRE(finite(r));
    const double error = jvp_error(r);
    RC_PRE(error >= 0);  // no kink nearby
    RC_ASSERT(error < by_quotient * 10);
  }));
}
TEST(RandomPrograms, VjpIsAdjointOfJvp) {
  EXPECT_TRUE(holds("adjoint", [](const Instance& r) {
    RC_PRE(finite(r));
    RC_ASSERT(adjoint_error(r) < exact);
  }));
}
TEST(RandomPrograms, VmapIsLoop) {
  EXPECT_TRUE(holds("vmap = loop", [](const Instance& r) {
    RC_PRE(finite(transformed(r, "M")));
    RC_ASSERT(vmap_error(r) < exact);
  }));
}
TEST(RandomPrograms, VmapAndJvpCommute) {
  EXPECT_TRUE(holds("vmap jvp = jvp vmap", [](const Instance& r) {
    RC_PRE(finite(transformed(r, "FM")));
    RC_ASSERT(commute_error(r) < exact);
  }));
}
TEST(RandomPrograms, PassesKeepValuesAndAreIdempotent) {
  EXPECT_TRUE(holds("passes", [](const Instance& r) {
    RC_PRE(finite(r));
    const std::function<Program(const Program&)> passes[] = {simplify, cse, dce};
    for (const auto& pass : passes) {
      RC_ASSERT(pass_error(r, pass) < exact);
      RC_ASSERT(pass_error(transformed(r, "R"), pass) < exact);
    }
  }));
}
TEST(RandomPrograms, TextRoundTrips) {
  EXPECT_TRUE(holds("text", [](const Instance& r) {
    RC_ASSERT(text_error(r) == 0);
    RC_ASSERT(text_error(transformed(r, "R")) == 0);
  }));
}
TEST(RandomPrograms, HessianIsSymmetric) {
  EXPECT_TRUE(holds("hessian", [](const Instance& r) {
    RC_PRE(finite(transformed(r, "RF")));
    RC_ASSERT(hessian_error(r) < exact);
  }));
}

// Negative controls: each measurement on a program with an op that breaks the property.
Instance broken(const Op& op) {
  return run_of(
      [&](const Tensors& v) -> Tensors {
        return {apply1(op, {v[0] * 2}) * v[1], tanh(v[1])};
      },
      {normal({2, 3}, 1), normal({2, 3}, 2)});
}

TEST(RandomProgramsControl, WrongDerivativeIsSeen) {
  static constinit const Op bad =
      elementwise({.name   = "bad_cube",
                   .doc    = "x³ with derivative x²",
                   .scalar = {.real    = [](const double* x) { return x[0] * x[0] * x[0]; },
                              .partial = {[](const Tensors& x, const Tensor&) { return x[0] * x[0]; }}}});
  EXPECT_GT(jvp_error(broken(bad)), 1e-2);
}
TEST(RandomProgramsControl, WrongTransposeIsSeen) {
  static constinit const Op bad = elementwise({.name      = "bad_neg",
                                               .doc       = "-x with transpose +ct",
                                               .linearity = Linearity::Joint,
                                               .transpose = [](const TransposeArgs& a) -> Tensors { return {a.ct[0]}; },
                                               .scalar    = {.real = [](const double* x) { return -x[0]; }}});
  EXPECT_GT(adjoint_error(broken(bad)), 1e-2);
}
TEST(RandomProgramsControl, WrongBatchIsSeen) {
  static constinit const Op bad = elementwise({.name      = "bad_batch",
                                               .doc       = "x, but batching flips the sign",
                                               .linearity = Linearity::Joint,
                                               .batch     = [](const BatchArgs& a) -> Tensors { return {-a.in[0]}; },
                                               .scalar    = {.real = [](const double* x) { return x[0]; }}});
  EXPECT_GT(vmap_error(broken(bad)), 1e-2);
}
TEST(RandomProgramsControl, BatchThatForgetsTheRuleIsSeen) {
  // Batched, it becomes another op: the same value, but no derivative.
  static constinit const Op bad = elementwise(
      {.name  = "bad_square",
       .doc   = "x², whose batching loses the derivative",
       .batch = [](const BatchArgs& a) -> Tensors {
         return {custom_jvp([](const Tensors& x) -> Tensors { return {x[0] * x[0]}; },
                            [](const Tensors&, const Tensors& dx) -> Tensors { return {dx[0] * 0}; })({a.in[0]})};
       },
       .scalar = {.real    = [](const double* x) { return x[0] * x[0]; },
                  .partial = {[](const Tensors& x, const Tensor&) { return x[0] * 2; }}}});
  EXPECT_LT(vmap_error(broken(bad)), exact);
  EXPECT_GT(commute_error(broken(bad)), 1e-2);
}
TEST(RandomProgramsControl, WrongSimplificationIsSeen) {
  static constinit const Op bad =
      elementwise({.name     = "bad_simple",
                   .doc      = "2x that simplifies to x",
                   .simplify = [](const Op&, const Tensors& in, const Attrs&) -> Tensors { return in; },
                   .scalar   = {.real = [](const double* x) { return 2 * x[0]; }}});
  EXPECT_GT(pass_error(broken(bad), simplify), 1e-2);
  // A pass that grows the program is not idempotent.
  auto grows = [](const Program& p) {
    Program out = p;
    out.eqns.push_back({&tanh_op, {p.results[0]}, {out.add_value(p.type(p.results[0]))}, {}, 0});
    return out;
  };
  EXPECT_EQ(pass_error(broken(tanh_op), grows), INFINITY);
}
TEST(RandomProgramsControl, OtherTextIsAnotherProgram) {
  const Program p    = broken(tanh_op).program;
  std::string   text = print(p);
  text.replace(text.rfind("tanh"), 4, "exp");
  EXPECT_FALSE(equal(parse(text), p));
  EXPECT_NE(hash(parse(text)), hash(p));
}
TEST(RandomProgramsControl, AsymmetricHessianIsSeen) {
  // A tangent rule that no function has: dy = x₁ dx₀.
  const Function f = [](const Tensors& v) -> Tensors {
    return custom_jvp([](const Tensors& x) -> Tensors { return {x[0] * x[1]}; },
                      [](const Tensors& x, const Tensors& dx) -> Tensors { return {x[1] * dx[0]}; })(v);
  };
  EXPECT_GT(hessian_error(run_of(f, {normal({3}, 1), normal({3}, 2)})), 1e-2);
}

}  // namespace
}  // namespace braintrace

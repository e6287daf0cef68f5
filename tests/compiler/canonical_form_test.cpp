// SPDX-License-Identifier: Apache-2.0
// Calls, conditionals and scans inside a step: their form in the flat program, with the same values as
// before.
#include <algorithm>
#include <functional>

#include <gtest/gtest.h>

#include "braintrace/compiler/canonicalize.h"
#include "braintrace/compiler/graph.h"
#include "braintrace/control/call.h"
#include "braintrace/control/cond.h"
#include "braintrace/control/scan.h"
#include "braintrace/control/while.h"
#include "braintrace/etp/dense.h"
#include "braintrace/functions/functions.h"
#include "braintrace/ops/compare.h"
#include "braintrace/ops/math.h"
#include "braintrace/ops/move.h"
#include "braintrace/ops/reduce.h"
#include "braintrace/runtime/values.h"
#include "braintrace/transforms/linearize.h"

namespace braintrace {

namespace {

using K = DiagnosticKind;

const Type vec{DType::F64, {3}}, mat{DType::F64, {3, 3}};

// One step over x, hidden state h and weight w, brought into canonical form. The first result is the new state.
struct Form {
  Traced      before, after;
  Diagnostics log;

  explicit Form(const Function& step, const ControlFlowPolicy& policy = {}) {
    before = trace({vec, vec, mat}, step);
    StepRoles    roles;
    const size_t lead      = before.constants.size();
    roles.weight           = Mask(lead + 3);
    roles.hidden           = Mask(lead + 3);
    roles.exit             = Mask(before.program.results.size());
    roles.weight[lead + 2] = roles.hidden[lead + 1] = roles.exit[0] = true;
    after                                                           = canonicalize(before, roles, policy, log);
    verify(after.program);
  }

  size_t count(const std::string& op) const {
    size_t n = 0;
    for (const Eqn& e : after.program.eqns) n += e.op->name == op;
    return n;
  }
  size_t records(K kind) const {
    return static_cast<size_t>(std::count_if(log.begin(), log.end(), [&](const auto& r) { return r.kind == kind; }));
  }

  static Tensors inputs(double sign) {
    const Tensor x(from_doubles(vec, std::vector<double>{.5, -.2, .9})),
        h(from_doubles(vec, std::vector<double>{.1, .4, -.3}));
    return {sign * x, h, Tensor(from_doubles(mat, std::vector<double>{.1, .2, -.3, .4, .5, -.6, .7, -.8, .2}))};
  }
  // Values and gradients of all inputs, on both sides of a conditional on the sign of x.
  void expect_same() const {
    for (double sign : {1.0, -1.0}) {
      const Tensors in = inputs(sign);
      for (size_t k = 0; k < before.program.results.size(); ++k) {
        const auto pull = [&](const Traced& t) {
          Mask active(t.constants.size(), false);
          active.resize(t.constants.size() + 3, true);
          Tensors all = t.constants;
          all.insert(all.end(), in.begin(), in.end());
          const auto r = vjp(t.program, all, active);
          Tensors    ct(t.program.results.size());
          ct[k]       = Tensor(t.program.type(t.program.results[k]), 1);
          Tensors out = r.pullback(ct);
          out.push_back(r.out[k]);
          return out;
        };
        const Tensors was = pull(before), is = pull(after);
        ASSERT_EQ(was.size(), is.size());
        for (size_t i = 0; i < was.size(); ++i) {
          if (!was[i].defined() && !is[i].defined()) continue;  // undefined is zero
          const Tensor zero(was[i].defined() ? was[i].type() : is[i].type(), 0);
          EXPECT_LT(max_difference(was[i].defined() ? was[i] : zero, is[i].defined() ? is[i] : zero), 1e-13)
              << "result " << k << ", input " << i;
        }
      }
    }
  }
};

Tensor cell(const Tensor& x, const Tensor& h, const Tensor& w) { return 0.5 * h + tanh(matmul(x + h, w)); }
Tensor positive(const Tensor& x) { return greater(sum(x), 0.0); }

struct Row {
  std::string                name;
  Function                   step;
  std::map<std::string, int> counts;  // operations of the canonical form
  std::map<K, int>           records;
  ControlFlowPolicy          policy = {};
};
void PrintTo(const Row& r, std::ostream* out) { *out << r.name; }
class CanonicalForm : public testing::TestWithParam<Row> {};

TEST_P(CanonicalForm, HasTheOperationsAndTheValues) {
  const Form form(GetParam().step, GetParam().policy);
  for (const auto& [op, n] : GetParam().counts) EXPECT_EQ(form.count(op), static_cast<size_t>(n)) << op;
  for (const auto& [kind, n] : GetParam().records)
    EXPECT_EQ(form.records(kind), static_cast<size_t>(n)) << name_of(kind);
  form.expect_same();
}

Tensors in_call(const Function& f, const Tensors& in) { return call("f", f, in); }

const Function call_cell = [](const Tensors& t) -> Tensors { return {cell(t[0], t[1], t[2])}; };
const Function identity  = [](const Tensors& t) -> Tensors { return t; };

Tensor scan_cell(const Tensors& t, int64_t length, bool reverse = false) {
  const ScanBody body = [&](const Tensors& c, const Tensors&) -> ScanResult { return {{cell(t[0], c[0], t[2])}, {}}; };
  return scan(body, Tensors{t[1]}, Tensors{}, {.length = length, .reverse = reverse}).carry[0];
}

INSTANTIATE_TEST_SUITE_P(
    Calls, CanonicalForm,
    testing::Values(Row{"one", [](auto& t) { return in_call(call_cell, t); }, {{"call", 0}, {"matmul", 1}}, {}},
                    Row{"two_deep",
                        [](auto& t) { return in_call([](auto& u) { return in_call(call_cell, u); }, t); },
                        {{"call", 0}, {"matmul", 1}},
                        {}},
                    Row{"identity", [](auto& t) { return Tensors{in_call(identity, t)[1] + t[0]}; }, {{"call", 0}}, {}},
                    Row{"twice",
                        [](auto& t) {
                          const Tensor once = in_call(call_cell, t)[0];
                          return in_call(call_cell, {t[0], once, t[2]});
                        },
                        {{"call", 0}, {"matmul", 2}},
                        {}},
                    Row{"in_a_scan_and_a_branch",
                        [](auto& t) -> Tensors {
                          const Function yes = [](const Tensors& u) { return in_call(call_cell, u); };
                          const Function no  = [](const Tensors& u) -> Tensors { return {u[1]}; };
                          return cond(positive(t[0]), yes, no, t);
                        },
                        {{"call", 0}, {"cond", 0}, {"matmul", 1}},
                        {{K::CondIfConverted, 1}}}),
    [](const auto& info) { return info.param.name; });

INSTANTIATE_TEST_SUITE_P(
    Conditionals, CanonicalForm,
    testing::Values(Row{"two_results",
                        [](auto& t) -> Tensors {
                          const Function yes = [](const Tensors& u) -> Tensors {
                            return {cell(u[0], u[1], u[2]), u[0]};
                          };
                          const Function no = [](const Tensors& u) -> Tensors { return {u[1], 2.0 * u[0]}; };
                          return cond(positive(t[0]), yes, no, t);
                        },
                        {{"cond", 0}, {"select", 2}},
                        {{K::CondIfConverted, 1}}},
                    Row{"nested",
                        [](auto& t) -> Tensors {
                          const Function inner = [](const Tensors& u) -> Tensors {
                            const Function a = [](const Tensors& v) -> Tensors { return {cell(v[0], v[1], v[2])}; };
                            const Function b = [](const Tensors& v) -> Tensors { return {v[1] * v[1]}; };
                            return cond(greater(sum(u[1]), 0.1), a, b, u);
                          };
                          const Function no = [](const Tensors& u) -> Tensors { return {0.1 * u[1]}; };
                          return cond(positive(t[0]), inner, no, t);
                        },
                        {{"cond", 0}, {"select", 2}},
                        {{K::CondIfConverted, 2}}},
                    Row{"with_a_short_scan_inside",
                        [](auto& t) -> Tensors {
                          const Function yes = [](const Tensors& u) -> Tensors { return {scan_cell(u, 2)}; };
                          const Function no  = [](const Tensors& u) -> Tensors { return {u[1]}; };
                          return cond(positive(t[0]), yes, no, t);
                        },
                        {{"cond", 0}, {"scan", 0}, {"matmul", 2}},
                        {{K::CondIfConverted, 1}, {K::ScanUnrolled, 1}}},
                    Row{"with_a_long_scan_inside",
                        [](auto& t) -> Tensors {
                          const Function yes = [](const Tensors& u) -> Tensors { return {scan_cell(u, 20)}; };
                          const Function no  = [](const Tensors& u) -> Tensors { return {u[1]}; };
                          return cond(positive(t[0]), yes, no, t);
                        },
                        {{"cond", 1}},
                        {{K::CondConversionSkipped, 1}, {K::CondIfConverted, 0}}},
                    Row{"of_data_alone",
                        [](auto& t) -> Tensors {
                          const Function yes = [](const Tensors& u) -> Tensors { return {2.0 * u[0]}; };
                          const Function no  = [](const Tensors& u) -> Tensors { return {tanh(u[0])}; };
                          return {cell(cond(positive(t[0]), yes, no, {t[0]})[0], t[1], t[2])};
                        },
                        {{"cond", 1}},
                        {{K::CondIfConverted, 0}, {K::CondConversionSkipped, 0}}},
                    Row{"of_three_branches",
                        [](auto& t) -> Tensors {
                          const Function a = [](const Tensors& u) -> Tensors { return {cell(u[0], u[1], u[2])}; };
                          const Function b = [](const Tensors& u) -> Tensors { return {u[1]}; };
                          const Function c = [](const Tensors& u) -> Tensors { return {tanh(u[1])}; };
                          return switch_(convert(positive(t[0]), DType::I32) + 1, {a, b, c}, t);
                        },
                        {{"cond", 0}, {"select", 2}},
                        {{K::CondIfConverted, 1}}},
                    Row{"left_by_policy",
                        [](auto& t) -> Tensors {
                          const Function no = [](const Tensors& u) -> Tensors { return {u[1]}; };
                          return cond(positive(t[0]), call_cell, no, t);
                        },
                        {{"cond", 1}},
                        {{K::CondIfConverted, 0}},
                        {.cond = ControlFlowPolicy::Cond::Opaque}}),
    [](const auto& info) { return info.param.name; });

INSTANTIATE_TEST_SUITE_P(
    Scans, CanonicalForm,
    testing::Values(Row{"three_steps",
                        [](auto& t) { return Tensors{scan_cell(t, 3)}; },
                        {{"scan", 0}, {"matmul", 3}},
                        {{K::ScanUnrolled, 1}}},
                    Row{"one_step",
                        [](auto& t) { return Tensors{scan_cell(t, 1)}; },
                        {{"scan", 0}, {"matmul", 1}},
                        {{K::ScanUnrolled, 1}}},
                    Row{"reversed_with_rows",
                        [](auto& t) -> Tensors {
                          const ScanBody body = [&](const Tensors& c, const Tensors& x) -> ScanResult {
                            return {{cell(x[0], c[0], t[2]), c[1] * x[0]}, {c[0], x[0] + c[1]}};
                          };
                          const Tensor rows = stack({t[0], 2.0 * t[0], t[0] * t[0]}, 0);
                          const auto   r    = scan(body, Tensors{t[1], t[0]}, Tensors{rows}, {.reverse = true});
                          return {r.carry[0], r.carry[1], r.ys[0], r.ys[1]};
                        },
                        {{"scan", 0}, {"matmul", 3}},
                        {{K::ScanUnrolled, 1}}},
                    Row{"nested_two_by_two",
                        [](auto& t) -> Tensors {
                          const ScanBody outer = [&](const Tensors& c, const Tensors&) -> ScanResult {
                            return {{scan_cell({t[0], c[0], t[2]}, 2)}, {}};
                          };
                          return scan(outer, Tensors{t[1]}, Tensors{}, {.length = 2}).carry;
                        },
                        {{"scan", 0}, {"matmul", 4}},
                        {{K::ScanUnrolled, 3}}},
                    Row{"conditional_inside",
                        [](auto& t) -> Tensors {
                          const ScanBody body = [&](const Tensors& c, const Tensors&) -> ScanResult {
                            const Function no = [](const Tensors& u) -> Tensors { return {0.3 * u[1]}; };
                            return {cond(greater(sum(c[0]), 0.0), call_cell, no, {t[0], c[0], t[2]}), {}};
                          };
                          return scan(body, Tensors{t[1]}, Tensors{}, {.length = 2}).carry;
                        },
                        {{"scan", 0}, {"cond", 0}, {"matmul", 2}},
                        {{K::ScanUnrolled, 1}, {K::CondIfConverted, 2}}},
                    Row{"a_short_one_and_a_long_one",
                        [](auto& t) {
                          return Tensors{scan_cell({t[0], scan_cell(t, 2), t[2]}, 17)};
                        },
                        {{"scan", 1}, {"matmul", 2}},
                        {{K::ScanUnrolled, 1}, {K::ScanUnrollSkipped, 1}}},
                    Row{"two_long_ones",
                        [](auto& t) {
                          return Tensors{scan_cell({t[0], scan_cell(t, 17), t[2]}, 17)};
                        },
                        {{"scan", 2}},
                        {{K::ScanUnrollSkipped, 2}}},
                    Row{"switched_off",
                        [](auto& t) { return Tensors{scan_cell(t, 3)}; },
                        {{"scan", 1}},
                        {{K::ScanUnrolled, 0}, {K::ScanUnrollSkipped, 0}},
                        {.scan_unroll_limit = 0}},
                    Row{"over_a_function_of_a_weight",
                        [](auto& t) -> Tensors {
                          const ScanBody body = [&](const Tensors& c, const Tensors& x) -> ScanResult {
                            return {{c[0] * tanh(x[0])}, {}};
                          };
                          return scan(body, Tensors{t[1]}, Tensors{2.0 * t[2]}).carry;
                        },
                        {{"scan", 1}},
                        {{K::RelationExcludedSlicedWeight, 1}}},
                    Row{"over_the_result_of_a_product",
                        [](auto& t) -> Tensors {
                          const ScanBody body = [&](const Tensors& c, const Tensors& x) -> ScanResult {
                            return {{c[0] * x[0]}, {}};
                          };
                          return {scan(body, Tensors{sum(t[1])}, Tensors{matmul(t[0], t[2])}).carry[0] * t[1]};
                        },
                        {{"scan", 0}},
                        {{K::RelationExcludedSlicedWeight, 0}, {K::ScanUnrolled, 1}}},
                    Row{"of_data_alone",
                        [](auto& t) -> Tensors {
                          const ScanBody body = [](const Tensors& c, const Tensors&) -> ScanResult {
                            return {{tanh(c[0])}, {}};
                          };
                          return {cell(scan(body, Tensors{t[0]}, Tensors{}, {.length = 3}).carry[0], t[1], t[2])};
                        },
                        {{"scan", 1}},
                        {{K::ScanUnrolled, 0}, {K::ScanUnrollSkipped, 0}}}),
    [](const auto& info) { return info.param.name; });

// A function inside a function, a loop inside a loop, a branch inside a branch.
TEST(CanonicalFormLimits, NestingBeyondTheLimitIsRefusedWithTheRemedy) {
  const Function calls = [](const Tensors& t) { return in_call([](auto& u) { return in_call(call_cell, u); }, t); };
  const Function loops = [](const Tensors& t) -> Tensors {
    const ScanBody body = [&](const Tensors& c, const Tensors&) -> ScanResult {
      return {{scan_cell({t[0], c[0], t[2]}, 2)}, {}};
    };
    return {scan(body, Tensors{t[1]}, Tensors{}, {.length = 2}).carry[0]};
  };
  const Function branches = [](const Tensors& t) {
    const Function inner = [](const Tensors& u) { return cond(positive(u[1]), call_cell, call_cell, u); };
    return cond(positive(t[0]), inner, inner, t);
  };
  for (const Function& deep : {calls, loops, branches}) {
    EXPECT_NO_THROW(Form(deep, {.fixpoint_iteration_limit = 2}));
    try {
      const Form form(deep, {.fixpoint_iteration_limit = 1});
      FAIL() << "no error";
    } catch (const CompileError& e) {
      EXPECT_NE(std::string(e.what()).find("fixpoint_iteration_limit = 1"), std::string::npos) << e.what();
    }
  }
}

TEST(CanonicalFormLimits, TheSameStepGivesTheSameText) {
  const auto text = [] { return print(Form([](auto& t) { return Tensors{scan_cell(t, 3)}; }).after.program); };
  EXPECT_EQ(text(), text());
}

}  // namespace

}  // namespace braintrace

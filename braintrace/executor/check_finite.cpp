// SPDX-License-Identifier: Apache-2.0
#include "braintrace/executor/check_finite.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "braintrace/ops/families.h"
#include "braintrace/ops/move.h"

namespace braintrace {

namespace {

constexpr Key<std::string> what_key{"what"};

Types check_infer(const Op&, const Types& in, const Attrs&) { return {in[0]}; }

Arrays check_eval(const Op&, const Arrays& in, const Attrs& attrs, const Types&) {
  const Array &x = in[0], &when = in[1];
  for (int64_t i = 0; i < x.size(); ++i)
    require(
        std::isfinite(at(x, i)),
        "check_finite: {} is not finite: element {} of {} is {}.\n  In call {} since the last reset, step {} of its "
        "window.",
        attrs[what_key], i, to_string(x.type()), at(x, i), at(when, 0), at(when, 1));
  return {x};
}

Tensors check_batch(const BatchArgs& a) {
  const Tensor when = a.batched[1] ? reshape(slice_axis(a.in[1], 0, 0, 1), {2}) : a.in[1];
  return apply(a.op, {with_batch_axis(a.in[0], a.batched[0], a.size), when}, a.attrs);
}

AxisLinks check_depend(const DependArgs& a) { return a.operand == 0 ? elementwise_depend(a) : AxisLinks{}; }

constinit const Op check_finite_op{
    .name            = "check_finite",
    .doc             = "x, an error when it is not finite",
    .operands        = "x when",
    .infer           = check_infer,
    .eval            = check_eval,
    .linearity       = Linearity::Joint,
    .linear_operands = 1,
    .transpose =
        [](const TransposeArgs& a) {
          return Tensors{a.ct[0], Tensor()};
        },
    .batch  = check_batch,
    .depend = check_depend,
    .sample = [](const Op&, Rng&) -> std::vector<Sample> {
      return {
          {{Array::of<double>({5, -1, 3}, {3}), Array::of<int32_t>({2, 0}, {2})}, Attrs{{what_key, std::string("x")}}}};
    },
};

const bool registered = (register_op(check_finite_op), true);

// The states a value of the step goes into.
std::string states_reached(const ModuleInfo& info, size_t eqn) {
  const Program& p = info.program();
  Mask           reached(p.types.size());
  for (Var v : p.eqns[eqn].out) reached[v] = true;
  for (size_t e = eqn + 1; e < p.eqns.size(); ++e)
    if (std::any_of(p.eqns[e].in.begin(), p.eqns[e].in.end(), [&](Var v) { return reached[v]; }))
      for (Var v : p.eqns[e].out) reached[v] = true;
  std::vector<std::string> states;
  for (const HiddenVar& h : info.hidden)
    if (reached[h.out]) states.push_back(h.path.str());
  return states.empty() ? "no hidden state" : fmt::format("{}", fmt::join(states, ", "));
}

}  // namespace

Tensor checked_finite(const Tensor& x, const Tensor& when, const std::string& what) {
  if (!x.defined() || !is_float(x.dtype())) return x;
  return apply(check_finite_op, {x, when}, Attrs{{what_key, what}})[0];
}

std::string describe_input(const ModuleInfo& info, size_t input) {
  return input < info.step.num_args ? fmt::format("input {}", input)
                                    : info.step.reads[input - info.step.num_args].place();
}

std::string describe_equation(const ModuleInfo& info, size_t eqn) {
  const Program&     p    = info.program();
  const std::string& note = p.notes[p.eqns[eqn].note];
  return fmt::format("the result of equation {} of the step{},\n    {}\n  which goes into {},", eqn,
                     note.empty() ? "" : fmt::format(" ({})", note), describe(p, eqn), states_reached(info, eqn));
}

}  // namespace braintrace

// SPDX-License-Identifier: Apache-2.0
#include "braintrace/fidelity/check_grad.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "braintrace/algorithms/registry.h"
#include "braintrace/algorithms/rtrl.h"
#include "braintrace/base/percent.h"
#include "braintrace/base/rng.h"
#include "braintrace/compiler/canonicalize.h"
#include "braintrace/control/custom.h"
#include "braintrace/fidelity/finite_difference.h"
#include "braintrace/fidelity/in_double.h"
#include "braintrace/fidelity/workload.h"
#include "braintrace/functions/functions.h"
#include "braintrace/ops/math.h"
#include "braintrace/ops/move.h"
#include "braintrace/ops/random.h"
#include "braintrace/ops/reduce.h"
#include "braintrace/ops/spike.h"
#include "braintrace/transforms/linearize.h"
#include "braintrace/transforms/simplify.h"
#include "braintrace/transforms/walk.h"

namespace braintrace {

namespace {

// A leaf of a parameter, and where the loss reads it.
struct Parameter {
  Path        path;
  std::string leaf;
  size_t      input;  // among the arguments of the program
  Tensor      value;

  std::string name() const { return leaf_name(path, leaf); }
};

// L(θ) as a program of the parameters, from the start of the sequence to its end.
struct LossProgram {
  Program                program;
  Tensors                inputs;  // its arguments: constants, then present values of the states that are read
  std::vector<Parameter> parameters;

  LossProgram(Module& model, const StepLoss& loss, const Tensors& xs) {
    TraceOptions keep;
    for (const auto& [path, state] : model.params())
      for (const std::string& leaf : state.leaf_names()) keep.keep.push_back({state, leaf});
    const int64_t         T = xs[0].shape()[0];
    const StatefulProgram p = trace_function(
        {},
        [&](const Tensors&) {
          Tensor total;
          for (int64_t t = 0; t < T; ++t) {
            Tensors x;
            for (const Tensor& all : xs) x.push_back(row(all, t));
            const Tensor step = loss(model.call(x).at(0), t);
            require(step.defined() && is_float(step.dtype()) && step.rank() == 0,
                    "check_grad: the loss of a step must be a floating-point scalar, got {}.\n"
                    "  Reduce it with sum() or mean().",
                    step.defined() ? to_string(step.type()) : "an undefined tensor");
            total = total.defined() ? total + step : step;
          }
          return Tensors{total};
        },
        keep);
    program = simplify(p.program);
    program.results.resize(1);
    program = constants_as_args(dce(program));
    inputs  = joined(p.constants, p.inputs({}));
    for (const auto& [path, state] : model.params())
      for (const std::string& leaf : state.leaf_names()) {
        const auto at = std::find(p.reads.begin(), p.reads.end(), StateLeaf{state, leaf}) - p.reads.begin();
        parameters.push_back({path, leaf, p.constants.size() + static_cast<size_t>(at), state.leaf(leaf)});
      }
  }

  double value(const Tensors& in) const { return replay(program, {}, in)[0].item(); }
  // By reverse mode over all steps; zeros where the loss does not depend on a parameter.
  Tensors gradient() const {
    Mask active(inputs.size());
    for (const Parameter& p : parameters) active[p.input] = true;
    const VjpResult r  = vjp(program, inputs, active);
    const Tensors   ct = spread(r.pullback({Tensor(r.out[0].type(), 1)}), active);
    Tensors         out;
    for (const Parameter& p : parameters) out.push_back(instantiated({ct[p.input]}, {p.value.type()})[0]);
    return out;
  }
};

// Operations between a parameter and the loss that determine whether finite differences are meaningful.
struct OnTheWay {
  bool  spike = false, held = false, own_derivative = false;
  DType least = DType::F64;  // the element type with the fewest digits

  void look(const Program& p, const Mask& active) {
    const Mask depends = forward_dependence(p, active), needed = backward_dependence(p, Mask(p.results.size(), true));
    for (const Eqn& e : p.eqns) {
      const auto reads = std::any_of(e.in.begin(), e.in.end(), [&](Var v) { return depends[v]; });
      const auto leads = std::any_of(e.out.begin(), e.out.end(), [&](Var v) { return needed[v]; });
      if (reads && leads) note(p, e);
    }
  }

 private:
  void note(const Program& p, const Eqn& e) {
    spike |= e.op == &spike_op;
    held |= e.op == &stop_gradient_op;
    for (Var v : e.out)
      if (is_float(p.type(v).dtype) && size_of(p.type(v).dtype) < size_of(least)) least = p.type(v).dtype;
    // A custom derivative may hold values constant or round them: finite differences check the result.
    if (e.op == &custom_jvp_op || e.op == &custom_vjp_op) {
      own_derivative = true;
      return;
    }
    for (const ProgramPtr& inner : nested_programs(e.attrs)) look(*inner, Mask(program_inputs(*inner).size(), true));
  }
};

int digits_of(double relative_error) {
  if (relative_error == 0) return 15;
  if (!std::isfinite(relative_error)) return 0;
  return std::clamp(static_cast<int>(std::floor(-std::log10(relative_error))), 0, 15);
}

Agreement agreement(double relative_error, int wanted, bool must_hold) {
  Agreement a{relative_error, digits_of(relative_error), must_hold, true, {}};
  a.holds = a.digits >= wanted;
  a.words = a.holds                         ? fmt::format("agrees to {} digits", a.digits)
            : relative_error < 0.1          ? fmt::format("{:.2g}% off", 100 * relative_error)
            : std::isfinite(relative_error) ? percent(relative_error, 0) + " off"
                                            : "not finite, or not zero where the exact gradient is";
  return a;
}

double norm(const Tensor& t) { return std::sqrt(sum(square(convert(t, DType::F64))).item()); }

// Zero is what rounding leaves of a loss of this size.
double noise(double loss) { return 1e-13 * std::max(1.0, std::abs(loss)); }

double relative_error(const Tensor& got, const Tensor& exact, double loss) {
  const double off = norm(got - exact), size = norm(exact);
  if (size <= noise(loss)) return off <= noise(loss) ? 0 : INFINITY;
  return off / size;
}

// One direction after the other: some entries alone, then all of them at once. Unit length.
Tensors directions(const Tensor& value, int64_t entries, Rng& rng) {
  const int64_t        n = value.size();
  std::vector<int64_t> chosen;
  for (int64_t i = 0; i < std::min(n, entries); ++i) chosen.push_back(n <= entries ? i : rng.integer(n));
  Tensors    out;
  const auto add = [&](const std::vector<double>& v) { out.emplace_back(Array::of(v, value.shape())); };
  for (int64_t i : chosen) {
    std::vector<double> v(static_cast<size_t>(n));
    v[static_cast<size_t>(i)] = 1;
    add(v);
  }
  if (n > entries) {
    std::vector<double> v;
    for (int64_t i = 0; i < n; ++i) v.push_back((rng.bits() & 1 ? 1 : -1) / std::sqrt(static_cast<double>(n)));
    add(v);
  }
  return out;
}

Agreement by_finite_differences(const LossProgram& loss, const Parameter& p, const Tensor& g, const OnTheWay& way,
                                double at_rest, const CheckGradOptions& o) {
  Rng           rng(o.seed);
  const int64_t n     = std::max<int64_t>(1, p.value.size());
  const double  scale = std::max(norm(p.value) / std::sqrt(static_cast<double>(n)), 0.1);
  const double  size  = std::max(norm(g), noise(at_rest));
  double        off = 0, largest = 0, doubt = 0;
  for (const Tensor& v : directions(p.value, o.entries, rng)) {
    const auto moved = [&](double h) {
      Tensors in  = loss.inputs;
      in[p.input] = p.value + h * v;
      return loss.value(in);
    };
    const Slope  slope = slope_at_zero(moved, 0.02 * scale, 1e-11 * size);
    const double want = sum(g * v).item(), difference = std::abs(slope.value - want);
    off     = std::max(off, std::isfinite(difference) ? difference : INFINITY);
    largest = std::max({largest, std::abs(slope.value), std::abs(want)});
    doubt   = std::max(doubt, slope.error);
  }
  // The precision of finite differences if intermediate values have few digits.
  const int    possible = way.least == DType::F64 ? 12 : way.least == DType::F32 ? 3 : 1;
  const double zero     = 1e2 * noise(at_rest);
  Agreement    a        = agreement(largest <= zero ? 0 : off / largest, std::min(o.digits, possible), true);
  if (possible < o.digits)
    a.words += fmt::format(" (values in {} on the path: {} digits are required)", name_of(way.least), possible);
  if (a.holds) return a;
  if (10 * doubt >= off)
    a.words += fmt::format(": finite differences themselves are good to {} digits here (rounding, a kink or a jump)",
                           digits_of(doubt / largest));
  else if (way.own_derivative)
    a.words += ": a custom derivative (custom_jvp, custom_vjp) on the path does not match its function";
  else
    a.words += ": reverse mode and finite differences disagree";
  return a;
}

// Σ_t of the step form's gradients.
Gradients gradient_of(OnlineLearner& learner, const StepLoss& loss, const Tensors& xs) {
  Gradients total;
  for (int64_t t = 0; t < xs[0].shape()[0]; ++t) {
    Tensors x;
    for (const Tensor& all : xs) x.push_back(row(all, t));
    const Gradients g = grad([&] { return loss(learner.update(x).front(), t); }, learner.model().params())();
    total             = t == 0 ? g : total + g;
  }
  return total;
}

std::string why_off(const ETraceGraph& graph, const std::string& parameter) {
  switch (credit_of(graph, parameter)) {
    case Credit::Trace:
      return "an approximation of the rule";
    case Credit::Window:
      return "it reaches its state only through other products, so it gets the same-step gradient step by step, and "
             "learns in windows";
    case Credit::SameStep:
      break;
  }
  return "a plain weight: no trainable operation connects it to a state, so it gets the same-step gradient";
}

// Inputs in double, with the leading time axis checked.
Tensors wide_inputs(const Tensors& given) {
  require(!given.empty(), "check_grad: the model needs a sequence of inputs.");
  Tensors xs;
  for (const Tensor& x : given) {
    require(x.defined() && x.rank() > 0 && x.shape()[0] > 0 && x.shape()[0] == given[0].shape()[0],
            "check_grad: inputs need a leading time axis of at least one step, the same for all; got {}.",
            x.defined() ? to_string(x.type()) : "an undefined tensor");
    xs.push_back(is_float(x.dtype()) ? convert(x, DType::F64) : x);
  }
  return xs;
}

// Compares reverse mode of one parameter with finite differences, or says why there are none.
ParameterCheck against_differences(const LossProgram& program, const Parameter& p, const Tensor& exact, double loss,
                                   const CheckGradOptions& o) {
  ParameterCheck c{p.name(), norm(exact), {}, {}, {}, {}};
  Mask           active(program.inputs.size());
  active[p.input] = true;
  OnTheWay way;
  way.look(program.program, active);
  if (way.spike)
    c.why_no_differences =
        "a spike is on the path: its derivative is that of the surrogate; the true one is zero or infinite";
  else if (way.held)
    c.why_no_differences = "stop_gradient is on the path: differences would vary what the gradient treats as constant";
  else
    c.finite_differences = by_finite_differences(program, p, exact, way, loss, o);
  return c;
}

// For inputs of these types; limits the bytes of its traces.
void compile_within(OnlineLearner& learner, const Types& step, int64_t limit) {
  learner.compile_graph(step);
  int64_t bytes = 0;
  for (const MemorySlot& slot : learner.memory_slots()) bytes += slot.type.bytes();
  require(bytes <= limit, "its traces take {} MiB", bytes >> 20);
}

}  // namespace

GradCheck check_grad(Module& model, const StepLoss& loss, const Tensor& xs, const CheckGradOptions& options) {
  return check_grad(model, loss, Tensors{xs}, options);
}

GradCheck check_grad(Module& model, const StepLoss& loss, const Tensors& given, const CheckGradOptions& o) {
  require(o.digits >= 1 && o.digits <= 12, "check_grad: digits must be from 1 to 12, got {}.", o.digits);
  require(o.entries >= 1, "check_grad: entries must be at least 1, got {}.", o.entries);
  const Tensors xs = wide_inputs(given);
  Types         step;
  for (const Tensor& x : xs) step.push_back({x.dtype(), Shape(x.shape().begin() + 1, x.shape().end())});
  std::vector<const Algorithm*> rules;
  for (const std::string& name : o.rules) rules.push_back(&algorithm_named(name));

  const InDouble    wide(model);
  const LossProgram program(model, loss, xs);
  const Tensors     exact = program.gradient();
  GradCheck         out;
  out.input  = to_string(step[0]);
  out.steps  = xs[0].shape()[0];
  out.loss   = program.value(program.inputs);
  out.digits = o.digits;
  require(std::isfinite(out.loss), "check_grad: the loss is {}; start from values that give a finite one.", out.loss);
  for (size_t i = 0; i < exact.size(); ++i)
    out.parameters.push_back(against_differences(program, program.parameters[i], exact[i], out.loss, o));

  const auto compare = [&](const std::string& rule, bool is_rtrl, const auto& make) {
    wide.start();
    try {
      const std::unique_ptr<OnlineLearner> learner = make();
      compile_within(*learner, step, o.memory_limit);
      const Gradients got = gradient_of(*learner, loss, xs);
      if (!is_rtrl) out.rules.push_back(rule);
      for (size_t i = 0; i < exact.size(); ++i) {
        const Parameter& p = program.parameters[i];
        Agreement found    = agreement(relative_error(got.at(p.path, p.leaf), exact[i], out.loss), o.digits, is_rtrl);
        if (!found.holds)
          found.words += is_rtrl ? " reverse mode over the whole sequence" : ": " + why_off(learner->graph(), p.name());
        if (is_rtrl)
          out.parameters[i].rtrl = found;
        else
          out.parameters[i].rules.push_back(found);
      }
    } catch (const UserError& error) {
      out.left_out.push_back(fmt::format("{}: {}", rule, error.what()));
    } catch (const CompileError& error) {
      out.left_out.push_back(fmt::format("{}: {}", rule, error.what()));
    }
  };
  const std::string rtrl = RtrlRule().name();
  compare(rtrl, true, [&] { return std::make_unique<RTRL>(model); });
  for (const Algorithm* a : rules)
    if (a->name != rtrl)
      compare(a->name, false, [&] {
        require(a->needs() == Need::Nothing, "it needs {}, not only a loss", to_string(a->needs()));
        return a->learner(model, a->usual(o.seed).options);
      });
  return out;
}

GradCheck check_grad(Module& model, const Type& input, int64_t steps, const CheckGradOptions& options) {
  require(steps > 0, "check_grad: a sequence needs at least one step, got {}.", steps);
  const Tensor xs = random_inputs(model, input, steps, random::key(options.seed));
  const Tensor ys = random_sequence(output_type(model, input), steps, random::key(options.seed + 1));
  return check_grad(
      model, [&](const Tensor& y, int64_t t) { return mean(square(y - row(ys, t))); }, xs, options);
}

}  // namespace braintrace

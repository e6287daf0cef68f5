// SPDX-License-Identifier: Apache-2.0
// Operations defined by Python functions, with the rules of their eligibility traces.
#include "bindings.h"
#include "braintrace/base/rng.h"
#include "braintrace/control/check_trainable.h"
#include "braintrace/etp/function_op.h"
#include "braintrace/etp/operands.h"
#include "braintrace/ops/index_walk.h"
#include "convert.h"

namespace pybraintrace {

namespace {

struct Operation {
  const bt::Op* op;
};

// One use of an operation, for its trace rules: static facts, and the weight in question.
struct OpCall {
  bt::EtpCall call;
  int         weight;

  std::string key() const { return std::string(call.op->etp->weights(call)[static_cast<size_t>(weight)].key); }
  nb::object  shapes() const {
     nb::list out;
     for (const bt::Type& t : call.in) out.append(tuple_of(t.shape));
    return nb::tuple(out);
  }
};

nb::list listed(const bt::Tensors& tensors) {
  nb::list out;
  for (const bt::Tensor& t : tensors) out.append(nb::cast(t));
  return out;
}

// rule(call, *given) in Python.
bt::Tensor asked(const Ref& rule, const bt::EtpCall& call, int weight, const bt::Tensors& given) {
  WithGil gil;
  return tensor_from(nb::handle(rule.get())(nb::cast(OpCall{call, weight}), *listed(given)));
}

bt::FunctionOp::Trace trace_from(nb::handle weights, int x, bool mixes, nb::handle coefficient, nb::handle spread,
                                 nb::handle fold) {
  bt::FunctionOp::Trace trace{.x = x, .mixes = mixes};
  for (const auto& [key, operand] : nb::cast<nb::dict>(weights))
    trace.weights.push_back({nb::cast<std::string>(key), nb::cast<int>(operand)});
  trace.coefficient = [f = hold(coefficient)](const bt::EtpCall& c, int w, const bt::Tensors& in) {
    return asked(f, c, w, in);
  };
  trace.spread = [f = hold(spread)](const bt::EtpCall& c, int w, const bt::Tensor& per_y) {
    return asked(f, c, w, {per_y});
  };
  trace.fold = [f = hold(fold)](const bt::EtpCall& c, int w, const bt::Tensors& in, const bt::Tensor& on_trace) {
    bt::Tensors given{on_trace};
    given.insert(given.end(), in.begin(), in.end());
    return asked(f, c, w, given);
  };
  return trace;
}

// Random values of the shapes that the user gives.
std::function<std::vector<bt::Sample>(bt::Rng&)> samples_from(nb::handle shapes) {
  std::vector<std::vector<bt::Shape>> all;
  for (nb::handle sample : nb::iter(shapes)) {
    all.emplace_back();
    for (nb::handle shape : nb::iter(sample)) all.back().push_back(shape_from(shape));
  }
  if (all.empty()) return nullptr;
  return [all](bt::Rng& rng) {
    std::vector<bt::Sample> out;
    for (const auto& sample : all) {
      bt::Tensors in;
      for (const bt::Shape& s : sample) in.emplace_back(bt::random_array(rng, {bt::DType::F64, s}));
      out.push_back({in, {}});
    }
    return out;
  };
}

}  // namespace

void bind_own_ops(nb::module_& m) {
  nb::class_<OpCall>(m, "OpCall", "One use of a trainable operation: the first argument of its trace rules.")
      .def_prop_ro("key", &OpCall::key, "Name of the weight that the rule is called for.")
      .def_prop_ro("shapes", &OpCall::shapes, "Shapes of the operands.")
      .def_prop_ro(
          "y_shape", [](const OpCall& c) { return tuple_of(c.call.y.shape); }, "Shape of the result.")
      .def_prop_ro(
          "y_ndim", [](const OpCall& c) { return c.call.y.rank(); }, "Number of axes of the result.");
  nb::class_<Operation>(m, "Operation", "An operation registered with register_op.")
      .def_prop_ro(
          "name", [](const Operation& o) { return std::string(o.op->name); }, "Name of the operation.")
      .def(
          "__call__",
          [](const Operation& o, const nb::args& operands) {
            return without_gil([op = o.op, in = tensors_from(operands)] { return bt::apply1(*op, in); });
          },
          "operands"_a)
      .def(
          "check", [](const Operation& o) { without_gil([&] { bt::check_trainable(*o.op); }); },
          "Check the trace rules against the derivative on random values; an error names the law that fails.")
      .def("__repr__", [](const Operation& o) { return "Operation('" + std::string(o.op->name) + "')"; });
  m.def(
      "register_op",
      [](std::string name, std::string doc, std::string operands, nb::handle meaning, nb::handle weights, int x,
         bool mixes, nb::handle coefficient, nb::handle spread, nb::handle fold, std::optional<int64_t> x_ndim,
         nb::handle samples) {
        bt::FunctionOp op{.name = std::move(name), .doc = std::move(doc), .operands = std::move(operands)};
        op.expand = [f = hold(meaning)](const bt::Tensors& in, const bt::Attrs&) -> bt::Tensors {
          WithGil gil;
          return {tensor_from(nb::handle(f.get())(*listed(in)))};
        };
        if (x_ndim) op.batch = [n = *x_ndim](const bt::BatchArgs& a) { return bt::batch_over_x(a, n); };
        op.sample = samples_from(samples);
        if (!weights.is_none()) op.trace = trace_from(weights, x, mixes, coefficient, spread, fold);
        return Operation{&bt::register_op(std::move(op))};
      },
      "name"_a, "doc"_a, "operands"_a, "meaning"_a, "weights"_a.none(), "x"_a, "mixes"_a, "coefficient"_a.none(),
      "spread"_a.none(), "fold"_a.none(), "x_ndim"_a.none(), "samples"_a,
      "Register an operation; see pybraintrace.register_op.");
}

}  // namespace pybraintrace

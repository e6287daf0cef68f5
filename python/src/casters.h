// SPDX-License-Identifier: Apache-2.0
// Settings of layers, rules and optimizers as Python writes them.
#pragma once

#include <nanobind/stl/pair.h>

#include "braintrace/etp/operands.h"
#include "braintrace/nn/activation.h"
#include "braintrace/nn/conv.h"
#include "braintrace/nn/dynamics.h"
#include "braintrace/nn/schedule.h"
#include "braintrace/ops/sparse.h"
#include "module.h"

namespace pybraintrace {

// A Python function of one tensor. It may run on any thread and outlive the call.
std::function<bt::Tensor(const bt::Tensor&)> tensor_function(nb::handle f);

bt::nn::Initializer  initializer_from(nb::handle object);  // number, array, name, Initializer, f(shape)
bt::nn::OptionalInit optional_init_from(nb::handle object);
bt::nn::Activation   activation_from(nb::handle object);  // name or function
bt::nn::ConvPadding  padding_from(nb::handle object);     // "SAME", 1, ((1, 1), (0, 2))
bt::nn::WeightFactor factor_from(nb::handle object);      // None, array, f(shape)
bt::SparsePattern    pattern_from(nb::handle object);
bt::Surrogate        surrogate_from(nb::handle object);  // name or Surrogate
bt::optim::Schedule  schedule_from(nb::handle object);   // number or Schedule
bt::nn::StepSize     step_size_from(nb::handle object);  // None: the environment's
// A number, an array, a ParamState; a quantity of brainunit in ms, mV, mA.
std::variant<double, bt::Tensor, bt::ParamState> setting_from(nb::handle object);

struct WeightFunction {
  std::function<bt::Tensor(const bt::Tensor&)> f;
};
inline bt::WeightFn function_or_none(const std::optional<Given<WeightFunction>>& f);

#define PYBRAINTRACE_CONVERT(Type, text, function)                   \
  template <>                                                        \
  struct Convert<Type> {                                             \
    static Type           from(nb::handle h) { return function(h); } \
    static constexpr auto name = nb::detail::const_name(text);       \
  };

inline WeightFunction     weight_function_from(nb::handle h) { return {tensor_function(h)}; }
inline bt::nn::Size       size_from(nb::handle h) { return bt::nn::Size(ints_from(h)); }
inline bt::nn::Reset      reset_from(nb::handle h) { return bt::nn::reset_named(nb::cast<std::string>(h)); }
inline bt::nn::Integrator integrator_from(nb::handle h) { return bt::nn::integrator_named(nb::cast<std::string>(h)); }

PYBRAINTRACE_CONVERT(WeightFunction, "collections.abc.Callable[[pybraintrace._core.Tensor], pybraintrace._core.Tensor]",
                     weight_function_from)
PYBRAINTRACE_CONVERT(bt::nn::Size, "int | collections.abc.Sequence[int]", size_from)
PYBRAINTRACE_CONVERT(bt::nn::Initializer, "pybraintrace.typing.InitializerLike", initializer_from)
PYBRAINTRACE_CONVERT(bt::nn::OptionalInit, "pybraintrace.typing.InitializerLike | None", optional_init_from)
PYBRAINTRACE_CONVERT(bt::nn::Activation,
                     "str | collections.abc.Callable[[pybraintrace._core.Tensor], pybraintrace._core.Tensor]",
                     activation_from)
PYBRAINTRACE_CONVERT(bt::nn::ConvPadding, "str | int | collections.abc.Sequence[tuple[int, int]]", padding_from)
PYBRAINTRACE_CONVERT(
    bt::nn::WeightFactor,
    "pybraintrace.typing.ArrayLike | collections.abc.Callable[[tuple[int, ...]], pybraintrace.typing.ArrayLike] | None",
    factor_from)
PYBRAINTRACE_CONVERT(bt::SparsePattern, "object", pattern_from)
PYBRAINTRACE_CONVERT(bt::Surrogate, "str | pybraintrace._core.spiking.Surrogate", surrogate_from)
PYBRAINTRACE_CONVERT(bt::optim::Schedule, "float | pybraintrace._core.optim.Schedule", schedule_from)
PYBRAINTRACE_CONVERT(bt::nn::StepSize, "float | None", step_size_from)
PYBRAINTRACE_CONVERT(bt::nn::Reset, "str", reset_from)
PYBRAINTRACE_CONVERT(bt::nn::Integrator, "str", integrator_from)

template <class Q>
struct Convert<bt::nn::Setting<Q>> {
  static bt::nn::Setting<Q> from(nb::handle h) {
    return std::visit([](auto v) { return bt::nn::Setting<Q>(v); }, setting_from(h));
  }
  static constexpr auto name =
      nb::detail::const_name("float | pybraintrace.typing.ArrayLike | pybraintrace._core.ParamState");
};

inline bt::WeightFn function_or_none(const std::optional<Given<WeightFunction>>& f) {
  return f ? f->get().f : bt::WeightFn();
}
using WeightFn = Given<WeightFunction>;

}  // namespace pybraintrace

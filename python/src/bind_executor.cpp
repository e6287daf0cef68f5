// SPDX-License-Identifier: Apache-2.0
// A compiled model, and the quantities of one step of it as values.
#include "bindings.h"
#include "braintrace/verify/graph_executor.h"
#include "compiler.h"
#include "ctrl_c.h"
#include "module.h"

namespace pybraintrace {

namespace {

nb::list list_of(const bt::Tensors& tensors) {
  nb::list out;
  for (const bt::Tensor& t : tensors) out.append(nb::cast(t));
  return out;
}

class Executor {
 public:
  explicit Executor(nb::object model) : model_(std::move(model)), executor_(nb::cast<bt::Module&>(model_)) {}

  const bt::ETraceGraph&            graph() const { return executor_.graph(); }
  const bt::ETraceVjpGraphExecutor& get() const { return executor_; }
  nb::object                        model() const { return model_; }

  void compile_graph(const nb::args& args, const nb::kwargs& kwargs) {
    stoppable([&, xs = inputs(args, kwargs)] { executor_.compile_graph(xs); });
  }
  nb::object forward(const nb::args& args, const nb::kwargs& kwargs) {
    const bt::Tensors out = stoppable([&, xs = inputs(args, kwargs)] { return executor_.forward(xs); });
    return result_of(module(), out);
  }
  nb::object jacobians(const nb::args& args, const nb::kwargs& kwargs) {
    const bt::StepJacobians j =
        stoppable([&, xs = inputs(args, kwargs)] { return executor_.solve_h2w_h2h_jacobian(xs); });
    nb::dict hidden;
    for (size_t i = 0; i < j.hidden_vals.size(); ++i)
      hidden[tuple_of(j.hidden_paths[i].first)] = nb::cast(j.hidden_vals[i]);
    nb::dict D_f;
    for (const auto& s : j.dfs)
      D_f[nb::make_tuple(tuple_of(graph().hidden_param_op_relations[static_cast<size_t>(s.relation)].weight_path),
                         s.group)] = nb::cast(s.value);
    nb::dict out;
    out["out"] = result_of(module(), j.out), out["hidden_vals"] = hidden, out["other_vals"] = list_of(j.other_vals);
    out["xs"] = list_of(j.xs), out["dfs"] = D_f, out["Ds"] = list_of(j.Ds);
    return out;
  }

 private:
  bt::Module& module() const { return nb::cast<bt::Module&>(model_); }
  bt::Tensors inputs(const nb::args& args, const nb::kwargs& kwargs) const { return inputs_of(module(), args, kwargs); }

  nb::object                 model_;
  bt::ETraceVjpGraphExecutor executor_;
};

}  // namespace

void bind_executor(nb::module_& m) {
  nb::class_<Executor>(m, "ETraceVjpGraphExecutor",
                       "A compiled model that returns the Jacobians of a step, for inspection.")
      .def(nb::init<nb::object>(), "model"_a)
      .def("compile_graph", &Executor::compile_graph, "args"_a, "kwargs"_a,
           "Compile the model for example inputs of one step.")
      .def("__call__", &Executor::forward, "args"_a, "kwargs"_a, "Run one step of the model and store its states.")
      .def("solve_h2w_h2h_jacobian", &Executor::jacobians, "args"_a, "kwargs"_a,
           "Run one step from the current states without storing the result.\n"
           "\n"
           "Returns:\n"
           "    A dict with `out`, `hidden_vals` by path, `other_vals`, `xs` (inputs of the trainable operations), "
           "`dfs` (D_f by weight and group) and `Ds` (D of each group).")
      .def_prop_ro("model", &Executor::model, "The model.")
      .def_prop_ro("graph", &Executor::graph, nb::rv_policy::reference_internal,
                   "Hidden groups and relations that the compiler found.")
      .def_prop_ro(
          "is_compiled", [](const Executor& e) { return e.get().is_compiled(); }, "Whether compile_graph was called.")
      .def(
          "show_graph",
          [](const Executor& e, bool verbose, bool return_msg) {
            return shown(e.get().show_graph(), verbose, return_msg);
          },
          "verbose"_a = true, "return_msg"_a = false, nb::sig(shown_sig), shown_doc);
}

}  // namespace pybraintrace

// SPDX-License-Identifier: Apache-2.0
// Learners: all rules of the registry, for single steps, windows and sequences.
#include <memory>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "bindings.h"
#include "braintrace/algorithms/compile.h"
#include "braintrace/algorithms/config_json.h"
#include "braintrace/algorithms/dni.h"
#include "braintrace/algorithms/drivers.h"
#include "braintrace/algorithms/etrace_vmap.h"
#include "braintrace/algorithms/three_factor.h"
#include "compiler.h"
#include "ctrl_c.h"
#include "function.h"
#include "module.h"
#include "own_rules.h"

namespace pybraintrace {

namespace {

// Inputs of one step, or of several along a leading time axis.
struct StepBox {
  nb::object value;
  bool       is_multi;
};

bt::TraceDecay decay_from(nb::handle h) {
  if (PyTuple_Check(h.ptr()) || PyList_Check(h.ptr())) {
    bt::require(nb::len(h) == 2, "decay_or_rank: expected one value, or two values for x and f.");
    return {decay_from(h[0]).x, decay_from(h[1]).f};
  }
  if (const nb::object whole = nb::steal(PyNumber_Index(h.ptr())); whole.is_valid()) {
    int        overflows;
    const long rank = PyLong_AsLongAndOverflow(whole.ptr(), &overflows);
    bt::require(!overflows && rank == static_cast<int>(rank), "decay_or_rank: the rank {} is out of range.",
                nb::cast<std::string>(nb::str(whole)));
    return bt::TraceDecay::rank(static_cast<int>(rank));
  }
  PyErr_Clear();
  const double decay = PyFloat_AsDouble(h.ptr());
  if (PyErr_Occurred()) {
    PyErr_Clear();
    nb::raise_type_error(
        "decay_or_rank: expected a decay (a float), a rank (an int), or two values for x and f, got %s",
        nb::cast<std::string>(nb::repr(h)).c_str());
  }
  return decay;
}

bt::RandomFeedback feedback_from(nb::handle h) {
  bt::RandomFeedback f;
  if (PyLong_Check(h.ptr())) {
    f.key = nb::cast<uint64_t>(h);
    return f;
  }
  for (const auto& [key, value] : nb::cast<nb::dict>(h)) {
    const auto name = nb::cast<std::string>(key);
    if (name == "key")
      f.key = nb::cast<uint64_t>(value);
    else if (name == "scale")
      f.scale = nb::cast<double>(value);
    else if (name == "from_output")
      f.from_output = nb::cast<bool>(value);
    else if (name == "given")
      for (const auto& [path, matrix] : nb::cast<nb::dict>(value)) f.given[path_from(path)] = tensor_from(matrix);
    else if (name == "leave_out")
      for (nb::handle path : nb::iter(value)) f.leave_out.push_back(path_from(path));
    else
      bt::fail("feedback: unknown option '{}'; known: key, scale, from_output, given, leave_out.", name);
  }
  return f;
}

bt::RuleOptions options_from(const nb::dict& given, const std::string& rule) {
  bt::RuleOptions o;
  for (const auto& [key, value] : given) {
    const auto name = nb::cast<std::string>(key);
    if (value.is_none()) continue;
    if (name == "vjp_method")
      o.vjp_method = bt::vjp_method_named(nb::cast<std::string>(value));
    else if (name == "decay_or_rank" || name == "decay")
      o.decay_or_rank = decay_from(value);
    else if (name == "kappa_filter_decay" || name == "kappa")
      o.kappa_filter_decay = nb::cast<double>(value);
    else if (name == "feedback")
      o.feedback = feedback_from(value);
    else if (name == "n")
      o.n = nb::cast<int64_t>(value);
    else if (name == "trace_dtype")
      o.trace_dtype = dtype_from(value);
    else if (name == "projection_key")
      o.projection_key = nb::cast<uint64_t>(value);
    else if (name == "projection_eps")
      o.projection_eps = nb::cast<double>(value);
    else if (name == "modulator")
      o.modulator = tensor_from(value);
    else if (name == "name")
      o.name = nb::cast<std::string>(value);
    else if (name == "check_finite")
      o.check_finite = nb::cast<bool>(value);
    else
      nb::raise_type_error(
          "%s: unknown option '%s'; known: vjp_method, decay_or_rank, kappa_filter_decay, feedback, n, trace_dtype, "
          "projection_key, projection_eps, modulator, name, check_finite",
          rule.c_str(), name.c_str());
  }
  return o;
}

class Learner {
 public:
  Learner(const std::string& algorithm, nb::object model, const nb::dict& options)
      : model_(std::move(model)),
        learner_(
            bt::algorithm_named(algorithm).learner(nb::cast<bt::Module&>(model_), options_from(options, algorithm))) {}
  Learner(const bt::ETraceConfig& config, nb::object model, const nb::dict& options)
      : model_(std::move(model)),
        learner_(bt::make_learner(nb::cast<bt::Module&>(model_), config, options_from(options, "ETraceConfig"))) {}
  // A custom rule.
  Learner(const std::shared_ptr<const bt::LearningRule>& rule, nb::object model, const nb::dict& options)
      : model_(std::move(model)),
        learner_(bt::Algorithm{.name = rule->name(), .rule = [rule] { return rule; }}.learner(
            nb::cast<bt::Module&>(model_), options_from(options, rule->name()))) {}

  bt::OnlineLearner& get() const { return *learner_; }
  bt::Module&        model() const { return learner_->model(); }
  nb::object         python_model() const { return model_; }

  void compile_graph(const nb::args& args, const nb::kwargs& kwargs) {
    nb::object        plain = step_args(args);
    const bt::Tensors xs    = inputs_of(model(), nb::borrow<nb::args>(plain), kwargs);
    stoppable([&] { learner_->compile_graph(xs); });
  }

  nb::object call(const nb::args& args, const nb::kwargs& kwargs) {
    if (lanes_) {
      const bt::Tensors xs = inputs_of(model(), args, kwargs);
      return result_of(model(), stoppable([&] { return lanes_->update(xs); }));
    }
    bool any_multi = false;
    for (nb::handle a : args) any_multi = any_multi || (nb::isinstance<StepBox>(a) && nb::cast<StepBox&>(a).is_multi);
    if (!any_multi) {
      nb::object        plain = step_args(args);
      const bt::Tensors xs    = inputs_of(model(), nb::borrow<nb::args>(plain), kwargs);
      return result_of(model(), stoppable([&] { return learner_->update(xs); }));
    }
    std::vector<bt::StepData> inputs;
    for (nb::handle a : args) {
      const bool   is_box = nb::isinstance<StepBox>(a);
      Tree::Leaves leaves;
      Tree::of(is_box ? nb::handle(nb::cast<StepBox&>(a).value) : a, leaves);
      const bt::Tensors xs = tensors_of(leaves, "a learner");
      if (is_box && nb::cast<StepBox&>(a).is_multi)
        inputs.emplace_back(bt::MultiStepData{xs});
      else
        inputs.emplace_back(bt::SingleStepData{xs});
    }
    return result_of(model(), stoppable([&] { return learner_->update(inputs); }));
  }

  // {'grads', 'losses', 'aux'} of a sequence.
  nb::object etrace_grad(nb::handle step, const nb::args& sequences, const nb::kwargs& o) {
    FlatCall              call(step, sequences, nb::borrow<nb::kwargs>(nb::dict()), "etrace_grad");
    bt::EtraceGradOptions options;
    for (const auto& [key, value] : o) {
      const auto name = nb::cast<std::string>(key);
      if (value.is_none()) continue;
      if (name == "mask")
        options.mask = tensor_from(value);
      else if (name == "chunk_size")
        options.window = window_from(value);
      else if (name == "reduction")
        options.reduction = one_of(value, {"mean", "sum"}) == 0 ? bt::Reduction::Mean : bt::Reduction::Sum;
      else if (name == "loss_output")
        options.loss_output = static_cast<bt::LossOutput>(one_of(value, {"per_step", "masked", "scalar"}));
      else if (name == "weights")
        options.weights = states_from(value);
      else if (name == "drop_traces")
        options.drop_traces = nb::cast<bool>(value);
      else
        nb::raise_type_error(
            "etrace_grad: unknown option '%s'; known: mask, chunk_size, reduction, loss_output, weights, drop_traces",
            name.c_str());
    }
    const auto r = stoppable([&] {
      return lanes_ ? bt::flat::run_etrace_grad(*lanes_, call.function(), call.leaves(), options)
                    : bt::flat::run_etrace_grad(*learner_, call.function(), call.leaves(), options);
    });
    return nb::make_tuple(dict_of(r.grads), call.rebuild(r.out));
  }

  nb::object evolve(const nb::args& sequences, bool return_outputs) {
    Tree::Leaves leaves;
    Tree::of(sequences, leaves);
    const bt::Tensors xs  = tensors_of(leaves, "etrace_evolve");
    const auto        out = stoppable([&] {
      return lanes_ ? bt::etrace_evolve(*lanes_, xs, return_outputs) : bt::etrace_evolve(*learner_, xs, return_outputs);
    });
    return return_outputs ? result_of(model(), out) : nb::object(nb::none());
  }

  nb::object with_modulator(nb::handle x, Arg modulator) {
    auto& three = learner_->as<bt::ThreeFactor>();
    if (nb::isinstance<StepBox>(x) && nb::cast<StepBox&>(x).is_multi)
      return nb::cast(three(bt::MultiStepData{{tensor_from(nb::cast<StepBox&>(x).value)}}, modulator));
    return nb::cast(three(tensor_from(x), modulator));
  }

  void reset() { lanes_ ? lanes_->reset() : learner_->reset(); }
  // Runs `batch_size` samples side by side from now on.
  void map_over(int64_t batch_size) { lanes_ = std::make_unique<bt::ETraceVmap>(*learner_, batch_size); }

  int traverse(visitproc visit, void* arg) {
    Py_VISIT(model_.ptr());
    return 0;
  }

 private:
  static nb::object step_args(const nb::args& args) {
    nb::list plain;
    for (nb::handle a : args) plain.append(nb::isinstance<StepBox>(a) ? nb::cast<StepBox&>(a).value : nb::borrow(a));
    return nb::tuple(plain);
  }
  static bt::Window window_from(nb::handle value) {
    if (nb::isinstance<nb::str>(value) && nb::cast<std::string>(value) == "all") return bt::Window::all();
    int64_t steps = 0;
    if (!nb::try_cast(value, steps))
      nb::raise_type_error("etrace_grad: expected chunk_size to be a number of steps or 'all', got %s",
                           nb::repr(value).c_str());
    return bt::Window::of(steps);
  }
  static size_t one_of(nb::handle value, const std::vector<std::string>& names) {
    const auto text = nb::cast<std::string>(nb::str(value));
    for (size_t i = 0; i < names.size(); ++i)
      if (names[i] == text) return i;
    bt::fail("etrace_grad: expected '{}', got '{}'.", fmt::join(names, "' or '"), text);
  }

  nb::object                         model_;
  std::unique_ptr<bt::OnlineLearner> learner_;
  std::unique_ptr<bt::ETraceVmap>    lanes_;
};

int learner_traverse(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(self));
  return nb::inst_ready(self) ? nb::inst_ptr<Learner>(self)->traverse(visit, arg) : 0;
}
PyType_Slot learner_slots[] = {{Py_tp_traverse, reinterpret_cast<void*>(learner_traverse)}, {0, nullptr}};

bt::ETraceConfig config_from(const nb::kwargs& axes) {
  // The names of axes and values are defined once, in the JSON form.
  nb::object text = nb::module_::import_("json").attr("dumps")(axes);
  return bt::config_from_json(nlohmann::json::parse(nb::cast<std::string>(text)));
}

}  // namespace

void bind_learners(nb::module_& m) {
  nb::class_<StepBox>(m, "StepData")
      .def_ro("data", &StepBox::value, "The inputs.")
      .def_prop_ro(
          "is_multi", [](const StepBox& s) { return s.is_multi; }, "Whether the inputs have a leading time axis.");
  m.def(
      "SingleStepData",
      [](nb::object value) {
        return StepBox{std::move(value), false};
      },
      "value"_a, "Mark inputs that are the same in every step of a window.");
  m.def(
      "MultiStepData",
      [](nb::object value) {
        return StepBox{std::move(value), true};
      },
      "value"_a, "Mark inputs of several steps along a leading time axis.");

  m.def(
      "algorithms",
      [] {
        nb::list out;
        for (const bt::Algorithm& a : bt::algorithms()) out.append(nb::make_tuple(a.name, a.aliases, a.doc, a.options));
        return out;
      },
      "Return (name, aliases, description, options) of every learning rule.");
  m.def(
      "algorithm_name", [](const std::string& name) { return bt::algorithm_named(name).name; }, "name"_a,
      "Return the canonical name of a rule.");
  m.def("list_of_algorithms", &bt::list_of_algorithms,
        "Return a list of the learning rules as text, one line per rule.");

  nb::class_<bt::ETraceConfig>(
      m, "ETraceConfig", nb::dynamic_attr(),
      "A learning rule as a point in a space of six axes.\n"
      "\n"
      "Args:\n"
      "    axes: axis names and values, such as recurrence_scope='coupled'; the others have their defaults.")
      .def(
          "__init__",
          [](nb::pointer_and_handle<bt::ETraceConfig> self, const nb::kwargs& axes) {
            new (self.p) bt::ETraceConfig(config_from(axes));
            self.h.attr("_axes") = axes;
          },
          "axes"_a)
      .def("describe", &bt::ETraceConfig::describe, "Return the axes that differ from the default, as text.")
      .def(
          "__eq__", [](const bt::ETraceConfig& a, const bt::ETraceConfig& b) { return a == b; }, nb::is_operator())
      .def("__hash__", [](const bt::ETraceConfig& a) { return std::hash<bt::ETraceConfig>()(a); })
      .def("__repr__", [](const bt::ETraceConfig& a) { return "ETraceConfig(" + a.describe() + ")"; });

  nb::class_<Learner>(
      m, "OnlineLearner", nb::type_slots(learner_slots), nb::dynamic_attr(), nb::is_weak_referenceable(),
      "A model with a learning rule. A call runs the model, advances the eligibility traces, and is differentiable.")
      .def(
          "__init__",
          [](Learner* self, nb::handle algorithm, nb::object model, const nb::kwargs& options) {
            if (!nb::isinstance<bt::Module>(model))
              nb::raise_type_error("OnlineLearner: expected an nn.Module, got %s",
                                   nb::cast<std::string>(nb::repr(model)).c_str());
            if (nb::isinstance<bt::ETraceConfig>(algorithm))
              new (self) Learner(nb::cast<bt::ETraceConfig&>(algorithm), std::move(model), options);
            else if (PyUnicode_Check(algorithm.ptr()))
              new (self) Learner(nb::cast<std::string>(algorithm), std::move(model), options);
            else
              new (self) Learner(rule_from(algorithm), std::move(model), options);
          },
          "algorithm"_a, "model"_a, "options"_a)
      .def("compile_graph", &Learner::compile_graph, "args"_a, "kwargs"_a,
           "Compile the model for example inputs of one step: find groups and relations, and create the traces.")
      .def("__call__", &Learner::call, "args"_a, "kwargs"_a, "Run one step of the model, or a window of MultiStepData.")
      .def("update", &Learner::call, "args"_a, "kwargs"_a, "Run one step of the model, or a window of MultiStepData.")
      .def("_etrace_grad", [](Learner& l, nb::handle step, nb::tuple sequences,
                              const nb::kwargs& o) { return l.etrace_grad(step, nb::borrow<nb::args>(sequences), o); })
      .def("_etrace_evolve",
           [](Learner& l, nb::tuple sequences, bool out) { return l.evolve(nb::borrow<nb::args>(sequences), out); })
      .def("_with_modulator", &Learner::with_modulator)
      .def("_map_over", &Learner::map_over)
      .def(
          "attach_synthesizer",
          [](Learner& l, double scale, uint64_t seed) {
            bt::OnlineLearner& me = l.get();
            me.attach_synthesizer(std::make_shared<bt::SyntheticGradient>(me.group_signal_shapes(), scale, seed));
          },
          "scale"_a = 0.0, "seed"_a = 0,
          "Attach a gradient synthesizer, for the rule DNI.\n"
          "\n"
          "Args:\n"
          "    scale: scale of its initial weights; with 0 its first estimates are zero.\n"
          "    seed: seed of the weights.")
      .def(
          "set_modulator", [](Learner& l, Arg value) { l.get().set_modulator(value); }, "modulator"_a,
          "Set the modulator of a three-factor rule.")
      .def_prop_ro("model", &Learner::python_model, "The model.")
      .def_prop_ro("module", &Learner::python_model, "The model.")
      .def_prop_ro(
          "is_compiled", [](const Learner& l) { return l.get().is_compiled(); }, "Whether compile_graph was called.")
      .def_prop_ro(
          "graph", [](const Learner& l) -> const bt::ETraceGraph& { return l.get().graph(); },
          nb::rv_policy::reference_internal, "Hidden groups and relations that the compiler found.")
      .def_prop_ro(
          "report", [](const Learner& l) { return l.get().report(); }, nb::keep_alive<0, 1>(),
          "Report of the compiler's decisions.")
      .def(
          "show_graph",
          [](const Learner& l, bool verbose, bool return_msg) {
            return shown(l.get().show_graph(), verbose, return_msg);
          },
          "verbose"_a = true, "return_msg"_a = false, nb::sig(shown_sig), shown_doc)
      .def_prop_ro(
          "name", [](const Learner& l) { return l.get().name(); }, "Name of the learner.")
      .def_prop_ro(
          "rule", [](const Learner& l) { return l.get().rule().name(); }, "Name of the learning rule.")
      .def_prop_ro(
          "vjp_method", [](const Learner& l) { return bt::to_string(l.get().vjp_method()); },
          "Gradient method: 'single-step' or 'multi-step'.")
      .def_prop_ro(
          "running_index", [](const Learner& l) { return l.get().running_index(); },
          "Number of completed calls since the last reset.")
      .def_prop_ro(
          "param_states", [](const Learner& l) { return dict_of(l.get().param_states()); }, "Parameters by path.")
      .def_prop_ro(
          "hidden_states", [](const Learner& l) { return dict_of(l.get().hidden_states()); }, "Hidden states by path.")
      .def_prop_ro(
          "other_states", [](const Learner& l) { return dict_of(l.get().other_states()); }, "Other states by path.")
      .def(
          "reset", [](Learner& l) { l.reset(); }, "Start a new sequence: reset the model's states and the traces.")
      .def(
          "reset_state",
          [](Learner& l, nb::handle, nb::handle path) {
            path.is_none() ? l.get().reset_state() : l.get().reset_state(path_from(path));
          },
          "batch_size"_a = nb::none(), nb::kw_only(), "path"_a = nb::none(),
          "Set the traces to zero.\n"
          "\n"
          "Args:\n"
          "    batch_size: ignored.\n"
          "    path: reset only the traces of this parameter.")
      .def(
          "init_etrace_state", [](Learner& l) { l.get().init_etrace_state(); }, "Reinitialize the rule's memory.")
      .def(
          "get_etrace_of",
          [](const Learner& l, nb::handle which) {
            const bt::Path path = nb::isinstance<StateBox>(which)
                                      ? l.get().state_id_to_path(nb::cast<StateBox&>(which).state)
                                      : path_from(which);
            nb::list       out;
            for (const auto& e : l.get().get_etrace_of(path)) {
              nb::dict entry;
              entry["kind"] = e.kind, entry["relation"] = e.relation, entry["group"] = e.group, entry["key"] = e.key,
              entry["value"] = nb::cast(e.value);
              out.append(entry);
            }
            return out;
          },
          "weight"_a,
          "Return the traces of a parameter, as dicts with kind, relation, group, key and value.\n"
          "\n"
          "Args:\n"
          "    weight: path or state of the parameter.")
      .def(
          "memory",
          [](const Learner& l) {
            nb::list out;
            for (const bt::Tensor& t : l.get().memory()) out.append(nb::cast(t));
            return out;
          },
          "Return the rule's memory as a list of tensors.")
      .def(
          "set_memory", [](Learner& l, nb::handle values) { l.get().set_memory(tensors_from(values)); }, "values"_a,
          "Restore what `memory` returned.")
      .def(
          "memory_states", [](const Learner& l) { return dict_of(l.get().own_states()); },
          "Return the states that hold the rule's memory, for checkpoints.");

  m.def(
      "prepare_model",
      [](nb::handle model, nb::object inputs, bt::BatchSize batch, std::optional<uint64_t> seed) {
        bt::prepare_model(nb::cast<bt::Module&>(model), bt::ExampleInputs(tensors_from(inputs)),
                          {.batch_size = batch, .seed = seed});
      },
      "model"_a, "inputs"_a, "batch_size"_a = nb::none(), "seed"_a = nb::none(),
      "Initialize the states of a model for example inputs.");
  m.def(
      "compile_learner",
      [](Learner& l, const nb::args& args) {
        const bt::Tensors xs = inputs_of(l.model(), args, nb::borrow<nb::kwargs>(nb::dict()));
        stoppable([&] { bt::compile_learner(l.get(), bt::ExampleInputs(xs), {}); });
      },
      "learner"_a, "args"_a, "Compile a learner with example inputs of one step.");
}

}  // namespace pybraintrace

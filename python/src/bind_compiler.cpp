// SPDX-License-Identifier: Apache-2.0
// The compiler's results as Python objects.
#include <algorithm>
#include <array>
#include <functional>
#include <nanobind/stl/map.h>

#include "bindings.h"
#include "braintrace/compiler/graph.h"
#include "braintrace/compiler/report.h"
#include "braintrace/viz/graph_view.h"
#include "compiler.h"
#include "module.h"

namespace pybraintrace {

namespace {

nb::object paths_of(const std::vector<bt::Path>& paths) {
  nb::list out;
  for (const bt::Path& p : paths) out.append(tuple_of(p));
  return out;
}

template <class List>
nb::object list_of(const List& values) {
  nb::list out;
  for (const auto& v : values) out.append(nb::cast(v, nb::rv_policy::copy));
  return out;
}

nb::object tensors_list(const bt::Tensors& tensors) {
  nb::list out;
  for (const bt::Tensor& t : tensors) out.append(nb::cast(t));
  return out;
}

// The fields of an object by name.
template <class T>
nb::object fields_of(nb::handle self, std::initializer_list<const char*> names) {
  nb::dict out;
  for (const char* name : names) out[name] = self.attr(name);
  return out;
}

bt::StepInputs step_inputs(bt::Module& model, const nb::args& args, const nb::kwargs& kwargs) {
  return inputs_of(model, args, kwargs);
}

bt::Explain explain_from(nb::handle weight, nb::handle hidden, nb::handle kind) {
  bt::Explain e;
  if (!weight.is_none()) e.weight_path = path_from(weight);
  if (!hidden.is_none()) e.hidden_path = path_from(hidden);
  if (!kind.is_none()) {
    const auto name = nb::cast<std::string>(nb::str(nb::getattr(kind, "value", kind)));
    e.kind          = bt::diagnostic_kind_named(name);
    bt::require(e.kind.has_value(), "explain: unknown kind of record '{}'; see diagnostic_kinds.", name);
  }
  return e;
}

void bind_records(nb::module_& m) {
  nb::class_<bt::CompilationRecord>(m, "CompilationRecord", "One decision of the compiler.")
      .def_prop_ro(
          "kind", [](const bt::CompilationRecord& r) { return std::string(bt::name_of(r.kind)); },
          "Kind of decision, such as 'relation_included'.")
      .def_prop_ro(
          "level", [](const bt::CompilationRecord& r) { return std::string(bt::name_of(r.level)); },
          "Level: 'info', 'warning' or 'error'.")
      .def_ro("message", &bt::CompilationRecord::message, "Reason for the decision.")
      .def_ro("primitive", &bt::CompilationRecord::primitive, "Name of the operation.")
      .def_prop_ro(
          "weight_path",
          [](const bt::CompilationRecord& r) {
            return r.weight_path.empty() ? nb::object(nb::none()) : tuple_of(r.weight_path);
          },
          "Path of the weight, or None.")
      .def_prop_ro(
          "hidden_paths", [](const bt::CompilationRecord& r) { return paths_of(r.hidden_paths); },
          "Paths of the hidden states.")
      .def_ro("context", &bt::CompilationRecord::context, "Additional facts by name.")
      .def("__repr__", [](const bt::CompilationRecord& r) {
        return "CompilationRecord(" + std::string(bt::name_of(r.kind)) + ": " + r.message + ")";
      });
  std::vector<std::string> kinds;
  for (int k = 0; k < bt::num_diagnostic_kinds; ++k)
    kinds.emplace_back(bt::name_of(static_cast<bt::DiagnosticKind>(k)));
  m.attr("diagnostic_kinds") = kinds;
}

// Graphs return copies of their groups.
bool is_same_group(const bt::HiddenGroup& a, const bt::HiddenGroup& b) {
  return a.index == b.index && std::equal(a.hidden.begin(), a.hidden.end(), b.hidden.begin(), b.hidden.end(),
                                          [](const bt::HiddenVar& x, const bt::HiddenVar& y) {
                                            return x.path == y.path && x.state.cell() == y.state.cell();
                                          });
}

void bind_groups(nb::module_& m) {
  using bt::HiddenGroup;
  nb::class_<HiddenGroup>(m, "HiddenGroup", "Hidden states that depend on each other position by position.")
      .def_ro("index", &HiddenGroup::index, "Index of the group.")
      .def_ro("num_state", &HiddenGroup::num_state, "Number of states per position.")
      .def_prop_ro(
          "varshape", [](const HiddenGroup& g) { return tuple_of(g.varshape); }, "Shape of the positions.")
      .def_prop_ro(
          "hidden_paths", [](const HiddenGroup& g) { return paths_of(g.hidden_paths); }, "Paths of the states.")
      .def_prop_ro(
          "hidden_states",
          [](const HiddenGroup& g) {
            nb::list out;
            for (const bt::HiddenVar& h : g.hidden) out.append(object_of(h.state));
            return out;
          },
          "The states.")
      .def_prop_ro("state_names", &HiddenGroup::state_names,
                   "Names of the states at one position, in the order of the last axis of the group's arrays.")
      .def_ro("is_diagonal_recurrence", &HiddenGroup::is_diagonal_recurrence,
              "Whether the transition treats products as constants.")
      .def_ro("diagonal", &HiddenGroup::diagonal, "Whether the compiler proved that no position reads another.")
      .def(
          "concat_hidden",
          [](const HiddenGroup& g, nb::handle members) { return g.concat_hidden(tensors_from(members)); }, "members"_a,
          "Stack the states along a new last axis.")
      .def(
          "split_hidden", [](const HiddenGroup& g, Arg stacked) { return tensors_list(g.split_hidden(stacked)); },
          "stacked"_a, "Inverse of concat_hidden.")
      .def(
          "diagonal_jacobian",
          [](const HiddenGroup& g, nb::handle h, nb::handle c) {
            return g.diagonal_jacobian(tensors_from(h), tensors_from(c));
          },
          "hidden_vals"_a, "const_vals"_a, "Return the Jacobian block of each position, [*positions, states, states].")
      .def(
          "dict",
          [](nb::handle self) {
            return fields_of<HiddenGroup>(
                self, {"index", "hidden_paths", "varshape", "num_state", "is_diagonal_recurrence", "diagonal"});
          },
          "Return the fields as a dict.")
      .def(
          "__eq__",
          [](const HiddenGroup& a, nb::handle b) {
            return nb::isinstance<HiddenGroup>(b) && is_same_group(a, nb::cast<HiddenGroup&>(b));
          },
          "other"_a.none(), "Return whether it has the same index and the same states.")
      .def("__hash__", [](const HiddenGroup& g) { return std::hash<int>()(g.index); })
      .def("__repr__", [](const HiddenGroup& g) {
        return "HiddenGroup(index=" + std::to_string(g.index) + ", num_state=" + std::to_string(g.num_state) +
               ", varshape=" + bt::to_string(g.varshape) + ")";
      });
  using Relation = bt::HiddenParamOpRelation;
  nb::class_<Relation>(m, "HiddenParamOpRelation",
                       "A trainable operation with its weights and the hidden groups that it drives.")
      .def_prop_ro(
          "weight_path", [](const Relation& r) { return tuple_of(r.weight_path); }, "Path of the weight.")
      .def_prop_ro(
          "path", [](const Relation& r) { return tuple_of(r.weight_path); }, "Path of the weight.")
      .def_prop_ro("primitive", &Relation::primitive, "Name of the operation.")
      .def_prop_ro(
          "hidden_groups",
          [](const Relation& r) {
            nb::list out;
            for (const bt::SharedGroup& g : r.hidden_groups) out.append(nb::cast(*g, nb::rv_policy::copy));
            return out;
          },
          "Hidden groups that the operation drives.")
      .def_prop_ro("group_indices", &Relation::group_indices, "Indices of the hidden groups.")
      .def_prop_ro(
          "trainable_paths",
          [](const Relation& r) {
            nb::list out;
            for (const bt::Trainable& t : r.trainables) out.append(t.key);
            return out;
          },
          "Names of the operands that learn.")
      .def_prop_ro(
          "path_classification",
          [](const Relation& r) {
            nb::list out;
            for (const bt::Connection& c : r.connections) out.append(std::string(bt::name_of(c.path)));
            return out;
          },
          "How the operation reaches each group: 'all_direct', 'mixed' or 'windowed'.")
      .def_prop_ro("carries_trace", &Relation::carries_trace, "Whether the operation has an eligibility trace.")
      .def_prop_ro(
          "through", [](const Relation& r) { return paths_of(r.through); },
          "Paths of weights whose products lie on every path from the operation to a group.")
      .def(
          "dict",
          [](nb::handle self) {
            return fields_of<Relation>(self,
                                       {"weight_path", "primitive", "hidden_groups", "path_classification", "through"});
          },
          "Return the fields as a dict.")
      .def("__repr__", [](const Relation& r) {
        return "HiddenParamOpRelation(" + r.weight_path.str() + ", " + r.primitive() + ")";
      });
  using bt::HiddenPerturbation;
  nb::class_<HiddenPerturbation>(m, "HiddenPerturbation",
                                 "The step with a perturbation added to the new value of every hidden state.")
      .def_prop_ro(
          "hidden_paths", [](const HiddenPerturbation& p) { return paths_of(p.hidden_paths); },
          "Paths of the hidden states, in the order of the perturbations.")
      .def(
          "init_perturb_data", [](const HiddenPerturbation& p) { return tensors_list(p.init_perturb_data()); },
          "Return zero perturbations.")
      .def(
          "eval",
          [](const HiddenPerturbation& p, nb::handle inputs, nb::handle data) {
            return tensors_list(p.eval(tensors_from(inputs), tensors_from(data)));
          },
          "inputs"_a, "perturb_data"_a, "Run the perturbed step and return its results.")
      .def(
          "dict", [](nb::handle self) { return fields_of<HiddenPerturbation>(self, {"hidden_paths"}); },
          "Return the fields as a dict.");
}

nb::object step_values(const bt::StepValues& v) {
  nb::dict hidden, others;
  for (const auto& [path, t] : v.etrace_vals) hidden[tuple_of(path)] = nb::cast(t);
  for (const auto& [path, t] : v.other_state_vals) others[tuple_of(path)] = nb::cast(t);
  nb::object out = v.out.size() == 1 ? nb::cast(v.out.front()) : nb::object(nb::tuple(tensors_list(v.out)));
  return nb::make_tuple(out, hidden, others);
}

// In the order of the fields of the JAX package's named tuple.
constexpr std::array graph_fields = {
    "module_info", "hidden_groups", "hid_path_to_group", "hidden_param_op_relations", "hidden_perturb", "diagnostics"};

nb::tuple values_of_graph(nb::handle self) {
  nb::list out;
  for (const char* name : graph_fields) out.append(self.attr(name));
  return nb::tuple(out);
}

nb::object dict_of_graph(nb::handle self) {
  nb::dict out;
  for (const char* name : graph_fields) out[name] = self.attr(name);
  return out;
}

void bind_graph(nb::module_& m) {
  nb::class_<bt::ModuleInfo>(m, "ModuleInfo", "One step of a model as a program, and which of its values are states.")
      .def_prop_ro(
          "states", [](const bt::ModuleInfo& i) { return dict_of(i.states); }, "States of the module by path.")
      .def_prop_ro(
          "hidden_paths",
          [](const bt::ModuleInfo& i) {
            nb::list out;
            for (const bt::HiddenVar& h : i.hidden) out.append(tuple_of(h.path));
            return out;
          },
          "Paths of the hidden states, in the order in which the step uses them.")
      .def_prop_ro(
          "weight_paths",
          [](const bt::ModuleInfo& i) {
            nb::list out;
            for (const bt::WeightVar& w : i.weights) out.append(tuple_of(w.path));
            return out;
          },
          "Paths of the weights, one per leaf.")
      .def_prop_ro(
          "program", [](const bt::ModuleInfo& i) { return bt::print(i.program()); }, "Text form of the step.")
      .def(
          "jaxpr_call",
          [](const bt::ModuleInfo& i, const nb::args& args) { return step_values(i.jaxpr_call(tensors_from(args))); },
          "args"_a, "Run the step; return (output, new hidden states, other new states); several outputs are a tuple.")
      .def(
          "dict",
          [](nb::handle self) {
            return fields_of<bt::ModuleInfo>(self, {"states", "hidden_paths", "weight_paths", "program"});
          },
          "Return the fields as a dict.");

  using bt::ETraceGraph;
  nb::class_<ETraceGraph> graph(
      m, "ETraceGraph", "Hidden groups of a model, and the weights that drive them; also a tuple of its fields.");
  nb::list names;
  for (const char* name : graph_fields) names.append(name);
  graph.attr("_fields") = nb::tuple(names);
  graph.def_ro("module_info", &ETraceGraph::module_info, "The step as a program.")
      .def_prop_ro(
          "hidden_groups", [](const ETraceGraph& g) { return list_of(g.hidden_groups); }, "The hidden groups.")
      .def_prop_ro(
          "hid_path_to_group",
          [](const ETraceGraph& g) {
            nb::dict out;
            for (const auto& [path, group] : g.hid_path_to_group)
              out[tuple_of(path)] = nb::cast(*group, nb::rv_policy::copy);
            return out;
          },
          "Hidden group of each hidden state, by path.")
      .def_prop_ro(
          "hidden_param_op_relations", [](const ETraceGraph& g) { return list_of(g.hidden_param_op_relations); },
          "Relations of weights, operations and hidden groups.")
      .def_prop_ro(
          "hidden_perturb",
          [](const ETraceGraph& g) {
            return g.hidden_perturb ? nb::cast(*g.hidden_perturb, nb::rv_policy::copy) : nb::object(nb::none());
          },
          "The perturbed step, or None.")
      .def_prop_ro(
          "diagnostics", [](const ETraceGraph& g) { return records_of(g.diagnostics); },
          "Records of the compiler's decisions.")
      .def(
          "explain",
          [](const ETraceGraph& g, nb::handle w, nb::handle h, nb::handle k) {
            return records_of(g.explain(explain_from(w, h, k)));
          },
          nb::kw_only(), "weight_path"_a = nb::none(), "hidden_path"_a = nb::none(), "kind"_a = nb::none(),
          "Return the compiler's records that match all given filters.\n"
          "\n"
          "Args:\n"
          "    weight_path: path of a weight.\n"
          "    hidden_path: path of a hidden state.\n"
          "    kind: kind of record, such as 'relation_included'.")
      .def(
          "call_hidden_perturb",
          [](const ETraceGraph& g, nb::handle args, nb::handle data, nb::handle old) {
            const bt::Tensors inputs = PyTuple_Check(args.ptr()) || PyList_Check(args.ptr())
                                           ? tensors_from(args)
                                           : bt::Tensors{tensor_from(args)};
            return step_values(
                g.call_hidden_perturb(inputs, tensors_from(data), old.is_none() ? bt::Tensors() : tensors_from(old)));
          },
          "args"_a, "perturb_data"_a, "old_state_vals"_a = nb::none(),
          "Run the perturbed step; return (output, new hidden states, other new states); several outputs are a tuple.\n"
          "\n"
          "Args:\n"
          "    args: input of the step, or a list of inputs.\n"
          "    perturb_data: perturbations, one per hidden state.\n"
          "    old_state_vals: state values to start from; default: the current ones.")
      .def("dict", &dict_of_graph, "Return the fields as a dict.")
      .def("_asdict", &dict_of_graph, "Return the fields as a dict.")
      .def("__len__", [](const ETraceGraph&) { return graph_fields.size(); })
      .def(
          "__getitem__",
          [](nb::handle self, nb::handle key) {
            PyObject* found = PyObject_GetItem(values_of_graph(self).ptr(), key.ptr());
            if (!found) throw nb::python_error();
            return nb::steal(found);
          },
          "key"_a)
      .def("__iter__", [](nb::handle self) { return nb::iter(values_of_graph(self)); })
      .def(
          "show", [](const ETraceGraph& g) { return bt::show_graph(g); },
          "Return a text summary: groups, weights, and the groups that they reach.")
      .def(
          "to_json", [](const ETraceGraph& g) { return bt::graph_json(bt::view_of(g)); }, "Return the graph as JSON.")
      .def(
          "to_html", [](const ETraceGraph& g) { return bt::graph_html(bt::view_of(g)); },
          "Return the graph as an interactive page.")
      .def(
          "to_svg", [](const ETraceGraph& g) { return bt::graph_svg(bt::view_of(g)); },
          "Return the graph as an SVG picture.")
      .def(
          "to_dot", [](const ETraceGraph& g) { return bt::graph_dot(bt::view_of(g)); },
          "Return the graph in the DOT language of Graphviz.")
      .def("__repr__", [](const ETraceGraph& g) { return bt::show_graph(g); });

  m.def(
      "compile_etrace_graph",
      [](bt::Module& model, const nb::args& args, const nb::kwargs& kwargs) {
        return bt::compile_etrace_graph(model, step_inputs(model, args, kwargs));
      },
      "model"_a, "args"_a, "kwargs"_a,
      "Find the hidden groups of a model and the weights that drive them.\n"
      "\n"
      "Args:\n"
      "    model: a module with initialized states.\n"
      "    args: example inputs of one step.\n"
      "    kwargs: example keyword inputs.\n"
      "\n"
      "Raises:\n"
      "    CompilationError: the model cannot learn online as written.");
  m.def(
      "extract_module_info",
      [](bt::Module& model, const nb::args& args, const nb::kwargs& kwargs) {
        return bt::extract_module_info(model, step_inputs(model, args, kwargs));
      },
      "model"_a, "args"_a, "kwargs"_a, "Trace one step of a model.");
  m.def(
      "find_hidden_groups_from_minfo",
      [](const bt::ModuleInfo& info) { return list_of(bt::find_hidden_groups_from_minfo(info)); }, "minfo"_a,
      "Return the hidden groups of a traced step.");
  m.def(
      "find_hidden_groups_from_module",
      [](bt::Module& model, const nb::args& args, const nb::kwargs& kwargs) {
        return list_of(bt::find_hidden_groups_from_module(model, step_inputs(model, args, kwargs)));
      },
      "model"_a, "args"_a, "kwargs"_a, "Return the hidden groups of a model, given example inputs of one step.");
  m.def(
      "find_hidden_param_op_relations_from_module",
      [](bt::Module& model, const nb::args& args, const nb::kwargs& kwargs) {
        return list_of(bt::find_hidden_param_op_relations_from_module(model, step_inputs(model, args, kwargs)));
      },
      "model"_a, "args"_a, "kwargs"_a,
      "Return the weight-to-group relations of a model, given example inputs of one step.");
  m.def(
      "find_hidden_param_op_relations_from_minfo",
      [](const bt::ModuleInfo& info, nb::handle groups) {
        std::vector<bt::HiddenGroup> list;
        for (nb::handle g : nb::iter(groups)) list.push_back(nb::cast<bt::HiddenGroup&>(g));
        return list_of(bt::find_hidden_param_op_relations_from_minfo(info, list));
      },
      "minfo"_a, "groups"_a, "Return the weight-to-group relations of a traced step.");
  m.def(
      "add_hidden_perturbation_from_minfo",
      [](const bt::ModuleInfo& info) { return bt::add_hidden_perturbation_from_minfo(info); }, "minfo"_a,
      "Return the perturbed form of a traced step.");
  m.def(
      "add_hidden_perturbation_in_module",
      [](bt::Module& model, const nb::args& args, const nb::kwargs& kwargs) {
        return bt::add_hidden_perturbation_in_module(model, step_inputs(model, args, kwargs));
      },
      "model"_a, "args"_a, "kwargs"_a, "Return the perturbed form of a model's step, given example inputs.");

  using Report = bt::CompilationReport;
  nb::class_<Report>(m, "CompilationReport", "Report of the compiler's decisions.")
      .def_prop_ro(
          "hidden_groups",
          [](const Report& r) {
            nb::list out;
            for (const auto& [index, paths] : r.hidden_groups()) out.append(nb::make_tuple(index, paths_of(paths)));
            return out;
          },
          "(index, paths) of each hidden group.")
      .def_prop_ro(
          "etrace_weights",
          [](const Report& r) {
            nb::list out;
            for (const auto& w : r.etrace_weights())
              out.append(nb::make_tuple(tuple_of(w.path), w.key, w.hidden_groups, w.windowed));
            return out;
          },
          "(path, key, groups, windowed) of each operand that learns online.")
      .def_prop_ro(
          "excluded_weights",
          [](const Report& r) {
            nb::list out;
            for (const auto& w : r.excluded_weights()) out.append(nb::make_tuple(tuple_of(w.path), w.why));
            return out;
          },
          "(path, reason) of each parameter without an eligibility trace.")
      .def_prop_ro(
          "dynamic_states", [](const Report& r) { return paths_of(r.dynamic_states()); },
          "Paths of short-term states outside of all groups.")
      .def_prop_ro(
          "diagnostics", [](const Report& r) { return records_of(r.diagnostics()); }, "Records of all decisions.")
      .def_prop_ro(
          "counts",
          [](const Report& r) {
            const auto c = r.counts();
            nb::dict   out;
            out["hidden_groups"] = c.hidden_groups, out["etrace_weights"] = c.etrace_weights,
            out["excluded_weights"] = c.excluded_weights;
            out["warnings"] = c.warnings, out["errors"] = c.errors;
            return out;
          },
          "Number of groups, weights, warnings and errors.")
      .def("to_str", &Report::to_str, "level"_a = 1, "Return the report as text; level 2 includes warnings and errors.")
      .def("__repr__", [](const Report& r) { return r.to_str(1); });
}

}  // namespace

nb::object shown(const std::string& text, bool verbose, bool return_msg) {
  if (verbose) nb::module_::import_("builtins").attr("print")(text);
  return return_msg ? nb::object(nb::cast(text)) : nb::object(nb::none());
}

nb::object records_of(const bt::Diagnostics& records) {
  nb::list out;
  for (const bt::CompilationRecord& r : records) out.append(nb::cast(r, nb::rv_policy::copy));
  return nb::tuple(out);
}

void bind_compiler(nb::module_& m) {
  bind_records(m);
  bind_groups(m);
  bind_graph(m);
}

}  // namespace pybraintrace

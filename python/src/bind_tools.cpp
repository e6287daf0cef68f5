// SPDX-License-Identifier: Apache-2.0
// Tools: fidelity, gradient checks, advice, export, models from descriptions, files.
#include <nanobind/stl/function.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/shared_ptr.h>

#include "bindings.h"
#include "braintrace/advise/advise.h"
#include "braintrace/export/export.h"
#include "braintrace/fidelity/check_grad.h"
#include "braintrace/fidelity/fidelity.h"
#include "braintrace/io/safetensors.h"
#include "braintrace/zoo/model.h"
#include "gil.h"
#include "module.h"

namespace pybraintrace {

namespace {

bt::Type type_of(Arg x) { return x.get().type(); }

nb::object agreement_of(const std::optional<bt::Agreement>& a) {
  if (!a) return nb::none();
  nb::dict out;
  out["relative_error"] = a->relative_error, out["digits"] = a->digits, out["must_hold"] = a->must_hold;
  out["holds"] = a->holds, out["words"] = a->words;
  return out;
}

void bind_check_grad(nb::module_& m) {
  nb::class_<bt::GradCheck>(m, "GradCheck", "Comparison of the gradient of every parameter with reference values.")
      .def_prop_ro("passed", &bt::GradCheck::passed, "Whether all required checks passed.")
      .def_ro("loss", &bt::GradCheck::loss, "Loss of the sequence.")
      .def_ro("rules", &bt::GradCheck::rules, "Names of the compared learning rules.")
      .def_ro("left_out", &bt::GradCheck::left_out, "Rules that cannot run on this model, and the reason.")
      .def_prop_ro(
          "parameters",
          [](const bt::GradCheck& g) {
            nb::list out;
            for (const bt::ParameterCheck& p : g.parameters) {
              nb::dict row, rules;
              for (size_t i = 0; i < p.rules.size(); ++i) rules[nb::str(g.rules[i].c_str())] = agreement_of(p.rules[i]);
              row["name"] = p.name, row["norm"] = p.norm, row["rules"] = rules;
              row["finite_differences"] = agreement_of(p.finite_differences), row["rtrl"] = agreement_of(p.rtrl);
              out.append(row);
            }
            return out;
          },
          "One dict per parameter with `finite_differences`, `rtrl` and `rules`, each with `digits` and `words`.")
      .def("to_json", &bt::GradCheck::json, "Return the comparison as JSON.")
      .def("__repr__", &bt::GradCheck::text);
  m.def(
      "check_grad",
      [](bt::Module& model, nb::handle loss, nb::handle xs, int digits, std::vector<std::string> rules, int64_t entries,
         uint64_t seed) {
        if (!PyCallable_Check(loss.ptr()))
          nb::raise_type_error("check_grad: expected the loss to be a function of (y, t)");
        const bt::Tensors sequences = PyTuple_Check(xs.ptr()) ? tensors_from(xs) : bt::Tensors{tensor_from(xs)};
        const bt::CheckGradOptions o{.digits = digits, .rules = std::move(rules), .entries = entries, .seed = seed};
        const auto                 of_step = [f = hold(loss)](const bt::Tensor& y, int64_t t) {
          WithGil gil;
          return tensor_from(nb::handle(f.get())(y, t));
        };
        WithoutGil release;
        return bt::check_grad(model, of_step, sequences, o);
      },
      "model"_a, "loss"_a, "xs"_a, nb::kw_only(), "digits"_a = 6, "rules"_a = std::vector<std::string>{"D_RTRL"},
      "entries"_a = 8, "seed"_a = 1,
      "Check the gradient of a model in double precision against finite differences, exact RTRL and learning rules.\n"
      "\n"
      "The model is not changed.\n"
      "\n"
      "Args:\n"
      "    model: a module with initialized states.\n"
      "    loss: function (y, t) from the output of step t to its loss.\n"
      "    xs: a sequence [T, ...], or a tuple with one sequence per input.\n"
      "    digits: significant digits that must agree.\n"
      "    rules: learning rules to compare.\n"
      "    entries: entries of each parameter to check by finite differences.\n"
      "    seed: seed that selects the entries.\n"
      "\n"
      "Returns:\n"
      "    A GradCheck.\n"
      "\n"
      ">>> import pybraintrace as bt\n"
      ">>> model = bt.nn.init_all_states(bt.nn.ValinaRNNCell(2, 3, activation='tanh'))\n"
      ">>> check = bt.check_grad(model, lambda y, t: (y ** 2).mean(), bt.numpy.ones((4, 2)))\n"
      ">>> check.passed\n"
      "True");
}

void bind_measurements(nb::module_& m) {
  nb::class_<bt::FidelityReport>(m, "FidelityReport", "Agreement of learning rules with the exact gradient on a model.")
      .def_prop_ro(
          "rules",
          [](const bt::FidelityReport& r) {
            nb::list out;
            for (const bt::RuleFidelity& f : r.rules) {
              nb::dict row;
              row["rule"] = f.rule, row["setting"] = f.setting, row["window"] = f.window, row["left_out"] = f.left_out;
              row["cosine"] = f.all.cosine, row["norm_ratio"] = f.all.norm_ratio, row["trace_bytes"] = f.trace_bytes;
              out.append(row);
            }
            return out;
          },
          "One dict per rule and window.")
      .def_ro("parameters", &bt::FidelityReport::parameters, "Names of the parameter leaves.")
      .def(
          "table", [](const bt::FidelityReport& r) { return bt::fidelity_table(r); },
          "Return the report as a text table.")
      .def(
          "to_json", [](const bt::FidelityReport& r) { return bt::fidelity_json(r); }, "Return the report as JSON.")
      .def(
          "to_svg", [](const bt::FidelityReport& r) { return bt::fidelity_svg(r); },
          "Return the report as an SVG picture.")
      .def("__repr__", [](const bt::FidelityReport& r) { return bt::fidelity_table(r); });
  m.def(
      "fidelity",
      [](bt::Module& model, Arg x, bt::BatchSize batch, int64_t steps, std::vector<int64_t> windows,
         std::vector<std::string> rules, uint64_t seed, bool last_only) {
        const bt::Type            input = type_of(x);
        const bt::FidelityOptions o{.steps     = steps,
                                    .windows   = std::move(windows),
                                    .rules     = std::move(rules),
                                    .last_only = last_only,
                                    .seed      = seed};
        WithoutGil                release;
        return bt::measure_fidelity(model, model.type_name(), input, batch, o);
      },
      "model"_a, "x"_a, "batch_size"_a = nb::none(), nb::kw_only(), "steps"_a = 20,
      "windows"_a = std::vector<int64_t>{}, "rules"_a = std::vector<std::string>{}, "seed"_a = 1, "last_only"_a = false,
      "Compare the gradient of every learning rule with BPTT on a random sequence.\n"
      "\n"
      "Args:\n"
      "    model: the model.\n"
      "    x: example input of one step.\n"
      "    batch_size: size of the batch axis of `x`; None for no batch axis.\n"
      "    steps: length of the sequence.\n"
      "    windows: window lengths to test as well.\n"
      "    rules: names of rules; default: all.\n"
      "    seed: seed of the sequence.\n"
      "    last_only: use only the loss of the last step.\n"
      "\n"
      "Returns:\n"
      "    A FidelityReport.");
  bind_check_grad(m);
  nb::class_<bt::Advice>(m, "Advice", "Estimated cost of each learning rule on a model.")
      .def_ro("reason", &bt::Advice::reason, "Reason for the recommendation.")
      .def_prop_ro(
          "recommended",
          [](const bt::Advice& a) {
            return a.recommended ? nb::cast(a.costs[*a.recommended].candidate.rule) : nb::object(nb::none());
          },
          "Name of the recommended rule, or None.")
      .def(
          "table", [](const bt::Advice& a) { return bt::advice_table(a); }, "Return the estimates as a text table.")
      .def(
          "to_json", [](const bt::Advice& a) { return bt::advice_json(a); }, "Return the estimates as JSON.")
      .def("__repr__", [](const bt::Advice& a) { return bt::advice_table(a); });
  m.def(
      "advise",
      [](bt::Module& model, Arg x, int64_t batch, int64_t length, std::vector<std::string> rules) {
        const bt::Type input = type_of(x);
        WithoutGil     release;
        return bt::advise(model, model.type_name(), input,
                          {.batch = batch, .length = length, .rules = std::move(rules)});
      },
      "model"_a, "x"_a, "batch_size"_a = 1, nb::kw_only(), "length"_a = 100, "rules"_a = std::vector<std::string>{},
      "Estimate memory and time of training a model with each rule, without running it.\n"
      "\n"
      "Args:\n"
      "    model: the model.\n"
      "    x: example input of one step.\n"
      "    batch_size: samples per batch.\n"
      "    length: steps per sequence.\n"
      "    rules: names of rules; default: all.\n"
      "\n"
      "Returns:\n"
      "    An Advice.");
  m.def(
      "export_c",
      [](bt::Module& model, Arg x, const std::string& rule, const std::string& optimizer, double lr,
         const std::string& loss, const std::string& name) {
        bt::ExportOptions o;
        o.rule = rule, o.optimizer = optimizer, o.lr = lr, o.loss = loss, o.name = name;
        const bt::Exported e = bt::export_model(model, type_of(x), o);
        nb::dict           files;
        for (const bt::ExportedFile& f : e.files) files[nb::str(f.name.c_str())] = f.text;
        return files;
      },
      "model"_a, "x"_a, "rule"_a = "D_RTRL", nb::kw_only(), "optimizer"_a = "sgd", "lr"_a = 0.01, "loss"_a = "mse",
      "name"_a = "model",
      "Export a model with its learning step as C99 source code for a device.\n"
      "\n"
      "Args:\n"
      "    model: the model, with initialized states.\n"
      "    x: example input of one step.\n"
      "    rule: name of the learning rule.\n"
      "    optimizer: name of the optimizer.\n"
      "    lr: learning rate.\n"
      "    loss: name of the loss.\n"
      "    name: prefix of files and functions.\n"
      "\n"
      "Returns:\n"
      "    The files, as {name: text}.");
}

void bind_files(nb::module_& m) {
  m.def(
      "build_model", [](const std::string& description) { return bt::zoo::build_model(description); }, "description"_a,
      "Build a model from a JSON description.");
  m.def(
      "builtin_models",
      [] {
        std::map<std::string, std::string> out;
        for (const auto& b : bt::zoo::builtin_models()) out[b.name] = b.description;
        return out;
      },
      "Return the built-in models as {name: description}.");
  m.def(
      "write_safetensors",
      [](const std::string& path, const nb::dict& arrays, const std::map<std::string, std::string>& metadata) {
        bt::SafeTensors content;
        for (const auto& [name, value] : arrays)
          content.arrays.emplace(nb::cast<std::string>(name), tensor_from(value).array());
        content.metadata = metadata;
        bt::write_safetensors(path, content);
      },
      "path"_a, "arrays"_a, "metadata"_a = std::map<std::string, std::string>{},
      "Write named arrays to a safetensors file.");
  m.def(
      "read_safetensors",
      [](const std::string& path) {
        nb::dict out;
        for (const auto& [name, array] : bt::read_safetensors(path).arrays)
          out[nb::str(name.c_str())] = nb::cast(bt::Tensor(array));
        return out;
      },
      "path"_a, "Read the arrays of a safetensors file by name.");
}

}  // namespace

void bind_tools(nb::module_& m) {
  bind_measurements(m);
  bind_files(m);
}

}  // namespace pybraintrace

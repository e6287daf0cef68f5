// SPDX-License-Identifier: Apache-2.0
// What surrounds learning: fidelity, checks of gradients, advice, export, models from descriptions, files.
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
  nb::class_<bt::GradCheck>(m, "GradCheck", "The gradient of every parameter beside what it must equal.")
      .def_prop_ro("passed", &bt::GradCheck::passed, "No check that must hold fails.")
      .def_ro("loss", &bt::GradCheck::loss, "The loss of the sequence.")
      .def_ro("rules", &bt::GradCheck::rules, "Learning rules that are shown beside the exact gradient.")
      .def_ro("left_out", &bt::GradCheck::left_out, "Rules that cannot run on this model, and why.")
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
          "One dict per parameter: `finite_differences`, `rtrl` and `rules`, each with `digits` and `words`.")
      .def("to_json", &bt::GradCheck::json, "As JSON.")
      .def("__repr__", &bt::GradCheck::text);
  m.def(
      "check_grad",
      [](bt::Module& model, nb::handle loss, nb::handle xs, int digits, std::vector<std::string> rules, int64_t entries,
         uint64_t seed) {
        if (!PyCallable_Check(loss.ptr())) nb::raise_type_error("check_grad: the loss is a function of (y, t)");
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
      "Is the gradient of my model right? In double precision beside finite differences, exact RTRL and learning rules."
      "\n\n`loss(y, t)` is the loss of step t; `xs` is a sequence [T, ...], or a tuple of them, one for each input. "
      "The "
      "model stays as it is.\n\n"
      ">>> import pybraintrace as bt\n"
      ">>> model = bt.nn.init_all_states(bt.nn.ValinaRNNCell(2, 3, activation='tanh'))\n"
      ">>> check = bt.check_grad(model, lambda y, t: (y ** 2).mean(), bt.numpy.ones((4, 2)))\n"
      ">>> check.passed\n"
      "True");
}

void bind_measurements(nb::module_& m) {
  nb::class_<bt::FidelityReport>(m, "FidelityReport", "How close learning rules come to the exact gradient on a model.")
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
      .def_ro("parameters", &bt::FidelityReport::parameters, "Leaves of parameters.")
      .def(
          "table", [](const bt::FidelityReport& r) { return bt::fidelity_table(r); }, "As text.")
      .def(
          "to_json", [](const bt::FidelityReport& r) { return bt::fidelity_json(r); }, "As JSON.")
      .def(
          "to_svg", [](const bt::FidelityReport& r) { return bt::fidelity_svg(r); }, "As a picture.")
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
      "Every rule over the same random sequence, its gradient beside that of BPTT. `x` is an example of a step's "
      "input.");
  bind_check_grad(m);
  nb::class_<bt::Advice>(m, "Advice", "What each rule would cost on a model.")
      .def_ro("reason", &bt::Advice::reason, "Why the recommended one.")
      .def_prop_ro(
          "recommended",
          [](const bt::Advice& a) {
            return a.recommended ? nb::cast(a.costs[*a.recommended].candidate.rule) : nb::object(nb::none());
          },
          "The rule to start with.")
      .def(
          "table", [](const bt::Advice& a) { return bt::advice_table(a); }, "As text.")
      .def(
          "to_json", [](const bt::Advice& a) { return bt::advice_json(a); }, "As JSON.")
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
      "Memory and time of training a model under each rule, found without running it.");
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
      "name"_a = "model", "A network that keeps learning as C99 for a device: {file: text}.");
}

void bind_files(nb::module_& m) {
  m.def(
      "build_model", [](const std::string& description) { return bt::zoo::build_model(description); }, "description"_a,
      "A model from a description in JSON.");
  m.def(
      "builtin_models",
      [] {
        std::map<std::string, std::string> out;
        for (const auto& b : bt::zoo::builtin_models()) out[b.name] = b.description;
        return out;
      },
      "{name: description} of the models that come with the library.");
  m.def(
      "write_safetensors",
      [](const std::string& path, const nb::dict& arrays, const std::map<std::string, std::string>& metadata) {
        bt::SafeTensors content;
        for (const auto& [name, value] : arrays)
          content.arrays.emplace(nb::cast<std::string>(name), tensor_from(value).array());
        content.metadata = metadata;
        bt::write_safetensors(path, content);
      },
      "path"_a, "arrays"_a, "metadata"_a = std::map<std::string, std::string>{}, "Writes named arrays.");
  m.def(
      "read_safetensors",
      [](const std::string& path) {
        nb::dict out;
        for (const auto& [name, array] : bt::read_safetensors(path).arrays)
          out[nb::str(name.c_str())] = nb::cast(bt::Tensor(array));
        return out;
      },
      "path"_a, "Reads named arrays.");
}

}  // namespace

void bind_tools(nb::module_& m) {
  bind_measurements(m);
  bind_files(m);
}

}  // namespace pybraintrace

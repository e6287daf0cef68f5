// SPDX-License-Identifier: Apache-2.0
// What surrounds learning: fidelity, advice, export, training by configuration, models from descriptions, files.
#include <nanobind/stl/function.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/shared_ptr.h>

#include "bindings.h"
#include "braintrace/advise/advise.h"
#include "braintrace/export/export.h"
#include "braintrace/fidelity/fidelity.h"
#include "braintrace/io/safetensors.h"
#include "braintrace/parallel/group.h"
#include "braintrace/train/trainer.h"
#include "braintrace/zoo/model.h"
#include "gil.h"
#include "module.h"

namespace pybraintrace {

namespace {

bt::Type type_of(Arg x) { return x.get().type(); }

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
         std::vector<std::string> rules, uint64_t seed) {
        const bt::Type            input = type_of(x);
        const bt::FidelityOptions o{
            .steps = steps, .windows = std::move(windows), .rules = std::move(rules), .seed = seed};
        WithoutGil release;
        return bt::measure_fidelity(model, model.type_name(), input, batch, o);
      },
      "model"_a, "x"_a, "batch_size"_a = nb::none(), nb::kw_only(), "steps"_a = 20,
      "windows"_a = std::vector<int64_t>{}, "rules"_a = std::vector<std::string>{}, "seed"_a = 1,
      "Every rule over the same random sequence, its gradient beside that of BPTT. `x` is an example of a step's "
      "input.");
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

// Tells Python what a run tells.
class PyObserver : public bt::train::Observer {
 public:
  explicit PyObserver(nb::handle f) : f_(hold(f)) {}
  void step(const bt::train::StepRecord& r) override {
    tell("step", r.step,
         {{"loss", r.loss},
          {"accuracy", r.accuracy},
          {"gradient_norm", r.gradient_norm},
          {"learning_rate", r.learning_rate}});
  }
  void validation(const bt::train::ValidationRecord& r) override {
    tell("validation", r.step, {{"loss", r.loss}, {"accuracy", r.accuracy}});
  }

 private:
  void tell(const char* what, int64_t step, const std::map<std::string, double>& numbers) {
    WithGil gil;
    nb::handle(f_.get())(what, step, numbers);
  }
  Ref f_;
};

void bind_trainer(nb::module_& m) {
  using bt::train::Trainer;
  nb::class_<Trainer>(m, "Trainer", "A training run from a configuration: a dict, JSON text, or a file.")
      .def(
          "__init__",
          [](Trainer* self, const std::string& config, const std::vector<std::string>& replaced, bool is_file,
             bool together) {
            new (self) Trainer(is_file ? bt::train::load_config(config, replaced) : bt::train::read_config(config),
                               together ? bt::parallel::world() : nullptr);
          },
          "config"_a, "replaced"_a, "is_file"_a, "together"_a = false)
      .def(
          "observe", [](Trainer& t, nb::handle f) { t.observe(std::make_shared<PyObserver>(f)); }, "callback"_a,
          "callback(what, step, numbers) hears of every step and validation.")
      .def(
          "run",
          [](Trainer& t) {
            bool              interrupted = false;
            bt::train::Ending ending;
            {
              WithoutGil release;
              ending = t.run([&] {
                WithGil gil;
                interrupted = interrupted || PyErr_CheckSignals() != 0;
                return interrupted;
              });
            }
            if (interrupted) throw nb::python_error();
            constexpr const char* names[] = {"finished", "early_stop", "interrupted", "not_finite"};
            return std::string(names[static_cast<size_t>(ending)]);
          },
          "To the end; Ctrl-C stops between updates. Gives why it ended.")
      .def(
          "step",
          [](Trainer& t) {
            WithoutGil release;
            return t.step().loss;
          },
          "One update of the weights; gives its loss.")
      .def(
          "validate",
          [](Trainer& t, int64_t batches) {
            const auto r = t.validate(batches);
            return nb::make_tuple(r.loss, r.accuracy);
          },
          "batches"_a = 1, "(loss, accuracy) on fresh batches.")
      .def(
          "save", [](Trainer& t, const std::string& path) { t.save(path); }, "path"_a, "Writes a checkpoint.")
      .def("load", &Trainer::load, "path"_a, "Goes on from a checkpoint.")
      .def_prop_ro("updates", &Trainer::updates, "Updates so far.")
      .def_prop_ro(
          "total_updates", [](const Trainer& t) { return t.record().total_steps; }, "Updates of the whole run.")
      .def_prop_ro("goal_reached", &Trainer::goal_reached, "By the last validation.")
      .def_prop_ro(
          "config", [](const Trainer& t) { return t.config().text; }, "The configuration as JSON, defaults filled in.");
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
  bind_trainer(m);
  bind_files(m);
}

}  // namespace pybraintrace

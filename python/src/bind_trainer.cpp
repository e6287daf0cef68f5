// SPDX-License-Identifier: Apache-2.0
// Training from a configuration, and predictions.
#include <nanobind/stl/map.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/unique_ptr.h>

#include <nlohmann/json.hpp>

#include "bindings.h"
#include "braintrace/base/json.h"
#include "braintrace/parallel/group.h"
#include "braintrace/train/evaluation_json.h"
#include "braintrace/train/trainer.h"
#include "convert.h"
#include "tasks.h"

namespace pybraintrace {

namespace {

// Passes the events of a run to a Python function.
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

}  // namespace

void bind_trainer(nb::module_& m) {
  using bt::train::Predictions;
  const auto array = []<class Field>(Field field) {
    return [field](const Predictions& p) { return numpy_of(bt::Tensor(p.*field)); };
  };
  nb::class_<Predictions>(m, "Predictions", "Predictions, one row per step with a target.")
      .def_prop_ro("samples", array(&Predictions::samples), "Index of the sample of each row.")
      .def_prop_ro("steps", array(&Predictions::steps), "Step of each row within its sample.")
      .def_prop_ro("outputs", array(&Predictions::outputs), "Outputs of the network, [rows, n].")
      .def_prop_ro("targets", array(&Predictions::targets), "Targets: classes [rows], or values [rows, n].")
      .def_prop_ro("classes", array(&Predictions::classes), "Predicted classes [rows]; empty for values.")
      .def_prop_ro("probabilities", array(&Predictions::probabilities),
                   "Class probabilities [rows, n], the softmax of the outputs; empty for values.")
      .def_ro("class_names", &Predictions::class_names, "Names of the classes, if the data have them.")
      .def(
          "save",
          [](const Predictions& p, nb::handle path) {
            bt::train::write_predictions(nb::cast<std::string>(nb::module_::import_("os").attr("fspath")(path)), p);
          },
          "path"_a, "Write a file: .npz with one array per property, or .csv with one line per row.")
      .def("__len__", [](const Predictions& p) { return p.samples.size(); });
  using bt::train::Trainer;
  nb::class_<Trainer>(m, "Trainer", "A training run from a configuration.")
      .def(
          "__init__",
          [](Trainer* self, const std::string& config, const std::vector<std::string>& replaced, bool is_file,
             bool together) {
            new (self) Trainer(is_file ? bt::train::load_config(config, replaced) : bt::train::read_config(config),
                               together ? bt::parallel::world() : nullptr);
          },
          "config"_a, "replaced"_a, "is_file"_a, "together"_a = false)
      .def_static(
          "of_checkpoint",
          [](const std::string& path, const std::optional<std::string>& data, bool needs_targets) {
            auto config = bt::train::config_of_checkpoint(path);
            if (data)
              config = bt::train::with_test_file(
                  std::move(config), *data, needs_targets ? bt::train::Targets::Needed : bt::train::Targets::Optional);
            auto trainer = std::make_unique<Trainer>(std::move(config));
            trainer->load(path);
            return trainer;
          },
          "path"_a, "data"_a = nb::none(), "needs_targets"_a = true,
          "Create the run of a checkpoint, with its weights.")
      .def(
          "observe", [](Trainer& t, nb::handle f) { t.observe(std::make_shared<PyObserver>(f)); }, "callback"_a,
          "Call `callback(what, step, numbers)` after every step and validation.")
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
          "Train to the end; return 'finished', 'early_stop', 'interrupted' or 'not_finite'. Ctrl-C stops between "
          "updates.")
      .def(
          "step",
          [](Trainer& t) {
            WithoutGil release;
            return t.step().loss;
          },
          "Run one update of the weights; return its loss.")
      .def(
          "validate",
          [](Trainer& t, int64_t batches, const std::string& part) {
            const auto r = without_gil([&] { return t.validate(batches, part_named(part)); });
            return nb::make_tuple(r.loss, r.accuracy);
          },
          "batches"_a = 1, "part"_a = "validation",
          "Return (loss, accuracy) over batches of a part.\n"
          "\n"
          "Args:\n"
          "    batches: number of batches; 0 for the whole part.\n"
          "    part: 'train', 'validation' or 'test'.")
      .def(
          "evaluate",
          [](Trainer& t, int64_t batches, const std::string& part) {
            return without_gil([&] {
              const auto v = t.validate(batches, part_named(part));
              t.compare();
              return bt::json_text(bt::train::evaluation_json(t, v));
            });
          },
          "batches"_a, "part"_a, "Evaluate a part; return the result as JSON.")
      .def(
          "predict",
          [](Trainer& t, const std::string& part) { return without_gil([&] { return t.predict(part_named(part)); }); },
          "part"_a, "Return the predictions for all samples of a part.")
      .def(
          "save", [](Trainer& t, const std::string& path) { t.save(path); }, "path"_a, "Write a checkpoint.")
      .def("load", &Trainer::load, "path"_a, "Resume from a checkpoint.")
      .def_prop_ro("updates", &Trainer::updates, "Number of updates so far.")
      .def_prop_ro(
          "total_updates", [](const Trainer& t) { return t.record().total_steps; },
          "Number of updates of the whole run.")
      .def_prop_ro("goal_reached", &Trainer::goal_reached,
                   "Whether the last validation reached the goal of the configuration.")
      .def_prop_ro(
          "config", [](const Trainer& t) { return t.config().text; },
          "The configuration as JSON, with defaults filled in.");
}

}  // namespace pybraintrace

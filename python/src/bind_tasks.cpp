// SPDX-License-Identifier: Apache-2.0
// Tasks: batches of sequences with their targets, and encodings of numbers as spikes.
#include <nanobind/stl/map.h>
#include <nanobind/stl/shared_ptr.h>

#include "bindings.h"
#include "braintrace/tasks/encode.h"
#include "braintrace/tasks/task.h"
#include "convert.h"
#include "tasks.h"

namespace pybraintrace {

namespace {

using bt::tasks::Part;
using bt::tasks::Task;

nb::object array_of(const bt::Array& a) { return numpy_of(bt::Tensor(a)); }

void bind_encodings(nb::module_& m) {
  m.def(
      "poisson_spikes",
      [](Arg p, int64_t steps, uint64_t seed) {
        bt::tasks::Random random(seed, Part::Train, 0);
        return array_of(bt::tasks::poisson_spikes(p.get().array(), steps, random));
      },
      "p"_a, "steps"_a, "seed"_a = 0,
      "Encode probabilities as random spikes.\n"
      "\n"
      "Args:\n"
      "    p: probability of a spike in each step, any shape.\n"
      "    steps: number of steps.\n"
      "    seed: seed of the spikes.\n"
      "\n"
      "Returns:\n"
      "    Spikes [steps, ...].");
  m.def(
      "latency_spikes",
      [](Arg v, int64_t steps) { return array_of(bt::tasks::latency_spikes(v.get().array(), steps)); }, "values"_a,
      "steps"_a,
      "Encode values in [0, 1] as spike times: larger values spike earlier, zero never.\n"
      "\n"
      "Returns:\n"
      "    Spikes [steps, ...].");
  m.def(
      "latency_values", [](Arg x) { return array_of(bt::tasks::latency_values(x.get().array())); }, "spikes"_a,
      "Inverse of latency_spikes.");
  m.def(
      "delta_events",
      [](Arg s, double threshold) { return array_of(bt::tasks::delta_events(s.get().array(), threshold)); }, "signal"_a,
      "threshold"_a,
      "Encode the changes of a signal as events.\n"
      "\n"
      "Args:\n"
      "    signal: [T, ...].\n"
      "    threshold: change that emits an event.\n"
      "\n"
      "Returns:\n"
      "    Events [T, 2, ...]: channel 0 for increases, 1 for decreases.");
  m.def(
      "delta_signal",
      [](Arg x, Arg first, double threshold) {
        return array_of(bt::tasks::delta_signal(x.get().array(), first.get().array(), threshold));
      },
      "events"_a, "first"_a, "threshold"_a, "Inverse of delta_events, given the first values of the signal.");
}

}  // namespace

Part part_named(const std::string& name) {
  constexpr const char* names[] = {"train", "validation", "test"};
  for (size_t i = 0; i < std::size(names); ++i)
    if (name == names[i]) return static_cast<Part>(i);
  bt::fail("unknown part '{}' of a task; expected train, validation or test.", name);
}

void bind_tasks(nb::module_& parent) {
  nb::module_ m = parent.def_submodule("tasks", "Tasks and spike encodings.");
  nb::class_<Task>(m, "Task", "Batches of sequences with targets.")
      .def(
          "batch",
          [](const Task& t, const std::string& part, int64_t index, int64_t size) {
            const auto b = without_gil([&] { return t.batch(part_named(part), index, size); });
            return nb::make_tuple(array_of(b.inputs), array_of(b.targets), array_of(b.mask));
          },
          "part"_a, "index"_a, "size"_a, "Return (inputs, targets, mask) of one batch.")
      .def(
          "samples", [](const Task& t, const std::string& part) { return t.facts().samples(part_named(part)); },
          "part"_a, "Return the number of samples of a part; 0 if batches are generated endlessly.")
      .def_prop_ro(
          "input_shape", [](const Task& t) { return tuple_of(t.facts().input); }, "Shape of one step of one sample.")
      .def_prop_ro(
          "outputs", [](const Task& t) { return t.facts().outputs; },
          "Number of classes, or width of the target values.")
      .def_prop_ro(
          "length", [](const Task& t) { return t.facts().length; }, "Number of steps of the longest sequence.")
      .def_prop_ro(
          "class_names", [](const Task& t) { return t.facts().class_names; }, "Names of the classes, if there are any.")
      .def_prop_ro(
          "has_classes", [](const Task& t) { return t.facts().targets == bt::tasks::TargetKind::Classes; },
          "Whether targets are classes rather than values.")
      .def(
          "to_svg", [](const Task& t) { return bt::tasks::picture(t, "sample"); },
          "Draw one sample as SVG: inputs over time, and the targets below.");
  m.def(
      "make_task",
      [](const std::string& description, uint64_t seed) { return bt::tasks::make_task(description, seed); },
      "description"_a, "seed"_a, "Create a task from its JSON description.");
  m.def(
      "task_types",
      [] {
        std::map<std::string, std::string> out;
        for (const bt::tasks::TaskType& t : bt::tasks::task_types()) out[t.name] = t.doc;
        return out;
      },
      "Return all task types as {type: description}.");
  bind_encodings(m);
}

}  // namespace pybraintrace

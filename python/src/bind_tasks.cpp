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
      "p"_a, "steps"_a, "seed"_a = 0, "Spikes [steps, ...] with probability p in each step.");
  m.def(
      "latency_spikes",
      [](Arg v, int64_t steps) { return array_of(bt::tasks::latency_spikes(v.get().array(), steps)); }, "values"_a,
      "steps"_a, "One spike for each value in 0 ... 1, the larger the earlier; none for 0.");
  m.def(
      "latency_values", [](Arg x) { return array_of(bt::tasks::latency_values(x.get().array())); }, "spikes"_a,
      "The way back from latency_spikes.");
  m.def(
      "delta_events",
      [](Arg s, double threshold) { return array_of(bt::tasks::delta_events(s.get().array(), threshold)); }, "signal"_a,
      "threshold"_a, "Events [T, 2, ...] where a signal moves up (0) or down (1) by a threshold.");
  m.def(
      "delta_signal",
      [](Arg x, Arg first, double threshold) {
        return array_of(bt::tasks::delta_signal(x.get().array(), first.get().array(), threshold));
      },
      "events"_a, "first"_a, "threshold"_a, "The way back from delta_events, given the first values.");
}

}  // namespace

Part part_named(const std::string& name) {
  constexpr const char* names[] = {"train", "validation", "test"};
  for (size_t i = 0; i < std::size(names); ++i)
    if (name == names[i]) return static_cast<Part>(i);
  bt::fail("there is no part '{}' of a task; expected train, validation or test.", name);
}

void bind_tasks(nb::module_& parent) {
  nb::module_ m = parent.def_submodule("tasks", "Tasks and encodings.");
  nb::class_<Task>(m, "Task", "Batches of sequences with their targets.")
      .def(
          "batch",
          [](const Task& t, const std::string& part, int64_t index, int64_t size) {
            const auto b = without_gil([&] { return t.batch(part_named(part), index, size); });
            return nb::make_tuple(array_of(b.inputs), array_of(b.targets), array_of(b.mask));
          },
          "part"_a, "index"_a, "size"_a)
      .def(
          "samples", [](const Task& t, const std::string& part) { return t.facts().samples(part_named(part)); },
          "part"_a, "Samples of a part; 0 where batches are generated without end.")
      .def_prop_ro(
          "input_shape", [](const Task& t) { return tuple_of(t.facts().input); }, "Of one step of one sample.")
      .def_prop_ro(
          "outputs", [](const Task& t) { return t.facts().outputs; }, "Classes, or the width of the values.")
      .def_prop_ro(
          "length", [](const Task& t) { return t.facts().length; }, "Steps of the longest sequence.")
      .def_prop_ro(
          "class_names", [](const Task& t) { return t.facts().class_names; }, "Names, where there are any.")
      .def_prop_ro(
          "has_classes", [](const Task& t) { return t.facts().targets == bt::tasks::TargetKind::Classes; },
          "Whether targets are classes; else values.")
      .def(
          "to_svg", [](const Task& t) { return bt::tasks::picture(t, "sample"); },
          "One sample as a picture: inputs over time, and below them the targets.");
  m.def(
      "make_task",
      [](const std::string& description, uint64_t seed) { return bt::tasks::make_task(description, seed); },
      "description"_a, "seed"_a);
  m.def(
      "task_types",
      [] {
        std::map<std::string, std::string> out;
        for (const bt::tasks::TaskType& t : bt::tasks::task_types()) out[t.name] = t.doc;
        return out;
      },
      "{type: what is learned} of all tasks.");
  bind_encodings(m);
}

}  // namespace pybraintrace

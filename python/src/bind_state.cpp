// SPDX-License-Identifier: Apache-2.0
#include <fmt/ranges.h>

#include "bindings.h"
#include "braintrace/model/frame.h"
#include "braintrace/model/random_stream.h"
#include "gil.h"
#include "module.h"

namespace pybraintrace {

namespace {

// One Python class per kind of state, as the C++ ones derive from each other.
#define PYBRAINTRACE_BOX(Name, Base) \
  struct Name : Base {               \
    using Base::Base;                \
  };
PYBRAINTRACE_BOX(ParamBox, StateBox)
PYBRAINTRACE_BOX(ShortTermBox, StateBox)
PYBRAINTRACE_BOX(HiddenBox, ShortTermBox)
PYBRAINTRACE_BOX(HiddenGroupBox, HiddenBox)
PYBRAINTRACE_BOX(HiddenTreeBox, HiddenGroupBox)
PYBRAINTRACE_BOX(LongTermBox, StateBox)
PYBRAINTRACE_BOX(RandomBox, LongTermBox)

template <class Box>
nb::object boxed(const bt::State& state) {
  auto*      box    = new Box(state);
  nb::object object = nb::cast(box, nb::rv_policy::take_ownership);
  remember(object, *box);
  return object;
}

bt::State made(bt::StateKind kind, nb::handle value) {
  const bool makes_values = PyCallable_Check(value.ptr()) && !nb::isinstance<bt::Tensor>(value);
  if (!makes_values) return bt::State(kind, leaves_from(value));
  return bt::State(kind, [f = hold(value)](bt::BatchSize batch) {
    WithGil gil;
    return leaves_from(nb::handle(f.get())(batch ? nb::cast(*batch) : nb::none()));
  });
}

template <class Box, class... Bases>
nb::class_<Box, Bases...> bind_kind(nb::module_& m, const char* name, bt::StateKind kind, const char* doc) {
  nb::class_<Box, Bases...> c(m, name, nb::dynamic_attr(), nb::is_weak_referenceable(), doc);
  c.def(
      "__init__",
      [kind](nb::pointer_and_handle<Box> self, nb::handle value, nb::handle) {
        new (self.p) Box(made(kind, value));
        remember(self.h, *self.p);
      },
      "value"_a, "name"_a = nb::none());
  return c;
}

nb::object state_value(const StateBox& box) {
  bt::require(box.state.initialized(), bt::ErrorKind::State, "{} has no value yet; call init_all_states(model) first.",
              box.state.place());
  bt::Leaves leaves;
  for (const std::string& name : box.state.leaf_names()) leaves[name] = box.state.leaf(name);
  return pybraintrace::value_of(leaves);
}

void set_state_value(StateBox& box, nb::handle value) {
  bt::Leaves leaves = leaves_from(value);
  if (box.state.initialized()) {
    const auto names    = box.state.leaf_names();
    const bool is_array = names == std::vector<std::string>{""};
    for (const auto& [name, leaf] : leaves)
      bt::require(std::find(names.begin(), names.end(), name) != names.end(), "{} holds {}; got {}.", box.state.place(),
                  is_array ? "one array" : fmt::format("a dict of {}", fmt::join(names, ", ")),
                  name.empty() ? "one array" : fmt::format("a value for '{}'", name));
  }
  for (const auto& [name, leaf] : leaves)
    box.state.set_leaf(name,
                       leaf.is_weak() && box.state.has_leaf(name) ? leaf.settled(box.state.type(name).dtype) : leaf);
}

}  // namespace

nb::object object_of(const bt::State& state) {
  if (nb::object known = known_object(state); known.is_valid()) return known;
  switch (state.kind()) {
    case bt::StateKind::Param:
      return boxed<ParamBox>(state);
    case bt::StateKind::Hidden:
      return boxed<HiddenBox>(state);
    case bt::StateKind::HiddenGroup:
      return boxed<HiddenGroupBox>(state);
    case bt::StateKind::HiddenTree:
      return boxed<HiddenTreeBox>(state);
    case bt::StateKind::ShortTerm:
      return boxed<ShortTermBox>(state);
    case bt::StateKind::LongTerm:
      return boxed<LongTermBox>(state);
    case bt::StateKind::Random:
      break;
  }
  return boxed<RandomBox>(state);
}

void bind_state(nb::module_& m) {
  nb::class_<StateBox> c(m, "State", nb::dynamic_attr(), nb::is_weak_referenceable(),
                         "A value that a model keeps between calls: one tensor, or a dict of named tensors.");
  c.def_prop_rw(
      "value", &state_value, [](StateBox& s, nb::handle v) { set_state_value(s, v); }, nb::for_setter("value"_a.none()),
      "The current value. Inside a transform, reads give traced tensors, and writes take effect when the program "
      "runs.");
  c.def_prop_ro(
      "place", [](const StateBox& s) { return s.state.place(); }, "Path of the state in its model, for messages.");
  c.def_prop_ro(
      "kind", [](const StateBox& s) { return std::string(bt::name_of(s.state.kind())); },
      "Kind of the state, such as 'ParamState'.");
  c.def_prop_ro(
      "initialized", [](const StateBox& s) { return s.state.initialized(); }, "Whether the state has a value.");
  c.def(
      "init", [](const StateBox& s, bt::BatchSize batch) { s.state.init(batch); }, "batch_size"_a = nb::none(),
      "Set the initial value.\n"
      "\n"
      "Args:\n"
      "    batch_size: size of the leading batch axis; None for no batch axis.");
  c.def(
      "reset", [](const StateBox& s) { s.state.reset(); },
      "Restore the initial value, with the batch size of the last `init`.");
  c.def("_is_in_lane", [](const StateBox& s) { return bt::StateFrame::hides_batch_of(s.state); });
  c.def("_saved", [](const StateBox& s) {
    const bt::StateCell& cell  = *s.state.cell();
    nb::object           first = cell.first.empty() ? nb::object(nb::none()) : pybraintrace::value_of(cell.first);
    nb::object           batch = cell.batch ? nb::object(nb::int_(*cell.batch)) : nb::object(nb::none());
    return nb::make_tuple(first, batch, s.state.initialized() ? state_value(s) : nb::object(nb::none()));
  });
  c.def(
      "__eq__",
      [](const StateBox& a, nb::handle b) {
        return nb::isinstance<StateBox>(b) && a.state.cell() == nb::cast<StateBox&>(b).state.cell();
      },
      "other"_a.none());
  c.def("__hash__", [](const StateBox& s) { return reinterpret_cast<intptr_t>(s.state.cell().get()) >> 4; });
  c.def("__repr__", [](nb::handle self) {
    const auto& s    = nb::cast<StateBox&>(self).state;
    std::string text = nb::cast<std::string>(nb::str(self.type().attr("__name__"))) + "(";
    if (!s.initialized()) return text + "not initialized)";
    for (const std::string& name : s.leaf_names())
      text += (text.ends_with("(") ? "" : ", ") + (name.empty() ? "" : name + "=") + bt::to_string(s.type(name));
    return text + ")";
  });

  using K = bt::StateKind;
  bind_kind<ParamBox, StateBox>(
      m, "ParamState", K::Param,
      "A trainable weight. The operation that reads it determines whether it learns online.\n"
      "\n"
      "Args:\n"
      "    value: an array, a dict of arrays, or a function of the batch size that returns one.\n"
      "    name: ignored; states are named after the attributes that hold them.");
  bind_kind<ShortTermBox, StateBox>(m, "ShortTermState", K::ShortTerm, "A value carried from one step to the next.");
  bind_kind<HiddenBox, ShortTermBox>(m, "HiddenState", K::Hidden,
                                     "A recurrent state, which eligibility traces follow.");
  bind_kind<HiddenGroupBox, HiddenBox>(m, "HiddenGroupState", K::HiddenGroup,
                                       "Several recurrent states, stacked along the last axis of one tensor.");
  nb::class_<HiddenTreeBox, HiddenGroupBox>(m, "HiddenTreeState", nb::dynamic_attr(),
                                            "A HiddenGroupState with named slots.\n"
                                            "\n"
                                            "Args:\n"
                                            "    value: the stacked tensor.\n"
                                            "    slots: one name for each entry of the last axis.")
      .def(
          "__init__",
          [](nb::pointer_and_handle<HiddenTreeBox> self, Arg value, std::vector<std::string> slots) {
            new (self.p) HiddenTreeBox(bt::HiddenTreeState(value, std::move(slots)));
            remember(self.h, *self.p);
          },
          "value"_a, "slots"_a)
      .def(
          "slot",
          [](const HiddenTreeBox& s, const std::string& name) {
            return static_cast<const bt::HiddenTreeState&>(s.state).slot(name);
          },
          "name"_a, "Return one slot of the stacked tensor.");
  bind_kind<LongTermBox, StateBox>(m, "LongTermState", K::LongTerm,
                                   "A value that persists over sequences, such as running statistics.");
  nb::class_<RandomBox, LongTermBox>(m, "RandomState", nb::dynamic_attr(), "A seeded stream of random keys.")
      .def(
          "__init__",
          [](nb::pointer_and_handle<RandomBox> self, uint64_t seed) {
            new (self.p) RandomBox(bt::RandomStream(seed));
            remember(self.h, *self.p);
          },
          "seed"_a = 0)
      .def(
          "next_key", [](const RandomBox& s) { return static_cast<const bt::RandomStream&>(s.state).next(); },
          "Return a fresh key and advance the stream.")
      .def(
          "seed", [](const RandomBox& s, uint64_t v) { static_cast<const bt::RandomStream&>(s.state).seed(v); },
          "seed"_a, "Restart the stream from a seed.");
}

}  // namespace pybraintrace

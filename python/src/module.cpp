// SPDX-License-Identifier: Apache-2.0
#include "module.h"

#include <set>
#include <unordered_map>

#include <fmt/format.h>

#include "braintrace/model/name.h"
#include "places.h"

namespace pybraintrace {

namespace {

// Python objects of states, which remove themselves when they are destroyed. Protected by the GIL.
std::unordered_map<const bt::StateCell*, PyObject*>& made_objects() {
  static auto* objects = new std::unordered_map<const bt::StateCell*, PyObject*>;
  return *objects;
}

}  // namespace

StateBox::~StateBox() { made_objects().erase(state.cell().get()); }

void remember(nb::handle object, StateBox& box) { made_objects()[box.state.cell().get()] = object.ptr(); }

nb::object known_object(const bt::State& state) {
  const auto it = made_objects().find(state.cell().get());
  return it == made_objects().end() ? nb::object() : nb::borrow(it->second);
}

nb::object dict_of(const bt::StateMap& states) {
  nb::dict out;
  for (const auto& [path, state] : states) out[tuple_of(path)] = object_of(state);
  return out;
}

bt::StateMap states_from(nb::handle object) {
  bt::StateMap out;
  if (nb::isinstance<bt::Module>(object)) return nb::cast<bt::Module&>(object).params();
  if (nb::isinstance<StateBox>(object)) return {{bt::Path{"state"}, nb::cast<StateBox&>(object).state}};
  auto add = [&](bt::Path path, nb::handle state) {
    if (!nb::isinstance<StateBox>(state))
      nb::raise_type_error("expected states, got %s", nb::cast<std::string>(nb::repr(state)).c_str());
    out.emplace_back(std::move(path), nb::cast<StateBox&>(state).state);
  };
  if (nb::hasattr(object, "items"))
    for (nb::handle item : nb::iter(nb::object(object.attr("items")()))) {
      nb::object key(item[0]), state(item[1]);
      add(path_from(key), state);
    }
  else {
    size_t i = 0;
    for (nb::handle state : nb::iter(object)) add(bt::Path{std::to_string(i++)}, state);
  }
  std::stable_sort(out.begin(), out.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  return out;
}

namespace {

enum class Part { None, Child, State, List, Dict, Field };

// Whether it is a module or a state, or contains one.
bool holds(Part part) { return part != Part::None && part != Part::Field; }
// Whether a key of a dict can be a part of a path.
bool is_name(nb::handle key) { return PyUnicode_Check(key.ptr()) || PyLong_Check(key.ptr()); }

nb::dict fields_of(nb::handle dataclass) {
  nb::dict out;
  for (nb::handle name : nb::iter(nb::object(dataclass.attr("__dataclass_fields__"))))
    out[name] = nb::getattr(dataclass, name, nb::none());
  return out;
}

Part part_of(nb::handle value) {
  PyObject* o = value.ptr();
  if (nb::isinstance<bt::Module>(value)) return Part::Child;
  if (nb::isinstance<StateBox>(value)) return Part::State;
  const Nested nested;
  if (PyList_Check(o) || PyTuple_Check(o)) {
    bool is_plain = PyTuple_Check(o);
    for (nb::handle item : nb::iter(value)) {
      const Part p = part_of(item);
      if (holds(p)) return Part::List;
      is_plain = is_plain && p == Part::Field;
    }
    return is_plain ? Part::Field : Part::None;
  }
  if (PyDict_Check(o)) {
    for (const auto& [key, item] : nb::borrow<nb::dict>(value))
      if (is_name(key) && holds(part_of(item))) return Part::Dict;
    return Part::None;
  }
  if (PyLong_Check(o) || PyFloat_Check(o) || PyUnicode_Check(o)) return Part::Field;
  if (is_dataclass(value))
    for (const auto& [name, item] : fields_of(value))
      if (holds(part_of(item))) return Part::Dict;
  return Part::None;
}

// The modules whose parts are being looked for, from the outermost in: a part that holds its owner is not a child of
// it.
thread_local std::vector<const bt::Module*> looking;

struct Walk {
  std::vector<std::shared_ptr<bt::ModuleList>>& lists;
  std::set<const void*>                         on_the_way;

  void set(bt::Module& owner, const std::string& name, nb::handle value) {
    switch (part_of(value)) {
      case Part::Child: {
        auto& child = nb::cast<bt::Module&>(value);
        for (const bt::Module* m : looking)
          if (m == &child) return;
        owner.set_child(name, child);
        break;
      }
      case Part::State:
        owner.set_state(name, nb::cast<StateBox&>(value).state);
        break;
      case Part::List:
      case Part::Dict:
        if (on_the_way.insert(value.ptr()).second) set_list(owner, name, value);
        on_the_way.erase(value.ptr());
        break;
      case Part::Field:
        // Settings of other names, such as Greek letters, are left out of the description.
        if (!name.starts_with("_") && bt::is_name(name)) owner.set_field(name, nb::cast<std::string>(nb::repr(value)));
        break;
      case Part::None:
        break;
    }
  }

  void set_list(bt::Module& owner, const std::string& name, nb::handle value) {
    auto list = std::make_shared<bt::ModuleList>();
    lists.push_back(list);
    if (PyDict_Check(value.ptr()) || is_dataclass(value)) {
      const nb::dict        items = PyDict_Check(value.ptr()) ? nb::borrow<nb::dict>(value) : fields_of(value);
      std::set<std::string> names;
      for (const auto& [key, item] : items) {
        if (!is_name(key) || !holds(part_of(item))) continue;
        const auto own = nb::cast<std::string>(nb::str(key));
        bt::require(names.insert(own).second, "{}: two keys of a dict are written '{}'; rename one of them.", name,
                    own);
        set(*list, own, item);
      }
    } else {
      size_t i = 0;
      for (nb::handle item : nb::iter(value)) {
        if (part_of(item) != Part::Field) set(*list, std::to_string(i), item);
        ++i;
      }
    }
    owner.set_child(name, *list);
  }
};

}  // namespace

void PyParts::bring_up_to_date(bt::Module& module) {
  WithGil gil;
  if (!self_.is_valid() || !nb::hasattr(self_, "__dict__")) return;
  for (const bt::Module* m : looking)
    if (m == &module) return;
  looking.push_back(&module);
  struct Pop {
    ~Pop() { looking.pop_back(); }
  } pop;
  std::vector<std::shared_ptr<bt::ModuleList>> lists;
  Walk                                         walk{lists, {}};
  std::set<std::string>                        present;
  nb::object                                   copied     = self_.attr("__dict__").attr("copy")();
  nb::dict                                     attributes = nb::borrow<nb::dict>(copied);
  for (const auto& [key, value] : attributes) {
    const auto name = nb::cast<std::string>(key);
    if (part_of(value) == Part::None) continue;
    present.insert(name);
    walk.set(module, name, value);
  }
  for (const std::string& name : module.part_names())
    if (!present.contains(name)) module.erase(name);
  lists_ = std::move(lists);
}

std::string PyParts::class_name() const {
  WithGil gil;
  return self_.is_valid() ? nb::cast<std::string>(nb::str(self_.type().attr("__name__"))) : "Module";
}

namespace {

// States among the attributes of an object, by name.
using States = std::vector<std::pair<nb::str, nb::object>>;

States states_of(nb::handle self) {
  States out;
  if (!nb::hasattr(self, "__dict__")) return out;
  for (const auto& [name, value] : nb::borrow<nb::dict>(self.attr("__dict__")))
    if (nb::isinstance<StateBox>(value)) out.emplace_back(nb::borrow<nb::str>(name), nb::borrow(value));
  return out;
}

// A hook that assigns a new state to an attribute initializes the state that was there: compiled programs and learners
// hold its cell. Exceptions: a state created in a trace is local to it, and a state that a module has already is
// shared with it.
void keep_cells(nb::handle self, const States& before) {
  for (const auto& [name, state] : before) {
    nb::object now = nb::getattr(self, name, nb::none());
    if (now.is(state) || !now.type().is(state.type())) continue;
    bt::StateCell& from = *nb::cast<StateBox&>(now).state.cell();
    bt::StateCell& to   = *nb::cast<StateBox&>(state).state.cell();
    if (from.home != 0 || to.home != 0 || !from.places.empty()) continue;
    to.settled() = from.settled();
    to.init      = from.init;
    to.first     = from.first;
    to.batch     = from.batch;
    to.is_new    = from.is_new;
    to.slots     = from.slots;
    nb::setattr(self, name, state);
  }
}

// Calls a hook in any of its forms: init_state(), init_state(batch_size), init_state(**kwargs).
void call_with_batch(nb::handle method, bt::BatchSize batch) {
  nb::module_::import_("pybraintrace._modules").attr("call_hook")(method, batch ? nb::cast(*batch) : nb::none());
}

}  // namespace

void PyParts::call_hook(const char* name, bt::BatchSize batch) {
  WithGil gil;
  if (!self_.is_valid()) return;
  nb::object method = nb::getattr(self_, name, nb::none());
  if (method.is_none()) return;
  const States before = states_of(self_);
  call_with_batch(method, batch);
  keep_cells(self_, before);
}

bt::Tensors PyParts::call_update(bt::Module& module, const bt::Tensors& xs) {
  WithGil    gil;
  nb::object method = nb::getattr(self_, "update", nb::none());
  CalledModules::add(self_);
  bt::require(!method.is_none(),
              "{}: update is not defined; define `def update(self, x): ...` with one step of the model.",
              module.type_name());
  try {
    nb::object result;
    if (input && input->num_leaves() == xs.size()) {
      nb::object packed = input->unflatten(xs);
      result            = method(*nb::borrow<nb::tuple>(packed[0]), **nb::borrow<nb::dict>(packed[1]));
    } else {
      nb::list args;
      for (const bt::Tensor& x : xs) args.append(x.defined() ? nb::cast(x) : nb::none());
      result = method(*args);
    }
    Tree::Leaves leaves;
    output              = Tree::of(result, leaves);
    bt::Tensors results = tensors_of(leaves, "update");
    for (bt::Tensor& t : results) t = owned(t);
    return results;
  } catch (nb::python_error& e) {
    nb::object error = nb::borrow(e.value());
    if (nb::hasattr(error, "add_note"))
      error.attr("add_note")(fmt::format(
          "in {} ({})", bt::NoteScope::current().empty() ? "the model" : bt::NoteScope::current(), module.type_name()));
    throw;
  }
}

namespace {

PyParts* parts_of(bt::Module& module) { return dynamic_cast<PyParts*>(&module); }

Tree packed(const nb::args& args, const nb::kwargs& kwargs, Tree::Leaves& leaves) {
  return Tree::of(nb::make_tuple(args, kwargs), leaves, is_captured);
}

}  // namespace

bt::Tensors inputs_of(bt::Module& module, const nb::args& args, const nb::kwargs& kwargs) {
  Tree::Leaves leaves;
  Tree         tree = packed(args, kwargs, leaves);
  bt::Tensors  xs   = tensors_of(leaves, module.type_name().c_str());
  if (PyParts* parts = parts_of(module))
    parts->input = std::move(tree);
  else
    bt::require(kwargs.size() == 0, "{}: keyword arguments are not supported; pass inputs by position.",
                module.type_name());
  return xs;
}

nb::object result_of(const bt::Module& module, const bt::Tensors& out) {
  if (PyParts* parts = parts_of(const_cast<bt::Module&>(module)); parts && parts->output.num_leaves() == out.size())
    return parts->output.unflatten(out);
  if (out.size() == 1) return nb::cast(out.front());
  nb::list list;
  for (const bt::Tensor& t : out) list.append(nb::cast(t));
  return nb::tuple(list);
}

nb::object call_module(bt::Module& module, const nb::args& args, const nb::kwargs& kwargs) {
  PyParts*            parts = parts_of(module);
  std::optional<Tree> before;
  if (parts) before = parts->input;
  const bt::Tensors xs = inputs_of(module, args, kwargs);
  struct Restore {
    PyParts*             parts;
    std::optional<Tree>& before;
    ~Restore() {
      if (parts && before) parts->input = std::move(before);
    }
  } restore{parts, before};
  return result_of(module, module.call(xs));
}

}  // namespace pybraintrace

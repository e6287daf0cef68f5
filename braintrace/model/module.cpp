// SPDX-License-Identifier: Apache-2.0
#include "braintrace/model/module.h"

#include <algorithm>
#include <cstdlib>
#include <cxxabi.h>
#include <mutex>
#include <ostream>
#include <set>
#include <typeinfo>
#include <utility>

#include <fmt/format.h>

#include "braintrace/model/frame.h"
#include "braintrace/model/name.h"

namespace braintrace {

struct ModuleNode {
  struct Entry {
    std::string                 name;
    std::shared_ptr<ModuleNode> module;  // one of these three
    std::optional<State>        state;
    std::string                 text;

    bool operator==(const Entry&) const = default;
  };
  std::string        type;
  std::vector<Place> places;  // where it is registered, the newest last
  bool               is_list  = false;
  bool               is_local = false;  // created inside an update
  BatchSize          batch;             // of the last init
  std::vector<Entry> entries;

  Entry* find(const std::string& name) {
    const auto it = std::find_if(entries.begin(), entries.end(), [&](const Entry& e) { return e.name == name; });
    return it == entries.end() ? nullptr : &*it;
  }
  void check_name(const std::string& name) const {
    require(!name.empty(), "{}: a child, state or setting needs a name.", place());
    require(is_name(name),
            "{}: '{:.120}' cannot be a name; use at most 100 of the letters a to z and A to Z, digits, '_' and '-'.",
            place(), name);
  }

  std::string path() const {
    for (auto at = places.rbegin(); at != places.rend(); ++at)
      if (const auto up = at->owner.lock()) {
        const std::string above = up->path();
        return above.empty() ? at->name : above + "." + at->name;
      }
    return "";
  }
  std::string place() const {
    const std::string at = path();
    return at.empty() ? "module" : fmt::format("module '{}'", at);
  }

  // The copies of this module. Any of them can be used to call the functions of its class.
  void join(Module* handle) {
    std::lock_guard lock(mutex_);
    handles_.push_back(handle);
  }
  void leave(Module* handle) {
    std::lock_guard lock(mutex_);
    handles_.erase(std::find(handles_.begin(), handles_.end(), handle));
  }
  Module* handle() const {
    std::lock_guard lock(mutex_);
    return handles_.empty() ? nullptr : handles_.front();
  }

 private:
  mutable std::mutex   mutex_;
  std::vector<Module*> handles_;  // oldest first: a later one may be a copy of only its base
};

namespace {

using Entry = ModuleNode::Entry;

std::vector<Place>& places_of(const Entry& e) { return e.module ? e.module->places : e.state->cell()->places; }

void add_place(const std::shared_ptr<ModuleNode>& owner, const Entry& e) {
  if (!e.module && !e.state) return;
  std::vector<Place>& places = places_of(e);
  std::erase_if(places, [](const Place& p) { return p.owner.expired(); });
  places.push_back({owner, e.name});
}
void remove_place(const std::shared_ptr<ModuleNode>& owner, const Entry& e) {
  if (!e.module && !e.state) return;
  std::erase_if(places_of(e), [&](const Place& p) { return p.owner.lock() == owner && p.name == e.name; });
}

void add(const std::shared_ptr<ModuleNode>& node, Entry entry) {
  node->check_name(entry.name);
  require(!node->find(entry.name), "{}: the name '{}' is used twice; give each child and state its own name.",
          node->place(), entry.name);
  add_place(node, entry);
  node->entries.push_back(std::move(entry));
}
// The same, but a new part replaces an earlier part of the same name.
void set(const std::shared_ptr<ModuleNode>& node, Entry entry) {
  Entry* old = node->find(entry.name);
  if (!old) return add(node, std::move(entry));
  if (*old == entry) return;
  remove_place(node, *old);
  add_place(node, entry);
  *old = std::move(entry);
}

using NodeSet = std::set<const ModuleNode*>;

// Calls visit(node) for the node and all its descendants, each once: children first.
template <class Visit>
void walk(const std::shared_ptr<ModuleNode>& node, NodeSet& seen, const Visit& visit) {
  if (!seen.insert(node.get()).second) return;
  for (const Entry& e : node->entries)
    if (e.module) walk(e.module, seen, visit);
  visit(node);
}

Entry child_of(const std::shared_ptr<ModuleNode>& parent, const std::string& name, const Module& m) {
  NodeSet below;
  walk(m.node(), below, [](const auto&) {});
  require(!below.contains(parent.get()), "{}: it cannot contain itself as child '{}'.", parent->place(), name);
  m.node()->type = m.type_name();
  return {name, m.node(), {}, {}};
}

void refresh(const ModuleNode& node) {
  if (Module* m = node.handle()) m->refresh();
}

void collect(const ModuleNode& node, const Path& at, StateSet& seen, StateMap& out) {
  refresh(node);
  for (const Entry& e : node.entries) {
    if (e.state && seen.insert(e.state->cell().get()).second) out.emplace_back(at / e.name, *e.state);
    if (e.module) collect(*e.module, at / e.name, seen, out);
  }
}

thread_local const Module* current_module = nullptr;  // the module whose update runs

// Marks `module` as the one whose update runs, for a scope.
struct Updating {
  explicit Updating(const Module* module) : previous(std::exchange(current_module, module)) {}
  ~Updating() { current_module = previous; }
  const Module* previous;
};

}  // namespace

bool is_updating() { return current_module != nullptr; }
OutsideUpdate::OutsideUpdate() : previous_(std::exchange(current_module, nullptr)) {}
OutsideUpdate::~OutsideUpdate() { current_module = previous_; }

Module::Module() : node_(std::make_shared<ModuleNode>()) {
  node_->is_local = is_updating();
  node_->join(this);
}
Module::Module(const Module& other) : node_(other.node_) { node_->join(this); }
Module& Module::operator=(const Module& other) {
  if (node_ == other.node_) return *this;
  node_->leave(this);
  node_ = other.node_;
  node_->join(this);
  return *this;
}
Module::~Module() { node_->leave(this); }

ModuleList::ModuleList() { node_->is_list = true; }

std::string Module::type_name() const {
  int         status = 0;
  char*       text   = abi::__cxa_demangle(typeid(*this).name(), nullptr, nullptr, &status);
  std::string full   = text ? text : typeid(*this).name();
  std::free(text);
  const auto args  = full.find('<');
  const auto colon = full.rfind("::", args == full.npos ? full.npos : args);
  return colon == full.npos ? full : full.substr(colon + 2);
}

Tensor Module::update(const Tensor&) {
  fail("{}: it does not define update(x); override `Tensor update(const Tensor& x)` with one step of the model.",
       type_name());
}
Tensors Module::update_all(const Tensors& xs) {
  require(xs.size() == 1,
          "{}: it takes one input, got {}. A list or tuple counts as several inputs: pass an array.\n"
          "  A module with several inputs defines its own update for all of them.",
          type_name(), xs.size());
  return {update(xs[0])};
}

Tensor Module::operator()(const Tensor& x) { return call({x}).front(); }
// An error inside lists the path to it: one line for each module that was called.
Tensors Module::call(const Tensors& xs) {
  refresh();
  const bool is_unknown_child = is_updating() && node_->places.empty() && !node_->is_local && !states().empty();
  if (is_unknown_child && current_module->node() != node_)
    fail(ErrorKind::State,
         "{0}: the update of {1} calls it, but it is not a registered child: its states would not be learned, reset or "
         "saved.\n  Make it a part of {1}: call children({{{{\"name\", member}}}}) in the constructor; in Python, "
         "assign it "
         "to an attribute.",
         type_name(), current_module->type_name());
  const std::string path = node_->path();
  NoteScope         note(path);
  const Updating    updating(this);
  try {
    return update_all(xs);
  } catch (const UserError& e) {
    std::string inputs;
    for (const Tensor& x : xs)
      inputs += (inputs.empty() ? " called with " : ", ") + (x.defined() ? to_string(x.type()) : "nothing");
    fail(e.kind(), "{}\n  in {} ({}){}", e.what(), path.empty() ? "the model" : path, type_name(), inputs);
  }
}

void Module::children(std::initializer_list<Child> list) {
  for (const Child& c : list) {
    if (!c.is_list) {
      add(node_, child_of(node_, c.name, *c.modules[0]));
      continue;
    }
    ModuleList group;
    for (size_t i = 0; i < c.modules.size(); ++i) group.set_child(std::to_string(i), *c.modules[i]);
    add(node_, child_of(node_, c.name, group));
  }
}

void Module::add_state(std::string name, const State& s) { add(node_, {std::move(name), nullptr, s, {}}); }
void Module::field(std::string name, std::string text) { add(node_, {std::move(name), nullptr, {}, std::move(text)}); }

void Module::set_child(const std::string& name, const Module& child) { set(node_, child_of(node_, name, child)); }
void Module::set_state(const std::string& name, const State& state) { set(node_, {name, nullptr, state, {}}); }
void Module::set_field(const std::string& name, std::string text) { set(node_, {name, nullptr, {}, std::move(text)}); }

bool Module::erase(const std::string& name) {
  const Entry* old = node_->find(name);
  if (!old) return false;
  remove_place(node_, *old);
  node_->entries.erase(node_->entries.begin() + (old - node_->entries.data()));
  return true;
}

std::string Module::setting(const std::string& name) const {
  const Entry* found = node_->find(name);
  return found ? found->text : "";
}

std::vector<std::string> Module::part_names() const {
  std::vector<std::string> names;
  for (const Entry& e : node_->entries) names.push_back(e.name);
  return names;
}

StateMap Module::states() const {
  StateMap out;
  StateSet seen;
  collect(*node_, {}, seen, out);
  std::stable_sort(out.begin(), out.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  return out;
}

StateMap Module::states(StateKind kind) const {
  StateMap out;
  for (auto& entry : states())
    if (entry.second.kind() == kind) out.push_back(std::move(entry));
  return out;
}

template <class Kind>
StateMap Module::states() const {
  StateMap out;
  for (auto& entry : states()) {
    const StateKind k       = entry.second.kind();
    const bool      hidden  = entry.second.is_hidden();
    const bool      stacked = k == StateKind::HiddenGroup || k == StateKind::HiddenTree;
    bool            take;
    if constexpr (std::is_same_v<Kind, ParamState>)
      take = k == StateKind::Param;
    else if constexpr (std::is_same_v<Kind, HiddenState>)
      take = hidden;
    else if constexpr (std::is_same_v<Kind, HiddenGroupState>)
      take = stacked;
    else if constexpr (std::is_same_v<Kind, HiddenTreeState>)
      take = k == StateKind::HiddenTree;
    else if constexpr (std::is_same_v<Kind, ShortTermState>)
      take = hidden || k == StateKind::ShortTerm;
    else
      take = k == StateKind::LongTerm;
    if (take) out.push_back(std::move(entry));
  }
  return out;
}
template StateMap Module::states<ParamState>() const;
template StateMap Module::states<HiddenState>() const;
template StateMap Module::states<HiddenGroupState>() const;
template StateMap Module::states<HiddenTreeState>() const;
template StateMap Module::states<ShortTermState>() const;
template StateMap Module::states<LongTermState>() const;

State Module::state_at(const Path& path) const {
  std::string known;
  for (const auto& [p, s] : states()) {
    if (p == path) return s;
    known += (known.empty() ? "" : ", ") + p.str();
  }
  fail(ErrorKind::Name, "there is no state '{}' in {}; known: {}.", path.str(), type_name(), known);
}

std::string State::place() const {
  const std::vector<Place>& places = cell_->places;
  if (places.empty()) return "a state outside any module";
  const auto        owner = places.back().owner.lock();
  const std::string above = owner ? owner->path() : "";
  return fmt::format("state '{}{}{}'", above, above.empty() ? "" : ".", places.back().name);
}

void State::check_known() const {
  if (!is_updating() || !cell_->places.empty() || cell_->is_local) return;
  std::string types;
  for (const auto& [name, value] : cell_->leaves)
    types += fmt::format(" {}{}{}", name, name.empty() ? "" : " ", to_string(value.type()));
  fail(ErrorKind::State,
       "a {}{} is used in the update of {}, but no module has registered it: it would not be learned, reset or saved.\n"
       "  Make it a part of a module: call state(\"name\", member) in the constructor; in Python, assign it to an "
       "attribute.",
       name_of(kind()), types, current_module->type_name());
}

namespace {

void check_batch(const InitOptions& options, const char* where) {
  require(!options.batch_size || *options.batch_size > 0, "{}: batch_size must be positive, got {}.", where,
          options.batch_size.value_or(0));
}

// Type names as the user's documents print them.
std::string numpy_type(const Type& t) {
  constexpr std::string_view names[] = {"float32", "float64", "float16", "bfloat16",
                                        "int32",   "int64",   "uint32",  "bool"};
  return fmt::format("ShapedArray({}[{}])", names[static_cast<size_t>(t.dtype)], fmt::join(t.shape, ","));
}

class Printer {
 public:
  std::string text;

  // name=Type( … ) with each entry on its own line: settings, parts, states
  void module(const ModuleNode& node, const std::string& type, int depth) {
    refresh(node);
    text += node.is_list ? "[" : type + "(";
    auto entries = node.entries;
    std::stable_sort(entries.begin(), entries.end(), [](const auto& a, const auto& b) { return rank(a) < rank(b); });
    for (size_t i = 0; i < entries.size(); ++i) {
      const auto& e = entries[i];
      line(depth + 1, i);
      if (!node.is_list) text += e.name + "=";
      if (e.module)
        module(*e.module, e.module->type, depth + 1);
      else if (e.state)
        state(*e.state, depth + 1);
      else
        text += e.text;
    }
    if (!node.entries.empty()) indent(depth);
    text += node.is_list ? "]" : ")";
  }

 private:
  static int rank(const Entry& e) { return e.state ? 2 : e.module ? 1 : 0; }
  void       indent(int depth) { text += "\n" + std::string(2 * static_cast<size_t>(depth), ' '); }
  void       line(int depth, size_t index) {
          if (index) text += ",";
    indent(depth);
  }

  void state(const State& s, int depth) {
    text += fmt::format("{}(", name_of(s.kind()));
    indent(depth + 1);
    text += "value=";
    const Leaves& leaves = s.cell()->settled();
    if (leaves.empty()) {
      text += "None";
    } else if (leaves.size() == 1 && leaves.begin()->first.empty()) {
      text += numpy_type(leaves.begin()->second.type());
    } else {
      text += "{";
      size_t i = 0;
      for (const auto& [name, value] : leaves) {
        line(depth + 2, i++);
        text += fmt::format("'{}': {}", name, numpy_type(value.type()));
      }
      indent(depth + 1);
      text += "}";
    }
    indent(depth);
    text += ")";
  }
};

}  // namespace

namespace {

// Whether it was created inside a trace that is closed.
bool has_ended(const State& state) {
  const StateFrame* frame = state.cell()->home == 0 ? nullptr : StateFrame::current();
  while (frame && !frame->is_home_of(state)) frame = frame->outer();
  return state.cell()->home != 0 && !frame;
}

// Shared by init and reset: initializes the states, then calls each module. States that a module creates are
// initialized too; states of an earlier trace wait until they are created again.
template <class Start, class Hook>
void start_all(const Module& model, const Start& start, const Hook& hook) {
  for (const auto& [path, state] : model.states())
    if (!has_ended(state)) start(state);
  NodeSet                                  seen;
  std::vector<std::shared_ptr<ModuleNode>> nodes;
  walk(model.node(), seen, [&](const auto& node) { nodes.push_back(node); });
  for (const auto& node : nodes)
    if (Module* m = node->handle()) hook(*m, *node);
  for (const auto& [path, state] : model.states()) {
    if (!state.initialized()) start(state);
    if (!StateFrame::current()) state.cell()->is_new = true;
  }
}

}  // namespace

void init_all_states(const Module& model, InitOptions options) {
  check_batch(options, "init_all_states");
  start_all(
      model, [&](const State& s) { s.init(options.batch_size); },
      [&](Module& m, ModuleNode& node) {
        if (!StateFrame::current()) node.batch = options.batch_size;
        m.init_state(options.batch_size);
      });
}

void reset_all_states(const Module& model, InitOptions options) {
  check_batch(options, "reset_all_states");
  const auto states = model.states();
  const bool is_lane =
      std::any_of(states.begin(), states.end(), [](const auto& s) { return StateFrame::hides_batch_of(s.second); });
  const auto batch_of = [&](const ModuleNode& node) { return is_lane ? BatchSize() : node.batch; };
  start_all(
      model, [&](const State& s) { options.batch_size ? s.init(options.batch_size) : s.reset(); },
      [&](Module& m, ModuleNode& node) { m.reset_state(options.batch_size ? options.batch_size : batch_of(node)); });
}

std::string to_string(const Module& model) {
  Printer p;
  p.module(*model.node(), model.type_name(), 0);
  return p.text;
}
std::ostream& operator<<(std::ostream& out, const Module& model) { return out << to_string(model); }

}  // namespace braintrace

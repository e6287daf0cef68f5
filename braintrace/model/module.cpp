// SPDX-License-Identifier: Apache-2.0
#include "braintrace/model/module.h"

#include <algorithm>
#include <cxxabi.h>
#include <ostream>
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
  };
  std::string               type;
  std::string               name;  // under its parent
  std::weak_ptr<ModuleNode> parent;
  bool                      is_list  = false;
  bool                      is_child = false;  // somebody has registered it
  bool                      is_local = false;  // made inside an update
  std::vector<Entry>        entries;

  void add(Entry entry) {
    require(!entry.name.empty(), "{}: a child, state or setting needs a name.", place());
    require(is_name(entry.name), "{}: '{}' cannot be a name; use letters, digits, '_' and '-'.", place(), entry.name);
    for (const Entry& e : entries)
      require(e.name != entry.name, "{}: the name '{}' is used twice; give each child and state its own name.", place(),
              entry.name);
    entries.push_back(std::move(entry));
  }
  std::string path() const {
    const auto up = parent.lock();
    if (!up) return "";
    const std::string above = up->path();
    return above.empty() ? name : above + "." + name;
  }
  std::string place() const {
    const std::string at = path();
    return at.empty() ? "module" : fmt::format("module '{}'", at);
  }
};

namespace {

std::string type_name(const Module& m) {
  int         status = 0;
  char*       text   = abi::__cxa_demangle(typeid(m).name(), nullptr, nullptr, &status);
  std::string full   = text ? text : typeid(m).name();
  std::free(text);
  const auto args  = full.find('<');
  const auto colon = full.rfind("::", args == full.npos ? full.npos : args);
  return colon == full.npos ? full : full.substr(colon + 2);
}

void collect(const ModuleNode& node, const Path& at, StateSet& seen, StateMap& out) {
  for (const auto& e : node.entries) {
    if (e.state && seen.insert(e.state->cell().get()).second) out.emplace_back(at / e.name, *e.state);
    if (e.module) collect(*e.module, at / e.name, seen, out);
  }
}

bool is_inside(const ModuleNode* node, const std::shared_ptr<ModuleNode>& of) {
  for (auto up = of; up; up = up->parent.lock())
    if (up.get() == node) return true;
  return false;
}

thread_local const Module* current_module = nullptr;  // whose update runs

// Makes `module` the one whose update runs for a while.
struct Updating {
  explicit Updating(const Module* module) : previous(std::exchange(current_module, module)) {}
  ~Updating() { current_module = previous; }
  const Module* previous;
};

}  // namespace

bool is_updating() { return current_module != nullptr; }
OutsideUpdate::OutsideUpdate() : previous_(std::exchange(current_module, nullptr)) {}
OutsideUpdate::~OutsideUpdate() { current_module = previous_; }

Module::Module() : node_(std::make_shared<ModuleNode>()) { node_->is_local = is_updating(); }

Tensor Module::update(const Tensor&) {
  fail("{}: it defines no update(x); override `Tensor update(const Tensor& x)` with one step of the model.",
       type_name(*this));
}
Tensors Module::update_all(const Tensors& xs) {
  require(xs.size() == 1, "{}: update takes one input, got {}; override update_all for several.", type_name(*this),
          xs.size());
  return {update(xs[0])};
}

Tensor Module::operator()(const Tensor& x) { return call({x}).front(); }
// A mistake found inside tells the way to it: one line for each module that was called.
Tensors Module::call(const Tensors& xs) {
  const bool is_unknown_child = is_updating() && !node_->is_child && !node_->is_local && !states().empty();
  if (is_unknown_child && current_module->node() != node_)
    fail(ErrorKind::State,
         "{0}: the update of {1} calls it, but it is no registered child: its states would not be learned, reset or "
         "saved.\n  Register it in the constructor of {1}: children({{{{\"name\", member}}}}).",
         type_name(*this), type_name(*current_module));
  const std::string path = node_->path();
  NoteScope         note(path);
  const Updating    updating(this);
  try {
    return update_all(xs);
  } catch (const UserError& e) {
    std::string inputs;
    for (const Tensor& x : xs)
      inputs += (inputs.empty() ? " called with " : ", ") + (x.defined() ? to_string(x.type()) : "nothing");
    fail(e.kind(), "{}\n  in {} ({}){}", e.what(), path.empty() ? "the model" : path, type_name(*this), inputs);
  }
}

void Module::add_module(const std::shared_ptr<ModuleNode>& parent, const std::string& name, const Module& m) {
  require(!is_inside(m.node_.get(), parent), "{}: it cannot contain itself as child '{}'.", parent->place(), name);
  m.node_->type     = type_name(m);
  m.node_->name     = name;
  m.node_->parent   = parent;
  m.node_->is_child = true;
  parent->add({name, m.node_, {}, {}});
}

void Module::children(std::initializer_list<Child> list) {
  for (const Child& c : list) {
    if (!c.is_list) {
      add_module(node_, c.name, *c.modules[0]);
      continue;
    }
    auto group     = std::make_shared<ModuleNode>();
    group->type    = "list";
    group->name    = c.name;
    group->parent  = node_;
    group->is_list = true;
    node_->add({c.name, group, {}, {}});
    for (size_t i = 0; i < c.modules.size(); ++i) add_module(group, std::to_string(i), *c.modules[i]);
  }
}

void Module::add_state(std::string name, const State& s) {
  s.cell()->owner = node_;
  s.cell()->name  = name;
  node_->add({std::move(name), nullptr, s, {}});
}

void Module::field(std::string name, std::string text) { node_->add({std::move(name), nullptr, {}, std::move(text)}); }

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
  fail(ErrorKind::Name, "there is no state '{}' in {}; known are: {}.", path.str(), type_name(*this), known);
}

std::string State::place() const {
  const auto owner = cell_->owner.lock();
  if (!owner) return cell_->name.empty() ? "a state outside any module" : fmt::format("state '{}'", cell_->name);
  const std::string above = owner->path();
  return fmt::format("state '{}{}{}'", above, above.empty() ? "" : ".", cell_->name);
}

void State::check_known() const {
  if (!is_updating() || !cell_->name.empty() || cell_->is_local) return;
  std::string types;
  for (const auto& [name, value] : cell_->leaves)
    types += fmt::format(" {}{}{}", name, name.empty() ? "" : " ", to_string(value.type()));
  fail(ErrorKind::State,
       "a {}{} is used in the update of {}, but no module has registered it: it would not be learned, reset or saved.\n"
       "  Register it in the constructor: state(\"name\", member).",
       name_of(kind()), types, type_name(*current_module));
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
  static int rank(const ModuleNode::Entry& e) { return e.state ? 2 : e.module ? 1 : 0; }
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

void init_all_states(const Module& model, InitOptions options) {
  check_batch(options, "init_all_states");
  for (const auto& [path, state] : model.states()) state.init(options.batch_size);
}

void reset_all_states(const Module& model, InitOptions options) {
  check_batch(options, "reset_all_states");
  for (const auto& [path, state] : model.states()) {
    if (options.batch_size)
      state.init(options.batch_size);
    else
      state.reset();
  }
}

std::string to_string(const Module& model) {
  Printer p;
  p.module(*model.node(), type_name(model), 0);
  return p.text;
}
std::ostream& operator<<(std::ostream& out, const Module& model) { return out << to_string(model); }

}  // namespace braintrace

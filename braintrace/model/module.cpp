// SPDX-License-Identifier: Apache-2.0
#include "braintrace/model/module.h"

#include <algorithm>
#include <cxxabi.h>
#include <typeinfo>

#include <fmt/format.h>

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
  bool                      is_list = false;
  std::vector<Entry>        entries;

  void add(Entry entry) {
    for (const Entry& e : entries)
      require(e.name != entry.name, "module {}: the name '{}' is used twice; give each child and state its own name.",
              place(), entry.name);
    entries.push_back(std::move(entry));
  }
  std::string place() const {
    const auto up = parent.lock();
    if (!up) return type.empty() ? "(root)" : type;
    const std::string above = up->path();
    return above.empty() ? name : above + "." + name;
  }
  std::string path() const {
    const auto up = parent.lock();
    if (!up) return "";
    const std::string above = up->path();
    return above.empty() ? name : above + "." + name;
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

void collect(const ModuleNode& node, const Path& at, StateMap& out) {
  for (const auto& e : node.entries) {
    if (e.state) out.emplace_back(at / e.name, *e.state);
    if (e.module) collect(*e.module, at / e.name, out);
  }
}

}  // namespace

Module::Module() : node_(std::make_shared<ModuleNode>()) {}

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
Tensors        Module::call(const Tensors& xs) {
         NoteScope note(node_->path());
         return update_all(xs);
}

void Module::add_module(const std::shared_ptr<ModuleNode>& parent, const std::string& name, const Module& m) {
  m.node_->type   = type_name(m);
  m.node_->name   = name;
  m.node_->parent = parent;
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
  s.cell()->place = fmt::format("state '{}' of {}", name, type_name(*this));
  node_->add({std::move(name), nullptr, s, {}});
}

void Module::field(std::string name, std::string text) { node_->add({std::move(name), nullptr, {}, std::move(text)}); }

StateMap Module::states() const {
  StateMap out;
  collect(*node_, {}, out);
  std::stable_sort(out.begin(), out.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  for (const auto& [path, state] : out) state.cell()->place = fmt::format("state '{}'", path.str());
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
  fail("there is no state '{}' in {}; known are: {}.", path.str(), type_name(*this), known);
}

void init_all_states(const Module& model, InitOptions options) {
  require(!options.batch_size || *options.batch_size > 0, "init_all_states: batch_size must be positive, got {}.",
          options.batch_size.value_or(0));
  for (const auto& [path, state] : model.states()) state.init(options.batch_size);
}

}  // namespace braintrace

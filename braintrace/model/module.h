// SPDX-License-Identifier: Apache-2.0
// Module: a model or a part of one. Derive from it, register children and states under names in the constructor, and
// write one step of the computation in `update`.
//
//   struct Net : bt::nn::Module {
//     bt::nn::GRUCell rnn;  bt::nn::Linear out;
//     Net(int n_in, int n_rec, int n_out) : rnn(n_in, n_rec), out(n_rec, n_out) {
//       children({{"rnn", rnn}, {"out", out}});
//     }
//     bt::Tensor update(const bt::Tensor& x) override { return out(rnn(x)); }
//   };
//
// A module is a handle: copies share their children and states.
//
// Parts that are known only at run time can be set and erased by name, and a class may update them in `refresh`.
#pragma once

#include <concepts>
#include <iosfwd>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "braintrace/model/path.h"
#include "braintrace/model/state.h"

namespace braintrace {

class Module;
struct ModuleNode;

using StateMap = std::vector<std::pair<Path, State>>;  // sorted by path

class Module {
 public:
  Module();
  virtual ~Module();
  Module(const Module& other);
  Module& operator=(const Module& other);

  // One step. Override the first function for one input and one output, or the second for any number.
  virtual Tensor  update(const Tensor& x);
  virtual Tensors update_all(const Tensors& xs);

  Tensor  operator()(const Tensor& x);
  Tensors call(const Tensors& xs);

  // All states of this module and its parts, sorted by path; a state that several parts share is listed once.
  StateMap states() const;
  StateMap states(StateKind kind) const;
  // States of a C++ state type; HiddenState includes the stacked kinds, ShortTermState includes hidden ones.
  template <class Kind>
  StateMap states() const;
  StateMap params() const { return states(StateKind::Param); }
  State    state_at(const Path& path) const;

  // Parts at run time. A new part replaces an earlier one of the same name; setting the same part again has no effect.
  void                     set_child(const std::string& name, const Module& child);
  void                     set_state(const std::string& name, const State& state);
  void                     set_field(const std::string& name, std::string text);
  bool                     erase(const std::string& name);  // false if there is no such part
  std::vector<std::string> part_names() const;              // in order of registration
  std::string setting(const std::string& name) const;       // the text that shows a setting; empty if there is none

  // The name of the class, for printing and messages.
  virtual std::string type_name() const;
  // Called before the parts are read and before update: a class with its own list of parts sets and erases them here.
  virtual void refresh() {}
  // Called by init_all_states on every module, children before their parent, after all states have their initial
  // values: may set other values, or create states.
  virtual void init_state(BatchSize) {}
  // The same for reset_all_states.
  virtual void reset_state(BatchSize batch) { init_state(batch); }

  const std::shared_ptr<ModuleNode>& node() const { return node_; }

 protected:
  struct Child {
    Child(std::string n, const Module& m) : name(std::move(n)), modules{&m}, is_list(false) {}
    template <class M>
    Child(std::string n, const std::vector<M>& list) : name(std::move(n)), is_list(true) {
      for (const M& m : list) modules.push_back(address(m));
    }
    std::string                name;
    std::vector<const Module*> modules;
    bool                       is_list;

   private:
    template <class M>
    static const Module* address(const M& m) {
      if constexpr (std::derived_from<M, Module>)
        return &m;
      else
        return m.get();  // shared_ptr or unique_ptr: lists of mixed types
    }
  };
  void children(std::initializer_list<Child> list);
  template <class S>
  S state(std::string name, S s) {
    add_state(std::move(name), s);
    return s;
  }
  // A setting that is shown when the module is printed.
  void field(std::string name, std::string text);

 private:
  friend struct ModuleList;
  void add_state(std::string name, const State& s);

  std::shared_ptr<ModuleNode> node_;
};

// Modules and states by position, "0", "1", …. A list is a part of a module and may contain lists.
struct ModuleList : Module {
  ModuleList();
};

// Whether an update runs in this thread. It must use only registered states and children.
bool is_updating();

// Marks code that does not belong to the module, such as a loss around a model: it may use unregistered states.
class OutsideUpdate {
 public:
  OutsideUpdate();
  ~OutsideUpdate();
  OutsideUpdate(const OutsideUpdate&)            = delete;
  OutsideUpdate& operator=(const OutsideUpdate&) = delete;

 private:
  const Module* previous_;
};

struct InitOptions {
  BatchSize batch_size = {};
};
// Initializes every state, except parameters and long-term states made from a value; then calls every init_state.
void init_all_states(const Module& model, InitOptions options = {});
// The same, before a new sequence; by default with the batch size of the last init.
void reset_all_states(const Module& model, InitOptions options = {});

// The model as nested text: the settings, children and states (with types) of each module.
std::string   to_string(const Module& model);
std::ostream& operator<<(std::ostream& out, const Module& model);

}  // namespace braintrace

template <std::derived_from<braintrace::Module> M>
struct fmt::formatter<M> : braintrace::Printed<braintrace::Module> {};

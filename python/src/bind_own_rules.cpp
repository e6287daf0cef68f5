// SPDX-License-Identifier: Apache-2.0
// Learning rules whose equations are Python functions, which run only while a program is traced.
#include <fmt/format.h>

#include "bindings.h"
#include "braintrace/algorithms/registry.h"
#include "braintrace/compiler/trace_type.h"
#include "braintrace/executor/blocks.h"
#include "braintrace/ops/families.h"
#include "convert.h"
#include "own_rules.h"

namespace pybraintrace {

namespace {

// A weight and a hidden group that it drives, in one step. Python may keep a site longer than the step, so it refers
// to graph and step through a scope that ends with them.
class Site {
 public:
  struct Scope {
    std::string            rule;
    const bt::ETraceGraph* graph;
    bt::Step*              step;
  };
  // Derivatives of the step's loss: L by the states after it, O by those before it.
  struct Signal {
    bt::Tensor L, O;
  };

  Site(std::shared_ptr<const Scope> scope, bt::TraceSite site, std::optional<Signal> signal)
      : scope_(std::move(scope)), site_(std::move(site)), signal_(std::move(signal)) {}

  bt::Path               path() const { return relation().weight_path; }
  std::string            key() const { return std::string(weight().key); }
  const bt::HiddenGroup& group() const { return graph().hidden_groups[static_cast<size_t>(site_.group)]; }
  bt::Shape              weight_shape() const { return site_.call.in[static_cast<size_t>(weight().operand)].shape; }
  bt::Type               trace() const {
                  const auto& r = relation();
                  return bt::trace_type(r, r.connections[static_cast<size_t>(site_.connection)],
                                        r.trainables[static_cast<size_t>(site_.trainable)], group());
  }

  bt::Tensors operands() const { return step().operands(site_.relation); }
  bt::Tensor  D() const { return or_zero(step().D(site_.group), {group().num_state, group().num_state}); }
  bt::Tensor  D_f() const { return or_zero(step().D_f(site_.relation, site_.connection), {group().num_state}); }
  bt::Tensor  L() const { return or_zero(signal().L, {group().num_state}); }
  // Dᵀ L + O
  bt::Tensor credit_before() const {
    const bt::Tensor D = step().D(site_.group), L = signal().L;
    const bt::Tensor through_h = D.defined() && L.defined() ? bt::transposed(D, L) : bt::Tensor();
    return or_zero(bt::add_defined(through_h, signal().O), {group().num_state});
  }

  bt::Tensor instant() const { return or_no_trace(bt::Traces(graph(), {}).instant(step(), site_)); }
  bt::Tensor propagate(const bt::Tensor& eps) const {
    check("expected propagate to get a trace", eps, trace().shape);
    return or_no_trace(bt::Traces(graph(), {}).propagated(step(), site_, eps));
  }
  bt::Tensor contract(const bt::Tensor& credit, const bt::Tensor& eps) const {
    check("expected contract to get a credit", credit, group().on_positions({group().num_state}));
    check("expected contract to get a trace", eps, trace().shape);
    const bt::Tensor ell = bt::as_output(site_.call, group(), credit);
    return bt::contract(site_.call, site_.weight, operands(), ell, eps.astype(ell.dtype()));
  }

  // Converted to the type of its slot.
  bt::Tensor stored(const bt::Tensor& value, const bt::MemorySlot& slot) const {
    check(fmt::format("expected advance to return '{}'", slot.kind), value, slot.type.shape);
    return value.astype(slot.type.dtype);
  }
  // Adds the gradient that a rule returns; None adds nothing.
  void add(nb::handle given, bt::Tensors& leaf_gradients) const {
    if (given.is_none()) return;
    const bt::Tensor gradient = tensor_from(given);
    check("expected a gradient of the weight", gradient, weight_shape());
    step().add_operand_gradient(site_.relation, site_.trainable, gradient, leaf_gradients);
  }

 private:
  const bt::ETraceGraph& graph() const {
    bt::require(scope_->graph != nullptr, bt::ErrorKind::State,
                "{}: this site belongs to a finished trace; use the site that the method receives.", scope_->rule);
    return *scope_->graph;
  }
  bt::Step& step() const {
    bt::require(scope_->step != nullptr, bt::ErrorKind::State,
                "{}: step values are not available in `memory`; only paths and shapes are.", scope_->rule);
    return *scope_->step;
  }
  const Signal& signal() const {
    bt::require(signal_.has_value(), bt::ErrorKind::State, "{}: the learning signal is available only in `gradient`.",
                scope_->rule);
    return *signal_;
  }
  const bt::HiddenParamOpRelation& relation() const {
    return graph().hidden_param_op_relations[static_cast<size_t>(site_.relation)];
  }
  bt::EtpWeight weight() const { return site_.call.op->etp->weights(site_.call)[static_cast<size_t>(site_.weight)]; }

  void check(std::string_view what, const bt::Tensor& t, const bt::Shape& expected) const {
    bt::require(t.shape() == expected, bt::ErrorKind::Shape,
                "{}, weight {} ('{}') and group {}: {} of shape {}, got {}.", scope_->rule, path().str(), key(),
                site_.group, what, bt::to_string(expected), bt::to_string(t.shape()));
  }
  bt::Tensor or_zero(const bt::Tensor& t, std::initializer_list<int64_t> last) const {
    return t.defined() ? t : bt::Tensor({bt::state_dtype(graph(), group()), group().on_positions(last)}, 0);
  }
  bt::Tensor or_no_trace(const bt::Tensor& t) const { return t.defined() ? t : bt::Tensor(trace(), 0); }

  std::shared_ptr<const Scope> scope_;
  bt::TraceSite                site_;
  std::optional<Signal>        signal_;
};

class PythonRule : public bt::LearningRule {
 public:
  explicit PythonRule(nb::handle object) : LearningRule(facts_of(object)), object_(hold(object)) {}

  bt::MemorySlots memory(const bt::ETraceGraph& graph) const override {
    WithGil         gil;
    Scope           scope(*this, graph, nullptr);
    bt::MemorySlots out;
    for (const bt::TraceSite& at : bt::trace_sites(graph)) {
      const Site site   = scope.site(at);
      nb::object wanted = asked("memory", site);
      bt::require(PyDict_Check(wanted.ptr()), "{}: expected `memory` to return a dict of names to shapes, got {}.",
                  name(), nb::cast<std::string>(nb::repr(wanted)));
      for (const auto& [kind, shape] : nb::cast<nb::dict>(wanted))
        out.push_back({{site.trace().dtype, shape_from(shape)},
                       nb::cast<std::string>(kind),
                       at.relation,
                       at.group,
                       at.trainable});
    }
    return out;
  }

  bt::Tensors advance(bt::Step& step, const bt::Tensors& memory, const bt::Tensors&) const override {
    WithGil     gil;
    Scope       scope(*this, step.graph(), &step);
    bt::Tensors out;
    for (const auto& [at, slots] : places(step.graph())) {
      const Site site  = scope.site(at);
      nb::object after = asked("advance", site, packed(slots, memory));
      for (const Slot& s : slots) out.push_back(site.stored(part(after, slots, s), s.what));
    }
    return out;
  }

  bt::Retreat retreat(bt::Step& step, const bt::StepBack& at) const override {
    bt::Step::SameStep now = step.pull(at.ct);
    bt::Tensors        gradients(step.graph().module_info.weights.size());
    {
      WithGil gil;
      Scope   scope(*this, step.graph(), &step);
      for (const auto& [place, slots] : places(step.graph())) {
        const auto g    = static_cast<size_t>(place.group);
        const Site site = scope.site(place, Site::Signal{now.L[g], now.O[g]});
        site.add(asked("gradient", site, packed(slots, at.before), packed(slots, at.after)), gradients);
      }
    }
    step.add_to_inputs(gradients, now.inputs);
    return {now.inputs, {}};
  }

  void recall(bt::Step& step, const bt::Tensors& memory, const bt::Tensors& credit,
              bt::Tensors& gradients) const override {
    WithGil gil;
    Scope   scope(*this, step.graph(), &step);
    for (const auto& [place, slots] : places(step.graph())) {
      const bt::Tensor& mine = credit[static_cast<size_t>(place.group)];
      if (!mine.defined()) continue;
      const Site site = scope.site(place);
      site.add(asked("recall", site, packed(slots, memory), nb::cast(mine)), gradients);
    }
  }

 private:
  struct Slot {
    size_t         number;
    bt::MemorySlot what;
  };
  struct Place {
    bt::TraceSite     site;
    std::vector<Slot> slots;
  };
  // Sites of one call of a method; sites that Python keeps longer raise an error when used.
  class Scope {
   public:
    Scope(const PythonRule& rule, const bt::ETraceGraph& graph, bt::Step* step)
        : shared_(std::make_shared<Site::Scope>(Site::Scope{rule.name(), &graph, step})) {}
    ~Scope() { shared_->graph = nullptr, shared_->step = nullptr; }
    Scope(const Scope&)            = delete;
    Scope& operator=(const Scope&) = delete;

    Site site(const bt::TraceSite& at, std::optional<Site::Signal> signal = {}) const {
      return {shared_, at, std::move(signal)};
    }

   private:
    std::shared_ptr<Site::Scope> shared_;
  };

  static bt::RuleFacts facts_of(nb::handle object) {
    bt::RuleFacts facts{.name = nb::cast<std::string>(object.attr("name"))};
    nb::object    coupled = object.attr("coupled");
    if (!coupled.is_none()) facts.coupled = nb::cast<bool>(coupled);
    return facts;
  }

  template <class... Args>
  nb::object asked(const char* method, const Site& site, Args&&... args) const {
    return nb::handle(object_.get()).attr(method)(nb::cast(site), std::forward<Args>(args)...);
  }

  // The slots of each site, in the order of `memory`.
  std::vector<Place> places(const bt::ETraceGraph& graph) const {
    const bt::MemorySlots slots = memory(graph);
    std::vector<Place>    out;
    size_t                next = 0;
    for (const bt::TraceSite& site : bt::trace_sites(graph)) {
      Place& place = out.emplace_back(Place{site, {}});
      for (; next < slots.size() && belongs(slots[next], site); ++next) place.slots.push_back({next, slots[next]});
    }
    return out;
  }
  static bool belongs(const bt::MemorySlot& slot, const bt::TraceSite& site) {
    return slot.relation == site.relation && slot.group == site.group && slot.trainable == site.trainable;
  }

  // The memory of a site: one tensor, or a dict of several.
  static nb::object packed(const std::vector<Slot>& slots, const bt::Tensors& memory) {
    if (slots.size() == 1) return nb::cast(memory[slots[0].number]);
    nb::dict out;
    for (const Slot& s : slots) out[nb::str(s.what.kind.c_str())] = nb::cast(memory[s.number]);
    return out;
  }
  bt::Tensor part(nb::handle value, const std::vector<Slot>& slots, const Slot& s) const {
    if (slots.size() == 1 && !PyDict_Check(value.ptr())) return tensor_from(value);
    bt::require(PyDict_Check(value.ptr()) && nb::cast<nb::dict>(value).contains(s.what.kind.c_str()),
                "{}: expected advance to return a dict with every entry of `memory`; '{}' is missing.", name(),
                s.what.kind);
    return tensor_from(nb::cast<nb::dict>(value)[s.what.kind.c_str()]);
  }

  Ref object_;
};

}  // namespace

std::shared_ptr<const bt::LearningRule> rule_from(nb::handle python_rule) {
  return std::make_shared<PythonRule>(python_rule);
}

void bind_own_rules(nb::module_& m) {
  const auto group_copy = [](const Site& s) { return nb::cast(s.group(), nb::rv_policy::copy); };
  nb::class_<Site>(
      m, "TraceSite",
      "A weight and a hidden group that it drives, in one step: the argument of the methods of a LearningRule.")
      .def_prop_ro(
          "weight_path", [](const Site& s) { return tuple_of(s.path()); }, "Path of the parameter.")
      .def_prop_ro("key", &Site::key, "Operand of the operation: 'weight', 'bias', …")
      .def_prop_ro("group", group_copy, "The hidden group.")
      .def_prop_ro(
          "shape", [](const Site& s) { return tuple_of(s.trace().shape); },
          "Shape of a trace: the trace axes of the weight, then the states of the group.")
      .def_prop_ro(
          "weight_shape", [](const Site& s) { return tuple_of(s.weight_shape()); }, "Shape of the weight.")
      .def_prop_ro(
          "operands",
          [](const Site& s) {
            nb::list out;
            for (const bt::Tensor& t : s.operands()) out.append(nb::cast(t));
            return out;
          },
          "Operands of the operation in this step.")
      .def_prop_ro("D", &Site::D, "Transition ∂h_t/∂h_{t-1} per position, [*positions, states, states].")
      .def_prop_ro("D_f", &Site::D_f,
                   "Derivative ∂h_t/∂y_t per position by the result y of the operation, [*positions, states].")
      .def_prop_ro("L", &Site::L, "Learning signal ∂ℓ_t/∂h_t, [*positions, states]. Available only in `gradient`.")
      .def_prop_ro("credit_before", &Site::credit_before,
                   "Dᵀ L + O, the derivative of the step's loss by the states before it. Available only in `gradient`.")
      .def_prop_ro("instant", &Site::instant, "D_f ⊗ ∂y_t/∂w, the contribution of the current step to a trace.")
      .def(
          "propagate", [](const Site& s, Arg trace) { return s.propagate(trace); }, "trace"_a,
          "Return D ε, the trace propagated through the step.")
      .def(
          "contract", [](const Site& s, Arg credit, Arg trace) { return s.contract(credit, trace); }, "credit"_a,
          "trace"_a, "Return Σ ℓ ∘ ε, the gradient of the weight from a credit of the states and a trace.");
  m.def(
      "register_rule",
      [](std::string name, std::string doc, nb::handle rule) {
        bt::Algorithm a{.name = std::move(name), .doc = std::move(doc)};
        if (nb::isinstance<bt::ETraceConfig>(rule)) {
          a.options = {"feedback", "trace_dtype", "projection_key", "projection_eps", "modulator"};
          a.config  = [point = nb::cast<bt::ETraceConfig>(rule)](const bt::RuleOptions&) { return point; };
        } else {
          a.rule = [made = rule_from(rule)] { return made; };
        }
        bt::register_algorithm(std::move(a));
      },
      "name"_a, "doc"_a, "rule"_a, "Register a learning rule under a name.");
}

}  // namespace pybraintrace

// SPDX-License-Identifier: Apache-2.0
#include "braintrace/export/program.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "braintrace/algorithms/registry.h"
#include "braintrace/base/ascii.h"
#include "braintrace/base/nearest.h"
#include "braintrace/functions/grad.h"
#include "braintrace/model/environment.h"
#include "braintrace/model/random_stream.h"
#include "braintrace/nn/loss.h"
#include "braintrace/nn/optim.h"
#include "braintrace/ops/reduce.h"
#include "braintrace/transforms/simplify.h"

namespace braintrace::exporting {

namespace {

std::unique_ptr<optim::Optimizer> optimizer_named(const std::string& name, double lr) {
  if (name == "sgd") return std::make_unique<optim::SGD>(lr);
  if (name == "adam") return std::make_unique<optim::Adam>(lr);
  fail("export: there is no optimizer '{}'{}\n  Known: sgd, adam.", name, hint(name, {"sgd", "adam"}));
}

struct Loss {
  Tensor (*value)(const Tensor& y, const Tensor& target);
  Type target;
};
Loss loss_named(const std::string& name, const Type& y) {
  if (name == "mse") return {[](const Tensor& a, const Tensor& b) { return losses::mse(a, b); }, y};
  if (name == "cross_entropy") {
    require(y.rank() > 0, "export: cross_entropy needs one output per class; the model gives {}.", to_string(y));
    return {
        [](const Tensor& a, const Tensor& b) { return mean(losses::softmax_cross_entropy_with_integer_labels(a, b)); },
        {DType::I32, Shape(y.shape.begin(), y.shape.end() - 1)}};
  }
  fail("export: there is no loss '{}'{}\n  Known: mse, cross_entropy.", name, hint(name, {"mse", "cross_entropy"}));
}

std::unique_ptr<OnlineLearner> learner_for(Module& model, const ExportOptions& options) {
  const Algorithm& a = algorithm_named(options.rule);
  require(a.learns_step_by_step(),
          "export: {} needs the whole sequence at once; a device that learns step by step needs a rule with traces, "
          "such as D_RTRL or ES_D_RTRL.",
          a.name);
  require(a.needs() == Need::Nothing,
          "export: {} needs more than a loss ({}), which an exported step does not receive.", a.name,
          to_string(a.needs()));
  return a.learner(model, options.rule_options);
}

// What a rule remembers, with the weight that it belongs to: "trace of rnn.W.weight".
std::string label_of(const MemorySlot& slot, const ETraceGraph& graph) {
  if (slot.leaf < 0 && slot.relation < 0) return slot.kind;
  const auto weight = [&](int leaf) { return graph.module_info.weights[static_cast<size_t>(leaf)].name(); };
  if (slot.leaf >= 0) return slot.kind + " of " + weight(slot.leaf);
  const HiddenParamOpRelation& r = graph.hidden_param_op_relations[static_cast<size_t>(slot.relation)];
  if (slot.trainable < 0) return slot.kind + " of " + r.weight_path.str();
  std::vector<std::string> leaves;
  for (int leaf : r.trainables[static_cast<size_t>(slot.trainable)].leaves) leaves.push_back(weight(leaf));
  return fmt::format("{} of {}", slot.kind, fmt::join(leaves, " and "));
}

// Gathers states as programs touch them.
class Slots {
 public:
  void name(const StateMap& states, const std::string& prefix, bool is_reset) {
    for (const auto& [path, state] : states) {
      const bool again = is_reset || state.is_hidden() || state.kind() == StateKind::ShortTerm;
      known_.push_back({state, prefix + path.str(), again});
    }
  }
  void   label(const State& state, const std::string& text) { labels_.emplace_back(state, text); }
  size_t at(const StateLeaf& leaf) {
    for (size_t i = 0; i < slots.size(); ++i)
      if (slots[i].leaf == leaf) return i;
    Slot s{leaf, fmt::format("state.{}", slots.size()), "", "", leaf.value().array()};
    for (const Known& k : known_)
      if (k.state == leaf.state) s.path = k.path, s.is_reset = k.is_reset;
    if (!leaf.leaf.empty()) s.path += "." + leaf.leaf;
    s.label = s.path;
    for (const auto& [state, text] : labels_)
      if (state == leaf.state) s.label = text;
    s.name = identifier(s.path);
    if (s.name.find('_') == s.name.npos) s.name += "_";  // no keyword has one
    for (int n = 2; std::any_of(slots.begin(), slots.end(), [&](const Slot& o) { return o.name == s.name; }); ++n)
      s.name = fmt::format("{}_{}", identifier(s.path), n);
    slots.push_back(std::move(s));
    return slots.size() - 1;
  }
  Function function(const std::string& name, const std::string& doc, const Types& args, const braintrace::Function& f) {
    Function out{name, doc, trace_function(args, f), {}, {}, {}};
    for (const Tensor& c : out.traced.constants) out.constants.push_back(c.array());
    for (const StateLeaf& r : out.traced.reads) out.reads.push_back(at(r));
    for (const StateLeaf& w : out.traced.writes) {
      out.writes.push_back(at(w));
      slots[out.writes.back()].is_written = true;
    }
    out.traced.program = simplify(out.traced.program);
    return out;
  }

  std::vector<Slot> slots;

 private:
  struct Known {
    State       state;
    std::string path;
    bool        is_reset;
  };
  std::vector<Known>                         known_;
  std::vector<std::pair<State, std::string>> labels_;
};

}  // namespace

std::string identifier(const std::string& path) {
  std::string out;
  for (char c : path) out += is_letter(c) || is_digit(c) ? c : '_';
  return out.empty() || is_digit(out[0]) ? "m_" + out : out;
}

LearningProgram trace_learning(Module& model, const Type& input, const ExportOptions& options) {
  require(options.lr > 0 && std::isfinite(options.lr), "export: the learning rate must be positive, got {}.",
          options.lr);
  const auto learner = learner_for(model, options);
  const auto opt     = optimizer_named(options.optimizer, options.lr);
  init_all_states(model);
  learner->compile_graph(Types{input});
  opt->register_trainable_weights(model.params());

  Slots slots;
  slots.name(model.states(), "", false);
  slots.name(learner->own_states(), "", true);
  slots.name(learner->lasting_states(), "", false);
  slots.name(opt->states(), "optimizer.", false);
  const StateMap traces = learner->memory_states();
  for (size_t i = 0; i < traces.size(); ++i)
    slots.label(traces[i].second, label_of(learner->memory_slots()[i], learner->graph()));
  slots.name({{Path{"random"}, random::default_stream()}}, "", false);

  LearningProgram out;
  {
    const Environment::Scope inference({.training = false});
    out.predict = slots.function("predict", "One step without learning: advances states, not traces or weights.",
                                 {input}, [&](const Tensors& in) { return model.call(in); });
  }
  out.observe = slots.function("observe", "One step without a target: advances states and traces, not weights.",
                               {input}, [&](const Tensors& in) { return learner->update(in); });
  require(out.predict.traced.num_results == 1, "export: the model has {} outputs; expected one.",
          out.predict.traced.num_results);
  out.x = input;
  out.y = out.predict.traced.result_types()[0];
  require(is_float(out.y.dtype), "export: the model returns {}; a loss needs floating-point outputs.",
          to_string(out.y));
  const Loss loss = loss_named(options.loss, out.y);
  out.target      = loss.target;
  out.learn       = slots.function("learn", "One step with a target: advances states and traces, and updates weights.",
                                   {input, out.target}, [&](const Tensors& in) -> Tensors {
                               const auto of = [&](const Tensor& x, const Tensor& target) {
                                 const Tensor y = (*learner)(x);
                                 return std::pair(loss.value(y, target), y);
                               };
                               auto [value, grads, y] = value_and_grad(of, model.params(), has_aux)(in[0], in[1]);
                               opt->update(grads);
                               return {y, value};
                             });
  out.slots       = std::move(slots.slots);
  return out;
}

}  // namespace braintrace::exporting

// SPDX-License-Identifier: Apache-2.0
#include "braintrace/algorithms/uoro.h"

#include <set>

#include "braintrace/ops/compare.h"
#include "braintrace/ops/families.h"
#include "braintrace/ops/math.h"
#include "braintrace/ops/random.h"
#include "braintrace/ops/reduce.h"

namespace braintrace {

namespace {

// Slots of a group's factors in the memory.
struct Factors {
  int                                 group;
  size_t                              s;      // slot of s̃
  std::vector<std::pair<int, size_t>> theta;  // (leaf, slot of θ̃)
};

struct FactorLayout {
  std::vector<Factors> groups;
  MemorySlots          slots{{.type = {DType::I32, {}}, .kind = "count", .lasts = true}};

  explicit FactorLayout(const ETraceGraph& graph) {
    const Program&               p = graph.module_info.program();
    std::map<int, std::set<int>> leaves;  // by group
    for (const TraceSite& site : trace_sites(graph))
      for (int leaf : graph.hidden_param_op_relations[site.relation].trainables[site.trainable].leaves)
        leaves[site.group].insert(leaf);
    for (const auto& [group, mine] : leaves) {
      const HiddenGroup& g = graph.hidden_groups[group];
      Factors            f{group, slots.size(), {}};
      slots.push_back({{state_dtype(graph, g), g.on_positions({g.num_state})}, "s", -1, group});
      for (int leaf : mine) {
        f.theta.emplace_back(leaf, slots.size());
        slots.push_back({p.type(graph.module_info.weights[leaf].var), "theta", -1, group, -1, leaf});
      }
      groups.push_back(std::move(f));
    }
  }
};

// Adds cᵀ (D_f ⊗ ∂y/∂w) for every weight traced to the group.
void project(Step& step, int group, const Tensor& c, Tensors& leaf_gradients) {
  for (const TraceSite& site : trace_sites(step.graph())) {
    if (site.group != group) continue;
    const Tensor p =
        step.over_substeps(site.relation, site.connection, [&](const Tensor& D_f, const Tensors& operands) {
          const Tensor q = as_output(site.call, step.graph().hidden_groups[group], sum(c * D_f, Ints{-1}));
          return pull_back(site.call, site.weight, operands, q);
        });
    if (p.defined()) step.add_operand_gradient(site.relation, site.trainable, p, leaf_gradients);
  }
}

// Norm over all parts together, summed in at least single precision.
Tensor norm(const Tensors& parts) {
  Tensor total;
  for (const Tensor& t : parts)
    if (t.defined())
      total = add_defined(total, sum(square(convert(t, t.dtype() == DType::F64 ? DType::F64 : DType::F32))));
  return total.defined() ? sqrt(total) : Tensor(0.0);
}

}  // namespace

UoroRule::UoroRule(UoroOptions options) : LearningRule({.name = "UORO", .coupled = true}), options_(options) {
  require(options.projection_eps > 0 && static_cast<float>(options.projection_eps) > 0,
          "UORO: projection_eps must be positive, also as a 32-bit number, got {}.", options.projection_eps);
}

MemorySlots UoroRule::memory(const ETraceGraph& graph) const { return FactorLayout(graph).slots; }

Tensors UoroRule::advance(Step& step, const Tensors& memory, const Tensors& aux) const {
  const FactorLayout layout(step.graph());
  const double       eps  = options_.projection_eps;
  Tensors            next = memory;
  next[0]                 = memory[0] + 1;
  for (size_t i = 0; i < layout.groups.size(); ++i) {
    const Factors& f = layout.groups[i];
    const Tensor&  s = memory[f.s];
    Tensor         nu;
    if (aux.empty()) {
      const Tensor key = random::fold_in(random::fold_in(random::key(options_.projection_key), memory[0]),
                                         Tensor(Type{DType::I32, {}}, f.group));
      nu               = 2 * convert(random::bernoulli(key, 0.5, s.shape()), s.dtype()) - 1;
    } else {
      nu = aux.at(i);
    }
    Tensors p(step.graph().module_info.weights.size());
    project(step, f.group, nu, p);
    const Tensor d = step.push(f.group, s);
    Tensors      theta, projected;
    for (const auto& [leaf, slot] : f.theta) {
      theta.push_back(memory[slot]);
      projected.push_back(p[leaf]);
    }
    const Tensor rho0 = sqrt((norm(theta) + eps) / (norm({d}) + eps));
    const Tensor rho1 = sqrt((norm(projected) + eps) / (norm({nu}) + eps));
    auto         in   = [](const Tensor& scalar, const Tensor& like) { return convert(scalar, like.dtype()); };
    next[f.s]         = add_defined(d.defined() ? in(rho0, s) * d : Tensor(), in(rho1, s) * nu);
    for (size_t k = 0; k < f.theta.size(); ++k)
      next[f.theta[k].second] = add_defined(theta[k] / in(rho0, theta[k]),
                                            projected[k].defined() ? projected[k] / in(rho1, theta[k]) : Tensor());
  }
  return next;
}

void UoroRule::recall(Step& step, const Tensors& memory, const Tensors& credit, Tensors& leaf_gradients) const {
  for (const Factors& f : FactorLayout(step.graph()).groups) {
    if (!credit[f.group].defined()) continue;
    const Tensor scale = sum(credit[f.group] * memory[f.s]);
    for (const auto& [leaf, slot] : f.theta)
      leaf_gradients[leaf] = add_defined(leaf_gradients[leaf], convert(scale, memory[slot].dtype()) * memory[slot]);
  }
}

Retreat UoroRule::retreat(Step& step, const StepBack& at) const {
  const ETraceGraph& graph = step.graph();
  Step::SameStep     now   = step.pull(at.ct);
  Tensors            gradients(graph.module_info.weights.size()), counted = gradients;
  recall(step, at.after, now.L, gradients);
  recall(step, at.before, now.O, gradients);
  for (const Factors& f : FactorLayout(graph).groups) project(step, f.group, now.L[f.group], counted);
  for (size_t w = 0; w < gradients.size(); ++w)
    if (counted[w].defined()) gradients[w] = add_defined(gradients[w], -counted[w]);
  step.add_to_inputs(gradients, now.inputs);
  return {now.inputs, {}};
}

}  // namespace braintrace

// SPDX-License-Identifier: Apache-2.0
#include "braintrace/executor/traces.h"

#include <algorithm>
#include <cmath>

#include "braintrace/base/pack.h"
#include "braintrace/compiler/trace_type.h"
#include "braintrace/etp/factored.h"
#include "braintrace/executor/blocks.h"
#include "braintrace/ops/families.h"
#include "braintrace/ops/math.h"
#include "braintrace/ops/move.h"
#include "braintrace/ops/reduce.h"
#include "braintrace/transforms/walk.h"

namespace braintrace {

namespace {

// The first site of a relation and group; the others share its D_f.
bool is_first(const TraceSite& site) { return site.trainable == 0; }

// Converts a tensor to the type of its slot; undefined becomes zeros.
Tensor stored(const Tensor& t, const Type& type) {
  return t.defined() ? convert(broadcast_to(t, type.shape), type.dtype) : Tensor(type, 0);
}

}  // namespace

Types types_of(const MemorySlots& slots) {
  Types out;
  for (const MemorySlot& s : slots) out.push_back(s.type);
  return out;
}

Traces::Traces(const ETraceGraph& graph, TraceRecursion recursion)
    : graph_(graph), recursion_(std::move(recursion)), sites_(trace_sites(graph)) {
  for (const TraceSite& site : sites_) {
    const auto&        r    = graph.hidden_param_op_relations[site.relation];
    const HiddenGroup& g    = group_of(site);
    const auto         slot = [&](Type type, const char* kind) {
      type.dtype = recursion_.dtype.value_or(type.dtype);
      return MemorySlot{std::move(type), kind, site.relation, site.group, site.trainable};
    };
    const Type trace = trace_type(r, r.connections[site.connection], r.trainables[site.trainable], g);
    Type       x{trace.dtype, coefficient_shape(site.call, site.weight)};
    x.shape.push_back(1);
    const Type f{trace.dtype, g.on_positions({g.trace_state_width()})};
    const bool factored = !r.descent && recursion_.forgets(g) && x.size() + f.size() < trace.size();
    tail_.push_back(factored ? static_cast<int>(slots_.tails.size()) : -1);
    slots_.traces.push_back(factored ? slot(x, "x") : slot(trace, "trace"));
    if (factored) slots_.tails.push_back(slot(f, "f"));
    if (recursion_.kappa > 0) slots_.filters.push_back(slot(trace, "filter"));
  }
}

MemorySlots Traces::slots() const { return joined(slots_); }

std::vector<Remembered> Traces::written_out(const Tensors& memory) const {
  const Kept<Tensors>     kept = split(memory, slots_);
  std::vector<Remembered> out;
  for (size_t i = 0; i < sites_.size(); ++i) {
    const TraceSite& site = sites_[i];
    Remembered&      mine = out.emplace_back(Remembered{slots_.traces[i], kept.traces[i]});
    if (!is_factored(i)) continue;
    const Tensor f = as_output(site.call, group_of(site), kept.tails[tail_[i]]);
    mine.slot.kind = "trace";
    mine.value     = kept.traces[i] * site.call.op->etp->spread(site.call, site.weight, f);
    mine.slot.type = mine.value.type();
  }
  for (size_t i = 0; i < kept.filters.size(); ++i) out.push_back({slots_.filters[i], kept.filters[i]});
  return out;
}

Tensors Traces::advance(Step& step, const Tensors& memory) const {
  const Kept<Tensors> before = split(memory, slots_);
  Kept<Tensors>       after;
  for (size_t i = 0; i < sites_.size(); ++i) {
    const TraceSite& site = sites_[i];
    const Tensor     now  = instant(step, site);
    if (is_factored(i)) {
      after.traces.push_back(stored(expand_dims(coefficient(step, site), -1), slots_.traces[i].type));
      after.tails.push_back(stored(tail_of(step, site), slots_.tails[tail_[i]].type));
    } else {
      after.traces.push_back(stored(add_defined(propagated(step, site, before.traces[i]), now), slots_.traces[i].type));
    }
    if (recursion_.kappa > 0)
      after.filters.push_back(
          stored(add_defined(recursion_.kappa * before.filters[i], is_factored(i) ? now : after.traces[i]),
                 slots_.filters[i].type));
  }
  return joined(after);
}

bool Traces::gathers() const {
  return !sites_.empty() && std::none_of(sites_.begin(), sites_.end(), [&](const TraceSite& site) {
    return graph_.hidden_param_op_relations[site.relation].descent != nullptr;
  });
}

Tensors Traces::factors(Step& step) const {
  Factors<Tensors> out;
  for (const HiddenGroup& g : graph_.hidden_groups) out.D.push_back(recursion_.D(step, g.index));
  for (const TraceSite& site : sites_)
    if (is_first(site)) out.D_f.push_back(tail_of(step, site));
  for (const TraceSite& site : sites_) out.coefficients.push_back(coefficient(step, site));
  return joined(out);
}

Tensors Traces::gathered(const Tensors& memory, const Tensors& factors) const {
  const size_t groups = graph_.hidden_groups.size(), connections = factors.size() - groups - sites_.size();
  const auto [D, D_fs, coefficients] = split(factors, Factors<size_t>{groups, connections, sites_.size()});
  const int64_t       K              = coefficients.back().shape()[0];
  const Kept<Tensors> before         = split(memory, slots_);
  Kept<Tensors>       after;

  std::vector<WindowProducts> products;
  for (const HiddenGroup& g : graph_.hidden_groups) {
    const Type block{state_dtype(graph_, g), g.on_positions({g.trace_state_width(), g.trace_state_width()})};
    products.push_back(window_products(D[g.index], K, block, recursion_.kappa));
  }
  int tail = -1;
  for (size_t i = 0; i < sites_.size(); ++i) {
    const EtpCall&     call   = sites_[i].call;
    const int          weight = sites_[i].weight;
    const HiddenGroup& g      = group_of(sites_[i]);
    tail += is_first(sites_[i]);
    const Tensor &D_f = D_fs[tail], &x = coefficients[i], &eps = before.traces[i];
    // X_0 ε_{a-1} + Σ_t X_t D_f,t ⊗ ∂y_t/∂w
    const auto what_is_left = [&](const Remains& X) {
      Tensor of_start, of_steps;
      if (X.of_start.defined())
        of_start = propagate(call, weight, as_output(call, g, X.of_start), convert(eps, X.of_start.dtype()));
      if (D_f.defined()) {
        const auto   last   = [&](const Tensor& t) { return slice_axis(t, 0, K - X.of_steps.shape()[0], K); };
        const Tensor remain = move_axis(applied(X.of_steps, last(D_f)), 0, -1);
        of_steps            = instants(call, weight, last(x), as_output(call, g, remain));
      }
      return add_defined(of_start, of_steps);
    };
    const WindowProducts& P = products[g.index];
    after.traces.push_back(
        stored(is_factored(i) ? expand_dims(row(x, K - 1), -1) : what_is_left(P.plain), slots_.traces[i].type));
    if (is_factored(i))
      after.tails.push_back(stored(D_f.defined() ? row(D_f, K - 1) : Tensor(), slots_.tails[tail_[i]].type));
    if (recursion_.kappa > 0)
      after.filters.push_back(
          stored(add_defined(std::pow(recursion_.kappa, K) * before.filters[i], what_is_left(P.filtered)),
                 slots_.filters[i].type));
  }
  return joined(after);
}

void Traces::add_trace(Step& step, size_t i, const Tensor& ell, const Tensors& memory, Tensors& leaf_gradients) const {
  const TraceSite&    site = sites_[i];
  const Kept<Tensors> kept = split(memory, slots_);
  if (!is_factored(i)) return add_contracted(step, site, ell, kept.traces[i], leaf_gradients);
  if (!ell.defined()) return;
  const EtpRules& rules = *site.call.op->etp;
  const Tensor    f     = convert(kept.tails[tail_[i]], ell.dtype());
  const Tensor    q     = as_output(site.call, group_of(site), sum(ell * f, Ints{-1}));
  const Tensor    x     = convert(squeeze(kept.traces[i], {-1}), ell.dtype());
  const Tensor    g =
      rules.fold(site.call, site.weight, step.operands(site.relation), x * rules.spread(site.call, site.weight, q));
  step.add_operand_gradient(site.relation, site.trainable, g, leaf_gradients);
}

void Traces::add_filter(Step& step, size_t i, const Tensor& ell, const Tensors& memory, Tensors& leaf_gradients) const {
  add_contracted(step, sites_[i], ell, split(memory, slots_).filters[i], leaf_gradients);
}

void Traces::add_instant(Step& step, size_t i, const Tensor& ell, Tensors& leaf_gradients) const {
  add_contracted(step, sites_[i], ell, instant(step, sites_[i]), leaf_gradients);
}

void Traces::add_contracted(Step& step, const TraceSite& site, const Tensor& ell, const Tensor& eps,
                            Tensors& leaf_gradients) const {
  if (!eps.defined() || !ell.defined()) return;
  const Tensor l = as_output(site.call, group_of(site), ell);
  const Tensor g = contract(site.call, site.weight, step.operands(site.relation), l, convert(eps, l.dtype()));
  step.add_operand_gradient(site.relation, site.trainable, g, leaf_gradients);
}

Tensor Traces::propagated(Step& step, const TraceSite& site, const Tensor& eps) const {
  const Tensor D = recursion_.D(step, site.group);
  if (!D.defined()) return {};
  return propagate(site.call, site.weight, convert(as_output(site.call, group_of(site), D), eps.dtype()), eps);
}

Tensor Traces::tail_of(Step& step, const TraceSite& site) const {
  const Tensor& D_f = step.D_f(site.relation, site.connection);
  return D_f.defined() ? recursion_.place(group_of(site), D_f) : Tensor();
}

Tensor Traces::coefficient(Step& step, const TraceSite& site) const {
  return site.call.op->etp->coefficient(site.call, site.weight, step.operands(site.relation));
}

Tensor Traces::instant(Step& step, const TraceSite& site) const {
  return step.over_substeps(site.relation, site.connection, [&](const Tensor& D_f, const Tensors& operands) {
    const Tensor wide = recursion_.place(group_of(site), D_f);
    const Tensor term =
        braintrace::instant(site.call, site.weight, operands, as_output(site.call, group_of(site), wide));
    Shape shape = trace_shape(site.call, site.weight);
    shape.push_back(wide.shape().back());
    return broadcast_to(term, shape);
  });
}

}  // namespace braintrace

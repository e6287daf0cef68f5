// SPDX-License-Identifier: Apache-2.0
// cond: y = branches[clamp(index)](x).
//
//   push       every branch with its tangents; a result has a tangent if it has one in any branch
//   linearize  every branch leaves its residuals in shared slots (zeros in the slots of others), then the linear
//              branches are chosen by the same index
//   transpose  branch by branch
//   batch      one index for all samples: batched branches; an index per sample: all branches run, then select
#include "braintrace/control/cond.h"

#include <algorithm>

#include "braintrace/base/rng.h"
#include "braintrace/control/keys.h"
#include "braintrace/control/nested.h"
#include "braintrace/control/sections.h"
#include "braintrace/ops/compare.h"
#include "braintrace/ops/index_walk.h"
#include "braintrace/ops/math.h"
#include "braintrace/ops/move.h"
#include "braintrace/ops/reduce.h"
#include "braintrace/transforms/jvp.h"
#include "braintrace/transforms/linearize.h"
#include "braintrace/transforms/simplify.h"
#include "braintrace/transforms/vmap.h"

namespace braintrace {

namespace {

// The operands of the branches.
template <class List>
List without_index(const List& in) {
  return List(in.begin() + 1, in.end());
}

size_t clamped(double index, size_t count) { return index < 0 ? 0 : std::min(static_cast<size_t>(index), count - 1); }

Tensors choose(const Tensor& index, std::vector<Traced> traced, const Tensors& operands) {
  const Bodies b = close_over(std::move(traced));
  return apply(cond_op, joined(Tensors{index}, b.captures, operands), {{keys::branches, b.programs}});
}

Types cond_infer(const Op& op, const Types& in, const Attrs& a) {
  const ProgramPtrs& branches = a[keys::branches];
  require(in[0] == Type{DType::I32, {}}, "{}: the index must be i32[], got {}.", op.name, to_string(in[0]));
  require(!branches.empty(), "{}: there is no branch; give at least one.", op.name);
  const Types out = branches[0]->types_of(branches[0]->results);
  for (size_t b = 0; b < branches.size(); ++b) {
    require_takes(op, "branch", *branches[b], without_index(in));
    const Types other = branches[b]->types_of(branches[b]->results);
    require(other.size() == out.size(),
            "{}: branch 0 returns {} result(s), branch {} returns {}.\n  All branches must return the same types.",
            op.name, out.size(), b, other.size());
    for (size_t k = 0; k < out.size(); ++k)
      require(other[k] == out[k],
              "{}: result {} is {} in branch 0 and {} in branch {}.\n  Broadcast or convert one of them.", op.name, k,
              to_string(out[k]), to_string(other[k]), b);
  }
  return out;
}

Mask cond_reach(const Op&, const Attrs& a, const Mask& in) {
  Mask out(a[keys::branches][0]->results.size(), in[0]);
  for (const ProgramPtr& p : a[keys::branches]) grow(out, result_dependence(*p, without_index(in)));
  return out;
}

Pushed cond_push(const JvpArgs& a) {
  const ProgramPtrs&                       branches = a.attrs[keys::branches];
  const Tensors                            x = without_index(a.in), dx = without_index(a.tangents);
  const Mask                               active = defined_mask(dx);
  const Dual<Tensors>                      operands{x, chosen(dx, active)};
  const Types                              out = branches[0]->types_of(branches[0]->results);
  std::vector<std::pair<OpenBody, Pushed>> open;
  Mask                                     live(out.size());
  for (const ProgramPtr& p : branches) {
    Pushed r;
    auto   body = open_body(types_of(joined(operands)), [&](const Tensors& args) -> Tensors {
      const auto in = split(args, operands);
      r             = jvp(*p, in.values, spread(in.tangents, active));
      return {};
    });
    grow(live, defined_mask(r.tangents));
    open.emplace_back(std::move(body), std::move(r));
  }
  std::vector<Traced> traced;
  for (auto& [body, r] : open)
    traced.push_back(body.builder->finish(joined(r.out, chosen(instantiated(r.tangents, out), live))));
  const Tensors flat = choose(a.in[0], std::move(traced), joined(operands));
  const auto    y    = split(flat, Dual<size_t>{out.size(), flat.size() - out.size()});
  return {y.values, spread(y.tangents, live)};
}

// Residuals of all branches in common slots: equal types share a slot when they come from different branches.
struct Slots {
  Types types;

  // The slot of each residual of one branch.
  std::vector<size_t> place(const Types& residuals) {
    Mask                taken(types.size());
    std::vector<size_t> where;
    for (const Type& t : residuals) {
      size_t s = 0;
      while (s < types.size() && (taken[s] || types[s] != t)) ++s;
      if (s == types.size()) {
        types.push_back(t);
        taken.push_back(false);
      }
      taken[s] = true;
      where.push_back(s);
    }
    return where;
  }
};

template <class List>
struct BranchOperands {
  List residuals, dx;
};

Linearized cond_linearize(const LinearizeArgs& a) {
  const ProgramPtrs& branches = a.attrs[keys::branches];
  const Tensors      x        = without_index(a.in);
  const Types        out      = branches[0]->types_of(branches[0]->results);
  const Mask         active   = floats_among(without_index(a.active), types_of(x));

  struct Branch {
    std::shared_ptr<Builder> builder;
    LinearMap                linear;
    std::vector<size_t>      slots;
  };
  std::vector<Branch> runs;
  Slots               slots;
  Mask                live(out.size());
  for (const ProgramPtr& p : branches) {
    Branch     r;
    const auto body = open_body(types_of(x), [&](const Tensors& args) {
      r.linear = linearize(*p, args, active);
      return Tensors{};
    });
    r.builder       = body.builder;
    r.linear.map    = pruned(std::move(r.linear.map));
    r.slots         = slots.place(types_of(r.linear.map.constants));
    grow(live, r.linear.live);
    runs.push_back(std::move(r));
  }

  const BranchOperands<Types> types{slots.types, chosen(types_of(x), active)};
  std::vector<Traced>         forward, linear;
  for (Branch& r : runs) {
    Tensors residuals(slots.types.size());
    for (size_t i = 0; i < r.slots.size(); ++i) residuals[r.slots[i]] = r.linear.map.constants[i];
    forward.push_back(r.builder->finish(joined(r.linear.out, instantiated(residuals, slots.types))));
    linear.push_back(trace(joined(types), [&](const Tensors& args) {
      const auto in = split(args, types);
      Tensors    own;
      for (size_t s : r.slots) own.push_back(in.residuals[s]);
      return chosen(instantiated(spread(replay(r.linear.map.program, own, in.dx), r.linear.live), out), live);
    }));
  }
  const auto   y     = split(choose(a.in[0], std::move(forward), x), WithResiduals<Types>{out, slots.types});
  const Tensor index = a.in[0];
  return {y.out, [=, residuals = y.residuals](const Tensors& tangents) {
            if (!any_true(live)) return Tensors(live.size());
            return spread(choose(index, linear, joined(residuals, chosen(without_index(tangents), active))), live);
          }};
}

Tensors cond_transpose(const TransposeArgs& a) {
  require(!a.linear[0], "transpose: cond is not linear in its index; only linear functions can be transposed.");
  const Mask                  linear = without_index(a.linear), fixed = inverted(linear);
  const BackOperands<Tensors> operands{chosen(without_index(a.in), fixed), a.ct};
  std::vector<Traced>         traced;
  for (const ProgramPtr& p : a.attrs[keys::branches])
    traced.push_back(trace(types_of(joined(operands)), [&](const Tensors& args) {
      const auto in = split(args, operands);
      return chosen(instantiated(transpose(*p, {}, spread(in.fixed, fixed), linear, in.ct), without_index(a.types)),
                    linear);
    }));
  return joined(Tensors{Tensor()}, spread(choose(a.in[0], std::move(traced), joined(operands)), linear));
}

Tensors cond_batch(const BatchArgs& a) {
  const ProgramPtrs& branches = a.attrs[keys::branches];
  const Tensors      x        = without_index(a.in);
  const Mask         batched  = without_index(a.batched);
  const Mask         reached  = cond_reach(a.op, a.attrs, a.batched);
  const auto run = [&](const Program& p, const Tensors& args) { return vmap(p, args, batched, a.size, reached); };
  if (!a.batched[0]) {
    std::vector<Traced> traced;
    for (const ProgramPtr& p : branches)
      traced.push_back(trace(types_of(x), [&](const Tensors& args) { return run(*p, args); }));
    return choose(a.in[0], std::move(traced), x);
  }
  Tensors out = run(*branches[0], x);
  for (size_t b = 1; b < branches.size(); ++b) {
    const Tensor  here = greater_equal(a.in[0], Tensor(Type{DType::I32, {}}, static_cast<double>(b)));
    const Tensors y    = run(*branches[b], x);
    for (size_t k = 0; k < out.size(); ++k) out[k] = select(broadcast_axes(here, out[k].shape(), {0}), y[k], out[k]);
  }
  return out;
}

std::vector<Sample> cond_sample(const Op&, Rng& rng) {
  const Type                  t{DType::F64, {3}};
  const std::vector<Function> f = {[](const Tensors& x) -> Tensors {
                                     return {x[0] * tanh(x[1]), sum(x[0] * x[0])};
                                   },
                                   [](const Tensors& x) -> Tensors {
                                     return {x[0], sum(x[1] * x[1]) * 0.5};
                                   },
                                   [](const Tensors& x) -> Tensors {
                                     return {exp(x[1]), Tensor(Type{DType::F64, {}}, 2)};
                                   }};
  std::vector<Traced>         traced;
  for (const Function& g : f) traced.push_back(trace({t, t}, g));
  const ProgramPtrs   branches = close_over(std::move(traced)).programs;
  std::vector<Sample> samples;
  for (int32_t index : {0, 1, 7, static_cast<int32_t>(rng.integer(3))})
    samples.push_back(
        {{Array::of<int32_t>({index}, {}), random_array(rng, t), random_array(rng, t)}, {{keys::branches, branches}}});
  return samples;
}

}  // namespace

constinit const Op cond_op = {
    .name     = "cond",
    .doc      = "one of several programs, chosen by an index",
    .operands = "index operands...",
    .infer    = cond_infer,
    .eval     = [](const Op&, const Arrays& in, const Attrs& a, const Types&) -> Arrays {
      const ProgramPtrs& branches = a[keys::branches];
      return evaluate(*branches[clamped(at(in[0], 0), branches.size())], {}, without_index(in));
    },
    .push      = cond_push,
    .linearize = cond_linearize,
    .transpose = cond_transpose,
    .batch     = cond_batch,
    .reach     = cond_reach,
    .simplify  = [](const Op&, const Tensors& in, const Attrs& a) -> Tensors {
      const ProgramPtrs& branches = a[keys::branches];
      if (branches.size() == 1) return replay(*branches[0], {}, without_index(in));
      if (!in[0].is_literal()) return {};
      return replay(*branches[clamped(in[0].fill(), branches.size())], {}, without_index(in));
    },
    .prune = [](const Attrs& a, const Mask& used) -> Pruned {
      Mask operands(a[keys::branches][0]->args.size());
      for (const ProgramPtr& p : a[keys::branches]) grow(operands, gather(backward_dependence(*p, used), p->args));
      ProgramPtrs branches;
      for (const ProgramPtr& p : a[keys::branches]) {
        Program b = *p;
        b.args    = chosen(b.args, operands);
        b.results = chosen(b.results, used);
        branches.push_back(std::make_shared<const Program>(dce(std::move(b))));
      }
      const Mask index{true};
      return {{{keys::branches, branches}}, joined(index, operands), used};
    },
    .sample = cond_sample,
};

Tensors switch_(const Tensor& index, const std::vector<Function>& branches, const Tensors& operands) {
  require(index.defined() && index.rank() == 0, "cond: the index must be a scalar, got {}.",
          index.defined() ? to_string(index.type()) : "nothing");
  require(!is_float(index.dtype()) || index.is_weak(), "cond: the index must be an integer or bool, got {}.",
          to_string(index.type()));
  require(!branches.empty(), "cond: there is no branch; give at least one.");
  std::vector<OpenBody> open;
  for (const Function& f : branches) open.push_back(open_body(types_of(operands), f));
  // A C++ number in one branch takes its type from a branch that has one.
  Types wanted = types_of(open[0].results);
  for (size_t k = 0; k < wanted.size(); ++k) {
    const auto typed = std::find_if(open.begin(), open.end(),
                                    [&](const OpenBody& b) { return k < b.results.size() && !b.results[k].is_weak(); });
    if (typed != open.end()) wanted[k] = typed->results[k].type();
  }
  for (OpenBody& b : open) settle_numbers(b.results, wanted);
  std::vector<Traced> traced;
  for (const OpenBody& b : open) traced.push_back(b.builder->finish(b.results));
  return choose(convert(index, DType::I32), std::move(traced), operands);
}

Tensors cond(const Tensor& pred, const Function& if_true, const Function& if_false, const Tensors& operands) {
  return switch_(convert(pred, DType::Bool), {if_false, if_true}, operands);
}

const std::vector<const Op*>& cond_ops() {
  static const std::vector<const Op*> ops = {&cond_op};
  return ops;
}

}  // namespace braintrace

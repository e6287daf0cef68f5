// SPDX-License-Identifier: Apache-2.0
#include "braintrace/codegen/rotate.h"

#include <algorithm>

#include "braintrace/codegen/elementwise.h"
#include "braintrace/codegen/lower.h"
#include "braintrace/codegen/view.h"
#include "braintrace/ops/axes.h"
#include "braintrace/ops/constant.h"
#include "braintrace/ops/contract.h"
#include "braintrace/ops/keys.h"
#include "braintrace/ops/math.h"
#include "braintrace/ops/move.h"
#include "braintrace/transforms/inline.h"
#include "braintrace/transforms/simplify.h"
#include "braintrace/transforms/walk.h"

namespace braintrace::codegen {

namespace {

class Rotation {
 public:
  Rotation(const Program& p, const std::vector<Feed>& feeds, const Target& target) : p_(p), target_(target) {
    for (const Feed& f : feeds) {
      const Var arg = p.args[f.arg], result = p.results[f.result];
      if (is_large(arg) && is_float(p.type(arg).dtype) && arg != result) carries_.push_back({f, arg, result});
    }
    while (drop_one()) continue;
    find_pending();
  }

  bool is_worth_it() const {
    return std::any_of(p_.eqns.begin(), p_.eqns.end(), [&](const Eqn& e) {
      return is_product_with_vector(e) && (is_seen_[e.in[0]] || is_seen_[e.in[1]]);
    });
  }

  Rotated result() const {
    Rotated out;
    out.step = step();
    Types types;
    for (const Carry& c : carries_) {
      out.large.push_back(c.feed.arg);
      types.push_back(p_.type(c.arg));
    }
    out.pending.push_back(Tensor(Type{DType::Bool, {}}, 0).array());
    for (Var v : pending_) out.pending.push_back(Tensor(p_.type(v), 0).array());
    for (const Array& a : out.pending) types.push_back(a.type());
    out.settle = simplify(with_constants_inside(trace(types, [&](const Tensors& in) {
      const size_t n       = carries_.size();
      Tensors      results = updated(part(in, 0, n), part(in, n, in.size()));
      for (const Array& a : out.pending) results.push_back(Tensor(a.type(), 0));
      return results;
    })));
    return out;
  }

 private:
  struct Carry {
    Feed feed;
    Var  arg, result;
  };

  bool is_carry(Var v) const {
    return std::any_of(carries_.begin(), carries_.end(), [&](const Carry& c) { return c.arg == v; });
  }
  bool is_large(Var v) const { return p_.type(v).size() >= target_.pending_from; }

  // Whether an equation can be deferred, so that only small values of this step have to be kept for it.
  bool may_wait(const Eqn& e) const {
    if (e.out.size() != 1 || !is_large(e.out[0])) return false;
    if (e.op != &full_op && e.op != &broadcast_op && !keeps_axes(e, p_) && !has_expression(*e.op)) return false;
    return std::all_of(e.in.begin(), e.in.end(), [&](Var v) {
      return is_late_[v] || is_carry(v) || (e.op == &broadcast_op && p_.type(v).size() <= target_.pending_at_most);
    });
  }

  // Late values are those that only carries depend on. A carry that is not late itself, or is read other than by
  // products with vectors, is removed, which may affect others; returns whether one was.
  bool drop_one() {
    find_seen();
    Mask is_needed(p_.types.size()), is_fed(p_.results.size());  // in this step
    for (const Carry& c : carries_) is_fed[c.feed.result] = true;
    for (size_t k = 0; k < p_.results.size(); ++k)
      if (!is_fed[k]) is_needed[p_.results[k]] = true;
    Mask before;
    do {
      before = is_needed;
      is_late_.assign(p_.types.size(), false);
      for (const Eqn& e : p_.eqns)
        if (may_wait(e)) is_late_[e.out[0]] = !is_needed[e.out[0]];
      for (const Eqn& e : p_.eqns)
        for (Var v : e.in)
          if (!(e.out.size() == 1 && is_late_[e.out[0]]) && !is_seen_by(e, v)) is_needed[v] = true;
    } while (is_needed != before);
    const auto bad = std::find_if(carries_.begin(), carries_.end(),
                                  [&](const Carry& c) { return !is_late_[c.result] || is_needed[c.arg]; });
    if (bad == carries_.end()) return false;
    carries_.erase(bad);
    return true;
  }
  // Whether the equation views part of a carry, or multiplies it with a vector.
  bool is_seen_by(const Eqn& e, Var v) const {
    return is_seen_[v] && (is_product_with_vector(e) || (e.out.size() == 1 && is_seen_[e.out[0]]));
  }
  // Values that are views of a carry.
  void find_seen() {
    is_seen_.assign(p_.types.size(), false);
    for (const Carry& c : carries_) is_seen_[c.arg] = true;
    for (const Eqn& e : p_.eqns)
      if (e.op == &slice_op || keeps_axes(e, p_)) is_seen_[e.out[0]] = is_seen_[e.in[0]];
  }
  bool is_product_with_vector(const Eqn& e) const {
    return e.op == &dot_general_op &&
           (long_axes(p_.type(e.in[0]).shape).size() == 1 || long_axes(p_.type(e.in[1]).shape).size() == 1);
  }

  void find_pending() {
    for (const Eqn& e : p_.eqns)
      if (e.out.size() == 1 && is_late_[e.out[0]])
        for (Var v : e.in)
          if (!is_late_[v] && !is_carry(v) && !contains(pending_, v)) pending_.push_back(v);
  }

  // The shape in which late values are computed.
  Shape  space(Var v) const { return squeezed(p_.type(v).shape); }
  Tensor repeated(const Eqn& e, const Tensor& x) const {
    const Ints all = long_axes(p_.type(e.out[0]).shape);
    Ints       dims;
    for (int64_t a : long_axes(p_.type(e.in[0]).shape))
      dims.push_back(static_cast<int64_t>(index_of(all, e.attrs[keys::dims][a])));
    return broadcast_axes(reshape(x, squeezed(x.shape())), space(e.out[0]), dims);
  }

  // Applies the pending update to the carries. `pending` starts with a flag: whether there is one.
  Tensors updated(const Tensors& carries, const Tensors& pending) const {
    Tensors values(p_.types.size());
    for (size_t i = 0; i < carries_.size(); ++i) values[carries_[i].arg] = reshape(carries[i], space(carries_[i].arg));
    for (size_t i = 0; i < pending_.size(); ++i) values[pending_[i]] = pending[i + 1];
    for (const Eqn& e : p_.eqns) {
      if (e.out.size() != 1 || !is_late_[e.out[0]]) continue;
      EqnNote note(p_, e);
      Tensor& y = values[e.out[0]];
      if (e.op == &full_op)
        y = full(space(e.out[0]), e.attrs[keys::value], p_.type(e.out[0]).dtype);
      else if (e.op == &broadcast_op)
        y = is_late_[e.in[0]] || is_carry(e.in[0]) ? values[e.in[0]] : repeated(e, values[e.in[0]]);
      else if (keeps_axes(e, p_))
        y = values[e.in[0]];
      else
        y = apply1(*e.op, gather(values, e.in), e.attrs);
    }
    Tensors out;
    for (const Carry& c : carries_) {
      const Tensor& before = values[c.arg];
      const Tensor  after  = select(broadcast_to(pending[0], before.shape()), values[c.result], before);
      out.push_back(reshape(after, p_.type(c.arg).shape));
    }
    return out;
  }

  Program step() const {
    Program with_pending = p_;
    with_pending.args.push_back(with_pending.add_value({DType::Bool, {}}));
    for (Var v : pending_) with_pending.args.push_back(with_pending.add_value(p_.type(v)));
    return simplify(rebuilt(with_pending, [&](Builder& to, const Tensors& in) {
      const size_t own = in.size() - pending_.size() - 1;
      Tensors      values(p_.types.size()), carries;
      bind_inputs(p_, part(in, 0, own), values);
      for (const Carry& c : carries_) carries.push_back(values[c.arg]);
      carries = updated(carries, part(in, own, in.size()));
      for (size_t i = 0; i < carries_.size(); ++i) values[carries_[i].arg] = carries[i];
      for (const Eqn& e : p_.eqns) {
        if (e.out.size() == 1 && is_late_[e.out[0]]) continue;
        EqnNote note(p_, e);
        scatter(values, e.out, to.emit(*e.op, gather(values, e.in), e.attrs, p_.types_of(e.out)));
      }
      for (size_t i = 0; i < carries_.size(); ++i) values[carries_[i].result] = carries[i];
      Tensors results = gather(values, p_.results);
      results.push_back(Tensor(Type{DType::Bool, {}}, 1));
      return joined(results, gather(values, pending_));
    }));
  }

  const Program&     p_;
  const Target&      target_;
  std::vector<Carry> carries_;
  Mask               is_late_, is_seen_;
  Vars               pending_;
};

std::optional<Rotated> if_worth_it(const Program& program, const std::vector<Feed>& feeds, const Options& options) {
  const int64_t large    = options.target.pending_from;
  const auto    is_large = [&](const Feed& f) { return program.type(program.args[f.arg]).size() >= large; };
  if (std::none_of(feeds.begin(), feeds.end(), is_large)) return {};
  const Program  p = with_outer_products(program, options);
  const Rotation rotation(p, feeds, options.target);
  if (!rotation.is_worth_it()) return {};
  return rotation.result();
}

}  // namespace

std::optional<Rotated> rotated(const Program& program, const std::vector<Feed>& feeds, const Options& options) {
  if (!options.runs("rotate")) return {};
  return observed(
      "rotate", options, [&] { return if_worth_it(program, feeds, options); }, &program,
      [](const std::optional<Rotated>& r) { return r ? &r->step : nullptr; });
}

}  // namespace braintrace::codegen

// SPDX-License-Identifier: Apache-2.0
#include "braintrace/compiler/meetings.h"

#include <algorithm>
#include <numeric>

#include "braintrace/base/lists.h"
#include "braintrace/compiler/positions.h"
#include "braintrace/ops/math.h"
#include "braintrace/ops/move.h"
#include "braintrace/ops/reduce.h"
#include "braintrace/transforms/inline.h"
#include "braintrace/transforms/jvp.h"
#include "braintrace/transforms/linearize.h"
#include "braintrace/transforms/simplify.h"

namespace braintrace {

namespace {

constexpr int32_t none = -1, several = -2;

// The only source on which each element depends; empty: there is none.
using Only = std::vector<int32_t>;

void join(int32_t& into, int32_t more) {
  if (more == none || into == more) return;
  into = into == none ? more : several;
}
void join(Only& into, const Only& more) {
  if (into.empty()) into.assign(more.size(), none);
  for (size_t i = 0; i < more.size(); ++i) join(into[i], more[i]);
}
bool has_several(const Only& only) { return std::find(only.begin(), only.end(), several) != only.end(); }

Only numbered(int64_t size) {
  Only out(static_cast<size_t>(size));
  std::iota(out.begin(), out.end(), 0);
  return out;
}

// From the elements numbered `from` to those numbered `to` on the other side of an equation.
Only through(const std::vector<int64_t>& from, const std::vector<int64_t>& to, const Only& only) {
  Only at_number(1, none), out(to.size(), none);
  for (size_t i = 0; i < from.size(); ++i) {
    const auto k = static_cast<size_t>(from[i]);
    if (k >= at_number.size()) at_number.resize(k + 1, none);
    join(at_number[k], only[i]);
  }
  for (size_t i = 0; i < to.size(); ++i)
    if (const auto k = static_cast<size_t>(to[i]); k < at_number.size()) out[i] = at_number[k];
  return out;
}

struct ReaderWalk {
  const Program&    p;
  std::vector<Only> only = std::vector<Only>(p.types.size());  // of each value

  Only across(const Eqn& e, size_t k, size_t r, bool forward) const {
    const Only& given = only[forward ? e.in[k] : e.out[r]];
    if (e.op->is_elementwise()) return given;
    const LinkedElements l = linked_elements(p, e, k, r);
    return forward ? through(l.operand, l.result, given) : through(l.result, l.operand, given);
  }
  // What the results depend on, from what the operands depend on.
  void forward(const Eqn& e) {
    for (size_t r = 0; r < e.out.size(); ++r)
      for (size_t k = 0; k < e.in.size(); ++k)
        if (!only[e.in[k]].empty()) join(only[e.out[r]], across(e, k, r, true));
  }
  // Readers of the operands, from readers of the results.
  void backward(const Eqn& e) {
    for (size_t r = 0; r < e.out.size(); ++r)
      for (size_t k = 0; k < e.in.size(); ++k)
        if (!only[e.out[r]].empty()) join(only[e.in[k]], across(e, k, r, false));
  }
  bool is_read(const Eqn& e) const {
    return std::any_of(e.in.begin(), e.in.end(), [&](Var v) { return !only[v].empty(); });
  }
};

// The position of each element of a value: positions lie on its leading axes, with one where they repeat.
Only positions_on(const Shape& shape, const Shape& positions) {
  Only       out(static_cast<size_t>(size_of(shape)), 0);
  int64_t    inner = 1, stride = 1;
  const auto axes = positions.size();
  for (size_t a = shape.size(); a-- > 0; inner *= shape[a]) {
    if (a >= axes || positions[a] == 1) continue;
    for (size_t e = 0; e < out.size(); ++e)
      out[e] += static_cast<int32_t>(static_cast<int64_t>(e) / inner % shape[a] * stride);
    stride *= positions[a];
  }
  return out;
}

// Per position instead of per element.
Only at_positions(const Only& elements, const Only& position, int64_t count) {
  Only out(static_cast<size_t>(count), none);
  for (size_t e = 0; e < elements.size(); ++e) join(out[static_cast<size_t>(position[e])], elements[e]);
  return out;
}

class MeetingFinder {
 public:
  MeetingFinder(Program program, size_t arg, const Shape& from, const Shape& to)
      : p_(std::move(program)), y_(p_.args[arg]), to_(to), count_(size_of(from)) {
    position_of_y_ = positions_on(p_.type(y_).shape, from);
  }

  std::optional<Meetings> found() {
    if (!cut()) return std::nullopt;
    Meetings out{p_, p_};
    out.reach.results = meet_;
    for (Var r : meet_) out.local.args.push_back(r);
    std::erase_if(out.local.eqns, [&](const Eqn& e) { return is_meeting(e.out[0]); });
    for (Var r : meet_)
      if (!reads_one(out.local, r)) return std::nullopt;
    out.reach = dce(std::move(out.reach));
    out.local = dce(std::move(out.local));
    return out;
  }

 private:
  bool is_meeting(Var v) const { return std::find(meet_.begin(), meet_.end(), v) != meet_.end(); }

  // Finds every r. True if, at constant r, results read y only at their own position.
  bool cut() {
    ReaderWalk f{p_};
    f.only[y_] = position_of_y_;
    Mask reached(p_.types.size());
    reached[y_] = true;
    for (const Eqn& e : p_.eqns) {
      if (std::none_of(e.in.begin(), e.in.end(), [&](Var v) { return reached[v]; })) continue;
      if (!tells_positions(e)) return false;
      for (Var v : e.out) reached[v] = true;
      f.forward(e);
      // Or in a sum of earlier reductions, such as that of a group of channels.
      const auto narrows = [&](Var v) {
        return std::any_of(e.in.begin(), e.in.end(), [&](Var u) {
          return reached[u] && f.only[u].empty() && f.only[v].empty() && p_.type(u).size() > p_.type(v).size();
        });
      };
      if (std::none_of(e.out.begin(), e.out.end(), [&](Var v) { return has_several(f.only[v]) || narrows(v); }))
        continue;
      for (Var v : e.out) {
        f.only[v].clear();
        meet_.push_back(v);
      }
    }
    for (Var v : p_.results) {
      const Only place = positions_on(p_.type(v).shape, to_);
      for (size_t e = 0; e < f.only[v].size(); ++e)
        if (f.only[v][e] != none && f.only[v][e] != place[e]) return false;
    }
    return true;
  }

  // g of the results is g of the argument.
  bool reads_one(const Program& local, Var r) const {
    const Only elements = numbered(p_.type(r).size());
    ReaderWalk back{p_};
    back.only[r] = elements;
    for (size_t i = p_.eqns.size(); i-- > 0;) back.backward(p_.eqns[i]);
    if (back.only[y_].empty()) return true;
    Only g = at_positions(back.only[y_], position_of_y_, count_);

    ReaderWalk forth{local};
    forth.only[r] = elements;
    for (const Eqn& e : local.eqns)
      if (forth.is_read(e)) forth.forward(e);
    for (Var v : local.results)
      if (!forth.only[v].empty()) join(g, at_positions(forth.only[v], positions_on(local.type(v).shape, to_), count_));
    return !has_several(g);
  }

  Program p_;
  Var     y_;
  Shape   to_;
  int64_t count_;
  Only    position_of_y_;
  Vars    meet_;
};

}  // namespace

std::optional<Meetings> find_meetings(const Program& region, size_t arg, const Shape& from, const Shape& to) {
  if (size_of(from) == 0 || size_of(from) != size_of(to)) return std::nullopt;
  return MeetingFinder(expand_composites(region), arg, from, to).found();
}

Tensors diagonal_through(const Meetings& m, const Tensors& in, size_t input, const Tensor& slots, const Shape& from,
                         const Shape& to) {
  Mask active(in.size());
  active[input]         = true;
  const VjpResult reach = vjp(m.reach, in, active);
  const Tensors   point = joined(in, reach.out);
  const auto      push  = [&](size_t i, const Tensor& tangent) {
    Tensors tangents(point.size());
    tangents[i] = tangent;
    return jvp(m.local, point, tangents).tangents;
  };
  // Of the slots that are pushed, one number per position.
  const auto by_position = [&](const Tensor& y) {
    Ints rest;
    for (int a = static_cast<int>(from.size()); a < y.rank(); ++a) rest.push_back(a);
    return rest.empty() ? y : sum(y, rest);
  };
  const auto on_result = [&](const Tensor& positions, const Type& like) {
    Shape shape = to;
    shape.resize(like.shape.size(), 1);
    return broadcast_to(reshape(positions, shape), like.shape);
  };
  Tensors out = push(input, slots);
  for (size_t r = 0; r < reach.out.size(); ++r) {
    if (!is_float(reach.out[r].dtype())) continue;
    const Tensor one(reach.out[r].type(), 1);
    Tensors      ct(reach.out.size());
    ct[r]            = one;
    const Tensor  dr = reach.pullback(ct)[0];
    const Tensors df = dr.defined() ? push(in.size() + r, one) : Tensors(out.size());
    for (size_t k = 0; k < out.size(); ++k)
      if (df[k].defined()) {
        const Tensor part = df[k] * on_result(by_position(dr * slots), df[k].type());
        out[k]            = out[k].defined() ? out[k] + part : part;
      }
  }
  return out;
}

}  // namespace braintrace

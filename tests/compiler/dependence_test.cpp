// SPDX-License-Identifier: Apache-2.0
// What the dependence analysis claims about random chains of operations, compared with Jacobians entry by entry.
// It may claim less than is true, but not more.
#include <algorithm>
#include <functional>
#include <map>
#include <set>

#include <gtest/gtest.h>

#include "braintrace/base/rng.h"
#include "braintrace/compiler/positions.h"
#include "braintrace/control/custom.h"
#include "braintrace/ops/contract.h"
#include "braintrace/ops/cumulative.h"
#include "braintrace/ops/index_walk.h"
#include "braintrace/ops/math.h"
#include "braintrace/ops/move.h"
#include "braintrace/ops/reduce.h"
#include "braintrace/ops/softmax.h"
#include "braintrace/transforms/jvp.h"

namespace braintrace {

namespace {

constexpr int64_t largest = 48;  // elements of a value

Tensor numbers(const Shape& shape, Rng& rng) {
  std::vector<double> v(static_cast<size_t>(size_of(shape)));
  for (double& x : v) x = 0.3 + rng.uniform();
  return Tensor(from_doubles({DType::F64, shape}, v));
}

Tensor merged(const Tensor& a, size_t axis) {
  Shape s = a.shape();
  s[axis] *= s[axis + 1];
  s.erase(s.begin() + static_cast<int64_t>(axis) + 1);
  return reshape(a, s);
}
Tensor split(const Tensor& a, size_t axis) {
  Shape s = a.shape();
  for (int64_t n : {2, 3})
    if (s[axis] % n == 0) {
      s[axis] /= n;
      s.insert(s.begin() + static_cast<int64_t>(axis) + 1, n);
      return reshape(a, s);
    }
  return a;
}
Tensor repeated(const Tensor& a, int64_t at) {
  Shape s = a.shape();
  s.insert(s.begin() + at, 2);
  return broadcast_to(expand_dims(a, at), s);
}

// A value made of one or two earlier ones.
Tensor next(const Tensors& pool, Rng& rng) {
  const auto    pick = [&](size_t n) { return static_cast<size_t>(rng.uniform() * static_cast<double>(n)); };
  const Tensor& a    = pool[pool.size() - 1 - pick(std::min<size_t>(pool.size(), 3))];
  const Tensor& b    = pool[pick(pool.size())];
  const auto    rank = static_cast<size_t>(a.rank());
  const auto    axis = static_cast<int64_t>(pick(rank));
  if (rank == 0) return expand_dims(a, 0);
  switch (pick(17)) {
    case 0:
      return tanh(a);
    case 1:
      return flip(a, Ints{axis});
    case 2:
      return roll(a, 1, axis);
    case 3:
      return reshape(a, {a.size()});
    case 4:
    case 5:
      return split(a, static_cast<size_t>(axis));
    case 6:
    case 7:
      return rank > 1 ? merged(a, pick(rank - 1)) : a;
    case 8:
      return transpose(a);
    case 9:
      return 2 * a.size() <= largest ? repeated(a, static_cast<int64_t>(pick(rank + 1))) : a;
    case 10:
      return expand_dims(a, static_cast<int64_t>(pick(rank + 1)));
    case 11:
      return a.shape()[static_cast<size_t>(axis)] == 1 ? squeeze(a, {axis}) : sum(a, Ints{axis});
    case 12:
      return cumsum(a, axis);
    case 13:
      return softmax(a, axis);
    case 14:
      return a.shape() == b.shape() ? a * b : a;
    case 15:
      return a.shape() == b.shape() && 2 * a.size() <= largest ? concat({a, b}, axis) : a;
    default:
      return a.shape() == b.shape() ? a + b : tanh(a);
  }
}

// A chain of operations from one argument; every value made is a result.
Program chain(const Shape& source, Rng& rng) {
  const auto grow = [&](const Tensors& in) {
    Tensors pool = in;
    for (int i = 0; i < 9; ++i)
      if (const Tensor made = next(pool, rng); made.trace_var() != pool.back().trace_var()) pool.push_back(made);
    return Tensors(pool.begin() + 1, pool.end());
  };
  return trace({{DType::F64, source}}, grow).program;
}

int64_t flat(const Ints& index, const Shape& shape, int begin, int end) {
  int64_t at = 0;
  for (int i = begin; i < end; ++i) at = at * shape[i] + index[i];
  return at;
}

// Calls entry(j, i) for every element i of result r that reads element j of the argument.
void for_entries(const Program& p, const Tensor& at_point, size_t r,
                 const std::function<void(const Ints&, const Ints&)>& entry) {
  const Type &in = at_point.type(), &out = p.type(p.results[r]);
  for (IndexWalk j(in.shape); !j.done(); j.next()) {
    std::vector<double> one(static_cast<size_t>(in.size()), 0);
    one[j.flat()]    = 1;
    const Tensor col = jvp(p, {at_point}, {Tensor(from_doubles(in, one))}).tangents[r];
    if (!col.defined()) continue;
    for (IndexWalk i(out.shape); !i.done(); i.next())
      if (at(col.array(), i.flat()) != 0) entry(j.index(), i.index());
  }
}

// What was claimed, and how often a claim was false.
struct Claims {
  int same = 0, moved = 0, repeated = 0, whole = 0, silent = 0, wrong = 0;
};

using Follow = PositionMap (*)(const Program&, size_t);

void check(const Program& p, const Tensor& at_point, Follow follow, Claims& seen) {
  const PositionMap map  = follow(p, 0);
  const Shape&      from = at_point.shape();
  for (size_t r = 0; r < p.results.size(); ++r) {
    const Var    v  = p.results[r];
    const Shape& to = p.type(v).shape;
    if (!map.reached[v]) {
      for_entries(p, at_point, r, [&](auto&, auto&) { ++seen.wrong; });
      continue;
    }
    const int  rank = static_cast<int>(to.size()), source_rank = static_cast<int>(from.size());
    const auto laid = layout_on(map, p, 0, r, source_rank, rank);
    seen.whole += laid && *laid == to;
    seen.repeated += laid && *laid != to;
    seen.silent += !laid;
    std::map<std::pair<size_t, int64_t>, std::set<int64_t>> read;  // by link and result position: argument positions
    for_entries(p, at_point, r, [&](const Ints& j, const Ints& i) {
      for (size_t k = 0; k < map.links[v].size(); ++k) {
        const AxisLink& l    = map.links[v][k];
        const int64_t   here = flat(i, to, l.res_begin, l.res_end), there = flat(j, from, l.op_begin, l.op_end);
        if (l.kind == AxisLink::Kind::Same) seen.wrong += here != there;
        read[{k, here}].insert(there);
      }
      if (!laid) return;
      Ints at_laid = i;
      for (int a = 0; a < rank; ++a)
        if ((*laid)[a] == 1) at_laid[a] = 0;
      seen.wrong += flat(at_laid, *laid, 0, rank) != flat(j, from, 0, source_rank);
    });
    for (const auto& [place, positions] : read) seen.wrong += positions.size() > 1;
    for (const AxisLink& l : map.links[v]) (l.kind == AxisLink::Kind::Same ? seen.same : seen.moved)++;
  }
}

Claims claims(Follow follow, int chains) {
  Claims      seen;
  Rng         rng(7);
  const Shape sources[] = {{6}, {2, 3}, {1, 3}, {3, 1}, {2, 1, 3}, {2, 2, 3}, {1}, {4, 3}};
  for (int k = 0; k < chains; ++k) {
    const Shape& source = sources[static_cast<size_t>(k) % std::size(sources)];
    const auto   p      = chain(source, rng);
    check(p, numbers(source, rng), follow, seen);
  }
  return seen;
}

TEST(Dependence, NeverClaimsMoreThanTheJacobianShows) {
  const Claims seen = claims(follow_positions, 100);
  EXPECT_EQ(seen.wrong, 0);
  EXPECT_GT(seen.same, 120);
  EXPECT_GT(seen.moved, 20);
  EXPECT_GT(seen.whole, 60);
  EXPECT_GT(seen.repeated, 20);
  EXPECT_GT(seen.silent, 60);
}

// Negative control: the test detects an analysis that ignores reversed axes.
TEST(Dependence, AnAnalysisThatForgetsAMovementIsSeen) {
  const Follow forgetful = [](const Program& p, size_t arg) {
    PositionMap map = follow_positions(p, arg);
    for (AxisLinks& links : map.links)
      for (AxisLink& l : links) l.kind = AxisLink::Kind::Same;
    return map;
  };
  EXPECT_GT(claims(forgetful, 25).wrong, 0);
}

// A function with a derivative of its own is judged by the derivative: the body may stay in place where that does not,
// and the other way round.
TEST(Dependence, ADerivativeOfTheUsersOwnCounts) {
  const auto still = [](const Tensors& x) -> Tensors { return {2.0 * x[0]}; };
  const auto rolls = [](const Tensors& x) -> Tensors { return {roll(x[0], 1, 1)}; };
  const auto none  = [](const Tensors& x) -> Tensors { return {Tensor(x[0].type(), 0)}; };
  const auto whole = [](const Function& f) {
    const Program p = trace({{DType::F64, {2, 3}}}, f).program;
    Claims        seen;
    Rng           rng(3);
    check(p, numbers({2, 3}, rng), follow_positions, seen);
    EXPECT_EQ(seen.wrong, 0);
    return seen.whole == 1;
  };
  const auto jvp_of = [](const Function& body, const Function& rule) {
    return custom_jvp(body, [=](const Tensors&, const Tensors& dx) { return rule(dx); });
  };
  const auto vjp_of = [](const Function& body, const Function& rule) {
    return custom_vjp(
        body,
        [=](const Tensors& x) -> ForwardPass {
          return {body(x), {}};
        },
        [=](const Tensors&, const Tensors& ct) { return rule(ct); });
  };
  using Make = std::function<Function(const Function&, const Function&)>;
  for (const Make& made : {Make(jvp_of), Make(vjp_of)}) {
    EXPECT_TRUE(whole(made(still, still)));
    EXPECT_TRUE(whole(made(rolls, still)));
    EXPECT_FALSE(whole(made(still, rolls)));
    EXPECT_TRUE(whole(made(rolls, none)));
  }
}

}  // namespace

}  // namespace braintrace

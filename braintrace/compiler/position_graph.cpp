// SPDX-License-Identifier: Apache-2.0
// Propagates sets of source positions through the transition, element by element:
//
//   elementwise                    each element reads the same element
//   products, sums and views       axis by axis, which is exact: a reduced axis reads all positions, others stay apart
//   products with a known pattern  entry by entry
//   linear in the operand          probed: the result for an operand that is one at a single element and zero elsewhere
//   anything else                  axis by axis, according to the operation's dependence record
#include "braintrace/compiler/position_graph.h"

#include <algorithm>
#include <map>
#include <numeric>

#include <fmt/format.h>

#include "braintrace/compiler/positions.h"
#include "braintrace/control/cond.h"
#include "braintrace/control/keys.h"
#include "braintrace/ops/contract.h"
#include "braintrace/ops/move.h"
#include "braintrace/ops/reduce.h"
#include "braintrace/ops/sparse.h"
#include "braintrace/transforms/inline.h"
#include "braintrace/transforms/walk.h"

namespace braintrace {

namespace {

constexpr int64_t most_probe_work = int64_t{1} << 27, most_bits = int64_t{1} << 31;

using Bits    = std::vector<uint64_t>;  // a set of source positions; empty: none
using Sources = std::vector<Bits>;      // of each element of a value; empty if the value depends on no source

void unite(Bits& into, const Bits& more) {
  if (into.empty()) {
    into = more;
    return;
  }
  for (size_t i = 0; i < more.size(); ++i) into[i] |= more[i];
}

bool is_told_by_axes(const Op& op) {
  return &op == &dot_general_op || &op == &reduce_sum_op || &op == &broadcast_op || &op == &reshape_op;
}

struct Follower {
  const Program&       p;
  std::vector<Sources> of     = std::vector<Sources>(p.types.size());  // of each value
  Tensors              known  = Tensors(p.types.size());               // values that depend on no input
  std::string          reason = {};

  void run() {
    for (const Eqn& e : p.eqns) {
      const bool reached = std::any_of(e.in.begin(), e.in.end(), [&](Var v) { return !of[v].empty(); });
      if (reached)
        follow(e);
      else if (std::all_of(e.in.begin(), e.in.end(), [&](Var v) { return known[v].defined(); }))
        scatter(known, e.out, apply(*e.op, gather(known, e.in), e.attrs));
    }
  }

  void follow(const Eqn& e) {
    for (Var v : e.out) of[v].resize(static_cast<size_t>(p.type(v).size()));
    if (e.op == &cond_op && of[e.in[0]].empty())
      for (const ProgramPtr& branch : e.attrs[keys::branches])
        follow_nested(*branch, {e.in.begin() + 1, e.in.end()}, e.out);
    else
      for (size_t k = 0; k < e.in.size(); ++k)
        if (!of[e.in[k]].empty()) follow_operand(e, k);
  }

  void follow_nested(const Program& q, const Vars& in, const Vars& out) {
    Follower inner{q};
    for (size_t i = 0; i < in.size(); ++i) inner.of[q.args[i]] = of[in[i]], inner.known[q.args[i]] = known[in[i]];
    inner.run();
    if (reason.empty()) reason = inner.reason;
    for (size_t r = 0; r < out.size(); ++r)
      for (size_t i = 0; i < inner.of[q.results[r]].size(); ++i) unite(of[out[r]][i], inner.of[q.results[r]][i]);
  }

  void follow_operand(const Eqn& e, size_t k) {
    const Sources& in = of[e.in[k]];
    if (e.op->is_elementwise()) {
      for (size_t i = 0; i < in.size(); ++i) unite(of[e.out[0]][i], in[i]);
    } else if (e.op == &sparse_dot_op && k == 3 && known[e.in[1]].defined() && known[e.in[2]].defined()) {
      follow_entries(e, in);
    } else if (is_told_by_axes(*e.op) || !probe(e, k)) {
      for (size_t r = 0; r < e.out.size(); ++r) follow_axes(e, k, r);
    }
  }

  // y[l,to[e]] reads x[l,from[e]].
  void follow_entries(const Eqn& e, const Sources& x) {
    const Array    from_array = known[e.in[1]].array(), to_array = known[e.in[2]].array();
    const Integers from(from_array), to(to_array);
    const int64_t  n = p.type(e.in[3]).shape.back(), m = p.type(e.out[0]).shape.back();
    for (int64_t l = 0; l * n < std::ssize(x); ++l)
      for (int64_t i = 0; i < from_array.size(); ++i)
        if (!x[l * n + from[i]].empty()) unite(of[e.out[0]][l * m + to[i]], x[l * n + from[i]]);
  }

  // The other factors of products are ones, so that nothing cancels and stored zeros count as edges.
  bool probe(const Eqn& e, size_t k) {
    if (!e.op->is_linear_in(k)) return false;
    const Sources& in   = of[e.in[k]];
    int64_t        work = 0, sources = std::count_if(in.begin(), in.end(), [](const Bits&b) { return !b.empty(); });
    Arrays         operands;
    for (size_t j = 0; j < e.in.size(); ++j) {
      const Type& t = p.type(e.in[j]);
      work += t.size();
      if (e.op->is_linear_in(j))
        operands.push_back(Tensor(t, j != k && e.op->linearity == Linearity::Each ? 1 : 0).array());
      else if (known[e.in[j]].defined())
        operands.push_back(known[e.in[j]].array());
      else
        return false;
    }
    if (sources * (work + p.type(e.out[0]).size()) > most_probe_work) {
      reason = fmt::format("{} is too large to be followed element by element", e.op->name);
      return false;
    }
    std::vector<double> one(in.size(), 0);
    for (size_t i = 0; i < in.size(); ++i) {
      if (in[i].empty()) continue;
      one[i]           = 1;
      operands[k]      = from_doubles(p.type(e.in[k]), one);
      one[i]           = 0;
      const Array read = apply(*e.op, Tensors(operands.begin(), operands.end()), e.attrs)[0].array();
      for (int64_t j = 0; j < read.size(); ++j)
        if (at(read, j) != 0) unite(of[e.out[0]][static_cast<size_t>(j)], in[i]);
    }
    return true;
  }

  void follow_axes(const Eqn& e, size_t k, size_t r) {
    if (!tells_positions(e)) reason = fmt::format("{} says nothing about its positions", e.op->name);
    const Sources&          in     = of[e.in[k]];
    const LinkedElements    linked = linked_elements(p, e, k, r);
    std::map<int64_t, Bits> at_number;
    for (size_t i = 0; i < in.size(); ++i)
      if (!in[i].empty()) unite(at_number[linked.operand[i]], in[i]);
    for (size_t i = 0; i < linked.result.size(); ++i)
      if (const auto it = at_number.find(linked.result[i]); it != at_number.end()) unite(of[e.out[r]][i], it->second);
  }
};

// Leading axes of the group along which no position reads another.
size_t separate_axes(const HiddenGroup& g) {
  size_t axes = g.varshape.size();
  for (size_t a = 0; a < g.members.size(); ++a) axes = separate_axes(g.transition.program, a, axes);
  return axes;
}

}  // namespace

PositionGraph position_graph(const ModuleInfo& info, const HiddenGroup& g) {
  PositionGraph out;
  const size_t  separate = separate_axes(g);
  out.size               = size_of(Shape(g.varshape.begin() + static_cast<int64_t>(separate), g.varshape.end()));
  const auto size        = static_cast<size_t>(out.size);
  out.influences.resize(size);

  const Program p       = expand_composites(g.transition.program);
  int64_t       largest = 0;
  for (const Type& t : p.types) largest = std::max(largest, t.size());
  require(largest * out.size <= most_bits,
          "hidden group {}: its {} positions are too many to follow what each of them influences, as SnAp does.\n"
          "  Use n = 1, or D-RTRL, which take every position alone.",
          g.index, out.size);

  Follower    follower{p};
  const Vars& constants = info.program().constants;
  for (size_t i = 0; i < p.constants.size(); ++i) {
    const auto it = std::find(constants.begin(), constants.end(), g.transition.constants[i]);
    if (it != constants.end())
      follower.known[p.constants[i]] = info.step.constants[static_cast<size_t>(it - constants.begin())];
  }
  for (size_t m = 0; m < g.hidden.size(); ++m) {
    const auto slots = static_cast<size_t>(g.hidden[m].num_state);
    Sources&   of    = follower.of[p.args[m]];
    of.resize(static_cast<size_t>(p.type(p.args[m]).size()));
    for (size_t s = 0; s < size; ++s)
      for (size_t k = 0; k < slots; ++k) {
        of[s * slots + k].resize((size + 63) / 64);
        of[s * slots + k][s / 64] |= uint64_t{1} << s % 64;
      }
  }
  follower.run();
  out.reason = follower.reason;
  for (size_t m = 0; m < g.hidden.size(); ++m) {
    const auto     slots = static_cast<size_t>(g.hidden[m].num_state);
    const Sources& of    = follower.of[p.results[m]];
    for (size_t e = 0; e < of.size(); ++e)
      for (size_t s = 0; s < (of[e].empty() ? 0 : size); ++s)
        if (of[e][s / 64] >> s % 64 & 1) out.influences[s].push_back(static_cast<int>(e / slots));
  }
  for (auto& list : out.influences) {
    std::sort(list.begin(), list.end());
    list.erase(std::unique(list.begin(), list.end()), list.end());
  }
  return out;
}

std::vector<int> independent_classes(const Program& region, size_t arg, int64_t rows, int64_t units) {
  const auto       n = static_cast<size_t>(units);
  std::vector<int> own(n);
  std::iota(own.begin(), own.end(), 0);
  const Program p       = expand_composites(region);
  int64_t       largest = 0;
  for (const Type& t : p.types) largest = std::max(largest, t.size());
  if (units < 2 || largest * units > most_bits) return own;

  const auto in_a_row = [&](Var v) { return static_cast<size_t>(p.type(v).size() / rows); };
  Follower   follower{p};
  Sources&   of    = follower.of[p.args[arg]];
  const auto slots = in_a_row(p.args[arg]) / n;
  of.resize(static_cast<size_t>(p.type(p.args[arg]).size()));
  for (size_t e = 0; e < n * slots; ++e) {
    of[e].resize((n + 63) / 64);
    of[e][e / slots / 64] |= uint64_t{1} << e / slots % 64;
  }
  follower.run();
  Sources reads(n);  // of each position of the results
  for (Var v : p.results) {
    if (follower.of[v].empty()) continue;
    if (in_a_row(v) % n != 0) return own;
    for (size_t e = 0; e < in_a_row(v); ++e) unite(reads[e / (in_a_row(v) / n)], follower.of[v][e]);
  }

  struct Class {
    Bits members, read;
  };
  const auto         has = [](const Bits& set, size_t i) { return !set.empty() && (set[i / 64] >> i % 64 & 1); };
  std::vector<Class> classes;
  std::vector<int>   out(n);
  for (size_t u = 0; u < n; ++u) {
    const auto apart = [&](const Class& c) {
      for (size_t w = 0; w < reads[u].size(); ++w)
        if (reads[u][w] & c.members[w]) return false;
      return !has(c.read, u);
    };
    auto home = std::find_if(classes.begin(), classes.end(), apart);
    if (home == classes.end()) home = classes.insert(home, {Bits((n + 63) / 64), {}});
    home->members[u / 64] |= uint64_t{1} << u % 64;
    unite(home->read, reads[u]);
    out[u] = static_cast<int>(home - classes.begin());
  }
  return out;
}

SnapPattern snap_pattern(const ModuleInfo& info, const HiddenGroup& g, int n, int64_t max_jacobian_elements,
                         const Diagnostics& log) {
  // In zero steps, a position influences only itself, in its own slice.
  const PositionGraph           graph = n == 1 ? PositionGraph{1, {{0}}, ""} : position_graph(info, g);
  const auto                    size  = static_cast<size_t>(graph.size);
  std::vector<std::vector<int>> near(size);  // reached in at most n-1 steps: itself first, the rest ascending
  size_t                        width = 1;
  for (size_t s = 0; s < size; ++s) {
    std::vector<bool> seen(size);
    seen[s] = true;
    std::vector<int> ring{static_cast<int>(s)};
    for (int step = 1; step < n && !ring.empty(); ++step) {
      std::vector<int> next;
      for (int p : ring)
        for (int q : graph.influences[static_cast<size_t>(p)])
          if (!seen[static_cast<size_t>(q)]) seen[static_cast<size_t>(q)] = true, next.push_back(q);
      ring = std::move(next);
    }
    near[s].push_back(static_cast<int>(s));
    for (size_t q = 0; q < size; ++q)
      if (seen[q] && q != s) near[s].push_back(static_cast<int>(q));
    width = std::max(width, near[s].size());
  }

  const int64_t positions = size_of(g.varshape), columns = static_cast<int64_t>(width) * g.num_state;
  if (positions * columns * columns > max_jacobian_elements)
    throw CompileError(
        fmt::format("hidden group {}: SnAp with n = {} needs Jacobians of {} positions × ({} neighbors × {} states)² = "
                    "{} elements; snap_max_jacobian_elements is {}.{}\n  Use a smaller n, or raise the limit.",
                    g.index, n, positions, width, g.num_state, positions * columns * columns, max_jacobian_elements,
                    graph.reason.empty() ? "" : fmt::format("\n  Neighbors may be too many: {}.", graph.reason)),
        log);
  SnapPattern out{
      .n = n, .width = static_cast<int>(width), .conservative = !graph.reason.empty(), .reason = graph.reason};
  for (int64_t p = 0; p < positions; ++p) {
    const auto  s     = static_cast<size_t>(p % graph.size);
    const auto  first = static_cast<int>(p - static_cast<int64_t>(s));
    const auto& own   = near[s];
    for (size_t k = 0; k < width; ++k) {
      out.neighbors.push_back(first + (k < own.size() ? own[k] : own[0]));
      out.valid.push_back(k < own.size());
    }
  }
  return out;
}

}  // namespace braintrace

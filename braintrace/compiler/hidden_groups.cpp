// SPDX-License-Identifier: Apache-2.0
// Hidden groups: states of one shape and layer where the old value of one reaches the new value of another. In the
// default scope, paths do not pass products, which mix positions and are constants of the transition.
#include <algorithm>
#include <functional>
#include <numeric>

#include <fmt/format.h>

#include "braintrace/compiler/graph.h"
#include "braintrace/compiler/position_graph.h"
#include "braintrace/compiler/positions.h"
#include "braintrace/ops/move.h"

namespace braintrace {

namespace {

// States at different list positions belong to different layers.
bool same_layer(const Path& a, const Path& b) {
  const auto &x = a.keys(), &y = b.keys();
  for (size_t i = 0; i < std::min(x.size(), y.size()); ++i)
    if (x[i] != y[i]) return !Path::is_index(x[i]) && !Path::is_index(y[i]);
  return true;
}

struct GroupFinder {
  const ModuleInfo&     info;
  const CompileOptions& options;
  Flow                  flow{info.program(), info.entries()};
  std::vector<int>      exit_index =
      std::vector<int>(info.program().types.size(), -1);  // of each value: which hidden state it ends

  Stops scope() const {
    return {.eqn = [this](const Eqn& e) {
      return is_stop_gradient(*e.op) || (!options.include_recurrent_mixing && flow.is_product(e));
    }};
  }

  // Hidden states of the same shape and layer whose new value the old value of `h` reaches.
  std::vector<int> reached_exits(const HiddenVar& h) const {
    std::vector<int> exits;
    for (Var v : reach_forward(flow, {h.in}, scope())) {
      const int j = exit_index[v];
      if (j >= 0 && !info.hidden[j].descended && info.hidden[j].varshape == h.varshape &&
          same_layer(h.path, info.hidden[j].path))
        exits.push_back(j);
    }
    return exits;
  }

  HiddenGroup make_group(std::vector<int> members) const {
    HiddenGroup g;
    g.members                = std::move(members);
    g.is_diagonal_recurrence = !options.include_recurrent_mixing;
    for (int m : g.members) {
      g.hidden.push_back(info.hidden[m]);
      g.hidden_paths.push_back(info.hidden[m].path);
      g.num_state += info.hidden[m].num_state;
    }
    g.varshape  = g.hidden[0].varshape;
    Stops stops = scope();
    stops.value = [&](Var v) {
      return exit_index[v] >= 0 && std::find(g.members.begin(), g.members.end(), exit_index[v]) == g.members.end();
    };
    g.transition   = cut_region(flow, g.entries(), g.exits(), stops);
    const int axes = static_cast<int>(g.varshape.size());
    for (size_t a = 0; a < g.members.size(); ++a) {
      const PositionMap map = follow_positions(g.transition.program, a);
      for (size_t r = 0; r < g.members.size(); ++r)
        g.diagonal &= keeps_positions(map, g.transition.program, a, r, axes);
    }
    return g;
  }
};

void add_snap_pattern(const ModuleInfo& info, HiddenGroup& g, const CompileOptions& options, Diagnostics& log) {
  g.snap = snap_pattern(info, g, *options.sparse_n, options.snap_max_jacobian_elements, log);
  if (g.snap->conservative)
    log.push_back({DiagnosticKind::SnapPatternConservative,
                   DiagnosticLevel::Warning,
                   "the SnAp pattern may hold positions that do not influence each other: " + g.snap->reason,
                   "",
                   {},
                   g.hidden_paths});
  if (g.snap->width == 1)
    log.push_back({DiagnosticKind::SnapPatternDegenerate,
                   DiagnosticLevel::Info,
                   fmt::format("within {} steps no position influences another: the pattern is the position itself",
                               g.snap->n - 1),
                   "",
                   {},
                   g.hidden_paths});
}

}  // namespace

Shape HiddenGroup::on_positions(std::initializer_list<int64_t> last) const {
  Shape shape = varshape;
  shape.insert(shape.end(), last.begin(), last.end());
  return shape;
}

Vars HiddenGroup::entries() const {
  Vars out;
  for (const HiddenVar& h : hidden) out.push_back(h.in);
  return out;
}
Vars HiddenGroup::exits() const {
  Vars out;
  for (const HiddenVar& h : hidden) out.push_back(h.out);
  return out;
}

Tensor HiddenGroup::concat_hidden(const Tensors& values) const {
  require(values.size() == hidden.size(), "hidden group {}: {} values given for {} states.", index, values.size(),
          hidden.size());
  Tensors wide;
  for (size_t i = 0; i < values.size(); ++i) wide.push_back(hidden[i].stacked ? values[i] : expand_dims(values[i], -1));
  return wide.size() == 1 ? wide[0] : concat(wide, -1);
}

Tensors HiddenGroup::split_hidden(const Tensor& stacked) const {
  require(stacked.rank() >= 1 && stacked.shape().back() == num_state,
          "hidden group {}: the last axis of {} must hold its {} states.", index, to_string(stacked.type()), num_state);
  Tensors out;
  int64_t at = 0;
  for (const HiddenVar& h : hidden) {
    const Tensor t = slice_axis(stacked, -1, at, at + h.num_state);
    out.push_back(h.stacked ? t : squeeze(t, {-1}));
    at += h.num_state;
  }
  return out;
}

std::vector<HiddenGroup> find_hidden_groups_from_minfo(const ModuleInfo& info, const CompileOptions& options,
                                                       Diagnostics& log) {
  GroupFinder  find{info, options};
  const size_t n = info.hidden.size();
  for (size_t i = 0; i < n; ++i) find.exit_index[info.hidden[i].out] = static_cast<int>(i);

  std::vector<int> root(n);
  std::iota(root.begin(), root.end(), 0);
  std::function<int(int)> root_of = [&](int i) { return root[i] == i ? i : root[i] = root_of(root[i]); };
  std::vector<bool>       recurs(n);
  for (size_t i = 0; i < n; ++i)
    if (!info.hidden[i].descended)
      for (int j : find.reached_exits(info.hidden[i])) {
        const int a = root_of(static_cast<int>(i)), b = root_of(j);
        root[std::max(a, b)] = std::min(a, b);
        recurs[i]            = true;
      }
  std::vector<std::vector<int>> members(n);
  std::vector<bool>             survives(n);
  for (size_t i = 0; i < n; ++i) {
    if (info.hidden[i].descended) continue;
    members[root_of(static_cast<int>(i))].push_back(static_cast<int>(i));
    survives[root_of(static_cast<int>(i))] = survives[root_of(static_cast<int>(i))] || recurs[i];
  }

  // First groups with a remaining recurrence, then a separate group, with D = 0, for each state whose recurrence is
  // cut.
  std::vector<HiddenGroup> groups;
  for (bool recurrent : {true, false})
    for (size_t i = 0; i < n; ++i) {
      if (members[i].empty() || survives[i] != recurrent) continue;
      groups.push_back(find.make_group(members[i]));
      HiddenGroup& g = groups.back();
      g.index        = static_cast<int>(groups.size()) - 1;
      if (g.members.size() > 1)
        log.push_back({DiagnosticKind::HiddenGroupMerged,
                       DiagnosticLevel::Info,
                       "these states feed each other position by position and share one group",
                       "",
                       {},
                       g.hidden_paths});
      if (!g.diagonal && !options.include_recurrent_mixing && !options.as_reference)
        log.push_back(
            {DiagnosticKind::TransitionMixesPositions,
             DiagnosticLevel::Warning,
             "the transition moves or mixes positions without a product; the trace keeps its true diagonal blocks only",
             "",
             {},
             g.hidden_paths});
      if (options.sparse_n) add_snap_pattern(info, g, options, log);
    }
  return groups;
}

}  // namespace braintrace

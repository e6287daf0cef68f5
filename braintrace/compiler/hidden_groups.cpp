// SPDX-License-Identifier: Apache-2.0
// Hidden groups: states of one shape and layer where the old value of one reaches the new value of another
// without passing a product. Products are where positions mix; they are held constant in the transition.
#include <algorithm>
#include <functional>
#include <numeric>

#include "braintrace/compiler/graph.h"
#include "braintrace/compiler/positions.h"

namespace braintrace {

namespace {

bool is_product(const Eqn& e) { return is_mixing_etp(*e.op) || is_plain_product(*e.op); }

// States at different list positions belong to different layers.
bool same_layer(const Path& a, const Path& b) {
  const auto &x = a.keys(), &y = b.keys();
  for (size_t i = 0; i < std::min(x.size(), y.size()); ++i)
    if (x[i] != y[i]) return !Path::is_index(x[i]) && !Path::is_index(y[i]);
  return true;
}

// Which new states each old state reaches.
std::vector<std::vector<int>> reached_exits(const ModuleInfo& info, const Flow& flow) {
  std::vector<std::vector<int>> out;
  for (const HiddenVar& h : info.hidden) {
    const Vars       reached = reach_forward(flow, {h.in}, {.eqn = is_product});
    std::vector<int> exits;
    for (size_t j = 0; j < info.hidden.size(); ++j) {
      const HiddenVar& k = info.hidden[j];
      if (k.varshape == h.varshape && same_layer(h.path, k.path) &&
          std::find(reached.begin(), reached.end(), k.out) != reached.end())
        exits.push_back(static_cast<int>(j));
    }
    out.push_back(std::move(exits));
  }
  return out;
}

HiddenGroup make_group(const ModuleInfo& info, const Flow& flow, std::vector<int> members) {
  HiddenGroup g;
  g.members = std::move(members);
  Vars from, to;
  for (int m : g.members) {
    const HiddenVar& h = info.hidden[m];
    g.hidden_paths.push_back(h.path);
    g.num_state += h.num_state;
    from.push_back(h.in);
    to.push_back(h.out);
  }
  g.varshape = info.hidden[g.members[0]].varshape;
  Mask held(flow.program.types.size());
  for (size_t i = 0; i < info.hidden.size(); ++i)
    held[info.hidden[i].out] = std::find(g.members.begin(), g.members.end(), static_cast<int>(i)) == g.members.end();
  g.transition   = cut_region(flow, from, to, {.eqn = is_product, .value = &held});
  const int axes = static_cast<int>(g.varshape.size());
  for (size_t a = 0; a < from.size(); ++a) {
    const PositionMap map = follow_positions(g.transition.program, a);
    for (size_t r = 0; r < to.size(); ++r) g.diagonal &= keeps_positions(map, g.transition.program, a, r, axes, axes);
  }
  return g;
}

}  // namespace

std::vector<HiddenGroup> find_hidden_groups(const ModuleInfo& info, const Flow& flow, Diagnostics& log) {
  const auto       exits = reached_exits(info, flow);
  const size_t     n     = info.hidden.size();
  std::vector<int> root(n);
  std::iota(root.begin(), root.end(), 0);
  std::function<int(int)> find = [&](int i) { return root[i] == i ? i : root[i] = find(root[i]); };
  for (size_t i = 0; i < n; ++i)
    for (int j : exits[i]) {
      const int a = find(static_cast<int>(i)), b = find(j);
      root[std::max(a, b)] = std::min(a, b);
    }

  // Groups with a surviving recurrence first, then a group of its own for each state whose recurrence is cut.
  std::vector<HiddenGroup> groups;
  for (bool recurrent : {true, false})
    for (size_t i = 0; i < n; ++i) {
      if (find(static_cast<int>(i)) != static_cast<int>(i)) continue;
      std::vector<int> members;
      bool             survives = false;
      for (size_t j = 0; j < n; ++j)
        if (find(static_cast<int>(j)) == static_cast<int>(i)) {
          members.push_back(static_cast<int>(j));
          survives |= !exits[j].empty();
        }
      if (survives != recurrent) continue;
      groups.push_back(make_group(info, flow, std::move(members)));
      groups.back().index = static_cast<int>(groups.size()) - 1;
      if (groups.back().members.size() > 1)
        log.push_back({DiagnosticKind::HiddenGroupMerged,
                       DiagnosticLevel::Info,
                       "these states feed each other position by position and share one group",
                       "",
                       {},
                       groups.back().hidden_paths});
    }
  return groups;
}

}  // namespace braintrace

// SPDX-License-Identifier: Apache-2.0
#include "braintrace/verify/places.h"

#include <set>

namespace braintrace::golden {

namespace {

using Leaves = std::map<std::string, std::set<std::string>>;
Leaves leaves(const json& relation) {
  Leaves out;
  for (const auto& [key, t] : relation.at("trainable").items()) {
    if (t.contains("leaves"))
      for (const json& l : t["leaves"]) out[key].insert(l.get<std::string>());
    else
      out[key].insert(t.at("param").get<std::string>());
  }
  return out;
}
Leaves leaves(const HiddenParamOpRelation& r, const ModuleInfo& info) {
  Leaves out;
  for (const Trainable& t : r.trainables)
    for (int l : t.leaves) out[t.key].insert(info.weights[l].name());
  return out;
}

}  // namespace

Places::Places(const json& recorded, const ETraceGraph& ours) {
  const json& groups = recorded.at("hidden_groups");
  for (const HiddenGroup& g : ours.hidden_groups)
    for (size_t j = 0; j < groups.size(); ++j) {
      std::vector<std::string> paths;
      for (const Path& p : g.hidden_paths) paths.push_back(p.str());
      if (groups[j].at("hidden_paths") == json(paths)) group[g.index] = "g" + std::to_string(j);
    }
  const json&      relations = recorded.at("relations");
  std::set<size_t> taken;
  for (size_t r = 0; r < ours.hidden_param_op_relations.size(); ++r) {
    const auto& mine = ours.hidden_param_op_relations[r];
    for (size_t i = 0; mine.carries_trace() && i < relations.size(); ++i)
      if (!taken.contains(i) && leaves(relations[i]) == leaves(mine, ours.module_info)) {
        taken.insert(i);
        relation[static_cast<int>(r)] = "rel" + std::to_string(i);
        break;
      }
  }
}

std::string Places::array_of(const MemorySlot& slot, const ETraceGraph& graph) const {
  const auto at = [](const std::map<int, std::string>& m, int i) { return m.contains(i) ? m.at(i) : std::string("?"); };
  const std::string r = at(relation, slot.relation), g = at(group, slot.group);
  if (slot.kind == "trace" || slot.kind == "filter")
    return slot.kind + "." + r + "." + g + "." +
           graph.hidden_param_op_relations[slot.relation].trainables[slot.trainable].key;
  if (slot.kind == "x") return "xtrace." + r;
  if (slot.kind == "f") return "ftrace." + r + "." + g;
  if (slot.kind == "s") return "s." + g;
  if (slot.kind == "theta") return "theta." + g + "." + graph.module_info.weights[slot.leaf].name();
  return slot.kind;
}

}  // namespace braintrace::golden

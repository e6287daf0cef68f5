// SPDX-License-Identifier: Apache-2.0
// From the compiler's graph to a GraphView. Besides copying, it finds the arrows of the picture.
//
// An *operation* of the picture is an equation that reads a weight: every trainable equation, and every plain equation
// that combines a value computed only from weights with data. Arrows join inputs, operations, groups, states and
// outputs along the equations in between.
#include <algorithm>
#include <map>
#include <set>

#include "braintrace/compiler/report.h"
#include "braintrace/compiler/trace_type.h"
#include "braintrace/viz/graph_view.h"

namespace braintrace {

namespace {

std::vector<std::string> strings(const std::vector<Path>& paths) {
  std::vector<std::string> out;
  for (const Path& p : paths) out.push_back(p.str());
  return out;
}

std::string text_of(const Region& region) { return region.program.results.empty() ? "" : print(region.program); }

// Finds operations and arrows in the program of the step.
class Arrows {
 public:
  explicit Arrows(const ETraceGraph& graph) : info_(graph.module_info), program_(info_.program()), flow_(program_) {
    for (const HiddenGroup& g : graph.hidden_groups)
      for (const HiddenVar& h : g.hidden) {
        const std::string id = fmt::format("group:{}", g.index);
        if (h.in >= 0) entries_[h.in] = id;
        exits_[h.out] = id;
      }
    name_inputs();
    find_operations();
  }

  struct Operation {
    int                      eqn;
    std::vector<std::string> weights;
  };
  const std::vector<Operation>& operations() const { return operations_; }
  int                           operation_of(int eqn) const { return op_of_eqn_.at(eqn); }

  std::vector<GraphView::Edge> edges() const {
    std::vector<GraphView::Edge> edges;
    const auto                   add = [&](const std::string& from, const std::string& to, EdgeKind kind) {
      const GraphView::Edge e{from, to, kind};
      if (std::find(edges.begin(), edges.end(), e) == edges.end()) edges.push_back(e);
    };
    const auto add_sources = [&](const Vars& of, const std::string& to) {
      for (const auto& [from, kind] : sources(of)) add(from, to, kind);
    };
    for (size_t i = 0; i < operations_.size(); ++i) {
      const std::string to = fmt::format("op:{}", i);
      for (const std::string& w : operations_[i].weights) add("weight:" + w, to, EdgeKind::Weight);
      add_sources(program_.eqns[static_cast<size_t>(operations_[i].eqn)].in, to);
    }
    for (const auto& [exit, group] : exits_) {
      const int eqn = flow_.producer[static_cast<size_t>(exit)];
      if (eqn < 0) continue;
      if (const auto op = op_of_eqn_.find(eqn); op != op_of_eqn_.end())
        add(fmt::format("op:{}", op->second), group, EdgeKind::Data);
      else
        add_sources(program_.eqns[static_cast<size_t>(eqn)].in, group);
    }
    for (size_t i = 0; i < program_.results.size(); ++i) {
      const Var result = program_.results[i];
      if (i < info_.step.num_results) {
        add_sources({result}, fmt::format("output:{}", i));
      } else if (!exits_.count(result)) {
        const State& state = info_.step.writes[i - info_.step.num_results].state;
        if (!state.is_param()) add_sources({result}, "state:" + info_.path_of(state).str());
      }
    }
    return edges;
  }

 private:
  void name_inputs() {
    for (size_t i = 0; i < program_.args.size(); ++i) {
      const Var v = program_.args[i];
      if (i < info_.step.num_args) {
        inputs_[v] = fmt::format("input:{}", i);
      } else {
        const State& state = info_.step.reads[i - info_.step.num_args].state;
        if (!state.is_param() && !entries_.count(v)) inputs_[v] = "state:" + info_.path_of(state).str();
      }
    }
  }

  void find_operations() {
    // Weights behind each value that no data has met; an operation's result is data.
    std::map<Var, std::set<std::string>> of_weights;
    std::set<Var>                        data;
    for (const WeightVar& w : info_.weights) of_weights[w.var].insert(w.path.str());
    for (const auto& [v, id] : inputs_) data.insert(v);
    for (const auto& [v, id] : entries_) data.insert(v);
    for (size_t i = 0; i < program_.eqns.size(); ++i) {
      const Eqn&            e = program_.eqns[i];
      std::set<std::string> weights;
      bool                  reads_data = false;
      for (Var v : e.in) {
        if (const auto w = of_weights.find(v); w != of_weights.end())
          weights.insert(w->second.begin(), w->second.end());
        reads_data |= data.count(v) > 0;
      }
      const bool is_operation = e.op->etp || (reads_data && !weights.empty());
      if (is_operation) {
        op_of_eqn_[static_cast<int>(i)] = static_cast<int>(operations_.size());
        operations_.push_back({static_cast<int>(i), {weights.begin(), weights.end()}});
      }
      for (Var v : e.out) {
        if (is_operation || reads_data)
          data.insert(v);
        else if (!weights.empty())
          of_weights[v] = weights;
      }
    }
  }

  // The nearest nodes from which `of` is computed, in order of discovery.
  std::vector<std::pair<std::string, EdgeKind>> sources(const Vars& of) const {
    std::vector<std::pair<std::string, EdgeKind>> found;
    std::set<Var>                                 seen;
    Vars                                          stack(of.rbegin(), of.rend());
    const auto                                    add = [&](std::string id, EdgeKind kind) {
      if (std::find(found.begin(), found.end(), std::pair{id, kind}) == found.end()) found.emplace_back(id, kind);
    };
    while (!stack.empty()) {
      const Var v = stack.back();
      stack.pop_back();
      if (!seen.insert(v).second) continue;
      const int eqn = flow_.producer[static_cast<size_t>(v)];
      if (const auto e = exits_.find(v); e != exits_.end()) {
        add(e->second, EdgeKind::Data);
      } else if (const auto h = entries_.find(v); h != entries_.end()) {
        add(h->second, EdgeKind::Recurrent);
      } else if (const auto x = inputs_.find(v); x != inputs_.end()) {
        add(x->second, x->second.starts_with("state:") ? EdgeKind::Recurrent : EdgeKind::Data);
      } else if (const auto op = op_of_eqn_.find(eqn); op != op_of_eqn_.end()) {
        add(fmt::format("op:{}", op->second), EdgeKind::Data);
      } else if (eqn >= 0) {
        const Vars& in = program_.eqns[static_cast<size_t>(eqn)].in;
        stack.insert(stack.end(), in.rbegin(), in.rend());
      }
    }
    return found;
  }

  const ModuleInfo&          info_;
  const Program&             program_;
  Flow                       flow_;
  std::map<Var, std::string> entries_, exits_, inputs_;
  std::vector<Operation>     operations_;
  std::map<int, int>         op_of_eqn_;
};

GraphView::Relation relation_view(const ETraceGraph& graph, const HiddenParamOpRelation& r, int operation) {
  GraphView::Relation out;
  out.operation   = operation;
  out.weight_path = r.weight_path.str();
  out.through     = strings(r.through);
  for (const Trainable& t : r.trainables) {
    GraphView::Trainable view{t.key, {}, t.chain_ops, {}};
    for (int i : t.leaves) view.leaves.push_back(graph.module_info.weights[static_cast<size_t>(i)].name());
    for (const Connection& c : r.connections) {
      if (c.path == PathClass::Windowed) continue;
      const Type type = trace_type(r, c, t, graph.hidden_groups[static_cast<size_t>(c.group)]);
      view.traces.push_back({c.group, type, type.bytes()});
    }
    out.trainables.push_back(std::move(view));
  }
  for (const Connection& c : r.connections)
    out.connections.push_back({c.group, c.path, strings(c.hidden_paths), c.position_preserving, text_of(c.tail)});
  return out;
}

std::vector<GraphView::Weight> weight_views(const ETraceGraph& graph) {
  std::vector<GraphView::Weight>    out;
  const CompilationReport           report(graph);
  std::map<Path, GraphView::Weight> others;
  std::map<Path, bool>              traced;  // of the related ones: along a trace?
  for (const auto& w : report.etrace_weights()) traced[w.path] |= !w.windowed;
  for (const auto& w : report.excluded_weights())
    others[w.path] = {w.path.str(), {}, Learns::SameStep, w.reason ? std::string(name_of(*w.reason)) : "", w.why};
  for (const auto& [path, state] : graph.module_info.states) {
    if (!state.is_param()) continue;
    GraphView::Weight w = others.count(path) ? others[path] : GraphView::Weight{path.str(), {}, Learns::Unused, "", ""};
    if (const auto t = traced.find(path); t != traced.end()) w.learns = t->second ? Learns::Trace : Learns::Window;
    const auto read = [&, &path = path](const WeightVar& v) { return v.path == path; };
    if (std::none_of(graph.module_info.weights.begin(), graph.module_info.weights.end(), read))
      w.learns = Learns::Unused;
    for (const std::string& leaf : state.leaf_names()) w.leaves.push_back({leaf, state.leaf(leaf).type()});
    out.push_back(std::move(w));
  }
  return out;
}

}  // namespace

GraphView view_of(const ETraceGraph& graph, std::string model_name) {
  const ModuleInfo& info    = graph.module_info;
  const Program&    program = info.program();
  const Arrows      arrows(graph);
  GraphView         view;
  view.model = std::move(model_name);
  for (size_t i = 0; i < info.step.num_args; ++i)
    view.inputs.push_back({info.step.num_args == 1 ? "x" : fmt::format("x{}", i), program.type(program.args[i])});
  for (size_t i = 0; i < info.step.num_results; ++i)
    view.outputs.push_back(
        {info.step.num_results == 1 ? "y" : fmt::format("y{}", i), program.type(program.results[i])});
  for (const HiddenGroup& g : graph.hidden_groups)
    view.groups.push_back({strings(g.hidden_paths), g.varshape, g.num_state, g.trace_state_width(),
                           g.is_diagonal_recurrence, g.diagonal, text_of(g.transition)});
  for (const auto& [path, state] : info.states) {
    if (state.is_param()) continue;
    int group = -1;
    for (const HiddenGroup& g : graph.hidden_groups)
      if (std::find(g.hidden_paths.begin(), g.hidden_paths.end(), path) != g.hidden_paths.end()) group = g.index;
    for (const std::string& leaf : state.leaf_names())
      view.states.push_back({leaf.empty() ? path.str() : path.str() + "." + leaf, std::string(name_of(state.kind())),
                             state.leaf(leaf).type(), group});
  }
  view.weights = weight_views(graph);
  for (const Arrows::Operation& o : arrows.operations()) {
    const Eqn&    e = program.eqns[static_cast<size_t>(o.eqn)];
    const EtpCall call{e.op, e.attrs, program.types_of(e.in), program.type(e.out[0])};
    view.operations.push_back({std::string(e.op->etp ? e.op->etp->primitive(call) : e.op->name), e.op->etp != nullptr,
                               o.weights, call.y, describe(program, static_cast<size_t>(o.eqn))});
  }
  for (const HiddenParamOpRelation& r : graph.hidden_param_op_relations) {
    const int operation = arrows.operation_of(r.eqn);
    view.relations.push_back(relation_view(graph, r, operation));
    if (r.descent) {  // the equation is the scan around it
      view.operations[static_cast<size_t>(operation)].trainable = true;
      view.operations[static_cast<size_t>(operation)].name += " " + r.primitive();
    }
  }
  view.edges = arrows.edges();
  if (graph.hidden_perturb) view.perturbed = strings(graph.hidden_perturb->hidden_paths);
  for (const CompilationRecord& r : graph.diagnostics) {
    GraphView::Record record{r.kind, r.level, r.message, r.primitive, r.weight_path.str(), strings(r.hidden_paths), {}};
    for (const auto& [key, text] : r.context) record.context.push_back({key, text});
    view.diagnostics.push_back(std::move(record));
  }
  view.program = print(program);
  return view;
}

int64_t GraphView::trace_bytes() const {
  int64_t bytes = 0;
  for (const Relation& r : relations)
    for (const Trainable& t : r.trainables)
      for (const Trace& trace : t.traces) bytes += trace.bytes;
  return bytes;
}

void check(const GraphView& view, const std::string& where) {
  std::set<std::string> ids;
  const auto            group = [&](int g, const std::string& at) {
    require(g >= 0 && static_cast<size_t>(g) < view.groups.size(), "{}: at {}: there is no group {}; the graph has {}.",
                       where, at, g, view.groups.size());
  };
  for (size_t i = 0; i < view.inputs.size(); ++i) ids.insert(fmt::format("input:{}", i));
  for (size_t i = 0; i < view.outputs.size(); ++i) ids.insert(fmt::format("output:{}", i));
  for (size_t i = 0; i < view.operations.size(); ++i) ids.insert(fmt::format("op:{}", i));
  for (size_t i = 0; i < view.groups.size(); ++i) ids.insert(fmt::format("group:{}", i));
  for (const GraphView::Weight& w : view.weights) ids.insert("weight:" + w.path);
  for (size_t i = 0; i < view.states.size(); ++i) {
    ids.insert("state:" + view.states[i].path);
    if (view.states[i].group != -1) group(view.states[i].group, fmt::format("$.states[{}].group", i));
  }
  for (size_t i = 0; i < view.relations.size(); ++i) {
    const GraphView::Relation& r  = view.relations[i];
    const std::string          at = fmt::format("$.relations[{}]", i);
    require(r.operation >= 0 && static_cast<size_t>(r.operation) < view.operations.size(),
            "{}: at {}.operation: there is no operation {}; the graph has {}.", where, at, r.operation,
            view.operations.size());
    for (size_t j = 0; j < r.connections.size(); ++j)
      group(r.connections[j].group, fmt::format("{}.connections[{}].group", at, j));
    for (const GraphView::Trainable& t : r.trainables)
      for (const GraphView::Trace& trace : t.traces) group(trace.group, at + ".trainables");
  }
  for (size_t i = 0; i < view.edges.size(); ++i)
    for (const std::string& id : {view.edges[i].from, view.edges[i].to})
      require(ids.count(id), "{}: at $.edges[{}]: there is nothing with the id \"{}\".", where, i, id);
}

}  // namespace braintrace

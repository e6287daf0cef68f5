// SPDX-License-Identifier: Apache-2.0
// Numeric cases: forward values, back-propagation through time, Jacobian blocks, learning signals, and runs of learning
// rules with their gradients and traces.
#include <algorithm>

#include "braintrace/algorithms/bptt.h"
#include "braintrace/algorithms/snap.h"
#include "braintrace/functions/functions.h"
#include "braintrace/functions/loops.h"
#include "braintrace/model/snapshot.h"
#include "braintrace/nn/loss.h"
#include "braintrace/ops/math.h"
#include "braintrace/ops/move.h"
#include "braintrace/ops/reduce.h"
#include "braintrace/transforms/walk.h"
#include "braintrace/verify/comparer.h"
#include "braintrace/verify/places.h"
#include "braintrace/verify/recorded_run.h"
#include "braintrace/verify/verify.h"

namespace braintrace::golden {

namespace {

void verify_forward(const Case& c, Comparer& to) {
  const auto                                model = load_model(c);
  const std::string                         loss  = c.info.at("loss").at("name");
  auto                                      step  = jit([&](Tensor x, Tensor target) {
    const Tensor y = (*model)(x);
    return std::pair(y, loss_of(loss, y, target));
  });
  std::vector<Array>                        ys, losses;
  std::map<std::string, std::vector<Array>> hidden;
  for (int64_t t = 0; t < c.array("x").shape()[0]; ++t) {
    const auto [y, l] = step(at_step(c.array("x"), t), at_step(c.array("target"), t));
    ys.push_back(y.array());
    losses.push_back(l.array());
    for (const auto& [path, state] : model->states())
      if (!state.is_param() && state.kind() != StateKind::Random)
        for (const std::string& leaf : state.leaf_names())
          hidden[leaf_name(path, leaf)].push_back(state.leaf(leaf).array());
  }
  to.compare("fwd.y", stacked(ys), 1e-11);
  to.compare("fwd.loss", stacked(losses), 1e-11);
  for (const auto& [name, values] : hidden)
    if (c.arrays.contains("fwd.h." + name)) to.compare("fwd.h." + name, stacked(values), 1e-11);
}

// One window over the sequence, with the losses of all steps, or of one step.
void verify_bptt(const Case& c, Comparer& to) {
  const auto        model   = load_model(c);
  const Array&      x       = c.array("x");
  const int64_t     T       = x.shape()[0];
  const std::string name    = c.info.at("loss").at("name");
  const auto        weights = step_weights(c);
  BPTT              learner(*model, {.compile = compile_options(c)});
  learner.compile_graph(at_step(x, 0));
  const Snapshot start(model->states());
  auto           loss = [&](Tensor xs, Tensor goals, Tensor w) {
    const Tensor y = learner(MultiStepData{{xs}});
    return sum(
                  for_loop([&](Tensor y_t, Tensor g_t, Tensor w_t) { return w_t * loss_of(name, y_t, g_t); }, y, goals, w));
  };
  auto        run   = jit(grad(loss, model->params()));
  const DType dtype = c.info.value("dtype", "float64") == "float32" ? DType::F32 : DType::F64;
  const auto  with  = [&](const std::vector<double>& w) {
    start.restore();
    return run(Tensor(x), Tensor(c.array("target")), convert(Tensor(Array::of<double>(w, {T})), dtype));
  };
  std::map<std::string, std::vector<Array>> steps;
  for (int64_t t = 0; t < T; ++t) {
    std::vector<double> one(static_cast<size_t>(T), 0.0);
    one[static_cast<size_t>(t)] = weights[static_cast<size_t>(t)];
    for (const auto& [path, leaves] : with(one))
      for (const auto& [leaf, g] : leaves) steps[leaf_name(path, leaf)].push_back(g.array());
  }
  for (const auto& [leaf, rows] : steps) to.compare("bptt.step." + leaf, stacked(rows));
  for (const auto& [path, leaves] : with(weights))
    for (const auto& [leaf, g] : leaves) to.compare("bptt.total." + leaf_name(path, leaf), g.array());
}

// D, D_f, x and L at every step.
void verify_blocks(const Case& c, const std::string& prefix, const json& recorded, const CompileOptions& options,
                   Comparer& to) {
  const auto               model = load_model(c);
  const ETraceGraph        graph = compile_etrace_graph(*model, {at_step(c.array("x"), 0).type()}, options);
  const ModuleInfo&        info  = graph.module_info;
  const Places             places(recorded, graph);
  const std::string        loss    = c.info.at("loss").at("name");
  const auto               weights = step_weights(c);
  std::vector<std::string> names;
  // (inputs, target, weight) → (blocks, new states)
  Types types = info.program().types_of(info.program().args);
  types.push_back(at_step(c.array("target"), 0).type());
  types.push_back({c.info.value("dtype", "float64") == "float32" ? DType::F32 : DType::F64, {}});
  const Traced                              blocks = trace(types, [&](const Tensors& in) {
    Step    step(graph, Tensors(in.begin(), in.end() - 2));
    Tensors out = part(step.results(), info.step.num_results, step.results().size());
    auto    add = [&](const std::string& name, const Tensor& value) {
      names.push_back(name);
      out.push_back(value);
    };
    const auto y = step.results()[0];
    const auto of =
        trace({y.type()}, [&](const Tensors& v) -> Tensors { return {in.back() * loss_of(loss, v[0], in.end()[-2])}; });
    Mask active(of.constants.size(), false);
    active.push_back(true);
    Tensors ct;
    for (const Tensor& r : step.results()) ct.emplace_back(r.type(), 0);
    ct[0] = vjp(of.program, joined(of.constants, {y}), active).pullback({Tensor(in.back().type(), 1)})[0];
    const auto same = step.pull(ct);
    for (const auto& [g, place] : places.group) {
      const HiddenGroup& group = graph.hidden_groups[g];
      const Shape        block = group.on_positions({group.num_state, group.num_state});
      add(prefix + "jac.D." + place, step.D(g).defined() ? step.D(g) : zeros(block, y.dtype()));
      if (prefix.ends_with(".")) add(prefix + "D." + place, out.back());
      add(prefix + "signal." + place, same.L[g]);
    }
    for (const auto& [r, place] : places.relation) {
      const auto& relation = graph.hidden_param_op_relations[r];
      if (relation.call.op->etp->x >= 0) add(prefix + "jac.x." + place, step.operands(r)[relation.call.op->etp->x]);
      for (size_t k = 0; k < relation.connections.size(); ++k) {
        const auto& g = relation.connections[k].group;
        if (relation.connections[k].path == PathClass::Windowed || !places.group.contains(g)) continue;
        const Tensor& D_f = step.D_f(r, static_cast<int>(k));
        if (D_f.defined()) add(prefix + "jac.df." + place + "." + places.group.at(g), D_f);
      }
    }
    return out;
  });
  std::map<std::string, std::vector<Array>> rows;
  const auto run = jit([&](std::vector<Tensor> in) { return replay(blocks.program, blocks.constants, in); });
  for (int64_t t = 0; t < c.array("x").shape()[0]; ++t) {
    Tensors in = info.step.inputs({at_step(c.array("x"), t)});
    in.push_back(at_step(c.array("target"), t));
    in.push_back(Tensor(types.back(), weights[static_cast<size_t>(t)]));
    const Tensors out = run(in);
    for (size_t w = 0; w < info.step.writes.size(); ++w) info.step.writes[w].set(out[w]);
    for (size_t k = 0; k < names.size(); ++k) rows[names[k]].push_back(out[info.step.writes.size() + k].array());
  }
  for (const auto& [name, values] : rows) to.compare(name, stacked(values));
}

// Where an operation transforms its weight (abs, a mask, standardization) the recorded trace is the parameter's, ours
// that of the operand: ε_w = Cᵀ ε, C = ∂operand/∂w.
Tensor in_parameter_space(const Trainable& t, const ModuleInfo& info, const Tensor& trace) {
  const Program& p = info.program();
  const Shape    w = p.type(t.operand).shape;
  const int64_t  S = trace.shape().back(), rows = trace.size() / (size_of(w) * S);
  Tensors        point;
  for (Var v : t.chain.constants) {
    const auto at   = std::find(p.constants.begin(), p.constants.end(), v);
    const auto made = producers(p)[v];
    require(at != p.constants.end() || (made >= 0 && p.eqns[made].in.empty()),
            "the trace of {} depends on more than the parameter.", info.weights[t.leaves[0]].name());
    point.push_back(made < 0 ? info.step.constants[at - p.constants.begin()]
                             : apply(*p.eqns[made].op, {}, p.eqns[made].attrs)[0]);
  }
  Mask active(point.size(), false);
  active.push_back(true);
  const WeightVar& leaf = info.weights[t.leaves[0]];
  point.push_back(leaf.state.leaf(leaf.leaf));
  const auto   back = vjp(t.chain.program, point, active).pullback;
  Tensors      out;
  const Tensor flat = move_axis(reshape(trace, {rows, size_of(w), S}), -1, 1);  // [rows,S,w]
  for (int64_t i = 0; i < rows * S; ++i)
    out.push_back(back({reshape(slice_axis(reshape(flat, {rows * S, size_of(w)}), 0, i, i + 1), w)})[0]);
  return reshape(move_axis(reshape(stack(out, 0), {rows, S, size_of(w)}), 1, -1), trace.shape());
}

// Traces are recorded for the operand only where the layer itself computes with its weights (leaky_op_rnn).
bool is_transform(const Case& c, const Trainable& t, const ModuleInfo& info) {
  if (t.chain.program.eqns.empty() || t.leaves.size() != 1) return false;
  for (const json& layer : c.info.at("model").value("layers", json::array()))
    if (layer.value("name", "") == info.weights[t.leaves[0]].path.keys()[0]) return layer.at("type") != "leaky_op_rnn";
  return true;
}

// Why a recorded gradient is not a target although the case does not list it; empty when it is one.
std::string doubtful(const Case& c, const json& run, const ETraceGraph& graph, const std::string& leaf) {
  if (c.info.at("produced_by").contains("oracle")) return {};
  const bool  traced     = is_traced(graph, leaf);
  bool        in_group   = false;
  const json& superseded = c.info.contains("superseded") ? c.info["superseded"] : json::object();
  for (const auto& entry : superseded.items()) in_group = in_group || entry.key().rfind("signal.", 0) == 0;
  const json& axes = run.at("axes");
  if (traced && in_group && run.at("vjp_method") == "single-step" && axes.at("recurrence_scope") != "diagonal")
    return "the learning signal of the case is superseded, and products carry it to every weight of the group";
  if (traced && !c.info.value("caveat", "").empty() && axes.at("trace_factorization") == "per_param")
    return "the case has a caveat";
  return {};
}

// A SnAp trace over whole rows with the neighbors of p in the recorded order: p first, the others after it.
Array itself_first(const Array& trace, const HiddenGroup& g) {
  const int64_t       K = g.snap->width, S = g.num_state;
  std::vector<double> values;
  for (int64_t e = 0; e < trace.size(); ++e) {
    const int64_t k = e / S % K, p = e / (S * K) % K, from = k == 0 ? p : k <= p ? k - 1 : k;
    values.push_back(at(trace, e + (from - k) * S));
  }
  return from_doubles(trace.type(), values);
}

void verify_run(const Case& c, const json& run, Comparer& to) {
  const std::string prefix    = "run." + run.at("id").get<std::string>() + ".";
  const bool        has_axes  = run.contains("axes") && !run["axes"].is_null();
  const auto        axis      = [&](const char* name) { return has_axes ? run["axes"].at(name) : json(); };
  const bool        draws     = axis("trace_factorization") == "random_projection";
  const double      tolerance = draws ? 1e-7 : 1e-9;
  RecordedRun       recorded(c, run);
  const auto        calls = recorded.drive();
  for (const char* given : {"modulator", "nu.", "synth_", "feedback."})
    for (const auto& entry : c.arrays)
      if (entry.first.rfind(prefix + given, 0) == 0) to.input(entry.first);

  for (const auto& [leaf, first] : calls.front().gradients) {
    std::vector<Array> rows;
    Tensor             total;
    for (const auto& call : calls) {
      rows.push_back(call.gradients.at(leaf));
      total = total.defined() ? total + Tensor(rows.back()) : Tensor(rows.back());
    }
    const std::string doubt = doubtful(c, run, recorded.learner().graph(), leaf);
    for (const auto& [name, got] : {std::pair{prefix + "grad_step." + leaf, stacked(rows)},
                                    std::pair{prefix + "grad_sum." + leaf, total.array()}})
      doubt.empty() ? to.compare(name, got, tolerance) : to.leave_out(name, doubt);
  }
  const json&        graph = run.contains("graph") ? run["graph"] : c.info.at("graph");
  const ETraceGraph& ours  = recorded.learner().graph();
  const Places       places(graph, ours);
  const bool         every_call = run.value("trace_axis0", "").rfind("one entry per call", 0) == 0;
  MemorySlots        slots;
  for (const Remembered& r : recorded.learner().remembered()) slots.push_back(r.slot);
  for (size_t i = 0; i < slots.size(); ++i) {
    const std::string name = prefix + places.array_of(slots[i], ours);
    const std::string filtered =
        slots.back().kind == "trace" ? prefix + "filter" + name.substr((prefix + "trace").size()) : "";
    if (!c.arrays.contains(name) && !c.arrays.contains(filtered)) continue;
    std::vector<Array> rows;
    for (const auto& call : calls) rows.push_back(call.memory[i].array());
    if (slots[i].relation >= 0 && slots[i].trainable >= 0) {
      const Trainable& t = ours.hidden_param_op_relations[slots[i].relation].trainables[slots[i].trainable];
      if (is_transform(c, t, ours.module_info))
        for (Array& row : rows) row = in_parameter_space(t, ours.module_info, Tensor(row)).array();
    }
    if (slots[i].group >= 0 && reaches_whole_rows(ours.hidden_groups[slots[i].group]))
      for (Array& row : rows) row = itself_first(row, ours.hidden_groups[slots[i].group]);
    const Array got = every_call ? stacked(rows) : rows.back();
    if (axis("recurrence_scope") == "sparse_n" && c.arrays.contains(name) && got.shape() != c.array(name).shape())
      to.leave_out(name, "the width of a SnAp trace depends on how its pattern was found");
    else
      to.compare(name, got, tolerance);
    to.compare(filtered, got, tolerance);  // without a filter the filtered trace is the trace
  }
  if (axis("recurrence_scope") == "coupled" && !draws) {
    CompileOptions options           = compile_options(c);
    options.include_recurrent_mixing = true;
    verify_blocks(c, prefix, graph, options, to);
  }
  for (const auto& entry : c.arrays)
    for (const char* what : {"D.", "snap_", "jac.", "signal."})
      if (entry.first.rfind(prefix + what, 0) == 0)
        to.leave_out(entry.first, "the form of a non-diagonal transition; its effect is in the gradients");
}

}  // namespace

void verify_numeric_case(const Case& c, CaseReport& report) {
  Comparer to(c, report);
  verify_forward(c, to);
  verify_bptt(c, to);
  verify_blocks(c, "", c.info.at("graph"), compile_options(c), to);
  for (const json& run : c.info.at("runs")) verify_run(c, run, to);
  to.finish();
}

}  // namespace braintrace::golden

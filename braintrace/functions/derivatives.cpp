// SPDX-License-Identifier: Apache-2.0
#include "braintrace/functions/derivatives.h"

#include <algorithm>

#include "braintrace/ops/math.h"
#include "braintrace/ops/move.h"
#include "braintrace/transforms/jacobian.h"
#include "braintrace/transforms/jvp.h"
#include "braintrace/transforms/linearize.h"
#include "braintrace/transforms/vmap.h"
#include "braintrace/transforms/walk.h"

namespace braintrace::flat {

namespace {

void check_same_types(const char* where, const char* given, const Types& want, const Tensors& got) {
  for (size_t i = 0; i < want.size(); ++i) {
    if (!is_float(want[i].dtype)) continue;
    require(got[i].defined() && (got[i].type() == want[i] || (got[i].is_weak() && got[i].shape() == want[i].shape)),
            "{}: {} {} is {}, expected {}.", where, given, i, got[i].defined() ? to_string(got[i].type()) : "undefined",
            to_string(want[i]));
  }
}

// Tangents or cotangents of exactly the wanted types; integers and bools carry none.
Tensors settled(Tensors given, const Types& types) {
  for (size_t i = 0; i < given.size(); ++i) {
    if (!is_float(types[i].dtype)) given[i] = Tensor();
    if (given[i].is_weak()) given[i] = given[i].settled(types[i].dtype);
  }
  return given;
}

// Marks of the inputs when states and constants have none.
Mask args_only(const StatefulProgram& p, const Mask& args) {
  return joined(Mask(p.constants.size(), false), args, Mask(p.reads.size(), false));
}

// Runs a linear map on the basis of argument `k`, with zeros for the other arguments; results have the basis axis
// first.
Tensors columns(const Traced& map, size_t k) {
  const Types types = map.program.types_of(map.program.args);
  Tensors     in    = zeros_of(types);
  Mask        batched(types.size());
  in[k]      = unit_tensors(types[k]);
  batched[k] = true;
  return vmap(map.program, joined(map.constants, in), joined(Mask(map.constants.size(), false), batched),
              types[k].size(), Mask(map.program.results.size(), true));
}

// [n] ++ result shape, with n = argument size  →  result shape ++ argument shape
Tensor last_axis_apart(const Tensor& column, const Shape& argument) {
  Shape result(column.shape().begin() + 1, column.shape().end());
  return reshape(move_axis(column, 0, -1), joined(result, argument));
}

}  // namespace

JvpOutcome push_forward(const Function& f, const Tensors& args, const Tensors& tangents) {
  detail::check_arguments("jvp", args);
  check_same_types("jvp", "tangent", types_of(args), tangents);
  const StatefulProgram p = trace_function(types_of(args), f, {.purpose = TraceFor::Derivative});
  const Tensors dots = joined(Tensors(p.constants.size()), settled(tangents, types_of(args)), Tensors(p.reads.size()));
  const Pushed  r    = jvp(p.program, joined(p.constants, p.inputs(args)), dots);
  return {p.store(r.out), split(instantiated(r.tangents, types_of(r.out)), p.result_sizes()).results};
}

VjpOutcome pull_back(const Function& f, const Tensors& args) {
  detail::check_arguments("vjp", args);
  const StatefulProgram p = trace_function(types_of(args), f, {.purpose = TraceFor::Derivative});
  const VjpResult       r = vjp(p.program, joined(p.constants, p.inputs(args)), args_only(p, Mask(args.size(), true)));
  const Types           results = p.result_types();
  auto pullback = [back = r.pullback, results, types = types_of(args), writes = p.writes.size()](const Tensors& ct) {
    check_same_types("vjp", "cotangent", results, ct);
    return instantiated(back(joined(StatefulResults<Tensors>{settled(ct, results), Tensors(writes)})), types);
  };
  return {p.store(r.out), pullback};
}

JacobianBlocks jacobian(JacobianMode mode, const Function& f, const Tensors& args, const Mask& wrt) {
  const char* where = mode == JacobianMode::Forward ? "jacfwd" : "jacrev";
  detail::check_arguments(where, args);
  const StatefulProgram p = trace_function(types_of(args), f, {.purpose = TraceFor::Derivative});
  Types                 wanted;
  for (size_t i = 0; i < args.size(); ++i) {
    if (!wrt[i]) continue;
    require(is_float(args[i].dtype()), ErrorKind::DType,
            "{}: the argument is {}; only floating-point tensors have derivatives.", where, to_string(args[i].type()));
    wanted.push_back(args[i].type());
  }
  const LinearMap linear  = linearize(p.program, joined(p.constants, p.inputs(args)), args_only(p, wrt));
  const Types     results = p.result_types();

  JacobianBlocks blocks(results.size());
  for (size_t r = 0; r < results.size(); ++r)
    for (const Type& t : wanted) blocks[r].emplace_back(Type{results[r].dtype, joined(results[r].shape, t.shape)}, 0);
  std::vector<size_t> live;  // results of the map, as indices of results of f
  for (size_t r = 0; r < linear.live.size(); ++r)
    if (linear.live[r]) live.push_back(r);

  if (mode == JacobianMode::Forward) {
    for (size_t k = 0; k < wanted.size(); ++k) {
      const Tensors column = columns(linear.map, k);
      for (size_t i = 0; i < live.size(); ++i)
        if (live[i] < results.size()) blocks[live[i]][k] = last_axis_apart(column[i], wanted[k].shape);
    }
  } else {
    const Program& map           = linear.map.program;
    const Traced   transpose_map = trace(map.types_of(map.results), [&](const Tensors& ct) {
      return instantiated(transpose(map, linear.map.constants, ct), wanted);
    });
    for (size_t i = 0; i < live.size(); ++i) {
      if (live[i] >= results.size()) continue;
      const Tensors row = columns(transpose_map, i);
      for (size_t k = 0; k < wanted.size(); ++k)
        blocks[live[i]][k] = reshape(row[k], joined(results[live[i]].shape, wanted[k].shape));
    }
  }
  p.store(linear.out);
  return blocks;
}

}  // namespace braintrace::flat

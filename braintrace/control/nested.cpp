// SPDX-License-Identifier: Apache-2.0
#include "braintrace/control/nested.h"

#include <map>
#include <tuple>

#include "braintrace/ops/math.h"
#include "braintrace/transforms/linearize.h"
#include "braintrace/transforms/simplify.h"
#include "braintrace/transforms/walk.h"

namespace braintrace {

OpenBody open_body(const Types& types, const Function& f) {
  OpenBody   body{Builder::open(), {}};
  TraceGuard guard(body.builder);
  Tensors    args;
  for (const Type& t : types) args.push_back(body.builder->argument(t));
  body.results = f(args);
  for (const Tensor& t : body.results)
    require(t.defined(), "trace: the function returned an undefined tensor; assign every result.");
  return body;
}

namespace {

// Identity of a captured tensor: its trace and value, or its storage and type.
struct CaptureKey {
  uint64_t    serial;
  Var         var;
  const void* storage;
  std::string type;

  explicit CaptureKey(const Tensor& t)
      : serial(t.is_traced() ? t.trace()->serial() : 0),
        var(t.trace_var()),
        storage(t.is_traced() ? nullptr : t.array().raw()),
        type(to_string(t.type())) {}

  friend bool operator<(const CaptureKey& a, const CaptureKey& b) {
    return std::tie(a.serial, a.var, a.storage, a.type) < std::tie(b.serial, b.var, b.storage, b.type);
  }
};

}  // namespace

Bodies close_over(std::vector<Traced> traced) {
  Bodies                       bodies;
  std::map<CaptureKey, size_t> index;
  for (const Traced& t : traced)
    for (const Tensor& c : t.constants)
      if (index.try_emplace(CaptureKey(c), bodies.captures.size()).second) bodies.captures.push_back(c);
  for (Traced& t : traced) {
    Program& p = t.program;
    Vars     captured(bodies.captures.size(), -1);
    for (size_t i = 0; i < t.constants.size(); ++i) {
      Var& v = captured[index.at(CaptureKey(t.constants[i]))];
      ensure(v < 0, "close_over: a program has one tensor {} as two constants", to_string(t.constants[i].type()));
      v = p.constants[i];
    }
    for (size_t i = 0; i < captured.size(); ++i)
      if (captured[i] < 0) captured[i] = p.add_value(bodies.captures[i].type());
    p.constants.clear();
    p.args.insert(p.args.begin(), captured.begin(), captured.end());
    bodies.programs.push_back(std::make_shared<const Program>(std::move(p)));
  }
  return bodies;
}

Bodies close_over(const std::vector<OpenBody>& open) {
  std::vector<Traced> traced;
  for (const OpenBody& b : open) traced.push_back(b.builder->finish(b.results));
  return close_over(std::move(traced));
}

void settle_numbers(Tensors& results, const Types& wanted) {
  for (size_t i = 0; i < results.size() && i < wanted.size(); ++i)
    if (results[i].is_weak() && results[i].shape() == wanted[i].shape)
      results[i] = convert(results[i], wanted[i].dtype);
}

Types stacked(Types types, int64_t length) {
  for (Type& t : types) t.shape.insert(t.shape.begin(), length);
  return types;
}

Mask floats_among(const Mask& mask, const Types& types) {
  Mask out = mask;
  for (size_t i = 0; i < out.size(); ++i) out[i] = mask[i] && is_float(types[i].dtype);
  return out;
}

Traced pruned(Traced traced) {
  Program p = dce(traced.program);
  Mask    used(p.types.size());
  for (const Eqn& e : p.eqns)
    for (Var v : e.in) used[v] = true;
  for (Var v : p.results) used[v] = true;
  Traced out;
  Vars   kept;
  for (size_t i = 0; i < p.constants.size(); ++i)
    if (used[p.constants[i]]) {
      kept.push_back(p.constants[i]);
      out.constants.push_back(traced.constants[i]);
    }
  p.constants = std::move(kept);
  out.program = dce(p);
  return out;
}

Linearized linearized(const Program& program, const Tensors& in, const Mask& active) {
  const Mask moving = floats_among(active, program.types_of(program_inputs(program)));
  LinearMap  m      = linearize(program, in, moving);
  return {m.out, [map = m.map, live = m.live, moving](const Tensors& tangents) {
            return spread(replay(map.program, map.constants, chosen(tangents, moving)), live);
          }};
}

void require_takes(const Op& op, const char* role, const Program& nested, const Types& given) {
  require(nested.constants.empty(), "{}: the {} has constants; nested programs take all their inputs as arguments.",
          op.name, role);
  require(nested.args.size() == given.size(), "{}: the {} takes {} argument(s), got {}.", op.name, role,
          nested.args.size(), given.size());
  for (size_t i = 0; i < given.size(); ++i)
    require(nested.type(nested.args[i]) == given[i], "{}: argument {} of the {} is {}, got {}.", op.name, i, role,
            to_string(nested.type(nested.args[i])), to_string(given[i]));
}

}  // namespace braintrace

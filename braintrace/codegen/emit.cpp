// SPDX-License-Identifier: Apache-2.0
#include "braintrace/codegen/emit.h"

#include <fmt/format.h>

#include "braintrace/codegen/abi.h"
#include "braintrace/codegen/kernel.h"
#include "braintrace/codegen/lower.h"
#include "braintrace/codegen/plan.h"
#include "braintrace/codegen/preamble.h"

namespace braintrace::codegen {

namespace {

constexpr int64_t parallel_work =
    262144;  // some 100 µs: below, the hand-over to other threads costs more than it gives

constexpr Key<Array> value_key{"value"};

constexpr std::string_view head = R"c(#define _GNU_SOURCE
#include <math.h>
#include <stdint.h>
#include <string.h>
#ifdef __clang__
#define BT_INDEPENDENT _Pragma("clang loop vectorize(assume_safety)")
#else
#define BT_INDEPENDENT _Pragma("GCC ivdep")
#endif
)c";

std::string declaration(const Program& p, Var v, const Place& place) {
  const auto type = storage_type(p.type(v).dtype);
  switch (place.kind) {
    case Place::Kind::Input:
      return fmt::format("const {}* v{} = (const {}*)f->in[{}];\n", type, v, type, place.at);
    case Place::Kind::Constant:
      return fmt::format("const {}* v{} = (const {}*)f->host->constants[{}];\n", type, v, type, place.at);
    case Place::Kind::Result:
      return fmt::format("{}* v{} = ({}*)f->out[{}];\n", type, v, type, place.at);
    case Place::Kind::Arena:
      return fmt::format("{}* v{} = ({}*)(f->arena + {});\n", type, v, type, place.at);
    case Place::Kind::None:
      break;
  }
  throw InternalError(fmt::format("codegen: value {} has no place", v));
}

}  // namespace

int64_t Unit::constant(const Array& value) {
  constants_.push_back(value);
  return static_cast<int64_t>(constants_.size()) - 1;
}

int32_t Unit::host_call(const Program& p, const Eqn& e) {
  calls_.push_back({e, p.types_of(e.in), p.types_of(e.out)});
  return static_cast<int32_t>(calls_.size()) - 1;
}

Unit::Function Unit::function(const Program& p) {
  const Fused          f = fused(p);
  std::vector<Kernel>  kernels;
  std::vector<int64_t> scratch;
  for (const Stage& s : f.stages) {
    kernels.push_back(s.loop ? loop_kernel(p, s, f.memory) : rule_kernel({*this, p, p.eqns[s.eqns[0]], f.memory}));
    scratch.push_back(kernels.back().scratch);
  }
  std::vector<std::pair<Var, int64_t>> constants;
  for (const Eqn& e : p.eqns)
    if (e.op->name == "constant") constants.emplace_back(e.out[0], constant(e.attrs[value_key]));
  const Plan        plan = planned(p, f, scratch, constants);
  const std::string name = fmt::format("bt_f{}", functions_++);
  std::string       calls;
  for (size_t s = 0; s < f.stages.size(); ++s) {
    const Kernel&     k    = kernels[s];
    const std::string step = fmt::format("{}_{}", name, s);
    text_ += fmt::format("/*");
    for (int32_t i : f.stages[s].eqns) text_ += fmt::format(" {}", p.eqns[i].op->name);
    text_ += fmt::format(" */\nstatic int32_t {}(const bt_frame* f, int64_t begin, int64_t end) {{\n", step);
    for (const Vars* vars : {&f.stages[s].reads, &f.stages[s].writes})
      for (Var v : *vars) text_ += declaration(p, v, plan.places[v]);
    if (k.scratch) text_ += fmt::format("char* w = f->arena + {};\n", plan.scratch[s]);
    text_ += k.body + "return 0;\n}\n";
    if (k.count > 1 && k.work >= parallel_work)
      calls += fmt::format("if ((rc = f->host->parallel(f->host->self, {}, f, {}, {}))) return rc;\n", step, k.count,
                           std::max<int64_t>(1, k.count * (parallel_work / 2) / k.work));
    else
      calls += fmt::format("if ((rc = {}(f, 0, {}))) return rc;\n", step, k.count);
  }
  for (const auto& [from, to] : plan.copies) {
    calls += fmt::format("{{ {}memcpy(f->out[{}], v{}, {}); }}\n", declaration(p, from, plan.places[from]), to, from,
                         p.type(from).size() * static_cast<int64_t>(size_of(p.type(from).dtype)));
  }
  text_ +=
      fmt::format("static int32_t {}(const bt_frame* f) {{\nint32_t rc;\n(void)rc;\n{}return 0;\n}}\n", name, calls);
  Function out{name, plan.arena_bytes, {}};
  for (const InPlace& i : plan.in_place) out.in_place.emplace_back(i.result, i.arg);
  return out;
}

Emitted Unit::finish(std::vector<Entry> entries) && {
  Emitted out;
  out.source = fmt::format("/* emitted by braintrace, interface {} */\n", abi_version);
  out.source += head;
  out.source += abi_text;
  out.source += "\n";
  out.source += scalar_functions;
  if (uses_random_) out.source += random_functions;
  if (uses_matrix_) out.source += matrix_functions;
  out.source += text_;
  for (Entry& e : entries) {
    const std::string exported = e.name + "_entry";
    out.source += fmt::format("int32_t {}(const bt_frame* f) {{ return {}(f); }}\n", exported, e.name);
    e.name = exported;
  }
  out.entries   = std::move(entries);
  out.constants = std::move(constants_);
  out.calls     = std::move(calls_);
  return out;
}

Emitted emit(const std::vector<Program>& programs) {
  Unit               unit;
  std::vector<Entry> entries;
  for (const Program& p : programs) entries.push_back(unit.function(lowered(p)));
  return std::move(unit).finish(std::move(entries));
}

}  // namespace braintrace::codegen

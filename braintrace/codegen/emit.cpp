// SPDX-License-Identifier: Apache-2.0
#include "braintrace/codegen/emit.h"

#include <fmt/format.h>

#include "braintrace/codegen/abi.h"
#include "braintrace/codegen/dialect.h"
#include "braintrace/codegen/kernel.h"
#include "braintrace/codegen/lower.h"
#include "braintrace/codegen/plan.h"
#include "braintrace/codegen/preamble.h"

namespace braintrace::codegen {

namespace {

constexpr Key<Array> value_key{"value"};

std::string declaration(Dialect d, const Program& p, Var v, const Place& place) {
  const auto type = storage_type(p.type(v).dtype);
  switch (place.kind) {
    case Place::Kind::Input:
      return fmt::format("const {}* v{} = (const {}*)f->in[{}];\n", type, v, type, place.at);
    case Place::Kind::Constant:
      return fmt::format("const {}* v{} = (const {}*){};\n", type, v, type, constant_text(d, place.at));
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
  for (size_t i = 0; i < constants_.size(); ++i)
    if (constants_[i].type() == value.type() && identical(constants_[i], value)) return static_cast<int64_t>(i);
  constants_.push_back(value);
  return static_cast<int64_t>(constants_.size()) - 1;
}

int32_t Unit::host_call(const Program& p, const Eqn& e) {
  calls_.push_back({e, p.types_of(e.in), p.types_of(e.out)});
  return static_cast<int32_t>(calls_.size()) - 1;
}

Unit::Function Unit::function(const Program& p) {
  const Fused         f = fused(p);
  std::vector<Kernel> kernels;
  std::vector<Needs>  needs;
  for (const Stage& s : f.stages) {
    kernels.push_back(s.loop ? loop_kernel(p, s, f.memory) : rule_kernel({*this, p, p.eqns[s.eqns[0]], f.memory}));
    needs.push_back({kernels.back().scratch, kernels.back().in_place});
  }
  std::vector<std::pair<Var, int64_t>> constants;
  for (const Eqn& e : p.eqns)
    if (e.op->name == "constant") constants.emplace_back(e.out[0], constant(e.attrs[value_key]));
  const Plan        plan = planned(p, f, needs, constants, alignment_of(dialect_));
  const std::string name = fmt::format("bt_f{}", functions_++);
  std::string       calls;
  bool              may_stop = false;
  for (size_t s = 0; s < f.stages.size(); ++s) {
    const Kernel&     k    = kernels[s];
    const std::string step = fmt::format("{}_{}", name, s);
    text_ += fmt::format("/*");
    for (int32_t i : f.stages[s].eqns) text_ += fmt::format(" {}", p.eqns[i].op->name);
    // Stages use the same memory one after the other, while loops inside one are said to be independent: compilers that
    // see several stages at once have mixed them up.
    text_ += fmt::format(" */\nstatic {}int32_t {}(const bt_frame* f, int64_t begin, int64_t end) {{\n",
                         dialect_ == Dialect::Native ? "__attribute__((noinline)) " : "", step);
    for (const Vars* vars : {&f.stages[s].reads, &f.stages[s].writes})
      for (Var v : *vars) text_ += declaration(dialect_, p, v, plan.places[v]);
    if (dialect_ == Dialect::Portable) text_ += "(void)f;\n(void)begin;\n(void)end;\n";
    if (k.scratch) text_ += fmt::format("char* w = f->arena + {};\n", plan.scratch[s]);
    text_ += k.body + "return 0;\n}\n";
    may_stop = may_stop || k.body.find("return ") != k.body.npos;
    if (dialect_ == Dialect::Native && k.count > 1 && k.work >= shared_elements)
      calls += fmt::format("if ((rc = f->host->parallel(f->host->self, {}, f, {}, {}, {}, {}))) return rc;\n", step,
                           k.count, std::max<int64_t>(1, k.count * (shared_elements / 2) / k.work), k.first,
                           k.whole ? k.whole : k.count);
    else
      calls += fmt::format("if ((rc = {}(f, 0, {}))) return rc;\n", step, k.count);
  }
  for (const auto& [from, to] : plan.copies) {
    calls += fmt::format("{{ {}memcpy(f->out[{}], v{}, {}); }}\n", declaration(dialect_, p, from, plan.places[from]),
                         to, from, p.type(from).size() * static_cast<int64_t>(size_of(p.type(from).dtype)));
  }
  text_ += fmt::format("static int32_t {}(const bt_frame* f) {{\nint32_t rc;\n(void)rc;\n(void)f;\n{}return 0;\n}}\n",
                       name, calls);
  Function out{name, plan.arena_bytes, {}, may_stop};
  for (const InPlace& i : plan.in_place) out.in_place.emplace_back(i.result, i.arg);
  return out;
}

Emitted Unit::finish(std::vector<Entry> entries) && {
  Emitted    out;
  const bool native = dialect_ == Dialect::Native;
  if (native)
    out.source = fmt::format("/* emitted by braintrace, interface {} */\n", abi_version);
  else
    for (size_t at; (at = text_.find("BT_INDEPENDENT\n")) != text_.npos;) text_.erase(at, 15);
  out.source += head_of(dialect_);
  const std::string functions =
      needed_functions(random_functions, text_) + (native ? "" : needed_functions(portable_matrix_functions, text_));
  out.source += needed_functions(scalar_functions(), functions + text_) + functions;
  if (!native) {
    for (size_t i = 0; i < constants_.size(); ++i) out.source += array_text(fmt::format("bt_c{}", i), constants_[i]);
    text_ = indented(text_);
  }
  out.source += text_;
  for (Entry& e : entries) {
    if (!native) break;  // the file that surrounds the text calls them
    const std::string exported = e.name + "_entry";
    out.source += fmt::format("int32_t {}(const bt_frame* f) {{ return {}(f); }}\n", exported, e.name);
    e.name = exported;
  }
  out.entries   = std::move(entries);
  out.constants = std::move(constants_);
  out.calls     = std::move(calls_);
  out.products  = std::move(products_);
  return out;
}

Emitted emit(const std::vector<Program>& programs, Dialect dialect) {
  Unit               unit(dialect);
  std::vector<Entry> entries;
  for (const Program& p : programs) entries.push_back(unit.function(lowered(p)));
  return std::move(unit).finish(std::move(entries));
}

}  // namespace braintrace::codegen

// SPDX-License-Identifier: Apache-2.0
#include "braintrace/codegen/emit.h"

#include <map>

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

// A pointer to the value: its type, and where it points.
StageText::Pointer pointer_to(Dialect d, const Program& p, Var v, const Place& place) {
  const auto type = storage_type(p.type(v).dtype);
  switch (place.kind) {
    case Place::Kind::Input:
      return {v, fmt::format("const {}*", type), fmt::format("f->in[{}]", place.at)};
    case Place::Kind::Constant:
      return {v, fmt::format("const {}*", type), constant_text(d, place.at)};
    case Place::Kind::Result:
      return {v, fmt::format("{}*", type), fmt::format("f->out[{}]", place.at)};
    case Place::Kind::Arena:
      return {v, fmt::format("{}*", type), fmt::format("(f->arena + {})", place.at)};
    case Place::Kind::None:
      break;
  }
  throw InternalError(fmt::format("codegen: value {} has no place", v));
}
std::string declaration(const StageText::Pointer& p) {
  return fmt::format("{0} v{1} = ({0}){2};\n", p.type, p.v, p.value);
}

// The stage as a function of its pointers, under names that equal stages give them: what follows the frame.
std::string with_parameters(const StageText& s, const std::string& unused) {
  std::map<std::string, std::string, std::less<>> names;
  std::string                                     out = ", char* w";
  for (const StageText::Pointer& p : s.pointers) {
    const std::string name = fmt::format("v{}", names.size());
    names.emplace(fmt::format("v{}", p.v), name);
    out += fmt::format(", {} {}", p.type, name);
  }
  out += ") {\n" + unused;
  for (size_t i = 0, end = 0; i < s.body.size(); i = end) {
    while (end < s.body.size() && is_word(s.body[end])) ++end;
    const auto name = names.find(std::string_view(s.body).substr(i, end - i));
    out += name == names.end() ? s.body.substr(i, end - i) : name->second;
    while (end < s.body.size() && !is_word(s.body[end])) out += s.body[end++];
  }
  return out;
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
    const Kernel& k = kernels[s];
    StageText     text;
    const auto    step = text.name = fmt::format("{}_{}", name, s);
    for (int32_t i : f.stages[s].eqns) text.ops += fmt::format(" {}", p.eqns[i].op->name);
    for (const Vars* vars : {&f.stages[s].reads, &f.stages[s].writes})
      for (Var v : *vars) text.pointers.push_back(pointer_to(dialect_, p, v, plan.places[v]));
    if (k.scratch) text.scratch = fmt::format("f->arena + {}", plan.scratch[s]);
    text.body = k.body + "return 0;\n}\n";
    parts_.push_back(std::move(text));
    may_stop = may_stop || k.body.find("return ") != k.body.npos;
    if (dialect_ == Dialect::Native && k.count > 1 && k.work >= shared_elements)
      calls += fmt::format("if ((rc = f->host->parallel(f->host->self, {}, f, {}, {}, {}, {}))) return rc;\n", step,
                           k.count, std::max<int64_t>(1, k.count * (shared_elements / 2) / k.work), k.first,
                           k.whole ? k.whole : k.count);
    else
      calls += fmt::format("if ((rc = {}(f, 0, {}))) return rc;\n", step, k.count);
  }
  for (const auto& [from, to] : plan.copies) {
    calls += fmt::format("{{ {}memcpy(f->out[{}], v{}, {}); }}\n",
                         declaration(pointer_to(dialect_, p, from, plan.places[from])), to, from,
                         p.type(from).size() * static_cast<int64_t>(size_of(p.type(from).dtype)));
  }
  StageText all;
  all.body = fmt::format("static int32_t {}(const bt_frame* f) {{\nint32_t rc;\n(void)rc;\n(void)f;\n{}return 0;\n}}\n",
                         name, calls);
  parts_.push_back(std::move(all));
  Function out{name, plan.arena_bytes, {}, may_stop};
  for (const InPlace& i : plan.in_place) out.in_place.emplace_back(i.result, i.arg);
  return out;
}

// Stages that differ only in what they read and write share one function: it is compiled once.
std::string Unit::text() const {
  const bool                                         native = dialect_ == Dialect::Native;
  const std::string                                  unused = native ? "" : "(void)f;\n(void)begin;\n(void)end;\n";
  std::map<std::string, std::pair<int, std::string>> shared;  // by function: how many stages, its name
  std::vector<std::string>                           functions;
  for (const StageText& s : parts_) {
    functions.push_back(s.name.empty() ? "" : with_parameters(s, unused + (native ? "" : "(void)w;\n")));
    if (!s.name.empty()) ++shared[functions.back()].first;
  }
  // Stages use the same memory one after the other, while loops inside one are said to be independent: compilers that
  // see several stages at once have mixed them up.
  const std::string head  = native ? "static __attribute__((noinline)) int32_t" : "static int32_t";
  const std::string frame = "(const bt_frame* f, int64_t begin, int64_t end";
  std::string       out;
  int               number = 0;
  for (size_t i = 0; i < parts_.size(); ++i) {
    const StageText& s = parts_[i];
    if (s.name.empty()) {
      out += s.body;
      continue;
    }
    auto& [count, name] = shared[functions[i]];
    if (count == 1 || name.empty()) out += fmt::format("/*{} */\n", s.ops);
    if (count == 1) {
      out += fmt::format("{} {}{}) {{\n", head, s.name, frame);
      for (const StageText::Pointer& p : s.pointers) out += declaration(p);
      out += unused + (s.scratch.empty() ? "" : fmt::format("char* w = {};\n", s.scratch)) + s.body;
      continue;
    }
    if (name.empty()) {
      name = fmt::format("bt_shared{}", number++);
      out += fmt::format("{} {}{}{}", head, name, frame, functions[i]);
    }
    out += fmt::format("static int32_t {}{}) {{\nreturn {}(f, begin, end, {}", s.name, frame, name,
                       s.scratch.empty() ? "0" : s.scratch);
    for (const StageText::Pointer& p : s.pointers) out += fmt::format(", ({}){}", p.type, p.value);
    out += ");\n}\n";
  }
  return out;
}

Emitted Unit::finish(std::vector<Entry> entries) && {
  Emitted     out;
  const bool  native = dialect_ == Dialect::Native;
  std::string source = text();
  if (native)
    out.source = fmt::format("/* emitted by braintrace, interface {} */\n", abi_version);
  else
    for (size_t at; (at = source.find("BT_INDEPENDENT\n")) != source.npos;) source.erase(at, 15);
  out.source += head_of(dialect_);
  const std::string functions =
      needed_functions(random_functions, source) + (native ? "" : needed_functions(portable_matrix_functions, source));
  out.source += needed_functions(scalar_functions(), functions + source) + functions;
  if (!native) {
    for (size_t i = 0; i < constants_.size(); ++i) out.source += array_text(fmt::format("bt_c{}", i), constants_[i]);
    source = indented(source);
  }
  out.source += source;
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

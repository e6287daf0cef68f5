// SPDX-License-Identifier: Apache-2.0
// model.h and model.c.
#include <algorithm>
#include <cstring>

#include <fmt/format.h>

#include "braintrace/base/ascii.h"
#include "braintrace/base/version.h"
#include "braintrace/codegen/c/c_text.h"
#include "braintrace/export/program.h"
#include "braintrace/export/quoted.h"

namespace braintrace::exporting {

namespace {

using codegen::storage_type;

int64_t rounded_up(int64_t n, int64_t to) { return (n + to - 1) / to * to; }

std::string upper(std::string s) {
  for (char& c : s) c = to_upper(c);
  return s;
}

bool is_uniform(const Array& a) {
  const size_t n    = size_of(a.dtype());
  const auto*  data = static_cast<const char*>(static_cast<const void*>(a.raw()));
  for (int64_t i = 1; i < a.size(); ++i)
    if (std::memcmp(data, data + static_cast<size_t>(i) * n, n) != 0) return false;
  return true;
}

// Constant arrays of the file; equal ones are written once.
class Tables {
 public:
  std::string name_of(const Array& value, const std::string& wanted) {
    for (const auto& [name, known] : tables_)
      if (known.type() == value.type() && identical(known, value)) return name;
    tables_.emplace_back(wanted, value);
    text += codegen::array_text(wanted, value);
    bytes += value.type().bytes();
    return wanted;
  }
  std::string text;
  int64_t     bytes = 0;

 private:
  std::vector<std::pair<std::string, Array>> tables_;
};

std::string prototype(const LearningProgram& p, const Function& f, const std::string& name) {
  const bool learns = f.traced.num_args == 2;
  return fmt::format("int {0}_{1}({0}_model* m, const {2}* x, {3}{4}* y{5})", name, f.name, storage_type(p.x.dtype),
                     learns ? fmt::format("const {}* target, ", storage_type(p.target.dtype)) : "",
                     storage_type(p.y.dtype),
                     learns ? fmt::format(", {}* loss", storage_type(f.traced.result_types()[1].dtype)) : "");
}

// The struct's size as C compilers lay it out.
ExportSizes sizes_of(const LearningProgram& p, int64_t arena) {
  ExportSizes s;
  s.arena    = arena;
  int64_t at = 0;
  for (const Slot& slot : p.slots) {
    if (!slot.is_written) continue;
    s.states += slot.initial.type().bytes();
    at = rounded_up(at, static_cast<int64_t>(size_of(slot.initial.dtype()))) + slot.initial.type().bytes();
  }
  s.ram = rounded_up(at, 8) + arena;
  return s;
}

// Sets a state to its initial value.
std::string assigned(const Slot& s, Tables& tables) {
  const Array& a = s.initial;
  if (!is_uniform(a))
    return fmt::format("memcpy(m->{0}, {1}, sizeof m->{0});\n", s.name, tables.name_of(a, "initial_" + s.name));
  return fmt::format("for (int32_t i = 0; i < {}; ++i) m->{}[i] = {};\n", a.size(), s.name, codegen::initializer(a, 0));
}

struct Body {
  std::string text;
  int64_t     arena;  // bytes it needs
};

// A call of the emitted function: states are overwritten where the program allows it, otherwise by a copy at the end.
Body body(const LearningProgram& p, const Function& f, const std::string& name, const codegen::Function& e,
          Tables& tables) {
  std::string in, out, copies;
  const auto  add = [](std::string& list, const std::string& x) { list += (list.empty() ? "" : ", ") + x; };
  for (const Array& c : f.constants) add(in, tables.name_of(c, fmt::format("{}_constant{}", f.name, tables.bytes)));
  for (size_t a = 0; a < f.traced.num_args; ++a) add(in, a == 0 ? "x" : "target");
  for (size_t slot : f.reads)
    add(in, p.slots[slot].is_written ? "m->" + p.slots[slot].name
                                     : tables.name_of(p.slots[slot].initial, "fixed_" + p.slots[slot].name));
  for (size_t r = 0; r < f.traced.num_results; ++r) add(out, r == 0 ? "y" : "loss");
  int64_t arena = rounded_up(e.arena_bytes, 8);
  for (size_t w = 0; w < f.writes.size(); ++w) {
    const Slot& s        = p.slots[f.writes[w]];
    const auto  read     = std::find(f.reads.begin(), f.reads.end(), f.writes[w]);
    const auto  argument = f.traced.num_args + static_cast<size_t>(read - f.reads.begin());
    if (read == f.reads.end() || e.may_share(f.traced.num_results + w, argument)) {
      add(out, "m->" + s.name);
      continue;
    }
    add(out, fmt::format("m->arena.bytes + {}", arena));
    copies += fmt::format("memcpy(m->{0}, m->arena.bytes + {1}, sizeof m->{0});\n", s.name, arena);
    arena += rounded_up(s.initial.type().bytes(), 8);
  }
  return {fmt::format("const void* in[] = {{{}}};\nvoid* out[] = {{{}}};\nbt_frame f;\nint status;\n"
                      "f.arena = m->arena.bytes;\nf.in = in;\nf.out = out;\n"
                      "status = (int){}(&f);\nif (status) return status;\n{}return 0;\n",
                      in, out, name, copies),
          arena};
}

std::string header(const LearningProgram& p, const ExportOptions& o, const ExportSizes& sizes) {
  const std::string name = identifier(o.name), NAME = upper(name);
  std::string       states, functions;
  for (const Slot& s : p.slots)
    if (s.is_written)
      states += fmt::format("  {} {}[{}]; /* {} : {} */\n", storage_type(s.initial.dtype()), s.name, s.initial.size(),
                            c_comment(s.path), to_string(s.initial.type()));
  for (const Function* f : p.functions()) functions += fmt::format("/* {} */\n{};\n", f->doc, prototype(p, *f, name));
  return fmt::format(R"c(/* Written by braintrace {version}. The network '{title}', learning by {rule} with {optimizer}
   (learning rate {lr}) on {loss}. C99; needs memcpy and math.h. No heap, no threads, no global state. */
#ifndef {NAME}_MODEL_H
#define {NAME}_MODEL_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {{
#endif

#define {NAME}_INPUT_SIZE {x}
#define {NAME}_OUTPUT_SIZE {y}
#define {NAME}_TARGET_SIZE {target}
#define {NAME}_STATE_BYTES {state_bytes}
#define {NAME}_ARENA_BYTES {arena}

/* Everything that changes. Keep one per network, in static memory or wherever it fits; copies of it are snapshots. */
typedef struct {name}_model {{
{states}  union {{
    double align;
    char bytes[{NAME}_ARENA_BYTES];
  }} arena; /* nothing in it is needed between calls */
}} {name}_model;

/* Weights and states as they were exported. Call it first. */
void {name}_init({name}_model* m);
/* Before a new sequence: states and traces start again, weights stay. */
void {name}_reset({name}_model* m);

/* x : {xt}, y : {yt}, target : {tt}; row by row. Memory of x, target, y and loss must not overlap.
   0, or 1 when an index in x or target is outside its range: the model is then half way, call {name}_reset. */
{functions}
#ifdef __cplusplus
}}
#endif

#endif
)c",
                     fmt::arg("version", version), fmt::arg("title", c_comment(o.name)), fmt::arg("rule", o.rule),
                     fmt::arg("optimizer", o.optimizer), fmt::arg("lr", o.lr), fmt::arg("loss", o.loss),
                     fmt::arg("NAME", NAME), fmt::arg("name", name), fmt::arg("x", p.x.size()),
                     fmt::arg("y", p.y.size()), fmt::arg("target", p.target.size()),
                     fmt::arg("state_bytes", sizes.states), fmt::arg("arena", sizes.arena), fmt::arg("states", states),
                     fmt::arg("functions", functions), fmt::arg("xt", to_string(p.x)), fmt::arg("yt", to_string(p.y)),
                     fmt::arg("tt", to_string(p.target)));
}

}  // namespace

ModelText model_text(const LearningProgram& p, const ExportOptions& o) {
  std::vector<Program> programs;
  for (const Function* f : p.functions()) programs.push_back(f->traced.program);
  codegen::Emitted e;
  try {
    e = codegen::emit(programs, codegen::Dialect::Portable);
  } catch (const UserError& error) {
    fail("export: {}", error.what());
  }
  const std::string name = identifier(o.name);
  Tables            tables;
  std::string       init, reset, functions;
  for (const Slot& s : p.slots) {
    if (!s.is_written) continue;
    const std::string first = assigned(s, tables);
    (s.is_reset ? reset : init) += first;
  }
  int64_t arena = 8;
  for (size_t k = 0; k < programs.size(); ++k) {
    const Function& f = *p.functions()[k];
    const Body      b = body(p, f, e.names[k], *e.schedule.entries[k], tables);
    arena             = std::max(arena, b.arena);
    functions += fmt::format("\n{} {{\n{}}}\n", prototype(p, f, name), b.text);
  }
  ModelText out;
  out.sizes           = sizes_of(p, arena);
  out.sizes.constants = tables.bytes;
  for (const Array& c : e.schedule.constants) out.sizes.constants += c.type().bytes();
  out.header = header(p, o, out.sizes);
  out.source = fmt::format("/* See model.h. */\n#include \"model.h\"\n\n{}\n{}\n", e.source, tables.text);
  out.source += codegen::indented(fmt::format(
      "typedef char {0}_size_is_as_stated[sizeof({0}_model) <= {1} ? 1 : -1];\n\n"
      "void {0}_reset({0}_model* m) {{\n(void)m;\n{2}}}\n\nvoid {0}_init({0}_model* m) {{\n{3}{0}_reset(m);\n}}\n{4}",
      name, out.sizes.ram, reset, init, functions));
  return out;
}

}  // namespace braintrace::exporting

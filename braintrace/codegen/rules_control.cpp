// SPDX-License-Identifier: Apache-2.0
// scan, cond, while and remat: nested programs are functions of their own; what they carry is handed on by
// pointer.
#include <utility>

#include <fmt/format.h>

#include "braintrace/codegen/kernel.h"
#include "braintrace/codegen/plan.h"
#include "braintrace/codegen/rows.h"
#include "braintrace/codegen/view.h"
#include "braintrace/control/scan_parts.h"

namespace braintrace::codegen {

namespace {

constexpr Key<ProgramPtrs> branches_key{"branches"};
constexpr Key<ProgramPtr>  body_key{"body"}, cond_key{"cond"};
constexpr Key<int64_t>     consts_key{"consts"}, max_steps_key{"max_steps"};

int64_t padded(const Site& s, int64_t bytes) {
  const int64_t alignment = alignment_of(s.unit.dialect());
  return (bytes + alignment - 1) / alignment * alignment;
}

std::string pointers(const char* name, bool constant, size_t n) {
  return fmt::format("{}void* {}[{}];\n", constant ? "const " : "", name, std::max<size_t>(n, 1));
}
std::string call(const Site& s, const Unit::Function& g) {
  const auto frame = frame_text(s.unit.dialect(), "w");
  if (!g.may_stop) return fmt::format("{{\nconst bt_frame g = {};\n(void){}(&g);\n}}\n", frame, g.name);
  return fmt::format("{{\nconst bt_frame g = {};\nconst int32_t rc = {}(&g);\nif (rc) return rc;\n}}\n", frame, g.name);
}

// Where the row of step t lies; what was put together for the loop alone lies in pieces.
std::string row_of_step(const Site& s, size_t operand, const Type& row) {
  if (s.memory[s.e.in[operand]] >= 0) return fmt::format("(const char*){} + t * {}", s.in(operand), row.bytes());
  std::string   text;
  int64_t       first  = 0;  // step of the piece
  const auto    pieces = dense_pieces(s.p, producers(s.p), s.e.in[operand]);
  const int64_t bytes  = static_cast<int64_t>(size_of(row.dtype));
  for (const Piece& piece : pieces) {
    const int64_t next = first + piece.size / row.size();
    const auto    here = fmt::format("(const char*){} + {} + (t - {}) * {}", s.pointer(piece.base), piece.at * bytes,
                                     first, row.bytes());
    text += &piece == &pieces.back() ? here : fmt::format("t < {} ? {} : ", next, here);
    first = next;
  }
  return fmt::format("({})", text);
}

// Values of the operand's memory, each as often as it is read.
Vars memory_read(const Site& s) {
  Vars out;
  for (Var v : s.e.in)
    if (s.memory[v] >= 0)
      out.push_back(s.memory[v]);
    else
      for (const Piece& piece : dense_pieces(s.p, producers(s.p), v)) out.push_back(piece.base);
  return out;
}

// Carries alternate between the result and working memory, so that the last step writes the result; one that is stacked
// as well is read from the stack. Rows that never meet are parted: each part has working memory of its own, and what is
// the same in all parts is written by the first.
Kernel scan_rule(Site& s) {
  const ScanParts scan(s.e.attrs);
  const auto      rows       = s.unit.dialect() == Dialect::Native ? in_rows(scan) : std::nullopt;
  const Program&  body       = rows ? rows->body : scan.body;
  const int64_t   T          = scan.length;
  auto            has_rows   = [&](size_t arg) { return rows && rows->args[arg]; };
  auto            makes_rows = [&](size_t result) { return rows && rows->results[result]; };
  auto            of_part = [&](bool has, const Type& t) { return has ? fmt::format(" + part * {}", t.bytes()) : ""; };
  std::string     b       = pointers("in", true, s.e.in.size()) + pointers("out", false, s.e.out.size());
  for (size_t i = 0; i < scan.consts; ++i)
    b += fmt::format("in[{}] = (const char*){}{};\n", i, s.in(i), of_part(has_rows(i), body.type(body.args[i])));
  Program             step = body;
  std::vector<size_t> slot(body.results.size());                 // by result of the body: its number in the step
  std::vector<size_t> stacked(scan.carry, body.results.size());  // by carry: the stacked result that it is
  step.results.clear();
  for (size_t r = 0; r < body.results.size(); ++r) {
    for (size_t y = scan.carry; r < scan.carry && y < body.results.size(); ++y)
      if (body.results[y] == body.results[r] && (!rows || makes_rows(y))) stacked[r] = y;
    slot[r] = step.results.size();
    if (r >= scan.carry || stacked[r] == body.results.size()) step.results.push_back(body.results[r]);
  }
  const auto  g = s.unit.function(step);
  std::string carry, after, last;
  int64_t     at      = padded(s, g.arena_bytes);
  auto        reserve = [&](int64_t bytes) { return std::exchange(at, at + padded(s, bytes)); };
  for (size_t c = 0; c < scan.carry; ++c) {
    const size_t      i     = scan.consts + c;
    const Type&       type  = body.type(body.args[i]);
    const int64_t     bytes = type.bytes();
    const std::string part  = of_part(has_rows(i), type);
    const bool        own   = rows && !has_rows(i);  // every part carries it for itself
    b += fmt::format("in[{}] = (const char*){}{};\n", i, s.in(i), part);
    if (T == 0) b += fmt::format("memcpy({}, {}, {});\n", s.out(c), s.in(i), bytes);
    if (stacked[c] < body.results.size()) {
      after += fmt::format("in[{}] = out[{}];\n", i, slot[stacked[c]]);
      if (T > 0) last += fmt::format("memcpy((char*){}{}, in[{}], {});\n", s.out(c), part, i, bytes);
      continue;
    }
    const int64_t     other = reserve(bytes);
    const std::string home  = own ? fmt::format("w + {}", reserve(bytes)) : fmt::format("(char*){}{}", s.out(c), part);
    carry += fmt::format("out[{0}] = ({1} - 1 - step) & 1 ? w + {2} : {3};\n", slot[c], T, other, home);
    if (own) last += fmt::format("if (part == 0) memcpy({}, {}, {});\n", s.out(c), home, bytes);
    after += fmt::format("in[{}] = out[{}];\n", i, slot[c]);
  }
  std::string steps;
  for (size_t i = scan.consts + scan.carry; i < s.e.in.size(); ++i)
    steps += fmt::format("in[{}] = {}{};\n", i, row_of_step(s, i, scan.body.type(scan.body.args[i])),
                         of_part(has_rows(i), body.type(body.args[i])));
  for (size_t y = scan.carry; y < s.e.out.size(); ++y) {
    const Type&       type = body.type(body.results[y]);
    const std::string row  = fmt::format("(char*){} + t * {}{}", s.out(y), scan.body.type(scan.body.results[y]).bytes(),
                                         of_part(makes_rows(y), type));
    steps += rows && !makes_rows(y)
                 ? fmt::format("out[{}] = part == 0 ? {} : w + {};\n", slot[y], row, reserve(type.bytes()))
                 : fmt::format("out[{}] = {};\n", slot[y], row);
  }
  b += fmt::format(
      "for (int64_t step = 0; step < {0}; ++step) {{\nconst int64_t t = {1};\n(void)t;\n{2}{3}{4}{5}}}\n{6}", T,
      scan.reverse ? fmt::format("{} - 1 - step", T) : "step", carry, steps, call(s, g), after, last);
  Kernel k;
  k.body    = std::move(b);
  k.scratch = std::max<int64_t>(at, 1);
  // A stacked result may lie where an input does whose rows the step reads at the same positions and nobody else does.
  const Vars read = memory_read(s);
  for (const auto& [result, arg] : g.in_place)
    for (size_t y = scan.carry; y < s.e.out.size() && arg >= scan.consts + scan.carry; ++y) {
      const Var  x    = s.memory[s.e.in[arg]];
      const bool rest = has_rows(arg) == makes_rows(y) && has_rows(arg) == rows.has_value();
      if (slot[y] == result && rest && std::count(read.begin(), read.end(), x) == 1)
        k.in_place.emplace_back(s.e.out[y], x);
    }
  if (rows) {
    k.count = rows->parts;
    k.work  = rows->work * T;
    k.body  = fmt::format(
         "char* const all = w;\nfor (int64_t part = begin; part < end; ++part) {{\nchar* w = all + part * {};\n{}}}\n",
         at, k.body);
    k.scratch = at * rows->parts;
  }
  return k;
}

Kernel cond_rule(Site& s) {
  const ProgramPtrs& branches = s.e.attrs[branches_key];
  Kernel             k;
  k.body = pointers("in", true, s.e.in.size()) + pointers("out", false, s.e.out.size());
  for (size_t i = 1; i < s.e.in.size(); ++i) k.body += fmt::format("in[{}] = {};\n", i - 1, s.in(i));
  for (size_t i = 0; i < s.e.out.size(); ++i) k.body += fmt::format("out[{}] = {};\n", i, s.out(i));
  k.body += fmt::format("switch (bt_clamp_i({}[0], 0, {})) {{\n", s.in(0), branches.size() - 1);
  k.scratch = 1;
  for (size_t b = 0; b < branches.size(); ++b) {
    const auto g = s.unit.function(*branches[b]);
    k.scratch    = std::max(k.scratch, g.arena_bytes);
    k.body += fmt::format("case {}: {}break;\n", b, call(s, g));
  }
  k.body += "}\n";
  return k;
}

// Carries alternate between the result and working memory; what ends in working memory is copied.
Kernel while_rule(Site& s) {
  const Attrs& a      = s.e.attrs;
  const auto   consts = static_cast<size_t>(a[consts_key]);
  const auto   cond = s.unit.function(*a[cond_key]), body = s.unit.function(*a[body_key]);
  Kernel       k;
  int64_t      at = padded(s, std::max(cond.arena_bytes, body.arena_bytes));
  std::string  write, after, last;
  k.body = pointers("in", true, s.e.in.size()) + pointers("out", false, std::max<size_t>(s.e.out.size(), 1));
  for (size_t i = 0; i < s.e.in.size(); ++i) k.body += fmt::format("in[{}] = {};\n", i, s.in(i));
  for (size_t c = 0; c < s.e.out.size(); ++c) {
    write += fmt::format("out[{0}] = step & 1 ? (void*)(w + {1}) : (void*){2};\n", c, at, s.out(c));
    after += fmt::format("in[{}] = out[{}];\n", consts + c, c);
    last += fmt::format("if (in[{0}] != (const void*){1}) memcpy({1}, in[{0}], {2});\n", consts + c, s.out(c),
                        s.out_type(c).bytes());
    at += padded(s, s.out_type(c).bytes());
  }
  k.body += fmt::format(
      "uint8_t go = 0;\nfor (int64_t step = 0; {0}; ++step) {{\nout[0] = &go;\n{1}if (!go) break;\n{2}{3}{4}}}\n{5}",
      a[max_steps_key] ? fmt::format("step < {}", a[max_steps_key]) : "1", call(s, cond), write, call(s, body), after,
      last);
  k.scratch = std::max<int64_t>(at, 1);
  return k;
}

Kernel remat_rule(Site& s) {
  const auto g = s.unit.function(*s.e.attrs[body_key]);
  Kernel     k;
  k.body = pointers("in", true, s.e.in.size()) + pointers("out", false, s.e.out.size());
  for (size_t i = 0; i < s.e.in.size(); ++i) k.body += fmt::format("in[{}] = {};\n", i, s.in(i));
  for (size_t i = 0; i < s.e.out.size(); ++i) k.body += fmt::format("out[{}] = {};\n", i, s.out(i));
  k.body += call(s, g);
  k.scratch = std::max<int64_t>(g.arena_bytes, 1);
  return k;
}

}  // namespace

const Rules& control_rules() {
  static const Rules rules = {{"cond", cond_rule}, {"remat", remat_rule}, {"scan", scan_rule}, {"while", while_rule}};
  return rules;
}

}  // namespace braintrace::codegen

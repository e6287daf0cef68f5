// SPDX-License-Identifier: Apache-2.0
// Text form of programs.
//
//   program(%0: f32[3]; %1: f32[2]) {          constants ; arguments
//     %2: f32[2] = tanh %1                     # note
//     %3: f32[] = reduce_sum[axes=[0]] %2
//     return %3
//   }
#include <cmath>

#include <fmt/format.h>

#include "braintrace/ir/op.h"
#include "braintrace/ir/program.h"

namespace braintrace {

namespace {

std::string number(double v) {
  if (v != v) return std::signbit(v) ? "-nan" : "nan";
  std::string s = fmt::format("{}", v);
  return s.find_first_of(".einf") == std::string::npos ? s + ".0" : s;
}

// Line ends and the characters of `special` with a backslash.
std::string escape(const std::string& s, std::string_view special) {
  std::string out;
  for (char c : s) {
    if (special.find(c) != special.npos) out += '\\';
    if (c == '\n')
      out += "\\n";
    else
      out += c;
  }
  return out;
}

std::string program_text(const Program& p, const std::string& indent);

std::string element(const Array& a, int64_t i) {
  if (is_float(a.dtype())) return number(at(a, i));
  return fmt::format("{}", a.dtype() == DType::I64 ? a.data<int64_t>()[i] : static_cast<int64_t>(at(a, i)));
}

std::string value_text(const AttrValue& value, const std::string& indent) {
  return std::visit(
      [&]<class T>(const T& x) -> std::string {
        if constexpr (std::is_same_v<T, bool>)
          return x ? "true" : "false";
        else if constexpr (std::is_same_v<T, int64_t>)
          return fmt::format("{}", x);
        else if constexpr (std::is_same_v<T, double>)
          return number(x);
        else if constexpr (std::is_same_v<T, std::string>)
          return '"' + escape(x, "\"\\") + '"';
        else if constexpr (std::is_same_v<T, DType>)
          return std::string(name_of(x));
        else if constexpr (std::is_same_v<T, Ints>)
          return to_string(x);
        else if constexpr (std::is_same_v<T, std::vector<double>>) {
          std::string out = "(";
          for (double v : x) out += number(v) + ",";
          return out + ")";
        } else if constexpr (std::is_same_v<T, Array>) {
          std::string out = "array " + to_string(x.type()) + " {";
          for (int64_t i = 0; i < x.size(); ++i) out += (i ? "," : "") + element(x, i);
          return out + "}";
        } else if constexpr (std::is_same_v<T, ProgramPtr>) {
          return x ? program_text(*x, indent + "  ") : "?";
        } else {
          std::string out = "<";
          for (const ProgramPtr& p : x) out += (p ? program_text(*p, indent + "  ") : "?") + ",";
          return out + ">";
        }
      },
      value);
}

std::string declare(const Program& p, const Vars& vars) {
  std::string out;
  for (Var v : vars) {
    const bool known = v >= 0 && static_cast<size_t>(v) < p.types.size();  // the verifier shows wrong equations too
    out += fmt::format("{}%{}: {}", out.empty() ? "" : ", ", v, known ? to_string(p.type(v)) : "?");
  }
  return out;
}

std::string uses(const Vars& vars, const char* separator) {
  std::string out;
  for (Var v : vars) out += fmt::format("{}%{}", out.empty() ? "" : separator, v);
  return out;
}

std::string eqn_text(const Program& p, const Eqn& e, const std::string& indent) {
  std::string out = declare(p, e.out) + " = " + std::string(e.op ? e.op->name : "?");
  if (!e.attrs.empty()) {
    const char* separator = "[";
    for (const Attr& a : e.attrs) {
      out += separator + a.name + "=" + value_text(a.value, indent);
      separator = ", ";
    }
    out += "]";
  }
  for (Var v : e.in) out += fmt::format(" %{}", v);
  if (e.note > 0 && static_cast<size_t>(e.note) < p.notes.size()) out += "  # " + escape(p.notes[e.note], "\\");
  return out;
}

std::string program_text(const Program& p, const std::string& indent) {
  std::string out = "program(" + declare(p, p.constants) + "; " + declare(p, p.args) + ") {\n";
  for (const Eqn& e : p.eqns) out += indent + "  " + eqn_text(p, e, indent + "  ") + "\n";
  return out + indent + "  return " + uses(p.results, ", ") + "\n" + indent + "}";
}

}  // namespace

std::string print(const Program& program) { return program_text(program, "") + "\n"; }
std::string describe(const Program& program, size_t i) { return eqn_text(program, program.eqns[i], ""); }

}  // namespace braintrace

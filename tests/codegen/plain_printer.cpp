// SPDX-License-Identifier: Apache-2.0
#include "tests/codegen/plain_printer.h"

#include <map>

#include "braintrace/codegen/c/context.h"
#include "braintrace/codegen/c/expression.h"
#include "braintrace/codegen/c/library.h"

namespace braintrace::testing_support {

namespace {

using namespace codegen;

std::string position(const Affine& x) {
  std::string out = str(x.k);
  for (size_t a = 0; a < x.c.size(); ++a)
    if (x.c[a]) out += fmt::format(" + i{} * {}", a, x.c[a]);
  return out;
}
std::string loop(const std::string& name, int64_t n, const std::string& body) {
  return fmt::format("for (int64_t {0} = 0; {0} < {1}; ++{0}) {{\n{2}}}\n", name, n, body);
}
std::string offset(const std::string& name, const Ints& strides) {
  std::string out = "0";
  for (size_t i = 0; i < strides.size(); ++i) out += fmt::format(" + {}{} * {}", name, i, strides[i]);
  return out;
}
std::string v(Var b) { return "v" + str(b); }

class Plain {
 public:
  std::string text;

  // The name of the function.
  std::string add(const codegen::Function& f) {
    for (const Kernel& k : f.kernels)
      for (const auto& [role, g] : contained(k)) names_[g.get()] = add(*g);
    std::string body;
    for (const Kernel& k : f.kernels) {
      body += "{\n";
      for (const Vars* vars : {&k.reads, &k.writes})
        for (Var b : *vars) body += pointer(f, b);
      body += fmt::format("char* w = arena + {};\n(void)w;\n", k.place);
      body += std::visit([&](const auto& what) { return of(what, k); }, k.what) + "}\n";
    }
    for (const auto& [from, to] : f.copies)
      body += fmt::format("{{\n{}memcpy(out[{}], {}, {});\n}}\n", pointer(f, from), to, v(from),
                          buffer(f, from).type.bytes());
    const std::string name = fmt::format("plain_{}", count_++);
    text += fmt::format("static int {}(char* arena, const void* const* in, void* const* out) {{\n{}return 0;\n}}\n",
                        name, body);
    return name;
  }

 private:
  static const Buffer& buffer(const codegen::Function& f, Var b) { return f.buffers[static_cast<size_t>(b)]; }
  static std::string   pointer(const codegen::Function& f, Var b) {
      const Place place = buffer(f, b).place;
      const auto  type  = storage_type(buffer(f, b).type.dtype);
      const auto  where = place.kind == Place::Kind::Input      ? fmt::format("in[{}]", place.at)
                          : place.kind == Place::Kind::Constant ? fmt::format("plain_constants[{}]", place.at)
                          : place.kind == Place::Kind::Result   ? fmt::format("out[{}]", place.at)
                                                                : fmt::format("(arena + {})", place.at);
      return fmt::format("{0}* {1} = ({0}*){2};\n", type, v(b), where);
  }

  // Kept loops outside, reduced ones inside; everything is computed in the innermost.
  static std::string of(const LoopNest& n, const Kernel&) {
    std::string inner;
    const auto  value = [&](int32_t i) {
      const Element& e = n.elements[static_cast<size_t>(i)];
      return e.kind == Element::Kind::Literal ? literal(e.dtype, e.literal) : fmt::format("t{}", i);
    };
    for (size_t i = 0; i < n.elements.size(); ++i) {
      const Element& e = n.elements[i];
      std::string    made;
      if (e.kind == Element::Kind::Literal) continue;
      if (e.kind == Element::Kind::Counter)
        made = converted(DType::I64, e.dtype, fmt::format("((int64_t)({}))", position(e.at)));
      if (e.kind == Element::Kind::Load) made = loaded(e.dtype, fmt::format("{}[{}]", v(e.buffer), position(e.at)));
      if (e.kind == Element::Kind::Gather)
        made = loaded(e.dtype,
                      fmt::format("{}[{} + {} * (int64_t){}]", v(e.buffer), position(e.at), e.stride, value(e.in[0])));
      if (e.kind == Element::Kind::Apply) {
        std::vector<std::string> operands;
        for (int32_t x : e.in) operands.push_back(value(x));
        made = expression(*e.op, e.of, e.dtype, operands);
      }
      inner += fmt::format("const {} t{} = {};\n", value_type(e.dtype), i, made);
    }
    for (const Store& s : n.stores)
      inner += fmt::format("{}[{}] = {};\n", v(s.buffer), position(s.at),
                           stored(n.elements[static_cast<size_t>(s.value)].dtype, value(s.value)));
    std::string begin, end;
    for (size_t k = 0; k < n.reductions.size(); ++k) {
      const Reduction&  r    = n.reductions[k];
      const bool        real = is_float(r.dtype);
      const auto        type = real ? "double" : "int64_t";
      const std::string a = fmt::format("({}){}", type, value(r.a)), s = fmt::format("s{}", k);
      const std::string least = real ? "-INFINITY" : "INT64_MIN", most = real ? "INFINITY" : "INT64_MAX",
                        i                                             = real ? "" : "_i";
      const std::map<Fold, std::pair<std::string, std::string>> folds = {
          {Fold::Sum, {"0", s + " + " + a}},
          {Fold::Prod, {"1", s + " * " + a}},
          {Fold::Any, {"0", s + " | " + a}},
          {Fold::All, {"1", s + " & " + a}},
          {Fold::Max, {least, fmt::format("@bt_max{}({}, {})", i, s, a)}},
          {Fold::Min, {most, fmt::format("@bt_min{}({}, {})", i, s, a)}}};
      begin += fmt::format("{} {} = {};\n", type, s, folds.at(r.fold).first);
      inner += fmt::format("{} = {};\n", s,
                           r.b < 0 ? folds.at(r.fold).second : fmt::format("{} + {} * ({}){}", s, a, type, value(r.b)));
      end += fmt::format("{}[{}] = {};\n", v(r.buffer), position(r.at),
                         stored(r.dtype, fmt::format("({}){}", value_type(r.dtype), s)));
    }
    const size_t tile   = n.tiling.form != Tiling::Form::Blocks ? 0 : n.tiling.two_axes ? 2 : 1;
    const auto   around = [&](size_t from, size_t to, std::string body) {
      for (size_t i = to; i-- > from;) body = loop("i" + str(n.loops[i]), n.extent(i), body);
      return body;
    };
    const size_t all = n.loops.size(), reduced_end = all - tile;
    if (n.reductions.empty()) return around(0, all, inner);
    const std::string sums = begin + around(n.kept, reduced_end, inner) + end;
    return around(0, n.kept, around(reduced_end, all, sums));
  }

  static std::string of(const Product& p, const Kernel&) {
    const auto type = is_float(p.dtype) ? "double" : "int64_t";
    const auto at   = [](const Product::Side& s, const char* free) {
      return fmt::format("{}[{} + {} + {} + {}]", v(s.buffer), s.at, offset("b", s.batch), offset(free, s.free),
                           offset("k", s.inner));
    };
    const std::string sum =
        loops_over("k", p.inner, fmt::format("s += ({0}){1} * ({0}){2};\n", type, at(p.lhs, "m"), at(p.rhs, "n")));
    const std::string one = fmt::format("{} s = 0;\n{}*y++ = ({})s;\n", type, sum, storage_type(p.dtype));
    return fmt::format("{}* y = {};\n", storage_type(p.dtype), v(p.out)) +
           loops_over("b", p.batch, loops_over("m", p.rows, loops_over("n", p.columns, one)));
  }

  std::string call(const FunctionPtr& g, const std::string& in = "i_", const std::string& out = "o_") const {
    return fmt::format("{{ const int rc = {}(w, {}, {}); if (rc) return rc; }}\n", names_.at(g.get()), in, out);
  }
  static std::string arrays(const Vars& in, const Vars& out) {
    std::string t = fmt::format("const void* i_[{}];\nvoid* o_[{}];\n", in.size() + 1, out.size() + 1);
    for (size_t i = 0; i < in.size(); ++i) t += fmt::format("i_[{}] = {};\n", i, v(in[i]));
    for (size_t i = 0; i < out.size(); ++i) t += fmt::format("o_[{}] = {};\n", i, v(out[i]));
    return t;
  }
  std::string of(const TimeLoop& l, const Kernel&) const {
    std::string begin = fmt::format("const void* i_[{}];\nvoid* o_[{}];\n",
                                    l.consts.size() + l.carries.size() + l.inputs.size() + 1,
                                    l.carries.size() + l.outputs.size() + 1),
                step, after, end;
    for (const auto& x : l.consts) begin += fmt::format("i_[{}] = {};\n", x.arg, v(x.buffer));
    for (const auto& x : l.carries) {
      begin += fmt::format("i_[{}] = {};\n", x.arg, v(x.init));
      if (!x.is_stacked)
        step += fmt::format("o_[{}] = (step & 1) ? (void*)(w + {}) : (void*){};\n", x.result, x.other, v(x.out));
      after += fmt::format("i_[{}] = o_[{}];\n", x.arg, x.result);
      end += fmt::format("if (i_[{0}] != (const void*){1}) memcpy({1}, i_[{0}], {2});\n", x.arg, v(x.out), x.bytes);
    }
    for (const auto& x : l.inputs)
      for (const auto& piece : x.pieces)
        step += fmt::format("if (t >= {3}) i_[{0}] = (const char*){1} + {2} + (t - {3}) * {4};\n", x.arg,
                            v(piece.buffer), piece.at, piece.first, x.row);
    for (const auto& x : l.outputs) step += fmt::format("o_[{}] = (char*){} + t * {};\n", x.result, v(x.out), x.row);
    return begin +
           loop("step", l.length,
                fmt::format("const int64_t t = {};\n(void)t;\n{}{}{}",
                            l.reverse ? fmt::format("{} - 1 - step", l.length) : "step", step, call(l.body), after)) +
           end;
  }
  std::string of(const Branch& b, const Kernel&) const {
    std::string t = arrays(b.in, b.out) + fmt::format("int64_t which = {}[0];\n", v(b.index));
    for (size_t i = 0; i < b.branches.size(); ++i)
      t += fmt::format("{}if (which {} {}) {}", i ? "else " : "", i + 1 == b.branches.size() ? ">=" : "<=", i,
                       call(b.branches[i]));
    return t;
  }
  std::string of(const WhileLoop& l, const Kernel&) const {
    std::string t = arrays(l.in, Vars(l.carries.size(), l.in.empty() ? 0 : l.in[0])), write, after, last;
    for (size_t c = 0; c < l.carries.size(); ++c) {
      const auto& x   = l.carries[c];
      const auto  arg = l.consts + static_cast<int64_t>(c);
      write += fmt::format("o_[{}] = (step & 1) ? (void*)(w + {}) : (void*){};\n", c, x.other, v(x.out));
      after += fmt::format("i_[{}] = o_[{}];\n", arg, c);
      last += fmt::format("if (i_[{0}] != (const void*){1}) memcpy({1}, i_[{0}], {2});\n", arg, v(x.out), x.bytes);
    }
    return t + fmt::format(
                   "uint8_t go = 0;\nfor (int64_t step = 0; {} || step < {}; ++step) {{\nvoid* g_[1] = {{&go}};\n{}if "
                   "(!go) break;\n{}{}{}}}\n{}",
                   l.max_steps == 0, l.max_steps, call(l.cond, "i_", "g_"), write, call(l.body), after, last);
  }
  std::string        of(const Call& c, const Kernel&) const { return arrays(c.in, c.out) + call(c.body); }
  static std::string of(const HostCall&, const Kernel&) { throw InternalError("plain: there is no host"); }
  // What is plain in the library's own text is taken from there, all parts of it.
  template <class T>
  std::string of(const T& what, const Kernel& k) const {
    static const std::map<const codegen::Function*, std::string> none;
    return fmt::format("const int64_t begin = 0, end = {};\n(void)begin;\n(void)end;\n{}", k.parts,
                       text_of(what, Context{Dialect::Portable, none}));
  }

  std::map<const codegen::Function*, std::string> names_;
  int                                             count_ = 0;
};

}  // namespace

std::string plain_source(const Schedule& schedule) {
  Plain       plain;
  std::string entries, constants, pointers;
  for (size_t i = 0; i < schedule.constants.size(); ++i) {
    constants += array_text(fmt::format("plain_c{}", i), schedule.constants[i]);
    pointers += fmt::format("plain_c{}, ", i);
  }
  for (size_t i = 0; i < schedule.entries.size(); ++i)
    entries += fmt::format(
        "int plain_entry_{}(char* arena, const void* const* in, void* const* out) {{ return {}(arena, in, out); }}\n",
        i, plain.add(*schedule.entries[i]));
  Library           library;
  const std::string text = library.linked(plain.text);
  return std::string(head_of(Dialect::Portable)) + library.text() + constants +
         fmt::format("static const void* const plain_constants[] = {{{}0}};\n", pointers) + text + entries;
}

}  // namespace braintrace::testing_support

// SPDX-License-Identifier: Apache-2.0
#include "braintrace/codegen/c/emit.h"

#include <algorithm>
#include <map>

#include "braintrace/codegen/c/abi.h"
#include "braintrace/codegen/c/context.h"
#include "braintrace/codegen/c/preamble.h"

namespace braintrace::codegen {

namespace {

struct Pointer {
  Var         v;
  std::string type, value;
};
Pointer pointer_to(Dialect d, const Function& f, Var v) {
  const Buffer& b    = f.buffers[static_cast<size_t>(v)];
  const auto    type = storage_type(b.type.dtype);
  switch (b.place.kind) {
    case Place::Kind::Input:
      return {v, fmt::format("const {}*", type), fmt::format("f->in[{}]", b.place.at)};
    case Place::Kind::Constant:
      return {v, fmt::format("const {}*", type), constant_text(d, b.place.at)};
    case Place::Kind::Result:
      return {v, fmt::format("{}*", type), fmt::format("f->out[{}]", b.place.at)};
    case Place::Kind::Arena:
      return {v, fmt::format("{}*", type), fmt::format("(f->arena + {})", b.place.at)};
    case Place::Kind::None:
      break;
  }
  throw InternalError(fmt::format("codegen: value {} has no place", v));
}
// Functions that hand on pointers gain nothing from optimization, and compilers take longer for a long one than for all
// kernels that it calls.
constexpr size_t long_list = 8192;  // characters

std::string declaration(const Pointer& p) { return fmt::format("{0} v{1} = ({0}){2};\n", p.type, p.v, p.value); }

class Printer {
 public:
  Printer(const Schedule& s, Dialect d) : dialect_(d) {
    for (const FunctionPtr& f : s.entries) {
      add(*f);
      names.push_back(functions_.at(f.get()));
    }
  }

  std::string text() const;

  std::vector<std::string> names;
  std::set<DType>          products;

 private:
  // A kernel, or the function that calls the kernels before it.
  struct Part {
    std::string     name;
    const Function* function;
    const Kernel*   kernel;
  };

  bool is_native() const { return dialect_ == Dialect::Native; }

  // What a function contains stands before it.
  void add(const Function& f) {
    for (const Kernel& k : f.kernels) {
      for (const FunctionPtr& g : contained(k)) add(*g);
      if (const auto* p = std::get_if<Product>(&k.what); p && p->matrix) products.insert(p->dtype);
    }
    const std::string name = fmt::format("bt_f{}", functions_.size());
    functions_.emplace(&f, name);
    for (size_t i = 0; i < f.kernels.size(); ++i) parts_.push_back({fmt::format("{}_{}", name, i), &f, &f.kernels[i]});
    parts_.push_back({name, &f, nullptr});
  }

  std::string calls_text(const Part& p, const std::map<const Kernel*, std::string>& direct) const;
  std::string body(const Part& p, const Vars* numbers) const {
    const Context c{dialect_, functions_, numbers};
    return std::visit([&](const auto& what) { return text_of(what, c); }, p.kernel->what) + "return 0;\n}\n";
  }
  std::vector<Pointer> pointers(const Part& p) const {
    std::vector<Pointer> out;
    for (const Vars* vars : {&p.kernel->reads, &p.kernel->writes})
      for (Var v : *vars) out.push_back(pointer_to(dialect_, *p.function, v));
    return out;
  }
  static std::string scratch(const Kernel& k) { return k.scratch ? fmt::format("f->arena + {}", k.place) : ""; }

  Dialect                                dialect_;
  std::vector<Part>                      parts_;
  std::map<const Function*, std::string> functions_;
};

std::string Printer::calls_text(const Part& p, const std::map<const Kernel*, std::string>& direct) const {
  std::string calls;
  for (size_t i = 0; i < p.function->kernels.size(); ++i) {
    const Kernel&     k     = p.function->kernels[i];
    const std::string step  = fmt::format("{}_{}", p.name, i);
    const auto        found = direct.find(&k);
    if (found != direct.end())
      calls += fmt::format("if ((rc = {})) return rc;\n", found->second);
    else if (k.grain)
      calls += fmt::format("if ((rc = f->host->parallel(f->host->self, {}, f, {}, {}, {}, {}))) return rc;\n", step,
                           k.parts, k.grain, k.first, k.whole);
    else
      calls += fmt::format("if ((rc = {}(f, 0, {}))) return rc;\n", step, k.parts);
  }
  for (const auto& [from, to] : p.function->copies)
    calls += fmt::format("{{ {}memcpy(f->out[{}], v{}, {}); }}\n", declaration(pointer_to(dialect_, *p.function, from)),
                         to, from, p.function->buffers[static_cast<size_t>(from)].type.bytes());
  return fmt::format("static {}int32_t {}(const bt_frame* f) {{\nint32_t rc;\n(void)rc;\n(void)f;\n{}return 0;\n}}\n",
                     is_native() && calls.size() > long_list ? "BT_AS_WRITTEN " : "", p.name, calls);
}

// Kernels that differ only in what they read and write share one function, under names that equal ones give their
// buffers: it is compiled once. Those whose parts are shared out to threads have a function of their own that calls it.
std::string Printer::text() const {
  const std::string                                  unused = is_native() ? "" : "(void)f;\n(void)begin;\n(void)end;\n";
  std::map<std::string, std::pair<int, std::string>> shared;  // by function: how many kernels, its name
  std::vector<std::string>                           functions;
  for (const Part& p : parts_) {
    functions.emplace_back();
    if (!p.kernel) continue;
    Vars numbers = p.kernel->reads;
    numbers.insert(numbers.end(), p.kernel->writes.begin(), p.kernel->writes.end());
    std::string head = ", char* w";
    for (const Pointer& x : pointers(p))
      head += fmt::format(", {} v{}", x.type, std::find(numbers.begin(), numbers.end(), x.v) - numbers.begin());
    functions.back() = head + ") {\n" + unused + (is_native() ? "" : "(void)w;\n") + body(p, &numbers);
    ++shared[functions.back()].first;
  }
  // Kernels use the same memory one after the other, while loops inside one are said to be independent: compilers that
  // see several kernels at once have mixed them up.
  const std::string head  = is_native() ? "static __attribute__((noinline)) int32_t" : "static int32_t";
  const std::string frame = "(const bt_frame* f, int64_t begin, int64_t end";
  std::string       out;
  int               number = 0;

  std::map<const Kernel*, std::string> direct;  // calls of shared functions
  for (size_t i = 0; i < parts_.size(); ++i) {
    const Part& p = parts_[i];
    if (!p.kernel) {
      out += calls_text(p, direct);
      continue;
    }
    auto& [count, name] = shared[functions[i]];
    std::string ops;
    for (const Op* op : p.kernel->ops) ops += fmt::format(" {}", op->name);
    if (count == 1 || name.empty()) out += fmt::format("/*{} */\n", ops);
    const std::string w = scratch(*p.kernel);
    if (count == 1) {
      std::string text;
      for (const Pointer& x : pointers(p)) text += declaration(x);
      text += unused + (w.empty() ? "" : fmt::format("char* w = {};\n", w)) + body(p, nullptr);
      const bool as_written = is_native() && !contained(*p.kernel).empty() && text.size() > long_list;
      out += fmt::format("{} {}{}) {{\n{}", as_written ? "static BT_AS_WRITTEN int32_t" : head, p.name, frame, text);
      continue;
    }
    if (name.empty()) {
      name = fmt::format("bt_shared{}", number++);
      out += fmt::format("{} {}{}{}", head, name, frame, functions[i]);
    }
    std::string given = w.empty() ? "0" : w;
    for (const Pointer& x : pointers(p)) given += fmt::format(", ({}){}", x.type, x.value);
    if (p.kernel->grain)
      out += fmt::format("static int32_t {}{}) {{\nreturn {}(f, begin, end, {});\n}}\n", p.name, frame, name, given);
    else
      direct[p.kernel] = fmt::format("{}(f, 0, {}, {})", name, p.kernel->parts, given);
  }
  return out;
}

}  // namespace

Emitted emit(Schedule schedule, Dialect dialect) {
  Emitted     out;
  const bool  native = dialect == Dialect::Native;
  Printer     printer(schedule, dialect);
  std::string source = printer.text();
  if (native) out.source = fmt::format("/* emitted by braintrace, interface {} */\n", abi_version);
  out.source += head_of(dialect);
  const std::string functions =
      needed_functions(random_functions, source) + (native ? "" : needed_functions(portable_matrix_functions, source));
  out.source += needed_functions(scalar_functions(), functions + source) + functions;
  if (!native) {
    for (size_t i = 0; i < schedule.constants.size(); ++i)
      out.source += array_text(fmt::format("bt_c{}", i), schedule.constants[i]);
    source = indented(source);
  }
  out.source += source;
  for (std::string& name : printer.names) {
    if (!native) break;  // the file that surrounds the text calls them
    const std::string exported = name + "_entry";
    out.source += fmt::format("int32_t {}(const bt_frame* f) {{ return {}(f); }}\n", exported, name);
    name = exported;
  }
  out.names    = std::move(printer.names);
  out.products = std::move(printer.products);
  out.schedule = std::move(schedule);
  return out;
}

Emitted emit(const std::vector<Program>& programs, Dialect dialect) {
  return emit(scheduled(programs, {.target = target_of(dialect)}), dialect);
}

}  // namespace braintrace::codegen

// SPDX-License-Identifier: Apache-2.0
#include "braintrace/codegen/c/emit.h"

#include <algorithm>
#include <map>

#include "braintrace/base/lists.h"
#include "braintrace/codegen/c/abi.h"
#include "braintrace/codegen/c/context.h"
#include "braintrace/codegen/c/library.h"
#include "braintrace/codegen/regions.h"

namespace braintrace::codegen {

namespace {

struct Pointer {
  std::string name, type, value;
};
Pointer pointer_to(Dialect d, const Function& f, Var v) {
  const Buffer&     b        = f.buffers[static_cast<size_t>(v)];
  const auto        kind     = b.place.kind;
  const bool        is_given = kind == Place::Kind::Input || kind == Place::Kind::Constant;
  const std::string values[] = {"", fmt::format("f->in[{}]", b.place.at), constant_text(d, b.place.at),
                                fmt::format("f->out[{}]", b.place.at), fmt::format("(f->arena + {})", b.place.at)};
  ensure(kind != Place::Kind::None, "codegen: value {} has no place", v);
  return {"v" + str(v), fmt::format("{}{}*", is_given ? "const " : "", storage_type(b.type.dtype)),
          values[static_cast<size_t>(kind)]};
}
// Functions that hand on pointers gain nothing from optimization, and compilers take longer for a long one than for all
// kernels that it calls.
constexpr size_t long_list = 256;  // calls and pointers; nodes that contain functions name each some four times

std::string declaration(const Pointer& p) { return fmt::format("{0} {1} = ({0}){2};\n", p.type, p.name, p.value); }

class Printer {
 public:
  Printer(const Schedule& s, Dialect d) : dialect_(d) {
    for (const FunctionPtr& f : s.entries) {
      add(*f);
      names.push_back(functions_.at(f.get()));
    }
  }

  std::string text();
  // The library functions that the text calls.
  std::string functions() const { return library_.text(); }

  std::vector<std::string> names;
  std::set<DType>          products;

 private:
  // A kernel, or the function that calls the kernels before it.
  struct Part {
    std::string          name;
    const Function*      function;
    const Kernel*        kernel   = nullptr;
    std::vector<Pointer> pointers = {};
    std::string          body = {}, shared = {};  // without names for its buffers, and as a function of them
  };

  bool is_native() const { return dialect_ == Dialect::Native; }

  // What a function contains stands before it.
  void add(const Function& f) {
    for (const Kernel& k : f.kernels) {
      for (const auto& [role, g] : contained(k)) add(*g);
      if (const auto* p = std::get_if<Product>(&k.what); p && (p->matrix || p->blocks)) products.insert(p->dtype);
    }
    const std::string name = fmt::format("bt_f{}", functions_.size());
    functions_.emplace(&f, name);
    for (size_t i = 0; i < f.kernels.size(); ++i) add(fmt::format("{}_{}", name, i), f, f.kernels[i]);
    parts_.push_back({name, &f});
  }
  void add(const std::string& name, const Function& f, const Kernel& k) {
    const Context c{dialect_, functions_};
    Part          p{name, &f, &k};
    std::string   head = ", char* w";
    Words         numbered;
    for (Var v : joined(k.reads, k.writes)) p.pointers.push_back(pointer_to(dialect_, f, v));
    for (const Pointer& v : p.pointers) {
      numbered.emplace_back(v.name, "v" + str(numbered.size()));
      head += fmt::format(", {} {}", v.type, numbered.back().second);
    }
    p.body   = std::visit([&](const auto& what) { return text_of(what, c); }, k.what) + "return 0;\n}\n";
    p.shared = head + ") {\n" + unused() + (is_native() ? "" : "(void)w;\n") + library_.linked(p.body, numbered);
    ++shared_[p.shared].first;
    parts_.push_back(std::move(p));
  }

  const char* unused() const { return is_native() ? "" : "(void)f;\n(void)begin;\n(void)end;\n"; }
  std::string calls_text(const Part& p, const std::map<const Kernel*, std::string>& direct) const;

  Dialect                                            dialect_;
  Library                                            library_;
  std::vector<Part>                                  parts_;
  std::map<const Function*, std::string>             functions_;
  std::map<std::string, std::pair<int, std::string>> shared_;  // by function: how many kernels, its name
};

// Some parts of all kernels of a region, one kernel after the other.
std::string region_text(const std::string& name, const std::string& function, size_t first, size_t last) {
  std::string out =
      fmt::format("static int32_t {}(const bt_frame* f, int64_t begin, int64_t end) {{\nint32_t rc;\n", name);
  for (size_t i = first; i <= last; ++i)
    out += fmt::format("if ((rc = {}_{}(f, begin, end))) return rc;\n", function, i);
  return out + "return 0;\n}\n";
}

std::string Printer::calls_text(const Part& p, const std::map<const Kernel*, std::string>& direct) const {
  std::string calls, regions;
  size_t      length = p.function->kernels.size() + p.function->copies.size();
  for (size_t i = 0, end = 0; i < p.function->kernels.size(); i = end + 1) {
    end                     = region_end(p.function->kernels, i);
    const Kernel&     k     = p.function->kernels[i];
    const std::string step  = end > i ? fmt::format("{}_{}_to_{}", p.name, i, end) : fmt::format("{}_{}", p.name, i);
    const auto        found = direct.find(&k);
    if (end > i) regions += region_text(step, p.name, i, end);
    if (found != direct.end()) {
      calls += fmt::format("if ((rc = {})) return rc;\n", found->second);
      length += k.reads.size() + k.writes.size();
    } else if (k.grain) {
      calls += fmt::format("if ((rc = f->host->parallel(f->host->self, {}, f, {}, {}, {}, {}))) return rc;\n", step,
                           k.parts, k.grain, k.first, k.whole);
    } else {
      calls += fmt::format("if ((rc = {}(f, 0, {}))) return rc;\n", step, k.parts);
    }
  }
  for (const auto& [from, to] : p.function->copies)
    calls += fmt::format("{{ {}memcpy(f->out[{}], v{}, {}); }}\n", declaration(pointer_to(dialect_, *p.function, from)),
                         to, from, p.function->buffers[static_cast<size_t>(from)].type.bytes());
  return regions +
         fmt::format("static {}int32_t {}(const bt_frame* f) {{\nint32_t rc;\n(void)rc;\n(void)f;\n{}return 0;\n}}\n",
                     is_native() && length > long_list ? "BT_AS_WRITTEN " : "", p.name, calls);
}

// Kernels that differ only in what they read and write share one function, under names that equal ones give their
// buffers: it is compiled once. Those whose parts are shared out to threads have a function of their own that calls it.
std::string Printer::text() {
  // Kernels use the same memory one after the other, while loops inside one are said to be independent: compilers that
  // see several kernels at once have mixed them up.
  const std::string head  = is_native() ? "static __attribute__((noinline)) int32_t" : "static int32_t";
  const std::string frame = "(const bt_frame* f, int64_t begin, int64_t end";
  std::string       out;
  int               number = 0;
  std::map<const Kernel*, std::string> direct;  // calls of shared functions
  for (const Part& p : parts_) {
    if (!p.kernel) {
      out += calls_text(p, direct);
      continue;
    }
    auto& [count, name] = shared_[p.shared];
    std::string ops;
    for (const Op* op : p.kernel->ops) ops += fmt::format(" {}", op->name);
    if (count == 1 || name.empty()) out += fmt::format("/*{} */\n", ops);
    const std::string w = p.kernel->scratch ? fmt::format("f->arena + {}", p.kernel->place) : "";
    if (count == 1) {
      std::string text;
      for (const Pointer& v : p.pointers) text += declaration(v);
      text += unused() + (w.empty() ? "" : fmt::format("char* w = {};\n", w)) + library_.linked(p.body);
      const bool as_written = is_native() && !contained(*p.kernel).empty() && 4 * p.pointers.size() > long_list;
      out += fmt::format("{} {}{}) {{\n{}", as_written ? "static BT_AS_WRITTEN int32_t" : head, p.name, frame, text);
      continue;
    }
    if (name.empty()) {
      name = fmt::format("bt_shared{}", number++);
      out += fmt::format("{} {}{}{}", head, name, frame, p.shared);
    }
    std::string given = w.empty() ? "0" : w;
    for (const Pointer& v : p.pointers) given += fmt::format(", ({}){}", v.type, v.value);
    if (p.kernel->grain || p.kernel->joins)
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
  out.source += std::string(head_of(dialect)) + printer.functions();
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

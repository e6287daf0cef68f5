// SPDX-License-Identifier: Apache-2.0
// C text of host calls and nested functions: fills the pointer arrays `in` and `out`, and calls with a frame over
// scratch memory.
//
//   for t < T: h = f(h, x[t])   →   for (int64_t step = 0; step < T; ++step) { in[…] = …; out[…] = …; bt_f1(&g); … }
#include <algorithm>

#include "braintrace/codegen/c/context.h"
#include "braintrace/codegen/c/elements.h"

namespace braintrace::codegen {

namespace {

// Between two steps.
std::string_view stop_text(const Context& c) { return c.dialect == Dialect::Native ? "if (*f->stop) return 3;\n" : ""; }

std::string call(const FunctionPtr& g, const Context& c) {
  const auto  frame      = frame_text(c.dialect, "w");
  const auto& name       = c.functions.at(g.get());
  const bool  ends_early = g->may_stop || (c.dialect == Dialect::Native && has_loops(*g));
  if (!ends_early) return fmt::format("{{\nconst bt_frame g = {};\n(void){}(&g);\n}}\n", frame, name);
  return fmt::format("{{\nconst bt_frame g = {};\nconst int32_t rc = {}(&g);\nif (rc) return rc;\n}}\n", frame, name);
}

}  // namespace

std::string text_of(const HostCall& k, const Context&) {
  return passed(k.in, k.out) +
         fmt::format("const int32_t rc = f->host->call(f->host->self, {}, in, out);\nif (rc) return rc;\n", k.number);
}

std::string text_of(const TimeLoop& l, const Context& c) {
  const auto copied = [](const std::string& to, const std::string& from, int64_t bytes) {
    return fmt::format("memcpy({}, {}, {});\n", to, from, bytes);
  };
  const LoopText    parts = loop_text(l, "t", copied);
  const std::string text =
      fmt::format("{}{}{}{}{}}}\n{}", parts.begin, parts.steps, stop_text(c), call(l.body, c), parts.after, parts.last);
  if (!l.part_bytes) return text;
  return fmt::format(
      "char* const all = w;\nfor (int64_t part = begin; part < end; ++part) {{\nchar* w = all + part * {};\n{}}}\n",
      *l.part_bytes, text);
}

std::string text_of(const Branch& b, const Context& c) {
  std::string text = passed(b.in, b.out) +
                     fmt::format("switch (@bt_clamp_i({}[0], 0, {})) {{\n", c.name(b.index), b.branches.size() - 1);
  for (size_t i = 0; i < b.branches.size(); ++i) text += fmt::format("case {}: {}break;\n", i, call(b.branches[i], c));
  return text + "}\n";
}

// Double buffering: carries alternate between the result and scratch memory. One that ends in scratch memory is copied.
std::string text_of(const WhileLoop& l, const Context& c) {
  std::string write, after, last;
  for (size_t i = 0; i < l.carries.size(); ++i) {
    const auto&       x   = l.carries[i];
    const std::string out = c.name(x.out);
    const int64_t     arg = l.consts + static_cast<int64_t>(i);
    write += fmt::format("out[{}] = step & 1 ? (void*)(w + {}) : (void*){};\n", i, x.other, out);
    after += fmt::format("in[{}] = out[{}];\n", arg, i);
    last += fmt::format("if (in[{0}] != (const void*){1}) memcpy({1}, in[{0}], {2});\n", arg, out, x.bytes);
  }
  return pointers(l.in.size(), l.carries.size()) + filled_with("in", l.in) +
         fmt::format(
             "uint8_t go = 0;\nfor (int64_t step = 0; {0}; ++step) {{\n{6}out[0] = &go;\n{1}if (!go) "
             "break;\n{2}{3}{4}}}\n{5}",
             l.max_steps ? fmt::format("step < {}", l.max_steps) : "1", call(l.cond, c), write, call(l.body, c), after,
             last, stop_text(c));
}

std::string text_of(const Call& k, const Context& c) { return passed(k.in, k.out) + call(k.body, c); }

}  // namespace braintrace::codegen

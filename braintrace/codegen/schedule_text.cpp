// SPDX-License-Identifier: Apache-2.0
// A schedule for people: every function with its kernels, in the order they run.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "braintrace/codegen/schedule.h"

namespace braintrace::codegen {

namespace {

std::string line(int depth, const std::string& text) {
  return std::string(static_cast<size_t>(2 * depth), ' ') + text + "\n";
}

std::string position(const Affine& x) {
  return text_of(x, [](size_t counter) { return fmt::format("i{}", counter); });
}

std::string place_text(const Place& p) {
  constexpr std::string_view kinds[] = {"", "input ", "constant ", "result ", "arena + "};
  return fmt::format("{}{}", kinds[static_cast<size_t>(p.kind)], p.at);
}

// Kernels by their numbers in the list.
std::string lifetime(const Buffer& b) {
  if (b.first < 0) return b.last < 0 ? "" : fmt::format(", read until [{}]", b.last);
  return b.last < 0 ? fmt::format(", written by [{}]", b.first) : fmt::format(", [{}] to [{}]", b.first, b.last);
}

std::string_view name_of(Fold f) {
  constexpr std::string_view names[] = {"", "sum", "product", "min", "max", "any", "all"};
  return names[static_cast<size_t>(f)];
}

std::string names(const Vars& vars) {
  std::string out;
  for (Var v : vars) out += fmt::format("{}v{}", out.empty() ? "" : ", ", v);
  return out;
}

std::string title(const LoopNest& n) {
  constexpr std::string_view forms[] = {"loop nest", "sums along columns", "sums along rows"};
  std::string                out(forms[static_cast<size_t>(n.tiling.form)]);
  for (size_t i = 0; i < n.loops.size(); ++i)
    out += fmt::format("{} i{} < {}",
                       i == n.kept && !n.reductions.empty() ? ";"
                       : i                                  ? ","
                                                            : "",
                       n.loops[i], n.extent(i)) +
           (n.rows && n.loops[i] == 1 ? fmt::format(" ({} in all)", n.rows) : "");
  return out;
}
std::string title(const Product& p) {
  if (!p.matrix)
    return fmt::format(
        "product [{}] x [{}] over [{}]{}", fmt::join(p.rows, ","), fmt::join(p.columns, ","), fmt::join(p.inner, ","),
        p.blocks ? fmt::format(", blocks of {} rows and {}", p.blocks->rows.size, p.blocks->inner.size) : "");
  return fmt::format("matrix product {}x{}x{}{}", p.matrix->m, p.matrix->k, p.matrix->n,
                     p.batch.empty() ? "" : fmt::format(", batch {}", size_of(p.batch)));
}
std::string title(const Routine& r) { return std::string(r.op->name); }
std::string title(const Copies& c) { return fmt::format("{} block copies", c.blocks.size()); }
std::string title(const DynamicBlock& d) { return d.writes ? "update of a block" : "block at run time"; }
std::string title(const Window&) { return "window"; }
std::string title(const Convolution& c) { return fmt::format("convolution [{}]", fmt::join(c.kernel, ",")); }
std::string title(const HostCall& c) { return fmt::format("call {} of the host", c.number); }
std::string title(const TimeLoop& l) {
  return fmt::format("time loop of {} steps{}{}", l.length, l.reverse ? ", backward" : "",
                     l.part_bytes ? ", rows of the batch apart" : "");
}
std::string title(const Branch& b) { return fmt::format("branch of {}", b.branches.size()); }
std::string title(const WhileLoop&) { return "while loop"; }
std::string title(const Call&) { return "call"; }

std::string details(const LoopNest& n, int depth) {
  std::string out;
  const auto  value = [&](int32_t i) {
    const Element& e = n.elements[static_cast<size_t>(i)];
    return e.kind == Element::Kind::Literal ? fmt::format("{}", e.literal) : fmt::format("t{}", i);
  };
  for (size_t i = 0; i < n.elements.size(); ++i) {
    const Element& e = n.elements[i];
    if (e.kind == Element::Kind::Literal) continue;
    std::string made =
        e.kind == Element::Kind::Counter ? position(e.at) : fmt::format("v{}[{}]", e.buffer, position(e.at));
    if (e.kind == Element::Kind::Gather)
      made = fmt::format("v{}[{} + {} * {}]", e.buffer, position(e.at), e.stride, value(e.in[0]));
    if (e.kind == Element::Kind::Apply) {
      made = std::string(e.op->name) + "(";
      for (size_t k = 0; k < e.in.size(); ++k) made += (k ? ", " : "") + value(e.in[k]);
      made += ")";
    }
    out += line(depth, fmt::format("t{} = {}", i, made));
  }
  for (const Store& s : n.stores)
    out += line(depth, fmt::format("v{}[{}] = {}", s.buffer, position(s.at), value(s.value)));
  for (const Reduction& r : n.reductions)
    out += line(depth, fmt::format("v{}[{}] = {} of {}{}", r.buffer, position(r.at), name_of(r.fold), value(r.a),
                                   r.b < 0 ? "" : " * " + value(r.b)));
  return out;
}
std::string details(const Routine& r, int depth) {
  std::string out;
  for (const auto& [name, size] : r.sizes) out += fmt::format("{}{} = {}", out.empty() ? "" : ", ", name, size);
  return line(depth, out);
}

std::string function_text(const Function& f, const std::string& name, int depth) {
  std::string out =
      line(depth, fmt::format("{}: {} kernels, {} bytes of working memory", name, f.kernels.size(), f.arena_bytes));
  for (size_t v = 0; v < f.buffers.size(); ++v) {
    const Buffer& b = f.buffers[v];
    if (b.place.kind == Place::Kind::None) continue;
    out += line(depth + 1, fmt::format("v{} : {} at {}{}", v, to_string(b.type), place_text(b.place), lifetime(b)));
  }
  for (size_t i = 0; i < f.kernels.size(); ++i) {
    const Kernel& k = f.kernels[i];
    std::string   about;
    if (k.scratch) about += fmt::format(", {} bytes at arena + {}", k.scratch, k.place);
    if (k.grain) about += fmt::format(", {} parts, at least {} per thread", k.parts, k.grain);
    if (k.joins) about += fmt::format(", in the region of [{}]", i - 1);
    if (k.may_stop) about += ", may stop";
    out += line(depth + 1,
                fmt::format("[{}] {} ({} ← {}){}", i, std::visit([](const auto& w) { return title(w); }, k.what),
                            names(k.writes), names(k.reads), about));
    if (const auto* n = std::get_if<LoopNest>(&k.what)) out += details(*n, depth + 3);
    if (const auto* r = std::get_if<Routine>(&k.what)) out += details(*r, depth + 3);
    for (const auto& [role, g] : contained(k)) out += function_text(*g, role, depth + 3);
  }
  for (const auto& [from, to] : f.copies) out += line(depth + 1, fmt::format("result {} = v{}", to, from));
  return out;
}

}  // namespace

std::string to_string(const Schedule& s) {
  std::string out;
  for (size_t i = 0; i < s.entries.size(); ++i) out += function_text(*s.entries[i], fmt::format("function {}", i), 0);
  for (size_t i = 0; i < s.constants.size(); ++i)
    out += line(0, fmt::format("constant {} : {}", i, to_string(s.constants[i].type())));
  for (size_t i = 0; i < s.calls.size(); ++i)
    out += line(0, fmt::format("host call {} : {}", i, s.calls[i].eqn.op->name));
  return out;
}

}  // namespace braintrace::codegen

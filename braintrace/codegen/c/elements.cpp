// SPDX-License-Identifier: Apache-2.0
#include "braintrace/codegen/c/elements.h"

#include <algorithm>

#include <fmt/format.h>

#include "braintrace/codegen/c/c_text.h"
#include "braintrace/codegen/c/context.h"
#include "braintrace/codegen/c/expression.h"
#include "braintrace/codegen/events.h"
#include "braintrace/ops/pool.h"
#include "braintrace/ops/random.h"
#include "braintrace/ops/reduce.h"
#include "braintrace/ops/sort.h"

namespace braintrace::codegen {

const std::string_view lane     = R"(
const int64_t from = e / $stride * $n * $stride + e % $stride, to = e / $stride * $m * $stride + e % $stride;
(void)to;
)";
const std::string_view running  = R"(
$sum sum = 0;
for (int64_t j = 0; j < $n; ++j) {
  const int64_t i = from + ($place) * $stride;
  sum = j == 0 ? ($sum)$x[i] : $next;
  $y[i] = ($T)sum;
}
)";
const std::string_view position = R"(
int64_t best = 0;
for (int64_t j = 1; j < $n; ++j) {
  const $S a = $x[from + j * $stride], b = $x[from + best * $stride];
  if ($beats) best = j;
}
$y[e] = ($T)best;
)";

ElementWords plain_words(const LoopNest& n, std::function<std::string(const Element&, const std::string&)> read) {
  const auto value = [&n](int32_t i) {
    const Element& e = n.elements[static_cast<size_t>(i)];
    return e.kind == Element::Kind::Literal ? literal(e.dtype, e.literal) : "t" + str(i);
  };
  const auto position = [](const Affine& at) { return text_of(at, [](size_t c) { return "i" + str(c); }); };
  return {value, position, std::move(read)};
}

std::string element_text(const Element& e, const ElementWords& w) {
  if (e.kind == Element::Kind::Counter) return converted(DType::I64, e.dtype, "((int64_t)(" + w.position(e.at) + "))");
  if (e.kind == Element::Kind::Load) return loaded(e.dtype, w.read(e, w.position(e.at)));
  if (e.kind == Element::Kind::Gather)
    return loaded(e.dtype,
                  w.read(e, fmt::format("{} + {} * (int64_t){}", w.position(e.at), e.stride, w.value(e.in[0]))));
  std::vector<std::string> operands;
  for (int32_t x : e.in) operands.push_back(w.value(x));
  return expression(*e.op, e.of, e.dtype, operands);
}

std::string all_elements(const LoopNest& n, const ElementWords& w) {
  std::string out;
  for (size_t i = 0; i < n.elements.size(); ++i)
    if (const Element& e = n.elements[i]; e.kind != Element::Kind::Literal)
      out += fmt::format("const {} t{} = {};\n", value_type(e.dtype), i, element_text(e, w));
  return out;
}

namespace {

// Combines the accumulator and the next element of a running reduction.
std::string next_text(const Routine& r) {
  if (r.op->fold == Fold::Sum) return "sum + ($sum)$x[i]";
  if (r.op->fold == Fold::Prod) return "sum * ($sum)$x[i]";
  return fmt::format("@bt_{}{}(sum, ($sum)$x[i])", r.op->fold == Fold::Max ? "max" : "min",
                     is_float(r.dtype) ? "" : "_i");
}

// Whether element `first` precedes `second`; NaN sorts last.
std::string order_text(DType t, const std::string& order, const std::string& first, const std::string& second) {
  return is_float(t) ? fmt::format("!({0} != {0}) && ({1} != {1} || {2})", first, second, order) : order;
}

// The random number at element i.
std::string draw_text(const Routine& r) {
  if (r.op == &random_bits_op) return "@bt_draw(key, 0, (uint64_t)i >> 2, 0).w[i & 3]";
  if (r.op == &random_split_op) return "@bt_draw(key, 1, (uint64_t)i >> 1, 0).w[i & 1]";
  if (r.op == &random_fold_in_op) return "@bt_draw(key, 2, (uint64_t)(int64_t)$data[j], 0).w[i]";
  if (r.op == &random_normal_op) return stored(r.dtype, "@bt_normal(key, (uint64_t)i)");
  const int bits = r.dtype == DType::F64 ? 53 : r.dtype == DType::F32 ? 24 : r.dtype == DType::F16 ? 11 : 8;
  return stored(r.dtype, fmt::format("@bt_uniform(key, (uint64_t)i, 0x1p{})", bits));
}

}  // namespace

Words words_of(const Routine& r) {
  Words words = {{"T", std::string(storage_type(r.dtype))},
                 {"sum", std::string(sum_type(r.dtype))},
                 {"fma", r.dtype == DType::F64 ? "bt_fma" : "bt_fmaf"},
                 {"sign", r.reverse ? "-" : "+"}};
  for (const auto& [name, size] : r.sizes) words.emplace_back(name, str(size));
  for (const auto& [name, buffer] : r.buffers) words.emplace_back(name, Context::name(buffer));
  for (const auto& [name, type] : r.types) words.emplace_back(name, std::string(storage_type(type)));
  const auto add = [&](std::string_view name, const std::string& text) {
    words.emplace_back(name, filled(text, words));
  };
  if (r.op == &argmax_op || r.op == &argmin_op)
    add("beats", order_text(r.types[0].second, r.op == &argmax_op ? "a > b" : "a < b", "b", "a"));
  if (r.op == &sort_op) {
    const auto first = [&](const std::string& a, const std::string& b) {  // NaN is the maximum
      return r.reverse ? order_text(r.types[0].second, b + " < " + a, b, a)
                       : order_text(r.types[0].second, a + " < " + b, a, b);
    };
    add("a_first", first("a", "b"));
    add("b_first", first("b", "a"));
  }
  if (r.op->fold != Fold::None) {
    add("next", next_text(r));
    add("place", r.reverse ? "$n - 1 - j" : "j");
  }
  if (r.op == &event_dot_op) add("entry", r.has("order") ? "$order[k]" : "k");
  if (r.has("key")) add("draw", draw_text(r));
  return words;
}

std::string window_text(const Window& k, const std::string& result) {
  const std::string x = Context::name(k.x);
  std::string       start, each, finish;
  if (k.op == &window_sum_op) {
    start  = fmt::format("{} sum = 0;\n", sum_type(k.dtype));
    each   = fmt::format("sum += {}[at];\n", x);
    finish = fmt::format("{} = ({})sum;\n", result, storage_type(k.dtype));
  } else {  // offset of the first maximum; NaN counts as the maximum
    start  = "int64_t best = base;\n";
    each   = fmt::format("if ({0}[at] > {0}[best] || ({0}[at] != {0}[at] && {0}[best] == {0}[best])) best = at;\n", x);
    finish = fmt::format("{} = {}[best];\n", result, x);
  }
  if (k.op == &window_argmax_op) {
    finish = "int64_t flat = 0, scale = 1;\n";
    for (size_t i = k.from.size(); i-- > 0;) {
      if (k.window[i] != 1 || k.stride[i] != 1)
        finish += fmt::format("flat += best % {0} * scale;\nscale *= {0};\n", k.from[i]);
      finish += fmt::format("best /= {};\n", k.from[i]);
    }
    finish += fmt::format("{} = flat;\n", result);
  }
  const Ints strides = strides_of(k.from);
  Ints       steps   = strides;
  for (size_t i = 0; i < steps.size(); ++i) steps[i] *= k.stride[i];
  const std::string inside = fmt::format("const int64_t at = base + {};\n{}", offset_text("k", strides), each);
  return fmt::format("const int64_t base = {};\n{}{}{}", offset_text("p", steps), start,
                     loops_over("k", k.window, inside), finish);
}

Words words_of(const Convolution& k) {
  std::string at = "0", weight = "0";
  for (size_t i = 0; i < k.kernel.size(); ++i) {
    weight = fmt::format("({}) * {} + k{}", weight, k.kernel[i], i);
    at     = fmt::format("({}) * {} + q{} / {}", at, k.from[i], i, k.lhs_dilation[i]);
  }
  return {{"T", std::string(storage_type(k.dtype))},
          {"sum", std::string(sum_type(k.dtype))},
          {"N", str(k.batch)},
          {"G", str(k.groups)},
          {"GO", str(k.groups * k.out)},
          {"O", str(k.out)},
          {"C", str(k.in)},
          {"P", str(size_of(k.to))},
          {"X", str(size_of(k.from))},
          {"K", str(size_of(k.kernel))},
          {"x", Context::name(k.x)},
          {"w", Context::name(k.w)},
          {"y", Context::name(k.y)},
          {"at", at},
          {"weight", weight}};
}

std::string position_text(const Convolution& k, size_t i) {
  return fmt::format(
      "const int64_t q{0} = p{0} * {1} + k{0} * {2} - {3};\nif (q{0} < 0 || q{0} % {4} != 0 || q{0} / {4} >= {5}) "
      "continue;\n",
      i, k.stride[i], k.rhs_dilation[i], k.lo[i], k.lhs_dilation[i], k.from[i]);
}

std::string row_text(const TimeLoop::Stacked& x, const std::function<std::string(Var)>& name, const std::string& step) {
  if (x.is_whole) return fmt::format("(const char*){} + {} * {}", name(x.pieces[0].buffer), step, x.row);
  std::string text;
  for (size_t i = 0; i < x.pieces.size(); ++i) {
    const auto& piece = x.pieces[i];
    const auto  here =
        fmt::format("(const char*){} + {} + ({} - {}) * {}", name(piece.buffer), piece.at, step, piece.first, x.row);
    text += i + 1 == x.pieces.size() ? here : fmt::format("{} < {} ? {} : ", step, x.pieces[i + 1].first, here);
  }
  return fmt::format("({})", text);
}

LoopText loop_text(const TimeLoop& l, const std::string& step,
                   const std::function<std::string(const std::string&, const std::string&, int64_t)>& copy) {
  const auto of_part = [](int64_t bytes) { return bytes ? fmt::format(" + part * {}", bytes) : ""; };
  LoopText   out;
  out.begin = pointers(l.consts.size() + l.carries.size() + l.inputs.size(), l.carries.size() + l.outputs.size());
  out.steps = fmt::format("for (int64_t step = 0; step < {0}; ++step) {{\nconst int64_t {1} = {2};\n(void){1};\n",
                          l.length, step, l.reverse ? fmt::format("{} - 1 - step", l.length) : "step");
  for (const TimeLoop::Given& x : l.consts)
    out.begin += fmt::format("in[{}] = (const char*){}{};\n", x.arg, Context::name(x.buffer), of_part(x.part));
  for (const TimeLoop::Carry& x : l.carries) {
    const std::string to   = fmt::format("(char*){}{}", Context::name(x.out), of_part(x.part)),
                      home = x.own ? fmt::format("w + {}", *x.own) : to, in = fmt::format("in[{}]", x.arg);
    out.begin += fmt::format("{} = (const char*){}{};\n", in, Context::name(x.init), of_part(x.part));
    out.after += fmt::format("{} = out[{}];\n", in, x.result);
    if (!x.is_stacked)
      out.steps += fmt::format("out[{}] = ({} - 1 - step) & 1 ? w + {} : {};\n", x.result, l.length, x.other, home);
    if (l.length == 0)
      out.begin += copy(to, in, x.bytes);
    else if (x.is_stacked)
      out.last += copy(to, in, x.bytes);
    else if (x.own)
      out.last += "if (part == 0) " + copy(Context::name(x.out), home, x.bytes);
  }
  for (const TimeLoop::Stacked& x : l.inputs)
    out.steps += fmt::format("in[{}] = {}{};\n", x.arg, row_text(x, Context::name, step), of_part(x.part));
  for (const TimeLoop::Stacks& x : l.outputs) {
    const std::string row = fmt::format("(char*){} + {} * {}{}", Context::name(x.out), step, x.row, of_part(x.part));
    out.steps += x.spare ? fmt::format("out[{}] = part == 0 ? {} : w + {};\n", x.result, row, *x.spare)
                         : fmt::format("out[{}] = {};\n", x.result, row);
  }
  return out;
}

std::string pointers(size_t in, size_t out) {
  return fmt::format("const void* in[{}];\nvoid* out[{}];\n", std::max<size_t>(in, 1), std::max<size_t>(out, 1));
}

std::string filled_with(const char* array, const Vars& vars) {
  std::string text;
  for (size_t i = 0; i < vars.size(); ++i) text += fmt::format("{}[{}] = {};\n", array, i, Context::name(vars[i]));
  return text;
}

std::string passed(const Vars& in, const Vars& out) {
  return pointers(in.size(), out.size()) + filled_with("in", in) + filled_with("out", out);
}

}  // namespace braintrace::codegen

// SPDX-License-Identifier: Apache-2.0
// What the text of a kernel depends on in addition to the kernel. In the text, @v3 is a placeholder for the pointer to
// buffer 3 and @bt_exp for a function (library.h), f is the frame and w the scratch memory. The kernel computes its
// parts [begin, end); a return statement reports an error code.
#pragma once

#include <map>

#include <fmt/format.h>

#include "braintrace/codegen/c/c_text.h"
#include "braintrace/codegen/c/dialect.h"
#include "braintrace/codegen/schedule.h"

namespace braintrace::codegen {

struct Context {
  Dialect                                       dialect;
  const std::map<const Function*, std::string>& functions;  // names of the functions printed so far

  static std::string name(Var v) { return "@v" + str(v); }
  // Emitted before a loop with independent iterations.
  std::string_view independent() const { return dialect == Dialect::Native ? "BT_INDEPENDENT\n" : ""; }
  // The same before a loop of few iterations, which compilers would unroll and then not vectorize.
  std::string_view independent_and_short() const { return dialect == Dialect::Native ? "BT_SHORT\n" : ""; }
};

std::string text_of(const LoopNest& nest, const Context& c);
std::string text_of(const Product& product, const Context& c);
std::string text_of(const Routine& routine, const Context& c);
std::string text_of(const Copies& copies, const Context& c);
std::string text_of(const DynamicBlock& block, const Context& c);
std::string text_of(const Window& window, const Context& c);
std::string text_of(const Convolution& conv, const Context& c);
std::string text_of(const HostCall& call, const Context& c);
std::string text_of(const TimeLoop& loop, const Context& c);
std::string text_of(const Branch& branch, const Context& c);
std::string text_of(const WhileLoop& loop, const Context& c);
std::string text_of(const Call& call, const Context& c);

// Accumulator type of sums.
inline std::string_view sum_type(DType t) { return is_float(t) ? "double" : "int64_t"; }

// base + name0 * stride0 + …
inline std::string offset_text(const std::string& name, const Ints& strides, std::string base = "0") {
  for (size_t i = 0; i < strides.size(); ++i)
    if (strides[i]) base += fmt::format(" + {}{} * {}", name, i, strides[i]);
  return base;
}

// Nested loops name0, name1, … over the axes.
inline std::string loops_over(const std::string& name, const Shape& sizes, std::string body) {
  for (size_t i = sizes.size(); i-- > 0;)
    body = fmt::format("for (int64_t {0}{1} = 0; {0}{1} < {2}; ++{0}{1}) {{\n{3}}}\n", name, i, sizes[i], body);
  return body;
}

}  // namespace braintrace::codegen

// SPDX-License-Identifier: Apache-2.0
#include "braintrace/codegen/c/dialect.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "braintrace/codegen/c/abi.h"
#include "braintrace/codegen/c/c_text.h"
#include "braintrace/codegen/c/library.h"

namespace braintrace {
std::string_view native_head_c();
std::string_view portable_head_c();
}  // namespace braintrace

namespace braintrace::codegen {

std::string_view head_of(Dialect d) {
  static const std::string native   = emitted_text(native_head_c()) + abi_text + "\n",
                           portable = emitted_text(portable_head_c());
  return d == Dialect::Native ? native : portable;
}

std::string frame_text(Dialect d, const std::string& arena) {
  return d == Dialect::Native ? fmt::format("{{f->host, {}, in, out, f->stop}}", arena)
                              : fmt::format("{{{}, in, out}}", arena);
}

std::string constant_text(Dialect d, int64_t i) {
  return d == Dialect::Native ? fmt::format("f->host->constants[{}]", i) : fmt::format("bt_c{}", i);
}

std::string initializer(const Array& a, int64_t i) {
  const DType t = a.dtype();
  if (t == DType::F16 || t == DType::BF16) return fmt::format("0x{:04x}", static_cast<const uint16_t*>(a.raw())[i]);
  if (t == DType::I64) {
    const int64_t x = a.data<int64_t>()[i];
    return x == INT64_MIN ? "INT64_MIN" : fmt::format("{}LL", x);
  }
  const double x = at(a, i);
  if (!is_float(t)) return fmt::format("{:.0f}{}", x, t == DType::U32 ? "u" : "");
  // The shortest decimal that parses to the same number.
  if (!std::isfinite(x)) return literal(a.dtype(), x);
  return a.dtype() == DType::F64 ? fmt::format("{:#}", x) : fmt::format("{:#}f", static_cast<float>(x));
}

std::string array_text(const std::string& name, const Array& a) {
  std::string line, out = fmt::format("static const {} {}[{}] = {{\n", storage_type(a.dtype()), name, a.size());
  for (int64_t i = 0; i < a.size(); ++i) {
    const std::string x = initializer(a, i) + (i + 1 < a.size() ? "," : "");
    if (line.size() + x.size() > 110) out += std::exchange(line, "") + "\n";
    line += (line.empty() ? "" : " ") + x;
  }
  return out + line + "};\n";
}

std::string indented(const std::string& text) {
  std::string out;
  int         depth = 0;
  for (size_t at = 0; at < text.size();) {
    const size_t           end  = std::min(text.find('\n', at), text.size());
    const std::string_view line = std::string_view(text).substr(at, end - at);
    const auto opens = std::count(line.begin(), line.end(), '{'), closes = std::count(line.begin(), line.end(), '}');
    const int  now   = depth - (line.starts_with('}') ? 1 : 0);
    const bool as_is = line.empty() || line[0] == '#' || line[0] == ' ';
    out += (as_is ? "" : std::string(static_cast<size_t>(2 * std::max(now, 0)), ' ')) + std::string(line) + "\n";
    depth += static_cast<int>(opens - closes);
    at = end + 1;
  }
  return out;
}

}  // namespace braintrace::codegen

// SPDX-License-Identifier: Apache-2.0
#include "braintrace/runtime/values.h"

#include <algorithm>
#include <cmath>
#include <ostream>

#include <fmt/format.h>

namespace braintrace {

namespace {

constexpr int64_t long_axis = 10, shown_ends = 3;

std::string element(const Array& a, int64_t i) {
  const double v = at(a, i);
  if (a.dtype() == DType::Bool) return v != 0 ? "true" : "false";
  if (a.dtype() == DType::I64) return fmt::format("{}", a.data<int64_t>()[i]);
  if (!is_float(a.dtype())) return fmt::format("{}", static_cast<int64_t>(v));
  const std::string text = fmt::format("{:.6g}", v);
  return text.find_first_not_of("-0123456789") == text.npos ? text + "." : text;
}

void rows(const Array& a, size_t axis, int64_t offset, int64_t span, std::string& out) {
  if (axis == a.shape().size()) {
    out += element(a, offset);
    return;
  }
  const int64_t n    = a.shape()[axis];
  const int64_t step = n ? span / n : 0;
  const bool    last = axis + 1 == a.shape().size();
  out += "[";
  for (int64_t i = 0; i < n; ++i) {
    if (i) out += last ? ", " : ",\n" + std::string(axis + 1, ' ');
    if (n > long_axis && i == shown_ends) {
      out += "…";
      i = n - shown_ends - 1;
      continue;
    }
    rows(a, axis + 1, offset + i * step, step, out);
  }
  out += "]";
}

}  // namespace

std::string to_string(const Tensor& t) {
  if (!t.defined()) return "undefined";
  if (t.is_traced()) return to_string(t.type()) + " (traced)";
  const Array a = t.array();
  std::string out;
  rows(a, 0, 0, a.size(), out);
  return out;
}

std::ostream& operator<<(std::ostream& out, const Tensor& t) { return out << to_string(t); }

bool allclose(const Tensor& a, const Tensor& b, Tolerance tolerance) {
  if (a.shape() != b.shape()) return false;
  const Array x = a.array(), y = b.array();
  for (int64_t i = 0; i < x.size(); ++i) {
    const double p = at(x, i), q = at(y, i);
    if (p == q || (std::isnan(p) && std::isnan(q))) continue;
    if (!(std::abs(p - q) <= tolerance.absolute + tolerance.relative * std::abs(q)) || std::isinf(q)) return false;
  }
  return true;
}

double max_difference(const Tensor& a, const Tensor& b) {
  require(a.shape() == b.shape(), "max_difference: {} and {} have different shapes.", to_string(a.type()),
          to_string(b.type()));
  const Array x = a.array(), y = b.array();
  double      worst = 0;
  for (int64_t i = 0; i < x.size(); ++i) {
    const double p = at(x, i), q = at(y, i);
    if (p == q || (std::isnan(p) && std::isnan(q))) continue;
    worst = std::isfinite(p) && std::isfinite(q) ? std::max(worst, std::abs(p - q)) : INFINITY;
  }
  return worst;
}

}  // namespace braintrace

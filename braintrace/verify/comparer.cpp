// SPDX-License-Identifier: Apache-2.0
#include "braintrace/verify/comparer.h"

#include <algorithm>

#include "braintrace/ops/move.h"

namespace braintrace::golden {

namespace {

bool is_input(const std::string& name) {
  for (const char* prefix : {"param.", "h0.", "x", "target", "loss."})
    if (name.rfind(prefix, 0) == 0) return true;
  return false;
}

Shape without_ones(Shape s) {
  s.erase(std::remove(s.begin(), s.end(), 1), s.end());
  return s;
}

}  // namespace

Comparer::Comparer(const Case& c, CaseReport& report)
    : case_(c), report_(report), is_float32_(c.info.value("dtype", "float64") == "float32") {}

bool Comparer::wants(const std::string& name) {
  if (!case_.arrays.contains(name) || !seen_.insert(name).second) return false;
  if (!case_.info.contains("superseded") || !case_.info["superseded"].contains(name)) return true;
  report_.leave_out(name, "superseded: touched by defect " + case_.info["superseded"][name].get<std::string>() +
                              " of the package that recorded it");
  return false;
}

void Comparer::compare(const std::string& name, const Array& got, double relative) {
  if (!wants(name)) return;
  const Array& want  = case_.array(name);
  const Array  shown = got.shape() != want.shape() && without_ones(got.shape()) == without_ones(want.shape())
                           ? reshape(Tensor(got), want.shape()).array()
                           : got;
  report_.array(name, shown, want, is_float32_ ? Tolerance{relative < 1e-9 ? 1e-5 : 1e-4, 1e-6} : Tolerance{relative});
}

void Comparer::leave_out(const std::string& name, const std::string& reason) {
  if (wants(name)) report_.leave_out(name, reason);
}

void Comparer::finish() {
  for (const auto& entry : case_.arrays)
    if (!seen_.contains(entry.first) && !is_input(entry.first)) report_.leave_out(entry.first, "not understood");
}

}  // namespace braintrace::golden

// SPDX-License-Identifier: Apache-2.0
// Random numbers: the counters and the kinds of draw are those of ops/random.cpp.
#include <cmath>

#include <fmt/format.h>

#include "braintrace/codegen/kernel.h"

namespace braintrace::codegen {

namespace {

// y[key, i] = draw of element i, for each of the keys.
Kernel draws(Site& s, const std::string& draw) {
  const int64_t keys = s.in_type(0).size() / 2, n = keys ? s.out_type(0).size() / keys : 0;
  Kernel        k;
  k.work = 64 * s.out_type(0).size();
  k.body = filled(R"(
for (int64_t j = 0; j < $keys; ++j) {
  const uint32_t* key = $key + 2 * j;
  for (int64_t i = 0; i < $n; ++i) $y[j * $n + i] = $draw;
}
)",
                  {{"keys", str(keys)}, {"key", s.in(0)}, {"n", str(n)}, {"y", s.out(0)}, {"draw", draw}});
  return k;
}

Kernel bits_rule(Site& s) { return draws(s, "bt_draw(key, 0, (uint64_t)i >> 2, 0).w[i & 3]"); }
Kernel split_rule(Site& s) { return draws(s, "bt_draw(key, 1, (uint64_t)i >> 1, 0).w[i & 1]"); }
Kernel fold_in_rule(Site& s) {
  return draws(s, fmt::format("bt_draw(key, 2, (uint64_t)(int64_t){}[j], 0).w[i]", s.in(1)));
}
Kernel uniform_rule(Site& s) {
  const DType t    = s.out_type(0).dtype;
  const int   bits = t == DType::F64 ? 53 : t == DType::F32 ? 24 : t == DType::F16 ? 11 : 8;
  return draws(s, stored(t, fmt::format("bt_uniform(key, (uint64_t)i, 0x1p{})", bits)));
}
Kernel normal_rule(Site& s) { return draws(s, stored(s.out_type(0).dtype, "bt_normal(key, (uint64_t)i)")); }

}  // namespace

const Rules& random_rules() {
  static const Rules rules = {{"random_bits", bits_rule},
                              {"random_fold_in", fold_in_rule},
                              {"random_normal", normal_rule},
                              {"random_split", split_rule},
                              {"random_uniform", uniform_rule}};
  return rules;
}

}  // namespace braintrace::codegen

// SPDX-License-Identifier: Apache-2.0
#include "braintrace/codegen/known_indices.h"

#include <algorithm>

#include "braintrace/ops/constant.h"
#include "braintrace/ops/keys.h"

namespace braintrace::codegen {

namespace {

Program with_values(Program p, const Arrays& constants) {
  Vars             to(p.types.size());
  std::vector<Eqn> known;
  for (size_t v = 0; v < to.size(); ++v) to[v] = static_cast<Var>(v);
  for (size_t i = 0; i < constants.size(); ++i) {
    const Var v = p.constants[i];
    if (!is_integer(p.type(v).dtype) || p.type(v).rank() == 0) continue;
    to[v] = p.add_value(p.type(v));
    known.push_back({&constant_op, {}, {to[v]}, {{keys::array, constants[i]}}, 0});
  }
  if (known.empty()) return p;
  for (Eqn& e : p.eqns)
    for (Var& v : e.in) v = to[v];
  for (Var& v : p.results) v = to[v];
  p.eqns.insert(p.eqns.begin(), known.begin(), known.end());
  return p;
}

}  // namespace

Program with_known_indices(const Program& program, const Arrays& constants, const Options& options) {
  if (!options.runs("indices")) return program;
  return observed(
      "indices", options, [&] { return with_values(program, constants); }, &program,
      [](const Program& p) { return &p; });
}

const Array* known_value(const Program& p, Var v) {
  for (const Eqn& e : p.eqns)
    if (e.op == &constant_op && e.out[0] == v) return &e.attrs[keys::array];
  return nullptr;
}

bool is_below(const Array& index, int64_t below) {
  const int64_t n   = index.size();
  const auto    all = [&](const auto* at) {
    return std::all_of(at, at + n, [below](int64_t i) { return 0 <= i && i < below; });
  };
  if (index.dtype() == DType::I32) return all(index.data<int32_t>());
  if (index.dtype() == DType::I64) return all(index.data<int64_t>());
  const Integers at(index);
  for (int64_t i = 0; i < n; ++i)
    if (at[i] < 0 || at[i] >= below) return false;
  return true;
}

bool is_known_below(const Program& p, Var v, int64_t below) {
  const Array* a = known_value(p, v);
  return a && is_below(*a, below);
}

}  // namespace braintrace::codegen

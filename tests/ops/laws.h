// SPDX-License-Identifier: Apache-2.0
// The laws that every operation obeys, as measurements: each returns how far the law is from holding
// (0 = exactly), so that tests can require small values for correct records and large ones for broken records.
#pragma once

#include <string>

#include "braintrace/ir/op.h"

namespace braintrace::laws {

// A sample with fresh values but the same types and attributes: op.sample(rng)[index].
struct Case {
  const Op* op;
  size_t    index;
  Sample    draw(uint64_t seed) const;
};
std::vector<Case> cases(const Op& op);

// Inferred types differ from evaluated ones: description, or empty.
std::string type_mismatch(const Case& c);
// Relative error of jvp against central differences along a random direction; -1 when the op has no float operand in
// f64.
double jvp_error(const Case& c);
// |⟨c, J v⟩ - ⟨Jᵀ c, v⟩| relative; -1 when there is no tangent at all.
double transpose_error(const Case& c);
// Largest relative difference between the batching rule and a loop over samples, over all choices of batched operands.
double batch_error(const Case& c);
// parse(print(p)) differs from p: description, or empty.
std::string text_mismatch(const Case& c);
// Largest |∂y[i]/∂x[j]| at positions that op.depend calls independent; -1 when the op claims nothing.
double dependence_error(const Case& c);
// simplify changes a value: largest relative difference.
double simplify_error(const Case& c);

}  // namespace braintrace::laws

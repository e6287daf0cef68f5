// SPDX-License-Identifier: Apache-2.0
// Checks whether the prediction for a record, or a state after it, is usable.
#pragma once

#include <cmath>
#include <optional>
#include <string>

#include <fmt/format.h>

#include "braintrace/base/finite.h"

namespace braintrace::stream {

// The largest usable weight: losses, and the optimizer's squares of gradients, grow with the square of predictions and
// must not overflow. The fourth root of the largest number of the type; for f16, whose range is small, the square root.
inline double largest_weight(DType t) {
  return t == DType::F64 ? 1e77 : t == DType::F16 ? 255 : 4e9;  // bf16 has the range of f32
}

inline constexpr const char* sound_advice = "lower the learning rate, or scale inputs and targets.";

// Empty if nothing is wrong.
inline std::string problem_of_answer(const Array& prediction, const std::optional<double>& loss) {
  if (loss && !std::isfinite(*loss)) return fmt::format("the loss is {}; {}", *loss, sound_advice);
  if (!all_finite(prediction)) return fmt::format("the prediction is not finite; {}", sound_advice);
  return "";
}
inline std::string problem_of_state(const Array& value, const std::string& name, bool is_param) {
  if (!all_finite(value)) return fmt::format("it makes {} not finite; {}", name, sound_advice);
  if (is_param && !all_within(value, largest_weight(value.dtype())))
    return fmt::format("it makes {} too large to learn with; {}", name, sound_advice);
  return "";
}

}  // namespace braintrace::stream

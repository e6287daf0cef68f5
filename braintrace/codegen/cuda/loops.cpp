// SPDX-License-Identifier: Apache-2.0
// What texts of kernels have in common.
#include <algorithm>

#include "braintrace/codegen/cuda/context.h"

namespace braintrace::codegen {

int64_t cuda_blocks_for(int64_t elements, int64_t of_a_block) {
  return std::clamp<int64_t>((elements + of_a_block - 1) / of_a_block, 1, cuda_most_blocks);
}

std::string cuda_for_each(const std::string& name, int64_t count, std::string_view index, const std::string& body,
                          int64_t units) {
  const char* type = index == "int32_t" ? "uint32_t" : "int64_t";
  if (units == 0)
    return fmt::format("for ({1} {0}_ = t.rank; {0}_ < {2}; {0}_ += t.size) {{\nconst {3} {0} = ({3}){0}_;\n{4}}}\n",
                       name, type, count, index, body);
  const auto from = [&](const char* block) {
    return fmt::format("({}LL * {} / t.blocks * {})", units, block, count / units);
  };
  return fmt::format(
      "for ({1} {0}_ = {2} + threadIdx.x; {0}_ < {3}; {0}_ += blockDim.x) {{\nconst {4} {0} = ({4}){0}_;\n{5}}}\n",
      name, type, from("t.block"), from("(t.block + 1)"), index, body);
}

std::string cuda_counters(const std::string& name, const Shape& sizes, std::string_view index,
                          const std::function<std::string(size_t)>& counter) {
  std::string text;
  int64_t     inside = 1;
  for (size_t k = sizes.size(); k-- > 0;) {
    std::string value = inside == 1 ? name : fmt::format("{} / {}", name, inside);
    if (k > 0) value = fmt::format("({}) % {}", value, std::max<int64_t>(sizes[k], 1));
    text += fmt::format("const {} {} = {};\n(void){};\n", index, counter(k), value, counter(k));
    inside *= std::max<int64_t>(sizes[k], 1);
  }
  return text;
}

}  // namespace braintrace::codegen

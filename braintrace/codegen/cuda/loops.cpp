// SPDX-License-Identifier: Apache-2.0
// Helpers for the text of CUDA kernels: grid sizes, pointers, strided loops, and loop counters from a flat index.
//
//   for i < 4: for j < 8: body   →   for (e = t.rank; e < 32; e += t.size) { j = e % 8;  i = e / 8;  body }
#include <algorithm>

#include "braintrace/codegen/cuda/context.h"

namespace braintrace::codegen {

int64_t CudaContext::blocks_for(int64_t elements, int64_t of_a_block) const {
  return std::clamp<int64_t>(parts_in(elements, of_a_block), 1, target.blocks.most);
}

std::string place_text(const Place& p) {
  static constexpr const char* forms[] = {"", "f.in[{}]", "f.constants[{}]", "f.out[{}]", "(f.arena + {})"};
  ensure(p.kind != Place::Kind::None, "codegen: a buffer that is read or written has no place");
  return fmt::format(fmt::runtime(forms[static_cast<size_t>(p.kind)]), p.at);
}

std::string cuda_for_each(const std::string& name, int64_t count, DType index, const std::string& body, int64_t units) {
  const std::string_view type = index == DType::I32 ? "uint32_t" : "int64_t", own = storage_type(index);
  if (units == 0)
    return fmt::format("for ({1} {0}_ = t.rank; {0}_ < {2}; {0}_ += t.size) {{\nconst {3} {0} = ({3}){0}_;\n{4}}}\n",
                       name, type, count, own, body);
  const auto from = [&](const char* block) {
    return fmt::format("({}LL * {} / t.blocks * {})", units, block, count / units);
  };
  return fmt::format(
      "for ({1} {0}_ = {2} + threadIdx.x; {0}_ < {3}; {0}_ += blockDim.x) {{\nconst {4} {0} = ({4}){0}_;\n{5}}}\n",
      name, type, from("t.block"), from("(t.block + 1)"), own, body);
}

std::string cuda_counters(const std::string& name, const Shape& sizes, DType index,
                          const std::function<std::string(size_t)>& counter) {
  std::string text;
  int64_t     inside = 1;
  for (size_t k = sizes.size(); k-- > 0;) {
    std::string value = inside == 1 ? name : fmt::format("{} / {}", name, inside);
    if (k > 0) value = fmt::format("({}) % {}", value, std::max<int64_t>(sizes[k], 1));
    text += fmt::format("const {} {} = {};\n(void){};\n", storage_type(index), counter(k), value, counter(k));
    inside *= std::max<int64_t>(sizes[k], 1);
  }
  return text;
}
std::string cuda_counters(const std::string& name, const Shape& sizes, const std::string& letter) {
  return cuda_counters(name, sizes, DType::I64, [&](size_t k) { return letter + str(k); });
}

}  // namespace braintrace::codegen

// SPDX-License-Identifier: Apache-2.0
// CUDA text of kernels over whole arrays: one thread per element of the result.
#include <algorithm>

#include "braintrace/codegen/c/context.h"
#include "braintrace/codegen/c/elements.h"
#include "braintrace/codegen/cuda/context.h"

namespace braintrace::codegen {

CudaKernelText cuda_text(const Copies& k, const CudaContext& c) {
  CudaKernelText out;
  if (k.fill) {
    out.body = cuda_for_each("e", k.size, DType::I64, fmt::format("{}[e] = {}[0];\n", c.name(k.out), c.name(*k.fill)));
    out.blocks = c.blocks_for(k.size);
    out.meets  = !k.blocks.empty();
    if (out.meets) out.body += "bt_meet(t);\n";
  }
  for (const BlockCopy& b : k.blocks) {
    const std::string move =
        fmt::format("{}[{}] = {}[{}];\n", c.name(b.to), offset_text("i", b.to_strides, str(b.to_at)), c.name(b.from),
                    offset_text("i", b.from_strides, str(b.from_at)));
    out.body += cuda_for_each("e", size_of(b.shape), DType::I64, cuda_counters("e", b.shape, "i") + move, c.units);
    out.blocks = std::max(out.blocks, c.blocks_for(size_of(b.shape)));
  }
  return out;
}

// The block of entry b starts at p0, p1, …, clamped so that it fits.
CudaKernelText cuda_text(const DynamicBlock& k, const CudaContext& c) {
  const int64_t entries = size_of(k.inner), cells = size_of(k.block);
  const Shape&  walked = k.writes ? k.inner : k.block;
  std::string   body   = fmt::format("const int64_t b = e / {0}, cell = e % {0};\n(void)b;\n(void)cell;\n",
                                     std::max<int64_t>(size_of(walked), 1)) +
                     cuda_counters("cell", walked, "i");
  std::string inside = "1", in_block = fmt::format("b * {}", cells), in_x = fmt::format("b * {}", entries);
  for (size_t i = 0; i < k.inner.size(); ++i) {
    body += fmt::format("const int64_t p{0} = @bt_clamp_i((int64_t){1}[b * {2} + {0}], 0, {3});\n", i, c.name(k.start),
                        k.inner.size(), k.inner[i] - k.block[i]);
    inside += fmt::format(" && i{0} >= p{0} && i{0} < p{0} + {1}", i, k.block[i]);
    in_block += fmt::format(" + (i{0} - p{0}) * {1}", i, strides_of(k.block)[i]);
    in_x += fmt::format(" + (i{0} + p{0}) * {1}", i, strides_of(k.inner)[i]);
  }
  body += k.writes ? fmt::format("{}[e] = {} ? {}[{}] : {}[e];\n", c.name(k.out), inside, c.name(k.update), in_block,
                                 c.name(k.x))
                   : fmt::format("{}[e] = {}[{}];\n", c.name(k.out), c.name(k.x), in_x);
  const int64_t elements = k.entries * size_of(walked);
  return {cuda_for_each("e", elements, DType::I64, body), c.blocks_for(elements)};
}

CudaKernelText cuda_text(const Window& k, const CudaContext& c) {
  const int64_t elements = size_of(k.to);
  return {
      cuda_for_each("e", elements, DType::I64, cuda_counters("e", k.to, "p") + window_text(k, c.name(k.out) + "[e]")),
      c.blocks_for(elements)};
}

CudaKernelText cuda_text(const Convolution& k, const CudaContext& c) {
  std::string open, close;
  for (size_t i = 0; i < k.kernel.size(); ++i) {
    open += fmt::format("for (int64_t k{0} = 0; k{0} < {1}; ++k{0}) {{\n{2}", i, k.kernel[i], position_text(k, i));
    close += "}";
  }
  Words words = words_of(k);
  words.insert(words.end(), {{"places", cuda_counters("place", k.to, "p")}, {"open", open}, {"close", close}});
  const int64_t     elements = k.batch * k.groups * k.out * size_of(k.to);
  const std::string body     = filled(R"(
const int64_t n = e / ($GO * $P), o = e / $P % $GO, g = o / $O, place = e % $P;
(void)place;
$places
$sum sum = 0;
for (int64_t c = 0; c < $C; ++c) {
  const $T* from = $x + ((n * $G + g) * $C + c) * $X;
  const $T* kernel = $w + (o * $C + c) * $K;
  $open sum += ($sum)kernel[$weight] * ($sum)from[$at]; $close
}
$y[e] = ($T)sum;
)",
                                      words);
  return {cuda_for_each("e", elements, DType::I64, body), c.blocks_for(elements)};
}

}  // namespace braintrace::codegen

// SPDX-License-Identifier: Apache-2.0
// CUDA text of kernels over whole arrays: one thread per element of the result.
#include <algorithm>

#include "braintrace/codegen/c/context.h"
#include "braintrace/codegen/c/elements.h"
#include "braintrace/codegen/cuda/context.h"
#include "braintrace/ops/pool.h"

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

// Reduces the elements of a window, each at offset `at`.
CudaKernelText cuda_text(const Window& k, const CudaContext& c) {
  const std::string x = c.name(k.x), y = c.name(k.out);
  const WindowText  w       = window_text(k, x, y + "[e]");
  const Ints        strides = strides_of(k.from);
  Ints              steps   = strides;
  for (size_t i = 0; i < steps.size(); ++i) steps[i] *= k.stride[i];
  const std::string inner =
      loops_over("k", k.window, fmt::format("const int64_t at = base + {};\n{}", offset_text("k", strides), w.each));
  const int64_t elements = size_of(k.to);
  return {cuda_for_each("e", elements, DType::I64,
                        cuda_counters("e", k.to, "p") + fmt::format("const int64_t base = {};\n{}{}{}",
                                                                    offset_text("p", steps), w.start, inner, w.finish)),
          c.blocks_for(elements)};
}

CudaKernelText cuda_text(const Convolution& k, const CudaContext& c) {
  std::string open, close, at = "0", weight = "0";
  for (size_t i = 0; i < k.kernel.size(); ++i) {
    open += fmt::format(
        "for (int64_t k{0} = 0; k{0} < {1}; ++k{0}) {{\nconst int64_t q{0} = p{0} * {2} + k{0} * {3} - {4};\nif (q{0} "
        "< "
        "0 || q{0} % {5} != 0 || q{0} / {5} >= {6}) continue;\n",
        i, k.kernel[i], k.stride[i], k.rhs_dilation[i], k.lo[i], k.lhs_dilation[i], k.from[i]);
    close += "}";
    weight = fmt::format("({}) * {} + k{}", weight, k.kernel[i], i);
    at     = fmt::format("({}) * {} + q{} / {}", at, k.from[i], i, k.lhs_dilation[i]);
  }
  const int64_t     places = size_of(k.to), elements = k.batch * k.groups * k.out * places;
  const std::string body = filled(R"(
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
                                  {{"sum", std::string(sum_type(k.dtype))},
                                   {"GO", str(k.groups * k.out)},
                                   {"O", str(k.out)},
                                   {"P", str(places)},
                                   {"C", str(k.in)},
                                   {"T", std::string(storage_type(k.dtype))},
                                   {"x", c.name(k.x)},
                                   {"G", str(k.groups)},
                                   {"X", str(size_of(k.from))},
                                   {"w", c.name(k.w)},
                                   {"K", str(size_of(k.kernel))},
                                   {"places", cuda_counters("place", k.to, "p")},
                                   {"open", open},
                                   {"weight", weight},
                                   {"at", at},
                                   {"close", close},
                                   {"y", c.name(k.y)}});
  return {cuda_for_each("e", elements, DType::I64, body), c.blocks_for(elements)};
}

}  // namespace braintrace::codegen

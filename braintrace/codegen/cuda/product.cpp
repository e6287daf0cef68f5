// SPDX-License-Identifier: Apache-2.0
// CUDA text of matrix products: tiles in shared memory (tiles.cu), one per block; or one thread per element.
#include <algorithm>

#include "braintrace/codegen/c/context.h"
#include "braintrace/codegen/cuda/context.h"
#include "braintrace/codegen/cuda/tiles.h"

namespace braintrace::codegen {

namespace {

std::string pointer(const Product::Side& s) { return fmt::format("({} + {})", CudaContext::name(s.buffer), s.at); }

CudaKernelText matrix_text(const Product& p, const CudaContext& c) {
  const Product::Matrix& x      = *p.matrix;
  const int64_t          across = parts_in(x.n, tile_side), tiles = across * parts_in(x.m, tile_side);
  const int64_t          batches = size_of(p.batch);
  const char*            how     = p.dtype != DType::F32            ? "fma"
                                   : c.precision == Precision::TF32 ? "tf32"
                                   : c.precision == Precision::BF16 ? "bf16"
                                                                    : "fma";
  const std::string      text    = fmt::format(
              "for (int64_t at = t.block; at < {0}; at += t.blocks) {{\nconst int64_t b = at / {1};\n{2}bt_tile<bt_by_{3}>(at "
                      "% {1} "
                      "/ {4} * {5}, at % {1} % {4} * {5}, {6}, {7}, {8}, {9} + {10}, {11}, {12}, {13} + {14}, {15}, {16}, {17} + {18}, "
                      "{7});\n}}\n",
              batches * tiles, std::max<int64_t>(tiles, 1), cuda_counters("b", p.batch, "b"), how, std::max<int64_t>(across, 1),
              tile_side, x.m, x.n, x.k, pointer(p.lhs), offset_text("b", p.lhs.batch), x.lhs_m, x.lhs_k, pointer(p.rhs),
              offset_text("b", p.rhs.batch), x.rhs_k, x.rhs_n, c.name(p.out), offset_text("b", p.out_batch));
  return {.body   = text,
          .blocks = c.blocks_for(batches * tiles, 1),
          .shared = 2 * tile_terms * (tile_side + 1) * static_cast<int64_t>(size_of(p.dtype)),
          .tiles  = true};
}

}  // namespace

CudaKernelText cuda_text(const Product& p, const CudaContext& c) {
  if (p.matrix) return matrix_text(p, c);
  // General case: any strides, any type; one thread per element.
  const int64_t     n = size_of(p.columns), m = size_of(p.rows), elements = size_of(p.batch) * m * n;
  const std::string inner = fmt::format(
      "s += ({0}){1}[{2} + {3} + {4}] * ({0}){5}[{6} + {7} + {8}];\n", sum_type(p.dtype), pointer(p.lhs),
      offset_text("b", p.lhs.batch), offset_text("m", p.lhs.free), offset_text("k", p.lhs.inner), pointer(p.rhs),
      offset_text("b", p.rhs.batch), offset_text("n", p.rhs.free), offset_text("k", p.rhs.inner));
  const std::string body =
      fmt::format("const int64_t n = e % {0}, m = e / {0} % {1}, b = e / {2};\n(void)n;\n(void)m;\n(void)b;\n",
                  std::max<int64_t>(n, 1), std::max<int64_t>(m, 1), std::max<int64_t>(m * n, 1)) +
      cuda_counters("b", p.batch, "b") + cuda_counters("m", p.rows, "m") + cuda_counters("n", p.columns, "n") +
      fmt::format("{} s = 0;\n", sum_type(p.dtype)) + loops_over("k", p.inner, inner) +
      fmt::format("{}[e] = ({})s;\n", c.name(p.out), storage_type(p.dtype));
  return {cuda_for_each("e", elements, DType::I64, body), c.blocks_for(elements)};
}

}  // namespace braintrace::codegen

// SPDX-License-Identifier: Apache-2.0
// Products with weights that stay in shared memory. A lane of a warp holds rows g and g + 8 of a 16-row tile and terms
// 4q ... 4q+3 of 16, where g = lane / 4 and q = lane % 4. Tensor cores accept any order of terms that is the same for
// both operands.

template <class T> __device__ __forceinline__ T bt_far(const T* x) { return __ldcg(x); }

/* Loads the block's columns of the weights. EXACT as below; otherwise the weights are rounded here, once. */
template <int CHUNKS, int TILES, bool EXACT>
__device__ void bt_keep(float* to, const float* w, int64_t terms, int64_t by_term, int64_t first, int64_t columns, int64_t by_column) {
  for (int i = (int)threadIdx.x; i < CHUNKS * TILES * 128; i += (int)blockDim.x) {
    const int lane = i / 4 % 32, tile = i / 128 % TILES;
    const int64_t k = i / 128 / TILES * 16 + 4 * (lane % 4) + i % 4, column = tile * 8 + lane / 4;
    const float value = k < terms && column < columns ? w[k * by_term + (first + column) * by_column] : 0.f;
    to[i] = EXACT ? value : __uint_as_float(bt_tf32(value));
  }
}

/* Loads rows of the left operand. WHOLE: no row or term is out of bounds. */
template <int TILES, bool ALIGNED, bool WHOLE>
__device__ __forceinline__ void bt_rows(float4 (&x)[2 * TILES], const float* from, int64_t by_row, int top, int rows, int k, int terms) {
  const int lane = (int)threadIdx.x % 32, at = k + 4 * (lane % 4);
#pragma unroll
  for (int i = 0; i < 2 * TILES; ++i) {
    const int row = top + lane / 4 + 8 * i;
    const float* p = from + (WHOLE || row < rows ? row : rows - 1) * by_row + at;
    if (ALIGNED && WHOLE)
      x[i] = __ldcg((const float4*)p);
    else if (ALIGNED)
      x[i] = at < terms ? __ldcg((const float4*)p) : make_float4(0.f, 0.f, 0.f, 0.f);
    else
      x[i] = make_float4(at < terms ? __ldcg(p) : 0.f, at + 1 < terms ? __ldcg(p + 1) : 0.f,
                         at + 2 < terms ? __ldcg(p + 2) : 0.f, at + 3 < terms ? __ldcg(p + 3) : 0.f);
  }
}

/* c += x w. EXACT: splits each operand into a sum of two tf32 numbers, and omits only the product of the small parts. */
template <int TILES, int COLUMNS, bool EXACT>
__device__ __forceinline__ void bt_multiply(float (&c)[TILES][COLUMNS][4], const float4 (&x)[2 * TILES], const float4* w) {
  const int lane = (int)threadIdx.x % 32;
  uint32_t high[COLUMNS][4], low[COLUMNS][4];
#pragma unroll
  for (int n = 0; n < COLUMNS; ++n) {
    const float4 v = w[n * 32 + lane];
    const float b[4] = {v.x, v.y, v.z, v.w};
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      high[n][i] = EXACT ? bt_tf32(b[i]) : bt_float_bits(b[i]);
      if (EXACT) low[n][i] = bt_tf32(b[i] - __uint_as_float(high[n][i]));
    }
  }
#pragma unroll
  for (int m = 0; m < TILES; ++m) {
    const float a[8] = {x[2 * m].x, x[2 * m + 1].x, x[2 * m].y, x[2 * m + 1].y,
                        x[2 * m].z, x[2 * m + 1].z, x[2 * m].w, x[2 * m + 1].w};
    uint32_t big[8], small[8];
#pragma unroll
    for (int i = 0; i < 8; ++i) {
      big[i] = EXACT ? bt_tf32(a[i]) : bt_tf32_unmasked(a[i]);
      if (EXACT) small[i] = bt_tf32(a[i] - __uint_as_float(big[i]));
    }
#pragma unroll
    for (int n = 0; n < COLUMNS; ++n)
#pragma unroll
      for (int h = 0; h < 2; ++h) {
        if (EXACT) {
          bt_mma_tf32(c[m][n], small + 4 * h, high[n] + 2 * h);
          bt_mma_tf32(c[m][n], big + 4 * h, low[n] + 2 * h);
        }
        bt_mma_tf32(c[m][n], big + 4 * h, high[n] + 2 * h);
      }
  }
}

/* Stores the partial sums of the warps that share rows: 4 of them, or 8, of which w and w + 4 are added here. The
   reader (bt_sum_of) adds the remaining four. */
template <int TILES, int COLUMNS, int GROUPS>
__device__ void bt_join(float (&c)[TILES][COLUMNS][4], float* partial) {
  const int warp = (int)threadIdx.x / 32, lane = (int)threadIdx.x % 32, part = warp / GROUPS;
  const int stride = COLUMNS % 2 ? COLUMNS * 8 : COLUMNS * 8 + 8;
  float* mine = partial + (part % 4 * GROUPS + warp % GROUPS) * TILES * 16 * stride;
  __syncthreads();
#pragma unroll
  for (int round = 0; round < 2 / GROUPS; ++round) {
    if (GROUPS == 2 || part / 4 == round) {
#pragma unroll
      for (int m = 0; m < TILES; ++m)
#pragma unroll
        for (int n = 0; n < COLUMNS; ++n)
#pragma unroll
          for (int i = 0; i < 2; ++i) {
            float2* to = (float2*)(mine + (m * 16 + lane / 4 + i * 8) * stride + n * 8 + lane % 4 * 2);
            float2 sum = make_float2(c[m][n][2 * i], c[m][n][2 * i + 1]);
            if (round) sum = make_float2(to->x + sum.x, to->y + sum.y);
            *to = sum;
          }
    }
    __syncthreads();
  }
}
/* Element i of ROWS rows, in row-major order. */
template <int ROWS, int COLUMNS>
__device__ __forceinline__ float bt_sum_of(const float* partial, int i) {
  const int stride = COLUMNS % 2 ? COLUMNS * 8 : COLUMNS * 8 + 8, size = ROWS * stride;
  const float* p = partial + i / (COLUMNS * 8) * stride + i % (COLUMNS * 8);
  return (p[0] + p[size]) + (p[2 * size] + p[3 * size]);
}
template <int ROWS, int COLUMNS, int THREADS, int TURNS>
__device__ __forceinline__ void bt_take(float (&out)[TURNS], int first, const float* partial) {
#pragma unroll
  for (int q = 0; q < (ROWS * 8 * COLUMNS + THREADS - 1) / THREADS; ++q) {
    const int i = (int)threadIdx.x + q * THREADS;
    if (first + q < TURNS && i < ROWS * 8 * COLUMNS) out[first + q] = bt_sum_of<ROWS, COLUMNS>(partial, i);
  }
}
template <int ROWS, int COLUMNS>
__device__ void bt_put(float* out, int64_t by_row, int top, int rows, int64_t columns, const float* partial) {
  for (int i = (int)threadIdx.x; i < ROWS * 8 * COLUMNS; i += (int)blockDim.x) {
    const int row = top + i / (COLUMNS * 8), column = i % (COLUMNS * 8);
    if (row < rows && column < columns) out[row * by_row + column] = bt_sum_of<ROWS, COLUMNS>(partial, i);
  }
}

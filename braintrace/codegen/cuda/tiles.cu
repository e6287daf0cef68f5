// SPDX-License-Identifier: Apache-2.0
// One block computes a 32 x 32 tile of C[m,n] = Σ_k A[m,k] B[k,n]: panels of A and B pass through shared memory, 16 of
// k at a time. Matrix instructions are wrapped in functions, which the emulation replaces; devices before sm_80 use fma
// instead.
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
#define BT_TENSOR_CORES 0
#else
#define BT_TENSOR_CORES 1
#endif
static __device__ uint32_t bt_float_bits(float x) { return *(const uint32_t*)&x; }
/* Round to nearest: tf32 breaks ties away from zero, as tensor cores do; bf16 breaks ties to even. */
static __device__ uint32_t bt_tf32_unmasked(float x) { return bt_float_bits(x) + 0x1000u; }
static __device__ uint32_t bt_tf32(float x) { return (bt_float_bits(x) + 0x1000u) & 0xffffe000u; }
static __device__ uint32_t bt_bf16(float x) {
  const uint32_t u = bt_float_bits(x);
  return x != x ? 0x7fc0u : (u + 0x7fffu + (u >> 16 & 1u)) >> 16;
}
static __device__ uint32_t bt_bf16_pair(float low, float high) { return bt_bf16(low) | bt_bf16(high) << 16; }
#if !defined(BT_EMULATED) && BT_TENSOR_CORES
static __device__ __forceinline__ void bt_mma_tf32(float* c, const uint32_t* a, const uint32_t* b) {
  asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0,%1,%2,%3},{%4,%5,%6,%7},{%8,%9},{%0,%1,%2,%3};"
               : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}
static __device__ __forceinline__ void bt_mma_bf16(float* c, const uint32_t* a, const uint32_t* b) {
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3},{%4,%5,%6,%7},{%8,%9},{%0,%1,%2,%3};"
               : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}
#elif !defined(BT_EMULATED)
static __device__ void bt_mma_tf32(float*, const uint32_t*, const uint32_t*) {}
static __device__ void bt_mma_bf16(float*, const uint32_t*, const uint32_t*) {}
#endif

enum { bt_by_fma, bt_by_tf32, bt_by_bf16 };

template <int how, class T>
static __device__ void bt_tile(int64_t m0, int64_t n0, int64_t M, int64_t N, int64_t K, const T* A, int64_t am,
                               int64_t ak, const T* B, int64_t bk, int64_t bn, T* C, int64_t cm) {
  const int32_t wide = 33;
  T* a = (T*)bt_shared_memory; /* [k][m] */
  T* b = a + 16 * wide;        /* [k][n] */
  const int32_t me = threadIdx.x, x = me % 16, y = me / 16;
  const int32_t warp = me / 32, g = me % 32 / 4, q = me % 4, row = warp / 4 * 16, column = warp % 4 * 8;
  T s[4] = {0, 0, 0, 0};
  for (int64_t k0 = 0; k0 < K; k0 += 16) {
    __syncthreads();
    for (int32_t i = me; i < 512; i += blockDim.x) {
      const int32_t m = ak == 1 ? i / 16 : i % 32, l = ak == 1 ? i % 16 : i / 32;
      a[l * wide + m] = m0 + m < M && k0 + l < K ? A[(m0 + m) * am + (k0 + l) * ak] : T(0);
      const int32_t n = bn == 1 ? i % 32 : i / 16, k = bn == 1 ? i / 32 : i % 16;
      b[k * wide + n] = n0 + n < N && k0 + k < K ? B[(k0 + k) * bk + (n0 + n) * bn] : T(0);
    }
    __syncthreads();
    if constexpr (how == bt_by_tf32 && BT_TENSOR_CORES) {
      for (int32_t k = q; k < 16; k += 8) {
        const uint32_t l[4] = {bt_tf32(a[k * wide + row + g]), bt_tf32(a[k * wide + row + g + 8]),
                               bt_tf32(a[(k + 4) * wide + row + g]), bt_tf32(a[(k + 4) * wide + row + g + 8])};
        const uint32_t r[2] = {bt_tf32(b[k * wide + column + g]), bt_tf32(b[(k + 4) * wide + column + g])};
        bt_mma_tf32(s, l, r);
      }
    } else if constexpr (how == bt_by_bf16 && BT_TENSOR_CORES) {
      const T *l0 = a + 2 * q * wide + row + g, *r0 = b + 2 * q * wide + column + g;
      const uint32_t l[4] = {bt_bf16_pair(l0[0], l0[wide]), bt_bf16_pair(l0[8], l0[wide + 8]),
                             bt_bf16_pair(l0[8 * wide], l0[9 * wide]),
                             bt_bf16_pair(l0[8 * wide + 8], l0[9 * wide + 8])};
      const uint32_t r[2] = {bt_bf16_pair(r0[0], r0[wide]), bt_bf16_pair(r0[8 * wide], r0[9 * wide])};
      bt_mma_bf16(s, l, r);
    } else {
      for (int32_t k = 0; k < 16; ++k) {
        const T a0 = a[k * wide + y], a1 = a[k * wide + y + 16], b0 = b[k * wide + x], b1 = b[k * wide + x + 16];
        s[0] = fma(a0, b0, s[0]);
        s[1] = fma(a0, b1, s[1]);
        s[2] = fma(a1, b0, s[2]);
        s[3] = fma(a1, b1, s[3]);
      }
    }
  }
  for (int32_t i = 0; i < 4; ++i) {
    const bool by_warp = how != bt_by_fma && BT_TENSOR_CORES;
    const int64_t m = m0 + (by_warp ? row + g + i / 2 * 8 : y + i / 2 * 16);
    const int64_t n = n0 + (by_warp ? column + 2 * q + i % 2 : x + i % 2 * 16);
    if (m < M && n < N) C[m * cm + n] = s[i];
  }
  __syncthreads();
}

#include <math.h>
#include <stdint.h>
#include <string.h>
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("no-strict-aliasing") /* arena memory is reused for values of different types */
#endif
#ifdef __GNUC__
#define BT_ALIGNED __attribute__((aligned(16))) /* gcc 12 assumes this when it fills arrays of doubles */
#else
#define BT_ALIGNED
#endif
#define bt_log_gamma lgamma
#ifdef __clang__
#pragma STDC FP_CONTRACT OFF
#endif
#if defined(FP_FAST_FMA) || defined(__FP_FAST_FMA)
#define bt_fma fma
#else
#define bt_fma(a, b, c) ((a) * (b) + (c))
#endif
#if defined(FP_FAST_FMAF) || defined(__FP_FAST_FMAF)
#define bt_fmaf fmaf
#else
#define bt_fmaf(a, b, c) ((a) * (b) + (c))
#endif

typedef struct bt_frame {
  char*              arena;
  const void* const* in;
  void* const*       out;
} bt_frame;

static inline float bt_bits_f(int32_t i) { union { int32_t i; float f; } u; u.i = i; return u.f; }

/* e^x = 2^n e^r, |r| <= ln(2)/2; 2^n is split into two factors, so that it can under- and overflow */
static inline float bt_expf(float x) {
  float c = x < -104.0f ? -104.0f : x;
  c = c > 89.0f ? 89.0f : c;
  const float n = rintf(c * 0x1.715476p+0f);
  float r = bt_fmaf(n, -0x1.62e4p-1f, c);
  r = bt_fmaf(n, -0x1.7f7d1cp-20f, r);
  float p = 1.9875691500e-4f;
  p = bt_fmaf(p, r, 1.3981999507e-3f);
  p = bt_fmaf(p, r, 8.3334519073e-3f);
  p = bt_fmaf(p, r, 4.1665795894e-2f);
  p = bt_fmaf(p, r, 1.6666665459e-1f);
  p = bt_fmaf(p, r, 5.0000001201e-1f);
  p = bt_fmaf(p * r, r, r) + 1.0f;
  const int32_t k = (int32_t)(n == n ? n : 0.0f), h = k >> 1;
  return p * bt_bits_f((h + 127) << 23) * bt_bits_f((k - h + 127) << 23);
}
static inline float bt_tanhf(float x) {
  const float z = x * x;
  float p = -5.70498872745e-3f;
  p = bt_fmaf(p, z, 2.06390887954e-2f);
  p = bt_fmaf(p, z, -5.37397155531e-2f);
  p = bt_fmaf(p, z, 1.33314422036e-1f);
  p = bt_fmaf(p, z, -3.33332819422e-1f);
  const float small = bt_fmaf(p * z, x, x);
  const float a = fabsf(x);
  const float large = copysignf(1.0f - 2.0f / (bt_expf(2.0f * a) + 1.0f), x);
  return a < 0.625f ? small : large;
}

/* the columns [n0, n1) of C[m,n] = sum over k of A[m,k] B[k,n], in the order of k; rows of C are dense */
static void bt_matmul_f32(int64_t M, int64_t n0, int64_t n1, int64_t K, const float* A, int64_t am, int64_t ak,
                          const float* B, int64_t bk, int64_t bn, float* C, int64_t cm) {
  for (int64_t m = 0; m < M; ++m)
    for (int64_t n = n0; n < n1; ++n) {
      float s = 0;
      for (int64_t k = 0; k < K; ++k) s = bt_fmaf(A[m * am + k * ak], B[k * bk + n * bn], s);
      C[m * cm + n] = s;
    }
}
/* dot_general */
static int32_t bt_f0_0(const bt_frame* f, int64_t begin, int64_t end) {
  const float* v0 = (const float*)f->in[0];
  const float* v1 = (const float*)f->in[1];
  float* v3 = (float*)(f->arena + 0);
  (void)f;
  (void)begin;
  (void)end;
  bt_matmul_f32(3, 0, 5, 4, (v0 + 0) + 0 + 0 * 4, 4, 1, (v1 + 0) + 0, 5, 1, v3 + 0 + 0 * 5, 5);
  return 0;
}
/* tanh mul add product_sum */
static int32_t bt_f0_1(const bt_frame* f, int64_t begin, int64_t end) {
  float* v3 = (float*)(f->arena + 0);
  float* v4 = (float*)(f->arena + 0);
  float* v8 = (float*)f->out[0];
  float* v9 = (float*)f->out[1];
  (void)f;
  (void)begin;
  (void)end;
  for (int64_t part = begin; part < end; ++part) {
    const int64_t from = part % 1 * 5, to = from + 5;
    float s0[5] BT_ALIGNED;
    for (int64_t j = 0; j < 5; ++j) s0[j] = 0;
    for (int64_t i0 = 0; i0 < 3; ++i0) {
      for (int64_t i1 = from; i1 < to; ++i1) {
        const float t0 = v3[5 * i0 + i1];
        const float t1 = bt_tanhf(t0);
        const float t2 = (t1 * 0x1p+1f);
        const float t3 = (t2 + 0x1p+0f);
        v4[5 * i0 + i1] = t1;
        v8[5 * i0 + i1] = t3;
        s0[i1 - from] = bt_fmaf((float)t1, (float)t1, s0[i1 - from]);
      }
    }
    for (int64_t i1 = from; i1 < to; ++i1) {
      v9[i1] = (float)s0[i1 - from];
    }
  }
  return 0;
}
/* reduce_sum */
static int32_t bt_f0_2(const bt_frame* f, int64_t begin, int64_t end) {
  float* v4 = (float*)(f->arena + 0);
  float* v10 = (float*)f->out[2];
  (void)f;
  (void)begin;
  (void)end;
  for (int64_t i0 = begin; i0 < end; ++i0) {
    double s0[4] BT_ALIGNED;
    for (int lane = 0; lane < 4; ++lane) s0[lane] = 0;
    for (int64_t from = 0; from < 4; from += 4) {
      for (int lane = 0; lane < 4; ++lane) {
        const int64_t i1 = from + lane;
        const float t0 = v4[5 * i0 + i1];
        s0[lane] = s0[lane] + t0;
      }
    }
    for (int lane = 0; lane < 1; ++lane) {
      const int64_t i1 = 4 + lane;
      const float t0 = v4[5 * i0 + i1];
      s0[lane] = s0[lane] + t0;
    }
    for (int half = 2; half; half /= 2)
    for (int lane = 0; lane < half; ++lane) s0[lane] = s0[lane] + s0[lane + half];
    v10[i0] = (float)s0[0];
  }
  return 0;
}
/* take */
static int32_t bt_f0_3(const bt_frame* f, int64_t begin, int64_t end) {
  float* v4 = (float*)(f->arena + 0);
  const int32_t* v2 = (const int32_t*)f->in[2];
  float* v11 = (float*)f->out[3];
  (void)f;
  (void)begin;
  (void)end;

  for (int64_t i = 0; i < 1 * 2; ++i) if ((int64_t)v2[i] < 0 || (int64_t)v2[i] >= 3) return 1;

  for (int64_t b = 0; b < 1; ++b)
  for (int64_t p = 0; p < 1; ++p)
    for (int64_t k = 0; k < 2; ++k)
      memcpy(v11 + ((b * 1 + p) * 2 + k) * 5, v4 + ((b * 1 + p) * 3 + v2[b * 2 + k]) * 5, 5 * sizeof(float));
  return 0;
}
static int32_t bt_f0(const bt_frame* f) {
  int32_t rc;
  (void)rc;
  (void)f;
  if ((rc = bt_f0_0(f, 0, 1))) return rc;
  if ((rc = bt_f0_1(f, 0, 1))) return rc;
  if ((rc = bt_f0_2(f, 0, 3))) return rc;
  if ((rc = bt_f0_3(f, 0, 1))) return rc;
  return 0;
}

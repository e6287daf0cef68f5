// SPDX-License-Identifier: Apache-2.0
// Elementary functions without branches, so that the C compiler can vectorize loops over them. Maximum error: 4 ulp
// (measured in tests/codegen). Polynomials: S. L. Moshier, Cephes Math Library.
#include "braintrace/codegen/c/native_head.c"

static inline float bt_bits_f(int32_t i) { union { int32_t i; float f; } u; u.i = i; return u.f; }
static inline int32_t bt_float_i(float f) { union { float f; int32_t i; } u; u.f = f; return u.i; }
static inline double bt_bits_d(int64_t i) { union { int64_t i; double f; } u; u.i = i; return u.f; }
static inline int64_t bt_double_i(double f) { union { double f; int64_t i; } u; u.f = f; return u.i; }

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
/* ln(2^e m), m in [sqrt(1/2), sqrt(2)) */
static inline float bt_logf(float x) {
  const int tiny = x < 0x1p-126f;
  const int32_t i = bt_float_i(tiny ? x * 0x1p25f : x) - 0x3f3504f3;
  const float e = (float)((i >> 23) - (tiny ? 25 : 0));
  const float m = bt_bits_f((i & 0x7fffff) + 0x3f3504f3) - 1.0f;
  const float z = m * m;
  float p = 7.0376836292e-2f;
  p = bt_fmaf(p, m, -1.1514610310e-1f);
  p = bt_fmaf(p, m, 1.1676998740e-1f);
  p = bt_fmaf(p, m, -1.2420140846e-1f);
  p = bt_fmaf(p, m, 1.4249322787e-1f);
  p = bt_fmaf(p, m, -1.6668057665e-1f);
  p = bt_fmaf(p, m, 2.0000714765e-1f);
  p = bt_fmaf(p, m, -2.4999993993e-1f);
  p = bt_fmaf(p, m, 3.3333331174e-1f);
  float y = m * z * p;
  y = bt_fmaf(e, -2.12194440e-4f, y);
  y = bt_fmaf(-0.5f, z, y) + m;
  y = bt_fmaf(e, 0.693359375f, y);
  y = x == INFINITY ? x : y;
  y = x == 0.0f ? -INFINITY : y;
  return x < 0.0f || x != x ? NAN : y;
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
static inline float bt_sigmoidf(float x) {
  const float e = bt_expf(-fabsf(x));
  return (x < 0.0f ? e : 1.0f) / (1.0f + e);
}
/* ln(1 + x): the factor x / (u - 1) corrects the rounding error of u = 1 + x */
static inline float bt_log1pf(float x) {
  const float u = 1.0f + x, d = u - 1.0f;
  const float y = bt_logf(u) * (x / (d == 0.0f ? 1.0f : d));
  return d == 0.0f || x == INFINITY ? x : y;
}
static inline float bt_softplusf(float x) {
  return (x < 0.0f ? 0.0f : x) + bt_log1pf(bt_expf(-fabsf(x)));
}
static inline float bt_rsqrtf(float x) { return 1.0f / sqrtf(x); }

/* e^x as above; adding 1.5 2^52 rounds n and exposes it as an integer. Taylor series, |r| <= ln(2)/2 */
static inline double bt_exp(double x) {
  double c = x < -746.0 ? -746.0 : x;
  c = c > 710.0 ? 710.0 : c;
  const double shifted = c * 0x1.71547652b82fep+0 + 0x1.8p52;
  const double n = shifted - 0x1.8p52;
  double r = bt_fma(n, -0x1.62e42fefa3800p-1, c);
  r = bt_fma(n, -0x1.ef35793c76730p-45, r);
  double p = 0x1.6124613a86d09p-33;
  p = bt_fma(p, r, 0x1.1eed8eff8d898p-29);
  p = bt_fma(p, r, 0x1.ae64567f544e4p-26);
  p = bt_fma(p, r, 0x1.27e4fb7789f5cp-22);
  p = bt_fma(p, r, 0x1.71de3a556c734p-19);
  p = bt_fma(p, r, 0x1.a01a01a01a01ap-16);
  p = bt_fma(p, r, 0x1.a01a01a01a01ap-13);
  p = bt_fma(p, r, 0x1.6c16c16c16c17p-10);
  p = bt_fma(p, r, 0x1.1111111111111p-7);
  p = bt_fma(p, r, 0x1.5555555555555p-5);
  p = bt_fma(p, r, 0x1.5555555555555p-3);
  p = bt_fma(p, r, 0x1p-1);
  p = bt_fma(p * r, r, r) + 1.0;
  const int64_t k = bt_double_i(shifted) - 0x4338000000000000LL, h = (k + 2048) / 2 - 1024;
  return p * bt_bits_d((int64_t)((uint64_t)(h + 1023) << 52)) * bt_bits_d((int64_t)((uint64_t)(k - h + 1023) << 52));
}
/* ln(2^e m) = e ln(2) + 2 artanh(s), s = (m - 1)/(m + 1)      FreeBSD msun, e_log.c */
static inline double bt_log(double x) {
  const int tiny = x < 0x1p-1022;
  const int64_t i = bt_double_i(tiny ? x * 0x1p54 : x) - 0x3fe6a09e667f3bcdLL;
  /* e + 1024, converted to double through its bit pattern */
  const int64_t k = (int64_t)(((uint64_t)i + 0x4000000000000000u) >> 52);
  const double e = (bt_bits_d(k | 0x4330000000000000LL) - 0x1.00000000004p52) - (tiny ? 54.0 : 0.0);
  const double f = bt_bits_d((i & 0xfffffffffffffLL) + 0x3fe6a09e667f3bcdLL) - 1.0;
  const double s = f / (2.0 + f), z = s * s, w = 0.5 * f * f;
  double p = 1.479819860511658591e-01;
  p = bt_fma(p, z, 1.531383769920937332e-01);
  p = bt_fma(p, z, 1.818357216161805012e-01);
  p = bt_fma(p, z, 2.222219843214978396e-01);
  p = bt_fma(p, z, 2.857142874366239149e-01);
  p = bt_fma(p, z, 3.999999999940941908e-01);
  p = bt_fma(p, z, 6.666666666666735130e-01);
  const double low = bt_fma(s, bt_fma(p, z, w), e * 1.90821492927058770002e-10);
  double y = bt_fma(e, 6.93147180369123816490e-01, f - (w - low));
  y = x == INFINITY ? x : y;
  y = x == 0.0 ? -INFINITY : y;
  return x < 0.0 || x != x ? NAN : y;
}
static inline double bt_tanh(double x) {
  const double z = x * x;
  const double p = bt_fma(bt_fma(-9.64399179425052238628e-1, z, -9.92877231001918586564e1), z,
                          -1.61468768441708447952e3);
  const double q = bt_fma(bt_fma(z + 1.12811678491632931402e2, z, 2.23548839060100448583e3), z,
                          4.84406305325125486048e3);
  const double small = bt_fma(x * z, p / q, x);
  const double a = fabs(x);
  const double large = copysign(1.0 - 2.0 / (bt_exp(2.0 * a) + 1.0), x);
  return a < 0.625 ? small : large;
}
static inline double bt_sigmoid(double x) {
  const double e = bt_exp(-fabs(x));
  return (x < 0.0 ? e : 1.0) / (1.0 + e);
}
static inline double bt_log1p(double x) {
  const double u = 1.0 + x, d = u - 1.0;
  const double y = bt_log(u) * (x / (d == 0.0 ? 1.0 : d));
  return d == 0.0 || x == INFINITY ? x : y;
}
static inline double bt_softplus(double x) { return (x < 0.0 ? 0.0 : x) + bt_log1p(bt_exp(-fabs(x))); }
static inline double bt_lgamma(double x) { return bt_log_gamma(x); }
static inline float bt_lgammaf(float x) { return (float)bt_log_gamma((double)x); }
static inline double bt_rsqrt(double x) { return 1 / sqrt(x); }

/* propagates NaN */
static inline double bt_max(double a, double b) { return a != a || a > b ? a : b; }
static inline double bt_min(double a, double b) { return a != a || a < b ? a : b; }
static inline float bt_maxf(float a, float b) { return a != a || a > b ? a : b; }
static inline float bt_minf(float a, float b) { return a != a || a < b ? a : b; }
static inline double bt_sign(double x) { return x > 0 ? 1 : x < 0 ? -1 : x; }
static inline float bt_signf(float x) { return x > 0 ? 1.0f : x < 0 ? -1.0f : x; }
static inline double bt_mod(double a, double b) {
  const double r = fmod(a, b);
  if (r == 0) return copysign(r, b);
  return (r < 0) != (b < 0) ? r + b : r;
}
static inline float bt_modf(float a, float b) { return (float)bt_mod((double)a, (double)b); }

/* integers wrap; division by zero gives zero */
static inline int64_t bt_max_i(int64_t a, int64_t b) { return a > b ? a : b; }
static inline int64_t bt_min_i(int64_t a, int64_t b) { return a < b ? a : b; }
static inline int64_t bt_div_i(int64_t a, int64_t b) { return b == 0 ? 0 : b == -1 ? -a : a / b; }
static inline int64_t bt_rem_i(int64_t a, int64_t b) { return b == 0 || b == -1 ? 0 : a % b; }
static inline int64_t bt_mod_i(int64_t a, int64_t b) {
  const int64_t r = bt_rem_i(a, b);
  return r != 0 && (r < 0) != (b < 0) ? r + b : r;
}
static inline int64_t bt_pow_i(int64_t base, int64_t n) {
  if (n < 0) return bt_div_i(1, base) == 0 ? 0 : n % 2 ? base : 1;
  int64_t y = 1;
  for (; n; n >>= 1, base *= base)
    if (n & 1) y *= base;
  return y;
}
static inline int64_t bt_clamp_i(int64_t x, int64_t lo, int64_t hi) { return x < lo ? lo : x > hi ? hi : x; }

/* float to integer truncates and saturates; NaN becomes 0 */
static inline int64_t bt_to_i64(double x) {
  return x != x ? 0 : x >= 0x1p63 ? INT64_MAX : x <= -0x1p63 ? INT64_MIN : (int64_t)x;
}
static inline int32_t bt_to_i32(double x) { return (int32_t)bt_clamp_i(bt_to_i64(x), INT32_MIN, INT32_MAX); }
static inline uint32_t bt_to_u32(double x) { return (uint32_t)bt_clamp_i(bt_to_i64(x), 0, UINT32_MAX); }

/* 16-bit floats: round to nearest, ties to even, directly from double */
static inline double bt_round_to(double x, int mantissa, int emin, double largest) {
  if (!(fabs(x) < INFINITY) || x == 0) return x;
  int e;
  frexp(x, &e);
  const int q = (e - 1 > emin ? e - 1 : emin) - mantissa;
  const double r = ldexp(rint(ldexp(x, -q)), q);
  return fabs(r) > largest ? copysign(INFINITY, x) : r;
}
static inline uint16_t bt_store_bf16(double x) {
  const float r = (float)bt_round_to(x, 7, -126, 0x1.fep127);
  return (uint16_t)((uint32_t)bt_float_i(r) >> 16 | (x != x ? 0x40 : 0));
}
static inline float bt_load_bf16(uint16_t h) { return bt_bits_f((int32_t)((uint32_t)h << 16)); }
static inline uint16_t bt_store_f16(double x) {
  const double r = bt_round_to(x, 10, -14, 65504.0), a = fabs(r);
  const uint16_t sign = signbit(r) ? 0x8000 : 0;
  if (x != x) return sign | 0x7e00;
  if (a == INFINITY) return sign | 0x7c00;
  if (a < 0x1p-14) return sign | (uint16_t)(a * 0x1p24);
  int e;
  const double m = frexp(a, &e);
  return sign | (uint16_t)((e + 14) << 10) | ((uint16_t)(m * 2048) & 0x3ff);
}
static inline float bt_load_f16(uint16_t h) {
  const float sign = h & 0x8000 ? -1.0f : 1.0f;
  const int e = h >> 10 & 0x1f, m = h & 0x3ff;
  if (e == 0x1f) return m ? copysignf(NAN, sign) : sign * INFINITY;
  return e ? sign * (float)(m + 1024) * bt_bits_f((e - 25 + 127) << 23) : sign * (float)m * 0x1p-24f;
}

// SPDX-License-Identifier: Apache-2.0
// Top of C files that this process compiles for its own machine.
#define _GNU_SOURCE
#include <math.h>
#include <stdint.h>
#include <string.h>
#if defined(__FMA__) || defined(__aarch64__) || defined(FP_FAST_FMA)
#define bt_fma fma
#define bt_fmaf fmaf
#else /* without the instruction, the C library takes 50 times as long */
#define bt_fma(a, b, c) ((a) * (b) + (c))
#define bt_fmaf(a, b, c) ((a) * (b) + (c))
#endif
#define BT_ALIGNED __attribute__((aligned(64))) /* gcc 12 assumes 16-byte alignment when it fills arrays of doubles */
static inline double bt_log_gamma(double x) { int sign; return lgamma_r(x, &sign); }
#ifdef __clang__
#define BT_INDEPENDENT _Pragma("clang loop vectorize(assume_safety)")
#define BT_SHORT _Pragma("clang loop vectorize(assume_safety) unroll(disable)")
#define BT_AS_WRITTEN __attribute__((noinline, optnone))
#else
#define BT_INDEPENDENT _Pragma("GCC ivdep")
#define BT_SHORT _Pragma("GCC ivdep") _Pragma("GCC unroll 1")
#define BT_AS_WRITTEN __attribute__((noinline, optimize("O0")))
#endif

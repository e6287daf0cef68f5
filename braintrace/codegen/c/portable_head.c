// SPDX-License-Identifier: Apache-2.0
// Top of C files for any C99 compiler. Uses a fused multiply-add only if it is an instruction; a library call would
// dominate the run time.
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

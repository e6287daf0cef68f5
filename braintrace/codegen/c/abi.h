// SPDX-License-Identifier: Apache-2.0
// The ABI between compiled code and this library. It is defined once: the declarations are compiled here, and their
// text is emitted at the top of every C file.
//
// Functions and tasks return 0, or why they ended early: 1, an index is outside its axis; 2, the host threw; 3, `stop`
// became nonzero (base/long_run.h).
#pragma once

#include <cstdint>

namespace braintrace::codegen {

// A macro, because we need the same tokens as declarations and as text.
#define BRAINTRACE_ABI(...) \
  __VA_ARGS__               \
  inline constexpr char abi_text[] = #__VA_ARGS__;

BRAINTRACE_ABI(
    typedef struct bt_frame bt_frame; typedef int32_t(*bt_task)(const bt_frame* frame, int64_t begin, int64_t end);

    typedef void (*bt_product_f32)(int64_t M, int64_t n0, int64_t n1, int64_t K, const float* A, int64_t am, int64_t ak,
                                   const float* B, int64_t bk, int64_t bn, float* C, int64_t cm);
    typedef void (*bt_product_f64)(int64_t M, int64_t n0, int64_t n1, int64_t K, const double* A, int64_t am,
                                   int64_t ak, const double* B, int64_t bk, int64_t bn, double* C, int64_t cm);

    typedef struct bt_host {
      void*              self;
      const void* const* constants;
      int32_t (*call)(void* self, int32_t id, const void* const* in, void* const* out);
      int32_t (*parallel)(void* self, bt_task task, const bt_frame* frame, int64_t count, int64_t grain, int64_t first,
                          int64_t whole);
      bt_product_f32 matmul_f32;
      bt_product_f64 matmul_f64;
    } bt_host;

    struct bt_frame {
      const bt_host*          host;
      char*                   arena;
      const void* const*      in;
      void* const*            out;
      const volatile int32_t* stop;
    };

    typedef int32_t(*bt_function)(const bt_frame* frame);)

#undef BRAINTRACE_ABI

inline constexpr int abi_version = 4;

}  // namespace braintrace::codegen

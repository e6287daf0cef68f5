// SPDX-License-Identifier: Apache-2.0
// C[m,n] = Σ_k A[m,k] B[k,n], any strides of A and B, rows of C dense.
//
// Tiles of 8 rows and two vectors of columns stay in registers while k runs, blocks of A and B in the second cache.
// Where there are many rows, tiles ask memory for what the next ones need: the next panel of B, the next rows of A, and
// C; processors do not guess such leaps.
// Panels of B whose columns are not dense, or fewer than a tile, are copied first. Blocks of A that hold few elements
// other than zero, such as spikes, are multiplied event by event. Every element of C is summed in the order of k by
// fused multiply-adds, so its bits depend neither on tiles and events, nor on how columns are shared out among threads.
//
// The text is the same for every program and takes the compiler as long as many a program does: it is a file of its
// own.
#include <fmt/format.h>

#include "braintrace/base/error.h"
#include "braintrace/codegen/abi.h"
#include "braintrace/codegen/c_text.h"
#include "braintrace/codegen/dialect.h"
#include "braintrace/codegen/preamble.h"

namespace braintrace::codegen {

namespace {

const char* const products = R"c(
/* here, and only here, a product and a sum become one instruction */
#ifdef __clang__
#define BT_CONTRACTED
#define BT_CONTRACT _Pragma("clang fp contract(fast)")
#else
#define BT_CONTRACTED __attribute__((optimize("fp-contract=fast")))
#define BT_CONTRACT
#endif
#define BT_ROWS 8
#define BT_K_BLOCK 256
#define BT_ROW_BLOCK 384
#define BT_RARE 6           /* events win where fewer than one element in so many is not zero */
#define BT_EVENT_ROWS 32
#define BT_EVENT_COLUMNS 64 /* and enough columns pay for looking */
static inline int bt_is_zero(const void* from, int bytes) {
  uint64_t all = 0, word;
  for (int i = 0; i < bytes; i += 8) {
    memcpy(&word, (const char*)from + i, 8);
    all |= word;
  }
  return all == 0;
}
#define BT_MATMUL(T, name, lanes)                                                                                     \
  typedef T bt_vec_##name __attribute__((vector_size(64), aligned(sizeof(T)), may_alias));                            \
  /* a tile that fetches asks for a line per k at `ahead`, which the next ones need */                                \
  BT_CONTRACTED static inline __attribute__((always_inline)) void bt_tile_##name(                                     \
      int rows, int fetch, int64_t K, const T* A, int64_t am, int64_t ak, const T* B, int64_t bk, T* C, int64_t cm,   \
      int first, const T* ahead, int64_t stride) {                                                                    \
    BT_CONTRACT                                                                                                       \
    bt_vec_##name acc[BT_ROWS][2];                                                                                    \
    for (int m = 0; m < rows && fetch; ++m)                                                                           \
      for (int v = 0; v < 2; ++v) __builtin_prefetch(C + m * cm + v * lanes, 1);                                      \
    for (int m = 0; m < rows; ++m)                                                                                    \
      for (int v = 0; v < 2; ++v)                                                                                     \
        acc[m][v] = first ? (bt_vec_##name){0} : *(const bt_vec_##name*)(C + m * cm + v * lanes);                     \
    for (int64_t k = 0; k < K; ++k) {                                                                                 \
      if (fetch) __builtin_prefetch(ahead + k * stride);                                                              \
      const bt_vec_##name b0 = *(const bt_vec_##name*)(B + k * bk);                                                   \
      const bt_vec_##name b1 = *(const bt_vec_##name*)(B + k * bk + lanes);                                           \
      for (int m = 0; m < rows; ++m) {                                                                                \
        const T a = A[m * am + k * ak];                                                                               \
        acc[m][0] += a * b0;                                                                                          \
        acc[m][1] += a * b1;                                                                                          \
      }                                                                                                               \
    }                                                                                                                 \
    for (int m = 0; m < rows; ++m)                                                                                    \
      for (int v = 0; v < 2; ++v) *(bt_vec_##name*)(C + m * cm + v * lanes) = acc[m][v];                              \
  }                                                                                                                   \
  BT_CONTRACTED static void bt_rows_##name(int rows, int fetch, int64_t K, const T* A, int64_t am, int64_t ak,        \
                                           const T* B, int64_t bk, T* C, int64_t cm, int first, const T* ahead,       \
                                           int64_t stride) {                                                          \
    if (rows == 8 && fetch) {                                                                                         \
      bt_tile_##name(8, 1, K, A, am, ak, B, bk, C, cm, first, ahead, stride);                                         \
      return;                                                                                                         \
    }                                                                                                                 \
    switch (rows) {                                                                                                   \
      case 1:                                                                                                         \
        bt_tile_##name(1, 0, K, A, am, ak, B, bk, C, cm, first, 0, 0);                                                \
        break;                                                                                                        \
      case 2:                                                                                                         \
        bt_tile_##name(2, 0, K, A, am, ak, B, bk, C, cm, first, 0, 0);                                                \
        break;                                                                                                        \
      case 4:                                                                                                         \
        bt_tile_##name(4, 0, K, A, am, ak, B, bk, C, cm, first, 0, 0);                                                \
        break;                                                                                                        \
      default:                                                                                                        \
        bt_tile_##name(8, 0, K, A, am, ak, B, bk, C, cm, first, 0, 0);                                                \
    }                                                                                                                 \
  }                                                                                                                   \
  /* Σ over the places where A is not zero, for `vectors` vectors of columns */                                        \
  BT_CONTRACTED static inline __attribute__((always_inline)) void bt_event_panel_##name(                              \
      int vectors, int count, const int16_t* at, const T* A, int64_t ak, const T* B, int64_t bk, T* C, int first) {   \
    BT_CONTRACT                                                                                                       \
    bt_vec_##name acc[8];                                                                                             \
    for (int v = 0; v < vectors; ++v)                                                                                 \
      acc[v] = first ? (bt_vec_##name){0} : *(const bt_vec_##name*)(C + v * lanes);                                   \
    for (int e = 0; e < count; ++e) {                                                                                 \
      const T  a = A[at[e] * ak];                                                                                     \
      const T* b = B + at[e] * bk;                                                                                    \
      for (int v = 0; v < vectors; ++v) acc[v] += a * *(const bt_vec_##name*)(b + v * lanes);                         \
    }                                                                                                                 \
    for (int v = 0; v < vectors; ++v) *(bt_vec_##name*)(C + v * lanes) = acc[v];                                      \
  }                                                                                                                   \
  /* One block of C by events, when A is mostly zero and B is finite (0 · ∞ is not 0); says whether it did. */        \
  BT_CONTRACTED static int bt_events_##name(int64_t M, int64_t N, int64_t K, const T* A, int64_t am, int64_t ak,      \
                                            const T* B, int64_t bk, T* C, int64_t cm, int first) {                    \
    int64_t looked = 0, found = 0;                                                                                    \
    for (int64_t m = 0; m < M; m += 1 + M / 16)                                                                       \
      for (int64_t k = 0; k < K; k += 1 + K / 64) {                                                                   \
        ++looked;                                                                                                     \
        found += A[m * am + k * ak] != 0;                                                                             \
      }                                                                                                               \
    if (found * BT_RARE > looked) return 0;                                                                           \
    bt_vec_##name sum = {0};                                                                                          \
    for (int64_t k = 0; k < K; ++k)                                                                                   \
      for (int64_t n = 0; n < N; n += lanes) sum += 0 * *(const bt_vec_##name*)(B + k * bk + n);                      \
    for (int j = 0; j < lanes; ++j)                                                                                   \
      if (sum[j] != 0) return 0;                                                                                      \
    for (int64_t from = 0; from < M; from += BT_EVENT_ROWS) {                                                         \
      const int64_t rows = M - from < BT_EVENT_ROWS ? M - from : BT_EVENT_ROWS;                                       \
      int16_t       at[BT_EVENT_ROWS][BT_K_BLOCK + 1];                                                                \
      int32_t       count[BT_EVENT_ROWS] = {0};                                                                       \
      if (ak == 1)                                                                                                    \
        for (int64_t m = 0; m < rows; ++m)                                                                            \
          for (int64_t k = 0; k < K; k += 8) {                                                                        \
            const T* a    = A + (from + m) * am + k;                                                                  \
            const int wide = K - k < 8 ? (int)(K - k) : 8;                                                            \
            if (wide == 8 && bt_is_zero(a, 8 * sizeof(T))) continue;                                                  \
            for (int j = 0; j < wide; ++j) {                                                                          \
              at[m][count[m]] = (int16_t)(k + j);                                                                     \
              count[m] += a[j] != 0;                                                                                  \
            }                                                                                                         \
          }                                                                                                           \
      else                                                                                                            \
        for (int64_t k = 0; k < K; ++k)                                                                               \
          for (int64_t m = 0; m < rows; m += 8) {                                                                     \
            const T* a    = A + (from + m) * am + k * ak;                                                             \
            const int wide = rows - m < 8 ? (int)(rows - m) : 8;                                                      \
            if (wide == 8 && am == 1 && bt_is_zero(a, 8 * sizeof(T))) continue;                                       \
            for (int j = 0; j < wide; ++j) {                                                                          \
              at[m + j][count[m + j]] = (int16_t)k;                                                                   \
              count[m + j] += a[j * am] != 0;                                                                         \
            }                                                                                                         \
          }                                                                                                           \
      for (int64_t m = 0; m < rows; ++m) {                                                                            \
        const T* a = A + (from + m) * am;                                                                             \
        T*       c = C + (from + m) * cm;                                                                             \
        int64_t  n = 0;                                                                                               \
        for (; n + 8 * lanes <= N; n += 8 * lanes)                                                                    \
          bt_event_panel_##name(8, count[m], at[m], a, ak, B + n, bk, c + n, first);                                  \
        for (; n < N; n += lanes) bt_event_panel_##name(1, count[m], at[m], a, ak, B + n, bk, c + n, first);          \
      }                                                                                                               \
    }                                                                                                                 \
    return 1;                                                                                                         \
  }                                                                                                                   \
  /* the columns [n0, n1) of C */                                                                                     \
  static void bt_matmul_##name(int64_t M, int64_t n0, int64_t n1, int64_t K, const T* A, int64_t am, int64_t ak,      \
                               const T* B, int64_t bk, int64_t bn, T* C, int64_t cm) {                                \
    T panel[BT_K_BLOCK * 2 * lanes], edge[BT_ROWS * 2 * lanes];                                                       \
    if (K == 0)                                                                                                       \
      for (int64_t m = 0; m < M; ++m)                                                                                 \
        for (int64_t n = n0; n < n1; ++n) C[m * cm + n] = 0;                                                          \
    for (int64_t kb = 0; kb < K; kb += BT_K_BLOCK)                                                                    \
      for (int64_t mb = 0; mb < M; mb += BT_ROW_BLOCK) {                                                              \
        const int64_t kn = K - kb < BT_K_BLOCK ? K - kb : BT_K_BLOCK;                                                 \
        if (bn == 1 && n1 - n0 >= BT_EVENT_COLUMNS && (n1 - n0) % lanes == 0 &&                                       \
            bt_events_##name(M - mb < BT_ROW_BLOCK ? M - mb : BT_ROW_BLOCK, n1 - n0, kn, A + mb * am + kb * ak, am,   \
                             ak, B + kb * bk + n0, bk, C + mb * cm + n0, cm, kb == 0))                                \
          continue;                                                                                                   \
        for (int64_t n = n0; n < n1; n += 2 * lanes) {                                                                \
          const int64_t nn   = n1 - n < 2 * lanes ? n1 - n : 2 * lanes;                                               \
          const int64_t me   = M - mb < BT_ROW_BLOCK ? M : mb + BT_ROW_BLOCK;                                         \
          const T*      from = B + kb * bk + n * bn;                                                                  \
          int64_t       step = bk;                                                                                    \
          const int     more = n + 4 * lanes <= n1, fetch = me - mb > 2 * BT_ROWS;                                    \
          if (bn != 1 || nn < 2 * lanes) {                                                                            \
            if (bn == 1)                                                                                              \
              for (int64_t k = 0; k < kn; ++k)                                                                        \
                for (int64_t j = 0; j < 2 * lanes; ++j) panel[k * 2 * lanes + j] = j < nn ? from[k * bk + j] : 0;     \
            else                                                                                                      \
              for (int64_t j = 0; j < 2 * lanes; ++j)                                                                 \
                for (int64_t k = 0; k < kn; ++k) panel[k * 2 * lanes + j] = j < nn ? from[k * bk + j * bn] : 0;       \
            from = panel;                                                                                             \
            step = 2 * lanes;                                                                                         \
          }                                                                                                           \
          for (int64_t m = mb, rows; m < me; m += rows) {                                                             \
            rows            = me - m >= 8 ? 8 : me - m >= 4 ? 4 : me - m >= 2 ? 2 : 1;                                \
            const T* a      = A + m * am + kb * ak;                                                                   \
            T*       c      = C + m * cm + n;                                                                         \
            const T* ahead  = a;                                                                                      \
            int64_t  stride = 0;                                                                                      \
            /* the last two tiles ask for the next panel, others of the first panel for rows of A */                  \
            if (m + 2 * BT_ROWS >= me && step == bk && (more || kb + 2 * BT_K_BLOCK <= K)) {                          \
              ahead  = (more ? from + 2 * lanes : B + (kb + BT_K_BLOCK) * bk + n0) + (m + BT_ROWS >= me) * lanes;     \
              stride = bk;                                                                                            \
            } else if (n == n0 && m + 3 * BT_ROWS <= me && (ak == 1 ? am == kn : am == 1)) {                          \
              ahead  = ak == 1 ? a + BT_ROWS * am : a + 2 * BT_ROWS;                                                  \
              stride = ak == 1 ? BT_ROWS : ak;                                                                        \
            }                                                                                                         \
            if (nn == 2 * lanes) {                                                                                    \
              bt_rows_##name(rows, fetch, kn, a, am, ak, from, step, c, cm, kb == 0, ahead, stride);                  \
            } else {                                                                                                  \
              for (int i = 0; i < rows && kb; ++i)                                                                    \
                for (int64_t j = 0; j < nn; ++j) edge[i * 2 * lanes + j] = c[i * cm + j];                             \
              bt_rows_##name(rows, fetch, kn, a, am, ak, from, step, edge, 2 * lanes, kb == 0, ahead, stride);        \
              for (int i = 0; i < rows; ++i)                                                                          \
                for (int64_t j = 0; j < nn; ++j) c[i * cm + j] = edge[i * 2 * lanes + j];                             \
            }                                                                                                         \
          }                                                                                                           \
        }                                                                                                             \
      }                                                                                                               \
  }
)c";

}  // namespace

std::string product_source(DType t) {
  ensure(t == DType::F32 || t == DType::F64, "codegen: no matrix products of {}", name_of(t));
  const std::string name(name_of(t));
  return fmt::format(
      "/* emitted by braintrace, interface {0} */\n{1}{2}BT_MATMUL({3}, {4}, {5})\nbt_product_{4} bt_product(void) {{ "
      "return bt_matmul_{4}; }}\n",
      abi_version, head_of(Dialect::Native), products, storage_type(t), name, t == DType::F32 ? 16 : 8);
}

}  // namespace braintrace::codegen

// SPDX-License-Identifier: Apache-2.0
// C[m,n] = Σ_k A[m,k] B[k,n], with any strides of A and B; rows of C are contiguous.
//
// Register tiling: tiles of 8 rows and two vectors of columns stay in registers while k runs; blocks of B stay in the
// L2 cache. Tiles prefetch C and the operands of the next tiles, a panel of B or rows of A, because hardware
// prefetchers do not predict these jumps. Up to four rows are computed in tiles of four vectors. Panels of B with
// non-contiguous columns are packed, and so is a product narrower than a tile; otherwise the last columns are a tile
// that overlaps the one before. Blocks of A that are mostly zero, such as spikes, are multiplied event by event. Every
// element of C is summed in the order of k by fused multiply-adds, so its bits do not depend on tiles, events, or the
// partition of columns among threads.
//
// The text is the same for every program and takes long to compile, so it is a separate file.
#include "braintrace/backends/cpu/matrix_product.h"

#include <fmt/format.h>

#include "braintrace/base/error.h"
#include "braintrace/codegen/c/abi.h"
#include "braintrace/codegen/c/c_text.h"
#include "braintrace/codegen/c/dialect.h"

namespace braintrace::cpu {

namespace {

const char* const products = R"c(
/* Here, and only here, a product and a sum become one instruction. Vectors are written out and loops over the rows and
   vectors of a tile marked, so that GCC need not look for more, which takes it long; Clang unrolls them anyway. */
#ifdef __clang__
#pragma clang fp contract(fast)
#define BT_UNROLLED for
#else
#define BT_UNROLLED _Pragma("GCC unroll 8") for
#ifdef __OPTIMIZE__
#pragma GCC optimize("O2", "fp-contract=fast")
#endif
#endif
/* Tiles of BT_ROWS rows and two vectors fit in the registers, and so do those of few rows and BT_WIDE vectors. */
#if defined(__AVX512F__)
#define BT_VECTOR 64        /* bytes; 32 registers */
#elif defined(__AVX__)
#define BT_VECTOR 32        /* 16 registers */
#else
#define BT_VECTOR 16        /* NEON has 32 registers, SSE 16 */
#endif
#if defined(__AVX512F__) || defined(__aarch64__)
#define BT_ROWS 8
#define BT_WIDE 4
#else
#define BT_ROWS 6
#define BT_WIDE 2
#endif
/* GCC would load the value again for each of its uses. */
#if defined(__x86_64__)
#define BT_KEEP(x) __asm__("" : "+v"(x))
#elif defined(__aarch64__)
#define BT_KEEP(x) __asm__("" : "+w"(x))
#else
#define BT_KEEP(x)
#endif
#define BT_FEW_ROWS 4
#define BT_ROWS_AHEAD 6     /* rows of B that are on their way to the L1 cache */
#define BT_L1 32768         /* bytes of B that stay there */
#define BT_K_BLOCK 256
#define BT_ROW_BLOCK 1024
#define BT_RARE 6           /* events win where fewer than one element in so many is not zero */
#define BT_EVENT_ROWS 64
#define BT_EVENT_COLUMNS 33 /* and enough columns pay for looking */
#ifdef __AVX2__
#define BT_HAS_SIGNS 1
#define BT_SIGNS(T) (32 / (int64_t)sizeof(T))
#define BT_SIGNS_f32(v) __builtin_ia32_movmskps256(v)
#define BT_SIGNS_f64(v) __builtin_ia32_movmskpd256(v)
#else
#define BT_HAS_SIGNS 0
#define BT_SIGNS(T) 1
#define BT_SIGNS_f32(v) 0
#define BT_SIGNS_f64(v) 0
#endif
#if BT_ROWS == 8
#define BT_TALL_TILES(name) BT_TILE(name, 8, 2) BT_TILE(name, 7, 2)
#else
#define BT_TALL_TILES(name)
#endif
#if BT_WIDE == 4
#define BT_WIDE_TILES(name) BT_TILE(name, 4, 4) BT_TILE(name, 3, 4) BT_TILE(name, 2, 4) BT_TILE(name, 1, 4)
#else
#define BT_WIDE_TILES(name)
#endif
#define BT_TILE(name, r, v)                                                                                           \
  if (rows == r && vectors == v) bt_tile_##name(r, v, K, A, am, ak, B, bk, C, cm, first, ahead, stride);
#define BT_MATMUL(T, name, lanes)                                                                                     \
  typedef T bt_vec_##name __attribute__((vector_size(BT_VECTOR), aligned(sizeof(T)), may_alias));                     \
  typedef T bt_half_##name __attribute__((vector_size(32), aligned(sizeof(T)), may_alias));                           \
  /* Whole tiles ask for C, and for a line per k at `ahead`, which the next ones need. */                             \
  static inline __attribute__((always_inline)) void bt_tile_##name(                                                   \
      int rows, int vectors, int64_t K, const T* A, int64_t am, int64_t ak, const T* B, int64_t bk, T* C, int64_t cm, \
      int first, const T* ahead, int64_t stride) {                                                                    \
    bt_vec_##name acc[8][4], b[4];                                                                                    \
    if (rows == BT_ROWS)                                                                                              \
      BT_UNROLLED (int m = 0; m < rows; ++m)                                                                          \
        BT_UNROLLED (int v = 0; v < vectors; ++v) __builtin_prefetch(C + m * cm + v * lanes, 1);                      \
    BT_UNROLLED (int m = 0; m < rows; ++m)                                                                            \
      BT_UNROLLED (int v = 0; v < vectors; ++v)                                                                       \
        acc[m][v] = first ? (bt_vec_##name){0} : *(const bt_vec_##name*)(C + m * cm + v * lanes);                     \
    const T *low = A, *high = A + 4 * am; /* fewer registers than a stride for each row */                            \
    for (int64_t k = 0; k < K; ++k, low += ak, high += ak, ahead += stride) {                                         \
      if (rows == BT_ROWS) __builtin_prefetch(ahead);                                                                 \
      if (vectors == 4 && stride)                                                                                     \
        BT_UNROLLED (int v = 0; v < vectors; ++v) __builtin_prefetch(ahead + v * lanes);                              \
      BT_UNROLLED (int v = 0; v < vectors; ++v) {                                                                     \
        b[v] = *(const bt_vec_##name*)(B + k * bk + v * lanes);                                                       \
        BT_KEEP(b[v]);                                                                                                \
      }                                                                                                               \
      BT_UNROLLED (int m = 0; m < rows; ++m) {                                                                        \
        const T a = (m < 4 ? low : high)[m % 4 * am];                                                                 \
        BT_UNROLLED (int v = 0; v < vectors; ++v) acc[m][v] += a * b[v];                                              \
      }                                                                                                               \
    }                                                                                                                 \
    BT_UNROLLED (int m = 0; m < rows; ++m)                                                                            \
      BT_UNROLLED (int v = 0; v < vectors; ++v) *(bt_vec_##name*)(C + m * cm + v * lanes) = acc[m][v];                \
  }                                                                                                                   \
  static void bt_rows_##name(int rows, int vectors, int64_t K, const T* A, int64_t am, int64_t ak, const T* B,        \
                             int64_t bk, T* C, int64_t cm, int first, const T* ahead, int64_t stride) {               \
    BT_TALL_TILES(name)                                                                                               \
    BT_TILE(name, 6, 2)                                                                                               \
    BT_TILE(name, 5, 2)                                                                                               \
    BT_TILE(name, 4, 2)                                                                                               \
    BT_TILE(name, 3, 2)                                                                                               \
    BT_TILE(name, 2, 2)                                                                                               \
    BT_TILE(name, 1, 2)                                                                                               \
    BT_WIDE_TILES(name)                                                                                               \
    BT_TILE(name, 8, 1)                                                                                               \
    BT_TILE(name, 4, 1)                                                                                               \
    BT_TILE(name, 2, 1)                                                                                               \
    BT_TILE(name, 1, 1)                                                                                               \
  }                                                                                                                   \
  /* a panel of B with dense columns, filled up with zeros */                                                         \
  __attribute__((optimize("O3"))) static void bt_panel_##name(int64_t K, int64_t N, const T* B, int64_t bk,           \
                                                              int64_t bn, T* restrict to) {                           \
    if (bn == 1)                                                                                                      \
      for (int64_t k = 0; k < K; ++k)                                                                                 \
        for (int64_t j = 0; j < 2 * lanes; ++j) to[k * 2 * lanes + j] = j < N ? B[k * bk + j] : 0;                    \
    else                                                                                                              \
      for (int64_t j = 0; j < 2 * lanes; ++j)                                                                         \
        for (int64_t k = 0; k < K; ++k) to[k * 2 * lanes + j] = j < N ? B[k * bk + j * bn] : 0;                       \
  }                                                                                                                   \
  /* the places among at most 64 where a is not zero, as bits */                                                      \
  static inline uint64_t bt_places_##name(const T* a, int64_t stride, int64_t count) {                                \
    uint64_t places = 0;                                                                                              \
    int64_t  i      = 0;                                                                                              \
    for (; BT_HAS_SIGNS && stride == 1 && i + BT_SIGNS(T) <= count; i += BT_SIGNS(T))                                 \
      places |= (uint64_t)BT_SIGNS_##name((bt_half_##name)(*(const bt_half_##name*)(a + i) != 0)) << i;               \
    for (; i < count; ++i) places |= (uint64_t)(a[i * stride] != 0) << i;                                             \
    return places;                                                                                                    \
  }                                                                                                                   \
  /* to = C + Σ over the places where A is not zero, for `vectors` vectors of columns; returns 0 if all is finite */  \
  static inline __attribute__((always_inline)) bt_vec_##name bt_event_panel_##name(                                   \
      int vectors, int count, const uint8_t* at, const T* A, int64_t ak, const T* B, int64_t bk, const T* C, T* to,   \
      int first) {                                                                                                    \
    bt_vec_##name acc[8], sum = {0};                                                                                  \
    BT_UNROLLED (int v = 0; v < vectors; ++v)                                                                         \
      acc[v] = first ? (bt_vec_##name){0} : *(const bt_vec_##name*)(C + v * lanes);                                   \
    for (int e = 0; e < count; ++e) {                                                                                 \
      const T  a = A[at[e] * ak];                                                                                     \
      const T* b = B + at[e] * bk;                                                                                    \
      BT_UNROLLED (int v = 0; v < vectors; ++v) acc[v] += a * *(const bt_vec_##name*)(b + v * lanes);                 \
    }                                                                                                                 \
    BT_UNROLLED (int v = 0; v < vectors; ++v) {                                                                       \
      *(bt_vec_##name*)(to + v * lanes) = acc[v];                                                                     \
      sum += 0 * acc[v];                                                                                              \
    }                                                                                                                 \
    return sum;                                                                                                       \
  }                                                                                                                   \
  /* One block of C by events: 1 if A is mostly zero and B is finite; 0 if A is not, and nothing was done; -1 if */   \
  /* B is not, and C is of no use, as 0 · ∞ is not 0. Rows of B that meet an event show in C that they are finite. */ \
  static int bt_events_##name(int64_t M, int64_t N, int64_t K, const T* A, int64_t am, int64_t ak, const T* B,        \
                              int64_t bk, T* C, int64_t cm, int first) {                                              \
    int64_t looked = 0, found = 0;                                                                                    \
    for (int64_t m = 0; m < M; m += 1 + M / 8)                                                                        \
      for (int64_t k = 0; k < K; k += 1 + K / 16) {                                                                   \
        ++looked;                                                                                                     \
        found += A[m * am + k * ak] != 0;                                                                             \
      }                                                                                                               \
    if (found * BT_RARE > looked) return 0;                                                                           \
    uint64_t      seen[BT_K_BLOCK / 64] = {0};                                                                        \
    bt_vec_##name sum                   = {0};                                                                        \
    for (int64_t from = 0; from < M; from += BT_EVENT_ROWS) {                                                         \
      const int64_t rows = M - from < BT_EVENT_ROWS ? M - from : BT_EVENT_ROWS;                                       \
      uint8_t       at[BT_EVENT_ROWS][BT_K_BLOCK];                                                                    \
      int32_t       count[BT_EVENT_ROWS] = {0};                                                                       \
      if (am == 1)                                                                                                    \
        for (int64_t k = 0; k < K; ++k) {                                                                             \
          uint64_t places = bt_places_##name(A + from + k * ak, 1, rows);                                             \
          seen[k / 64] |= (uint64_t)(places != 0) << k % 64;                                                          \
          for (; places; places &= places - 1) {                                                                      \
            const int m       = __builtin_ctzll(places);                                                              \
            at[m][count[m]++] = (uint8_t)k;                                                                           \
          }                                                                                                           \
        }                                                                                                             \
      else                                                                                                            \
        for (int64_t m = 0; m < rows; ++m)                                                                            \
          for (int64_t k = 0; k < K; k += 64) {                                                                       \
            uint64_t places = bt_places_##name(A + (from + m) * am + k * ak, ak, K - k < 64 ? K - k : 64);            \
            seen[k / 64] |= places;                                                                                   \
            for (; places; places &= places - 1) at[m][count[m]++] = (uint8_t)(k + __builtin_ctzll(places));          \
          }                                                                                                           \
      for (int64_t m = 0; m < rows; ++m) {                                                                            \
        const T* a = A + (from + m) * am;                                                                             \
        T*       c = C + (from + m) * cm;                                                                             \
        int64_t  n = 0;                                                                                               \
        T        rest[lanes]; /* the last columns overlap those before */                                             \
        if (N % lanes)                                                                                                \
          sum += bt_event_panel_##name(1, count[m], at[m], a, ak, B + N - lanes, bk, c + N - lanes, rest, first);     \
        for (; n + 8 * lanes <= N; n += 8 * lanes)                                                                    \
          sum += bt_event_panel_##name(8, count[m], at[m], a, ak, B + n, bk, c + n, c + n, first);                    \
        for (; n + lanes <= N; n += lanes)                                                                            \
          sum += bt_event_panel_##name(1, count[m], at[m], a, ak, B + n, bk, c + n, c + n, first);                    \
        if (N % lanes) *(bt_vec_##name*)(c + N - lanes) = *(const bt_vec_##name*)rest;                                \
      }                                                                                                               \
    }                                                                                                                 \
    for (int64_t k = 0; k < K; ++k) {                                                                                 \
      bt_vec_##name row = {0};                                                                                        \
      if (seen[k / 64] >> k % 64 & 1) continue;                                                                       \
      for (int64_t n = 0; n < N; n += lanes)                                                                          \
        row += 0 * *(const bt_vec_##name*)(B + k * bk + (n + lanes <= N ? n : N - lanes));                            \
      sum += row;                                                                                                     \
    }                                                                                                                 \
    for (int j = 0; j < lanes; ++j)                                                                                   \
      if (sum[j] != 0) return -1;                                                                                     \
    return 1;                                                                                                         \
  }                                                                                                                   \
  /* the columns [n0, n1) of C */                                                                                     \
  static void bt_matmul_##name(int64_t M, int64_t n0, int64_t n1, int64_t K, const T* A, int64_t am, int64_t ak,      \
                               const T* B, int64_t bk, int64_t bn, T* C, int64_t cm) {                                \
    T   panel[BT_K_BLOCK * 2 * lanes], edge[8 * 2 * lanes];                                                           \
    int by_events = bn == 1 && n1 - n0 >= BT_EVENT_COLUMNS;                                                           \
    if (K == 0)                                                                                                       \
      for (int64_t m = 0; m < M; ++m)                                                                                 \
        for (int64_t n = n0; n < n1; ++n) C[m * cm + n] = 0;                                                          \
    for (int64_t kb = 0; kb < K; kb += BT_K_BLOCK)                                                                    \
      for (int64_t mb = 0; mb < M; mb += BT_ROW_BLOCK) {                                                              \
        const int64_t kn = K - kb < BT_K_BLOCK ? K - kb : BT_K_BLOCK;                                                 \
        const int64_t me = M - mb < BT_ROW_BLOCK ? M : mb + BT_ROW_BLOCK;                                             \
        const int     done =                                                                                          \
            by_events ? bt_events_##name(me - mb, n1 - n0, kn, A + mb * am + kb * ak, am, ak, B + kb * bk + n0, bk,   \
                                         C + mb * cm + n0, cm, kb == 0)                                               \
                      : 0;                                                                                            \
        if (done > 0) continue;                                                                                       \
        if (done < 0) {                                                                                               \
          by_events = 0;                                                                                              \
          kb        = -BT_K_BLOCK; /* from the beginning */                                                           \
          break;                                                                                                      \
        }                                                                                                             \
        /* few rows: wide tiles have enough sums to hide latency, and ask for B unless it is in the L1 cache */       \
        int64_t       n   = n0;                                                                                       \
        const int64_t far = kn * (n1 - n0) * (int64_t)sizeof(T) > BT_L1 ? bk : 0;                                     \
        if (BT_WIDE == 4 && me - mb <= BT_FEW_ROWS && bn == 1)                                                        \
          for (; n + 4 * lanes <= n1; n += 4 * lanes)                                                                 \
            bt_rows_##name((int)(me - mb), 4, kn, A + mb * am + kb * ak, am, ak, B + kb * bk + n, bk,                 \
                           C + mb * cm + n, cm, kb == 0, B + (kb + BT_ROWS_AHEAD) * bk + n, far);                     \
        for (; n < n1; n += 2 * lanes) {                                                                              \
          const int64_t nn      = n1 - n < 2 * lanes ? n1 - n : 2 * lanes;                                            \
          const int     vectors = nn > lanes ? 2 : 1;                                                                 \
          const int64_t wide    = vectors * lanes;                                                                    \
          const int     more    = n + 4 * lanes <= n1; /* there is another panel like this */                         \
          const T*      from    = B + kb * bk + n * bn;                                                               \
          int64_t       step    = bk;                                                                                 \
          int64_t       skipped = 0; /* columns of the tile before those that are wanted */                           \
          if (bn == 1 && nn < wide && wide <= n1 - n0) {                                                              \
            skipped = wide - nn;                                                                                      \
            from -= skipped;                                                                                          \
          } else if (bn != 1 || nn < wide) {                                                                          \
            bt_panel_##name(kn, nn, from, bk, bn, panel);                                                             \
            from = panel;                                                                                             \
            step = 2 * lanes;                                                                                         \
          }                                                                                                           \
          for (int64_t m = mb, rows; m < me; m += rows) {                                                             \
            const T* a      = A + m * am + kb * ak;                                                                   \
            T*       c      = C + m * cm + n;                                                                         \
            rows            = vectors == 2  ? me - m < BT_ROWS ? me - m : BT_ROWS                                     \
                              : me - m >= 8 ? 8                                                                       \
                              : me - m >= 4 ? 4                                                                       \
                              : me - m >= 2 ? 2                                                                       \
                                            : 1;                                                                      \
            const T* ahead  = a;                                                                                      \
            int64_t  stride = 0;                                                                                      \
            /* the last two tiles ask for the next panel, others of the first panel for rows of A */                  \
            if (m + 2 * BT_ROWS >= me && from != panel && (more || kb + 2 * BT_K_BLOCK <= K)) {                       \
              ahead  = (more ? from + 2 * lanes : B + (kb + BT_K_BLOCK) * bk + n0) + (m + BT_ROWS >= me) * lanes;     \
              stride = bk;                                                                                            \
            } else if (n == n0 && m + 3 * BT_ROWS <= me && (ak == 1 ? am == kn : am == 1)) {                          \
              ahead  = ak == 1 ? a + BT_ROWS * am : a + 2 * BT_ROWS;                                                  \
              stride = ak == 1 ? BT_ROWS : ak;                                                                        \
            }                                                                                                         \
            if (nn == wide) {                                                                                         \
              bt_rows_##name(rows, vectors, kn, a, am, ak, from, step, c, cm, kb == 0, ahead, stride);                \
            } else {                                                                                                  \
              for (int i = 0; i < rows && kb; ++i)                                                                    \
                for (int64_t j = -skipped; j < nn; ++j) edge[i * wide + skipped + j] = c[i * cm + j];                 \
              bt_rows_##name(rows, vectors, kn, a, am, ak, from, step, edge, wide, kb == 0, ahead, stride);           \
              for (int i = 0; i < rows; ++i)                                                                          \
                for (int64_t j = 0; j < nn; ++j) c[i * cm + j] = edge[i * wide + skipped + j];                        \
            }                                                                                                         \
          }                                                                                                           \
        }                                                                                                             \
      }                                                                                                               \
  }
)c";

}  // namespace

std::string product_source(DType t) {
  ensure(t == DType::F32 || t == DType::F64, "cpu: no matrix products of {}", name_of(t));
  const std::string name(name_of(t));
  return fmt::format(
      "/* emitted by braintrace, interface {0} */\n{1}{2}BT_MATMUL({3}, {4}, (BT_VECTOR / {5}))\n"
      "bt_product_{4} bt_product(void) {{ return bt_matmul_{4}; }}\n",
      codegen::abi_version, codegen::head_of(codegen::Dialect::Native), products, codegen::storage_type(t), name,
      size_of(t));
}

}  // namespace braintrace::cpu

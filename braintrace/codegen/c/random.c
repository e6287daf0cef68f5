// SPDX-License-Identifier: Apache-2.0
// Philox 4x32-10 (Salmon et al. 2011) with the counters of ops/random.cpp: bit-identical to the interpreter.
#include "braintrace/codegen/c/native_head.c"

typedef struct bt_words { uint32_t w[4]; } bt_words;
static inline bt_words bt_draw(const uint32_t* key, uint32_t kind, uint64_t element, uint32_t attempt) {
  uint32_t a = (uint32_t)element, b = (uint32_t)(element >> 32), c = kind, d = attempt, k = key[0], l = key[1];
  for (int round = 0; round < 10; ++round) {
    const uint64_t p = (uint64_t)0xD2511F53u * a, q = (uint64_t)0xCD9E8D57u * c;
    a = (uint32_t)(q >> 32) ^ b ^ k;
    c = (uint32_t)(p >> 32) ^ d ^ l;
    b = (uint32_t)q;
    d = (uint32_t)p;
    k += 0x9E3779B9u;
    l += 0xBB67AE85u;
  }
  const bt_words words = {{a, b, c, d}};
  return words;
}
static inline double bt_unit(uint32_t high, uint32_t low) {
  return (double)((uint64_t)high << 21 ^ low >> 11) * 0x1p-53;
}
static inline double bt_uniform(const uint32_t* key, uint64_t i, double grid) {
  const bt_words r = bt_draw(key, 3, i, 0);
  return floor(bt_unit(r.w[0], r.w[1]) * grid) / grid;
}
static inline double bt_normal(const uint32_t* key, uint64_t i) {
  const bt_words r = bt_draw(key, 4, i, 0);
  return sqrt(-2 * log(1 - bt_unit(r.w[0], r.w[1]))) * cos(2 * 0x1.921fb54442d18p+1 * bt_unit(r.w[2], r.w[3]));
}

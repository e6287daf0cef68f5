// SPDX-License-Identifier: Apache-2.0
#include "braintrace/nn/orthonormal.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "braintrace/functions/jit.h"
#include "braintrace/ops/contract.h"
#include "braintrace/ops/math.h"

namespace braintrace::nn {

namespace {

using Values = std::vector<double>;

size_t at(int64_t i, int64_t j, int64_t cols) { return static_cast<size_t>(i * cols + j); }

// Columns of normal numbers made orthonormal by modified Gram–Schmidt, twice for accuracy. The diagonal of R is
// positive, which makes Q uniform. O(m n²) in one thread, for matrices that are not worth compiled code.
Values by_gram_schmidt(int64_t m, int64_t n, Rng& rng) {
  std::vector<Values> q(static_cast<size_t>(n), Values(static_cast<size_t>(m)));
  for (auto& column : q)
    for (double& x : column) x = rng.normal();
  for (size_t j = 0; j < q.size(); ++j) {
    for (int pass = 0; pass < 2; ++pass)
      for (size_t i = 0; i < j; ++i) {
        const double p = std::inner_product(q[i].begin(), q[i].end(), q[j].begin(), 0.0);
        for (size_t k = 0; k < q[j].size(); ++k) q[j][k] -= p * q[i][k];
      }
    const double norm = std::sqrt(std::inner_product(q[j].begin(), q[j].end(), q[j].begin(), 0.0));
    for (double& x : q[j]) x /= norm;
  }
  Values out(static_cast<size_t>(m * n));
  for (int64_t i = 0; i < m; ++i)
    for (int64_t j = 0; j < n; ++j) out[at(i, j, n)] = q[static_cast<size_t>(j)][static_cast<size_t>(i)];
  return out;
}

// Q = H_0 H_1 … H_{n-1} D, the Q of a matrix of normal numbers whose R has a positive diagonal (Stewart 1980). What
// Householder's method meets of column k, once the reflections before are applied, are m-k normal numbers again, so
// they are drawn when they are needed and no matrix is factored:
//
//   x ~ N(0, I_{m-k}),  v = x + sign(x_0) ‖x‖ e_0,  H_k = I - 2 v vᵀ/‖v‖²,  D_kk = -sign(x_0)
//
// A block of them is one pair of matrix products, rows of V being the normed v:  H_0 … H_{b-1} = I - Vᵀ T V  with
// T⁻¹ = I/2 + the part of V Vᵀ above its diagonal.
constexpr int64_t block = 256;
constexpr int64_t segments =
    4;  // of the columns; in each, blocks work on what is not yet the identity at its beginning

struct Block {
  Values v;      // [block, length]; rows past the last reflection are zero
  Values signs;  // D
};
Block drawn_block(int64_t first, int64_t last, int64_t begin, int64_t m, Rng& rng) {
  const int64_t length = m - begin;
  Block         b{Values(static_cast<size_t>(block * length)), {}};
  for (int64_t k = first; k < last; ++k) {
    double* v      = &b.v[at(k - first, k - begin, length)];
    double  square = 0;
    for (int64_t i = 0; i < m - k; ++i) {
      v[i] = rng.normal();
      square += v[i] * v[i];
    }
    const double sign = v[0] < 0 ? -1 : 1, x0 = v[0];
    v[0] += sign * std::sqrt(square);
    const double norm = std::sqrt(square - x0 * x0 + v[0] * v[0]);
    for (int64_t i = 0; i < m - k; ++i) v[i] /= norm;
    b.signs.push_back(-sign);
  }
  return b;
}

Tensor matrix(int64_t rows, int64_t cols, const Values& values) {
  return Tensor(from_doubles({DType::F64, {rows, cols}}, values));
}

// T of a block from G = V Vᵀ, column by column: T[:j,j] = -2 T[:j,:j] G[:j,j].
Values triangular_factor(const Array& G) {
  const auto* g = G.data<double>();
  Values      T(static_cast<size_t>(block * block));
  for (int64_t j = 0; j < block; ++j) {
    T[at(j, j, block)] = 2;
    for (int64_t i = 0; i < j; ++i) {
      double sum = 0;
      for (int64_t k = i; k < j; ++k) sum += T[at(i, k, block)] * g[at(k, j, block)];
      T[at(i, j, block)] = -2 * sum;
    }
  }
  return T;
}

Values by_reflections(int64_t m, int64_t n, Rng& rng) {
  const auto    gram    = jit([](const Tensor& V) { return dot_general(V, V, {{1}, {1}, {}, {}}); });
  const auto    reflect = jit([](const Tensor& Q, const Tensor& V, const Tensor& T) {
    return Q - dot_general(V, dot(T, dot(V, Q)), {{0}, {0}, {}, {}});
  });
  const int64_t blocks = (n + block - 1) / block, part = (blocks + segments - 1) / segments;
  Values        Q, signs(static_cast<size_t>(n));
  int64_t       end = n;  // Q is that of rows and columns from here on
  for (int64_t from = (blocks - 1) / part * part; from >= 0; from -= part) {
    const int64_t begin = from * block, rows = m - begin, cols = n - begin;
    Values        wider(static_cast<size_t>(rows * cols));
    for (int64_t i = 0; i < cols; ++i) wider[at(i, i, cols)] = 1;
    for (int64_t i = end; i < m && end < n; ++i)
      std::copy_n(&Q[at(i - end, 0, n - end)], n - end, &wider[at(i - begin, end - begin, cols)]);
    Tensor q = matrix(rows, cols, wider);
    for (int64_t b = std::min(from + part, blocks) - 1; b >= from; --b) {
      const int64_t first = b * block, last = std::min(first + block, n);
      const Block   drawn = drawn_block(first, last, begin, m, rng);
      const Tensor  V     = matrix(block, rows, drawn.v);
      q                   = reflect(q, V, matrix(block, block, triangular_factor(gram(V).array())));
      std::copy(drawn.signs.begin(), drawn.signs.end(), signs.begin() + first);
    }
    const Array result = q.array();
    Q.assign(result.data<double>(), result.data<double>() + result.size());
    end = begin;
  }
  for (int64_t i = 0; i < m; ++i)
    for (int64_t j = 0; j < n; ++j) Q[at(i, j, n)] *= signs[static_cast<size_t>(j)];
  return Q;
}

}  // namespace

std::vector<double> orthonormal(int64_t rows, int64_t cols, Rng& rng) {
  const int64_t m = std::max(rows, cols), n = std::min(rows, cols);
  Values        Q = n <= block ? by_gram_schmidt(m, n, rng) : by_reflections(m, n, rng);
  if (rows >= cols) return Q;
  Values out(Q.size());
  for (int64_t i = 0; i < m; ++i)
    for (int64_t j = 0; j < n; ++j) out[at(j, i, m)] = Q[at(i, j, n)];
  return out;
}

}  // namespace braintrace::nn

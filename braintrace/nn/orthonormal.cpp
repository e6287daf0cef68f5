// SPDX-License-Identifier: Apache-2.0
#include "braintrace/nn/orthonormal.h"

#include <algorithm>
#include <cmath>
#include <functional>
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
// T⁻¹ = I/2 + the part of V Vᵀ above its diagonal. Columns of Q do not meet: a panel of them is taken through all
// blocks that change it, which are its own and those before it, while it lies in the caches.
constexpr int64_t block    = 256;  // reflections, and columns of a panel
constexpr int64_t segments = 4;    // of the rows; a block leaves the rows of segments before its own alone

// Columns are cut into blocks, and blocks into segments.
struct Cut {
  Cut(int64_t m, int64_t n) : m(m), n(n), blocks((n + block - 1) / block), part((blocks + segments - 1) / segments) {}
  int64_t first(int64_t b) const { return b * block; }
  int64_t last(int64_t b) const { return std::min(first(b) + block, n); }
  int64_t begin(int64_t b) const { return b / part * part * block; }  // the first row that block b works on
  int64_t rows(int64_t b) const { return m - begin(b); }

  int64_t m, n, blocks, part;
};

Array matrix(int64_t rows, int64_t cols) { return Array({DType::F64, {rows, cols}}); }

struct Block {
  Array  V;      // [block, rows]; rows past the last reflection are zero
  Values signs;  // D
};
Block drawn_block(const Cut& cut, int64_t b, Rng& rng) {
  const int64_t length = cut.rows(b);
  Block         out{matrix(block, length), {}};
  for (int64_t k = cut.first(b); k < cut.last(b); ++k) {
    double*       v      = out.V.mutable_data<double>() + at(k - cut.first(b), k - cut.begin(b), length);
    const int64_t count  = cut.m - k;
    double        square = 0;
    for (int64_t i = 0; i < count; ++i) {
      v[i] = rng.normal();
      square += v[i] * v[i];
    }
    const double sign = v[0] < 0 ? -1 : 1, x0 = v[0];
    v[0] += sign * std::sqrt(square);
    const double norm = std::sqrt(square - x0 * x0 + v[0] * v[0]);
    for (int64_t i = 0; i < count; ++i) v[i] /= norm;
    out.signs.push_back(-sign);
  }
  return out;
}

// T of a block from G = V Vᵀ, row by row: T[i,j] = -2 Σ_{i≤k<j} T[i,k] G[k,j], T[i,i] = 2.
Tensor triangular_factor(const Array& G) {
  const auto* g   = G.data<double>();
  Array       out = matrix(block, block);
  for (int64_t i = 0; i < block; ++i) {
    double* T = out.mutable_data<double>() + at(i, 0, block);
    T[i]      = 2;
    for (int64_t k = i; k < block; ++k) {
      if (k > i) T[k] *= -2;
      for (int64_t j = k + 1; j < block; ++j) T[j] += T[k] * g[at(k, j, block)];
    }
  }
  return Tensor(out);
}

// Column c of the identity in every column of the panel of block b.
Tensor identity_panel(const Cut& cut, int64_t b) {
  Array         out  = matrix(cut.rows(b), block);
  const int64_t from = cut.first(b) - cut.begin(b);
  for (int64_t c = 0; c < cut.last(b) - cut.first(b); ++c) out.mutable_data<double>()[at(from + c, c, block)] = 1;
  return Tensor(out);
}
// With rows of zeros before the others.
Tensor taller(const Tensor& panel, int64_t rows) {
  Array       out  = matrix(rows, block);
  const Array from = panel.array();
  std::copy_n(from.data<double>(), from.size(), out.mutable_data<double>() + (out.size() - from.size()));
  return Tensor(out);
}

Values by_reflections(int64_t m, int64_t n, Rng& rng) {
  const auto          gram    = jit([](const Tensor& V) { return dot_general(V, V, {{1}, {1}, {}, {}}); });
  const auto          reflect = jit([](const Tensor& Q, const Tensor& V, const Tensor& T) {
    return Q - dot_general(V, dot(T, dot(V, Q)), {{0}, {0}, {}, {}});
  });
  const Cut           cut(m, n);
  const auto          count = static_cast<size_t>(cut.blocks);
  Tensors             V(count), T(count);
  std::vector<Values> signs(count);
  for (size_t b = count; b-- > 0;) {
    Block drawn = drawn_block(cut, static_cast<int64_t>(b), rng);
    V[b]        = Tensor(drawn.V);
    T[b]        = triangular_factor(gram(V[b]).array());
    signs[b]    = std::move(drawn.signs);
  }
  Values Q(static_cast<size_t>(m * n));
  for (int64_t p = 0; p < cut.blocks; ++p) {
    Tensor panel = identity_panel(cut, p);
    for (int64_t b = p; b >= 0; --b) {
      if (panel.shape()[0] < cut.rows(b)) panel = taller(panel, cut.rows(b));
      panel = reflect(panel, V[static_cast<size_t>(b)], T[static_cast<size_t>(b)]);
    }
    const Array   done = panel.array();
    const double* from = done.data<double>();
    const Values& sign = signs[static_cast<size_t>(p)];
    for (int64_t i = 0; i < m; ++i, from += block)
      std::transform(sign.begin(), sign.end(), from, &Q[at(i, cut.first(p), n)], std::multiplies<>());
  }
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

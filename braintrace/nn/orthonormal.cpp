// SPDX-License-Identifier: Apache-2.0
#include "braintrace/nn/orthonormal.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <type_traits>

#include "braintrace/base/parallel.h"
#include "braintrace/functions/jit.h"
#include "braintrace/ops/contract.h"
#include "braintrace/ops/math.h"
#include "braintrace/ops/move.h"

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

// Q = H_0 H_1 … H_{n-1} D, the Q of a matrix of normal numbers whose R has a positive diagonal (Stewart 1980). After
// the earlier reflections, the part of column k that Householder's method uses consists again of m-k normal numbers, so
// they are drawn when needed and no matrix is factored:
//
//   x ~ N(0, I_{m-k}),  v = x + sign(x_0) ‖x‖ e_0,  H_k = I - 2 v vᵀ/‖v‖²,  D_kk = -sign(x_0)
//
// A block of reflections is one pair of matrix products, where the rows of V are the normalized v: H_0 … H_{b-1} = I -
// Vᵀ T V with T⁻¹ = half the diagonal of G = V Vᵀ, plus the part above it. Columns of Q are independent: a panel of
// them passes through all blocks that change it, its own and those before it, while it is in the cache.
//
// In f32 V is rounded first and G of the rounded V is computed in f64: each block is therefore orthogonal to the
// precision of its products, and Qᵀ Q is I within about 1e-6.
constexpr int64_t block    = 256;  // reflections, and columns of a panel
constexpr int64_t segments = 4;    // of the rows; a block leaves the rows of segments before its own alone

// Columns are divided into blocks, and blocks into segments.
struct Cut {
  Cut(int64_t m, int64_t n) : m(m), n(n), blocks((n + block - 1) / block), part((blocks + segments - 1) / segments) {}
  int64_t first(int64_t b) const { return b * block; }
  int64_t last(int64_t b) const { return std::min(first(b) + block, n); }
  int64_t begin(int64_t b) const { return b / part * part * block; }  // the first row that block b works on
  int64_t rows(int64_t b) const { return m - begin(b); }

  int64_t m, n, blocks, part;
};

Array matrix(int64_t rows, int64_t cols, DType t = DType::F64) { return Array({t, {rows, cols}}); }

// Calls f with the elements of a matrix in f32 or f64.
template <class F>
void with_elements(Array& a, const F& f) {
  a.dtype() == DType::F32 ? f(a.mutable_data<float>()) : f(a.mutable_data<double>());
}
template <class F>
void with_elements(const Array& a, const F& f) {
  a.dtype() == DType::F32 ? f(a.data<float>()) : f(a.data<double>());
}

struct Block {
  Array  V;      // [block, rows]; rows past the last reflection are zero
  Values signs;  // D
};
// The numbers of the blocks from last to first follow each other in the stream, four for each normal one.
Block drawn_block(const Cut& cut, int64_t b, Rng rng, DType precision) {
  const auto left = [&](int64_t k) { return (cut.m - k) * (cut.m - k + 1) / 2; };  // elements of v from the k-th on
  rng.count += 4 * static_cast<uint64_t>(left(cut.last(b)) - left(cut.n));
  const int64_t length = cut.rows(b);
  Block         out{matrix(block, length, precision), {}};
  for (int64_t k = cut.first(b); k < cut.last(b); ++k) {
    Values v(static_cast<size_t>(cut.m - k));
    double square = 0;
    for (double& x : v) {
      x = rng.normal();
      square += x * x;
    }
    const double sign = v[0] < 0 ? -1 : 1, x0 = v[0];
    v[0] += sign * std::sqrt(square);
    const double norm = std::sqrt(square - x0 * x0 + v[0] * v[0]);
    with_elements(out.V, [&](auto* V) {
      V += at(k - cut.first(b), k - cut.begin(b), length);
      for (double x : v) *V++ = static_cast<std::remove_reference_t<decltype(*V)>>(x / norm);
    });
    out.signs.push_back(-sign);
  }
  return out;
}

// T of a block from G = V Vᵀ, row by row: T[i,j] = -2 Σ_{i≤k<j} T[i,k] G[k,j] / G[j,j], T[i,i] = 2 / G[i,i]. Rows past
// the last reflection are zero in V and may be anything here.
Tensor triangular_factor(const Array& G) {
  const auto* g   = G.data<double>();
  Array       out = matrix(block, block);
  for (int64_t i = 0; i < block; ++i) {
    double*    T     = out.mutable_data<double>() + at(i, 0, block);
    const auto twice = [&](int64_t k) { return g[at(k, k, block)] > 0 ? 2 / g[at(k, k, block)] : 2; };
    T[i]             = twice(i);
    for (int64_t k = i; k < block; ++k) {
      if (k > i) T[k] *= -twice(k);
      for (int64_t j = k + 1; j < block; ++j) T[j] += T[k] * g[at(k, j, block)];
    }
  }
  return Tensor(out);
}

// Column c of the identity in every column of the panel of block b.
Tensor identity_panel(const Cut& cut, int64_t b, DType precision) {
  Array         out  = matrix(cut.rows(b), block, precision);
  const int64_t from = cut.first(b) - cut.begin(b);
  with_elements(out, [&](auto* panel) {
    for (int64_t c = 0; c < cut.last(b) - cut.first(b); ++c) panel[at(from + c, c, block)] = 1;
  });
  return Tensor(out);
}
// With rows of zeros before the others.
Tensor taller(const Tensor& panel, int64_t rows) {
  return concat({zeros({rows - panel.shape()[0], block}, panel.dtype()), panel}, 0);
}

Values by_reflections(int64_t m, int64_t n, Rng& rng, DType precision) {
  const auto         gram    = jit([](const Tensor& V) {
    const Tensor wide = convert(V, DType::F64);
    return dot_general(wide, wide, {{1}, {1}, {}, {}});
  });
  const auto         reflect = jit([](const Tensor& Q, const Tensor& V, const Tensor& T) {
    return Q - dot_general(V, dot(T, dot(V, Q)), {{0}, {0}, {}, {}});
  });
  const Cut          cut(m, n);
  std::vector<Block> drawn(static_cast<size_t>(cut.blocks));
  in_parallel(cut.blocks, 1,
              [&](int64_t b, int64_t) { drawn[static_cast<size_t>(b)] = drawn_block(cut, b, rng, precision); });
  rng.count += 4 * static_cast<uint64_t>(n * m - n * (n - 1) / 2);
  Tensors V, T;
  for (const Block& block : drawn) {
    V.emplace_back(block.V);
    T.push_back(convert(triangular_factor(gram(V.back()).array()), precision));
  }
  Values Q(static_cast<size_t>(m * n));
  for (int64_t p = 0; p < cut.blocks; ++p) {
    Tensor panel = identity_panel(cut, p, precision);
    for (int64_t b = p; b >= 0; --b) {
      if (panel.shape()[0] < cut.rows(b)) panel = taller(panel, cut.rows(b));
      panel = reflect(panel, V[static_cast<size_t>(b)], T[static_cast<size_t>(b)]);
    }
    const Array   done = panel.array();
    const Values& sign = drawn[static_cast<size_t>(p)].signs;
    with_elements(done, [&](const auto* from) {
      in_parallel(m, 1024, [&](int64_t first, int64_t last) {
        for (int64_t i = first; i < last; ++i)
          std::transform(sign.begin(), sign.end(), from + i * block, &Q[at(i, cut.first(p), n)], std::multiplies<>());
      });
    });
  }
  return Q;
}

}  // namespace

std::vector<double> orthonormal(int64_t rows, int64_t cols, Rng& rng, DType precision) {
  const int64_t m = std::max(rows, cols), n = std::min(rows, cols);
  const DType   wide = precision == DType::F64 ? DType::F64 : DType::F32;
  Values        Q    = n <= block ? by_gram_schmidt(m, n, rng) : by_reflections(m, n, rng, wide);
  if (rows >= cols) return Q;
  Values out(Q.size());
  for (int64_t i = 0; i < m; ++i)
    for (int64_t j = 0; j < n; ++j) out[at(j, i, m)] = Q[at(i, j, n)];
  return out;
}

}  // namespace braintrace::nn

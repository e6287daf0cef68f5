// SPDX-License-Identifier: Apache-2.0
#include "tests/oracle/tape.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace braintrace::oracle {

namespace {

double sigma(double x) { return 1 / (1 + std::exp(-x)); }

struct Runner {
  const Model&                m;
  const Data&                 data;
  const std::vector<Numbers>& states;
  size_t                      step;
  Tape                        t = {};

  int    at(int n, int64_t i) const { return t.first[n] + static_cast<int>(i); }
  double val(int n, int64_t i) const { return t.value[at(n, i)]; }
  int    add(double value, std::vector<Tape::Read> reads, int n) {
       t.value.push_back(value);
       t.reads.push_back(std::move(reads));
       t.node.push_back(n);
       return static_cast<int>(t.value.size()) - 1;
  }
  Sizes   full(int n) const { return m.full(m.nodes[n]); }
  int64_t size(int n) const { return count(full(n)); }
  // The place of operand k of node n that meets element i of the result.
  int met(int n, int k, int64_t i) const {
    const int a = m.nodes[n].in[k];
    return at(a, broadcast_index(full(a), full(n), i));
  }

  void run() {
    for (int n = 0; n < static_cast<int>(m.nodes.size()); ++n) {
      const Node& node = m.nodes[n];
      if (is_trainable(node.kind)) {
        trainable(n);
        continue;
      }
      t.first.push_back(static_cast<int>(t.value.size()));
      if (node.kind == Kind::Dot)
        dot(n);
      else if (node.kind == Kind::Sum)
        sum(n);
      else
        for (int64_t i = 0; i < size(n); ++i) element(n, i);
    }
  }

  void element(int n, int64_t i) {
    const Node&   node  = m.nodes[n];
    const auto    leaf  = [&](const Numbers& from) { add(from.at(static_cast<size_t>(i)), {}, n); };
    const auto    unary = [&](double y, double slope) { add(y, {{met(n, 0, i), slope}}, n); };
    const auto    a     = [&] { return t.value[met(n, 0, i)]; };
    const auto    b     = [&] { return t.value[met(n, 1, i)]; };
    const int64_t width = node.shape.empty() ? 1 : node.shape.back(), row = i / width * width, column = i % width;
    switch (node.kind) {
      case Kind::Input:
        return leaf(data.inputs[step]);
      case Kind::Target:
        return leaf(data.targets[step]);
      case Kind::Param:
        return leaf(data.params[node.index]);
      case Kind::Old:
        return leaf(states[node.index]);
      case Kind::Set:
      case Kind::Output:
        return unary(a(), 1);
      case Kind::Affine:
        return unary(node.number * a() + node.offset, node.number);
      case Kind::Tanh:
        return unary(std::tanh(a()), 1 - std::tanh(a()) * std::tanh(a()));
      case Kind::Sigmoid:
        return unary(sigma(a()), sigma(a()) * (1 - sigma(a())));
      case Kind::Square:
        return unary(a() * a(), 2 * a());
      case Kind::Spike:
        return unary(a() >= 0 ? 1 : 0, 4 * sigma(4 * a()) * (1 - sigma(4 * a())));
      case Kind::Stop:
        add(a(), {}, n);
        return;
      case Kind::Add:
        add(a() + b(), {{met(n, 0, i), 1}, {met(n, 1, i), 1}}, n);
        return;
      case Kind::Sub:
        add(a() - b(), {{met(n, 0, i), 1}, {met(n, 1, i), -1}}, n);
        return;
      case Kind::Mul:
        add(a() * b(), {{met(n, 0, i), b()}, {met(n, 1, i), a()}}, n);
        return;
      case Kind::Select: {
        const bool first = t.value[met(n, 2, i)] > 0.1;
        add(first ? a() : b(), {{met(n, 0, i), first ? 1.0 : 0.0}, {met(n, 1, i), first ? 0.0 : 1.0}}, n);
        return;
      }
      case Kind::Roll: {
        const int from = at(node.in[0], row + (column + width - 1) % width);
        add(t.value[from], {{from, 1}}, n);
        return;
      }
      case Kind::MeanSub:
      case Kind::CumSum: {
        double                  total = 0;
        std::vector<Tape::Read> reads;
        for (int64_t k = 0; k < width; ++k) {
          const double c = node.kind == Kind::CumSum ? (k <= column ? 1.0 : 0.0)
                                                     : (k == column ? 1.0 : 0.0) - 1.0 / static_cast<double>(width);
          if (node.kind == Kind::CumSum && k > column) continue;
          reads.push_back({at(node.in[0], row + k), c});
          total += c * val(node.in[0], row + k);
        }
        add(total, std::move(reads), n);
        return;
      }
      case Kind::Mean: {
        const int64_t           w     = m.nodes[node.in[0]].shape.back();
        double                  total = 0;
        std::vector<Tape::Read> reads;
        for (int64_t k = 0; k < w; ++k) {
          reads.push_back({at(node.in[0], i * w + k), 1.0 / static_cast<double>(w)});
          total += val(node.in[0], i * w + k) / static_cast<double>(w);
        }
        add(total, std::move(reads), n);
        return;
      }
      case Kind::Concat: {
        const int64_t left = m.nodes[node.in[0]].shape.back(), right = width - left, r = i / width;
        const int from = column < left ? at(node.in[0], r * left + column) : at(node.in[1], r * right + column - left);
        add(t.value[from], {{from, 1}}, n);
        return;
      }
      case Kind::Reshape: {
        const int from = at(node.in[0], i);
        add(t.value[from], {{from, 1}}, n);
        return;
      }
      default:
        return;
    }
  }

  void sum(int n) {
    const int               a     = m.nodes[n].in[0];
    double                  total = 0;
    std::vector<Tape::Read> reads;
    for (int64_t i = 0; i < size(a); ++i) {
      total += val(a, i);
      reads.push_back({at(a, i), 1});
    }
    add(total, std::move(reads), n);
  }

  void dot(int n) {
    const int     a = m.nodes[n].in[0], w = m.nodes[n].in[1];
    const int64_t I = m.nodes[w].shape[0], O = m.nodes[w].shape[1];
    for (int64_t i = 0; i < size(n); ++i) {
      double                  total = 0;
      std::vector<Tape::Read> reads;
      for (int64_t k = 0; k < I; ++k) {
        const int x = at(a, i / O * I + k), v = at(w, k * O + i % O);
        total += t.value[x] * t.value[v];
        reads.push_back({x, t.value[v]});
        reads.push_back({v, t.value[x]});
      }
      add(total, std::move(reads), n);
    }
  }

  void trainable(int n) {
    const Node&      node = m.nodes[n];
    Tape::Trainable  e{n, {}, {}, {}};
    const size_t     first_weight = reads_x(node.kind) ? 1 : 0;
    std::vector<int> begins;  // of each operand among the operands
    for (size_t k = first_weight; k < node.in.size(); ++k) {
      begins.push_back(static_cast<int>(e.operands.size()));
      for (int64_t i = 0; i < size(node.in[k]); ++i)
        e.operands.push_back(add(val(node.in[k], i), {{at(node.in[k], i), 1}}, -1));
    }
    const auto w = [&](int k) { return t.value[e.operands[k]]; };
    t.first.push_back(static_cast<int>(t.value.size()));
    const bool by_row = node.kind == Kind::Embedding;
    if (reads_x(node.kind) && !by_row)
      for (int64_t i = 0; i < size(node.in[0]); ++i) e.x.push_back(val(node.in[0], i));
    if (by_row) {  // one row of the table: a one at its number
      const int64_t in = m.nodes[node.in[0]].shape.back();
      e.x.assign(static_cast<size_t>(size(node.in[0]) / in * 2), 0);
      for (size_t r = 0; r < e.x.size() / 2; ++r) e.x[2 * r + (val(node.in[0], static_cast<int64_t>(r) * in) > 0)] = 1;
    }
    std::vector<std::vector<double>> by_x(static_cast<size_t>(size(n)));  // ∂y[p]/∂x, and what p reads of it
    std::vector<std::vector<int>>    which(by_x.size());
    const auto                       pair = [&](int64_t p, int64_t x, int64_t k) {  // y[p] += x·w[k]
      e.terms.push_back({static_cast<int>(p), static_cast<int>(x), static_cast<int>(k), 1});
      which[p].push_back(static_cast<int>(x));
      by_x[p].push_back(w(static_cast<int>(k)));
    };
    const Sizes shape = m.nodes[node.in[first_weight]].shape;
    for (int64_t p = 0; p < size(n); ++p) {
      switch (node.kind) {
        case Kind::Matmul:
        case Kind::Embedding: {
          const int64_t I = shape[0], O = shape[1];
          for (int64_t i = 0; i < I; ++i) pair(p, p / O * I + i, i * O + p % O);
          if (begins.size() > 1) e.terms.push_back({static_cast<int>(p), -1, begins[1] + static_cast<int>(p % O), 1});
          break;
        }
        case Kind::Lora: {
          const int64_t I = shape[0], R = shape[1], O = m.nodes[node.in[2]].shape[1];
          for (int64_t i = 0; i < I; ++i)
            for (int64_t r = 0; r < R; ++r) {
              const int x = static_cast<int>(p / O * I + i), B = static_cast<int>(i * R + r),
                        A = begins[1] + static_cast<int>(r * O + p % O);
              e.terms.push_back({static_cast<int>(p), x, B, 0.7 * w(A)});
              e.terms.push_back({static_cast<int>(p), x, A, 0.7 * w(B)});
              which[p].push_back(x);
              by_x[p].push_back(0.7 * w(B) * w(A));
            }
          break;
        }
        case Kind::Grouped: {
          const int64_t G = shape[0], K = shape[1], N = shape[2], g = p / N % G, b = p / N / G;
          for (int64_t k = 0; k < K; ++k) pair(p, (b * G + g) * K + k, (g * K + k) * N + p % N);
          break;
        }
        case Kind::Conv: {
          const int64_t K = shape[0], C = shape[2], L = m.nodes[node.in[0]].shape[0], l = p / C % (L - K + 1),
                        b = p / C / (L - K + 1);
          for (int64_t k = 0; k < K; ++k) pair(p, b * L + l + k, k * C + p % C);
          break;
        }
        case Kind::Einsum: {
          const bool    turned = node.shape.size() == 1;
          const int64_t I = shape[turned ? 1 : 0], O = shape[turned ? 0 : 1], o = p % O;
          for (int64_t i = 0; i < I; ++i) pair(p, p / O * I + i, turned ? o * I + i : i * O + o);
          break;
        }
        case Kind::Sparse: {
          const int64_t I = m.nodes[node.in[0]].shape.back(), O = node.shape.back();
          for (int64_t k = 0; k < shape[0]; ++k)
            if ((k + k / I) % O == p % O) pair(p, p / O * I + k % I, k);
          break;
        }
        default:
          e.terms.push_back({static_cast<int>(p), -1, static_cast<int>(p), 1});
      }
    }
    for (int64_t p = 0; p < size(n); ++p) {
      double                  y = 0;
      std::vector<Tape::Read> reads;
      for (const Tape::Term& term : e.terms)
        if (term.p == p) reads.push_back({e.operands[term.w], e.slope(term, e.x)});
      for (const Tape::Term& term : e.terms)
        if (term.p == p && !(node.kind == Kind::Lora && term.w >= begins[1])) y += e.slope(term, e.x) * w(term.w);
      for (size_t k = 0; k < which[p].size() && !by_row; ++k)
        reads.push_back({at(node.in[0], which[p][k]), by_x[p][k]});
      add(y, std::move(reads), n);
    }
    t.trainables.push_back(std::move(e));
  }
};

}  // namespace

int64_t broadcast_index(const Sizes& from, const Sizes& to, int64_t flat) {
  int64_t index = 0, stride = 1;
  for (size_t i = 0; i < to.size(); ++i) {
    const size_t  d = to.size() - 1 - i;
    const int64_t c = flat % to[d];
    flat /= to[d];
    if (i >= from.size()) continue;
    const int64_t n = from[from.size() - 1 - i];
    if (n != 1) index += c * stride;
    stride *= n;
  }
  return index;
}

Numbers Tape::pull(const std::vector<Seed>& seeds, const Held& held) const {
  Numbers adjoint(value.size());
  for (const Seed& s : seeds) adjoint[s.place] += s.value;
  for (int i = static_cast<int>(value.size()) - 1; i >= 0; --i)
    if (adjoint[i] != 0 && !held(i))
      for (const Read& r : reads[i]) adjoint[r.place] += r.partial * adjoint[i];
  return adjoint;
}

std::vector<bool> Tape::sources(int place, const Held& held) const {
  std::vector<bool> reached(value.size());
  reached[place] = true;
  for (int i = place; i >= 0; --i)
    if (reached[i] && !held(i))
      for (const Read& r : reads[i]) reached[r.place] = true;
  return reached;
}

std::vector<int> Tape::places(const Model& m, int n) const {
  std::vector<int> out(static_cast<size_t>(count(m.full(m.nodes[n]))));
  std::iota(out.begin(), out.end(), first[n]);
  return out;
}

Tape run_step(const Model& model, const Data& data, const std::vector<Numbers>& states, size_t step) {
  Runner r{model, data, states, step};
  r.run();
  return std::move(r.t);
}

}  // namespace braintrace::oracle

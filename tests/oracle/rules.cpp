// SPDX-License-Identifier: Apache-2.0
// The recursions of the rules over the quantities of the steps.
#include <algorithm>
#include <cmath>

#include "tests/oracle/oracle.h"

namespace braintrace::oracle {

namespace {

void add(Grads& into, const Grads& g) {
  for (size_t i = 0; i < into.size(); ++i)
    for (size_t k = 0; k < into[i].size(); ++k) into[i][k] += g[i][k];
}
void add(Numbers& into, const Numbers& v, double factor = 1) {
  for (size_t i = 0; i < into.size(); ++i) into[i] += factor * v[i];
}
Numbers minus(Numbers a, const Numbers& b) {
  add(a, b, -1);
  return a;
}

}  // namespace

Numbers Oracle::instant(const Facts& at, size_t relation) const {
  const Relation& r = relations_[relation];
  const auto&     e = at.tape.trainables[r.trainable];
  const size_t    P = groups_[r.group].P, S = groups_[r.group].S, W = e.operands.size();
  Numbers         out(P * S * W);
  for (size_t p = 0; p < P; ++p)
    for (const Tape::Term& t : e.terms)
      if (t.p == r.y_of[p])
        for (size_t a = 0; a < S; ++a) out[(p * S + a) * W + t.w] += at.D_f[relation][p * S + a] * e.slope(t, e.x);
  return out;
}

void Oracle::advance(const Facts& at, Traces& traces) const {
  for (size_t r = 0; r < relations_.size(); ++r) {
    const size_t   P = groups_[relations_[r].group].P, S = groups_[relations_[r].group].S;
    const Numbers& D   = at.D[relations_[r].group];
    Numbers        now = instant(at, r);
    const size_t   W   = now.size() / (P * S);
    if (traces[r].empty()) traces[r].resize(now.size());
    for (size_t p = 0; p < P; ++p)
      for (size_t a = 0; a < S; ++a)
        for (size_t b = 0; b < S; ++b)
          for (size_t w = 0; w < W; ++w)
            now[(p * S + a) * W + w] += D[(p * S + a) * S + b] * traces[r][(p * S + b) * W + w];
    traces[r] = std::move(now);
  }
}

void Oracle::add_contracted(const Facts& at, size_t relation, const Numbers& ell, const Numbers& trace,
                            Grads& into) const {
  if (trace.empty()) return;
  const size_t W = trace.size() / ell.size();
  Numbers      operands(W);
  for (size_t i = 0; i < ell.size(); ++i)
    for (size_t w = 0; w < W; ++w) operands[w] += ell[i] * trace[i * W + w];
  add_chain(at.tape, relations_[relation].trainable, operands, into);
}

Numbers Oracle::through_D(const Facts& at, int group, const Numbers& v) const {
  const size_t P = groups_[group].P, S = groups_[group].S;
  Numbers      out(v.size());
  for (size_t p = 0; p < P; ++p)
    for (size_t a = 0; a < S; ++a)
      for (size_t b = 0; b < S; ++b) out[p * S + b] += at.D[group][(p * S + a) * S + b] * v[p * S + a];
  return out;
}

// from the states   L'[…,k,a] = Σ_l L[…,l,a] / (‖L[…,:,a]‖ + 1e-8) B[l,k]        B: that of the group's first state
// from the output   L'[…,k,a] = Σ_l δ[…,l] / (‖δ[…,:]‖ + 1e-8) B_a[l,k]
std::vector<Numbers> Oracle::received(const Facts& at, Feedback feedback) const {
  std::vector<Numbers> out = at.L;
  if (feedback == Feedback::None) return out;
  for (const Relation& r : relations_) {
    const Group&  g = groups_[r.group];
    const int64_t n = g.positions.back(), rows = g.P / n;
    const auto    n_out = static_cast<int64_t>(m_.nodes[m_.output].shape.back());
    for (int64_t row = 0; row < rows; ++row)
      for (int64_t a = 0; a < g.S; ++a) {
        const bool     states = feedback == Feedback::States;
        const Numbers& B      = states ? data_.feedback_states[g.states[0]] : data_.feedback_outputs[g.states[a]];
        Numbers        source;
        const int64_t  delta_row = m_.batch > 0 ? row / (rows / m_.batch) : 0;
        if (states)
          for (int64_t l = 0; l < n; ++l) source.push_back(at.L[r.group][(row * n + l) * g.S + a]);
        else
          for (int64_t l = 0; l < n_out; ++l) source.push_back(at.delta[delta_row * n_out + l]);
        double norm = 0;
        for (double v : source) norm += v * v;
        norm = std::sqrt(norm) + 1e-8;
        for (int64_t k = 0; k < n; ++k) {
          double& v = out[r.group][(row * n + k) * g.S + a];
          v         = 0;
          for (size_t l = 0; l < source.size(); ++l) v += source[l] / norm * B[l * n + k];
        }
      }
  }
  return out;
}

// ε_t = D_t ε_{t-1} + D_f ∂y/∂w      ē_t = κ ē_{t-1} + ε_t
// ∇_t = s_t + Σ Cᵀ(L'_t · ē_t − L_t · D_f ∂y/∂w + O_t · ε_{t-1})
std::vector<Grads> Oracle::eprop_steps(const EpropOptions& o) const {
  std::vector<Grads> out;
  Traces             eps(relations_.size()), filtered(relations_.size());
  for (const Facts& f : steps_) {
    Grads        g      = f.s;
    const Traces before = eps;
    const auto   given  = received(f, o.feedback);
    advance(f, eps);
    for (size_t r = 0; r < relations_.size(); ++r) {
      const int group = relations_[r].group;
      filtered[r].resize(eps[r].size());
      for (size_t i = 0; i < eps[r].size(); ++i) filtered[r][i] = o.kappa * filtered[r][i] + eps[r][i];
      add_contracted(f, r, given[group], filtered[r], g);
      add_contracted(f, r, minus(Numbers(f.L[group].size()), f.L[group]), instant(f, r), g);
      add_contracted(f, r, f.O[group], before[r], g);
    }
    out.push_back(std::move(g));
  }
  return out;
}

// λ_t = L'_t + F_t    μ_t = L'_t + κ μ_{t+1}    F_t = κ μ_{t+1} + D_{t+1}ᵀ λ_{t+1} + O_{t+1}
// ∇ = Σ s_t + Σ Pull(F_t) + Σ Cᵀ((L'_t − L_t) · D_f ∂y/∂w) + Cᵀ((D_aᵀ λ_a + O_a) · ε_{a-1} + κ μ_a · ē_{a-1})
std::vector<Grads> Oracle::eprop_windows(const EpropOptions& o, const Sizes& lengths) const {
  std::vector<Grads> out;
  Traces             eps(relations_.size()), filtered(relations_.size());
  size_t             a = 0;
  for (int64_t length : lengths) {
    const size_t         n = groups_.size(), b = a + static_cast<size_t>(length);
    Grads                grads = zero();
    std::vector<Numbers> F(n), filter(n);  // F_t, and κ μ_{t+1} inside it
    for (size_t g = 0; g < n; ++g) F[g].resize(steps_[0].L[g].size()), filter[g].resize(F[g].size());
    for (size_t t = b; t-- > a;) {
      const Facts& f     = steps_[t];
      const auto   given = received(f, o.feedback);
      add(grads, f.s);
      for (size_t r = 0; r < relations_.size(); ++r)
        add_contracted(f, r, minus(given[relations_[r].group], f.L[relations_[r].group]), instant(f, r), grads);
      for (size_t g = 0; g < n; ++g) {
        add_pull(f.tape, static_cast<int>(g), F[g], grads);
        Numbers lambda = given[g], mu = given[g];
        add(lambda, F[g]);
        add(mu, filter[g]);
        for (size_t i = 0; i < mu.size(); ++i) filter[g][i] = o.kappa * mu[i];
        F[g] = through_D(f, static_cast<int>(g), lambda);
        add(F[g], f.O[g]);
        if (t > a) add(F[g], filter[g]);
      }
    }
    for (size_t r = 0; r < relations_.size(); ++r) {
      add_contracted(steps_[a], r, F[relations_[r].group], eps[r], grads);
      add_contracted(steps_[a], r, filter[relations_[r].group], filtered[r], grads);
    }
    for (; a < b; ++a) {
      advance(steps_[a], eps);
      for (size_t r = 0; r < relations_.size(); ++r) {
        filtered[r].resize(eps[r].size());
        for (size_t i = 0; i < eps[r].size(); ++i) filtered[r][i] = o.kappa * filtered[r][i] + eps[r][i];
      }
    }
    out.push_back(std::move(grads));
  }
  return out;
}

void Oracle::add_V(const Facts& at, size_t relation, const Numbers& x, const Numbers& credit, const Numbers& f,
                   double factor, Grads& into) const {
  const Relation& r = relations_[relation];
  const auto&     e = at.tape.trainables[r.trainable];
  const size_t    P = groups_[r.group].P, S = groups_[r.group].S;
  Numbers         operands(e.operands.size());
  for (size_t p = 0; p < P; ++p) {
    double q = 0;
    for (size_t a = 0; a < S; ++a) q += factor * credit[p * S + a] * f[p * S + a];
    for (const Tape::Term& t : e.terms)
      if (t.p == r.y_of[p]) operands[t.w] += q * e.slope(t, x);
  }
  add_chain(at.tape, r.trainable, operands, into);
}

// εx_t = α_x εx_{t-1} + x_t     εf_t = α_f D_t εf_{t-1} + (1−α_f) D_f     c_m = max(1 − α_f^m, 1e-8)
std::vector<Oracle::Factors> Oracle::factors(double alpha_x, double alpha_f) const {
  std::vector<Factors> out;
  Factors              now{std::vector<Numbers>(relations_.size()), std::vector<Numbers>(relations_.size())};
  for (size_t r = 0; r < relations_.size(); ++r) {
    now.x[r].resize(steps_[0].tape.trainables[relations_[r].trainable].x.size());
    now.f[r].resize(steps_[0].D_f[r].size());
  }
  out.push_back(now);
  for (size_t t = 0; t < steps_.size(); ++t) {
    for (size_t r = 0; r < relations_.size(); ++r) {
      const Relation& relation = relations_[r];
      const size_t    P = groups_[relation.group].P, S = groups_[relation.group].S;
      for (size_t i = 0; i < now.x[r].size(); ++i)
        now.x[r][i] = alpha_x * now.x[r][i] + steps_[t].tape.trainables[relation.trainable].x[i];
      Numbers next(now.f[r].size());
      for (size_t p = 0; p < P; ++p)
        for (size_t a = 0; a < S; ++a) {
          next[p * S + a] = (1 - alpha_f) * steps_[t].D_f[r][p * S + a];
          for (size_t b = 0; b < S; ++b)
            next[p * S + a] += alpha_f * steps_[t].D[relation.group][(p * S + a) * S + b] * now.f[r][p * S + b];
        }
      now.f[r] = std::move(next);
    }
    now.c = std::max(1 - std::pow(alpha_f, static_cast<double>(t + 1)), 1e-8);
    out.push_back(now);
  }
  return out;
}

// ∇_t = s_t + Σ Cᵀ[V(εx_t, Σ_a L_t εf_t / c_t) − V(x_t, Σ_a L_t D_f) + V(εx_{t-1}, Σ_a O_t εf_{t-1} / c_{t-1})]
std::vector<Grads> Oracle::es_steps(double alpha_x, double alpha_f) const {
  const auto         memory = factors(alpha_x, alpha_f);
  std::vector<Grads> out;
  for (size_t t = 0; t < steps_.size(); ++t) {
    const Facts& f = steps_[t];
    Grads        g = f.s;
    for (size_t r = 0; r < relations_.size(); ++r) {
      const Numbers &L = f.L[relations_[r].group], &O = f.O[relations_[r].group];
      add_V(f, r, memory[t + 1].x[r], L, memory[t + 1].f[r], 1 / memory[t + 1].c, g);
      add_V(f, r, f.tape.trainables[relations_[r].trainable].x, L, f.D_f[r], -1, g);
      add_V(f, r, memory[t].x[r], O, memory[t].f[r], 1 / memory[t].c, g);
    }
    out.push_back(std::move(g));
  }
  return out;
}

// E_t[p,q,a,w] = M[p,q] Σ_{s,b} J_t[q,a,s,b] E_{t-1}[p,s,b,w], plus D_f[p,a] ∂y[p]/∂w at q = p
// ∇_t = s_t + Σ Cᵀ(Σ_{p,q} L_t[q] · (recurrent part of E_t) + O_t[q] · E_{t-1})
std::vector<Grads> Oracle::snap_steps(int n) const {
  std::vector<std::vector<bool>> masks;  // M, per group
  for (int g = 0; g < static_cast<int>(groups_.size()); ++g) {
    const size_t      P = groups_[g].P, S = groups_[g].S;
    const Tape&       tape = steps_[0].tape;
    const auto        now  = new_places(tape, g);
    std::vector<bool> edge(P * P), M(P * P);
    for (size_t i = 0; i < P * S; ++i) {
      const auto from = tape.sources(now[i], hold(tape, false, g));
      Numbers    live(from.begin(), from.end());
      const auto old = at_old(tape, live, g);
      for (size_t k = 0; k < P * S; ++k)
        if (old[k] != 0) edge[k / S * P + i / S] = true;
    }
    for (size_t p = 0; p < P; ++p) M[p * P + p] = true;
    for (int k = 1; k < n; ++k) {
      const auto M_before = M;
      for (size_t p = 0; p < P; ++p)
        for (size_t q = 0; q < P; ++q)
          for (size_t u = 0; u < P; ++u)
            if (M_before[p * P + q] && edge[q * P + u]) M[p * P + u] = true;
    }
    masks.push_back(std::move(M));
  }
  std::vector<Grads>                out;
  std::vector<std::vector<Numbers>> E(relations_.size());  // per relation and anchor p: [P,S,W]
  for (const Facts& f : steps_) {
    Grads                             grads = f.s;
    std::vector<std::vector<Numbers>> J;  // per group, by (q,a): ∂h_t[q,a]/∂h_{t-1}
    for (int g = 0; g < static_cast<int>(groups_.size()); ++g) {
      J.emplace_back();
      for (int place : new_places(f.tape, g))
        J.back().push_back(at_old(f.tape, f.tape.pull({{place, 1}}, hold(f.tape, false, g)), g));
    }
    for (size_t r = 0; r < relations_.size(); ++r) {
      const Relation& relation = relations_[r];
      const size_t    P = groups_[relation.group].P, S = groups_[relation.group].S;
      const Numbers   now = instant(f, r);
      const size_t    W   = now.size() / (P * S);
      E[r].resize(P);
      for (size_t p = 0; p < P; ++p) {
        Numbers next(P * S * W);
        E[r][p].resize(P * S * W);
        for (size_t i = 0; i < P * S; ++i)
          for (size_t k = 0; k < P * S; ++k)
            if (const double j = J[relation.group][i][k]; j != 0 && masks[relation.group][p * P + i / S])
              for (size_t w = 0; w < W; ++w) next[i * W + w] += j * E[r][p][k * W + w];
        add_contracted(f, r, f.L[relation.group], next, grads);
        add_contracted(f, r, f.O[relation.group], E[r][p], grads);
        for (size_t i = p * S * W; i < (p + 1) * S * W; ++i) next[i] += now[i];
        E[r][p] = std::move(next);
      }
    }
    out.push_back(std::move(grads));
  }
  return out;
}

// Reverse mode through steps from … to, their entry states held.
Oracle::Window Oracle::reverse(size_t from, size_t to, bool last_loss_only) const {
  Window               out{zero(), {}};
  std::vector<Numbers> later = data_.states;  // cotangents of the states after the step
  for (Numbers& v : later) std::fill(v.begin(), v.end(), 0);
  for (size_t t = to + 1; t-- > from;) {
    const Tape&             tape = steps_[t].tape;
    std::vector<Tape::Seed> seeds;
    if (t == to || !last_loss_only) seeds.push_back({static_cast<int>(tape.value.size()) - 1, data_.weights[t]});
    for (int n = 0; n < m_.outside; ++n)
      if (m_.nodes[n].kind == Kind::Set)
        for (size_t i = 0; i < later[m_.nodes[n].index].size(); ++i)
          seeds.push_back({tape.first[n] + static_cast<int>(i), later[m_.nodes[n].index][i]});
    const Numbers adjoint = tape.pull(seeds, [](int) { return false; });
    add_leaves(tape, adjoint, out.grads);
    for (Numbers& v : later) std::fill(v.begin(), v.end(), 0);
    for (size_t n = 0; n < m_.nodes.size(); ++n)
      if (m_.nodes[n].kind == Kind::Old)
        for (size_t i = 0; i < later[m_.nodes[n].index].size(); ++i)
          later[m_.nodes[n].index][i] += adjoint[tape.first[n] + i];
    if (t == from)
      for (int g = 0; g < static_cast<int>(groups_.size()); ++g) out.entry.push_back(at_old(tape, adjoint, g));
  }
  return out;
}

std::vector<Grads> Oracle::exact_steps() const {
  std::vector<Grads> out;
  for (size_t t = 0; t < steps_.size(); ++t) out.push_back(reverse(0, t, true).grads);
  return out;
}

std::vector<Grads> Oracle::truncated_windows(const Sizes& lengths) const {
  std::vector<Grads> out;
  size_t             a = 0;
  for (int64_t n : lengths) {
    out.push_back(reverse(a, a + n - 1, false).grads);
    a += n;
  }
  return out;
}

// ∂(Σ ℓ_t)/∂θ + Σ Cᵀ(∂(Σ ℓ_t)/∂h_{a-1} · ε_{a-1})
std::vector<Grads> Oracle::multi_step_windows(const Sizes& lengths) const {
  std::vector<Grads> out;
  Traces             eps(relations_.size());
  size_t             a = 0;
  for (int64_t n : lengths) {
    Window w = reverse(a, a + n - 1, false);
    for (size_t r = 0; r < relations_.size(); ++r)
      add_contracted(steps_[a], r, w.entry[relations_[r].group], eps[r], w.grads);
    for (int64_t k = 0; k < n; ++k) advance(steps_[a++], eps);
    out.push_back(std::move(w.grads));
  }
  return out;
}

std::vector<Grads> Oracle::es_multi_step(double alpha_x, double alpha_f, const Sizes& lengths) const {
  const auto         memory = factors(alpha_x, alpha_f);
  std::vector<Grads> out;
  size_t             a = 0;
  for (int64_t n : lengths) {
    Window w = reverse(a, a + n - 1, false);
    for (size_t r = 0; r < relations_.size(); ++r)
      add_V(steps_[a], r, memory[a].x[r], w.entry[relations_[r].group], memory[a].f[r], 1 / memory[a].c, w.grads);
    a += n;
    out.push_back(std::move(w.grads));
  }
  return out;
}

}  // namespace braintrace::oracle

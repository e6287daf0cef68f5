// SPDX-License-Identifier: Apache-2.0
#include "tests/oracle/generate.h"

#include <algorithm>

#include "tests/oracle/dice.h"

namespace braintrace::oracle {

namespace {

class Generator {
 public:
  Generator(uint64_t seed, const Features& features) : dice(seed), on(features) { m.seed = seed; }

  Model model() {
    m.batch = dice.chance(0.4) ? 0 : dice.whole(1, 3);
    m.steps = dice.whole(1, 5);
    m.input = {dice.whole(1, 4)};
    const Sizes main{dice.whole(1, 4)}, other{dice.whole(1, 4)}, matrix{dice.whole(1, 3), dice.whole(1, 2)};
    const auto  n = static_cast<int>(dice.whole(1, 4));
    for (int s = 0; s < n; ++s) m.states.push_back({dice.chance(0.7) ? main : dice.chance(0.7) ? other : matrix});
    for (int s = 0; s < n; ++s) is_write_only.push_back(on.write_only && n > 1 && dice.chance(0.12));
    set_node.assign(m.states.size(), -1);
    old_node.assign(m.states.size(), -1);
    x = add(Kind::Input, {}, m.input, true);
    pool.push_back(x);
    for (int s = 0; s < n; ++s) set(s);
    output();
    loss();
    for (int s = 0; s < n; ++s) m.states[s].short_term = dice.chance(0.1) && is_promoted(s);
    return std::move(m);
  }

 private:
  int add(Kind kind, std::vector<int> in, Sizes shape, bool batched, int index = -1) {
    m.nodes.push_back({kind, std::move(in), std::move(shape), batched, index});
    return static_cast<int>(m.nodes.size()) - 1;
  }
  const Node&  at(int n) const { return m.nodes[n]; }
  const Sizes& shape(int n) const { return m.nodes[n].shape; }
  int          keep(int n) {
             if (at(n).batched) pool.push_back(n);
    return n;
  }
  int unary(Kind k, int a) { return keep(add(k, {a}, shape(a), at(a).batched)); }
  int affine(int a, double number, double offset = 0) {
    const int n       = add(Kind::Affine, {a}, shape(a), at(a).batched);
    m.nodes[n].number = number;
    m.nodes[n].offset = offset;
    return n;
  }
  int binary(Kind k, int a, int b) {
    const Sizes& larger =
        count(shape(a)) >= count(shape(b)) && shape(a).size() >= shape(b).size() ? shape(a) : shape(b);
    return keep(add(k, {a, b}, larger, at(a).batched || at(b).batched));
  }
  int reshape(int a, Sizes to) {
    return shape(a) == to ? a : keep(add(Kind::Reshape, {a}, std::move(to), at(a).batched));
  }
  int param(const Sizes& s) {
    m.params.push_back(s);
    return add(Kind::Param, {}, s, false, static_cast<int>(m.params.size()) - 1);
  }
  int old(int s) {
    if (old_node[s] < 0) old_node[s] = keep(add(Kind::Old, {}, m.states[s].shape, true, s));
    return old_node[s];
  }
  bool has_old(int s) const { return set_node[s] < 0 && !is_write_only[s]; }

  // A parameter, fresh or met before, or something made of parameters.
  int weight(const Sizes& s, bool may_vary = true) {
    if (dice.chance(0.15))
      for (int n = static_cast<int>(m.nodes.size()) - 1; n >= 0; --n)
        if (at(n).kind == Kind::Param && shape(n) == s) return n;
    const int w = param(s);
    if (on.varying && may_vary && m.batch == 0 && dice.chance(0.15)) return varied(w);
    if (!dice.chance(0.25)) return w;
    switch (dice.whole(0, 6)) {
      case 0:
        return affine(w, dice.between(-1.5, 1.5), 0.1);
      case 1:
        return affine(unary(Kind::Square, w), 0.8);
      case 2:
        return binary(Kind::Add, w, param(s));
      case 3:
        return binary(Kind::Mul, w, unary(Kind::Sigmoid, param({s.back()})));
      case 4:  // a small net makes the weight
        return on.made ? made(Kind::Dot, s) : w;
      case 5:
        return on.made ? made(Kind::Matmul, s) : w;
      default:
        return on.made ? binary(Kind::Mul, w, unary(Kind::Sigmoid, add(Kind::ElementWise, {param(s)}, s, false))) : w;
    }
  }
  int varied(int w) {  // an input or a state makes it another one in every step
    is_varied       = true;
    const Sizes   s = shape(w);
    const int64_t n = count(s);
    const int     a = source(), V = param({shape(a).back(), n});
    return binary(Kind::Mul, w, reshape(unary(Kind::Sigmoid, add(Kind::Dot, {a, V}, {n}, true)), s));
  }
  int made(Kind product, const Sizes& s) {
    const int64_t r = dice.whole(1, 2);
    const int     c = param({r}), V = param({r, count(s)});
    return reshape(unary(Kind::Tanh, add(product, {c, V}, {count(s)}, false)), s);
  }

  // A batched vector of any width.
  int source() {
    for (int tries = 0; tries < 8; ++tries) {
      int a = dice.chance(0.3) ? x : dice.of(pool);
      if (dice.chance(0.3)) {
        const auto s = static_cast<int>(dice.whole(0, static_cast<int64_t>(m.states.size()) - 1));
        if (has_old(s)) a = old(s);
      }
      if (shape(a).size() > 1) a = reshape(a, {count(shape(a))});
      if (dice.chance(0.3)) {
        int b = dice.of(pool);
        if (shape(b).size() == 1 && count(shape(a)) + count(shape(b)) <= 6)
          a = keep(add(Kind::Concat, {a, b}, {count(shape(a)) + count(shape(b))}, true));
      }
      if (count(shape(a)) <= 6) return a;
    }
    return x;
  }
  int vector_of(int64_t n) {
    for (int tries = 0; tries < 4; ++tries)
      if (const int a = dice.of(pool); shape(a) == Sizes{n}) return a;
    const int a = source();
    return keep(add(Kind::Dot, {a, weight({shape(a).back(), n})}, {n}, true));
  }

  int product(const Sizes& s) {
    const int64_t n = count(s);
    const int     a = source();
    const int64_t k = shape(a).back();
    int           y = -1;
    switch (dice.whole(0, 12)) {
      case 0:
      case 1:
        y = add(Kind::Dot, {a, weight({k, n})}, {n}, true);
        break;
      case 2: {
        const int64_t r = dice.whole(1, 2);
        const int     B = weight({k, r}), A = weight({r, n}, false);  // the trace of B counts on a steady A
        y = add(Kind::Lora, {a, B, A}, {n}, true);
        break;
      }
      case 3:
        y = add(Kind::Sparse, {a, weight({std::max(k, n)})}, {n}, true);
        break;
      case 4:
        y = add(Kind::Embedding, {x, weight({2, n})}, {n}, true);
        break;
      case 5: {
        const Sizes   to = s.size() == 2 ? s : n % 2 == 0 ? Sizes{2, n / 2} : Sizes{1, n};
        const int64_t K  = dice.whole(1, 2);
        y = add(Kind::Grouped, {reshape(vector_of(to[0] * K), {to[0], K}), weight({to[0], K, to[1]})}, to, true);
        break;
      }
      case 6: {
        const Sizes   to = s.size() == 2 ? s : n % 2 == 0 ? Sizes{n / 2, 2} : Sizes{n, 1};
        const int64_t K = dice.whole(1, 2), L = to[0] + K - 1;
        y = add(Kind::Conv, {reshape(vector_of(L), {L, 1}), weight({K, 1, to[1]})}, to, true);
        break;
      }
      case 7:
        if (m.batch > 0 && s.size() == 2) {
          const int64_t K = dice.whole(1, 3);
          y               = add(Kind::Einsum, {reshape(vector_of(s[0] * K), {s[0], K}), weight({K, s[1]})}, s, true);
          break;
        }
        if (m.batch > 0) {
          y = add(Kind::Einsum, {a, weight({n, k})}, {n}, true);
          break;
        }
        [[fallthrough]];
      default: {
        std::vector<int> in{a, weight({k, n})};
        if (dice.chance(0.3)) in.push_back(weight({n}));
        y = add(Kind::Matmul, in, {n}, true);
      }
    }
    return reshape(keep(y), s);
  }

  // A trainable value per position, some of them shared.
  int positionwise(Sizes s) {
    if (on.sharing && dice.chance(0.5)) {
      if (s.size() > 1 && dice.chance(0.3)) s.erase(s.begin());
      for (int64_t& d : s)
        if (dice.chance(0.5)) d = 1;
    }
    return add(Kind::ElementWise, {weight(s)}, s, false);
  }
  int repeated(int e, const Sizes& s) {  // an unbatched value among batched ones
    for (int tries = 0; tries < 6; ++tries)
      if (const int a = dice.of(pool); shape(a) == s) return binary(Kind::Mul, a, e);
    return binary(Kind::Add, product(s), e);
  }

  int drive(const Sizes& s) {
    switch (dice.whole(0, 7)) {
      case 0:
        return repeated(positionwise(s), s);
      case 1:
        return binary(Kind::Mul, unary(Kind::Sigmoid, product(s)), product(s));
      case 2:
        return binary(Kind::Sub, product(s), positionwise(s));
      case 3:
        for (int tries = 0; tries < 4; ++tries)
          if (const int a = dice.of(pool); shape(a) == s) return binary(Kind::Add, a, product(s));
        return product(s);
      case 4:
        return binary(Kind::Add, product(s), product(s));
      case 5:
        if (on.moves) return moved(product(s));
        return product(s);
      default:
        return product(s);
    }
  }
  int moved(int a) {
    switch (dice.whole(0, 3)) {
      case 0:
        return unary(Kind::Roll, a);
      case 1:
        return unary(Kind::CumSum, a);
      case 2: {
        Sizes one  = shape(a);
        one.back() = 1;
        return binary(Kind::Add, a, keep(add(Kind::Mean, {a}, one, at(a).batched)));
      }
      default:
        return unary(Kind::MeanSub, a);
    }
  }

  // The new value of a state, made for it alone.
  int next_value(int s) {
    const Sizes& h = m.states[s].shape;
    const int    d = drive(h);
    if (is_write_only[s]) return add(Kind::Tanh, {d}, h, true);
    const int    o    = old(s);
    const double leak = dice.between(0.4, 0.95);
    switch (dice.whole(0, 9)) {
      case 0: {  // a gate
        const int z = unary(Kind::Sigmoid, dice.chance(0.5) ? product(h) : repeated(positionwise(h), h));
        return add(Kind::Add, {binary(Kind::Mul, z, o), binary(Kind::Mul, affine(z, -1, 1), unary(Kind::Tanh, d))}, h,
                   true);
      }
      case 1:
        return add(Kind::Tanh, {binary(Kind::Add, d, affine(o, leak))}, h, true);
      case 2: {  // a spike takes its threshold away
        const int z = unary(Kind::Spike, affine(o, 1, -0.3));
        return add(Kind::Add, {affine(binary(Kind::Sub, o, affine(z, 0.5)), leak), d}, h, true);
      }
      case 3: {  // or sets the state back
        const int z = unary(Kind::Spike, affine(o, 1, -0.3));
        return add(Kind::Add, {affine(binary(Kind::Mul, o, affine(z, -1, 1)), leak), unary(Kind::Tanh, d)}, h, true);
      }
      case 4:
        if (on.moves) return add(Kind::Tanh, {binary(Kind::Add, affine(moved(o), leak), d)}, h, true);
        [[fallthrough]];
      case 5: {
        const int t = unary(Kind::Tanh, d);
        return add(Kind::Select, {binary(Kind::Add, affine(o, leak), t), affine(t, 0.7), o}, h, true);
      }
      case 6:
        return add(Kind::Add, {binary(Kind::Mul, o, unary(Kind::Sigmoid, positionwise(h))), unary(Kind::Tanh, d)}, h,
                   true);
      case 7: {  // what other states were
        int t = unary(Kind::Tanh, d);
        for (size_t k = 0; k < m.states.size(); ++k)
          if (m.states[k].shape == h && has_old(static_cast<int>(k)) && dice.chance(0.6))
            t = binary(Kind::Add, t, affine(old(static_cast<int>(k)), dice.between(-0.5, 0.5)));
        return add(Kind::Add, {affine(o, leak), dice.chance(0.2) ? unary(Kind::Stop, t) : t}, h, true);
      }
      default:
        return add(Kind::Add, {affine(o, leak), unary(Kind::Tanh, d)}, h, true);
    }
  }
  void set(int s) {
    const Sizes& h = m.states[s].shape;
    int          v = -1;
    if (on.copies && dice.chance(0.1))
      for (int k = 0; k < static_cast<int>(m.states.size()) && v < 0; ++k)
        if (k != s && m.states[k].shape == h) v = set_node[k] >= 0 ? set_node[k] : has_old(k) ? old(k) : -1;
    if (v < 0) v = next_value(s);
    set_node[s] = add(Kind::Set, {v}, h, true, s);
    pool.push_back(set_node[s]);
  }

  void output() {
    const auto last = static_cast<int>(m.states.size()) - 1;
    int        a    = dice.chance(0.5) ? set_node[dice.whole(0, last)] : dice.of(pool);
    if (shape(a).size() > 1) a = reshape(a, {count(shape(a))});
    if (dice.chance(0.5)) {
      const int b = reshape(set_node[last], {count(shape(set_node[last]))});
      a           = add(Kind::Concat, {a, b}, {shape(a)[0] + shape(b)[0]}, true);
    }
    if (dice.chance(0.5)) {
      const int64_t n = dice.whole(1, 3);
      a               = add(dice.chance(0.5) ? Kind::Dot : Kind::Matmul, {a, weight({shape(a)[0], n})}, {n}, true);
    }
    m.output  = add(Kind::Output, {a}, shape(a), true);
    m.outside = m.output + 1;
  }
  void loss() {
    int y = m.output;
    if (on.outside && dice.chance(0.2)) {
      const int64_t n = dice.whole(1, 3);
      y               = add(Kind::Dot, {y, param({shape(y)[0], n})}, {n}, true);
    }
    m.target        = shape(y);
    const int t     = add(Kind::Target, {}, m.target, true);
    int       total = affine(
              add(Kind::Sum, {add(Kind::Square, {add(Kind::Sub, {y, t}, m.target, true)}, m.target, true)}, {}, false), 0.5);
    const auto term = [&](int a) {
      total =
          add(Kind::Add, {total, add(Kind::Sum, {add(Kind::Square, {affine(a, 0.6, 0.2)}, shape(a), true)}, {}, false)},
              {}, false);
    };
    for (int s = 0; on.outside && s < static_cast<int>(m.states.size()); ++s) {
      if (dice.chance(0.12)) term(set_node[s]);
      // Of what a state was, traces know what it means for parameters only while weights are made the same way.
      if (dice.chance(0.15) && reads_old(m, s) && !is_varied) term(add(Kind::Old, {}, m.states[s].shape, true, s));
    }
  }

  // Its old value and a trainable operation reach its new value.
  bool is_promoted(int s) const {
    std::vector<int> reached(m.nodes.size());  // bits: old value, trainable
    for (int n = 0; n < m.outside; ++n) {
      if (n == old_node[s]) reached[n] |= 1;
      if (is_trainable(at(n).kind)) reached[n] |= 2;
      for (int a : at(n).in) reached[n] |= reached[a];
    }
    return reached[set_node[s]] == 3;
  }

  Dice              dice;
  Features          on;
  Model             m;
  int               x = -1;
  std::vector<int>  pool;  // batched values of the model
  std::vector<int>  old_node, set_node;
  std::vector<bool> is_write_only;
  bool              is_varied = false;  // a weight is made of an input or a state
};

}  // namespace

Model random_model(uint64_t seed, const Features& features) { return Generator(seed, features).model(); }

}  // namespace braintrace::oracle

// SPDX-License-Identifier: Apache-2.0
// Groups, relations, and the quantities of one step.
#include <algorithm>
#include <cmath>

#include "tests/oracle/oracle.h"

namespace braintrace::oracle {

Oracle::Oracle(const Model& model, const Data& data, bool coupled, Sabotage sabotage)
    : m_(model), data_(data), coupled_(coupled), sabotage_(sabotage) {
  for (const Node& n : m_.nodes)
    varies_.push_back(n.kind == Kind::Input || n.kind == Kind::Target || n.kind == Kind::Old ||
                      std::any_of(n.in.begin(), n.in.end(), [&](int a) { return varies_[a]; }));
  find_groups();
  std::vector<Numbers> states = data.states;
  for (size_t t = 0; t < static_cast<size_t>(m_.steps); ++t) {
    Tape tape = run_step(m_, data_, states, t);
    if (t == 0) find_relations(tape);
    for (int n = 0; n < m_.outside; ++n)
      if (m_.nodes[n].kind == Kind::Set)
        for (size_t i = 0; i < states[m_.nodes[n].index].size(); ++i)
          states[m_.nodes[n].index][i] = tape.value[tape.first[n] + i];
    steps_.push_back(facts_of(std::move(tape), data_.weights[t]));
  }
}

Numbers Oracle::losses() const {
  Numbers out;
  for (const Facts& f : steps_) out.push_back(f.tape.value.back());
  return out;
}

// Nodes of the model reached from one. With a group given, new values of other hidden states are reached but not
// passed.
std::vector<bool> Oracle::reach(int from, bool through_products, int group) const {
  std::vector<bool> reached(m_.nodes.size());
  reached[from] = true;
  for (int n = from + 1; n < m_.outside; ++n) {
    const Node& node = m_.nodes[n];
    if (node.kind == Kind::Stop || (!through_products && is_product(node.kind))) continue;
    for (int a : node.in) {
      const Node& read = m_.nodes[a];
      const bool ends = group >= 0 && read.kind == Kind::Set && is_hidden(read.index) && group_of_[read.index] != group;
      if (reached[a] && !ends) reached[n] = true;
    }
  }
  return reached;
}

// States of one shape belong together if the old value of one reaches the new value of the other.
void Oracle::find_groups() {
  group_of_.assign(m_.states.size(), -1);
  for (int s = 0; s < static_cast<int>(m_.states.size()); ++s)
    if (reads_old(m_, s)) group_of_[s] = s;
  const auto join = [&](int a, int b) {
    const int from = std::max(group_of_[a], group_of_[b]), to = std::min(group_of_[a], group_of_[b]);
    std::replace(group_of_.begin(), group_of_.end(), from, to);
  };
  for (int o = 0; o < m_.outside; ++o) {
    if (m_.nodes[o].kind != Kind::Old) continue;
    const auto reached = reach(o, coupled_, -1);
    for (int n = 0; n < m_.outside; ++n)
      if (const Node& set = m_.nodes[n]; reached[n] && set.kind == Kind::Set && is_hidden(set.index) &&
                                         set.shape == m_.states[m_.nodes[o].index].shape)
        join(m_.nodes[o].index, set.index);
  }
  for (int name = 0; name < static_cast<int>(m_.states.size()); ++name) {  // groups were named by their first state
    Group g;
    for (int s = 0; s < static_cast<int>(m_.states.size()); ++s)
      if (group_of_[s] == name) g.states.push_back(s);
    if (g.states.empty()) continue;
    g.positions = m_.states[g.states[0]].shape;
    if (m_.batch > 0) g.positions.insert(g.positions.begin(), m_.batch);
    g.P = count(g.positions);
    g.S = static_cast<int64_t>(g.states.size());
    groups_.push_back(std::move(g));
  }
  for (size_t i = 0; i < groups_.size(); ++i)
    for (int s : groups_[i].states) group_of_[s] = static_cast<int>(i);
}

// Trainable operations of parameters, but for those that only make the weights of others, that reach a group without
// passing a product, position by position: directly, or by broadcasting what has no x.
void Oracle::find_relations(const Tape& tape) {
  for (int r = 0; r < static_cast<int>(tape.trainables.size()); ++r) {
    if (!has_leaves(tape, r) || is_in_chain(tape, r)) continue;
    const int     y    = tape.trainables[r].node;
    const int64_t size = count(m_.full(m_.nodes[y]));
    for (int g = 0; g < static_cast<int>(groups_.size()); ++g) {
      const Group& group   = groups_[g];
      const auto   reached = reach(y, false, g);
      bool         meets   = false;
      for (int n = 0; n < m_.outside; ++n)
        meets |= reached[n] && m_.nodes[n].kind == Kind::Set && group_of_[m_.nodes[n].index] == g;
      if (!meets) continue;
      Relation relation{r, g, {}};
      for (int64_t p = 0; p < group.P; ++p)
        relation.y_of.push_back(
            static_cast<int>(size == group.P ? p : broadcast_index(m_.full(m_.nodes[y]), group.positions, p)));
      bool keeps = true;  // every position reads its own element of y only
      if (size != group.P) {
        const auto now = new_places(tape, g);
        for (int64_t i = 0; i < group.P * group.S && m_.nodes[y].kind == Kind::ElementWise; ++i) {
          const auto from = tape.sources(now[i], hold(tape, true, g, y));
          for (int64_t k = 0; k < size; ++k) keeps &= !from[tape.first[y] + k] || k == relation.y_of[i / group.S];
        }
        keeps &= m_.nodes[y].kind == Kind::ElementWise && size < group.P;
      }
      if (keeps) relations_.push_back(std::move(relation));
    }
  }
}

Tape::Held Oracle::hold(const Tape& tape, bool products, int but_group, int but_node) const {
  return [this, &tape, products, but_group, but_node](int place) {
    const int n = tape.node[place];
    if (n < 0 || n == but_node) return false;
    const Node& node = m_.nodes[n];
    if (node.kind == Kind::Set) return is_hidden(node.index) && group_of_[node.index] != but_group;
    return products && is_product(node.kind);
  };
}

std::vector<int> Oracle::new_places(const Tape& tape, int group) const {
  const Group&     g = groups_[group];
  std::vector<int> out(static_cast<size_t>(g.P * g.S));
  for (int64_t a = 0; a < g.S; ++a)
    for (int n = 0; n < m_.outside; ++n)
      if (m_.nodes[n].kind == Kind::Set && m_.nodes[n].index == g.states[a])
        for (int64_t p = 0; p < g.P; ++p) out[p * g.S + a] = tape.first[n] + static_cast<int>(p);
  return out;
}

Numbers Oracle::at_old(const Tape& tape, const Numbers& adjoint, int group) const {
  const Group& g = groups_[group];
  Numbers      out(static_cast<size_t>(g.P * g.S));
  for (int64_t a = 0; a < g.S; ++a)
    for (size_t n = 0; n < m_.nodes.size(); ++n)
      if (m_.nodes[n].kind == Kind::Old && m_.nodes[n].index == g.states[a])
        for (int64_t p = 0; p < g.P; ++p) out[p * g.S + a] += adjoint[tape.first[n] + p];
  return out;
}

Oracle::Facts Oracle::facts_of(Tape tape, double weight) const {
  Facts      f;
  const auto loss   = std::vector<Tape::Seed>{{static_cast<int>(tape.value.size()) - 1, weight}};
  const auto all    = tape.pull(loss, [](int) { return false; });
  const auto direct = tape.pull(loss, hold(tape, false, -1));
  f.s               = zero();
  add_leaves(tape, all, f.s);
  for (int p : tape.places(m_, m_.output)) f.delta.push_back(all[p]);
  for (int g = 0; g < static_cast<int>(groups_.size()); ++g) {
    const int64_t P = groups_[g].P, S = groups_[g].S;
    const auto    now = new_places(tape, g);
    Numbers       D(static_cast<size_t>(P * S * S)), L, O = at_old(tape, direct, g);
    for (int64_t i = 0; i < P * S; ++i) {
      const Numbers row = at_old(tape, tape.pull({{now[i], 1}}, hold(tape, !coupled_, g)), g);
      for (int64_t b = 0; b < S; ++b)
        D[i * S + b] = row[i / S * S + b] * (sabotage_ == Sabotage::Transition ? 1.01 : 1);
    }
    // L_c = G_c − Σ_{c'≠c} A_{c→c'}ᵀ G_{c'}: A holds products and every new state but c
    for (int64_t i = 0; i < P * S; ++i) L.push_back(all[now[i]]);
    for (int64_t i = 0; i < P * S; ++i) {
      const auto held = hold(tape, true, -1);
      const auto read = tape.pull({{now[i], all[now[i]]}}, [&](int place) { return place != now[i] && held(place); });
      for (int64_t k = 0; k < P * S; ++k)
        if (k % S != i % S) L[k] -= read[now[k]];
    }
    if (sabotage_ == Sabotage::Signal)
      for (double& v : L) v *= 1.01;
    if (sabotage_ == Sabotage::OldCredit) std::fill(O.begin(), O.end(), 0);
    f.D.push_back(std::move(D));
    f.L.push_back(std::move(L));
    f.O.push_back(std::move(O));
  }
  for (const Relation& r : relations_) {
    const int64_t P = groups_[r.group].P, S = groups_[r.group].S;
    const int     y   = tape.trainables[r.trainable].node;
    const auto    now = new_places(tape, r.group);
    Numbers       D_f;
    for (int64_t i = 0; i < P * S; ++i)
      D_f.push_back(tape.pull({{now[i], 1}}, hold(tape, true, r.group, y))[tape.first[y] + r.y_of[i / S]] *
                    (sabotage_ == Sabotage::Tail ? 1.01 : 1));
    f.D_f.push_back(std::move(D_f));
  }
  f.tape = std::move(tape);
  return f;
}

Grads Oracle::zero() const {
  Grads out;
  for (const Numbers& p : data_.params) out.emplace_back(p.size());
  return out;
}

void Oracle::add_leaves(const Tape& tape, const Numbers& adjoint, Grads& into) const {
  for (size_t n = 0; n < m_.nodes.size(); ++n)
    if (m_.nodes[n].kind == Kind::Param)
      for (size_t i = 0; i < into[m_.nodes[n].index].size(); ++i)
        into[m_.nodes[n].index][i] += adjoint[tape.first[n] + i];
}

bool Oracle::has_leaves(const Tape& tape, int trainable) const {
  const auto& operands = tape.trainables[trainable].operands;
  return std::any_of(operands.begin(), operands.end(), [&](int place) {
    const auto from = tape.sources(place, behind_operands(tape));
    for (size_t i = 0; i < from.size(); ++i)
      if (from[i] && tape.node[i] >= 0 && m_.nodes[tape.node[i]].kind == Kind::Param) return true;
    return false;
  });
}

bool Oracle::is_in_chain(const Tape& tape, int trainable) const {
  return std::any_of(tape.trainables.begin(), tape.trainables.end(), [&](const Tape::Trainable& other) {
    return std::any_of(other.operands.begin(), other.operands.end(), [&](int place) {
      const auto from = tape.sources(place, behind_operands(tape));
      return !varies_[tape.trainables[trainable].node] && from[tape.first[tape.trainables[trainable].node]];
    });
  });
}

Tape::Held Oracle::behind_operands(const Tape& tape) const {
  return [this, &tape](int p) {
    const int n = tape.node[p];
    return n >= 0 && (m_.nodes[n].kind == Kind::Dot || (is_trainable(m_.nodes[n].kind) && varies_[n]));
  };
}

void Oracle::add_chain(const Tape& tape, int trainable, const Numbers& operands, Grads& into) const {
  std::vector<Tape::Seed> seeds;
  const auto&             places = tape.trainables[trainable].operands;
  for (size_t i = 0; i < places.size(); ++i)
    seeds.push_back({places[i], operands[i] * (sabotage_ == Sabotage::Chain ? 1.01 : 1)});
  add_leaves(tape, tape.pull(seeds, behind_operands(tape)), into);
}

// Pull_g(F): through the whole step to the leaves as trainable operations read them. What makes the weights of an
// operation and is the same in every step belongs to the chain.
void Oracle::add_pull(const Tape& tape, int group, const Numbers& F, Grads& into) const {
  std::vector<Tape::Seed> seeds;
  const auto              now = new_places(tape, group);
  for (size_t i = 0; i < now.size(); ++i) seeds.push_back({now[i], F[i] * (sabotage_ == Sabotage::Pull ? 1.01 : 1)});
  const auto    held    = hold(tape, false, group);
  const Numbers adjoint = tape.pull(seeds, [&](int place) {
    return held(place) || (tape.node[place] < 0 && !varies_[tape.node[tape.reads[place][0].place]]);
  });
  for (size_t r = 0; r < tape.trainables.size(); ++r) {
    Numbers operands;
    for (int p : tape.trainables[r].operands) operands.push_back(adjoint[p]);
    add_chain(tape, static_cast<int>(r), operands, into);
  }
}

}  // namespace braintrace::oracle

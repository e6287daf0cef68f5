// SPDX-License-Identifier: Apache-2.0
// The learning rules as they are defined, by sums over paths on the tape of each step. Nothing here knows how the
// library computes them. Letters as in docs/notation.md:
//
//   s   same-step gradient          D   diagonal blocks of ∂h_t/∂h_{t-1} of a group, products and other groups held
//   L   learning signal             D_f diagonal blocks of ∂h_t/∂y_t of a trainable operation, likewise
//   O   ∂ℓ_t/∂h_{t-1} along paths that avoid every new state
//   C   derivative of an operation's operands with respect to the leaves behind them
//
// A state whose old value is never read is not a hidden state.
#pragma once

#include <optional>

#include "tests/oracle/tape.h"

namespace braintrace::oracle {

using Grads = std::vector<Numbers>;  // by parameter

// What a sabotaged oracle computes wrongly, to check that the comparison notices.
enum class Sabotage { None, Transition, Tail, Signal, OldCredit, Pull, Chain };

struct Group {
  std::vector<int> states;
  Sizes            positions;
  int64_t          P = 0, S = 0;
};
struct Relation {
  int              trainable, group;  // trainable: index on the tape
  std::vector<int> y_of;              // position → element of y
};

enum class Feedback { None, States, Output };
struct EpropOptions {
  double   kappa    = 0;
  Feedback feedback = Feedback::None;
};

class Oracle {
 public:
  // In the coupled scope products are kept in the transition.
  Oracle(const Model& model, const Data& data, bool coupled, Sabotage sabotage = Sabotage::None);

  const std::vector<Group>&    groups() const { return groups_; }
  const std::vector<Relation>& relations() const { return relations_; }
  Numbers                      losses() const;  // unweighted, per step

  // Gradients of one call per entry.
  std::vector<Grads> eprop_steps(const EpropOptions& options) const;  // κ = 0 without feedback: D-RTRL, OSTL
  std::vector<Grads> eprop_windows(const EpropOptions& options, const Sizes& lengths) const;
  std::vector<Grads> es_steps(double alpha_x, double alpha_f) const;
  std::vector<Grads> snap_steps(int n) const;
  std::vector<Grads> exact_steps() const;                             // the loss of each step through all time
  std::vector<Grads> truncated_windows(const Sizes& lengths) const;   // reverse mode inside windows
  std::vector<Grads> multi_step_windows(const Sizes& lengths) const;  // and the trace at their start
  std::vector<Grads> es_multi_step(double alpha_x, double alpha_f, const Sizes& lengths) const;

 private:
  struct Facts {
    Tape                 tape;
    Grads                s;
    std::vector<Numbers> D, L, O;  // per group: [P,S,S], [P,S], [P,S]
    std::vector<Numbers> D_f;      // per relation: [P,S]
    Numbers              delta;    // ∂ℓ/∂y of the model's output
  };
  using Traces = std::vector<Numbers>;  // per relation: [P,S,W]

  void  find_groups();
  void  find_relations(const Tape& tape);
  Facts facts_of(Tape tape, double weight) const;

  std::vector<bool> reach(int node, bool through_products, int group) const;  // nodes of the model
  bool              is_hidden(int state) const { return group_of_[state] >= 0; }
  // Held constant: new values of hidden states except those of one group, and products if requested, except one node.
  Tape::Held hold(const Tape& tape, bool products, int but_group, int but_node = -1) const;
  // Held between leaves and operands: a chain passes no plain product, nor a trainable operation whose result changes
  // from step to step.
  Tape::Held behind_operands(const Tape& tape) const;
  bool       has_leaves(const Tape& tape, int trainable) const;
  bool       is_in_chain(const Tape& tape, int trainable) const;  // it makes weights of another, the same in every step
  std::vector<int> new_places(const Tape& tape, int group) const;                      // [P,S]
  Numbers          at_old(const Tape& tape, const Numbers& adjoint, int group) const;  // [P,S]

  Grads zero() const;
  void  add_leaves(const Tape& tape, const Numbers& adjoint, Grads& into) const;
  void  add_chain(const Tape& tape, int trainable, const Numbers& operands, Grads& into) const;  // Cᵀ
  void  add_pull(const Tape& tape, int group, const Numbers& F, Grads& into) const;
  void  add_contracted(const Facts& at, size_t relation, const Numbers& ell, const Numbers& trace, Grads& into) const;
  // V(x, Σ_a credit·f)
  void add_V(const Facts& at, size_t relation, const Numbers& x, const Numbers& credit, const Numbers& f, double factor,
             Grads& into) const;
  Numbers              instant(const Facts& at, size_t relation) const;  // D_f ∂y/∂w : [P,S,W]
  void                 advance(const Facts& at, Traces& traces) const;
  Numbers              through_D(const Facts& at, int group, const Numbers& v) const;  // Dᵀ v
  std::vector<Numbers> received(const Facts& at, Feedback feedback) const;             // L'
  // εx and εf per relation before each step and after the last, and c = max(1 − α_f^m, 1e-8).
  struct Factors {
    std::vector<Numbers> x, f;
    double               c = 1e-8;
  };
  std::vector<Factors> factors(double alpha_x, double alpha_f) const;
  struct Window {
    Grads                grads;
    std::vector<Numbers> entry;  // cotangents of the states at its start, per group [P,S]
  };
  Window reverse(size_t from, size_t to, bool last_loss_only) const;

  Model                 m_;
  Data                  data_;
  bool                  coupled_;
  Sabotage              sabotage_;
  std::vector<Group>    groups_;
  std::vector<bool>     varies_;    // of each node: it depends on more than parameters
  std::vector<int>      group_of_;  // of each state, -1 when it is not a hidden state
  std::vector<Relation> relations_;
  std::vector<Facts>    steps_;
};

}  // namespace braintrace::oracle

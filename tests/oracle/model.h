// SPDX-License-Identifier: Apache-2.0
// A one-step model as data: a list of nodes in program order. It has two meanings that share no code, one with the
// library (module.h) and one with plain numbers (tape.h).
//
// A value has the shape of its node; a batched one a leading batch axis besides, when the model has a batch. The nodes
// from `outside` on are the loss: they read the output, the target, parameters, states before the call (Old) and after
// it (New).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace braintrace::oracle {

using Sizes = std::vector<int64_t>;

enum class Kind {
  Input,        // x
  Target,       // of the step
  Param,        // parameter `index`
  Old,          // state `index` as it was before the step
  Set,          // state `index` becomes a; readers of this node read the state
  Affine,       // number·a + offset
  Tanh,         //
  Sigmoid,      //
  Square,       //
  Spike,        // H(a) with the slope 4σ(4a)(1-σ(4a))
  Stop,         // a, held
  Add,          // a + b
  Sub,          // a - b
  Mul,          // a · b
  Select,       // c > 0.1 ? a : b
  Roll,         // along the last axis by one
  MeanSub,      // a - mean of the last axis
  CumSum,       // along the last axis
  Mean,         // of the last axis, kept with size one
  Concat,       // a, b along the last axis
  Reshape,      // a in another shape
  Dot,          // plain a W
  Matmul,       // trainable a W (+ b): operands W, b
  Lora,         // trainable 0.7 a B A: operands B, A
  Grouped,      // trainable a_g W_g: operand W [G,K,N]
  Conv,         // trainable, a [L,1], kernel [K,1,C], no padding
  Einsum,       // trainable, with a batch: a W with W [O,I], or a [T,K] with W [K,N]
  Sparse,       // trainable, entry e of W stands at (e mod rows, (e + e / rows) mod columns)
  Embedding,    // trainable, row (a_0 > 0) of a table
  ElementWise,  // trainable operand
  Output,       // what the model returns: a
  Sum,          // of all elements
};

struct Node {
  Kind             kind;
  std::vector<int> in      = {};  // nodes
  Sizes            shape   = {};
  bool             batched = false;
  int              index   = -1;
  double           number = 1, offset = 0;
};

struct StateInfo {
  Sizes shape;
  bool  short_term = false;  // a ShortTermState that the compiler has to promote
};

struct Model {
  uint64_t               seed  = 0;
  int64_t                batch = 0;  // 0: no batch axis
  int64_t                steps = 1;
  Sizes                  input, target;
  std::vector<Sizes>     params;
  std::vector<StateInfo> states;
  std::vector<Node>      nodes;
  int                    outside = 0, output = -1;  // output: the node; the last node is the loss

  Sizes full(const Node& n) const {
    Sizes s = n.shape;
    if (n.batched && batch > 0) s.insert(s.begin(), batch);
    return s;
  }
  bool is_inside(int node) const { return node < outside; }
};

inline int64_t count(const Sizes& s) {
  int64_t n = 1;
  for (int64_t i : s) n *= i;
  return n;
}
// Trainable, and among these the ones that mix positions.
inline bool is_trainable(Kind k) { return k >= Kind::Matmul && k <= Kind::ElementWise; }
inline bool is_product(Kind k) { return k >= Kind::Dot && k < Kind::ElementWise; }
inline bool reads_x(Kind k) { return k >= Kind::Matmul && k < Kind::ElementWise; }

// Whether the output or a new state depends on the old value of a state: a value that goes nowhere is not read.
bool reads_old(const Model& model, int state);

// The model line by line.
std::string to_text(const Model& model);

// Reproducible numbers for a model: parameters, first states, inputs and targets of every step.
struct Data {
  std::vector<std::vector<double>> params, states;    // by index
  std::vector<std::vector<double>> inputs, targets;   // by step
  std::vector<double>              weights;           // of the loss of each step; some are zero
  std::vector<std::vector<double>> feedback_states;   // per state [n,n]: feedback from the states' own signal
  std::vector<std::vector<double>> feedback_outputs;  // per state [n_out,n]
};
Data data_of(const Model& model);

}  // namespace braintrace::oracle

// SPDX-License-Identifier: Apache-2.0
// One step of a model with plain numbers: every scalar is a place on a tape, with the places it reads and the partial
// derivatives. All quantities of the learning rules are sums over paths on it, with some places held.
#pragma once

#include <functional>

#include "tests/oracle/model.h"

namespace braintrace::oracle {

using Numbers = std::vector<double>;

struct Tape {
  struct Read {
    int    place;
    double partial;
  };
  std::vector<double>            value;
  std::vector<std::vector<Read>> reads;  // earlier places
  std::vector<int>               node;   // of each place; -1 for operands of trainable operations
  std::vector<int>               first;  // of each node: its first place

  // A trainable operation: ∂y[p]/∂w = Σ c·x[i] over its terms; a term of a bias, or of an operation without x, is c.
  struct Term {
    int    p, x, w;  // position, index into x or -1, index into operands
    double c;
  };
  struct Trainable {
    int               node;
    std::vector<int>  operands;  // places: the weights as the operation reads them
    Numbers           x;
    std::vector<Term> terms;

    static double slope(const Term& t, const Numbers& x) { return t.x < 0 ? t.c : t.c * x[t.x]; }
  };
  std::vector<Trainable> trainables;

  // Σ over paths from the seeds back to every place; paths end at places that are held.
  using Held = std::function<bool(int place)>;
  struct Seed {
    int    place;
    double value;
  };
  Numbers pull(const std::vector<Seed>& seeds, const Held& held) const;
  // Whether there is a path, whatever its derivative.
  std::vector<bool> sources(int place, const Held& held) const;

  std::vector<int> places(const Model& m, int n) const;  // of a node
};

Tape run_step(const Model& model, const Data& data, const std::vector<Numbers>& states, size_t step);

// The element of an array of shape `from` that stands at `flat` of shape `to`, which it is broadcast to.
int64_t broadcast_index(const Sizes& from, const Sizes& to, int64_t flat);

}  // namespace braintrace::oracle

// SPDX-License-Identifier: Apache-2.0
// Learners inside derivatives.
//
// The traces of a learner hold the credit of all its calls so far, so the gradient of one call is complete. A
// derivative around several calls must not go back, besides, through the states that one call hands to the next: it
// would count that credit twice. A learner therefore asks where the value of each of its states comes from,
//
//   before the derivative   as the derivative found it: credit goes back to there, and what a loss outside the model
//                           reads of it is contracted with the traces (EntryCredit)
//   a learner's call        as that call left it: cut off
//   somebody else           an error where the value depends on the learner's states: no trace follows the change
//
// and marks the values that its own call leaves. The marks lie in the frames of the open traces (frame.h).
#pragma once

#include <functional>
#include <vector>

#include "braintrace/model/state.h"

namespace braintrace {

// What a learner adds to the gradients of a derivative that it is called in: the part of states, as the derivative
// found them, in parameters. It knows from its traces how they came about.
struct EntryCredit {
  const void*            learner;
  std::vector<StateLeaf> states, params;
  // Cotangents of the states, undefined where zero, to gradients of the parameters, likewise.
  std::function<Tensors(const Tensors&)> gradients;
};
void add_entry_credit(const EntryCredit& credit);  // to the innermost derivative, once for each learner

// Where the present value of a state comes from, inside the innermost derivative.
struct StateOrigin {
  enum class From : uint8_t {
    NoDerivative,      // none is open
    BeforeDerivative,  // `value` is an argument apart from what others read of the state
    Learner,           // an earlier call, or the turn before of a loop
    SomebodyElse,      // who wrote `value`
  };
  From   from  = From::NoDerivative;
  Tensor value = {};
};
StateOrigin origin_of(const StateLeaf& leaf, const StateSet& of_learner = {});  // the states that are its own

// The present value is what a learner's call left.
void mark_left_by_learner(const StateLeaf& leaf);

// Whether the value depends on states of the set as the traces that read them found them.
bool depends_on_states(const Tensor& value, const StateSet& states);

}  // namespace braintrace

// SPDX-License-Identifier: Apache-2.0
// Learners inside derivatives.
//
// The traces of a learner contain the credit of all its calls so far, so the gradient of one call is complete. A
// derivative around several calls must not also propagate through the states that one call passes to the next, because
// that would count this credit twice. A learner therefore checks the origin of the value of each of its states:
//
//   before the derivative   the value at the start of the derivative: credit propagates to it, and reads by a loss
//                           outside the model are contracted with the traces (EntryCredit)
//   a learner's call        the value after that call: detached
//   other code              an error if the value depends on the learner's states: no trace follows the change
//
// It also marks the values that its own call writes. The marks are stored in the frames of the open traces (frame.h).
#pragma once

#include <functional>
#include <vector>

#include "braintrace/model/state.h"

namespace braintrace {

// What a learner adds to the gradients of the derivative in which it is called: the influence of parameters on the
// states at the start of the derivative, which is in its traces.
struct EntryCredit {
  const void*            learner;
  std::vector<StateLeaf> states, params;
  // Cotangents of the states → gradients of the parameters; undefined where zero.
  std::function<Tensors(const Tensors&)> gradients;
};
void add_entry_credit(const EntryCredit& credit);  // to the innermost derivative, once for each learner

// The origin of the current value of a state inside the innermost derivative.
struct StateOrigin {
  enum class From : uint8_t {
    NoDerivative,      // no derivative is open
    BeforeDerivative,  // `value` is an argument, separate from other reads of the state
    Learner,           // an earlier call, or the previous iteration of a loop
    SomebodyElse,      // other code, which wrote `value`
  };
  From   from  = From::NoDerivative;
  Tensor value = {};
};
StateOrigin origin_of(const StateLeaf& leaf, const StateSet& of_learner = {});  // states of the learner

// Records that a call of a learner wrote the current value.
void mark_left_by_learner(const StateLeaf& leaf);

// Whether the value depends on the initial values of states of the set in the traces that read them.
bool depends_on_states(const Tensor& value, const StateSet& states);

}  // namespace braintrace

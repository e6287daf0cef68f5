// SPDX-License-Identifier: Apache-2.0
// Restores the states of a model and the random stream in its destructor.
#pragma once

#include "braintrace/base/lists.h"
#include "braintrace/model/random_stream.h"
#include "braintrace/model/snapshot.h"

namespace braintrace::train {

struct ModelUndo : Undo {
  explicit ModelUndo(const Module& model) : Undo(joined(model.states(), {{Path{}, random::default_stream()}})) {}
};

}  // namespace braintrace::train

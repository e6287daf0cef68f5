// SPDX-License-Identifier: Apache-2.0
// Random valid models.
#pragma once

#include "tests/oracle/model.h"

namespace braintrace::oracle {

// What models may contain besides products, nonlinear functions, gates and resets.
struct Features {
  bool sharing    = true;  // element_wise whose axes of size one, or missing, share values
  bool write_only = true;  // states whose old value nobody reads
  bool copies     = true;  // states that become another's old or new value
  bool outside    = true;  // losses that read old and new states outside the model
  bool made       = true;  // weights made by products and by trainable operations
  bool varying    = true;  // weights made of inputs and states, where there is no batch
  bool moves      = true;  // positions moved or mixed without a product
};

// The same seed gives the same model.
Model random_model(uint64_t seed, const Features& features = {});

}  // namespace braintrace::oracle

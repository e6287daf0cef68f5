// SPDX-License-Identifier: Apache-2.0
// A random program over the whole registry as a job, also differentiated and batched.
#pragma once

#include "braintrace/base/rng.h"
#include "tests/codegen/agreement.h"

namespace braintrace::testing_support {

// `word` : what is done to the program (tests/transforms/words.h), nothing when empty.
Job random_job(Rng& rng, const std::string& word);

}  // namespace braintrace::testing_support

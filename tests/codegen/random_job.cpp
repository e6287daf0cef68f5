// SPDX-License-Identifier: Apache-2.0
#include "tests/codegen/random_job.h"

#include "tests/transforms/random_program.h"

namespace braintrace::testing_support {

Job random_job(Rng& rng, const std::string& word) {
  Recipe r;
  for (int64_t n = 1 + rng.integer(8); n > 0; --n)
    r.push_back({rng.bits() % 65536, rng.bits() % 65536, rng.bits() % 65536});
  const Instance run = transformed(random_run(r), word);
  Job            j{describe(r) + word, run.program, {}, {}};
  for (const Tensor& x : run.in) j.args.push_back(x.array());
  return j;
}

}  // namespace braintrace::testing_support

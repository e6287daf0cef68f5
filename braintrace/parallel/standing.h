// SPDX-License-Identifier: Apache-2.0
// For work in parts that do not know of each other: which part is ours, told by mpirun or srun, without a library of
// MPI.
#pragma once

namespace braintrace::parallel {

struct Standing {
  int rank = 0, size = 1;
};
Standing standing();
// What this process starts from now on is alone (parallel::alone), whoever started this process.
void stand_alone();

}  // namespace braintrace::parallel

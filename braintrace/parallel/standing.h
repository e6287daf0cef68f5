// SPDX-License-Identifier: Apache-2.0
// For work in independent parts: rank and size of this process as set by mpirun or srun, without an MPI library.
#pragma once

namespace braintrace::parallel {

struct Standing {
  int rank = 0, size = 1;
};
Standing standing();
// Processes that this process starts from now on are alone (parallel::alone), even under mpirun.
void stand_alone();

}  // namespace braintrace::parallel

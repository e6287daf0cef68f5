// SPDX-License-Identifier: Apache-2.0
// An outside user of braintrace::verify: one step of a recurrent cell, with its Jacobians as numbers.
#include "braintrace/braintrace.h"
#include "braintrace/verify/graph_executor.h"

int main() {
  bt::nn::GRUCell cell(2, 3);
  bt::init_all_states(cell);
  bt::ETraceVjpGraphExecutor executor(cell);
  executor.compile_graph(bt::zeros({2}));
  const auto found = executor.solve_h2w_h2h_jacobian(bt::ones({2}));
  return found.Ds.size() == 1 && found.Ds[0].shape() == bt::Shape{3, 1, 1} ? 0 : 1;
}

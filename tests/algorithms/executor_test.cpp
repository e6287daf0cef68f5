// SPDX-License-Identifier: Apache-2.0
// The executor's quantities of one step: x, D_f, D, and the learning signal.
#include <gtest/gtest.h>

#include "braintrace/verify/graph_executor.h"
#include "tests/algorithms/support.h"
#include "tests/support/error_of.h"

namespace braintrace {

namespace {

TEST(Executor, GivesTheQuantitiesOfAStep) {
  // h ← 0.7 h + tanh(x w)
  auto                   model = make_model({{"type", "leaky_op_rnn"},
                                             {"op", {{"kind", "dense"}, {"n_in", 2}, {"n_out", 3}, {"bias_shape", {3}}}},
                                             {"h_shape", {3}},
                                             {"leak", 0.7},
                                             {"activation", "tanh"}});
  ETraceVjpGraphExecutor executor(*model);
  const Tensor           x = normal({DType::F64, {2}}, 5);
  EXPECT_NE(error_of([&] { executor.solve_h2w_h2h_jacobian({x}); }).find("call compile_graph"), std::string::npos);
  executor.compile_graph(Tensors{x});
  executor.compile_graph(Tensors{x});  // nothing happens
  set_states(*model, 21);
  const Tensor before      = model->state_at(Path::dotted("h")).value();
  const auto [found, step] = executor.solve_h2w_h2h_l2h_jacobian({x});
  EXPECT_EQ(max(abs(model->state_at(Path::dotted("h")).value() - before)).item(), 0);
  EXPECT_EQ(max(abs(found.out[0] - (*model)(x))).item(), 0);
  ASSERT_EQ(found.xs.size(), 1u);
  EXPECT_EQ(max(abs(found.xs[0] - x)).item(), 0);
  const Tensor drive = found.out[0] - 0.7 * before;  // tanh(y)
  ASSERT_EQ(found.dfs.size(), 1u);
  EXPECT_LT(max(abs(reshape(found.dfs[0].value, {3}) - (1 - square(drive)))).item(), 1e-14);
  ASSERT_EQ(found.Ds.size(), 1u);
  EXPECT_EQ(found.Ds[0].shape(), (Shape{3, 1, 1}));
  EXPECT_LT(max(abs(found.Ds[0] - 0.7)).item(), 1e-15);
  ASSERT_EQ(found.hidden_vals.size(), 1u);
  EXPECT_EQ(executor.state_id_to_path(found.hidden_paths[0].second), Path::dotted("h"));
  // One on the output is one on the state.
  const Tensors L = step->pull({ones({3}, DType::F64), Tensor()}).L;
  EXPECT_LT(max(abs(L[0] - 1)).item(), 1e-15);
  EXPECT_NE(error_of([&] {
              executor.solve_h2w_h2h_jacobian({zeros({3}, DType::F64)});
            }).find("input 0 is f64[3], compile_graph was given f64[2]"),
            std::string::npos);
  EXPECT_NE(executor.show_graph().find("hidden groups"), std::string::npos);
  EXPECT_EQ(executor.path_to_states().size(), model->states().size());
}

TEST(Executor, StructuralZerosAreZeros) {
  auto                   model = make_model(layer("vanilla_rnn", 2, 3));
  ETraceVjpGraphExecutor executor(*model);
  const Tensor           x = normal({DType::F64, {2}}, 5);
  executor.compile_graph(Tensors{x});
  const StepJacobians found = executor.solve_h2w_h2h_jacobian({x});
  EXPECT_EQ(found.Ds[0].shape(), (Shape{3, 1, 1}));
  EXPECT_EQ(max(abs(found.Ds[0])).item(), 0);
}

}  // namespace

}  // namespace braintrace

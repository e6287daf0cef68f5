// SPDX-License-Identifier: Apache-2.0
// Models and options that cannot be compiled: the message names the place, the reason and the remedy, and the model
// does not change.
#include <functional>

#include <gtest/gtest.h>

#include "braintrace/compiler/report.h"
#include "braintrace/control/cond.h"
#include "braintrace/control/while.h"
#include "braintrace/etp/dense.h"
#include "braintrace/nn/linear.h"
#include "braintrace/ops/compare.h"
#include "braintrace/ops/contract.h"
#include "braintrace/ops/math.h"
#include "braintrace/ops/move.h"
#include "braintrace/ops/reduce.h"
#include "braintrace/zoo/cell.h"

namespace braintrace {

namespace {

const Type vec{DType::F32, {4}};

struct Net {
  std::shared_ptr<zoo::Cell> cell = zoo::make_cell();
  ParamState                 w    = cell->param("w", {4, 4});
  HiddenState                h    = cell->hidden("h", {4});

  explicit Net(const std::function<Tensor(Net&, const Tensor&)>& step, bool ready = true) {
    if (ready) init_all_states(*cell);
    cell->step = [this, step](const Tensor& x) { return step(*this, x); };
  }
};
using Step = std::function<Tensor(Net&, const Tensor&)>;

// What compiling says, and that parameter and state are as before.
std::string message(const Step& step, const CompileOptions& options = {}, const Types& args = {vec}) {
  Net         net(step);
  const Array w = net.w.value().array(), h = net.h.value().array();
  std::string what;
  try {
    compile_etrace_graph(*net.cell, args, options);
  } catch (const std::exception& e) {
    what = e.what();
  }
  EXPECT_TRUE(identical(net.w.value().array(), w) && identical(net.h.value().array(), h));
  return what;
}
void expect_says(const std::string& what, const std::vector<std::string>& phrases) {
  for (const std::string& p : phrases)
    EXPECT_NE(what.find(p), std::string::npos) << "'" << p << "' is missing in: " << what;
}

Tensor loop(const Tensor& init, const std::function<Tensor(const Tensor&)>& f) {
  return while_loop([](const Tensors& c) { return greater(sum(square(c[0])), 0.1); },
                    [&](const Tensors& c) -> Tensors { return {f(c[0])}; }, Tensors{init})[0];
}

TEST(BadInput, AModelThatThrowsIsLeftAsItWas) {
  const auto what = message([](Net& n, const Tensor& x) -> Tensor {
    n.h.set(0.5 * n.h.value() + matmul(x, n.w.value()));
    throw std::runtime_error("the sensor is not connected");
  });
  expect_says(what, {"the sensor is not connected"});
  // The next model compiles.
  EXPECT_EQ(message([](Net& n, const Tensor& x) {
              n.h.set(0.5 * n.h.value() + matmul(x, n.w.value()));
              return n.h.value();
            }),
            "");
}

TEST(BadInput, WeightsAndTrainableOperationsInLoops) {
  expect_says(message([](Net& n, const Tensor&) {
                n.h.set(loop(n.h.value(), [&](auto& c) { return 0.1 * dot(c, n.w.value()); }));
                return n.h.value();
              }),
              {"while", "weight w", "fixed-length"});
  expect_says(message([](Net& n, const Tensor& x) {
                n.h.set(loop(n.h.value(), [&](auto& c) { return 0.1 * matmul(c + x, n.w.value()); }));
                return n.h.value();
              }),
              {"while", "trainable operation", "Move the trainable operation out", "Exclude"});
  CompileOptions opaque;
  opaque.control_flow.cond = ControlFlowPolicy::Cond::Opaque;
  expect_says(message(
                  [](Net& n, const Tensor& x) {
                    const Function yes = [](const Tensors& t) -> Tensors { return {dot(t[0], t[1])}; };
                    const Function no  = [](const Tensors& t) -> Tensors { return {t[0]}; };
                    n.h.set(cond(greater(sum(x), 0.0), yes, no, {n.h.value(), n.w.value()})[0]);
                    return n.h.value();
                  },
                  opaque),
              {"cond", "weight w", "Take the weight out"});
}

TEST(BadInput, AnUnrelatedRegionThatReadsAWeightIsNoReason) {
  EXPECT_EQ(message([](Net& n, const Tensor& x) {
              n.h.set(0.5 * n.h.value() + matmul(x, n.w.value()));
              return loop(x, [&](auto& c) { return 0.1 * dot(c, n.w.value()); });
            }),
            "");
}

TEST(BadInput, ExcludedOperationsInLoopsAreRecordedNotRefused) {
  CompileOptions exclude;
  exclude.control_flow.etp_in_control_flow = ControlFlowPolicy::EtpInside::Exclude;
  Net        net([](Net& n, const Tensor& x) {
    n.h.set(0.5 * n.h.value() + x);
    return loop(x, [&](auto& c) { return 0.1 * matmul(c + x, n.w.value()); });
  });
  const auto g       = compile_etrace_graph(*net.cell, {vec}, exclude);
  const auto records = g.explain({.kind = DiagnosticKind::PrimitiveInsideControlFlow});
  ASSERT_EQ(records.size(), 1u);
  EXPECT_EQ(records[0].level, DiagnosticLevel::Warning);
}

TEST(BadInput, StatesThatCannotBeHidden) {
  expect_says(message([](Net& n, const Tensor& x) {
                n.w.set(2.0 * n.w.value());
                n.h.set(x);
                return x;
              }),
              {"parameter w", "only an optimizer may"});
  expect_says(message([](Net& n, const Tensor& x) {
                n.h.set(concat({x, n.h.value()}, 0));
                return x;
              }),
              {"hidden state h", "f32[4]", "f32[8]"});
  auto       cell = zoo::make_cell();
  const auto k    = cell->keep("count", HiddenState(Tensor(Type{DType::I32, {3}}, 0)));
  cell->step      = [=](const Tensor& x) {
    k.set(k.value() + 1);
    return x;
  };
  try {
    compile_etrace_graph(*cell, {vec});
    FAIL() << "no error";
  } catch (const UserError& e) {
    expect_says(e.what(), {"hidden state count", "i32", "floating-point"});
  }
}

TEST(BadInput, StatesWithoutAValue) {
  Net net(
      [](Net& n, const Tensor& x) {
        n.h.set(0.5 * n.h.value() + matmul(x, n.w.value()));
        return n.h.value();
      },
      false);
  try {
    compile_etrace_graph(*net.cell, {vec});
    FAIL() << "no error";
  } catch (const UserError& e) {
    expect_says(e.what(), {"'h'", "init_all_states"});
  }
}

TEST(BadInput, AnInputOfTheWrongShape) {
  expect_says(message(
                  [](Net& n, const Tensor& x) {
                    n.h.set(0.5 * n.h.value() + matmul(x, n.w.value()));
                    return n.h.value();
                  },
                  {}, {{DType::F32, {5}}}),
              {"matmul", "f32[5]"});
}

TEST(BadInput, OptionsOutOfRange) {
  const Step fine = [](Net& n, const Tensor& x) {
    n.h.set(0.5 * n.h.value() + matmul(x, n.w.value()));
    return n.h.value();
  };
  CompileOptions o;
  o.control_flow.fixpoint_iteration_limit = 0;
  expect_says(message(fine, o), {"fixpoint_iteration_limit", "at least 1", "got 0"});
  o          = {};
  o.sparse_n = 2;
  expect_says(message(fine, o), {"sparse_n = 2", "include_recurrent_mixing"});
}

TEST(BadInput, AModelWithoutHiddenStatesHasAnEmptyGraph) {
  auto       cell = zoo::make_cell();
  nn::Linear out  = cell->linear("out", 4, 2);
  init_all_states(*cell);
  cell->step   = [=](const Tensor& x) mutable { return out(x); };
  const auto g = compile_etrace_graph(*cell, {vec});
  EXPECT_TRUE(g.hidden_groups.empty() && g.hidden_param_op_relations.empty());
  EXPECT_EQ(g.explain({.kind = DiagnosticKind::RelationExcludedNonTemporal}).size(), 1u);
  EXPECT_NE(show_graph(g).find("relation_excluded_non_temporal"), std::string::npos);
}

TEST(BadInput, AStateThatIsNeverTouchedIsNamed) {
  Net        net([](Net&, const Tensor& x) { return x; });
  const auto g       = compile_etrace_graph(*net.cell, {vec});
  const auto records = g.explain({.kind = DiagnosticKind::StateMismatch});
  ASSERT_EQ(records.size(), 2u);
  expect_says(records[0].message + records[1].message, {"the step never uses h", "the step never uses w"});
  EXPECT_TRUE(g.hidden_groups.empty());
}

TEST(BadInput, UnknownPathsAndKinds) {
  Net        net([](Net& n, const Tensor& x) {
    n.h.set(0.5 * n.h.value() + matmul(x, n.w.value()));
    return n.h.value();
  });
  const auto g = compile_etrace_graph(*net.cell, {vec});
  EXPECT_TRUE(g.explain({.weight_path = Path{"v"}}).empty());
  EXPECT_TRUE(g.explain({.hidden_path = Path{"w"}}).empty());
  EXPECT_FALSE(g.explain({.weight_path = Path{"w"}, .hidden_path = Path{"h"}}).empty());
  try {
    g.hid_path_to_group.at({"nowhere"});
    FAIL() << "no error";
  } catch (const UserError& e) {
    expect_says(e.what(), {"'nowhere'", "known: h"});
  }
}

}  // namespace

}  // namespace braintrace

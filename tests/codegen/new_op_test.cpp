// SPDX-License-Identifier: Apache-2.0
// An elementwise operation from outside the library: one record, and it runs as fast as those inside. Nothing else is
// told about it.
#include <cmath>

#include <gtest/gtest.h>

#include "braintrace/codegen/c/emit.h"
#include "braintrace/codegen/cost.h"
#include "braintrace/codegen/cuda/emit.h"
#include "braintrace/ops/families.h"
#include "braintrace/ops/math.h"
#include "braintrace/transforms/linearize.h"
#include "tests/codegen/agreement.h"

namespace braintrace {
namespace {

// y = x / (1 + |x|),  dy = dx / (1 + |x|)²
constinit const Op soft_sign_op = elementwise({
    .name   = "test_soft_sign",
    .doc    = "x / (1 + |x|)",
    .code   = {"($a / (1 + fabs$f($a)))", "", ElementCost::Division},
    .scalar = {.real    = [](const double* x) { return x[0] / (1 + std::abs(x[0])); },
               .partial = {[](const Tensors& x, const Tensor&) { return 1 / square(1 + abs(x[0])); }}},
});

const Op& soft_sign() {
  static const bool registered = (register_op(soft_sign_op), true);
  (void)registered;
  return soft_sign_op;
}

Program network() {
  return trace({{DType::F64, {3, 4}}, {DType::F64, {4}}},
               [](const Tensors& in) -> Tensors { return {apply1(soft_sign(), {in[0] * 2. + in[1]}) * 3.}; })
      .program;
}

TEST(NewOp, FusesWithItsNeighbors) {
  const codegen::Schedule s = codegen::scheduled({network()});
  EXPECT_TRUE(s.calls.empty()) << "the host computes nothing";
  EXPECT_EQ(s.entries[0]->kernels.size(), 1u);
  EXPECT_EQ(codegen::work_of(s).series, 12) << "it has a cost";
}

TEST(NewOp, IsPrintedForEveryTarget) {
  const codegen::Target target = codegen::cuda_target();
  for (const std::string& source :
       {codegen::emit({network()}, codegen::Dialect::Native).source,
        codegen::emit({network()}, codegen::Dialect::Portable).source,
        codegen::emit_cuda(codegen::scheduled({network()}, {.target = target}), target).source})
    EXPECT_NE(source.find("/ (1 + fabs("), std::string::npos) << source;
}

TEST(NewOp, AgreesWithTheInterpreterAlsoDifferentiated) {
  testing_support::Job forward{"soft sign", network(), {}, {}};
  for (const Type& t : {Type{DType::F64, {3, 4}}, Type{DType::F64, {4}}}) {
    forward.args.emplace_back(t);
    for (int64_t i = 0; i < t.size(); ++i)
      forward.args.back().mutable_data<double>()[i] = 0.3 * static_cast<double>(i) - 1;
  }
  testing_support::Job backward = forward;
  backward.program              = vjp_program(forward.program, {true, true});
  backward.args.push_back(Tensor(Type{DType::F64, {3, 4}}, 0.7).array());
  const auto w = testing_support::worst_disagreement({forward, backward});
  EXPECT_LE(w.distance, 1e-14) << w.name;
}

}  // namespace
}  // namespace braintrace

// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "braintrace/ir/builder.h"
#include "braintrace/ops/math.h"
#include "braintrace/runtime/backend.h"

namespace braintrace {
namespace {

Traced add_ten() {
  const Tensor ten(Array::of<float>({10, 20}, {2}));
  return trace({{DType::F32, {2}}}, [&](const Tensors& x) { return Tensors{x[0] + ten}; });
}

TEST(Backends, RunAWholeProgram) {
  const Traced t = add_ten();
  for (Backend* backend : backends()) {
    if (backend->name() == "cuda" && !backend->problem().empty()) continue;  // there is no device
    const auto   executable = backend->compile(t.program, {t.constants[0].array()});
    const Arrays out        = executable->run({Array::of<float>({1, 2}, {2})});
    EXPECT_EQ(at(out[0], 0), 11) << backend->name();
    EXPECT_EQ(at(out[0], 1), 22) << backend->name();
  }
}

TEST(Backends, RefuseWrongArguments) {
  const Traced t          = add_ten();
  const auto   executable = default_backend().compile(t.program, {t.constants[0].array()});
  EXPECT_THROW(executable->run({}), UserError);
  EXPECT_THROW(executable->run({Array::of<float>({1, 2, 3}, {3})}), UserError);
  EXPECT_THROW(default_backend().compile(t.program, {}), UserError);
}

TEST(Backends, UnknownNamesListTheKnownOnes) {
  set_default_backend("reference");
  EXPECT_EQ(default_backend().name(), "reference");
  try {
    set_default_backend("abacus");
    FAIL();
  } catch (const UserError& e) {
    EXPECT_NE(std::string(e.what()).find("abacus"), std::string::npos);
    EXPECT_NE(std::string(e.what()).find("reference"), std::string::npos);
  }
  EXPECT_EQ(default_backend().name(), "reference");
}

}  // namespace
}  // namespace braintrace

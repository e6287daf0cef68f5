// SPDX-License-Identifier: Apache-2.0
#include "braintrace/export/export.h"

#include <cmath>

#include <gtest/gtest.h>

#include "braintrace/nn/linear.h"
#include "braintrace/nn/rnn.h"
#include "braintrace/ops/families.h"
#include "tests/support/error_of.h"

namespace braintrace {
namespace {

// No C text can be made of it: it has a meaning and no expansion.
constinit const Op log_cosh_op =
    elementwise({.name   = "log_cosh",
                 .doc    = "log(cosh(x))",
                 .scalar = {.real    = [](const double* x) { return std::log(std::cosh(x[0])); },
                            .partial = {[](const Tensors& x, const Tensor&) { return x[0]; }}}});

struct Odd : nn::Module {
  Tensor update(const Tensor& x) override { return elementwise_apply(log_cosh_op, {x}); }
};

struct Net : nn::Module {
  explicit Net(bool with_odd) : odd(with_odd) { children({{"rnn", rnn}, {"strange", last}, {"out", out}}); }
  Tensor update(const Tensor& x) override {
    const Tensor h = rnn(x);
    return out(odd ? last(h) : h);
  }
  bool              odd;
  nn::ValinaRNNCell rnn{2, 3};
  Odd               last;
  nn::Linear        out{3, 1};
};

const std::string& file(const Exported& e, const std::string& name) {
  for (const ExportedFile& f : e.files)
    if (f.name == name) return f.text;
  throw InternalError("no file " + name);
}

TEST(Export, IsTheSameEachTime) {
  Net            model(false);
  const Exported a = export_model(model, {DType::F32, {2}}, {.name = "two words"});
  const Exported b = export_model(model, {DType::F32, {2}}, {.name = "two words"});
  for (const ExportedFile& f : a.files) EXPECT_EQ(f.text, file(b, f.name)) << f.name;
  EXPECT_NE(file(a, "model.h").find("int two_words_learn(two_words_model* m"), std::string::npos);
}

// Weights [5,3] with a trace like them, [3,1], a hidden state [3], two counters of 8 bytes.
TEST(Export, CountsBytes) {
  Net            model(false);
  const Exported e = export_model(model, {DType::F32, {2}});
  EXPECT_EQ(e.sizes.states, 4 * (2 * 15 + 3 + 3) + 8 * 2);
  EXPECT_GE(e.sizes.constants, 4 * (15 + 3));
  EXPECT_LT(e.sizes.constants, e.sizes.states) << "zero traces take no flash";
  EXPECT_GE(e.sizes.ram, e.sizes.states + e.sizes.arena);
}

TEST(Export, RefusesWhatOnlyTheLibraryComputes) {
  Net               model(true);
  const std::string said = error_of([&] { export_model(model, {DType::F32, {2}}); });
  EXPECT_NE(said.find("'log_cosh'"), std::string::npos) << said;
  EXPECT_NE(said.find("strange"), std::string::npos) << said;
  EXPECT_NE(said.find("portable C"), std::string::npos) << said;
}

}  // namespace
}  // namespace braintrace

// SPDX-License-Identifier: Apache-2.0
// A trainable operation of a user's own: the record shown in docs/custom_operation.md, registered and checked.
#include <fstream>
#include <sstream>

#include <gtest/gtest.h>

#include "braintrace/base/rng.h"
#include "braintrace/braintrace.h"
#include "braintrace/ops/index_walk.h"

namespace {

// [doc]
constexpr bt::Key<double> scale{"scale"};

// y = s x W     x : [I] or [B,I]   W : [I,O]   trace : [(B),I,O]
constexpr bt::EtpRules scaled_rules = {
    .primitive = [](const bt::EtpCall&) -> std::string_view { return "my_scaled_mm"; },
    .weights =
        [](const bt::EtpCall&) {
          return std::vector<bt::EtpWeight>{{"weight", 1}};
        },
    .coefficient = [](const bt::EtpCall& c, int, const bt::Tensors& in) -> bt::Tensor {
      return bt::expand_dims(in[0] * c.attrs[scale], -1);  // ∂y_o/∂W_io = s x_i
    },
    .spread = [](const bt::EtpCall& c, int, const bt::Tensor& t) -> bt::Tensor {
      return bt::expand_dims(t, c.y.rank() - 1);  // [(B),O,…] → [(B),1,O,…], and nothing else
    },
    .fold = [](const bt::EtpCall& c, int, const bt::Tensors&, const bt::Tensor& t) -> bt::Tensor {
      return bt::sum_to(t, c.in[1].shape);  // over the batch
    },
};

constinit const bt::Op scaled_matmul_op = bt::composite({
    .name     = "my_scaled_matmul",
    .doc      = "trainable product s x W",
    .operands = "x weight",
    .expand   = [](const bt::Op&, const bt::Tensors& in, const bt::Attrs& a) -> bt::Tensors {
      return {bt::dot(in[0], in[1]) * a[scale]};
    },
    .batch  = [](const bt::BatchArgs& a) { return bt::batch_over_x(a, 1); },
    .sample = [](const bt::Op&, bt::Rng& rng) -> std::vector<bt::Sample> {
      auto r = [&](bt::Shape s) { return bt::Tensor(bt::random_array(rng, {bt::DType::F64, std::move(s)})); };
      return {{{r({3}), r({3, 2})}, {{scale, 1.5}}}, {{r({4, 3}), r({3, 2})}, {{scale, 0.5}}}};
    },
    .etp = &scaled_rules,
});

bt::Tensor scaled_matmul(const bt::Tensor& x, const bt::Tensor& weight, double s) {
  return bt::apply1(scaled_matmul_op, {x, weight}, {{scale, s}});
}
// [end]

const bool registered = (bt::register_op(scaled_matmul_op), true);

std::string read(const std::string& path) {
  std::stringstream s;
  s << std::ifstream(std::string(BRAINTRACE_SOURCE_DIR) + "/" + path).rdbuf();
  return s.str();
}

TEST(CustomOperation, KeepsTheLaws) {
  ASSERT_TRUE(registered);
  EXPECT_NO_THROW(bt::check_trainable(scaled_matmul_op));
  EXPECT_EQ(bt::find_op("my_scaled_matmul"), &scaled_matmul_op);
  EXPECT_THROW(bt::register_op(scaled_matmul_op), bt::UserError) << "a name is taken once";
}

TEST(CustomOperation, ComputesPrintsAndReadsBack) {
  const bt::Tensor x = bt::Array::of<double>({1, 2}, {2}), W = bt::Array::of<double>({1, 0, 3, 1}, {2, 2});
  const bt::Array  y = scaled_matmul(x, W, 1.5).array();
  EXPECT_DOUBLE_EQ(bt::at(y, 0), 10.5);
  EXPECT_DOUBLE_EQ(bt::at(y, 1), 3);
  const bt::Program p = bt::trace({x.type(), W.type()}, [](const bt::Tensors& in) -> bt::Tensors {
                          return {scaled_matmul(in[0], in[1], 1.5)};
                        }).program;
  EXPECT_TRUE(bt::equal(p, bt::parse(bt::print(p))));
}

// The factor of the operation in `spread` would multiply D and the learning signal too: right for one step, wrong from
// the second on.
TEST(CustomOperation, TheFactorDoesNotBelongIntoSpread) {
  static constexpr bt::EtpRules wrong = [] {
    bt::EtpRules r = scaled_rules;
    r.spread       = [](const bt::EtpCall& c, int, const bt::Tensor& t) -> bt::Tensor {
      return bt::expand_dims(t * c.attrs[scale], c.y.rank() - 1);
    };
    r.coefficient = [](const bt::EtpCall&, int, const bt::Tensors& in) -> bt::Tensor {
      return bt::expand_dims(in[0], -1);
    };
    return r;
  }();
  bt::Op op                   = scaled_matmul_op;
  op.etp                      = &wrong;
  const bt::TrainableErrors e = bt::measure_trainable(op);
  EXPECT_LT(e.pull_back, 1e-11);
  EXPECT_GT(e.propagate, 0.1);
  EXPECT_THROW(bt::check_trainable(op), bt::UserError);
}

TEST(CustomOperation, TheDocumentShowsThisCode) {
  const std::string source = read("tests/etp/custom_op_test.cpp"), page = read("docs/custom_operation.md");
  const auto        begin = source.find("// [doc]\n") + 9, end = source.find("// [end]");
  EXPECT_NE(page.find(source.substr(begin, end - begin)), std::string::npos)
      << "docs/custom_operation.md differs from the code between [doc] and [end]";
}

}  // namespace

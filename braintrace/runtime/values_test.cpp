// SPDX-License-Identifier: Apache-2.0
#include "braintrace/runtime/values.h"

#include <cmath>
#include <sstream>

#include <gtest/gtest.h>

#include "braintrace/ir/builder.h"
#include "braintrace/ops/math.h"

namespace braintrace {
namespace {

TEST(Values, FromCppValues) {
  EXPECT_EQ(tensor({1.0f, 2.0f}).type(), (Type{DType::F32, {2}}));
  EXPECT_EQ(tensor({1.0, 2.0, 3.0, 4.0}, {2, 2}).type(), (Type{DType::F32, {2, 2}}));
  EXPECT_EQ(tensor({1.0, 2.0}, DType::F64).type(), (Type{DType::F64, {2}}));
  EXPECT_EQ(tensor({1.0}, {}, DType::F64).type(), (Type{DType::F64, {}}));
  EXPECT_EQ(tensor({1.0}, {}).type(), (Type{DType::F32, {}}));
  set_thread_default_float(DType::F64);
  EXPECT_EQ(tensor({.1}).item(), .1);
  EXPECT_EQ(tensor({1.0f}).dtype(), DType::F32);
  set_thread_default_float({});
  EXPECT_EQ(tensor({1, 2}).dtype(), DType::I32);
  EXPECT_EQ(tensor({true, false}).dtype(), DType::Bool);
  EXPECT_THROW(tensor({1.0f, 2.0f}, {3}), UserError);
  EXPECT_EQ(to_vector<int>(tensor({4, 5})), (std::vector<int>{4, 5}));
  EXPECT_THROW(to_vector<float>(tensor({4, 5})), UserError);
}

TEST(Values, BuffersAreSharedNotCopied) {
  auto         owner = std::make_shared<std::vector<float>>(std::vector<float>{1, 2, 3, 4});
  const Tensor t     = from_buffer(owner->data(), {2, 2}, owner);
  EXPECT_EQ(t.array().data<float>(), owner->data());
  EXPECT_EQ(owner.use_count(), 2);
  EXPECT_EQ(at((t + t).array(), 3), 8);
  const char* odd = reinterpret_cast<const char*>(owner->data()) + 1;
  EXPECT_THROW(Array::borrow({DType::F32, {1}}, odd, owner), UserError);
}

TEST(Values, Text) {
  EXPECT_EQ(to_string(tensor({1.0f, -2.5f, 3.0f, 4.0f}, {2, 2})), "[[1., -2.5],\n [3., 4.]]");
  EXPECT_EQ(fmt::format("{}", tensor({1, 2})), "[1, 2]");
  EXPECT_EQ(to_string(Tensor(2.0)), "2.");
  EXPECT_EQ(to_string(tensor({true, false})), "[true, false]");
  EXPECT_EQ(to_string(Tensor(Type{DType::F32, {0}}, 0)), "[]");
  EXPECT_EQ(to_string(Tensor(Type{DType::I32, {100}}, 7)), "[7, 7, 7, …, 7, 7, 7]");
  EXPECT_EQ(to_string(tensor({INFINITY, NAN})), "[inf, nan]");
  auto builder = Builder::open();
  EXPECT_EQ(to_string(builder->argument({DType::F32, {2}})), "f32[2] (traced)");
}

TEST(Values, PrintWithStreams) {
  std::ostringstream out;
  out << tensor({1, 2}) << " " << Builder::open()->argument({DType::F32, {2}});
  EXPECT_EQ(out.str(), "[1, 2] f32[2] (traced)");
}

TEST(Values, Allclose) {
  const Tensor a = tensor({1.0, 2.0});
  EXPECT_TRUE(allclose(a, tensor({1.0, 2.0 + 1e-6})));
  EXPECT_FALSE(allclose(a, tensor({1.0, 2.1})));
  EXPECT_FALSE(allclose(a, tensor({1.0, 2.0, 3.0})));
  EXPECT_TRUE(allclose(tensor({NAN, INFINITY}), tensor({NAN, INFINITY})));
  EXPECT_FALSE(allclose(tensor({1.0f}), tensor({INFINITY})));
  EXPECT_FALSE(allclose(tensor({NAN}), tensor({0.0f})));
  EXPECT_EQ(max_difference(a, tensor({1.5, 2.0})), 0.5);
  EXPECT_EQ(max_difference(a, tensor({1.5, static_cast<double>(NAN)})), INFINITY);
}

}  // namespace
}  // namespace braintrace

// SPDX-License-Identifier: Apache-2.0
// A UserError has a kind, also after modules have added where it happened.
#include "braintrace/io/npy.h"
#include "braintrace/ops/index.h"
#include "braintrace/runtime/backend.h"
#include "tests/functions/support.h"

namespace braintrace {
namespace {

using namespace testing_support;

template <class F>
std::optional<ErrorKind> kind_of(F&& f) {
  try {
    f();
  } catch (const UserError& e) {
    return e.kind();
  }
  return std::nullopt;
}

struct Unset : Module {
  HiddenState h = state("h", HiddenState(HiddenState::Init([](BatchSize) { return Leaves{}; })));
  Tensor      update(const Tensor&) override { return h.value(); }
};

TEST(ErrorKinds, ArgumentsShapesTypesIndicesNamesStatesAndFiles) {
  const Tensor x = ones({2, 3}, DType::F64);
  EXPECT_EQ(kind_of([&] { arange(-1); }), ErrorKind::Argument);
  EXPECT_EQ(kind_of([&] { x + ones({4}, DType::F64); }), ErrorKind::Shape);
  EXPECT_EQ(kind_of([&] { reshape(x, {5}); }), ErrorKind::Shape);
  EXPECT_EQ(kind_of([&] { dot(x, x); }), ErrorKind::Shape);
  EXPECT_EQ(kind_of([&] { sum(x, {2}); }), ErrorKind::Shape);
  EXPECT_EQ(kind_of([&] { take(x, x); }), ErrorKind::DType);
  EXPECT_EQ(kind_of([&] { x.array().data<float>(); }), ErrorKind::DType);
  EXPECT_EQ(kind_of([&] { x[2]; }), ErrorKind::Index);
  EXPECT_EQ(kind_of([&] { take(x, Array::of<int32_t>({7}, {1})); }), ErrorKind::Index);
  EXPECT_EQ(kind_of([&] { Rnn(2, 3).state_at(Path{"v"}); }), ErrorKind::Name);
  EXPECT_EQ(kind_of([&] { Rnn(2, 3).W.leaf("bias"); }), ErrorKind::Name);
  EXPECT_EQ(kind_of([&] { Unset().h.value(); }), ErrorKind::State);
  EXPECT_EQ(kind_of([&] { jit([](Tensor t) { return Tensor(t.item()); })(tensor({1.0})); }), ErrorKind::State);
  EXPECT_EQ(kind_of([&] { read_npy("/nowhere/at/all.npy"); }), ErrorKind::File);
}

TEST(ErrorKinds, SurviveTheWayThroughModules) {
  Unset model;
  EXPECT_EQ(kind_of([&] { model(ones({1}, DType::F64)); }), ErrorKind::State);
  Rnn rnn(2, 3);
  EXPECT_EQ(kind_of([&] { rnn(ones({5}, DType::F64)); }), ErrorKind::Shape);
}

}  // namespace
}  // namespace braintrace

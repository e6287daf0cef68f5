// SPDX-License-Identifier: Apache-2.0
#include "braintrace/ir/builder.h"

#include <cmath>
#include <functional>

#include <gtest/gtest.h>

#include "braintrace/ir/op.h"
#include "braintrace/ops/math.h"
#include "braintrace/ops/move.h"

namespace braintrace {
namespace {

const Type   vec{DType::F64, {3}};
const Tensor data = Array::of<double>({1, 2, 3}, {3});

std::string message(const std::function<void()>& f) {
  try {
    f();
  } catch (const UserError& e) {
    return e.what();
  }
  return "no error";
}
bool contains(const std::string& text, std::string_view part) { return text.find(part) != text.npos; }

TEST(Builder, ConcreteTensorsComputeAtOnce) {
  EXPECT_EQ(at((data + data).array(), 2), 6);
  EXPECT_FALSE((data + 1.0).is_traced());
}

TEST(Builder, WritesEquationsInOrder) {
  const Traced t = trace({vec, vec}, [](const Tensors& in) -> Tensors { return {tanh(in[0]) * in[1]}; });
  EXPECT_EQ(print(t.program),
            "program(; %0: f64[3], %1: f64[3]) {\n"
            "  %2: f64[3] = tanh %0\n"
            "  %3: f64[3] = mul %2 %1\n"
            "  return %3\n"
            "}\n");
  EXPECT_TRUE(t.constants.empty());
}

TEST(Builder, CapturesConcreteArraysOnce) {
  const Traced t = trace({vec}, [](const Tensors& in) -> Tensors { return {in[0] * data + data}; });
  ASSERT_EQ(t.constants.size(), 1u);
  EXPECT_EQ(t.constants[0].array().raw(), data.array().raw());
  EXPECT_EQ(at(replay(t.program, t.constants, {data})[0].array(), 2), 12);
}

TEST(Builder, SharedStorageUnderAnotherShapeIsAnotherConstant) {
  const Array  a = Array::of<double>({1, 2, 3, 4}, {4});
  const Tensor flat(a), square(a.reshaped({2, 2}));
  const Traced t = trace({{DType::F64, {4}}, {DType::F64, {2, 2}}}, [&](const Tensors& in) -> Tensors {
    return {in[0] + flat, in[1] + square};
  });
  EXPECT_EQ(t.constants.size(), 2u);
  verify(t.program);
}

// Interleaved shapes are captured once each.
TEST(Builder, SharedStorageUnderAlternatingShapes) {
  const Array  a = Array::of<double>({7}, {1});
  const Tensor flat(a), square(a.reshaped({1, 1}));
  const Traced t = trace({{DType::F64, {1}}, {DType::F64, {1, 1}}}, [&](const Tensors& in) -> Tensors {
    return {in[0] + flat, in[1] + square, in[0] * flat, in[1] * square};
  });
  EXPECT_EQ(t.constants.size(), 2u);
  verify(t.program);
}

TEST(Builder, BorrowedMemoryIsCopied) {
  double       memory[] = {1, 2, 3};
  const Tensor lent     = Array::borrow(vec, memory, nullptr);
  const Traced t        = trace({vec}, [&](const Tensors& in) -> Tensors {
    const Tensor first = in[0] + lent, again = in[0] + lent;
    memory[0] = 10;  // between two uses
    return {first, again, in[0] + lent};
  });
  memory[0]             = 100;  // after the trace
  EXPECT_EQ(t.constants.size(), 2u);
  const Tensors out = replay(t.program, t.constants, {data});
  EXPECT_EQ(at(out[0].array(), 0), 2);
  EXPECT_EQ(at(out[1].array(), 0), 2);
  EXPECT_EQ(at(out[2].array(), 0), 11);
}

TEST(Builder, LiteralsOfEqualTypeAndValueAreOneEquation) {
  const Traced t    = trace({vec}, [](const Tensors& in) -> Tensors { return {(in[0] + 2.0) * 2.0 - 3.0}; });
  int          full = 0;
  for (const Eqn& e : t.program.eqns) full += e.op->name == "full";
  EXPECT_EQ(full, 2);
  const Traced zeros = trace({vec}, [](const Tensors& in) -> Tensors { return {in[0] * 0.0, in[0] * -0.0}; });
  EXPECT_TRUE(std::signbit(at(replay(zeros.program, {}, {data})[1].array(), 0)));
}

TEST(Builder, OuterValuesBecomeConstantsOfTheInnerProgram) {
  Traced       inner;
  const Traced outer = trace({vec}, [&](const Tensors& x) -> Tensors {
    const Tensor y = tanh(x[0]);
    inner          = trace({vec}, [&](const Tensors& z) -> Tensors { return {z[0] * y + y}; });
    return replay(inner.program, inner.constants, {x[0]});
  });
  EXPECT_EQ(inner.program.constants.size(), 1u);
  EXPECT_TRUE(outer.program.constants.empty());
  verify(inner.program);
  verify(outer.program);
  const Tensor y = tanh(data);
  EXPECT_TRUE(identical(replay(outer.program, {}, {data})[0].array(), (data * y + y).array()));
}

TEST(Builder, ATensorDoesNotOutliveItsTrace) {
  Tensor leaked;
  trace({vec}, [&](const Tensors& in) -> Tensors { return {leaked = tanh(in[0])}; });
  for (const auto& use : std::vector<std::function<void()>>{
           [&] { tanh(leaked); }, [&] { leaked + data; },
           [&] { trace({vec}, [&](const Tensors& in) -> Tensors { return {in[0] + leaked}; }); },
           [&] { trace({vec}, [&](const Tensors&) -> Tensors { return {leaked}; }); }}) {
    const std::string text = message(use);
    EXPECT_TRUE(contains(text, "f64[3]") && contains(text, "already ended") && contains(text, "Return it")) << text;
  }
}

TEST(Builder, ATensorThatEscapedFromAFailedTraceIsRefused) {
  Tensor escaped;
  EXPECT_THROW(trace({vec},
                     [&](const Tensors& in) -> Tensors {
                       escaped = in[0];
                       throw std::runtime_error("the user's function fails");
                     }),
               std::runtime_error);
  EXPECT_TRUE(contains(message([&] { tanh(escaped); }), "has already ended"));
}

TEST(Builder, ATracedTensorHasNoElements) {
  trace({vec}, [&](const Tensors& in) -> Tensors {
    const std::string text = message([&] { in[0].array(); });
    EXPECT_TRUE(contains(text, "being traced")) << text;
    return in;
  });
}

TEST(Builder, UndefinedTensorsAreRefused) {
  EXPECT_TRUE(contains(message([] { trace({vec}, [](const Tensors&) -> Tensors { return {Tensor()}; }); }),
                       "returned an undefined tensor"));
  EXPECT_TRUE(contains(message([] { apply(tanh_op, {Tensor()}); }), "tanh"));
}

TEST(Builder, WrongOperandCountsNameTheOperands) {
  const std::string few = message([] { apply(add_op, {data}); });
  EXPECT_TRUE(contains(few, "add: expected 2 operand(s) (lhs rhs), got 1")) << few;
  const std::string many = message([] { apply(tanh_op, {data, data}); });
  EXPECT_TRUE(contains(many, "tanh: expected 1 operand(s)")) << many;
}

TEST(Builder, WrongTypesAreNamed) {
  const std::string shapes = message([] { data + Tensor(Array::of<double>({1, 2}, {2})); });
  EXPECT_TRUE(contains(shapes, "[3]") && contains(shapes, "[2]")) << shapes;
  const std::string dtypes = message([] { apply(add_op, {data, convert(data, DType::F32)}); });
  EXPECT_TRUE(contains(dtypes, "f64[3]") && contains(dtypes, "f32[3]")) << dtypes;
  const std::string integers = message([] { tanh(convert(data, DType::I32)); });
  EXPECT_TRUE(contains(integers, "tanh") && contains(integers, "i32")) << integers;
}

TEST(Builder, EquationsCarryTheirNote) {
  const Traced t    = trace({vec}, [](const Tensors& in) -> Tensors {
    NoteScope outer("net");
    Tensor    y = tanh(in[0]);
    {
      NoteScope inner("net.cell");
      y = exp(y);
    }
    return {-y};
  });
  const auto   note = [&](size_t i) { return t.program.notes[t.program.eqns[i].note]; };
  EXPECT_EQ(note(0), "net");
  EXPECT_EQ(note(1), "net.cell");
  EXPECT_EQ(note(2), "net");
}

}  // namespace
}  // namespace braintrace

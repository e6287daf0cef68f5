// SPDX-License-Identifier: Apache-2.0
// Printer and parser: parse(print(p)) = p for every kind of content, and clear errors for bad text.
#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "braintrace/ir/builder.h"
#include "braintrace/ir/op.h"
#include "braintrace/ops/math.h"

namespace braintrace {
namespace {

constexpr double inf = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

bool contains(const std::string& text, std::string_view part) { return text.find(part) != text.npos; }

// y = tanh x with one attribute that the operation does not read.
Program carrying(AttrValue value) {
  Program p = trace({{DType::F32, {2}}}, [](const Tensors& in) -> Tensors { return {tanh(in[0])}; }).program;
  p.eqns[0].attrs.set({"value", std::move(value)});
  return p;
}

void expect_round_trip(const Program& p) {
  const std::string text = print(p);
  const Program     back = parse(text);
  EXPECT_TRUE(equal(p, back)) << text << "\nread back as\n" << print(back);
  EXPECT_EQ(hash(p), hash(back));
  EXPECT_EQ(print(back), text);
}

TEST(Text, KeepsEveryKindOfAttribute) {
  const auto body = std::make_shared<const Program>(carrying(2.5));
  for (const AttrValue& v : std::vector<AttrValue>{
           true, false, int64_t{0}, int64_t{-7}, INT64_MAX, INT64_MIN, 1.0, -0.5, DType::BF16, DType::Bool, Ints{},
           Ints{3, -1, 0}, std::vector<double>{}, std::vector<double>{1, -0.0, inf, -inf, nan}, std::string(),
           ProgramPtr(body), ProgramPtrs{}, ProgramPtrs{body, body}})
    expect_round_trip(carrying(v));
}

TEST(Text, KeepsEveryDouble) {
  for (double v : {0.0, -0.0, 1e300, -1e-300, 0.1, 1.0 / 3, 1e22, 123456789012345678.0, 5e-324, 1.7976931348623157e308,
                   2.2250738585072014e-308, inf, -inf, nan, -nan})
    expect_round_trip(carrying(v));
  EXPECT_FALSE(equal(carrying(0.0), parse(print(carrying(-0.0)))));
  EXPECT_FALSE(equal(carrying(1.0), carrying(int64_t{1})));
}

TEST(Text, KeepsStrings) {
  for (const char* s :
       {"plain", "with \"quotes\"", "back\\slash", "line\nbreak", "\\n", "\\", "tab\t, ] } % #", "ε≈∂h"})
    expect_round_trip(carrying(std::string(s)));
  expect_round_trip(carrying(std::string("nul\0inside\r", 11)));
}

TEST(Text, KeepsArraysOfEveryDtype) {
  const std::vector<double> reals{0, -0.0, 1.5, -2.25, 1e-3, 65504, inf, -inf, nan, 6e-8};
  for (DType t : all_dtypes) {
    if (is_float(t)) {
      expect_round_trip(carrying(from_doubles({t, {2, 5}}, reals)));
    } else {
      const std::vector<int64_t> integers{0, 1, -1, INT64_MAX, INT64_MIN, 4294967295};
      expect_round_trip(carrying(from_integers({t, {6}}, integers)));
    }
    expect_round_trip(carrying(Array(Type{t, {0, 3}})));
    expect_round_trip(carrying(Array(Type{t, {}})));
  }
}

TEST(Text, KeepsNestedPrograms) {
  Program p = carrying(true);
  for (int depth = 0; depth < 10; ++depth) {
    auto    body = std::make_shared<const Program>(std::move(p));
    Program next = carrying(ProgramPtr(body));
    next.eqns[0].attrs.set({"branches", ProgramPtrs{body}});
    p = depth < 4 ? std::move(next) : carrying(ProgramPtr(body));
  }
  expect_round_trip(p);
}

TEST(Text, KeepsNotes) {
  for (const std::string& note : std::vector<std::string>{"net.cell", "a # b", "two\nlines", "back\\slash \\n", "ε"}) {
    const Traced t = trace({{DType::F32, {2}}}, [&](const Tensors& in) -> Tensors {
      NoteScope scope(note);
      return {exp(tanh(in[0]))};
    });
    expect_round_trip(t.program);
    const Program back = parse(print(t.program));
    EXPECT_EQ(back.notes[back.eqns[1].note], note);
    EXPECT_EQ(back.notes.size(), 2u);
  }
}

TEST(Text, ReadsFreely) {
  const Program p = parse(
      "program ( ;%7:f32[2],%3 : f32[2] )\r\n{ %9 : f32[2]=add %7 %3   # sum\n\n"
      "%1: f32[2] = mul %9 %9 return %1,%9 }  \n");
  EXPECT_EQ(p.eqns.size(), 2u);
  EXPECT_EQ(p.notes[p.eqns[0].note], "sum");
  expect_round_trip(p);
}

TEST(Text, EmptyProgramsAndNoResults) {
  expect_round_trip(parse("program(;) { return }"));
  expect_round_trip(parse("program(%0: i64[0];) { return %0 }"));
}

struct Bad {
  const char* text;
  const char* phrase;
};

TEST(Text, SaysWhereAndWhatIsWrong) {
  for (const Bad& bad : std::vector<Bad>{
           {"", "line 1, column 1: expected a name"},
           {"progam(;) { return }", "expected 'program'"},
           {"program(;) { return } x", "nothing more was expected"},
           {"program(; %0: f32[2]) {\n  %1: f32[2] = tnah %0\n  return %1\n}",
            "line 2, column 20: there is no operation"},
           {"program(; %0: f99[2]) { return %0 }", "'f99' is not an element type"},
           {"program(; %0: f32[2], %0: f32[2]) { return %0 }", "%0 is assigned twice"},
           {"program(; %0: f32[2]) { return %1 }", "%1 is used before it is defined"},
           {"program(; %0: f32[-2]) { return %0 }", "negative or too large"},
           {"program(; %0: f32[4294967296,4294967296]) { return %0 }", "negative or too large"},
           {"program(; %0: f32[99999999999999999999]) { return %0 }", "expected an integer"},
           {"program(; %0: f32[2]) { %1: f32[2] = tanh[a=?] %0 return %1 }", "expected a name"},
           {"program(; %0: f32[2]) { %1: f32[2] = tanh[a=maybe] %0 return %1 }", "'maybe' is not an attribute value"},
           {"program(; %0: f32[2]) { %1: f32[2] = tanh[a=1, a=2] %0 return %1 }", "'a' is given twice"},
           {"program(; %0: f32[2]) { %1: f32[2] = tanh[a=1e999] %0 return %1 }", "expected a number"},
           {"program(; %0: f32[2]) { %1: f32[2] = tanh[a=\"x", "expected '\"'"},
           {"program(; %0: f32[2]) { %1: f32[2] = tanh[a=", "the text ends inside an attribute"},
           {"program(; %0: f32[2]) { %1: f32[2] = tanh[a=array f32[3] {1,2}] %0 return %1 }", "expected ','"},
           {"program(; %0: f32[2]) { %1: f32[2] = tanh[a=array f32[99999999] {1}] %0 return %1 }", "too large"},
           {"program(; %0: f32[2]) { %1: f32[3] = tanh %0 return %1 }", "tanh yields f32[2]"},
           {"program(; %0: f32[2]) { %1: f32[2] = add %0 return %1 }", "add: expected 2 operand(s)"},
       }) {
    try {
      parse(bad.text);
      ADD_FAILURE() << "accepted: " << bad.text;
    } catch (const UserError& e) {
      EXPECT_TRUE(contains(e.what(), bad.phrase)) << bad.text << "\n" << e.what();
    }
  }
}

TEST(Text, DepthIsBounded) {
  std::string text;
  for (int i = 0; i < 1000; ++i) text += "program(; %0: f32[]) { %1: f32[] = tanh[a=";
  EXPECT_THROW(parse(text), UserError);
}

TEST(Text, EveryTruncationIsAnErrorNotACrash) {
  const std::string text =
      print(carrying(ProgramPtrs{std::make_shared<const Program>(carrying(Array({DType::F16, {2}})))}));
  for (size_t n = 0; n + 2 < text.size(); ++n) EXPECT_THROW(parse(std::string_view(text).substr(0, n)), UserError);
}

}  // namespace
}  // namespace braintrace

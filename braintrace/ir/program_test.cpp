// SPDX-License-Identifier: Apache-2.0
// Verifier, equality and hash.
#include "braintrace/ir/program.h"

#include <functional>

#include <gtest/gtest.h>

#include "braintrace/ir/builder.h"
#include "braintrace/ir/op.h"
#include "braintrace/ops/math.h"

namespace braintrace {
namespace {

const Type f64_3{DType::F64, {3}};

// %0 arg; %1 = tanh %0; %2 = exp %1; %3 = add %1 %2; %4 = mul %3 %3; %5 = neg %4; %6 = log %5
Program chain() {
  return trace({f64_3},
               [](const Tensors& in) -> Tensors {
                 const Tensor a = tanh(in[0]), c = a + exp(a);
                 return {log(-(c * c))};
               })
      .program;
}

std::string complaint(const Program& p) {
  try {
    verify(p);
  } catch (const UserError& e) {
    return e.what();
  }
  return "";
}
std::string complaint(const std::function<void(Program&)>& damage) {
  Program p = chain();
  damage(p);
  return complaint(p);
}
bool contains(const std::string& text, std::string_view part) { return text.find(part) != text.npos; }

TEST(Verify, AcceptsWhatTheBuilderMakes) { EXPECT_EQ(complaint(chain()), ""); }

TEST(Verify, ShowsTheOffendingEquationAmongItsNeighbors) {
  const std::string text = complaint([](Program& p) { p.eqns[3].in[1] = 5; });
  EXPECT_TRUE(contains(text, "%5 is used before it is defined")) << text;
  EXPECT_TRUE(contains(text, "→ %4: f64[3] = mul %3 %5")) << text;
  EXPECT_TRUE(contains(text, "    %3: f64[3] = add %1 %2")) << text;
  EXPECT_TRUE(contains(text, "    %5: f64[3] = neg %4")) << text;
  EXPECT_TRUE(contains(text, "correct the text")) << text;
}

TEST(Verify, WrongOperandCount) {
  const std::string text = complaint([](Program& p) { p.eqns[2].in = {1}; });
  EXPECT_TRUE(contains(text, "add: expected 2 operand(s)") && contains(text, "→ %3")) << text;
}

TEST(Verify, WrongOperandType) {
  const std::string text = complaint([](Program& p) { p.types[1] = {DType::F64, {4}}; });
  EXPECT_TRUE(contains(text, "tanh yields f64[3]") && contains(text, "declares f64[4]")) << text;
  const std::string mixed = complaint([](Program& p) { p.eqns[1] = p.eqns[2], p.types[2] = {DType::F32, {3}}; });
  EXPECT_TRUE(contains(mixed, "→")) << mixed;
}

TEST(Verify, WrongResultCount) {
  const std::string text = complaint([](Program& p) { p.eqns[0].out.push_back(p.add_value(f64_3)); });
  EXPECT_TRUE(contains(text, "tanh yields f64[3], but the equation declares f64[3] f64[3]")) << text;
}

TEST(Verify, DoubleAssignment) {
  const std::string text = complaint([](Program& p) { p.eqns[3].out = {2}; });
  EXPECT_TRUE(contains(text, "%2 is assigned twice") && contains(text, "→ %2: f64[3] = mul")) << text;
  EXPECT_TRUE(contains(complaint([](Program& p) { p.eqns[0].out = {0}; }), "%0 is assigned twice"));
  EXPECT_TRUE(contains(complaint([](Program& p) { p.args.push_back(0); }), "%0 is listed twice"));
}

TEST(Verify, IdsOutsideTheProgram) {
  const std::string operand = complaint([](Program& p) { p.eqns[3].in[0] = 99; });
  EXPECT_TRUE(contains(operand, "%99") && contains(operand, "→") && contains(operand, "mul")) << operand;
  const std::string result = complaint([](Program& p) { p.eqns[3].out[0] = -2; });
  EXPECT_TRUE(contains(result, "%-2") && contains(result, "→")) << result;
  EXPECT_TRUE(contains(complaint([](Program& p) { p.results[0] = 77; }), "%77"));
  EXPECT_TRUE(contains(complaint([](Program& p) { p.args[0] = -1; }), "%-1"));
}

TEST(Verify, UndefinedResult) {
  const std::string text = complaint([](Program& p) { p.results[0] = p.add_value(f64_3); });
  EXPECT_TRUE(contains(text, "result %7 is never defined")) << text;
}

TEST(Verify, MissingPieces) {
  EXPECT_TRUE(contains(complaint([](Program& p) { p.eqns[1].op = nullptr; }), "no operation"));
  EXPECT_TRUE(contains(complaint([](Program& p) { p.eqns[1].note = 9; }), "note"));
  EXPECT_TRUE(contains(complaint([](Program& p) { p.eqns[1].attrs.set({"body", ProgramPtr()}); }), "body"));
}

TEST(Verify, LooksIntoNestedPrograms) {
  Program inner    = chain();
  inner.eqns[2].in = {1};
  const auto with  = [](Program body) {
    return complaint([&](Program& p) { p.eqns[1].attrs.set({"body", std::make_shared<const Program>(body)}); });
  };
  EXPECT_TRUE(contains(with(inner), "add: expected 2")) << with(inner);
  EXPECT_EQ(with(chain()), "");
}

TEST(Equal, IgnoresNumberingAndNotes) {
  const Program a = chain();
  Program       b = a;
  std::swap(b.types[1], b.types[2]);
  for (Eqn& e : b.eqns) {
    for (Vars* vars : {&e.in, &e.out})
      for (Var& v : *vars) v = v == 1 ? 2 : v == 2 ? 1 : v;
    e.note = 0;
  }
  b.notes.push_back("unused");
  verify(b);
  EXPECT_TRUE(equal(a, b));
  EXPECT_EQ(hash(a), hash(b));
}

TEST(Equal, SeesEveryDifference) {
  const Program a       = chain();
  const auto    differs = [&](const std::function<void(Program&)>& change) {
    Program b = a;
    change(b);
    return !equal(a, b) && !equal(b, a) && hash(a) != hash(b);
  };
  EXPECT_TRUE(differs([](Program& p) { p.eqns[1].op = &log_op; }));
  EXPECT_TRUE(differs([](Program& p) { p.eqns[2].in = {2, 1}; }));
  EXPECT_TRUE(differs([](Program& p) { p.eqns[2].in = {1, 1}; }));
  EXPECT_TRUE(differs([](Program& p) { p.results = {5}; }));
  EXPECT_TRUE(differs([](Program& p) { p.results = {6, 6}; }));
  EXPECT_TRUE(differs([](Program& p) { p.eqns[1].attrs.set({"extra", true}); }));
  EXPECT_TRUE(differs([](Program& p) {
    for (Type& t : p.types) t.shape = {4};
  }));
  EXPECT_TRUE(differs([](Program& p) {
    for (Type& t : p.types) t.dtype = DType::F32;
  }));
  EXPECT_TRUE(differs([](Program& p) { std::swap(p.args, p.constants); }));
  EXPECT_FALSE(differs([](Program&) {}));
}

TEST(Program, ProducersAndConstantsAsArgs) {
  const Program p = chain();
  EXPECT_EQ(producers(p), (std::vector<int32_t>{-1, 0, 1, 2, 3, 4, 5}));
  EXPECT_EQ(makers(p)[0], nullptr);
  EXPECT_EQ(makers(p)[3], &p.eqns[2]);
  Program q = p;
  std::swap(q.args, q.constants);
  EXPECT_TRUE(equal(constants_as_args(q), p));
}

}  // namespace
}  // namespace braintrace

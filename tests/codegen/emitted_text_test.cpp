// SPDX-License-Identifier: Apache-2.0
// The C text of a few programs, byte for byte as stored: changes of the emitter that are meant to change nothing change
// nothing here. After one that is meant, write the files again and look at the difference:
//
//   BRAINTRACE_UPDATE_EMITTED=1 build/dev/bin/test_all_codegen --gtest_filter='EmittedText.*' && git diff
//   tests/data/emitted
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include <gtest/gtest.h>

#include "braintrace/codegen/c/emit.h"
#include "braintrace/functions/loops.h"
#include "braintrace/ir/builder.h"
#include "braintrace/model/frame.h"
#include "braintrace/ops/contract.h"
#include "braintrace/ops/elementary.h"
#include "braintrace/ops/index.h"
#include "braintrace/ops/math.h"
#include "braintrace/ops/move.h"
#include "braintrace/ops/reduce.h"

namespace braintrace {
namespace {

using codegen::Dialect;

// Products, sums over either axis, elementwise work, an index.
Program mixed() {
  return trace({{DType::F32, {3, 4}}, {DType::F32, {4, 5}}, {DType::I32, {2}}},
               [](const Tensors& in) -> Tensors {
                 const Tensor y = tanh(dot(in[0], in[1]));
                 return {y * 2 + 1, sum(y * y, 0), sum(y, 1), take(y, in[2], 0)};
               })
      .program;
}

// A leaky sum over time.
Program looped() {
  return trace_function({{DType::F64, {6, 3}}},
                        [](const Tensors& in) -> Tensors {
                          auto [last, all] = scan(
                              [](Tensor h, Tensor x) {
                                const Tensor drive = tanh(x), next = 0.5 * h + drive;
                                return std::pair(next, next * next);
                              },
                              Tensor(Type{DType::F64, {3}}, 0.0), in[0]);
                          return {last, all};
                        })
      .program;
}

std::string contents(const std::filesystem::path& path) {
  std::ifstream     in(path, std::ios::binary);
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

// Where two texts part, with the line of each.
std::string first_difference(const std::string& got, const std::string& want) {
  std::istringstream a(got), b(want);
  for (int line = 1;; ++line) {
    std::string x, y;
    const bool  more_a = !!std::getline(a, x), more_b = !!std::getline(b, y);
    if (!more_a && !more_b) return "";
    if (x != y || more_a != more_b) return "line " + std::to_string(line) + "\n  now:    " + x + "\n  stored: " + y;
  }
}

void expect_stored(const std::string& name, const Program& program, Dialect dialect) {
  const std::filesystem::path file = std::filesystem::path(BRAINTRACE_SOURCE_DIR) / "tests/data/emitted" / name;
  const std::string           text = codegen::emit({program}, dialect).source;
  if (std::getenv("BRAINTRACE_UPDATE_EMITTED")) std::ofstream(file, std::ios::binary) << text;
  EXPECT_EQ(first_difference(text, contents(file)), "") << file;
}

TEST(EmittedText, IsAsStored) {
  expect_stored("mixed_portable.c", mixed(), Dialect::Portable);
  expect_stored("looped_portable.c", looped(), Dialect::Portable);
  expect_stored("looped_native.c", looped(), Dialect::Native);
}

// A program that may stop halfway is told from one that cannot, in loops too.
TEST(EmittedText, SaysWhatMayStop) {
  const auto may_stop = [](const Program& p) { return codegen::scheduled({p}).entries[0]->may_stop; };
  EXPECT_TRUE(may_stop(mixed())) << "at a wrong index";
  EXPECT_FALSE(may_stop(looped()));
  const Types types = {{DType::F32, {4, 3}}, {DType::I32, {5, 2}}};
  const auto  loop  = [&](bool picks) {
    return trace_function(types,
                            [&](const Tensors& in) -> Tensors {
                            const auto step = [&](Tensor h, Tensor i) {
                              return std::pair(h + (picks ? sum(take(in[0], i, 0), 0) : sum(in[0], 0)), h);
                            };
                            return {scan(step, zeros({3}), in[1]).first};
                          })
        .program;
  };
  EXPECT_TRUE(may_stop(loop(true)));
  EXPECT_FALSE(may_stop(loop(false)));
  const Program by_host = trace(types, [](const Tensors& in) -> Tensors {
                            return {scatter_add(convert(in[0], DType::F16), in[1], zeros({5, 2, 3}, DType::F16), 0)};
                          }).program;
  ASSERT_EQ(codegen::scheduled({by_host}).calls.size(), 1u);
  EXPECT_TRUE(may_stop(by_host));
}

TEST(EmittedText, DifferencesAreSeen) {
  EXPECT_EQ(first_difference("a\nb\n", "a\nb\n"), "");
  EXPECT_NE(first_difference("a\nb\n", "a\nc\n").find("line 2"), std::string::npos);
  EXPECT_NE(first_difference("a\n", "a\n\n").find("line 2"), std::string::npos);
}

}  // namespace
}  // namespace braintrace

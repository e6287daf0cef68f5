// SPDX-License-Identifier: Apache-2.0
// Convolutions and their gradients as products of patches.
#include <algorithm>

#include <gtest/gtest.h>

#include "braintrace/base/rng.h"
#include "braintrace/codegen/cost.h"
#include "braintrace/codegen/schedule.h"
#include "braintrace/control/scan.h"
#include "braintrace/ir/builder.h"
#include "braintrace/ops/conv.h"
#include "braintrace/ops/elementary.h"
#include "braintrace/ops/index_walk.h"
#include "braintrace/ops/math.h"
#include "braintrace/transforms/linearize.h"
#include "tests/codegen/agreement.h"

namespace braintrace {
namespace {

using codegen::Convolution;
using codegen::Product;
using codegen::TimeLoop;
using testing_support::Job;
using testing_support::worst_disagreement;

struct Layer {
  std::string name;
  Shape       x, kernel;
  ConvOptions options = {};
  DType       dtype   = DType::F64;
};

// y, dx and dw for x, w and dy.
Job job_of(const Layer& l) {
  const Program p = vjp_program(trace({{l.dtype, l.x}, {l.dtype, l.kernel}},
                                      [&](const Tensors& in) -> Tensors { return {convolve(in[0], in[1], l.options)}; })
                                    .program,
                                {true, true});
  Rng           rng(7);
  Arrays        args;
  for (Var v : p.args) args.push_back(random_array(rng, p.type(v)));
  return {l.name, p, {}, args};
}

template <class Kind, class Test>
int64_t count(const codegen::Function& f, const Test& test) {
  return std::count_if(f.kernels.begin(), f.kernels.end(), [&](const codegen::Kernel& k) {
    const auto* what = std::get_if<Kind>(&k.what);
    return what && test(*what);
  });
}
const auto any_of_it = [](const auto&) { return true; };

const std::vector<Layer> layers = {
    {"same", {3, 8, 9, 4}, {3, 3, 4, 6}, {.padding = Padding::same()}},
    {"stride", {2, 9, 8, 4}, {3, 3, 4, 8}, {.stride = {2, 2}, .padding = Padding::same()}},
    {"uneven", {2, 13, 11, 4}, {2, 4, 4, 5}, {.stride = {3, 2}, .padding = Padding::of({-1, 2}, {1, 0})}},
    {"gaps", {2, 10, 9, 4}, {3, 2, 4, 6}, {.padding = Padding::same(), .rhs_dilation = {2, 1}}},
    {"groups", {2, 8, 8, 6}, {3, 3, 3, 8}, {.padding = Padding::same(), .groups = 2}},
    {"one channel each", {2, 8, 8, 6}, {3, 3, 1, 6}, {.padding = Padding::same(), .groups = 6}},
    {"channels first, long", {9, 3, 160}, {5, 3, 4}, {.layout = "NCW,OIW->NCW"}},
    {"spread", {2, 5, 6, 4}, {4, 3, 4, 6}, {.padding = Padding::of({2, 1}, {3, 2}), .lhs_dilation = {3, 2}}},
    {"f32", {3, 12, 12, 8}, {3, 3, 8, 32}, {.stride = {2, 2}, .padding = Padding::same()}, DType::F32},
    // these stay convolutions
    {"nothing but padding", {2, 3, 9, 4}, {2, 3, 4, 6}, {.padding = Padding::of({-4, 0}, {7, 0})}},
    {"spread with stride",
     {2, 5, 6, 4},
     {4, 3, 4, 6},
     {.stride = {2, 1}, .padding = Padding::valid(), .lhs_dilation = {3, 2}}},
};

TEST(Convolutions, AndGradientsAgreeWithTheInterpreter) {
  std::vector<Job> jobs, single;
  for (const Layer& l : layers) (l.dtype == DType::F32 ? single : jobs).push_back(job_of(l));
  const auto worst = worst_disagreement(jobs);
  EXPECT_LE(worst.distance, 1e-12) << worst.name;
  EXPECT_LE(worst_disagreement(single).distance, 1e-5);
}

// All three are products of blocks; zeros that a stride leaves between the elements of dy are not multiplied.
TEST(Convolutions, AreProductsOfBlocks) {
  const auto schedule  = codegen::scheduled({job_of(layers[1]).program});
  const auto in_blocks = [](const Product& p) { return p.blocks.has_value(); };
  EXPECT_EQ(count<Product>(*schedule.entries[0], in_blocks), 3);
  EXPECT_EQ(count<Convolution>(*schedule.entries[0], any_of_it), 0);
  const double forward = 2.0 * 5 * 4 * 8 * 36;
  const double all     = codegen::work_of(schedule, codegen::native_target()).products;
  EXPECT_LT(all, 4.5 * forward) << "with the zeros it is six times";
  // Small machines have small stacks.
  const auto portable = codegen::scheduled({job_of(layers[1]).program}, {.target = codegen::portable_target()});
  EXPECT_EQ(count<Product>(*portable.entries[0], in_blocks), 0);
  EXPECT_EQ(count<Convolution>(*portable.entries[0], any_of_it), 3);
}

// A sum over positions is longer than a block: blocks are added up.
TEST(Convolutions, AddUpLongSums) {
  const auto schedule = codegen::scheduled({job_of(layers[6]).program});
  EXPECT_EQ(count<Product>(*schedule.entries[0],
                           [](const Product& p) { return p.blocks && p.blocks->inner.size < size_of(p.inner); }),
            1);
}

// h ← tanh(h * w + x_t): rows of the batch run through both loops on their own, and the kernel's gradient is one
// product over steps and batch after them, of what steps stacked, not of its patches.
TEST(Convolutions, InLoopsOverTime) {
  const Type    x{DType::F64, {4, 8, 5, 5, 3}}, h{DType::F64, {8, 5, 5, 3}}, w{DType::F64, {3, 3, 3, 3}};
  const Program loop = trace({x, h, w}, [](const Tensors& in) -> Tensors {
                         const auto body = [&](const Tensors& c, const Tensors& xs) -> ScanResult {
                           const Tensor next = tanh(convolve(c[0], in[2], {.padding = Padding::same()}) + xs[0]);
                           return {{next}, {next}};
                         };
                         return scan(body, {in[1]}, {in[0]}, {.length = 4}).ys;
                       }).program;
  const Program p    = vjp_program(loop, {false, true, true});
  Rng           rng(9);
  Arrays        args;
  for (Var v : p.args) args.push_back(random_array(rng, p.type(v)));
  EXPECT_LE(worst_disagreement({{"loop", p, {}, args}}).distance, 1e-12);

  const auto schedule = codegen::scheduled({p});
  EXPECT_EQ(count<TimeLoop>(*schedule.entries[0], [](const TimeLoop& l) { return l.part_bytes.has_value(); }), 2);
  EXPECT_EQ(count<TimeLoop>(*schedule.entries[0],
                            [&](const TimeLoop& l) {
                              return std::any_of(l.outputs.begin(), l.outputs.end(), [&](const TimeLoop::Stacks& s) {
                                return s.row >= 9 * static_cast<int64_t>(h.bytes());
                              });
                            }),
            0)
      << "patches are stacked";
  EXPECT_EQ(count<Product>(*schedule.entries[0], any_of_it), 1);
}

}  // namespace
}  // namespace braintrace

// SPDX-License-Identifier: Apache-2.0
// What single kernels do on the emulated device, and that faults of a text are noticed there.
#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>

#include "braintrace/backends/cuda/emulated_device.h"
#include "braintrace/base/rng.h"
#include "braintrace/codegen/cuda/abi.h"
#include "braintrace/ir/builder.h"
#include "braintrace/model/frame.h"
#include "braintrace/ops/index.h"
#include "braintrace/ops/math.h"
#include "braintrace/ops/reduce.h"
#include "tests/codegen/learning_jobs.h"
#include "tests/cuda/emulated.h"

namespace braintrace {
namespace {

using codegen::CudaText;

codegen::Target target_of(const cuda::Device& device) {
  return codegen::cuda_target(device.processors(), device.shared_bytes());
}
CudaText emitted(const Program& program, const codegen::Target& target) {
  return codegen::emit_cuda(codegen::scheduled({program}, {.target = target}), target);
}
CudaText emitted(const cuda::Device& device, const Program& program) { return emitted(program, target_of(device)); }

// Few long sums, of columns, of rows and of all.
Program long_sums() {
  return trace({{DType::F32, {700, 40}}, {DType::F64, {9000}}},
               [](const Tensors& in) -> Tensors {
                 return {sum(in[0] * in[0], 0), max(in[0], 0), sum(in[0]), sum(in[1], 0)};
               })
      .program;
}
testing_support::Job job_of(const Program& p) {
  Rng                  rng(3);
  testing_support::Job j{"sums", p, {}, {}};
  for (Var v : p.args) {
    Array a({DType::F64, p.type(v).shape});
    for (int64_t i = 0; i < a.size(); ++i) a.mutable_data<double>()[i] = rng.uniform() - 0.5;
    j.args.push_back(convert(Tensor(a), p.type(v).dtype).array());
  }
  return j;
}
Arrays results_of(const Program& p) {
  Arrays out;
  for (Var v : p.results) out.emplace_back(p.type(v));
  return out;
}

TEST(CudaKernels, FewLongSumsAreTakenInParts) {
  const auto    device = cuda::open_emulated_device();
  const Program p      = long_sums();
  EXPECT_NE(emitted(*device, p).source.find("bt_meet(t);\nfor"), std::string::npos);
  const auto w = testing_support::worst_on_device(*device, {job_of(p)});
  EXPECT_LE(w.distance, 1e-6) << w.name;
}

// Negative control of the emulation: a text without its barriers computes something else.
TEST(CudaKernels, AMissingBarrierIsNoticed) {
  const auto    device = cuda::open_emulated_device();
  const Program p      = long_sums();
  const auto    j      = job_of(p);
  const Arrays  want   = evaluate(p, {}, j.args);
  CudaText      text   = emitted(*device, p);
  const auto    sums   = [&] {
    Arrays     got    = results_of(p);
    const auto module = device->load(text);
    testing_support::run_entry(*device, text, *module, 0, j.args, got);
    return at(got[3], 0);
  };
  EXPECT_NEAR(sums(), at(want[3], 0), 1e-9);
  const std::string barrier = "bt_meet(t);\nfor";
  for (size_t at; (at = text.source.find(barrier)) != std::string::npos;)
    text.source.replace(at, barrier.size(), "for");
  EXPECT_FALSE(std::abs(sums() - at(want[3], 0)) < 1e-9);
}

int launches_of(const Program& p, int64_t small_kernel = codegen::Target::Blocks().small_kernel) {
  codegen::Target target     = target_of(*cuda::open_emulated_device());
  target.blocks.small_kernel = small_kernel;
  const CudaText text        = emitted(p, target);
  return static_cast<int>(
      std::count_if(text.launches.begin(), text.launches.end(), [](const auto& l) { return l.second.blocks > 0; }));
}

TEST(CudaKernels, SmallOnesShareALaunch) {
  const auto     stepped = testing_support::learning_job({.kind  = "gru",
                                                          .rule  = "D_RTRL",
                                                          .form  = testing_support::Form::Step,
                                                          .dtype = DType::F32,
                                                          .batch = 1,
                                                          .n_in  = 3,
                                                          .n     = 5,
                                                          .n_out = 2,
                                                          .steps = 1});
  const auto     device  = cuda::open_emulated_device();
  const CudaText text    = emitted(*device, stepped.program);
  EXPECT_GT(text.launches.size(), 5U);
  EXPECT_EQ(launches_of(stepped.program), 1);
  EXPECT_GT(launches_of(stepped.program, 0), 1);  // the target says what is small
  // Large ones do if they do not wait for each other.
  const auto sums = [](bool waits) {
    return trace({{DType::F32, {100, 200}}, {DType::F32, {150, 200}}},
                 [=](const Tensors& in) -> Tensors {
                   const Tensor first = sum(in[0], 1);
                   return {first, sum(waits ? in[1] * sum(first) : in[1], 1)};
                 })
        .program;
  };
  EXPECT_EQ(launches_of(sums(false)), 1);
  EXPECT_GT(launches_of(sums(true)), 1);
}

template <class F>
std::string internal_error_of(F f) {
  try {
    f();
  } catch (const InternalError& e) {
    return e.what();
  }
  return "";
}

// A launch of a kernel that is added to a text.
void launch_added(cuda::Device& device, const std::string& kernel) {
  CudaText text = emitted(device, long_sums());
  text.source += "extern \"C\" __global__ void added(bt_cuda_frame f) {\n" + kernel + "}\n";
  codegen::bt_cuda_frame f{};
  f.arena = static_cast<char*>(device.allocate(64));
  device.launch(*device.load(text), {.name = "added", .threads = 64, .shared = 64}, f);
  device.free(f.arena);
}
TEST(CudaKernels, AWriteOutsideIsNoticed) {
  const auto device = cuda::open_emulated_device();
  launch_added(*device, "f.arena[threadIdx.x] = 1;\n");
  EXPECT_NE(
      internal_error_of([&] { launch_added(*device, "f.arena[threadIdx.x + 1] = 1;\n"); }).find("outside its memory"),
      std::string::npos);
}
TEST(CudaKernels, ThreadsThatWaitForeverAreNoticed) {
  const auto device = cuda::open_emulated_device();
  launch_added(*device, "__syncthreads();\n");
  EXPECT_NE(
      internal_error_of([&] { launch_added(*device, "if (threadIdx.x < 40) __syncthreads();\n"); }).find("forever"),
      std::string::npos);
  launch_added(*device, "__syncthreads();\n");  // and the device goes on
}

// What the units of a loop do never waits for other blocks, and a block stays with its units.
TEST(CudaKernels, UnitsOfALoopAreKeptApart) {
  const auto device = cuda::open_emulated_device();
  for (const auto& [kind, n] : {std::pair("lstm", 30), std::pair("lstm", 170), std::pair("alif", 30)}) {
    const auto j = testing_support::learning_job({.kind  = kind,
                                                  .rule  = "D_RTRL",
                                                  .form  = testing_support::Form::Sequence,
                                                  .dtype = DType::F64,
                                                  .batch = 3,
                                                  .n     = n,
                                                  .steps = 3});
    EXPECT_NE(emitted(*device, j.program).source.find("(g, t);\n__syncthreads();\n"), std::string::npos);
    const auto w = testing_support::worst_on_device(*device, {j});
    EXPECT_LE(w.distance, 1e-10) << w.name;
  }
}

TEST(CudaKernels, AWrongIndexIsToldAndTouchesNothing) {
  const auto    device = cuda::open_emulated_device();
  const Program p =
      trace({{DType::F32, {5, 3}}, {DType::I64, {4}}, {DType::F32, {4, 3}}}, [](const Tensors& in) -> Tensors {
        return {take(in[0], in[1], 0), scatter_add(in[0], in[1], in[2], 0), scatter_set(in[0], in[1], in[2], 0)};
      }).program;
  const CudaText text   = emitted(*device, p);
  const auto     module = device->load(text);
  const auto     wrong  = [&](int64_t index) {
    const Array x({DType::F32, {5, 3}}), u({DType::F32, {4, 3}});
    Arrays      out = results_of(p);
    return testing_support::run_entry(*device, text, *module, 0, {x, Array::of<int64_t>({4, 0, index, 2}, {4}), u},
                                           out);
  };
  EXPECT_FALSE(wrong(1));
  EXPECT_TRUE(wrong(5));
  EXPECT_TRUE(wrong(-1));
  EXPECT_TRUE(wrong(int64_t{1} << 40));
}

}  // namespace
}  // namespace braintrace

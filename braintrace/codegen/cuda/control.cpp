// SPDX-License-Identifier: Apache-2.0
// CUDA text of kernels that contain functions: the whole team executes them. Each thread fills identical arrays `in`
// and `out` of pointers and calls the function with a frame over scratch memory; a barrier follows every call.
//
//   for s < T: h = f(h, x[s])   →   for (int64_t step = 0; …) { in[…] = …; out[…] = …; bt_f1(g, t); bt_meet(t); … }
#include <algorithm>

#include "braintrace/codegen/c/elements.h"
#include "braintrace/codegen/cuda/context.h"
#include "braintrace/codegen/cuda/units.h"

namespace braintrace::codegen {

namespace {

// After a call, a barrier makes its writes visible to all threads.
std::string call(const FunctionPtr& g, const CudaContext& c, CudaKernelText& around, int64_t units = 0) {
  const CudaKernelText& function = c.function(*g, units);
  around.blocks                  = std::max(around.blocks, function.blocks);
  around.shared                  = std::max(around.shared, function.shared);
  around.meets                   = true;
  return fmt::format("{{\nbt_cuda_frame g = f;\ng.arena = w;\ng.in = in;\ng.out = out;\n{}(g, t);\n{};\n}}\n",
                     function.body, units ? "__syncthreads()" : "bt_meet(t)");
}
std::string copied(const std::string& to, const std::string& from, int64_t bytes) {
  return fmt::format("bt_copy(t, {}, {}, {});\n", to, from, bytes);
}

}  // namespace

CudaKernelText cuda_text(const HostCall&, const CudaContext&) {
  throw InternalError("codegen: a device cannot call the host");
}

// Parts of the batch are distributed over the teams of the launch; inside another kernel, one team processes all of
// them.
CudaKernelText cuda_text(const TimeLoop& l, const CudaContext& c) {
  CudaKernelText    out;
  const int64_t     units = units_of(l);
  const LoopText    parts = loop_text(l, "s", copied);
  const std::string text  = parts.begin + parts.steps + call(l.body, c, out, units) + parts.after + "}\n" +
                           (units ? "bt_meet(t);\n" : "") + parts.last;
  out.body = text;
  if (l.part_bytes)
    out.body = fmt::format(
        "char* const all = w;\nconst uint32_t teams = t.parts, first = t.part;\nt.part = 0;\nt.parts = 1;\nfor "
        "(int64_t "
        "part = first; part < {}; part += teams) {{\nchar* w = all + part * {};\n{}}}\n",
        c.parts, *l.part_bytes, text);
  return out;
}

CudaKernelText cuda_text(const Branch& b, const CudaContext& c) {
  CudaKernelText out;
  out.body = passed(b.in, b.out) +
             fmt::format("switch (@bt_clamp_i({}[0], 0, {})) {{\n", c.name(b.index), b.branches.size() - 1);
  for (size_t i = 0; i < b.branches.size(); ++i)
    out.body += fmt::format("case {}: {}break;\n", i, call(b.branches[i], c, out));
  out.body += "}\n";
  return out;
}

// Double buffering: carries alternate between the result and scratch memory. One that ends in scratch memory is copied.
// The loop exits after an out-of-range index, because the condition may then be garbage.
CudaKernelText cuda_text(const WhileLoop& l, const CudaContext& c) {
  CudaKernelText out;
  std::string    write, after, last;
  for (size_t i = 0; i < l.carries.size(); ++i) {
    const auto&       x   = l.carries[i];
    const std::string to  = c.name(x.out);
    const int64_t     arg = l.consts + static_cast<int64_t>(i);
    write += fmt::format("out[{}] = step & 1 ? (void*)(w + {}) : (void*){};\n", i, x.other, to);
    after += fmt::format("in[{}] = out[{}];\n", arg, i);
    last += copied(to, fmt::format("in[{}]", arg), x.bytes);
  }
  out.body               = pointers(l.in.size(), l.carries.size()) + filled_with("in", l.in);
  const std::string cond = call(l.cond, c, out), body = call(l.body, c, out);
  out.body += fmt::format(
      "for (int64_t step = 0; {0}; ++step) {{\nout[0] = w + {1};\n{2}if (!*(volatile uint8_t*)(w + {1}) || *(volatile "
      "int32_t*)f.status) break;\n{3}{4}{5}}}\n{6}",
      l.max_steps ? fmt::format("step < {}", l.max_steps) : "1", l.go, cond, write, body, after, last);
  return out;
}

CudaKernelText cuda_text(const Call& k, const CudaContext& c) {
  CudaKernelText out;
  out.body = passed(k.in, k.out) + call(k.body, c, out);
  return out;
}

}  // namespace braintrace::codegen

// SPDX-License-Identifier: Apache-2.0
#include "braintrace/backends/cuda/walk.h"

#include <algorithm>

#include "braintrace/backends/calls.h"
#include "braintrace/base/array.h"

namespace braintrace::cuda {

using codegen::Function, codegen::Kernel, codegen::Place;

namespace {

// From this size on, a library call pays off.
constexpr int64_t library_multiplications = 1 << 18;

// The batch axes collapsed into one, if their strides allow it.
struct BatchAxis {
  int64_t size = 1, lhs = 0, rhs = 0, out = 0;
};
bool as_one_axis(const codegen::Product& p, BatchAxis& out) {
  bool first = true;
  for (size_t i = p.batch.size(); i-- > 0;) {
    if (p.batch[i] == 1) continue;
    const BatchAxis axis{p.batch[i], p.lhs.batch[i], p.rhs.batch[i], p.out_batch[i]};
    if (first) {
      out = axis;
    } else {
      if (axis.lhs != out.lhs * out.size || axis.rhs != out.rhs * out.size || axis.out != out.out * out.size)
        return false;
      out.size *= axis.size;
    }
    first = false;
  }
  return true;
}

}  // namespace

bool is_queued_blindly(const codegen::CudaText& text) {
  const auto& kernels = text.schedule.entries[0]->kernels;
  return std::all_of(kernels.begin(), kernels.end(), [&](const Kernel& k) { return text.launches.contains(&k); });
}

Walk::Walk(Device& device, const codegen::CudaText& text, const Module& module, codegen::Precision precision,
           std::vector<char*> constants, const void* const* constant_table)
    : device_(device),
      text_(text),
      module_(module),
      precision_(precision),
      constants_(std::move(constants)),
      constant_table_(constant_table) {
  int64_t teams = 1;
  for (const auto& [kernel, launch] : text.launches) teams = std::max(teams, launch.teams);
  barriers_ = DeviceMemory(device, teams * codegen::barrier_bytes);
  device.clear(barriers_.data(), teams * codegen::barrier_bytes);
}

Walk::Frame Walk::frame(char* arena, std::vector<char*> in, std::vector<char*> out, const void* const* in_table,
                        void* const* out_table, int32_t* status) const {
  return {arena,
          std::move(in),
          std::move(out),
          {arena, in_table, out_table, constant_table_, status, reinterpret_cast<uint32_t*>(barriers_.data())}};
}

char* Walk::at(const Function& f, Var v, const Frame& frame) const {
  const Place& p = f.buffers[v].place;
  switch (p.kind) {
    case Place::Kind::Input:
      return frame.in.at(static_cast<size_t>(p.at));
    case Place::Kind::Constant:
      return constants_.at(static_cast<size_t>(p.at));
    case Place::Kind::Result:
      return frame.out.at(static_cast<size_t>(p.at));
    case Place::Kind::Arena:
      return frame.arena + p.at;
    case Place::Kind::None:
      break;
  }
  throw InternalError(fmt::format("cuda: value {} has no place", v));
}

void Walk::run(const Function& f, const Frame& frame, size_t depth) {
  for (const Kernel& k : f.kernels) run(f, k, frame, depth);
  for (const auto& [from, result] : f.copies)
    device_.copy(frame.out.at(result), at(f, from, frame), f.buffers[from].type.bytes());
}

void Walk::run(const Function& f, const Kernel& k, const Frame& frame, size_t depth) {
  if (const auto launch = text_.launches.find(&k); launch != text_.launches.end()) {
    const auto* p = std::get_if<codegen::Product>(&k.what);
    if (!p || !product(f, *p, frame)) device_.launch(module_, launch->second, frame.tables);
    return;
  }
  if (const auto* host = std::get_if<codegen::HostCall>(&k.what)) return host_call(f, *host, frame);
  if (std::holds_alternative<codegen::TimeLoop>(k.what)) return time_loop(f, k, frame, depth);
  if (std::holds_alternative<codegen::Branch>(k.what)) return branch(f, k, frame, depth);
  if (std::holds_alternative<codegen::WhileLoop>(k.what)) return while_loop(f, k, frame, depth);
  const auto* inner = std::get_if<codegen::Call>(&k.what);
  ensure(inner, "cuda: a kernel has no launch");
  std::vector<char*> in, out;
  for (Var v : inner->in) in.push_back(at(f, v, frame));
  for (Var v : inner->out) out.push_back(at(f, v, frame));
  call(inner->body, frame.arena + k.place, std::move(in), std::move(out), frame, depth);
}

// The pointer tables of a function are in device memory, one pair per depth. Work is queued in order, so the next call
// can overwrite them.
void Walk::call(const codegen::FunctionPtr& g, char* arena, std::vector<char*> in, std::vector<char*> out,
                const Frame& around, size_t depth) {
  constexpr size_t most = 4096;
  ensure(in.size() + out.size() <= most, "cuda: a function takes and gives {} arrays", in.size() + out.size());
  if (tables_.size() <= depth) tables_.emplace_back(device_, static_cast<int64_t>(most * sizeof(char*)));
  char* const in_table  = tables_[depth].data();
  char* const out_table = in_table + in.size() * sizeof(char*);
  if (!in.empty()) device_.write(in_table, in.data(), static_cast<int64_t>(in.size() * sizeof(char*)));
  if (!out.empty()) device_.write(out_table, out.data(), static_cast<int64_t>(out.size() * sizeof(char*)));
  const Frame inner = frame(arena, std::move(in), std::move(out), reinterpret_cast<const void* const*>(in_table),
                            reinterpret_cast<void* const*>(out_table), around.tables.status);
  run(*g, inner, depth + 1);
}

// y[b,m,n] = Σ_k l[b,m,k] r[b,k,n]
bool Walk::product(const Function& f, const codegen::Product& p, const Frame& frame) {
  BatchAxis b;
  if (!p.matrix || !as_one_axis(p, b)) return false;
  const auto& x = *p.matrix;
  if (x.m * x.n * x.k * b.size < library_multiplications) return false;
  const auto   bytes = static_cast<int64_t>(size_of(p.dtype));
  Device::Gemm g{p.dtype, precision_, b.size, x.m,     x.n,     x.k, {},    b.lhs, x.lhs_m,
                 x.lhs_k, {},         b.rhs,  x.rhs_k, x.rhs_n, {},  b.out, x.n};
  g.a = at(f, p.lhs.buffer, frame) + p.lhs.at * bytes;
  g.b = at(f, p.rhs.buffer, frame) + p.rhs.at * bytes;
  g.c = at(f, p.out, frame);
  return device_.gemm(g);
}

void Walk::host_call(const Function& f, const codegen::HostCall& k, const Frame& frame) {
  const codegen::HostEqn& c = text_.schedule.calls.at(static_cast<size_t>(k.number));
  Arrays                  args;
  for (size_t i = 0; i < k.in.size(); ++i) {
    args.emplace_back(c.in[i]);
    device_.read(args.back().mutable_raw(), at(f, k.in[i], frame), c.in[i].bytes());
  }
  device_.wait();
  const Arrays results = value_of(c, args);
  for (size_t i = 0; i < results.size(); ++i)
    device_.write(at(f, k.out[i], frame), results[i].raw(), static_cast<int64_t>(results[i].bytes()));
}

// Double buffering as described in codegen/schedule.h: carries alternate between two buffers, so that the last step
// writes the result.
void Walk::time_loop(const Function& f, const Kernel& k, const Frame& frame, size_t depth) {
  const auto& l = std::get<codegen::TimeLoop>(k.what);
  for (int64_t part = k.first; part < k.first + k.parts; ++part) {
    char* const        w = frame.arena + k.place + (l.part_bytes ? part * *l.part_bytes : 0);
    std::vector<char*> in(l.consts.size() + l.carries.size() + l.inputs.size()),
        out(l.carries.size() + l.outputs.size());
    const auto of_part = [&](Var v, int64_t bytes) { return at(f, v, frame) + part * bytes; };
    for (const auto& x : l.consts) in.at(x.arg) = of_part(x.buffer, x.part);
    for (const auto& x : l.carries) {
      in.at(x.arg) = of_part(x.init, x.part);
      if (l.length == 0) device_.copy(at(f, x.out, frame), at(f, x.init, frame), x.bytes);
    }
    for (int64_t step = 0; step < l.length; ++step) {
      const int64_t t = l.reverse ? l.length - 1 - step : step;
      for (const auto& x : l.carries)
        if (!x.is_stacked)
          out.at(x.result) = (l.length - 1 - step) % 2 ? w + x.other : x.own ? w + *x.own : of_part(x.out, x.part);
      for (const auto& x : l.inputs) {
        const auto after =
            std::find_if(x.pieces.begin() + 1, x.pieces.end(), [&](const auto& p) { return t < p.first; });
        const auto& piece = *(after - 1);
        in.at(x.arg)      = of_part(piece.buffer, x.part) + piece.at + (t - piece.first) * x.row;
      }
      for (const auto& x : l.outputs)
        out.at(x.result) = x.spare && part > 0 ? w + *x.spare : of_part(x.out, x.part) + t * x.row;
      call(l.body, w, in, out, frame, depth);
      for (const auto& x : l.carries) in.at(x.arg) = out.at(x.result);
    }
    for (const auto& x : l.carries) {
      if (l.length == 0) continue;
      if (x.is_stacked) device_.copy(of_part(x.out, x.part), in.at(x.arg), x.bytes);
      if (!x.is_stacked && x.own && part == 0) device_.copy(at(f, x.out, frame), w + *x.own, x.bytes);
    }
  }
}

void Walk::branch(const Function& f, const Kernel& k, const Frame& frame, size_t depth) {
  const auto& b = std::get<codegen::Branch>(k.what);
  Array       index(f.buffers[b.index].type);
  device_.read(index.mutable_raw(), at(f, b.index, frame), static_cast<int64_t>(index.bytes()));
  device_.wait();
  const int64_t      last   = std::ssize(b.branches) - 1;
  const int64_t      chosen = std::clamp<int64_t>(Integers(index)[0], 0, last);
  std::vector<char*> in, out;
  for (Var v : b.in) in.push_back(at(f, v, frame));
  for (Var v : b.out) out.push_back(at(f, v, frame));
  call(b.branches[static_cast<size_t>(chosen)], frame.arena + k.place, std::move(in), std::move(out), frame, depth);
}

void Walk::while_loop(const Function& f, const Kernel& k, const Frame& frame, size_t depth) {
  const auto&        l = std::get<codegen::WhileLoop>(k.what);
  char* const        w = frame.arena + k.place;
  std::vector<char*> in, out(l.carries.size());
  for (Var v : l.in) in.push_back(at(f, v, frame));
  if (!flag_.data()) flag_ = DeviceMemory(device_, 1);
  const auto consts = static_cast<size_t>(l.consts);
  for (int64_t step = 0; l.max_steps == 0 || step < l.max_steps; ++step) {
    call(l.cond, w, in, {flag_.data()}, frame, depth);
    uint8_t go = 0;
    device_.read(&go, flag_.data(), 1);
    device_.wait();
    if (!go) break;
    for (size_t i = 0; i < out.size(); ++i) out[i] = step % 2 ? w + l.carries[i].other : at(f, l.carries[i].out, frame);
    call(l.body, w, in, out, frame, depth);
    std::copy(out.begin(), out.end(), in.begin() + static_cast<int64_t>(consts));
  }
  for (size_t i = 0; i < out.size(); ++i)
    device_.copy(at(f, l.carries[i].out, frame), in[consts + i], l.carries[i].bytes);
}

}  // namespace braintrace::cuda

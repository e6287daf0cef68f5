// SPDX-License-Identifier: Apache-2.0
#include "braintrace/advise/work.h"

#include <algorithm>
#include <chrono>
#include <functional>

#include "braintrace/advise/workload.h"
#include "braintrace/codegen/fuse.h"
#include "braintrace/codegen/lower.h"
#include "braintrace/control/scan_parts.h"
#include "braintrace/functions/functions.h"
#include "braintrace/ops/contract.h"
#include "braintrace/ops/math.h"
#include "braintrace/ops/reduce.h"
#include "braintrace/runtime/backend.h"

namespace braintrace {

namespace {

constexpr double cache_bytes = 1 << 20;

constexpr Key<Ints>        lhs_contract{"lhs_contract"};
constexpr Key<ProgramPtrs> branches_key{"branches"};
constexpr Key<ProgramPtr>  body_key{"body"};

void add(Work& to, const Work& w, double times) {
  to.products += times * w.products;
  to.elements += times * w.elements;
  to.series += times * w.series;
  to.far_bytes += times * w.far_bytes;
  to.near_bytes += times * w.near_bytes;
  to.stages += times * w.stages;
}

// Multiply-adds of a product.
double products_of(const Program& p, const Eqn& e) {
  const double out = static_cast<double>(p.type(e.out[0]).size());
  if (e.op->name == "dot_general") {
    double inner = 1;
    for (int64_t axis : e.attrs[lhs_contract])
      inner *= static_cast<double>(p.type(e.in[0]).shape[static_cast<size_t>(axis)]);
    return out * inner;
  }
  // A convolution: each output reads one filter, [kernel…, in, out] in any order of its axes.
  if (e.op->name.starts_with("conv") && e.in.size() >= 2) {
    const Shape& filter = p.type(e.in[1]).shape;
    return out * static_cast<double>(p.type(e.in[1]).size()) / static_cast<double>(std::max<int64_t>(1, filter.back()));
  }
  return 0;
}

Work work_of_stage(const Program& p, const codegen::Stage& s) {
  Work       w;
  const Eqn& first = p.eqns[static_cast<size_t>(s.eqns[0])];
  w.stages         = 1;
  if (const ProgramPtr* body = first.attrs.find(body_key); body && !s.loop) {
    const double turns = first.op->name == "scan" ? static_cast<double>(ScanParts(first.attrs).length) : 1;
    add(w, work_of(**body), turns);
    return w;
  }
  if (const ProgramPtrs* branches = first.attrs.find(branches_key); branches && !s.loop) {
    for (const ProgramPtr& b : *branches) add(w, work_of(*b), 1.0 / static_cast<double>(branches->size()));
    return w;
  }
  double bytes = 0;
  for (const Vars* vars : {&s.reads, &s.writes})
    for (Var v : *vars) bytes += static_cast<double>(p.type(v).bytes());
  (bytes > cache_bytes ? w.far_bytes : w.near_bytes) += bytes;
  for (int32_t i : s.eqns) {
    const Eqn&   e        = p.eqns[static_cast<size_t>(i)];
    const double products = products_of(p, e);
    w.products += products;
    if (products == 0)
      (e.op->code.cost == ElementCost::Simple ? w.elements : w.series) +=
          static_cast<double>(s.loop ? size_of(s.space) : p.type(e.out[0]).size());
  }
  return w;
}

double seconds_of(const std::function<void()>& run) {
  using Clock = std::chrono::steady_clock;
  double best = 1e30;
  run();
  for (int i = 0; i < 5; ++i) {
    const auto start = Clock::now();
    run();
    best = std::min(best, std::chrono::duration<double>(Clock::now() - start).count());
  }
  return best;
}

// Runs f on values of moderate size, none of them zero, again and again on its own result; seconds per call.
template <class F>
double timed(const F& f, const std::vector<Shape>& shapes) {
  Types types;
  for (const Shape& s : shapes) types.push_back({DType::F32, s});
  const StatefulProgram p = trace_function(types, f);
  Arrays                in, constants;
  for (const Type& t : types) {
    in.emplace_back(t);
    for (int64_t i = 0; i < t.size(); ++i)
      in.back().mutable_data<float>()[i] = 0.1F + 0.05F * static_cast<float>(i % 7);
  }
  for (const Tensor& c : p.constants) constants.push_back(c.array());
  const auto resident = find_backend("cpu").resident(p.program, constants, {{0, 0}});
  resident->hold({in[0]});
  in.erase(in.begin());
  return seconds_of([&] { resident->run(in); });
}

}  // namespace

Work work_of(const Program& p) {
  Work w;
  for (const codegen::Stage& s : codegen::fused(p).stages) add(w, work_of_stage(p, s), 1);
  return w;
}

Yardstick Yardstick::measured() {
  const auto sum_of = [](const Tensors& in) { return Tensors{0.9 * in[0] + in[1]}; };
  const auto sums   = [](const Tensors& in) {
    Tensor y = in[0];
    for (int i = 0; i < 8; ++i) y = y * 0.9 + in[1];
    return Tensors{y};
  };
  const auto chain = [](const Tensors& in) {
    Tensor y = in[0];
    for (int i = 0; i < 8; ++i) y = tanh(y);
    return Tensors{y};
  };
  const auto        product = [](const Tensors& in) { return Tensors{dot(in[0], in[1])}; };
  constexpr int64_t m = 32, n = 256, small = 1 << 14, large = 1 << 22;  // a batch of 32 through 256 units
  Yardstick         y{};
  y.stages     = 1 / timed(sum_of, {{1}, {1}});
  y.near_bytes = 12.0 * small / timed(sum_of, {{small}, {small}});
  y.far_bytes  = 12.0 * large / timed(sum_of, {{large}, {large}});
  y.elements   = 8.0 * 2 * small / timed(sums, {{small}, {small}});
  y.series     = 8.0 * small / timed(chain, {{small}});
  y.products   = static_cast<double>(m * n * n) / timed(product, {{m, n}, {n, n}});
  return y;
}

double Yardstick::seconds(const Work& w) const {
  return w.stages / stages + w.products / products +
         std::max(w.elements / elements + w.series / series, w.far_bytes / far_bytes + w.near_bytes / near_bytes);
}

}  // namespace braintrace

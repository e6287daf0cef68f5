// SPDX-License-Identifier: Apache-2.0
#include "braintrace/advise/yardstick.h"

#include <algorithm>
#include <chrono>
#include <functional>

#include "braintrace/advise/workload.h"
#include "braintrace/functions/functions.h"
#include "braintrace/ops/contract.h"
#include "braintrace/ops/math.h"
#include "braintrace/ops/reduce.h"
#include "braintrace/runtime/backend.h"

namespace braintrace {

namespace {

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
double seconds_of(Backend& backend, const F& f, const std::vector<Shape>& shapes) {
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
  const auto resident = backend.resident(p.program, constants, {{0, 0}});
  resident->hold({in[0]});
  in.erase(in.begin());
  return seconds_of([&] { resident->run(in); });
}

}  // namespace

Yardstick Yardstick::measured(const std::string& name) {
  Backend&   backend = find_backend(name);
  const auto timed   = [&](const auto& f, const std::vector<Shape>& shapes) { return seconds_of(backend, f, shapes); };
  const auto sum_of  = [](const Tensors& in) { return Tensors{0.9 * in[0] + in[1]}; };
  const auto sums    = [](const Tensors& in) {
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
  y.kernels    = 1 / timed(sum_of, {{1}, {1}});
  y.near_bytes = 12.0 * small / timed(sum_of, {{small}, {small}});
  y.far_bytes  = 12.0 * large / timed(sum_of, {{large}, {large}});
  y.elements   = 8.0 * 2 * small / timed(sums, {{small}, {small}});
  y.series     = 8.0 * small / timed(chain, {{small}});
  y.products   = static_cast<double>(m * n * n) / timed(product, {{m, n}, {n, n}});
  return y;
}

double Yardstick::seconds(const Work& w) const {
  return w.kernels / kernels + w.products / products +
         std::max(w.elements / elements + w.series / series, w.far_bytes / far_bytes + w.near_bytes / near_bytes);
}

}  // namespace braintrace

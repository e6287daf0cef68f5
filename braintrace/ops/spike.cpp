// SPDX-License-Identifier: Apache-2.0
#include "braintrace/ops/spike.h"

#include <cmath>
#include <map>
#include <mutex>
#include <numbers>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "braintrace/base/process_mutex.h"
#include "braintrace/ops/compare.h"
#include "braintrace/ops/keys.h"
#include "braintrace/ops/math.h"
#include "braintrace/ops/move.h"
#include "braintrace/ops/special.h"

namespace braintrace {

namespace {

using std::numbers::pi;
using Params = std::vector<double>;

constexpr Key<std::string> surrogate_key{"surrogate"};
constexpr Key<Params>      params_key{"params"};

// One of two numbers, in the type of x.
Tensor either(const Tensor& pred, double a, double b, const Tensor& x) {
  return select(pred, full(x.shape(), a, x.dtype()), full(x.shape(), b, x.dtype()));
}

// N(x; μ, σ)
Tensor normal_density(const Tensor& x, double mu, double sigma) {
  return exp(square((x - mu) / sigma) * -0.5) * (1 / (sigma * std::sqrt(2 * pi)));
}
// α q (1-q), q = σ(αx)
Tensor logistic_slope(const Tensor& x, double alpha) {
  const Tensor q = sigmoid(alpha * x);
  return alpha * q * (1 - q);
}

std::map<std::string, SurrogateKind> built_in() {
  const std::vector<SurrogateKind> list = {
      {"sigmoid",
       "α q (1-q), q = σ(αx)",
       {{"alpha", 4}},
       [](const Tensor& x, const Params& p) { return logistic_slope(x, p[0]); }},
      {"soft_sign",
       "α/2 / (1+|αx|)²",
       {{"alpha", 1}},
       [](const Tensor& x, const Params& p) { return p[0] / 2 / square(1 + abs(p[0] * x)); }},
      {"nonzero_sign_log",
       "1 / (1/α + |x|)",
       {{"alpha", 1}},
       [](const Tensor& x, const Params& p) { return 1 / (1 / p[0] + abs(x)); }},
      {"q_pseudo_spike",
       "(1 + 2|x|/(α+1))^-α",
       {{"alpha", 2}},
       [](const Tensor& x, const Params& p) { return pow(1 + (2 / (p[0] + 1)) * abs(x), -p[0]); }},
      {"log_tailed_relu",
       "1/x if x>1; 1 if 0<x≤1; α if x≤0",
       {{"alpha", 0}},
       [](const Tensor& x, const Params& p) { return select(greater(x, 0), 1 / maximum(x, 1), p[0]); }},
      {"gaussian_grad",
       "α N(x; 0, σ)",
       {{"sigma", 0.5}, {"alpha", 0.5}},
       [](const Tensor& x, const Params& p) { return p[1] * normal_density(x, 0, p[0]); }},
      {"slayer_grad",
       "e^(-α|x|)",
       {{"alpha", 1}},
       [](const Tensor& x, const Params& p) { return exp(-p[0] * abs(x)); }},
      {"piecewise_exp",
       "α/2 e^(-α|x|)",
       {{"alpha", 1}},
       [](const Tensor& x, const Params& p) { return p[0] / 2 * exp(-p[0] * abs(x)); }},
      {"arctan",
       "α/2 / (1+(παx/2)²)",
       {{"alpha", 1}},
       [](const Tensor& x, const Params& p) { return p[0] / 2 / (1 + square(pi / 2 * p[0] * x)); }},
      {"erf",
       "α/√π e^(-α²x²)",
       {{"alpha", 1}},
       [](const Tensor& x, const Params& p) { return p[0] / std::sqrt(pi) * exp(-square(p[0] * x)); }},
      {"leaky_relu",
       "α if x<0 else β",
       {{"alpha", 0.1}, {"beta", 1}},
       [](const Tensor& x, const Params& p) { return either(less(x, 0), p[0], p[1], x); }},
      {"relu_grad",
       "max(α w - α|x|, 0)",
       {{"alpha", 0.3}, {"width", 1}},
       [](const Tensor& x, const Params& p) { return maximum(p[0] * p[1] - p[0] * abs(x), 0); }},
      {"inv_square_grad",
       "1 / (α|x|+1)²",
       {{"alpha", 100}},
       [](const Tensor& x, const Params& p) { return 1 / square(p[0] * abs(x) + 1); }},
      {"piecewise_quadratic",
       "α - α²|x| if |x| ≤ 1/α else 0",
       {{"alpha", 1}},
       [](const Tensor& x, const Params& p) { return maximum(p[0] - p[0] * p[0] * abs(x), 0); }},
      {"piecewise_leaky_relu",
       "c if |x|>w else 1/(2w)",
       {{"c", 0.01}, {"width", 1}},
       [](const Tensor& x, const Params& p) { return either(greater(abs(x), p[1]), p[0], 1 / (2 * p[1]), x); }},
      {"squarewave_fourier_series",
       "4/T Σ_{i=1..n} cos((2i-1) 2πx/T)",
       {{"n", 2}, {"T", 8}},
       [](const Tensor& x, const Params& p) {
         Tensor total;
         for (int i = 1; i <= static_cast<int>(p[0]); ++i)
           total = add_defined(total, cos((2 * i - 1) * 2 * pi / p[1] * x));
         return 4 / p[1] * total;
       }},
      {"s2nn",
       "α q (1-q), q = σ(αx), for x<0; β/(x+1) for x≥0",
       {{"alpha", 4}, {"beta", 1}},
       [](const Tensor& x, const Params& p) {
         return select(less(x, 0), logistic_slope(x, p[0]), p[1] / (maximum(x, 0) + 1));
       }},
      {"multi_gaussian_grad",
       "scale [(1+h) N(x;0,σ) - h N(x;σ,sσ) - h N(x;-σ,sσ)]",
       {{"h", 0.15}, {"s", 6}, {"sigma", 0.5}, {"scale", 0.5}},
       [](const Tensor& x, const Params& p) {
         const double h = p[0], wide = p[1] * p[2], sigma = p[2];
         return p[3] * ((1 + h) * normal_density(x, 0, sigma) - h * normal_density(x, sigma, wide) -
                        h * normal_density(x, -sigma, wide));
       }},
  };
  std::map<std::string, SurrogateKind> table;
  for (const SurrogateKind& k : list) table.emplace(k.name, k);
  return table;
}

struct SurrogateTable {
  ProcessMutex                               lock;
  const std::map<std::string, SurrogateKind> built_in_kinds = built_in();
  std::map<std::string, SurrogateKind>       kinds          = built_in_kinds;
};
SurrogateTable& surrogate_table() {
  static SurrogateTable t;
  return t;
}

}  // namespace

std::vector<SurrogateKind> surrogates() {
  std::lock_guard            guard(surrogate_table().lock);
  std::vector<SurrogateKind> out;
  for (const auto& [name, kind] : surrogate_table().kinds) out.push_back(kind);
  return out;
}

SurrogateKind surrogate_named(const std::string& name) {
  std::lock_guard guard(surrogate_table().lock);
  const auto&     kinds = surrogate_table().kinds;
  if (const auto it = kinds.find(name); it != kinds.end()) return it->second;
  std::vector<std::string> known;
  for (const auto& [k, kind] : kinds) known.push_back(k);
  fail(ErrorKind::Name, "surrogate: there is no '{}'; known: {}.\n  register_surrogate adds your own.", name,
       fmt::join(known, ", "));
}

void register_surrogate(SurrogateKind kind) {
  require(!kind.name.empty() && kind.slope, "register_surrogate: '{}' needs a name and a slope.", kind.name);
  std::lock_guard   guard(surrogate_table().lock);
  const std::string name = kind.name;
  require(!surrogate_table().built_in_kinds.contains(name),
          "register_surrogate: '{}' is built in; choose another name.", name);
  surrogate_table().kinds.insert_or_assign(name, std::move(kind));
}

Surrogate::Surrogate(const std::string& kind, std::vector<double> params) : kind_(kind), params_(std::move(params)) {
  const SurrogateKind k = surrogate_named(kind);
  require(params_.size() <= k.params.size(), "surrogate {}: it has {} numbers, got {}.", kind, k.params.size(),
          params_.size());
  while (params_.size() < k.params.size()) params_.push_back(k.params[params_.size()].value);
}

std::string Surrogate::text() const {
  std::string         inner;
  const SurrogateKind k = surrogate_named(kind_);
  for (size_t i = 0; i < params_.size(); ++i)
    inner += fmt::format("{}{}={}", i ? ", " : "", k.params[i].name, params_[i]);
  return fmt::format("{}({})", kind_, inner);
}

Tensor Surrogate::slope(const Tensor& x) const { return surrogate_named(kind_).slope(x, params_); }

// The derivative intentionally differs from that of H, so the samples are integers.
constinit const Op spike_op = elementwise({
    .name = "spike",
    .doc  = "1 where x ≥ 0, else 0; its derivative is the surrogate's slope",
    .jvp  = [](const JvpArgs& a) -> Tensors {
      if (!a.tangents[0].defined()) return {Tensor()};
      const Surrogate s(a.attrs[surrogate_key], a.attrs[params_key]);
      return {s.slope(stop_gradient(a.in[0])) * a.tangents[0]};
    },
    .code   = {"($a >= 0 ? ($t)1 : ($t)0)", "($a >= 0)"},
    .scalar = {.real    = [](const double* x) { return x[0] >= 0 ? 1.0 : 0.0; },
               .integer = [](const int64_t* x) -> int64_t { return x[0] >= 0; }},
    .sample = [](const Op&, Rng&) -> std::vector<Sample> {
      return {{{Array::of<int32_t>({-2, 0, 3}, {3})},
               {{surrogate_key, std::string("relu_grad")}, {params_key, Params{0.3, 1}}}}};
    },
});

Tensor spike(const Tensor& x, const Surrogate& s) {
  return elementwise_apply(spike_op, {x}, {{surrogate_key, s.kind()}, {params_key, s.params()}});
}

const std::vector<const Op*>& spike_ops() {
  static const std::vector<const Op*> ops{&spike_op};
  return ops;
}

}  // namespace braintrace

// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <chrono>
#include <cmath>

#include <fmt/format.h>

#include "braintrace/algorithms/bptt.h"
#include "braintrace/algorithms/registry.h"
#include "braintrace/fidelity/fidelity.h"
#include "braintrace/fidelity/workload.h"
#include "braintrace/functions/functions.h"
#include "braintrace/ops/math.h"
#include "braintrace/ops/move.h"
#include "braintrace/ops/random.h"
#include "braintrace/ops/reduce.h"

namespace braintrace {

namespace {

struct Data {
  Tensor xs, ys, weights;  // [T, …]; the weights of the losses [T]

  Data(Module& model, const Type& input, const FidelityOptions& options)
      : xs(random_inputs(model, input, options.steps, random::key(options.seed))) {
    ys = random_sequence(output_type(model, input), options.steps, random::key(options.seed + 1));
    std::vector<float> each(static_cast<size_t>(options.steps), options.last_only ? 0.f : 1.f);
    each.back() = 1;
    weights     = Tensor(Array::of<float>(each, {options.steps}));
  }
};

// Σ of the gradients of all windows.
Gradients gradient(OnlineLearner& learner, const Data& data, int64_t window, double* seconds) {
  const auto params = learner.model().params();
  const auto loss   = [](const Tensor& y, const Tensor& target, const Tensor& weight) {
    Shape by_step = weight.shape();
    by_step.resize(static_cast<size_t>(y.rank()), 1);
    return sum(square(y - target) * convert(reshape(weight, by_step), y.dtype())) *
           (static_cast<double>(weight.size()) / static_cast<double>(target.size()));
  };
  const auto one = jit(grad([&](Tensor x, Tensor y, Tensor w) { return loss(learner(x), y, w); }, params));
  const auto many =
      jit(grad([&](Tensor x, Tensor y, Tensor w) { return loss(learner(MultiStepData{{x}}), y, w); }, params));
  const int64_t T    = data.xs.shape()[0];
  const auto    pass = [&] {
    Gradients total;
    for (int64_t t = 0; t < T; t += window) {
      const int64_t   end  = std::min(T, t + window);
      const auto      part = [&](const Tensor& all) { return slice_axis(all, 0, t, end); };
      const Gradients g    = window == 1 ? one(row(data.xs, t), row(data.ys, t), row(data.weights, t))
                                            : many(part(data.xs), part(data.ys), part(data.weights));
      total                = t == 0 ? g : total + g;
    }
    return total;
  };
  Gradients result = pass();
  if (seconds) {
    const auto start = std::chrono::steady_clock::now();
    pass();
    *seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() / static_cast<double>(T);
  }
  return result;
}

struct Products {  // of two vectors
  double ab = 0, aa = 0, bb = 0;

  void add(const Tensor& a, const Tensor& b) {
    const Tensor x = convert(a, DType::F64), y = convert(b, DType::F64);
    ab += sum(x * y).item(), aa += sum(square(x)).item(), bb += sum(square(y)).item();
  }
  void add(const Products& p) { ab += p.ab, aa += p.aa, bb += p.bb; }
  // Two zero gradients agree; a zero and a non-zero gradient have no angle.
  Closeness closeness() const {
    if (aa == 0 || bb == 0) return {aa == bb ? 1.0 : 0.0, aa == bb ? 1.0 : bb == 0 ? INFINITY : 0.0};
    return {ab / std::sqrt(aa * bb), std::sqrt(aa / bb)};
  }
};

std::string layer_of(const std::string& parameter) {
  return {parameter.begin(), std::find(parameter.begin(), parameter.end(), '.')};
}

void compare(const Gradients& got, const Gradients& exact, FidelityReport& report, RuleFidelity& out) {
  Products              all;
  std::vector<Products> layers(report.layers.size());
  for (const auto& [path, leaves] : exact)
    for (const auto& [leaf, want] : leaves) {
      Products p;
      p.add(got.at(path, leaf), want);
      const auto at = std::find(report.layers.begin(), report.layers.end(), layer_of(leaf_name(path, leaf)));
      layers[static_cast<size_t>(at - report.layers.begin())].add(p);
      all.add(p);
      out.parameters.push_back(p.closeness());
    }
  for (const Products& p : layers) out.layers.push_back(p.closeness());
  out.all = all.closeness();
}

void list_parameters(const OnlineLearner& learner, const Gradients& exact, FidelityReport& report) {
  for (const auto& [path, leaves] : exact)
    for (const auto& [leaf, g] : leaves) {
      const std::string name = leaf_name(path, leaf);
      report.parameters.push_back(name);
      report.windowed.push_back(credit_of(learner.graph(), name) == Credit::Window);
      report.norms.push_back(std::sqrt(sum(square(convert(g, DType::F64))).item()));
      const std::string layer = layer_of(name);
      if (std::find(report.layers.begin(), report.layers.end(), layer) == report.layers.end())
        report.layers.push_back(layer);
    }
}

}  // namespace

FidelityReport measure_fidelity(Module& model, const std::string& name, const Type& input,
                                const std::optional<int64_t>& batch, const FidelityOptions& options) {
  require(options.steps > 0, "fidelity: a sequence needs at least one step, got {}.", options.steps);
  std::vector<int64_t> windows = options.windows;
  if (windows.empty()) {
    windows = {1, std::min<int64_t>(5, options.steps), options.steps};
    windows.erase(std::unique(windows.begin(), windows.end()), windows.end());
  }
  for (int64_t w : windows)
    require(w > 0 && w <= options.steps, "fidelity: a window of {} steps does not fit a sequence of {}.", w,
            options.steps);
  const auto start = [&] { init_all_states(model, {.batch_size = batch}); };
  start();
  const Data     data(model, input, options);
  FidelityReport report{name, input, options.steps, {}, {}, {}, {}, {}};

  start();
  BPTT bptt(model);
  bptt.compile_graph(Types{input});
  const Gradients exact = gradient(bptt, data, options.steps, nullptr);
  list_parameters(bptt, exact, report);

  std::vector<const Algorithm*> chosen;
  for (const std::string& rule : options.rules) chosen.push_back(&algorithm_named(rule));
  if (chosen.empty())
    for (const Algorithm& a : algorithms())
      if (a.needs() == Need::Nothing) chosen.push_back(&a);
  for (const Algorithm* a : chosen)
    for (int64_t window : windows) {
      RuleFidelity out;
      out.rule   = a->name;
      out.window = window;
      try {
        require(a->needs() == Need::Nothing, "it needs {}, not only a loss", to_string(a->needs()));
        start();
        const UsualOptions setting = a->usual(options.seed);
        out.setting                = setting.text;
        const auto learner         = a->learner(model, setting.options);
        learner->compile_graph(Types{input});
        for (const MemorySlot& slot : learner->memory_slots())
          out.trace_bytes += slot.type.size() * static_cast<int64_t>(size_of(slot.type.dtype));
        require(out.trace_bytes <= options.memory_limit, "its traces take {} MiB", out.trace_bytes >> 20);
        compare(gradient(*learner, data, window, &out.seconds_per_step), exact, report, out);
      } catch (const UserError& error) {
        out.left_out = error.what();
      } catch (const CompileError& error) {
        out.left_out = error.what();
      }
      report.rules.push_back(std::move(out));
    }
  return report;
}

}  // namespace braintrace

// SPDX-License-Identifier: Apache-2.0
// Small models in double precision, data for them, and their gradients: by plain reverse mode over the unrolled model,
// by a learner step by step, and by a learner in windows. The loss is Σ_t m_t Σ (y_t − ½)² with weights m of the steps;
// it has a gradient where no neuron fires.
#pragma once

#include <algorithm>
#include <cmath>
#include <functional>

#include <nlohmann/json.hpp>

#include "braintrace/algorithms/learner.h"
#include "braintrace/functions/functions.h"
#include "braintrace/model/environment.h"
#include "braintrace/model/random_stream.h"
#include "braintrace/ops/math.h"
#include "braintrace/ops/move.h"
#include "braintrace/ops/random.h"
#include "braintrace/ops/reduce.h"
#include "braintrace/verify/layers/layers.h"

namespace braintrace {

using nlohmann::json;

inline const bool in_double = (Environment::set({.precision = DType::F64}), true);

// Layers of a chain are named a, b, …; the readout of a net is `out`.
inline json layer(const std::string& type, int64_t n_in, int64_t n_rec, const json& more = json::object()) {
  json out = {{"type", type}, {"n_in", n_in}, {"n_rec", n_rec}};
  out.update(more);
  return out;
}
inline json linear(int64_t n_in, int64_t n_out) {
  return {{"name", "out"}, {"type", "linear"}, {"n_in", n_in}, {"n_out", n_out}};
}
inline json chain(std::vector<json> layers) {
  for (size_t i = 0; i < layers.size(); ++i)
    if (!layers[i].contains("name")) layers[i]["name"] = std::string(1, static_cast<char>('a' + i));
  return {{"type", "chain"}, {"layers", layers}};
}

inline Tensor normal(const Type& type, uint64_t seed, double scale = 1) {
  return convert(scale * random::normal(random::key(seed), type.shape, DType::F64), type.dtype);
}
inline Tensor f64(double value) { return Tensor(Type{DType::F64, {}}, value); }
// Every state of the model that is not a parameter.
inline void set_states(const Module& model, uint64_t seed, double scale = 0.5) {
  for (const auto& [path, state] : model.states())
    if (!state.is_param())
      for (const std::string& leaf : state.leaf_names())
        if (const Type type = state.leaf(leaf).type(); is_float(type.dtype))
          state.set_leaf(leaf, normal(type, seed++, scale));
}

inline std::shared_ptr<Module> make_model(const json& description, BatchSize batch = {}, uint64_t seed = 1) {
  random::seed(seed);
  auto model = golden::described_model(description);
  init_all_states(*model, {.batch_size = batch});
  return model;
}

inline Tensor squared(const Tensor& t) { return sum(square(t)); }
inline Tensor loss_of(const Tensor& y) { return squared(y - 0.5); }
// Σ_t m_t Σ (y_t − ½)² of the outputs of a window.
inline Tensor weighted(const Tensor& ys, const Tensor& m) {
  Shape shape(static_cast<size_t>(ys.rank()), 1);
  shape[0] = ys.shape()[0];
  return sum(square(ys - 0.5) * reshape(m, shape));
}

inline Gradients unrolled(Module& model, const Tensor& xs, const Tensor& m) {
  const auto loss = [&](Tensor x, Tensor w) {
    Tensor total(Type{w.dtype(), {}}, 0);
    for (int64_t t = 0; t < x.shape()[0]; ++t) total = total + row(w, t) * loss_of(model(row(x, t)));
    return total;
  };
  return grad(loss, model.params())(xs, m);
}
inline Gradients stepwise(OnlineLearner& learner, const Tensor& xs, const Tensor& m) {
  const auto step = jit(grad([&](Tensor x, Tensor w) { return w * loss_of(learner(x)); }, learner.model().params()));
  Gradients  total;
  for (int64_t t = 0; t < xs.shape()[0]; ++t) {
    const Gradients g = step(row(xs, t), row(m, t));
    total             = t == 0 ? g : total + g;
  }
  return total;
}
inline Gradients windowed(OnlineLearner& learner, const Tensor& xs, const Tensor& m,
                          const std::vector<int64_t>& lengths) {
  const auto window =
      jit(grad([&](Tensor x, Tensor w) { return weighted(learner(MultiStepData{{x}}), w); }, learner.model().params()));
  Gradients total;
  int64_t   from = 0;
  for (int64_t n : lengths) {
    const Gradients g = window(slice_axis(xs, 0, from, from + n), slice_axis(m, 0, from, from + n));
    total             = from == 0 ? g : total + g;
    from += n;
  }
  return total;
}

// The leaves of gradients, one by one.
struct Difference {
  double      worst   = 0;     // of ‖a-b‖/‖b‖; ‖a‖ where b is zero
  double      weakest = 1e30;  // of ‖b‖
  std::string leaf;            // the worst
};
using LeafFilter = std::function<bool(const std::string& leaf)>;
inline Difference difference(const Gradients& a, const Gradients& b, const LeafFilter& chosen = nullptr) {
  Difference out;
  for (const auto& [path, leaves] : b)
    for (const auto& [name, want] : leaves) {
      const std::string leaf = name.empty() ? path.str() : path.str() + "." + name;
      if (chosen && !chosen(leaf)) continue;
      const double norm  = std::sqrt(squared(want).item());
      const double apart = std::sqrt(squared(a.at(path, name) - want).item()) / (norm == 0 ? 1 : norm);
      out.weakest        = std::min(out.weakest, norm);
      if (!(apart <= out.worst)) out.worst = apart, out.leaf = leaf;
    }
  return out;
}
inline double gap(const Gradients& a, const Gradients& b, const LeafFilter& chosen = nullptr) {
  return difference(a, b, chosen).worst;
}

// Whether the gradient of a leaf is the sum of its steps in every window: it is read directly, position by position.
inline LeafFilter window_free(const ETraceGraph& graph) {
  std::map<std::string, bool> free;
  for (const WeightVar& w : graph.module_info.weights) free[w.name()] = true;
  for (const HiddenParamOpRelation& r : graph.hidden_param_op_relations)
    for (const Connection& c : r.connections)
      if (c.path != PathClass::Direct || !c.position_preserving)
        for (const Trainable& t : r.trainables)
          for (int leaf : t.leaves) free[graph.module_info.weights[leaf].name()] = false;
  return [free](const std::string& leaf) { return free.at(leaf); };
}

}  // namespace braintrace

// SPDX-License-Identifier: Apache-2.0
#include "tests/oracle/trial.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "braintrace/algorithms/bptt.h"
#include "braintrace/algorithms/d_rtrl.h"
#include "braintrace/algorithms/drivers.h"
#include "braintrace/algorithms/e_prop.h"
#include "braintrace/algorithms/es_d_rtrl.h"
#include "braintrace/algorithms/rtrl.h"
#include "braintrace/algorithms/snap.h"
#include "braintrace/functions/functions.h"
#include "braintrace/model/environment.h"
#include "braintrace/ops/math.h"
#include "braintrace/ops/move.h"
#include "tests/oracle/dice.h"
#include "tests/oracle/module.h"

namespace braintrace::oracle {

namespace {

constexpr double alpha_x = 0.9, alpha_f = 0.6, kappa = 0.5;

bool is_coupled(RuleKind r) {
  return r == RuleKind::OSTL || r == RuleKind::OSTL_MultiStep || r == RuleKind::SnAp1 || r == RuleKind::SnAp2 ||
         r == RuleKind::SnAp3;
}

// Matrices of the data for the groups the learner finds, states in its order.
RandomFeedback feedback(const Model& m, const Data& data, Module& module, const Tensor& x, bool from_output,
                        DType dtype) {
  D_RTRL probe(module);
  probe.compile_graph(x);
  RandomFeedback out{.from_output = from_output};
  for (const HiddenGroup& g : probe.graph().hidden_groups) {
    const int64_t n = g.varshape.back(), l = from_output ? m.nodes[m.output].shape.back() : n;
    int           first = std::numeric_limits<int>::max();
    Tensors       Bs;
    for (const Path& path : g.hidden_paths) {
      const int s = std::stoi(path.str().substr(1));
      first       = std::min(first, s);
      if (from_output) Bs.emplace_back(from_doubles({dtype, {l, n}}, data.feedback_outputs[s]));
    }
    if (!from_output) Bs.emplace_back(from_doubles({dtype, {l, n}}, data.feedback_states[first]));
    out.given[g.hidden_paths[0]] = Bs.size() > 1 ? stack(Bs, -1) : Bs[0];
  }
  return out;
}

std::unique_ptr<OnlineLearner> make(const Setting& s, const Model& m, const Data& d, Module& module, const Tensor& x) {
  const LearnerOptions multi{.vjp_method = VjpMethod::MultiStep};
  switch (s.rule) {
    case RuleKind::D_RTRL:
      return std::make_unique<D_RTRL>(module);
    case RuleKind::OSTL:
      return std::make_unique<OSTLRecurrent>(module);
    case RuleKind::ES_D_RTRL:
      return std::make_unique<ES_D_RTRL>(module, TraceDecay{alpha_x, alpha_f});
    case RuleKind::EProp:
      return std::make_unique<EProp>(module, kappa);
    case RuleKind::EPropFeedback:
    case RuleKind::EPropOutputFeedback:
      return std::make_unique<EProp>(module, kappa,
                                     feedback(m, d, module, x, s.rule == RuleKind::EPropOutputFeedback, s.dtype));
    case RuleKind::SnAp1:
      return std::make_unique<SnAp>(module, 1);
    case RuleKind::SnAp2:
      return std::make_unique<SnAp>(module, 2);
    case RuleKind::SnAp3:
      return std::make_unique<SnAp>(module, 3);
    case RuleKind::RTRL:
      return std::make_unique<RTRL>(module);
    case RuleKind::BPTT:
      return std::make_unique<BPTT>(module);
    case RuleKind::D_RTRL_MultiStep:
      return std::make_unique<D_RTRL>(module, multi);
    case RuleKind::OSTL_MultiStep:
      return std::make_unique<OSTLRecurrent>(module, multi);
    case RuleKind::ES_MultiStep:
      return std::make_unique<ES_D_RTRL>(module, TraceDecay{alpha_x, alpha_f}, multi);
  }
  return nullptr;
}

Numbers numbers(const Tensor& t) {
  const Array a = t.array();
  Numbers     out;
  for (int64_t i = 0; i < a.size(); ++i) out.push_back(braintrace::at(a, i));
  return out;
}
Grads in_order(const Gradients& g, const Model& m) {
  Grads out;
  for (size_t i = 0; i < m.params.size(); ++i)
    out.push_back(numbers(g[DescribedModule::param_name(static_cast<int>(i))]));
  return out;
}

std::vector<Grads> summed(const std::vector<Grads>& steps, const Sizes& lengths) {
  std::vector<Grads> out;
  size_t             t = 0;
  for (int64_t n : lengths) {
    out.push_back(steps[t++]);
    for (int64_t k = 1; k < n; ++k, ++t)
      for (size_t i = 0; i < steps[t].size(); ++i)
        for (size_t j = 0; j < steps[t][i].size(); ++j) out.back()[i][j] += steps[t][i][j];
  }
  return out;
}

}  // namespace

std::string to_text(const Setting& s) {
  constexpr const char* rules[] = {
      "D-RTRL", "OSTL",   "ES-D-RTRL", "e-prop", "e-prop, feedback",  "e-prop, output feedback", "SnAp-1",
      "SnAp-2", "SnAp-3", "RTRL",      "BPTT",   "D-RTRL multi-step", "OSTL multi-step",         "ES multi-step"};
  constexpr const char* forms[] = {"steps", "driver", "windows"};
  return fmt::format("{}, {}{}, {}", rules[static_cast<int>(s.rule)], forms[static_cast<int>(s.form)],
                     s.jit ? ", jit" : "", name_of(s.dtype));
}

bool applies(const Setting& s, const Model& m) {
  const bool snap = s.rule == RuleKind::SnAp1 || s.rule == RuleKind::SnAp2 || s.rule == RuleKind::SnAp3;
  if (snap && s.form != Form::Step) return false;
  if (s.rule == RuleKind::EPropOutputFeedback)  // a state with several axes of units has no one place for the output
    for (const StateInfo& state : m.states)
      if (state.shape.size() > 1) return false;
  return s.form != Form::Window || !DescribedModule(m, data_of(m), DType::F64).loss_reads_states();
}

Sizes windows_of(const Model& m, Form form) {
  if (form == Form::Step) return Sizes(static_cast<size_t>(m.steps), 1);
  Dice  dice(m.seed + 77);
  Sizes out;
  for (int64_t left = m.steps; left > 0; left -= out.back()) out.push_back(dice.whole(1, left));
  return out;
}

Outcome by_library(const Model& m, const Data& data, const Setting& s) {
  const Environment::Scope precision({.precision = s.dtype});
  DescribedModule          module(m, data, s.dtype);
  const Sizes              lengths = windows_of(m, s.form);
  std::vector<Tensor>      xs, targets;
  for (size_t t = 0; t < static_cast<size_t>(m.steps); ++t) {
    xs.push_back(module.tensor(data.inputs[t], m.input));
    targets.push_back(module.tensor(data.targets[t], m.target));
  }
  const auto learner = make(s, m, data, module, xs[0]);
  learner->compile_graph(xs[0]);
  const StateMap params = module.params();
  const auto     weight = [&](size_t from, int64_t n) {
    return Tensor(from_doubles({s.dtype, {n}}, Numbers(data.weights.begin() + static_cast<int64_t>(from),
                                                           data.weights.begin() + static_cast<int64_t>(from) + n)));
  };
  const auto rows = [](const std::vector<Tensor>& all, size_t from, int64_t n) {
    return stack(Tensors(all.begin() + static_cast<int64_t>(from), all.begin() + static_cast<int64_t>(from) + n), 0);
  };
  Outcome out;
  size_t  t = 0;
  if (s.form == Form::Step) {
    const auto f = value_and_grad(
        [&](Tensor x, Tensor target, Tensor w) {
          const Tensor l = module.loss(*learner, x, target);
          return std::pair<Tensor, Tensor>(row(w, 0) * l, l);
        },
        params, has_aux);
    const auto keep = [&](const auto& result) {
      const auto& [l, g, loss] = result;
      out.grads.push_back(in_order(g, m));
      out.losses.push_back(loss.item());
    };
    const auto fast = jit(f);
    for (; t < xs.size(); ++t)
      s.jit ? keep(fast(xs[t], targets[t], weight(t, 1))) : keep(f(xs[t], targets[t], weight(t, 1)));
    return out;
  }
  for (int64_t n : lengths) {
    const Tensor x = rows(xs, t, n), target = rows(targets, t, n), w = weight(t, n);
    Gradients    g;
    Tensor       losses;
    if (s.form == Form::Driver) {
      const auto sweep = etrace_grad([&](Tensor x_t, Tensor y_t) { return module.loss(*learner, x_t, y_t); }, *learner,
                                     {.mask = w, .window = Window::all(), .reduction = Reduction::Sum});
      if (s.jit) {
        const auto fast     = jit([&](Tensor a, Tensor b) {
          auto r = sweep(a, b);
          return std::pair<Gradients, Tensor>(r.grads, r.losses);
        });
        std::tie(g, losses) = fast(x, target);
      } else {
        auto r = sweep(x, target);
        g      = r.grads;
        losses = r.losses;
      }
    } else {
      const auto f = value_and_grad(
          [&](Tensor x_w, Tensor y_w, Tensor m_w) {
            const Tensor ys = (*learner)(MultiStepData{{x_w}});
            Tensors      each;
            Tensor       total;
            for (int64_t k = 0; k < n; ++k) {
              each.push_back(module.loss_of(row(ys, k), row(y_w, k)));
              const Tensor part = row(m_w, k) * each.back();
              total             = k == 0 ? part : total + part;
            }
            return std::pair<Tensor, Tensor>(total, stack(each, 0));
          },
          params, has_aux);
      const auto fast = jit(f);
      Tensor     total;
      std::tie(total, g, losses) = s.jit ? fast(x, target, w) : f(x, target, w);
    }
    out.grads.push_back(in_order(g, m));
    for (double l : numbers(losses)) out.losses.push_back(l);
    t += static_cast<size_t>(n);
  }
  return out;
}

Outcome by_definition(const Model& m, const Data& data, const Setting& s, Sabotage sabotage) {
  const Oracle oracle(m, data, is_coupled(s.rule), sabotage);
  const Sizes  lengths = windows_of(m, s.form);
  const auto   eprop   = [&](const EpropOptions& o) {
    return s.form == Form::Step ? oracle.eprop_steps(o) : oracle.eprop_windows(o, lengths);
  };
  Outcome out{{}, oracle.losses()};
  switch (s.rule) {
    case RuleKind::D_RTRL:
    case RuleKind::OSTL:
      out.grads = eprop({});
      break;
    case RuleKind::ES_D_RTRL:
      out.grads = summed(oracle.es_steps(alpha_x, alpha_f), lengths);
      break;
    case RuleKind::EProp:
      out.grads = eprop({kappa});
      break;
    case RuleKind::EPropFeedback:
      out.grads = eprop({kappa, Feedback::States});
      break;
    case RuleKind::EPropOutputFeedback:
      out.grads = eprop({kappa, Feedback::Output});
      break;
    case RuleKind::SnAp1:
    case RuleKind::SnAp2:
    case RuleKind::SnAp3:
      out.grads = oracle.snap_steps(1 + static_cast<int>(s.rule) - static_cast<int>(RuleKind::SnAp1));
      break;
    case RuleKind::RTRL:
      out.grads = summed(oracle.exact_steps(), lengths);
      break;
    case RuleKind::BPTT:
      out.grads = oracle.truncated_windows(lengths);
      break;
    case RuleKind::D_RTRL_MultiStep:
    case RuleKind::OSTL_MultiStep:
      out.grads = oracle.multi_step_windows(lengths);
      break;
    case RuleKind::ES_MultiStep:
      out.grads = oracle.es_multi_step(alpha_x, alpha_f, lengths);
      break;
  }
  return out;
}

Verdict compare(const Outcome& got, const Outcome& want) {
  Verdict    v;
  const auto judge = [&](const Numbers& a, const Numbers& b, const std::string& where) {
    double largest = 0, apart = a.size() == b.size() ? 0 : std::numeric_limits<double>::infinity();
    for (size_t i = 0; i < b.size(); ++i) largest = std::max(largest, std::abs(b[i]));
    for (size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
      const double d = std::abs(a[i] - b[i]) / (1 + largest);
      apart          = std::max(apart, std::isfinite(d) ? d : std::numeric_limits<double>::infinity());
    }
    if (apart > v.worst) v.worst = apart, v.where = where;
    return largest;
  };
  judge(got.losses, want.losses, "losses");
  if (got.grads.size() != want.grads.size()) v.worst = std::numeric_limits<double>::infinity();
  for (size_t t = 0; t < std::min(got.grads.size(), want.grads.size()); ++t)
    for (size_t i = 0; i < want.grads[t].size(); ++i) {
      ++v.leaves;
      v.live += judge(got.grads[t][i], want.grads[t][i], fmt::format("call {}, w{}", t, i)) > 1e-6;
    }
  return v;
}

}  // namespace braintrace::oracle

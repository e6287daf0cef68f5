// SPDX-License-Identifier: Apache-2.0
// What gets credit and what does not: the statements of docs/credit.md, each compared with plain reverse mode over the
// unrolled model.
#include "tests/algorithms/credit.h"

#include <gtest/gtest.h>

#include "braintrace/algorithms/d_rtrl.h"
#include "braintrace/algorithms/drivers.h"
#include "braintrace/algorithms/rtrl.h"
#include "braintrace/etp/dense.h"
#include "braintrace/ops/contract.h"
#include "braintrace/runtime/values.h"
#include "braintrace/zoo/cell.h"

namespace braintrace {

namespace {

// ---- random feedback

// A state that no traced weight drives gets no feedback, and does not prevent others from getting theirs.
TEST(RandomFeedback, SkipsGroupsWithoutTraces) {
  const auto gradient = [](bool beside, bool feedback) {
    random::seed(3);
    auto       cell = zoo::make_cell();
    const auto a    = cell->hidden("a", {3});
    const auto w    = cell->param("w", {2, 2});
    const auto b    = cell->hidden("b", {2});
    cell->step      = [=](const Tensor& x) {
      if (beside) a.set(0.5 * a.value() + 1.);
      b.set(tanh(matmul(x, w.value()) + 0.6 * b.value()));
      return b.value() + (beside ? 0. * sum(a.value()) : Tensor(0.));
    };
    init_all_states(*cell);
    RuleAxes axes;
    if (feedback) axes.learning_signal = SignalSource::RandomFeedback;
    RuleOptions options;
    if (feedback) options.feedback = RandomFeedback{.given = {{Path{"b"}, normal({DType::F64, {2, 2}}, 8)}}};
    const auto learner = compile(*cell, ETraceConfig(axes), row(xs, 0), options);
    return stepwise(*learner, xs, ones({T}, DType::F64)).at(Path{"w"}, "");
  };
  const Tensor want = gradient(false, true);
  EXPECT_EQ(max_difference(gradient(true, true), want), 0);
  EXPECT_GT(max_difference(gradient(false, false), want), 1e-3) << "feedback makes a difference";
}

// ---- feedback from the output

TEST(OutputFeedback, IsTheSameInEveryWindowAndLoss) {
  const json   description = chain({layer("gru", 2, 3), linear(3, 2)});
  const Tensor B = normal({DType::F64, {2, 3}}, 8), ys = normal({DType::F64, {T, 2}}, 9);
  const Tensor mask = Tensor(Array::of<double>({1, 0, 0.5, 2, 1}, {T}));
  for (const auto factors : {TraceFactorization::PerParam, TraceFactorization::IoFactorized})
    for (const bool given : {false, true}) {
      const auto learn = [&](const std::function<Gradients(OnlineLearner&)>& run) {
        auto     model = make_model(description);
        RuleAxes axes{.trace_factorization = factors, .learning_signal = SignalSource::RandomFeedback};
        if (factors == TraceFactorization::IoFactorized) axes.decay = 0.9;
        RandomFeedback feedback{.from_output = true, .key = 4};
        if (given) feedback.given = {{Path::dotted("a.h"), B}};
        const auto learner = compile(*model, ETraceConfig(axes), row(xs, 0), {.feedback = feedback});
        set_states(*model, 21);
        return run(*learner);
      };
      const Gradients want = learn([&](OnlineLearner& l) {
        Gradients total;
        for (int64_t t = 0; t < T; ++t) {
          const auto loss = [&](Tensor x) { return row(mask, t) * squared(l(x) - row(ys, t)); };
          const auto now  = grad(loss, l.model().params())(row(xs, t));
          total           = t == 0 ? now : total + now;
        }
        return total;
      });
      EXPECT_GT(difference(want, want).weakest, 1e-3);
      const auto traced = [](const std::string& leaf) { return leaf.find(".Wr.") == std::string::npos; };
      for (const Window window : {Window::of(1), Window::of(2), Window::all()}) {
        const auto sweep = [&](auto step) {
          return learn([&](OnlineLearner& l) {
            return etrace_grad([&](Tensor x, Tensor y) { return step(l, x, y); }, l,
                               {.mask = mask, .window = window, .reduction = Reduction::Sum})(xs, ys)
                .grads;
          });
        };
        const LeafFilter chosen = window.code == 1 ? LeafFilter() : traced;
        EXPECT_LT(gap(sweep([](OnlineLearner& l, auto& x, auto& y) { return squared(l(x) - y); }), want, chosen), exact)
            << given << window.code;
        if (given || window.code > 0) continue;
        const auto jitted = [](OnlineLearner& l, auto& x, auto& y) {
          return jit([&](Tensor in) { return squared(l(in) - y); })(x);
        };
        EXPECT_LT(gap(sweep(jitted), want, chosen), exact) << given << window.code;
      }
    }
}

// The output is the state itself, which another state reads: δ is what the loss reads of it, and nothing else.
TEST(OutputFeedback, IsWhatTheLossReadsOfTheOutput) {
  const auto run = [&](bool swept) {
    random::seed(3);
    auto       cell = zoo::make_cell();
    auto       W    = cell->linear("W", 2, 3);
    const auto h = cell->hidden("h", {3}), u = cell->hidden("u", {3});
    cell->step = [=](const Tensor& x) mutable {
      h.set(0.7 * h.value() + tanh(W(x)));
      u.set(0.5 * u.value() + h.value());
      return h.value();
    };
    init_all_states(*cell);
    const auto learner = compile(*cell, ETraceConfig(RuleAxes{.learning_signal = SignalSource::RandomFeedback}),
                                 row(xs, 0), {.feedback = RandomFeedback{.from_output = true}});
    const auto loss    = [&](const Tensor& x) {
      const Tensor y = (*learner)(x);
      return loss_of(y) + squared(u.value());
    };
    if (swept) return etrace_grad([&](Tensor x) { return loss(x); }, *learner, {.reduction = Reduction::Sum})(xs).grads;
    Gradients total;
    for (int64_t t = 0; t < T; ++t) {
      const auto now = grad([&](Tensor x) { return loss(x); }, cell->params())(row(xs, t));
      total          = t == 0 ? now : total + now;
    }
    return total;
  };
  const Gradients want = run(false);
  EXPECT_GT(difference(want, want).weakest, 1e-4);
  EXPECT_LT(gap(run(true), want), exact);
}

// ---- readouts and the order in which a step function touches states

TEST(Surroundings, MayReadOutAndTouchStatesInAnyOrder) {
  for (const std::string rule : {"rtrl", "uoro", "d_rtrl"}) {
    auto             model = make_model(chain({layer("lstm", 2, 2), layer("gru", 2, 2)}));
    const ParamState out(normal({DType::F64, {2, 2}}, 7));
    const auto       learner = compile(*model, rule, row(xs, 0), options_of(rule));
    StateMap         wanted  = model->params();
    wanted.emplace_back(Path::dotted("out"), out);
    const auto step = [&](auto& f, const Tensor& x) {
      Tensor decay(0.0);  // weights and states, last first
      for (auto it = wanted.rbegin(); it != wanted.rend(); ++it)
        for (const std::string& leaf : it->second.leaf_names()) decay = decay + 0.01 * squared(it->second.leaf(leaf));
      const Tensor late = model->state_at(Path::dotted("b.h")).value();
      return decay + loss_of(dot(f(x), out.value())) + 0.1 * squared(late);
    };
    const auto stepped = [&](auto& f, bool separate) {
      set_states(*model, 21);
      if (!separate)
        return grad(
            [&](Tensor in) {
              Tensor total(0.0);
              for (int64_t t = 0; t < T; ++t) total = total + step(f, row(in, t));
              return total;
            },
            wanted)(xs);
      Gradients total;
      for (int64_t t = 0; t < T; ++t) {
        const auto now = grad([&](Tensor x) { return step(f, x); }, wanted)(row(xs, t));
        total          = t == 0 ? now : total + now;
      }
      return total;
    };
    const Gradients want = stepped(*learner, true);
    learner->init_etrace_state();
    set_states(*model, 21);
    const auto       got = etrace_grad([&](Tensor x) { return step(*learner, x); }, *learner,
                                 {.window = Window::of(1), .reduction = Reduction::Sum, .weights = wanted})(xs);
    const Difference d   = difference(got.grads, want);
    EXPECT_LT(d.worst, exact) << rule << d.leaf;
    EXPECT_GT(d.weakest, 1e-4) << rule;
    if (rule == "rtrl") {
      EXPECT_LT(gap(want, stepped(*model, false)), 1e-10);
    }
  }
}

// ---- weights made of weights

// h ← 0.7 h + tanh(x W), W made of V and a context c.
struct Hyper {
  std::shared_ptr<zoo::Cell> cell;

  explicit Hyper(const std::function<Tensor(const Tensor& c, const Tensor& V)>& make, bool from_input = false) {
    random::seed(3);
    cell            = zoo::make_cell();
    const auto   V  = cell->param("V", {2, 6});
    const auto   h  = cell->hidden("h", {3});
    const Tensor c0 = normal({DType::F64, {1, 2}}, 6);
    cell->step      = [=](const Tensor& x) {
      const Tensor c = from_input ? expand_dims(x, 0) : c0;
      h.set(0.7 * h.value() + tanh(matmul(x, reshape(make(c, V.value()), {2, 3}))));
      return h.value();
    };
    init_all_states(*cell);
    set_states(*cell, 21);
  }
  Gradients whole() {
    set_states(*cell, 21);
    return unrolled(*cell, xs, m);
  }
  Gradients same_step() {
    set_states(*cell, 21);
    return one_by_one([&](const Tensor& x) { return (*cell)(x); }, cell->params(), false);
  }
  template <class Learner = D_RTRL>
  Gradients learned(const std::vector<int64_t>& windows = {}) {
    Learner learner(*cell);
    learner.compile_graph(row(xs, 0));
    set_states(*cell, 21);
    return windows.empty() ? stepwise(learner, xs, m) : windowed(learner, xs, m, windows);
  }
};
Tensor made_by_matmul(const Tensor& c, const Tensor& V) { return tanh(matmul(c, V)); }
Tensor made_by_dot(const Tensor& c, const Tensor& V) { return tanh(dot(c, V)); }

TEST(Hypernetworks, TheOperationDecides) {
  Hyper fixed(made_by_matmul);
  EXPECT_LT(gap(fixed.learned(), fixed.whole()), exact);
  EXPECT_LT(gap(fixed.learned({2, 3}), fixed.whole()), exact);
  EXPECT_LT(gap(fixed.learned<RTRL>(), fixed.whole()), exact);
  D_RTRL learner(*fixed.cell);
  learner.compile_graph(row(xs, 0));
  ASSERT_EQ(learner.graph().hidden_param_op_relations.size(), 1u);
  EXPECT_TRUE(learner.graph().hidden_param_op_relations[0].carries_trace());

  // A context that depends on the input: a trace of W does not determine one of V. Windows compute the exact gradient.
  Hyper varying(made_by_matmul, true);
  EXPECT_LT(gap(varying.learned(), varying.same_step()), exact);
  EXPECT_LT(gap(varying.learned({5}), varying.whole()), exact);
  EXPECT_GT(gap(varying.same_step(), varying.whole()), 1e-2);

  // Plain products give the same-step gradient, also in windows.
  for (const bool from_input : {false, true}) {
    Hyper plain(made_by_dot, from_input);
    EXPECT_LT(gap(plain.learned(), plain.same_step()), exact) << from_input;
    EXPECT_LT(gap(plain.learned({5}), plain.same_step()), exact) << from_input;
    EXPECT_GT(gap(plain.same_step(), plain.whole()), 1e-2) << from_input;
  }
}

// h ← 0.7 h + tanh(x W) + y with y = c V and W made of y: V reaches the state along two paths, each counted once. If
// W is also made of a product of the input, only windows follow V through it.
TEST(Hypernetworks, AWeightMayAlsoDriveTheState) {
  Hyper        both(made_by_matmul);
  const auto   h = both.cell->hidden("both", {6});
  const auto   V = both.cell->params()[0].second;
  const Tensor c = normal({DType::F64, {1, 2}}, 6), k = normal({DType::F64, {2, 6}}, 7);
  both.cell->step = [=](const Tensor& x) {
    const Tensor y = matmul(c, V.value());
    h.set(0.7 * h.value() + tanh(matmul(x, tanh(y) * k)) + reshape(y, {6}));
    return h.value();
  };
  init_all_states(*both.cell);
  EXPECT_LT(gap(both.learned(), both.whole()), exact);
  EXPECT_LT(gap(both.learned({5}), both.whole()), exact);
  EXPECT_LT(gap(both.learned({2, 3}), both.whole()), exact);

  const auto U    = both.cell->param("U", {2, 6});
  both.cell->step = [=](const Tensor& x) {
    const Tensor y = matmul(c, V.value()), z = matmul(expand_dims(x, 0), U.value());
    h.set(0.7 * h.value() + tanh(matmul(x, tanh(y) * k + z)) + reshape(y, {6}));
    return h.value();
  };
  EXPECT_LT(gap(both.learned({5}), both.whole()), exact);
}

// ---- inputs

TEST(Inputs, HaveTheSameStepGradientUnderRulesWithTraces) {
  auto       model     = make_model(layer("gru", 2, 3));
  const auto of_inputs = [&](const std::function<Tensor(const Tensor&)>& loss) {
    set_states(*model, 21);
    return grad<0>([&](Tensor in) { return loss(in); })(xs);
  };
  Tensors same_step;
  set_states(*model, 21);
  for (int64_t t = 0; t < T; ++t)
    same_step.push_back(grad<0>([&](Tensor x) { return loss_of((*model)(x)); })(row(xs, t)));
  const Tensor want  = stack(same_step, 0);
  const Tensor whole = of_inputs([&](const Tensor& in) {
    Tensor total(0.0);
    for (int64_t t = 0; t < T; ++t) total = total + loss_of((*model)(row(in, t)));
    return total;
  });
  ASSERT_GT(max(abs(whole - want)).item(), 1e-2);
  for (const std::string rule : rules) {
    const auto   learner = compile(*model, rule, row(xs, 0), options_of(rule));
    const Tensor got     = of_inputs([&](const Tensor& in) { return weighted((*learner)(MultiStepData{{in}}), m); });
    const bool   reverse = learner->vjp_method() == VjpMethod::MultiStep;  // inside the window
    EXPECT_EQ(reverse, rule == "uoro" || rule == "rtrl");
    EXPECT_LT(max(abs(got - (reverse ? whole : want))).item(), exact) << rule;
  }
}

}  // namespace

}  // namespace braintrace

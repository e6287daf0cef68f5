// SPDX-License-Identifier: Apache-2.0
// Credit for the model's states that a function around a learner reads, and for states that it changes:
// statements of docs/credit.md, compared with plain reverse mode over the unrolled model.
#include <gtest/gtest.h>

#include "braintrace/algorithms/d_rtrl.h"
#include "braintrace/algorithms/drivers.h"
#include "braintrace/algorithms/etrace_vmap.h"
#include "braintrace/etp/dense.h"
#include "braintrace/functions/loops.h"
#include "braintrace/ops/compare.h"
#include "braintrace/zoo/cell.h"
#include "tests/algorithms/credit.h"
#include "tests/support/error_of.h"

namespace braintrace {

namespace {

// h ← 0.7 h + tanh(W x); returns h, or what a loss reads of it and of the old state.
struct Leaky {
  std::shared_ptr<zoo::Cell> cell = (random::seed(3), zoo::make_cell());
  State                      h    = cell->hidden("h", {3});

  explicit Leaky(bool reads_inside = false, BatchSize batch = {}) {
    auto W     = cell->linear("W", 2, 3);
    cell->step = [=, h = h](const Tensor& x) mutable {
      const Tensor old = h.value();
      h.set(0.7 * old + tanh(W(x)));
      return reads_inside ? read(h.value(), old) : h.value();
    };
    init_all_states(*cell, {.batch_size = batch});
  }
  static Tensor read(const Tensor& y, const Tensor& old) { return y * old + 0.5 * old; }
};

// The loss reads the old state outside the learner: the same as inside the model, for every rule and way to request it.
TEST(OldStates, OutsideTheModelAreAsInside) {
  for (const std::string rule : rules) {
    const Gradients want = [&] {
      Leaky      inside(true);
      const auto learner = compile(*inside.cell, rule, row(xs, 0), options_of(rule));
      set_states(*inside.cell, 21);
      return stepwise(*learner, xs, m);
    }();
    ASSERT_GT(difference(want, want).weakest, 1e-3) << rule;
    Leaky      r;
    const auto learner = compile(*r.cell, rule, row(xs, 0), options_of(rule));
    const auto start   = [&] {
      set_states(*r.cell, 21);
      learner->init_etrace_state();
    };
    const Call step = [&](const Tensor& x) {
      const Tensor old = r.h.value();
      return Leaky::read((*learner)(x), old);
    };
    for (const bool jitted : {false, true}) {
      start();
      EXPECT_LT(gap(one_by_one(step, r.cell->params(), jitted), want), exact) << rule << jitted;
    }
    if (rule == "uoro") continue;  // in one gradient it goes back through the steps, in several it draws for them
    start();
    EXPECT_LT(gap(in_one(step, r.cell->params()), want), exact) << rule;
    start();
    const auto looped = [&](Tensor in) { return sum(for_loop([&](Tensor x) { return loss_of(step(x)); }, in)); };
    EXPECT_LT(gap(grad(looped, r.cell->params())(xs), want), exact) << rule;
    start();
    const auto swept =
        etrace_grad([&](Tensor x) { return loss_of(step(x)); }, *learner, {.reduction = Reduction::Sum})(xs);
    EXPECT_LT(gap(swept.grads, want), exact) << rule;
  }
}

TEST(OldStates, OutsideTheModelAreExactWhereTheRuleIs) {
  const auto run = [&](Module& model, const std::string& rule, const State& h) {
    const auto whole = [&] {
      set_states(model, 21);
      return in_one(
          [&](const Tensor& x) {
            const Tensor old = h.value();
            return Leaky::read(model(x), old);
          },
          model.params());
    }();
    const auto learner = compile(model, rule, row(xs, 0));
    set_states(model, 21);
    const Call step = [&](const Tensor& x) {
      const Tensor old = h.value();
      return Leaky::read((*learner)(x), old);
    };
    const Difference d = difference(one_by_one(step, model.params(), false), whole);
    EXPECT_GT(d.weakest, 1e-3);
    return d.worst;
  };
  Leaky diagonal;
  EXPECT_LT(run(*diagonal.cell, "d_rtrl", diagonal.h), exact);
  auto        gru = make_model(layer("gru", 2, 3));
  const State h   = gru->state_at(Path::dotted("h"));
  EXPECT_LT(run(*gru, "rtrl", h), exact);
  EXPECT_GT(run(*gru, "d_rtrl", h), 1e-3);
  EXPECT_GT(run(*diagonal.cell, "bptt", diagonal.h), 1e-2);  // remembers nothing between gradients
}

// A gradient of a bare model is not affected by learners that were made of it.
TEST(OldStates, HaveNoTracesWithoutALearner) {
  Leaky      r, bare;
  const auto learner = compile(*r.cell, "d_rtrl", row(xs, 0));
  const auto step    = [](Leaky& of) {
    return one_by_one(
        [&](const Tensor& x) {
          const Tensor old = of.h.value();
          return Leaky::read((*of.cell)(x), old);
        },
        of.cell->params(), false);
  };
  set_states(*r.cell, 21);
  (*learner)(row(xs, 0));
  bare.h.set(r.h.value());
  EXPECT_EQ(gap(step(r), step(bare)), 0);
}

TEST(OldStates, CountOnceWhenTheirOwnGradientIsWanted) {
  Leaky      r;
  const auto learner = compile(*r.cell, "d_rtrl", row(xs, 0));
  const auto at_last = [&](const StateMap& more) {
    set_states(*r.cell, 21);
    learner->reset_state();
    for (int64_t t = 0; t + 1 < T; ++t) (*learner)(row(xs, t));
    StateMap wanted = r.cell->params();
    wanted.insert(wanted.end(), more.begin(), more.end());
    return grad(
        [&](Tensor x) {
          const Tensor old = r.h.value();
          return loss_of(Leaky::read((*learner)(x), old));
        },
        wanted)(row(xs, T - 1));
  };
  const StateMap  hidden{{Path::dotted("h"), r.h}};
  const Gradients params = at_last({}), all = at_last(hidden);
  EXPECT_GT(difference(params, params).weakest, 1e-3);
  EXPECT_LT(gap(all, params), exact);
  set_states(*r.cell, 21);
  for (int64_t t = 0; t + 1 < T; ++t) (*r.cell)(row(xs, t));
  const Gradients want = grad(
      [&](Tensor x) {
        const Tensor old = r.h.value();
        return loss_of(Leaky::read((*r.cell)(x), old));
      },
      hidden)(row(xs, T - 1));
  EXPECT_LT(max(abs(all["h"] - want["h"])).item(), exact);
}

TEST(OldStates, InLanesAndBatches) {
  constexpr int64_t B     = 2;
  const Tensor      batch = normal({DType::F64, {T, B, 2}}, 5);
  const auto        run   = [&](Leaky& r, const std::function<Tensor(const Tensor&)>& call) {
    set_states(*r.cell, 21);
    Gradients total;
    for (int64_t t = 0; t < T; ++t) {
      const Gradients now = grad(
          [&](Tensor x) {
            const Tensor old = r.h.value();
            return loss_of(Leaky::read(call(x), old));
          },
          r.cell->params())(row(batch, t));
      total = t == 0 ? now : total + now;
    }
    return total;
  };
  Leaky  one(false, B);
  D_RTRL batched(*one.cell);
  batched.compile_graph(row(batch, 0));
  const Gradients want = run(one, [&](const Tensor& x) { return batched(x); });
  EXPECT_GT(difference(want, want).weakest, 1e-3);
  Leaky  two;
  D_RTRL single(*two.cell);
  single.compile_graph(row(xs, 0));
  ETraceVmap lanes(single, B);
  EXPECT_LT(gap(run(two, [&](const Tensor& x) { return lanes(x); }), want), exact);
}

// A parameter whose effective weight depends on the input: only the model can apply the trace to it.
TEST(OldStates, AreRefusedWhereTheTraceNeedsTheInput) {
  random::seed(3);
  auto       cell = zoo::make_cell();
  const auto w    = cell->param("w", {2, 3});
  const auto h    = cell->hidden("h", {3});
  cell->step      = [=](const Tensor& x) {
    h.set(0.7 * h.value() + tanh(matmul(x, w.value() * expand_dims(x, -1))));
    return h.value();
  };
  init_all_states(*cell);
  D_RTRL learner(*cell);
  learner.compile_graph(row(xs, 0));
  const auto loss = [&](bool reads) {
    return grad(
        [&, reads](Tensor x) {
          const Tensor old = h.value(), y = learner(x);
          return loss_of(reads ? y * old : y);
        },
        cell->params())(row(xs, 0));
  };
  loss(false);
  EXPECT_NE(error_of([&] { loss(true); }).find("depends on the input of the step"), std::string::npos);
}

// A state that the model only writes has no trace; a loss that reads its old value fails with that message.
TEST(OldStates, AreRefusedWhereTheModelReadsNoneOfThem) {
  random::seed(3);
  auto       cell = zoo::make_cell();
  const auto w    = cell->param("w", {2, 3});
  const auto h = cell->hidden("h", {3}), last = cell->hidden("last", {3});
  cell->step = [=](const Tensor& x) {
    last.set(tanh(matmul(x, w.value())));
    h.set(0.7 * h.value() + last.value());
    return h.value();
  };
  init_all_states(*cell);
  D_RTRL learner(*cell);
  learner.compile_graph(row(xs, 0));
  const auto gradient = [&](const State& read) {
    return grad(
        [&](Tensor x) {
          const Tensor old = read.value(), y = learner(x);
          return loss_of(y * old);
        },
        cell->params())(row(xs, 0));
  };
  gradient(h);
  const std::string message = error_of([&] { gradient(last); });
  EXPECT_NE(message.find("reads the old value of state 'last' outside the model"), std::string::npos) << message;
}

// The old state comes back as an input: the current step is exact, the trace does not follow it.
TEST(OldStates, AsInputsHaveTheCreditOfOneStep) {
  const auto apart = [](int64_t steps) {
    Leaky      r;
    const auto learner = compile(*r.cell, "rtrl", row(xs, 0));
    const auto loss    = [&](auto& f, const Tensor& x) { return loss_of(f(x + slice_axis(r.h.value(), 0, 0, 2))); };
    set_states(*r.cell, 21);
    const Gradients want = grad(
        [&](Tensor in) {
          for (int64_t t = 0; t + 1 < steps; ++t) loss(*r.cell, row(in, t));
          return loss(*r.cell, row(in, steps - 1));
        },
        r.cell->params())(xs);
    set_states(*r.cell, 21);
    Gradients got;
    for (int64_t t = 0; t < steps; ++t)
      got = grad([&](Tensor x) { return loss(*learner, x); }, r.cell->params())(row(xs, t));
    return gap(got, want);
  };
  EXPECT_LT(apart(2), exact);
  EXPECT_GT(apart(3), 1e-3);
}

// ---- states that the function around the learner changes

TEST(ChangedStates, BetweenCallsAreRefused) {
  Leaky      r;
  const auto learner = compile(*r.cell, "d_rtrl", row(xs, 0));
  const auto params  = r.cell->params();
  const auto halve   = [&] { r.h.set(0.5 * r.h.value()); };
  const auto says    = [&](const std::function<Tensor(const Tensor&)>& loss) {
    set_states(*r.cell, 21);
    return error_of([&] { grad([&](Tensor in) { return loss(in); }, params)(xs); });
  };
  const auto call      = [&](const Tensor& in, int64_t t) { return loss_of((*learner)(row(in, t))); };
  const char outside[] = "state 'h' was changed outside the model";
  EXPECT_NE(says([&](const Tensor& in) {
              const Tensor first = call(in, 0);
              halve();
              return first + call(in, 1);
            }).find(outside),
            std::string::npos);
  EXPECT_NE(says([&](const Tensor& in) {
              halve();
              return call(in, 0);
            }).find(outside),
            std::string::npos);
  EXPECT_NE(says([&](const Tensor& in) {
              const Tensor y = (*learner)(row(in, 0));
              r.h.set(2 * y);
              return call(in, 1);
            }).find(outside),
            std::string::npos);
  EXPECT_NE(says([&](const Tensor& in) {
              halve();
              return sum(for_loop([&](Tensor x) { return loss_of((*learner)(x)); }, in));
            }).find(outside),
            std::string::npos);
  EXPECT_NE(says([&](const Tensor& in) {
              return sum(for_loop(
                  [&](Tensor x) {
                    const Tensor l = loss_of((*learner)(x));
                    halve();
                    return l;
                  },
                  in));
            }).find("state 'h': a loop changes it after a learner's step"),
            std::string::npos);
  // The new value may be computed outside the body that writes it.
  EXPECT_NE(says([&](const Tensor& in) {
              const Tensor old = r.h.value();
              return sum(for_loop(
                  [&](Tensor x) {
                    r.h.set(sum(x) * old);
                    return loss_of((*learner)(x));
                  },
                  in));
            }).find(outside),
            std::string::npos);
  EXPECT_NE(says([&](const Tensor& in) {
              const Tensor old = r.h.value();
              return cond(
                  greater(sum(in), 0.0),
                  [&](Tensor x) {
                    r.h.set(sum(x) * old);
                    return call(x, 0);
                  },
                  [&](Tensor x) { return call(x, 0); }, in);
            }).find(outside),
            std::string::npos);
  // Under BPTT, reverse mode passes through the change.
  const auto bptt = compile(*r.cell, "bptt", row(xs, 0));
  set_states(*r.cell, 21);
  const Gradients got = in_one(
      [&](const Tensor& x) {
        halve();
        return (*bptt)(x);
      },
      params);
  set_states(*r.cell, 21);
  EXPECT_LT(gap(got, in_one(
                         [&](const Tensor& x) {
                           halve();
                           return (*r.cell)(x);
                         },
                         params)),
            exact);
}

TEST(ChangedStates, ToValuesOfTheirOwnAreFine) {
  Leaky      r;
  const auto learner = compile(*r.cell, "d_rtrl", row(xs, 0));
  const auto rebuild = [&] {
    r.h.set(ones({3}, DType::F64));
    learner->reset_state();
  };
  const Call step = [&](const Tensor& x) {
    rebuild();
    return (*learner)(x);
  };
  const Gradients want = in_one(
      [&](const Tensor& x) {
        r.h.set(ones({3}, DType::F64));
        return (*r.cell)(x);
      },
      r.cell->params());
  EXPECT_GT(difference(want, want).weakest, 1e-3);
  EXPECT_LT(gap(in_one(step, r.cell->params()), want), exact);
  const auto looped = [&](Tensor in) { return sum(for_loop([&](Tensor x) { return loss_of(step(x)); }, in)); };
  EXPECT_LT(gap(grad(looped, r.cell->params())(xs), want), exact);
  // A parameter that sets the initial state has the gradient of the first step.
  const ParamState first(normal({DType::F64, {3}}, 7));
  const StateMap   wanted{{Path::dotted("first"), first}};
  const auto       from = [&](auto& f) {
    learner->reset_state();
    return grad(
        [&](Tensor x) {
          r.h.set(first.value());
          return loss_of(f(x));
        },
        wanted)(row(xs, 0));
  };
  EXPECT_LT(gap(from(*learner), from(*r.cell)), exact);
  const auto in_loop = [&](Tensor in) {
    r.h.set(first.value());
    return sum(for_loop([&](Tensor x) { return loss_of((*learner)(x)); }, in));
  };
  EXPECT_EQ(grad(in_loop, wanted)(xs).squared_norm().item(), 0);
}

// In etrace_grad the change is part of the step that is compiled.
TEST(ChangedStates, InsideAStepFunctionAreFollowed) {
  Leaky      r;
  const auto learner = compile(*r.cell, "d_rtrl", row(xs, 0));
  const auto step    = [&](auto& f, const Tensor& x) {
    r.h.set(0.5 * r.h.value());
    return f(x);
  };
  set_states(*r.cell, 21);
  const Gradients want = in_one([&](const Tensor& x) { return step(*r.cell, x); }, r.cell->params());
  for (const Window window : {Window::of(1), Window::of(2), Window::all()}) {
    set_states(*r.cell, 21);
    learner->reset_state();
    const auto got = etrace_grad([&](Tensor x) { return loss_of(step(*learner, x)); }, *learner,
                                 {.window = window, .reduction = Reduction::Sum})(xs);
    EXPECT_LT(gap(got.grads, want), exact) << window.code;
  }
}

// A learner inside jit or cond behaves as without them.
TEST(SeveralCalls, ThroughJitAndCondCountOnce) {
  auto       model   = make_model(chain({layer("gru", 2, 3), linear(3, 2)}));
  const auto learner = compile(*model, "d_rtrl", row(xs, 0));
  set_states(*model, 21);
  const Gradients want = stepwise(*learner, xs, m);
  const auto      run  = [&](const Call& step) {
    set_states(*model, 21);
    learner->reset_state();
    return gap(in_one(step, model->params()), want);
  };
  const auto jitted = jit([&](Tensor x) { return (*learner)(x); });
  jitted(row(xs, 0));
  EXPECT_LT(run([&](const Tensor& x) { return jitted(x); }), exact);
  const auto choice = [&](const Tensor& x) {
    return cond(
        Tensor(Array::scalar(DType::Bool, 1)), [&](Tensor in) { return (*learner)(in); },
        [&](Tensor) { return zeros({2}, DType::F64); }, x);
  };
  EXPECT_LT(run(choice), exact);
}

}  // namespace

}  // namespace braintrace

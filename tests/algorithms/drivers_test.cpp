// SPDX-License-Identifier: Apache-2.0
// Gradients over sequences are sums of the gradients of steps, for all windows, masks and ways to request them.
#include "braintrace/algorithms/drivers.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "braintrace/algorithms/compile.h"
#include "braintrace/algorithms/d_rtrl.h"
#include "braintrace/algorithms/etrace_vmap.h"
#include "braintrace/executor/window_program.h"
#include "tests/algorithms/support.h"
#include "tests/support/error_of.h"

namespace braintrace {

namespace {

constexpr int64_t T     = 7;
constexpr double  exact = 1e-12;

const json all_direct = chain({layer("diag_rnn", 3, 4), linear(4, 2)});
const json gru        = chain({layer("gru", 3, 4), linear(4, 2)});

// A learner on a model in random states, with inputs and targets of T steps.
struct Learning {
  std::shared_ptr<Module>        model;
  std::unique_ptr<OnlineLearner> learner;
  Tensor                         xs, ys;

  explicit Learning(const json& description = all_direct, BatchSize batch = {}, const std::string& rule = "d_rtrl")
      : model(make_model(description, batch)), xs(normal(sequence(batch, 3), 5)), ys(normal(sequence(batch, 2), 6)) {
    learner = compile(*model, rule, row(xs, 0), {}, {.batch_size = batch});
    set_states(*model, 11);
  }
  static Type sequence(BatchSize batch, int64_t n) {
    Type type{DType::F64, {T, n}};
    if (batch) type.shape.insert(type.shape.begin() + 1, *batch);
    return type;
  }

  Tensor step(const Tensor& x, const Tensor& y) { return squared((*learner)(x)-y); }
  auto   sweep(const Tensor& x, const Tensor& y, const EtraceGradOptions& options = {.reduction = Reduction::Sum}) {
      return etrace_grad([this](Tensor a, Tensor b) { return step(a, b); }, *learner, options)(x, y);
  }
  auto sweep(const EtraceGradOptions& options = {.reduction = Reduction::Sum}) { return sweep(xs, ys, options); }

  // Σ_t m_t ∇_t, windows of one step only.
  Gradients by_hand(const std::vector<double>& m) {
    const auto g = jit(grad([this](Tensor x, Tensor y, Tensor w) { return w * step(x, y); }, model->params()));
    Gradients  total;
    for (int64_t t = 0; t < T; ++t) {
      const Gradients now = g(row(xs, t), row(ys, t), f64(m[static_cast<size_t>(t)]));
      total               = t == 0 ? now : total + now;
    }
    return total;
  }
};

Tensor                    mask_of(const std::vector<double>& m) { return Tensor(Array::of<double>(m, {T})); }
const std::vector<double> ones(T, 1.0);

Tensors states_of(const Learning& r) {
  Tensors out = r.learner->memory();
  for (const auto& [path, state] : r.learner->hidden_states()) out.push_back(state.value());
  return out;
}
double apart(const Tensors& a, const Tensors& b) {
  double worst = 0;
  for (size_t i = 0; i < a.size(); ++i) worst = std::max(worst, max(abs(a[i] - b[i])).item());
  return worst;
}

TEST(EtraceGrad, SumIsTheHandWrittenLoop) {
  Learning        hand;
  const Gradients want = hand.by_hand(ones);
  for (const Window window : {Window::of(1), Window::of(2), Window::of(3), Window::of(20), Window::all(), Window()}) {
    Learning         r;
    const auto       got = r.sweep({.window = window, .reduction = Reduction::Sum});
    const Difference d   = difference(got.grads, want);
    EXPECT_LT(d.worst, exact) << window.code << " " << d.leaf;
    EXPECT_GT(d.weakest, 1e-3);
    EXPECT_LT(apart(states_of(r), states_of(hand)), exact) << window.code;
    EXPECT_EQ(r.learner->running_index(), (T + window.steps_of(T) - 1) / window.steps_of(T));
    EXPECT_EQ(got.losses.shape(), Shape{T});
  }
}

TEST(EtraceGrad, LossesAreThoseOfTheSteps) {
  Learning     r, bare;
  const Tensor losses = r.sweep().losses;
  for (int64_t t = 0; t < T; ++t)
    EXPECT_NEAR(row(losses, t).item(), squared((*bare.model)(row(bare.xs, t)) - row(bare.ys, t)).item(), exact);
}

TEST(EtraceGrad, WindowsChangeWindowedWeightsOnly) {
  Learning   hand(gru), narrow(gru), wide(gru);
  const auto steps    = hand.by_hand(ones);
  const auto one      = narrow.sweep({.window = Window::of(1), .reduction = Reduction::Sum}).grads;
  const auto all      = wide.sweep({.window = Window::all(), .reduction = Reduction::Sum}).grads;
  const auto is_reset = [](const std::string& leaf) { return leaf.find(".Wr.") != std::string::npos; };
  EXPECT_LT(gap(one, steps), exact);
  EXPECT_LT(gap(all, steps, [&](const std::string& leaf) { return !is_reset(leaf); }), exact);
  EXPECT_GT(gap(all, steps, is_reset), 1e-2);
}

TEST(EtraceGrad, MeanDividesOnceByTheMask) {
  const std::vector<double> m = {1, 0, 0.5, 2, 0, 0.25, 1}, little = {0, 0.25, 0, 0, 0, 0.5, 0};
  Learning                  plain, weighted, light;
  EXPECT_LT(gap(plain.sweep({}).grads, Learning().by_hand(ones) / Tensor(7.0)), exact);
  EXPECT_LT(
      gap(weighted.sweep({.mask = mask_of(m), .window = Window::of(3)}).grads, Learning().by_hand(m) / Tensor(4.75)),
      exact);
  EXPECT_LT(gap(light.sweep({.mask = mask_of(little)}).grads, Learning().by_hand(little)), exact);  // Σ m < 1
}

// Losses per sample: their mean is over steps and samples, as with a mask of ones.
TEST(EtraceGrad, MeanCountsEveryLoss) {
  constexpr int64_t B    = 3;
  const auto        mean = [&](const Tensor& mask, Reduction reduction, LossOutput output) {
    Learning r(all_direct, B);
    return etrace_grad([&](Tensor x, Tensor y) { return sum(square((*r.learner)(x)-y), Ints{-1}); }, *r.learner,
                       {.mask = mask, .reduction = reduction, .loss_output = output})(r.xs, r.ys);
  };
  const auto total = mean({}, Reduction::Sum, LossOutput::Scalar),
             plain = mean({}, Reduction::Mean, LossOutput::Scalar);
  ASSERT_GT(total.grads.squared_norm().item(), 1e-6);
  EXPECT_LT(gap(plain.grads, total.grads / Tensor(static_cast<double>(T * B))), exact);
  EXPECT_NEAR(plain.losses.item(), total.losses.item() / (T * B), exact);
  for (const Shape& shape : {Shape{T}, Shape{T, B}}) {
    const auto masked = mean(full(shape, 1.0, DType::F64), Reduction::Mean, LossOutput::Scalar);
    EXPECT_EQ(gap(masked.grads, plain.grads), 0) << to_string(shape);
    EXPECT_EQ(masked.losses.item(), plain.losses.item()) << to_string(shape);
  }
}

TEST(EtraceGrad, MasksGateTheLossAndNothingElse) {
  const std::vector<double> late = {0, 0, 0, 1, 1, 1, 1}, holes = {1, 0, 0, 1, 0, 1, 1};
  const auto                tail = [](const Tensor& t) { return slice_axis(t, 0, 3, T); };
  for (const Window window : {Window::of(1), Window::of(2), Window::all()}) {
    Learning   masked, evolved, shortened, gaps;
    const auto got = masked.sweep({.mask = mask_of(late), .window = window, .reduction = Reduction::Sum}).grads;
    etrace_evolve(*evolved.learner, slice_axis(evolved.xs, 0, 0, 3));
    EXPECT_LT(gap(got, evolved.sweep(tail(evolved.xs), tail(evolved.ys)).grads), exact);
    EXPECT_LT(apart(states_of(masked), states_of(evolved)), exact);
    // A shorter sequence has a different gradient.
    EXPECT_GT(gap(got, shortened.sweep(tail(shortened.xs), tail(shortened.ys)).grads), 1e-2);
    EXPECT_LT(gap(gaps.sweep({.mask = mask_of(holes), .window = window, .reduction = Reduction::Sum}).grads,
                  Learning().by_hand(holes)),
              exact);
  }
  Learning   r, hand;
  const auto none = r.sweep({.mask = mask_of(std::vector<double>(T, 0.0))}).grads;
  EXPECT_EQ(none.squared_norm().item(), 0);
  hand.by_hand(ones);
  EXPECT_LT(apart(states_of(r), states_of(hand)), exact);
}

// Sequences of different length in one batch: a mask with one entry per step and sample, losses per sample.
TEST(EtraceGrad, VariableLengthBatchesByMask) {
  const std::vector<int64_t> lengths = {7, 3, 5};
  std::vector<double>        m;
  for (int64_t t = 0; t < T; ++t)
    for (int64_t n : lengths) m.push_back(t < n ? 1 : 0);
  Learning   batch(all_direct, 3);
  const auto step = [&](Tensor x, Tensor y) { return sum(square((*batch.learner)(x)-y), Ints{-1}); };
  const auto got =
      etrace_grad(step, *batch.learner,
                  {.mask = Tensor(Array::of<double>(m, {T, 3})), .window = Window::of(3), .reduction = Reduction::Sum})(
          batch.xs, batch.ys);
  EXPECT_EQ(got.losses.shape(), (Shape{T, 3}));
  Gradients want;
  for (int64_t b = 0; b < 3; ++b) {
    const auto sample = [&](const Tensor& t) {
      return squeeze(slice_axis(slice_axis(t, 1, b, b + 1), 0, 0, lengths[static_cast<size_t>(b)]), {1});
    };
    Learning     one, start(all_direct, 3);
    const Tensor h = start.model->state_at(Path::dotted("a.h")).value();
    one.model->state_at(Path::dotted("a.h")).set(row(h, b));
    const auto g = one.sweep(sample(batch.xs), sample(batch.ys)).grads;
    want         = b == 0 ? g : want + g;
  }
  EXPECT_LT(gap(got.grads, want), exact);
}

TEST(EtraceGrad, SubsetOfWeights) {
  Learning   whole, some;
  const auto all = whole.sweep().grads;
  StateMap   out;
  for (const auto& [path, state] : some.model->params())
    if (path.str().rfind("out", 0) == 0) out.emplace_back(path, state);
  ASSERT_EQ(out.size(), 1u);
  const auto got = some.sweep({.reduction = Reduction::Sum, .weights = out}).grads;
  EXPECT_EQ(got.size(), 1u);
  const Path& path = out[0].first;
  EXPECT_LT(max(abs(got.at(path, "weight") - all.at(path, "weight"))).item(), exact);
}

TEST(EtraceGrad, SequencesInOrderAndAux) {
  Learning     r, bare;
  const Tensor scale = normal({DType::F64, {T}}, 9);
  const auto   step  = [&](Tensor x, Tensor y, Tensor s) {
    const Tensor out = (*r.learner)(x);
    return std::pair(s * squared(out - y), std::pair(out, s));
  };
  const auto got =
      etrace_grad(step, *r.learner, {.window = Window::of(3), .reduction = Reduction::Sum})(r.xs, r.ys, scale);
  EXPECT_EQ(got.aux.first.shape(), (Shape{T, 2}));
  EXPECT_EQ(max(abs(got.aux.second - scale)).item(), 0);
  for (int64_t t = 0; t < T; ++t)
    EXPECT_LT(max(abs(row(got.aux.first, t) - (*bare.model)(row(r.xs, t)))).item(), exact);
  std::vector<double> m;
  for (int64_t t = 0; t < T; ++t) m.push_back(row(scale, t).item());
  EXPECT_LT(gap(got.grads, Learning().by_hand(m)), exact);
}

TEST(EtraceGrad, LossOutputs) {
  const std::vector<double> m   = {1, 0, 2, 1, 0, 0, 1};
  const auto                ask = [&](LossOutput output, Reduction reduction) {
    Learning r;
    return r.sweep({.mask = mask_of(m), .reduction = reduction, .loss_output = output}).losses;
  };
  const Tensor all = ask(LossOutput::PerStep, Reduction::Sum), masked = ask(LossOutput::Masked, Reduction::Mean);
  ASSERT_GT(min(all).item(), 0);
  EXPECT_EQ(max(abs(masked - all * mask_of(m))).item(), 0);
  EXPECT_NEAR(ask(LossOutput::Scalar, Reduction::Sum).item(), sum(masked).item(), exact);
  EXPECT_NEAR(ask(LossOutput::Scalar, Reduction::Mean).item(), sum(masked).item() / 5, exact);
}

TEST(EtraceGrad, GoesOnFromCallToCall) {
  for (const char* rule : {"d_rtrl", "ostl_feedforward"}) {
    Learning   whole(all_direct, {}, rule), halves(all_direct, {}, rule);
    const auto part = [](const Tensor& t, int64_t from, int64_t to) { return slice_axis(t, 0, from, to); };
    const auto once = whole.sweep().grads;
    const auto a    = halves.sweep(part(halves.xs, 0, 4), part(halves.ys, 0, 4)).grads;
    const auto b    = halves.sweep(part(halves.xs, 4, T), part(halves.ys, 4, T)).grads;
    EXPECT_LT(gap(a + b, once), exact) << rule;
    EXPECT_LT(apart(states_of(whole), states_of(halves)), exact) << rule;
    // Without the traces of the first half, the second half would have a different gradient.
    Learning forgetful(all_direct, {}, "d_rtrl");
    forgetful.sweep(part(halves.xs, 0, 4), part(halves.ys, 0, 4));
    forgetful.learner->reset_state();
    EXPECT_GT(gap(forgetful.sweep(part(halves.xs, 4, T), part(halves.ys, 4, T)).grads, b), 1e-3) << rule;
  }
}

// Fails for a window of one step.
struct FailsLater : OnlineLearner {
  explicit FailsLater(Module& m) : OnlineLearner(m, std::make_shared<ParamDimRule>("D_RTRL")) {}
  Tensors aux(const std::optional<int64_t>& length) const override {
    require(length != 1, "no window of one step");
    return {};
  }
};
TEST(EtraceGrad, AFailingWindowLeavesEverythingAsItWas) {
  Learning r;
  auto     learner = compile<FailsLater>(*r.model, row(r.xs, 0));
  set_states(*r.model, 11);
  const auto step = [&](Tensor x) { return squared((*learner)(x)); };
  etrace_grad(step, *learner, {.window = Window::of(2)})(slice_axis(r.xs, 0, 0, 4));
  const auto everything = [&] {
    Tensors out = learner->memory();
    for (const auto& [path, state] : r.model->states())
      for (const std::string& leaf : state.leaf_names()) out.push_back(state.leaf(leaf));
    return out;
  };
  const Tensors before = everything();
  EXPECT_EQ(learner->running_index(), 2);
  EXPECT_NE(error_of([&] { etrace_grad(step, *learner, {.window = Window::of(3)})(r.xs); }).find("no window of one"),
            std::string::npos);
  EXPECT_EQ(apart(everything(), before), 0);
  EXPECT_EQ(learner->running_index(), 2);
}

TEST(EtraceGrad, RefusesWrongCalls) {
  const std::string nothing = error_of([] {
    Learning r;
    etrace_grad([&](std::vector<Tensor> x) { return r.step(x[0], x[1]); }, *r.learner)(std::vector<Tensor>{});
  });
  EXPECT_NE(nothing.find("there is no sequence"), std::string::npos) << nothing;

  struct Misuse {
    std::function<void(Learning&)> call;
    const char*                    says;
  };
  const auto short_ys = [](Learning& r) { return slice_axis(r.ys, 0, 0, 4); };
  for (const Misuse& m : {
           Misuse{[&](Learning& r) { r.sweep(r.xs, short_ys(r)); }, "sequences of 7 and 4 steps"},
           Misuse{[](Learning& r) { r.sweep(r.xs, Tensor(1.0)); }, "leading time axis"},
           Misuse{[](Learning& r) { r.sweep(slice_axis(r.xs, 0, 0, 0), slice_axis(r.ys, 0, 0, 0)); }, "empty"},
           Misuse{[](Learning& r) { r.sweep({.mask = Tensor(1.0)}); }, "one entry for each of 7 steps"},
           Misuse{[](Learning& r) {
                    r.sweep({.mask = normal({DType::F64, {6}}, 1)});
                  },
                  "one entry for each of 7 steps"},
           Misuse{[](Learning& r) {
                    r.sweep({.mask = normal({DType::F64, {T, 2}}, 1)});
                  },
                  "the shape [7] of the losses"},
           Misuse{[](Learning& r) { r.sweep({.window = Window::of(0)}); }, "at least one step, got 0"},
           Misuse{[](Learning& r) { r.sweep({.window = Window::of(-3)}); }, "at least one step, got -3"},
           Misuse{[](Learning& r) { r.sweep({.window = Window::of(2), .drop_traces = true}); },
                  "one window for the whole"},
           Misuse{[](Learning& r) {
                    etrace_grad([&](Tensor x) { return convert((*r.learner)(x), DType::I32); }, *r.learner)(r.xs);
                  },
                  "must return a loss"},
           Misuse{[](Learning& r) { etrace_grad([&](Tensor x) { return squared(x); }, *r.learner)(r.xs); },
                  "must call it once"},
           Misuse{[](Learning& r) {
                    r.sweep(normal({DType::F64, {T, 4}}, 1), r.ys);
                  },
                  "must have size 3"},
           Misuse{[](Learning& r) { etrace_evolve(*r.learner, Tensors{}); }, "there is no sequence"},
           Misuse{[](Learning& r) { etrace_evolve(*r.learner, Tensor(1.0)); }, "leading time axis"},
       }) {
    Learning          r;
    const Tensors     before  = states_of(r);
    const std::string message = error_of([&] { m.call(r); });
    EXPECT_NE(message.find(m.says), std::string::npos) << m.says << "\n  in: " << message;
    EXPECT_EQ(apart(states_of(r), before), 0) << m.says;
  }
  // Sequences are tensors; wrapped ones are not arguments of a step function.
  using Sweep = decltype(etrace_grad(std::declval<Tensor (*)(Tensor)>(), std::declval<OnlineLearner&>()));
  static_assert(!std::is_invocable_v<Sweep, MultiStepData> && std::is_invocable_v<Sweep, Tensor>);
}

// Equations of a program, bodies included, that compute an array of this shape.
int count_of_shape(const Program& p, const Shape& shape) {
  int n = 0;
  for (const Eqn& e : p.eqns) {
    for (Var v : e.out) n += p.type(v).shape == shape && !e.in.empty();
    for (const Attr& a : e.attrs)
      if (const auto* body = std::get_if<ProgramPtr>(&a.value)) n += count_of_shape(**body, shape);
  }
  return n;
}

TEST(EtraceGrad, DroppedTracesAreNeverFormed) {
  for (const json& description : {all_direct, gru}) {
    Learning   kept(description, 5), dropped(description, 5);
    const auto want = kept.sweep({.window = Window::all(), .reduction = Reduction::Sum}).grads;
    const auto got  = dropped.sweep({.window = Window::all(), .reduction = Reduction::Sum, .drop_traces = true}).grads;
    EXPECT_LT(gap(got, want), exact);
    for (const Tensor& t : dropped.learner->memory()) EXPECT_EQ(max(abs(t)).item(), 0);

    const OnlineLearner& l      = *dropped.learner;
    const auto           shaped = [&](bool fresh, const Shape& shape) {
      return count_of_shape(build_window_program(l.graph(), l.rule(), {.length = T, .fresh = fresh}).forward, shape);
    };
    for (const MemorySlot& slot : l.memory_slots()) {
      if (slot.type.shape.size() < 4) continue;  // [B,I,O,S]; that of a bias is as small as a state
      EXPECT_EQ(shaped(true, slot.type.shape), 0) << to_string(slot.type);
      EXPECT_GT(shaped(false, slot.type.shape), 0) << to_string(slot.type);
    }
  }
}

TEST(EtraceEvolve, AdvancesLikeSteps) {
  for (const json& description : {all_direct, gru}) {
    Learning     r(description), hand(description), bare(description), silent(description);
    const Tensor out = etrace_evolve(*r.learner, r.xs);
    hand.by_hand(ones);
    EXPECT_LT(apart(states_of(r), states_of(hand)), exact);
    EXPECT_EQ(r.learner->running_index(), T);
    for (int64_t t = 0; t < T; ++t) EXPECT_LT(max(abs(row(out, t) - (*bare.model)(row(bare.xs, t)))).item(), exact);
    EXPECT_TRUE(etrace_evolve(*silent.learner, Tensors{silent.xs}, false).empty());
    EXPECT_EQ(apart(states_of(silent), states_of(r)), 0);
  }
}

TEST(ETraceVmap, LanesBatchesAndSumsOverSamplesAgree) {
  for (const json& description : {all_direct, gru, chain({layer("lstm", 3, 4), linear(4, 2)})}) {
    constexpr int64_t B = 3;
    Learning          batch(description, B), lane(description);
    init_all_states(*batch.model, {.batch_size = B});
    init_all_states(*lane.model);
    ETraceVmap lanes(*lane.learner, B);
    const auto in_lanes = jit(grad([&](Tensor x, Tensor y) { return squared(lanes(x) - y); }, lane.model->params()));
    Gradients  got, want = batch.by_hand(ones), summed;
    for (int64_t t = 0; t < T; ++t) {
      const auto g = in_lanes(row(batch.xs, t), row(batch.ys, t));
      got          = t == 0 ? g : got + g;
    }
    for (int64_t b = 0; b < B; ++b) {
      Learning one(description);
      init_all_states(*one.model);
      const auto sample = [&](const Tensor& t) { return squeeze(slice_axis(t, 1, b, b + 1), {1}); };
      const auto g =
          one.sweep(sample(batch.xs), sample(batch.ys), {.window = Window::of(1), .reduction = Reduction::Sum}).grads;
      summed = b == 0 ? g : summed + g;
    }
    EXPECT_GT(difference(got, want).weakest, 1e-4);
    EXPECT_LT(gap(got, want), exact);
    EXPECT_LT(gap(summed, want), exact);
    EXPECT_EQ(lane.learner->hidden_states()[0].second.value().shape()[0], B);
    EXPECT_NE(error_of([&] { lanes(zeros({2, 3}, DType::F64)); }).find("3 lanes"), std::string::npos);
    EXPECT_NE(error_of([&] { lanes(Tensor(1.0)); }).find("3 lanes"), std::string::npos);
  }
  Learning r;
  EXPECT_NE(error_of([&] { ETraceVmap(*r.learner, 0); }).find("positive"), std::string::npos);
}

TEST(ETraceVmap, SweepsAlongSequencesAsABatchDoes) {
  constexpr int64_t B = 3;
  for (const json& description : {all_direct, gru}) {
    Learning   batch(description, B);
    const auto model = make_model(description, {});
    const auto lanes = compile_vmap(*model, "d_rtrl", row(batch.xs, 0), {}, {.batch_size = B});
    for (const auto& [path, state] : model->params()) {
      const State other = batch.model->state_at(path);
      for (const std::string& leaf : state.leaf_names()) state.set_leaf(leaf, other.leaf(leaf));
    }
    init_all_states(*batch.model, {.batch_size = B});
    const auto step = [&](Tensor x, Tensor y) { return squared((*lanes)(x)-y); };
    for (const Reduction reduction : {Reduction::Sum, Reduction::Mean}) {
      EtraceGradOptions options{.mask        = Array::of<double>({1, 0, 1, 1, 0, 1, 1}, {T}),
                                .reduction   = reduction,
                                .loss_output = LossOutput::Masked};
      const auto        got = jit([&](Tensor xs, Tensor ys) {
        const auto r = etrace_grad(step, *lanes, options)(xs, ys);
        return std::pair(r.grads, r.losses);
      })(batch.xs, batch.ys);
      options.window        = Window::of(1);
      const auto want       = batch.sweep(options);
      EXPECT_GT(difference(got.first, want.grads).weakest, 1e-4);
      EXPECT_LT(gap(got.first, want.grads), exact);
      EXPECT_LT(max(abs(got.second - want.losses)).item(), exact);
    }
    lanes->reset();
    batch.learner->reset();
    const Tensor out = etrace_evolve(*lanes, Tensors{batch.xs})[0], same = etrace_evolve(*batch.learner, batch.xs);
    EXPECT_LT(max(abs(out - same)).item(), exact);
    EXPECT_NE(error_of([&] {
                etrace_grad(step, *lanes, {.window = Window::of(2)})(batch.xs, batch.ys);
              }).find("windows of one step only"),
              std::string::npos);
  }
}

TEST(ETraceVmap, CompileWantsSamples) {
  const auto model = make_model(all_direct, {});
  const auto with  = [&](const Tensor& x, const SetupOptions& setup) {
    return error_of([&] { compile_vmap(*model, "d_rtrl", x, {}, setup); });
  };
  EXPECT_NE(with(zeros({2, 3}, DType::F64), {}).find("set batch_size"), std::string::npos);
  EXPECT_NE(with(zeros({2, 3}, DType::F64), {.batch_size = 4}).find("must be the 4 samples"), std::string::npos);
  EXPECT_NE(with(Tensor(1.0), {.batch_size = 4}).find("must be the 4 samples"), std::string::npos);
}

}  // namespace

}  // namespace braintrace

// SPDX-License-Identifier: Apache-2.0
#include "braintrace/algorithms/compile.h"

#include <cstdio>

#include <gtest/gtest.h>

#include "braintrace/algorithms/bptt.h"
#include "braintrace/algorithms/d_rtrl.h"
#include "braintrace/algorithms/dni.h"
#include "braintrace/algorithms/e_prop.h"
#include "braintrace/algorithms/three_factor.h"
#include "braintrace/model/random_stream.h"
#include "braintrace/nn/rnn.h"
#include "braintrace/ops/move.h"
#include "tests/support/error_of.h"
#include "tests/support/online.h"

namespace braintrace {

namespace {

const Type input{DType::F32, {2}};

struct Net : nn::GRUCell {
  Net() : Net(nn::CellOptions{}) {}
  explicit Net(nn::CellOptions options) : GRUCell(2, 3, seeded(std::move(options))) {}
  static nn::CellOptions seeded(nn::CellOptions options) {
    random::seed(5);
    return options;
  }
};

Gradients gradient(const std::unique_ptr<OnlineLearner>& learner) { return online_gradient(*learner, input, 4); }

bool same_values(const Tensor& a, const Tensor& b) {
  return a.type() == b.type() && sum(square(convert(a, DType::F64) - convert(b, DType::F64))).item() == 0;
}

TEST(Compile, NamePointAndClassAreTheSameLearner) {
  Net        a, b, c;
  const auto by_name = gradient(compile(a, "eprop", wave(input, 0), {.kappa_filter_decay = 0.5}));
  const auto by_point =
      gradient(compile(b, ETraceConfig({.trace_filter = TraceFilter::Kappa, .kappa = 0.5}), Tensors{wave(input, 0)}));
  auto       learner  = compile<EProp>(c, wave(input, 0), {}, 0.5);
  const auto by_class = online_gradient(*learner, input, 4);
  ASSERT_GT(by_name.squared_norm().item(), 1e-6);
  EXPECT_EQ(distance(by_name, by_point), 0);
  EXPECT_EQ(distance(by_name, by_class), 0);
  Net other;
  EXPECT_GT(distance(gradient(compile(other, "d_rtrl", wave(input, 0))), by_name), 1e-3);
}

TEST(Compile, ForwardsOptions) {
  Net        model;
  const auto learner =
      compile(model, "PP_Prop", wave(input, 0),
              {.vjp_method = VjpMethod::MultiStep, .decay_or_rank = TraceDecay::decay(0.9), .name = "mine"});
  EXPECT_EQ(learner->name(), "mine");
  EXPECT_EQ(learner->vjp_method(), VjpMethod::MultiStep);
  EXPECT_EQ(learner->rule().name(), "ES_D_RTRL");
  EXPECT_TRUE(learner->is_compiled());
  EXPECT_EQ(learner->running_index(), 0);

  Net        stored;
  const auto narrow = compile(stored, "d_rtrl", wave(input, 0), {.trace_dtype = DType::BF16});
  for (const MemorySlot& slot : narrow->memory_slots()) EXPECT_EQ(slot.type.dtype, DType::BF16);
}

TEST(Compile, MakesTheLearnersOfSpecialSignals) {
  Net        net;
  const auto dni = compile(net, "dni", wave(input, 0));
  EXPECT_EQ(dni->vjp_method(), VjpMethod::MultiStep);
  dni->attach_synthesizer(std::make_shared<SyntheticGradient>(dni->group_signal_shapes()));
  EXPECT_NE(error_of([&] { dni->set_modulator(Tensor(1.0)); }).find("DNI: it takes no modulator"), std::string::npos);
  EXPECT_NE(error_of([&] { dni->as<ThreeFactor>(); }).find("the learner of DNI does not have the requested class"),
            std::string::npos);

  auto modulated = [](double m) {
    Net        model;
    const auto learner = compile(model, "three_factor", wave(input, 0), {.modulator = Tensor(m)});
    EXPECT_NE(dynamic_cast<ThreeFactor*>(learner.get()), nullptr);
    return gradient(learner).at(Path::dotted("Wz.weight"), "weight");
  };
  const Tensor once = modulated(1), twice = modulated(2);
  ASSERT_GT(sum(square(once)).item(), 1e-6);
  EXPECT_TRUE(same_values(2 * once, twice));

  auto projected = [](uint64_t key) {
    Net        model;
    const auto learner = compile(model, "uoro", wave(input, 0), {.projection_key = key});
    EXPECT_EQ(learner->vjp_method(), VjpMethod::MultiStep);
    return gradient(learner);
  };
  EXPECT_EQ(distance(projected(1), projected(1)), 0);
  EXPECT_GT(distance(projected(1), projected(2)), 1e-3);
}

TEST(Compile, WideTracesTakeFeedbackAndFilters) {
  auto after = [](int steps, int64_t n, RuleAxes axes) {
    random::seed(5);
    nn::LSTMCell model(2, 3);
    axes.recurrence_scope = RecurrenceScope::SparseN;
    axes.sparse_n         = n;
    const RuleOptions options{.feedback = axes.learning_signal == SignalSource::RandomFeedback
                                              ? std::optional(RandomFeedback{.key = 1})
                                              : std::nullopt};
    return online_gradient(*compile(model, ETraceConfig(axes), wave(input, 0), options), input, steps);
  };
  const RuleAxes feedback{.learning_signal = SignalSource::RandomFeedback},
      filter{.trace_filter = TraceFilter::Kappa, .kappa = 0.5};
  for (const RuleAxes& axes : {feedback, filter}) {  // at the first step all values of n give the same rule
    EXPECT_LT(distance(after(1, 2, axes), after(1, 1, axes)), 1e-6);
    EXPECT_GT(distance(after(3, 2, axes), after(3, 1, axes)), 1e-3);
  }
  EXPECT_GT(distance(after(1, 2, feedback), after(1, 2, {})), 1e-3);
}

TEST(Compile, BatchesAndWindows) {
  Net        model;
  const Type window{DType::F32, {7, 4, 2}};
  const auto learner = compile(model, "d_rtrl", MultiStepData{{wave(window, 0)}}, {}, {.batch_size = 4});
  EXPECT_EQ((*learner)(MultiStepData{{wave(window, 0)}}).shape(), (Shape{7, 4, 3}));
}

TEST(Compile, SeedsInitialStatesAndRestoresTheStream) {
  Net model({.state_init = nn::init::normal()});
  random::seed(11);
  const Tensor next = random::next();

  random::seed(11);
  compile(model, "d_rtrl", wave(input, 0), {}, {.seed = 3});
  const Tensor first = model.h.value();
  EXPECT_TRUE(same_values(random::next(), next));
  compile(model, "d_rtrl", wave(input, 0), {}, {.seed = 3});
  EXPECT_TRUE(same_values(model.h.value(), first));
  compile(model, "d_rtrl", wave(input, 0), {}, {.seed = 4});
  EXPECT_FALSE(same_values(model.h.value(), first));

  random::seed(11);
  compile(model, "d_rtrl", wave(input, 0));
  EXPECT_FALSE(same_values(random::next(), next));
}

TEST(Compile, RestoresTheStreamWhenItFails) {
  Net model(
      {.state_init = nn::Initializer("none", [](const Shape&, Rng&) -> std::vector<double> { fail("no value"); })});
  random::seed(11);
  const Tensor next = random::next();
  random::seed(11);
  EXPECT_NE(error_of([&] { compile(model, "d_rtrl", wave(input, 0), {}, {.seed = 3}); }), "");
  EXPECT_TRUE(same_values(random::next(), next));
}

TEST(Compile, InitializesStatesButNotParameters) {
  Net          model;
  const Tensor weight  = model.Wz.params().at(0).second.leaf("weight");
  const auto   learner = compile(model, "d_rtrl", wave(input, 0));
  gradient(compile(model, "d_rtrl", wave(input, 0)));
  EXPECT_GT(sum(square(model.h.value())).item(), 0);
  compile(model, "d_rtrl", wave(input, 0));
  EXPECT_EQ(sum(square(model.h.value())).item(), 0);
  EXPECT_TRUE(same_values(model.Wz.params().at(0).second.leaf("weight"), weight));
}

// h ← λ h + W x: its Jacobian is the leak.
struct Leaky : Module {
  nn::Linear  in{2, 2};
  HiddenState h = state("h", HiddenState([](BatchSize) { return Leaves{{"", Tensor(input, 0)}}; }));
  Leaky() { children({{"in", in}}); }
  virtual Tensor leaked() { return 0.75 * h.value(); }
  Tensor         update(const Tensor& x) override {
    h.set(leaked() + in(x));
    return h.value();
  }
};
// The compiler warns about a transition that moves positions.
struct Rolls : Leaky {
  Tensor leaked() override { return roll(h.value(), 1, 0); }
};

// A hidden state that no trainable operation drives.
struct Untrainable : Module {
  ParamState  w = state("w", ParamState(Tensor(input, 1)));
  HiddenState h = state("h", HiddenState([](BatchSize) { return Leaves{{"", Tensor(input, 0)}}; }));
  Tensor      update(const Tensor& x) override {
    h.set(0.5 * h.value() + w.value() * x);
    return h.value();
  }
};
std::string printed(Module& model, const char* algorithm, int verbose) {
  testing::internal::CaptureStdout();
  compile(model, algorithm, wave(input, 0), {}, {.verbose = verbose});
  std::fflush(stdout);
  return testing::internal::GetCapturedStdout();
}
TEST(Compile, PrintsAsMuchAsAsked) {
  Net   model;
  Rolls mixing;
  EXPECT_EQ(printed(model, "d_rtrl", 0), "");
  EXPECT_EQ(printed(model, "d_rtrl", 1), compile(model, "d_rtrl", wave(input, 0))->show_graph());
  const std::string less = printed(mixing, "d_rtrl", 1), more = printed(mixing, "d_rtrl", 2);
  EXPECT_EQ(less.find("warning"), std::string::npos) << less;
  EXPECT_NE(more.find("warning"), std::string::npos) << more;
  EXPECT_NE(more.find(less), std::string::npos);
}

TEST(Compile, RefusesAModelWithNothingToTrace) {
  Untrainable model;
  try {
    compile(model, "d_rtrl", wave(input, 0));
    FAIL() << "no error";
  } catch (const CompileError& e) {
    EXPECT_NE(std::string(e.what()).find("D_RTRL has nothing to trace"), std::string::npos) << e.what();
    EXPECT_NE(std::string(e.what()).find("\n  w: "), std::string::npos) << e.what();
  }
  EXPECT_THROW(compile<D_RTRL>(model, wave(input, 0)), CompileError);
  const auto whole = online_gradient(*compile(model, "rtrl", wave(input, 0)), input, 3);
  const auto same  = online_gradient(*compile<BPTT>(model, wave(input, 0)), input, 3);
  EXPECT_GT(distance(same, whole), 1e-3);
}

struct Misuse {
  const char*   algorithm;
  ExampleInputs examples;
  SetupOptions  setup;
  const char*   says;
};
TEST(Compile, RefusesWrongCalls) {
  const Tensor x = wave(input, 0);
  for (const Misuse& m : {
           Misuse{"d_rtlr", x, {}, "did you mean 'D_RTRL'?"},
           Misuse{"ostl", x, {}, "OSTL has two forms"},
           Misuse{"d_rtrl", Tensors{}, {}, "no example input"},
           Misuse{"d_rtrl", Tensor(), {}, "an example input is undefined"},
           Misuse{"d_rtrl", x, {.verbose = 3}, "verbose must be 0, 1 or 2, got 3"},
           Misuse{"d_rtrl", x, {.batch_size = 0}, "batch"},
       }) {
    Net               model;
    const std::string message = error_of([&] { compile(model, m.algorithm, m.examples, {}, m.setup); });
    EXPECT_NE(message.find(m.says), std::string::npos) << m.algorithm << "\n" << message;
  }
  EXPECT_NE(error_of([] { ExampleInputs(MultiStepData{{Tensor(1.0)}}); }).find("leading time axis"), std::string::npos);
}

TEST(Compile, ALeakInPlaceOfTheJacobianIsTheSameOnALeakyModel) {
  auto at = [](const RuleAxes& axes) {
    random::seed(5);
    Leaky model;
    return online_gradient(*compile(model, ETraceConfig(axes), wave(input, 0)), input, 4);
  };
  const RuleAxes factors{.trace_factorization = TraceFactorization::IoFactorized, .decay = 0.5};
  RuleAxes       leaky_factors     = factors;
  leaky_factors.temporal_recursion = TemporalRecursion::ScalarLeak;
  const Gradients exact            = at({});
  ASSERT_GT(exact.squared_norm().item(), 1e-6);
  EXPECT_EQ(distance(at({.temporal_recursion = TemporalRecursion::ScalarLeak, .decay = 0.75}), exact), 0);
  EXPECT_GT(distance(at({.temporal_recursion = TemporalRecursion::ScalarLeak, .decay = 0.5}), exact), 1e-3);
  EXPECT_GT(distance(at({.temporal_recursion = TemporalRecursion::None}), exact), 1e-3);
  // Without memory, factors and a full trace both give the same-step gradient.
  RuleAxes no_factors = factors;
  no_factors.decay    = 0.0;
  EXPECT_LT(distance(at(no_factors), at({.temporal_recursion = TemporalRecursion::None})), 1e-6);
  EXPECT_GT(distance(at(leaky_factors), at(factors)), 1e-3);
}

}  // namespace

}  // namespace braintrace

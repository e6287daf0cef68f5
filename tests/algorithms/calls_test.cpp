// SPDX-License-Identifier: Apache-2.0
// The differentiable call: several in one loss, losses that read old states, gradients of states, long streams.
#include <algorithm>
#include <fstream>

#include <gtest/gtest.h>

#include "braintrace/algorithms/compile.h"
#include "braintrace/algorithms/d_rtrl.h"
#include "braintrace/algorithms/drivers.h"
#include "braintrace/algorithms/e_prop.h"
#include "braintrace/algorithms/es_d_rtrl.h"
#include "braintrace/functions/loops.h"
#include "braintrace/nn/linear.h"
#include "braintrace/zoo/cell.h"
#include "tests/algorithms/support.h"
#include "tests/support/error_of.h"

#if defined(__SANITIZE_ADDRESS__)
#define BRAINTRACE_HAS_ASAN
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define BRAINTRACE_HAS_ASAN
#endif
#endif
#ifdef BRAINTRACE_HAS_ASAN
extern "C" size_t __sanitizer_get_current_allocated_bytes();
#else
#include <unistd.h>
#endif

namespace braintrace {

namespace {

constexpr int64_t T  = 5;
const Tensor      xs = normal({DType::F64, {T, 2}}, 5), m = ones({T}, DType::F64);

// A learner belongs to the states that its model had when it was compiled.
TEST(Calls, PartsReplacedAfterCompilingAreAnError) {
  const auto message_after = [](const std::function<void(Module&)>& change) {
    auto       model   = make_model(chain({layer("gru", 2, 3), linear(3, 2)}));
    const auto learner = compile(*model, "d_rtrl", row(xs, 0));
    (*learner)(row(xs, 0));
    change(*model);
    const auto call  = error_of([&] { (*learner)(row(xs, 1)); });
    const auto sweep = error_of([&] { etrace_grad([&](Tensor x) { return loss_of((*learner)(x)); }, *learner)(xs); });
    EXPECT_EQ(call, sweep);
    return call;
  };
  const nn::Linear spare(3, 2);
  EXPECT_EQ(message_after([](Module&) {}), "");
  EXPECT_EQ(message_after([](Module& m) { init_all_states(m); }), "");
  EXPECT_NE(message_after([&](Module& m) { m.set_child("out", spare); }).find("out.weight of the model was replaced"),
            std::string::npos);
  EXPECT_NE(message_after([&](Module& m) { m.erase("out"); }).find("out.weight of the model was removed"),
            std::string::npos);
  EXPECT_NE(message_after([&](Module& m) { m.set_state("more", spare.weight); }).find("more of the model was added"),
            std::string::npos);
}

TEST(Calls, SeveralInOneLossCountOnce) {
  const json description = chain({layer("gru", 2, 3), linear(3, 2)});
  for (const char* rule : {"d_rtrl", "eprop", "ostl_feedforward", "uoro"}) {
    SCOPED_TRACE(rule);
    auto       model   = make_model(description);
    const auto learner = compile(*model, rule, row(xs, 0));
    const auto start   = [&] {
      set_states(*model, 21);
      learner->init_etrace_state();
    };
    start();
    const Gradients want = stepwise(*learner, xs, m);
    start();
    const auto unrolled_loss = [&](Tensor in) {
      Tensor total(0.0);
      for (int64_t t = 0; t < T; ++t) total = total + loss_of((*learner)(row(in, t)));
      return total;
    };
    const Difference d = difference(grad(unrolled_loss, model->params())(xs), want);
    EXPECT_LT(d.worst, 1e-12) << rule << " " << d.leaf;
    EXPECT_GT(d.weakest, 1e-6) << rule;
    start();
    const auto looped = [&](Tensor in) { return sum(for_loop([&](Tensor x) { return loss_of((*learner)(x)); }, in)); };
    EXPECT_LT(gap(grad(looped, model->params())(xs), want), 1e-12) << rule;
    start();
    // Plain reverse mode through the loop gives a different gradient.
    EXPECT_GT(gap(unrolled(*model, xs, m), want), 1e-3) << rule;
  }
}

// h ← 0.7 h + tanh(W x); the output reads the old state, or a value that leads to the new one.
std::shared_ptr<Module> reads(const std::string& what) {
  random::seed(3);
  auto       cell = zoo::make_cell();
  auto       W    = cell->linear("W", 2, 3);
  const auto h    = cell->hidden("h", {3});
  cell->step      = [=](const Tensor& x) mutable {
    const Tensor old = h.value(), next = 0.7 * old + tanh(W(x));
    h.set(next);
    if (what == "old") return old;
    if (what == "before storing") return next * next;
    return old * h.value();
  };
  init_all_states(*cell);
  return cell;
}
TEST(Calls, CreditReachesOldStates) {
  for (const char* what : {"old", "before storing", "both"})
    for (const std::vector<int64_t>& windows : {std::vector<int64_t>{}, {1, 1, 1, 1, 1}, {2, 3}, {5}}) {
      auto   model = reads(what);
      D_RTRL learner(*model);
      learner.compile_graph(row(xs, 0));
      set_states(*model, 21);
      const Gradients want = unrolled(*model, xs, m);
      set_states(*model, 21);
      const Gradients  got = windows.empty() ? stepwise(learner, xs, m) : windowed(learner, xs, m, windows);
      const Difference d   = difference(got, want);
      EXPECT_LT(d.worst, 1e-12) << what << " " << windows.size() << " " << d.leaf;
      EXPECT_GT(d.weakest, 1e-3) << what;
    }
}

TEST(Calls, InputsAndStatesHaveGradients) {
  auto   model = make_model(chain({layer("lstm", 2, 3), linear(3, 2)}));
  D_RTRL learner(*model);
  learner.compile_graph(row(xs, 0));
  StateMap hidden = learner.hidden_states();
  ASSERT_EQ(hidden.size(), 2u);
  const auto at = [&](auto& f) {
    set_states(*model, 21);
    return grad<0>([&](Tensor x) { return loss_of(f(x)); }, hidden)(row(xs, 0));
  };
  const auto [want_states, want_x] = at(*model);
  const auto [got_states, got_x]   = at(learner);
  EXPECT_GT(difference(got_states, want_states).weakest, 1e-4);
  EXPECT_LT(gap(got_states, want_states), 1e-12);
  EXPECT_LT(max(abs(got_x - want_x)).item(), 1e-12);
}

TEST(Calls, ForwardIsTheBareModel) {
  for (const char* rule : {"d_rtrl", "uoro", "snap", "bptt"}) {
    const json description = chain({layer("gru", 2, 3), linear(3, 2)});
    auto       model = make_model(description), bare = make_model(description), wide = make_model(description);
    const auto learner =
        compile(*model, rule, row(xs, 0), rule == std::string("snap") ? RuleOptions{.n = 2} : RuleOptions{});
    const auto whole =
        compile(*wide, rule, row(xs, 0), rule == std::string("snap") ? RuleOptions{.n = 2} : RuleOptions{});
    for (Module* each : {model.get(), bare.get(), wide.get()}) set_states(*each, 21);
    const Tensor ys = (*whole)(MultiStepData{{xs}});
    for (int64_t t = 0; t < T; ++t) {
      const Tensor want = (*bare)(row(xs, t));
      EXPECT_LT(max(abs((*learner)(row(xs, t)) - want)).item(), 1e-14) << rule;
      EXPECT_LT(max(abs(row(ys, t) - want)).item(), 1e-14) << rule;
    }
    EXPECT_EQ(learner->running_index(), T);
    EXPECT_EQ(whole->running_index(), 1);
  }
}

// Two inputs: one changes at every step, the other is constant.
struct Offset : Module {
  std::shared_ptr<Module> cell = make_model(layer("gru", 2, 3));
  Offset() { children({{"cell", *cell}}); }
  Tensors update_all(const Tensors& in) override { return {(*cell)(in[0] + in[1])}; }
};
TEST(Calls, InputsThatStayAreTheSameInEveryStep) {
  const Tensor c   = normal({DType::F64, {2}}, 8);
  const auto   run = [&](const std::function<Tensor(OnlineLearner&)>& call) {
    Offset model;
    set_states(model, 21);
    D_RTRL learner(model);
    learner.compile_graph(Tensors{row(xs, 0), c});
    return grad([&](Tensor) { return loss_of(call(learner)); }, model.params())(c);
  };
  const Gradients want = run([&](OnlineLearner& l) { return l(MultiStepData{{xs, broadcast_to(c, {T, 2})}}); });
  const Gradients got  = run([&](OnlineLearner& l) {
    return l.update({MultiStepData{{xs}}, SingleStepData{{c}}}).front();
  });
  EXPECT_GT(difference(want, want).weakest, 1e-6);
  EXPECT_EQ(gap(got, want), 0);
  // Without any time axis it is one step.
  const auto one = [&](OnlineLearner& l) {
    return l.update({SingleStepData{{row(xs, 0)}}, SingleStepData{{c}}}).front();
  };
  EXPECT_EQ(gap(run(one), run([&](OnlineLearner& l) { return l.update(Tensors{row(xs, 0), c}).front(); })), 0);
  const auto uneven = [&](OnlineLearner& l) {
    return l.update({MultiStepData{{xs}}, MultiStepData{{zeros({3, 2}, DType::F64)}}}).front();
  };
  EXPECT_NE(error_of([&] { run(uneven); }).find("inputs of 5 and 3 steps"), std::string::npos);
}

TEST(Calls, MisuseIsExplained) {
  auto   model = make_model(chain({layer("gru", 2, 3), linear(3, 2)}), 4);
  D_RTRL learner(*model);
  EXPECT_NE(error_of([&] { learner(row(xs, 0)); }).find("call compile_graph"), std::string::npos);
  EXPECT_NE(error_of([&] { learner.report(); }).find("call compile_graph"), std::string::npos);
  EXPECT_NE(error_of([&] { learner.reset_state(); }).find("call compile_graph"), std::string::npos);
  learner.compile_graph(zeros({4, 2}, DType::F64));
  const Tensors before = learner.memory();
  learner.compile_graph(zeros({4, 2}, DType::F64));  // nothing happens
  struct Misuse {
    std::function<void()> call;
    const char*           says;
  };
  for (const Misuse& wrong : {
           Misuse{[&] {
                    learner(zeros({5, 2}, DType::F64));
                  },
                  "compiled for inputs (f64[4,2]), got (f64[5,2])"},
           Misuse{[&] {
                    learner(zeros({4, 2}, DType::F32));
                  },
                  "compiled for inputs (f64[4,2]), got (f32[4,2])"},
           Misuse{[&] {
                    learner(MultiStepData{{zeros({4, 2}, DType::F64)}});
                  },
                  "compiled for inputs (f64[4,4,2])"},
           Misuse{[&] { learner(MultiStepData{{Tensor(1.0)}}); }, "leading time axis"},
           Misuse{[&] { learner(MultiStepData{}); }, "leading time axis"},
           Misuse{[&] {
                    learner(MultiStepData{{zeros({0, 4, 2}, DType::F64)}});
                  },
                  "at least one step"},
           Misuse{[&] { learner.update(Tensors{}); }, "compiled for inputs (f64[4,2]), got ()"},
           Misuse{[&] { learner.set_memory({}); }, "the memory is"},
           Misuse{[&] { learner.get_etrace_of(Path::dotted("out.weight")); }, "carries no trace"},
           Misuse{[&] { learner.get_etrace_of(Path::dotted("nowhere")); }, "carries no trace"},
       }) {
    const std::string message = error_of(wrong.call);
    EXPECT_NE(message.find(wrong.says), std::string::npos) << wrong.says << "\n  in: " << message;
    EXPECT_EQ(learner.running_index(), 0);
  }
  EXPECT_EQ(before.size(), learner.memory().size());
  init_all_states(*model, {.batch_size = 5});
  const std::string other = error_of([&] { learner(zeros({4, 2}, DType::F64)); });
  EXPECT_NE(other.find("compiled with state 'a.h' of f64[4,3], which is f64[5,3] now"), std::string::npos) << other;
}

// A loss that fails after the call undoes the effects of the call.
TEST(Calls, AFailingLossLeavesEverythingAsItWas) {
  for (const char* rule : {"d_rtrl", "ostl_feedforward", "uoro", "rtrl"}) {
    auto       model   = make_model(chain({layer("vanilla_rnn", 2, 3), layer("gru", 3, 3), linear(3, 2)}));
    const auto learner = compile(*model, rule, row(xs, 0));
    for (const Tensor& t : learner->memory()) EXPECT_EQ(max(abs(t)).item(), 0) << rule;
    set_states(*model, 21);
    (*learner)(row(xs, 0));
    const auto everything = [&] {
      Tensors out;
      for (const StateMap& map : {model->states(), learner->own_states()})
        for (const auto& [path, state] : map)
          for (const std::string& leaf : state.leaf_names()) out.push_back(state.leaf(leaf));
      return out;
    };
    const Tensors before = everything();
    const auto    loss   = [&](Tensor x) {
      (*learner)(x);
      return squared(zeros({2}, DType::F64) + zeros({3}, DType::F64));
    };
    EXPECT_NE(error_of([&] { grad(loss, model->params())(row(xs, 1)); }), "") << rule;
    EXPECT_NE(error_of([&] { jit(grad(loss, model->params()))(row(xs, 1)); }), "") << rule;
    const Tensors after = everything();
    for (size_t i = 0; i < before.size(); ++i) EXPECT_EQ(max(abs(after[i] - before[i])).item(), 0) << rule;
    (*learner)(row(xs, 1));  // and it goes on
    EXPECT_EQ(learner->running_index(), 2);
    double moved = 0;
    for (size_t i = 0; i < before.size(); ++i)
      moved += max(abs(convert(everything()[i] - before[i], DType::F64))).item();
    EXPECT_GT(moved, 1) << rule;
  }
}

TEST(Calls, TracesStayBounded) {
  const Tensor many = normal({DType::F64, {150, 2}}, 8);
  for (const char* rule : {"d_rtrl", "ostl_recurrent", "eprop"}) {
    auto       model   = make_model(layer("gru", 2, 3));
    const auto learner = compile(*model, rule, row(xs, 0));
    etrace_evolve(*learner, many);
    for (const Tensor& t : learner->memory()) {
      EXPECT_GT(max(abs(t)).item(), 1e-6) << rule;
      EXPECT_LT(max(abs(t)).item(), 1e3) << rule;
    }
  }
}

// Bytes in use: of the heap where a sanitizer knows them (it keeps freed memory for a while), resident ones otherwise.
int64_t bytes_in_use() {
#ifdef BRAINTRACE_HAS_ASAN
  return static_cast<int64_t>(__sanitizer_get_current_allocated_bytes());
#else
  std::ifstream file("/proc/self/statm");
  int64_t       total = 0, resident = 0;
  file >> total >> resident;
  return resident * sysconf(_SC_PAGESIZE);
#endif
}

// An endless stream: one step and one update, repeated. tests/project/long_stream.cpp takes 100,000 steps.
TEST(Calls, AStreamKeepsMemoryFlatAndTracesFinite) {
  auto       model   = make_model(chain({layer("gru", 2, 3), linear(3, 1)}));
  const auto learner = compile(*model, "d_rtrl", row(xs, 0));
  const auto step    = jit(grad([&](Tensor x) { return loss_of((*learner)(x)); }, model->params()));
  const auto run     = [&](int steps) {
    for (int t = 0; t < steps; ++t) {
      const Gradients g = step(row(xs, t % T));
      for (const auto& [path, state] : model->params())
        for (const auto& [leaf, d] : g.at(path)) state.set_leaf(leaf, state.leaf(leaf) - 0.01 * d);
    }
  };
  run(200);
  const int64_t early = bytes_in_use();
  run(1000);
  EXPECT_LT(bytes_in_use() - early, 1 << 20);
  double largest = 0;
  for (const Tensor& t : learner->memory()) largest = std::max(largest, max(abs(t)).item());
  EXPECT_TRUE(std::isfinite(largest));
  EXPECT_GT(largest, 1e-6);
  EXPECT_LT(largest, 1e3);
  EXPECT_EQ(learner->running_index(), 1200);
}

}  // namespace

}  // namespace braintrace

// SPDX-License-Identifier: Apache-2.0
// A learner of one sample mapped over lanes is a loop over samples, for every trainable operation and every rule that
// has a trace.
#include <algorithm>

#include <gtest/gtest.h>

#include "braintrace/algorithms/compile.h"
#include "braintrace/algorithms/etrace_vmap.h"
#include "tests/algorithms/models.h"

namespace braintrace {

namespace {

constexpr int64_t T = 3, B = 3;

std::vector<DiagonalModel> models() {
  std::vector<DiagonalModel> out = diagonal_models();
  const json                 two = {{"kind", "einsum"}, {"equation", "btk,kn->btn"}, {"w_shape", {3, 2}}};
  out.push_back({"einsum", leaky(two, {2, 2, 2}), {2, 2, 3}});
  // A normalization after a convolution: it mixes positions of one sample, but not samples.
  out.push_back(
      {"normalized",
       layer("position_mix_rnn", 3, 4, {{"mix", "layer_norm"}, {"where", "tail"}, {"leak", 0.7}, {"recurrent", true}}),
       {3}});
  out.push_back({"vanilla", layer("vanilla_rnn", 3, 4, {{"activation", "tanh"}}), {3}});
  return out;
}

class Lanes : public testing::TestWithParam<DiagonalModel> {};
TEST_P(Lanes, AreALoopOverSamples) {
  for (const char* rule : {"d_rtrl", "ostl_recurrent", "eprop", "es_d_rtrl"}) {
    const Tensor      xs = GetParam().inputs({T, B});
    const RuleOptions options =
        rule == std::string("es_d_rtrl")
            ? RuleOptions{.decay_or_rank = TraceDecay::decay(0.8)}
            : (rule == std::string("eprop") ? RuleOptions{.kappa_filter_decay = 0.5} : RuleOptions{});
    const auto start = [&](Module& model) {
      auto learner = compile(model, rule, squeeze(slice_axis(row(xs, 0), 0, 0, 1), {0}), options);
      set_states(model, 21);
      return learner;
    };
    auto       model   = make_model(GetParam().model);
    const auto learner = start(*model);
    ETraceVmap lanes(*learner, B);
    const auto step = jit(grad([&](Tensor x) { return loss_of(lanes(x)); }, model->params()));
    Gradients  got, want;
    for (int64_t t = 0; t < T; ++t) {
      const Gradients g = step(row(xs, t));
      got               = t == 0 ? g : got + g;
    }
    for (int64_t b = 0; b < B; ++b) {
      auto            one = make_model(GetParam().model);
      const auto      own = start(*one);
      const Gradients g   = stepwise(*own, squeeze(slice_axis(xs, 1, b, b + 1), {1}), ones({T}, DType::F64));
      want                = b == 0 ? g : want + g;
    }
    const Difference d = difference(got, want);
    EXPECT_LT(d.worst, 1e-12) << rule << " " << d.leaf;
    EXPECT_GT(d.weakest, 1e-6) << rule;
  }
}
INSTANTIATE_TEST_SUITE_P(EveryOperation, Lanes, testing::ValuesIn(models()), [](const auto& info) {
  std::string name = info.param.name;
  std::replace(name.begin(), name.end(), ' ', '_');
  return name;
});

}  // namespace

}  // namespace braintrace

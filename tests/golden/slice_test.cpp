// SPDX-License-Identifier: Apache-2.0
// The tutorial's SingleLayerRNN through all layers: traced, compiled, and its D-RTRL gradients equal to recorded ones.
#include <gtest/gtest.h>

#include "braintrace/algorithms/d_rtrl.h"
#include "braintrace/io/npy.h"
#include "braintrace/model/functions.h"
#include "braintrace/nn/linear.h"
#include "braintrace/nn/rnn.h"
#include "braintrace/ops/math.h"
#include "braintrace/ops/move.h"
#include "braintrace/ops/reduce.h"

namespace braintrace {
namespace {

struct SingleLayerRNN : nn::Module {
  nn::ValinaRNNCell rnn;
  nn::Linear        out;
  SingleLayerRNN(int n_in, int n_rec, int n_out) : rnn(n_in, n_rec, {.activation = nn::Activation("tanh")}), out(n_rec, n_out) {
    children({{"rnn", rnn}, {"out", out}});
  }
  Tensor update(const Tensor& x) override { return out(rnn(x)); }
};

Array row(const Array& a, int64_t t) {
  const Tensor r = slice_axis(Tensor(a), 0, t, t + 1);
  return reshape(r, Shape(r.shape().begin() + 1, r.shape().end())).array();
}

double distance(const Array& a, const Array& b) {
  double d = 0, m = 0;
  for (int64_t i = 0; i < a.size(); ++i) {
    d = std::max(d, std::abs(at(a, i) - at(b, i)));
    m = std::max(m, std::abs(at(b, i)));
  }
  return d / (m + 1e-12);
}

// Loads the arrays of a case into a model and compares the gradient of every step with the recorded ones.
void check_case(Module& model, const std::map<std::string, Array>& data) {
  init_all_states(model);
  for (const auto& [path, state] : model.states()) {
    if (state.is_param())
      for (const std::string& leaf : state.leaf_names())
        state.set_leaf(leaf, data.at("param." + path.str() + (leaf.empty() ? "" : "." + leaf)));
    if (state.is_hidden()) state.set(data.at("h0." + path.str()));
  }
  D_RTRL      learner(model);
  const Array x = data.at("x"), target = data.at("target");
  learner.compile_graph(Tensor(row(x, 0)));
  auto loss = [&](Tensor in, Tensor goal) { return 0.5 * sum(square(learner(in) - goal)); };
  auto step = value_and_grad(loss, model.params());
  for (int64_t t = 0; t < x.shape()[0]; ++t) {
    const auto [l, grads] = step(Tensor(row(x, t)), Tensor(row(target, t)));
    EXPECT_NEAR(l.item(), at(data.at("fwd.loss"), t), 1e-11);
    for (const auto& [path, leaves] : grads)
      for (const auto& [leaf, g] : leaves) {
        const std::string name = path.str() + (leaf.empty() ? "" : "." + leaf);
        const Array       want = row(data.at("run.d_rtrl.ss.grad_step." + name), t);
        EXPECT_LT(distance(g.array(), want), 1e-9) << name << " at step " << t;
      }
  }
}

struct Gru : nn::Module {
  nn::GRUCell rnn;
  nn::Linear  out;
  Gru(int n_in, int n_rec, int n_out) : rnn(n_in, n_rec), out(n_rec, n_out) { children({{"rnn", rnn}, {"out", out}}); }
  Tensor update(const Tensor& x) override { return out(rnn(x)); }
};
struct Lstm : nn::Module {
  nn::LSTMCell rnn;
  nn::Linear   out;
  Lstm(int n_in, int n_rec, int n_out) : rnn(n_in, n_rec), out(n_rec, n_out) { children({{"rnn", rnn}, {"out", out}}); }
  Tensor update(const Tensor& x) override { return out(rnn(x)); }
};

std::map<std::string, Array> corrected(const std::string& name) {
  return read_npz(std::string(BRAINTRACE_SOURCE_DIR) + "/tests/data/golden/corrected/" + name + "/arrays.npz");
}

TEST(Slice, GruMatches) {
  Gru model(3, 5, 2);
  check_case(model, corrected("gru_windows"));
}
TEST(Slice, LstmMatches) {
  Lstm model(3, 4, 2);
  check_case(model, corrected("lstm_two_states"));
}
TEST(Slice, SingleLayerRnnMatchesTheIndependentOracle) {
  SingleLayerRNN model(3, 5, 2);
  check_case(model, corrected("vanilla_all_rules"));
}

}  // namespace
}  // namespace braintrace

// SPDX-License-Identifier: Apache-2.0
// Laws of every layer type of the kit: it compiles to the expected groups and relations, learns online, treats the
// samples of a batch independently, and is restored bit for bit from a file.
#include "tests/kit/layers.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <set>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "braintrace/algorithms/d_rtrl.h"
#include "braintrace/compiler/report.h"
#include "braintrace/functions/functions.h"
#include "braintrace/io/npy.h"
#include "braintrace/model/environment.h"
#include "braintrace/model/random_stream.h"
#include "braintrace/nn/optim.h"
#include "braintrace/ops/math.h"
#include "braintrace/ops/move.h"
#include "braintrace/ops/random.h"
#include "braintrace/ops/reduce.h"
#include "braintrace/verify/layers/layers.h"
#include "braintrace/zoo/model.h"

namespace braintrace {

void PrintTo(const KitRow& row, std::ostream* out) { *out << row.type; }

namespace {

// Every parameter slightly changed from its initial value, so that none is zero.
void shake(const Module& model, uint64_t seed) {
  Tensor key = random::key(seed);
  for (const auto& [path, state] : model.params())
    for (const std::string& leaf : state.leaf_names()) {
      const Tensors keys = random::split(key, 2);
      key                = keys[0];
      const Tensor value = state.leaf(leaf);
      state.set_leaf(leaf, value + 0.1 * random::normal(keys[1], value.shape()));
    }
}

std::shared_ptr<Module> model_of(const KitRow& r, uint64_t seed) {
  random::seed(seed);
  auto layer    = nlohmann::json::parse("{" + r.fields + "}");
  layer["type"] = r.type;
  auto model    = layer;
  if (r.input.empty() && !r.needs.integers) {
    layer["name"] = "layer";
    model         = {{"type", "chain"}, {"layers", {{{"name", "in"}, {"type", "linear"}, {"n_in", 3}, {"n_out", 4}}}}};
    if (r.needs.gated) model["layers"].push_back({{"name", "gate"}, {"type", "activation"}, {"activation", "sigmoid"}});
    model["layers"].push_back(layer);
  }
  const auto built = golden::described_model(model);
  shake(*built, seed);
  return built;
}

// Input of step t, sample b. A layer that needs a batch gets one of size one.
Tensor sample(const KitRow& r, int t, int b) {
  const Tensor key = random::key(static_cast<uint64_t>(1000 * b + t));
  if (r.needs.integers) return random::randint(key, {}, 0, 5);
  Shape shape = r.input.empty() ? Shape{3} : r.input;
  if (r.needs.batch) shape.insert(shape.begin(), 1);
  return r.needs.drive * (random::normal(key, shape) + 0.5);  // enough to fire
}

std::string without(std::string path, const std::string& suffix) {
  return path.size() > suffix.size() && path.ends_with(suffix) ? path.substr(0, path.size() - suffix.size()) : path;
}

class Kit : public testing::TestWithParam<KitRow> {
 protected:
  Environment::Scope scope{{.training = false}};
};

TEST_P(Kit, CompilesToItsGroupsAndRelations) {
  const auto model = model_of(GetParam(), 1);
  init_all_states(*model);
  const ETraceGraph g = compile_etrace_graph(*model, {sample(GetParam(), 0, 0).type()});
  std::string       groups, relations;
  for (const HiddenGroup& group : g.hidden_groups) {
    groups += groups.empty() ? "" : "; ";
    for (size_t i = 0; i < group.hidden_paths.size(); ++i) groups += (i ? " " : "") + group.hidden_paths[i].str();
  }
  auto add = [&](const std::string& text) { relations += (relations.empty() ? "" : " ") + text; };
  for (const HiddenParamOpRelation& r : g.hidden_param_op_relations) {
    const std::string name = without(r.weight_path.str(), ".weight");
    add(r.carries_trace() ? name : "(" + name + ")");
  }
  for (const auto& w : CompilationReport(g).excluded_weights()) add("[" + w.path.str() + "]");
  EXPECT_EQ(groups, GetParam().groups);
  EXPECT_EQ(relations, GetParam().relations);
}

// A module whose result is filtered: f ← 0.9 f + y. Spike trains are compared after this filter.
struct Filtered : Module {
  std::shared_ptr<Module> part;
  HiddenState             f;
  Filtered(std::shared_ptr<Module> m, const Tensor& x) : part(std::move(m)), f(state("f", trace_of(x))) {
    children({{"part", *part}});
  }
  Tensor update(const Tensor& x) override {
    f.set(0.9 * f.value() + (*part)(x));
    return f.value();
  }

 private:
  HiddenState trace_of(const Tensor& x) const {
    init_all_states(*part);
    const Shape shape = (*part)(x).shape();
    return HiddenState([shape](BatchSize) { return Leaves{{"", zeros(shape)}}; });
  }
};

// A student learns online to imitate a teacher with other weights.
TEST_P(Kit, LearnsOnline) {
  const KitRow& row  = GetParam();
  auto          make = [&](uint64_t seed) {
    const auto m = model_of(row, seed);
    return row.needs.spikes ? std::make_shared<Filtered>(m, sample(row, 0, 0)) : m;
  };
  const std::shared_ptr<Module> teacher = make(1), student = make(2);
  init_all_states(*teacher);
  init_all_states(*student);
  D_RTRL learner(*student);
  learner.compile_graph(sample(row, 0, 0));
  if (!row.needs.learns) {
    const auto grads = grad([&] { return sum(square(learner(sample(row, 0, 0)))); }, student->params())();
    EXPECT_EQ(grads.squared_norm().item(), 0);
    return;
  }
  optim::Adam opt(0.02);
  opt.register_trainable_weights(student->params());
  auto   step  = jit([&](const Tensor& x, const Tensor& y) {
    const auto [loss, grads] =
        value_and_grad([&](const Tensor& u) { return mean(square(learner(u) - y)); }, student->params())(x);
    opt.update(grads);
    return loss;
  });
  double first = 0, last = 0;
  for (int pass = 0; pass < 7; ++pass) {
    reset_all_states(*teacher);
    reset_all_states(*student);
    learner.reset_state();
    last = 0;
    for (int t = 0; t < 20; ++t) last += step(sample(row, t, 0), (*teacher)(sample(row, t, 0))).item();
    if (pass == 0) first = last;
  }
  EXPECT_GT(first, 1e-4) << "teacher and student do the same";
  EXPECT_LT(last, 0.8 * first);
}

// d/dε Σ_t c ∘ y_t(θ + ε v) = ⟨∇, v⟩ over two steps, in double precision.
TEST_P(Kit, GradientOverTwoStepsIsTheSlope) {
  const KitRow& row = GetParam();
  if (row.needs.spikes || !row.needs.learns) return;  // a spike's slope is its surrogate's, by definition
  Environment::Scope wide({.precision = DType::F64});
  const auto         model = model_of(row, 1);
  init_all_states(*model);
  const Tensor   x      = row.needs.integers ? sample(row, 1, 0) : convert(sample(row, 1, 0), DType::F64);
  const Tensor   c      = random::normal(random::key(9), (*model)(x).shape(), DType::F64);
  const StateMap params = model->params(), carried = model->states<ShortTermState>();
  Tensors        before, theta, v;
  for (const auto& [path, state] : carried) before.push_back(state.value());
  auto loss = [&] {
    for (size_t i = 0; i < carried.size(); ++i) carried[i].second.set(before[i]);
    return sum(c * (*model)(x)) + sum(c * (*model)(x));
  };
  const Gradients g     = grad(loss, params)();
  double          inner = 0;
  for (const auto& [path, state] : params)
    for (const std::string& leaf : state.leaf_names()) {
      theta.push_back(state.leaf(leaf));
      ASSERT_EQ(theta.back().dtype(), DType::F64) << path.str() << leaf;
      v.push_back(random::normal(random::key(theta.size()), theta.back().shape(), DType::F64));
      inner += sum(v.back() * g.at(path, leaf)).item();
    }
  auto at = [&](double eps) {
    size_t i = 0;
    for (const auto& [path, state] : params)
      for (const std::string& leaf : state.leaf_names()) {
        state.set_leaf(leaf, theta[i] + eps * v[i]);
        ++i;
      }
    return loss().item();
  };
  const double slope = (at(1e-6) - at(-1e-6)) / 2e-6;
  EXPECT_NEAR(slope, inner, 1e-6 * std::max(1.0, std::abs(slope)));
  EXPECT_GT(std::abs(inner), 1e-6);
}

TEST_P(Kit, SamplesOfABatchAreApart) {
  constexpr int B = 3, T = 12;
  const KitRow& row     = GetParam();
  const auto    batched = model_of(row, 1);
  init_all_states(*batched, {.batch_size = B});
  std::vector<std::shared_ptr<Module>> single;
  for (int b = 0; b < B; ++b) {
    single.push_back(model_of(row, 1));
    init_all_states(*single.back());
  }
  double size     = 0;
  auto   together = [&](const Tensors& list) { return row.needs.batch ? concat(list, 0) : stack(list, 0); };
  for (int t = 0; t < T; ++t) {
    Tensors xs, ys;
    for (int b = 0; b < B; ++b) {
      xs.push_back(sample(row, t, b));
      ys.push_back((*single[b])(xs.back()));
    }
    const Tensor y = (*batched)(together(xs)), want = together(ys);
    ASSERT_EQ(to_string(y.type()), to_string(want.type()));
    EXPECT_LT(max(abs(y - want)).item(), 1e-5) << "step " << t;
    size += sum(abs(want)).item();
  }
  EXPECT_GT(size, 0) << "the layer is silent";
}

TEST_P(Kit, ComesBackFromAFile) {
  const auto model = model_of(GetParam(), 1), other = model_of(GetParam(), 2);
  init_all_states(*model);
  init_all_states(*other);
  for (int t = 0; t < 3; ++t) (*model)(sample(GetParam(), t, 0));
  NamedArrays saved;
  for (const auto& [path, state] : model->states())
    for (const std::string& leaf : state.leaf_names()) saved[path.str() + "|" + leaf] = state.leaf(leaf).array();
  const std::string file = fmt::format("{}/kit_{}.npz", testing::TempDir(), GetParam().type);
  write_npz(file, saved);
  const NamedArrays loaded = read_npz(file);
  std::filesystem::remove(file);
  for (const auto& [path, state] : other->states())
    for (const std::string& leaf : state.leaf_names()) state.set_leaf(leaf, Tensor(loaded.at(path.str() + "|" + leaf)));
  for (int t = 3; t < 6; ++t) {
    const Tensor x = sample(GetParam(), t, 0);
    EXPECT_TRUE(identical((*model)(x).array(), (*other)(x).array())) << "step " << t;
  }
}

INSTANTIATE_TEST_SUITE_P(Layers, Kit, testing::ValuesIn(kit_rows()), [](const auto& info) { return info.param.type; });

TEST(KitRows, CoverTheKit) {
  std::set<std::string> known, rows;
  for (const auto& family : {zoo::layer_types(), golden::recurrent_layers(), golden::spiking_layers()})
    for (const zoo::LayerType& t : family) known.insert(t.name);
  for (const KitRow& r : kit_rows()) EXPECT_TRUE(rows.insert(r.type).second) << r.type << " has two rows";
  known.erase("mean_pool_hw");  // poolings need an image that a convolution made: below
  known.erase("pool");
  known.erase("adaptive_pool");
  EXPECT_EQ(known, rows);
}

// Three poolings after one convolution.
TEST(KitPooling, KeepsTheBatchAndPassesGradients) {
  for (const char* layer : {R"("type": "mean_pool_hw")", R"("type": "pool", "kind": "max", "window": [2, 2])",
                            R"("type": "pool", "kind": "mean", "window": [3, 3], "stride": 1, "padding": "SAME")",
                            R"("type": "adaptive_pool", "kind": "mean", "out": [2, 2])"}) {
    random::seed(1);
    const auto model = zoo::build_model(
        std::string(R"({"type": "chain", "layers": [{"name": "conv", "type": "conv2d", "in_size": [4, 4, 1],
                        "out_channels": 2, "kernel_size": 3}, {"name": "pool", )") +
        layer + "}]}");
    const Tensor x = random::normal(random::key(3), {2, 4, 4, 1});
    const Tensor y = (*model)(x), first = (*model)(squeeze(slice_axis(x, 0, 0, 1), {0}));
    EXPECT_LT(max(abs(squeeze(slice_axis(y, 0, 0, 1), {0}) - first)).item(), 1e-6) << layer;
    const auto grads = grad([&] { return sum(square((*model)(x))); }, model->params())();
    EXPECT_GT(grads.squared_norm().item(), 0) << layer;
  }
}

}  // namespace

}  // namespace braintrace

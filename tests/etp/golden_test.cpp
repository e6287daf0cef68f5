// SPDX-License-Identifier: Apache-2.0
// Operation cases recorded from the reference system: values, derivatives and trace rules.
//
// Reference traces belong to the raw weight, ours to what the operation reads, f(w): an elementwise f contributes
// f'(w). Where an einsum has shared axes our trace keeps them (the reference sums them too early), so only the
// instantaneous term can be compared, after that sum.
#include <filesystem>
#include <fstream>
#include <set>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "braintrace/etp/conv.h"
#include "braintrace/etp/dense.h"
#include "braintrace/etp/einsum.h"
#include "braintrace/etp/element_wise.h"
#include "braintrace/etp/embedding.h"
#include "braintrace/etp/grouped.h"
#include "braintrace/etp/lora.h"
#include "braintrace/etp/sparse.h"
#include "braintrace/io/npy.h"
#include "braintrace/ops/math.h"
#include "braintrace/ops/move.h"
#include "braintrace/ops/reduce.h"
#include "braintrace/transforms/jvp.h"
#include "braintrace/transforms/linearize.h"
#include "braintrace/transforms/walk.h"

namespace braintrace {
namespace {

using nlohmann::json;
namespace fs = std::filesystem;

constexpr double tolerance = 1e-12;  // f64, the same sums in another order

const fs::path root = fs::path(BRAINTRACE_SOURCE_DIR) / "tests/data/golden/ops";

std::vector<std::string> names() {
  std::set<std::string> sorted;
  for (const auto& entry : fs::directory_iterator(root)) sorted.insert(entry.path().filename());
  return {sorted.begin(), sorted.end()};
}

WeightFn named_fn(const json& attributes, const char* key) {
  if (!attributes.contains(key) || attributes[key].is_null()) return {};
  const std::string name = attributes[key];
  if (name == "tanh") return [](const Tensor& w) { return tanh(w); };
  if (name == "square") return [](const Tensor& w) { return w * w; };
  if (name == "double") return [](const Tensor& w) { return w * 2.; };
  if (name == "abs") return [](const Tensor& w) { return maximum(w, -w); };
  throw std::runtime_error("unknown function " + name);
}

Ints ints(const json& j) { return j.is_null() ? Ints{} : j.get<Ints>(); }

TrainableConvOptions conv_options(const json& a) {
  const json& l = a["layout"];
  Padding     padding;
  if (a["padding"] == "SAME") padding = Padding::same();
  if (a["padding"].is_array()) {
    padding.kind = Padding::Kind::Explicit;
    for (const json& pair : a["padding"]) {
      padding.lo.push_back(pair[0]);
      padding.hi.push_back(pair[1]);
    }
  }
  return {.stride       = ints(a["strides"]),
          .padding      = padding,
          .lhs_dilation = ints(a["lhs_dilation"]),
          .rhs_dilation = ints(a["rhs_dilation"]),
          .groups       = a["feature_group_count"],
          .layout = l["x"].get<std::string>() + "," + l["kernel"].get<std::string>() + "," + l["y"].get<std::string>(),
          .kernel_fn = named_fn(a, "kernel_fn"),
          .bias_fn   = named_fn(a, "bias_fn")};
}

struct GoldenOp : testing::TestWithParam<std::string> {
  json                     info;
  NamedArrays              arrays;
  std::vector<std::string> keys;  // x when there is one, then the parameters

  void SetUp() override {
    info   = json::parse(std::ifstream(root / GetParam() / "case.json"));
    arrays = read_npz((root / GetParam() / "arrays.npz").string());
    if (arrays.count("x")) keys.push_back("x");
    for (const char* key : {"weight", "lora_b", "lora_a", "bias"})
      if (info["params"].contains(key)) keys.push_back(key);
  }

  Tensor  value(const std::string& key) const { return arrays.at(key == "x" ? "x" : "param." + key); }
  Tensors values() const {
    Tensors out;
    for (const std::string& k : keys) out.push_back(value(k));
    return out;
  }

  Tensor run(const Tensors& in) const {
    const json& a   = info["attributes"];
    auto        arg = [&](const std::string& key) -> Tensor {
      const auto it = std::find(keys.begin(), keys.end(), key);
      return it == keys.end() ? Tensor() : in[it - keys.begin()];
    };
    const Tensor      x = arg("x"), w = arg("weight"), b = arg("bias");
    const WeightFns   fns{.weight_fn = named_fn(a, "weight_fn"), .bias_fn = named_fn(a, "bias_fn")};
    const std::string op = info["op"];
    if (op == "matmul") return matmul(x, w, b, fns);
    if (op == "element_wise") return element_wise(w, {.weight_fn = fns.weight_fn});
    if (op == "grouped_matmul") return grouped_matmul(x, w, b, fns);
    if (op == "einsum") return einsum(a["equation"], x, w, {.weight_fn = fns.weight_fn});
    if (op == "embedding") return embedding(x, w, {.weight_fn = fns.weight_fn});
    if (op == "conv") return conv(x, w, b, conv_options(a));
    if (op == "lora_matmul")
      return lora_matmul(x, arg("lora_b"), arg("lora_a"), b,
                         {.alpha = a["alpha"], .b_fn = named_fn(a, "b_fn"), .a_fn = named_fn(a, "a_fn")});
    const json& csr_ = a["csr"];
    auto        list = [&](const char* name) {
      const auto v = csr_[name].get<std::vector<int64_t>>();
      return Tensor(Array::of(v, {static_cast<int64_t>(v.size())}));
    };
    return sparse_matmul(x, w, csr(list("indptr"), list("indices"), csr_["shape"][0], csr_["shape"][1]), b, fns);
  }

  Program program() const {
    return trace(types_of(values()), [&](const Tensors& in) -> Tensors { return {run(in)}; }).program;
  }

  // f'(w) of the transform of a parameter, or undefined.
  Tensor derivative(const std::string& key) const {
    const char*    option = key == "bias"          ? "bias_fn"
                            : key == "lora_b"      ? "b_fn"
                            : key == "lora_a"      ? "a_fn"
                            : info["op"] == "conv" ? "kernel_fn"
                                                   : "weight_fn";
    const WeightFn f      = named_fn(info["attributes"], option);
    if (!f) return {};
    const Tensor  w = value(key);
    const Program p = trace({w.type()}, [&](const Tensors& in) -> Tensors { return {f(in[0])}; }).program;
    return vjp(p, {w}, {true}).pullback({Tensor(w.type(), 1)})[0];
  }
  Tensor times_derivative(const std::string& key, const Tensor& t) const {
    const Tensor d = derivative(key);
    return d.defined() ? t * d : t;
  }

  void expect_close(const Tensor& got, const std::string& name) const {
    ASSERT_TRUE(arrays.count(name)) << name;
    const Array& expected = arrays.at(name);
    const Array  a        = got.array();
    ASSERT_EQ(a.type(), expected.type()) << name;
    for (int64_t i = 0; i < a.size(); ++i)
      ASSERT_NEAR(at(a, i), at(expected, i), tolerance * std::max(1., std::abs(at(expected, i))))
          << name << " at " << i;
  }
};

TEST_P(GoldenOp, Forward) {
  expect_close(run(values()), "y");
  expect_close(replay(program(), {}, values())[0], "y");
}

TEST_P(GoldenOp, Derivatives) {
  const Program p = program();
  Mask          active;
  Tensors       tangents;
  for (const std::string& k : keys) {
    active.push_back(arrays.count("vjp." + k) > 0);
    tangents.push_back(arrays.count("tangent." + k) ? Tensor(arrays.at("tangent." + k)) : Tensor());
  }
  const Tensors back = vjp(p, values(), active).pullback({arrays.at("ct")});
  size_t        next = 0;
  for (size_t i = 0; i < keys.size(); ++i)
    if (active[i]) expect_close(back[next++], "vjp." + keys[i]);
  EXPECT_GT(next, 0u);
  expect_close(jvp(p, values(), tangents).tangents[0], "jvp.y");
}

TEST_P(GoldenOp, TraceRules) {
  const Program p = program();
  Tensors       v(p.types.size());
  const Traced  t = trace(types_of(values()), [&](const Tensors& in) -> Tensors { return {run(in)}; });
  bind_inputs(p, concatenated(t.constants, values()), v);
  const Eqn* eqn = nullptr;
  for (const Eqn& e : p.eqns) {
    scatter(v, e.out, apply(*e.op, gather(v, e.in), e.attrs));
    if (e.op->etp) eqn = &e;
  }
  ASSERT_TRUE(eqn);
  const EtpCall call{eqn->op, eqn->attrs, p.types_of(eqn->in), p.type(eqn->out[0])};
  EXPECT_EQ(call.op->etp->primitive(call), info["primitive"].get<std::string>());
  const Tensors in      = gather(v, eqn->in);
  const auto    weights = call.op->etp->weights(call);
  const Tensor  D_f = arrays.at("df"), D = arrays.at("D"), signal = arrays.at("signal");
  auto          one_state = [](const Tensor& a) { return expand_dims(a, -1); };
  ASSERT_EQ(weights.size(), info["trainable_keys"].size());

  for (int k = 0; k < static_cast<int>(weights.size()); ++k) {
    const std::string key(weights[k].key);
    ASSERT_TRUE(info["trainable_keys"].contains(key));
    if (arrays.count("trace." + key)) {
      const bool   effective = key == "lora_b";  // its transform acts in the contraction
      const Shape  shape     = trace_shape(call, k);
      const Shape  theirs    = info["rules"]["trace_shapes"][key].get<Shape>();
      const Tensor raw       = squeeze(instant(call, k, in, one_state(D_f)), {-1});
      const Tensor inst      = effective ? raw : times_derivative(key, raw);
      if (shape != theirs) {
        ASSERT_EQ(info["op"], "einsum") << "only shared axes of an einsum may differ";
        expect_close(sum(inst, Ints{1}), "instant." + key);
      } else {
        const Tensor eps = one_state(arrays.at("trace." + key));
        expect_close(inst, "instant." + key);
        expect_close(squeeze(propagate(call, k, one_state(one_state(D)), eps), {-1}), "recur." + key);
        const Tensor solved = contract(call, k, in, one_state(signal), eps);
        expect_close(effective ? times_derivative(key, solved) : solved, "solve." + key);
      }
    }
    if (arrays.count("io." + key)) {
      Tensors at_io = in;
      if (arrays.count("io_x")) at_io[0] = arrays.at("io_x");
      expect_close(times_derivative(key, pull_back(call, k, at_io, D_f * signal)), "io." + key);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, GoldenOp, testing::ValuesIn(names()), [](const auto& info) { return info.param; });

TEST(GoldenOpControl, EveryCaseIsHere) { EXPECT_EQ(names().size(), 40u); }

}  // namespace
}  // namespace braintrace

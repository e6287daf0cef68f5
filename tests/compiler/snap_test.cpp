// SPDX-License-Identifier: Apache-2.0
// SnAp patterns: the recorded masks; never less than the true Jacobian; sharp where the operations say enough.
#include <functional>

#include <gtest/gtest.h>

#include "braintrace/base/rng.h"
#include "braintrace/compiler/position_graph.h"
#include "braintrace/control/cond.h"
#include "braintrace/control/scan.h"
#include "braintrace/etp/conv.h"
#include "braintrace/etp/dense.h"
#include "braintrace/ops/compare.h"
#include "braintrace/ops/contract.h"
#include "braintrace/ops/cumulative.h"
#include "braintrace/ops/index.h"
#include "braintrace/ops/index_walk.h"
#include "braintrace/ops/math.h"
#include "braintrace/ops/move.h"
#include "braintrace/ops/reduce.h"
#include "braintrace/ops/sparse.h"
#include "braintrace/transforms/jvp.h"
#include "braintrace/transforms/walk.h"
#include "braintrace/zoo/cell.h"
#include "tests/support/error_of.h"
#include "tests/support/golden_case.h"

namespace braintrace {

namespace {

CompileOptions snap(int n) {
  CompileOptions o;
  o.include_recurrent_mixing = true;
  o.sparse_n                 = n;
  return o;
}

// [p,q]: q is among the neighbors of p.
std::vector<std::vector<bool>> mask_of(const HiddenGroup& g) {
  const auto                     P = static_cast<size_t>(size_of(g.varshape)), K = static_cast<size_t>(g.snap->width);
  std::vector<std::vector<bool>> m(P, std::vector<bool>(P));
  for (size_t p = 0; p < P; ++p) {
    EXPECT_EQ(g.snap->neighbors[p * K], static_cast<int>(p)) << "the position itself comes first";
    for (size_t k = 0; k < K; ++k) {
      if (g.snap->valid[p * K + k])
        m[p][static_cast<size_t>(g.snap->neighbors[p * K + k])] = true;
      else
        EXPECT_EQ(g.snap->neighbors[p * K + k], static_cast<int>(p)) << "padded with itself";
    }
  }
  return m;
}

TEST(Snap, PatternsAreTheRecordedMasks) {
  int compared = 0;
  for (const std::string name :
       {"snap_ring", "snap_sparse_batched", "snap_gru", "lstm_two_states", "vanilla_all_rules"}) {
    Loaded c("corrected/" + name);
    for (const json& run : c.info["runs"]) {
      if (run["algorithm"] != "SnAp") continue;
      const auto g =
          compile_etrace_graph(*c.model, {at_step(c.arrays.at("x"), 0).type()}, snap(run["hyperparameters"]["n"]));
      for (const json& recorded : c.info["graph"]["hidden_groups"]) {
        const auto it =
            c.arrays.find("run." + run["id"].get<std::string>() + ".snap_mask.g" + recorded["index"].dump());
        if (it == c.arrays.end()) continue;
        const HiddenGroup& group = g.hid_path_to_group.at(Path::dotted(recorded["hidden_paths"][0].get<std::string>()));
        const auto         mask  = mask_of(group);
        const int64_t      units = it->second.shape()[0];
        for (int64_t p = 0; p < static_cast<int64_t>(mask.size()); ++p)
          for (int64_t q = 0; q < static_cast<int64_t>(mask.size()); ++q) {
            const bool same_sample = p / units == q / units;
            EXPECT_EQ(mask[p][q], same_sample && at(it->second, p % units * units + q % units) != 0)
                << name << " " << run["id"] << " " << p << "→" << q;
          }
        EXPECT_FALSE(group.snap->conservative);
        ++compared;
      }
    }
  }
  EXPECT_EQ(compared, 13);
}

// One step of a state of any shape; w is a trainable matrix over the last axis.
using Rule = std::function<Tensor(const Tensor& h, const Tensor& w)>;

struct Compiled {
  std::shared_ptr<zoo::Cell> cell = zoo::make_cell();
  ETraceGraph                graph;

  Compiled(const Rule& rule, const Shape& shape, int n, bool stacked = false) {
    Rng         rng{7};
    const auto  w = cell->keep("w", ParamState(Tensor(random_array(rng, {DType::F64, {shape.back(), shape.back()}}))));
    const auto  value = Tensor(random_array(rng, {DType::F64, shape}));
    const State h =
        stacked ? State(cell->keep("h", HiddenGroupState(value))) : State(cell->keep("h", HiddenState(value)));
    cell->step = [=](const Tensor& x) {
      h.set(rule(h.value(), w.value()) + x);
      return h.value();
    };
    graph = compile_etrace_graph(*cell, {{DType::F64, {}}}, snap(n));
  }
  const HiddenGroup& group() const { return graph.hidden_groups.at(0); }

  // J[q,p] ≠ 0 for some slots: position q of the new state reads position p of the old one.
  std::vector<std::vector<bool>> reads() const {
    const HiddenGroup& g  = group();
    const Tensors      in = graph.module_info.step.inputs({Tensor(Type{DType::F64, {}}, 0.3)});
    Tensors            values(graph.module_info.program().types.size());
    const Program&     p = graph.module_info.program();
    bind_inputs(p, joined(graph.module_info.step.constants, in), values);
    for (const Eqn& e : p.eqns) scatter(values, e.out, apply(*e.op, gather(values, e.in), e.attrs));
    const Tensors                  constants = gather(values, g.transition.constants);
    const auto                     P = static_cast<size_t>(size_of(g.varshape)), S = static_cast<size_t>(g.num_state);
    std::vector<std::vector<bool>> out(P, std::vector<bool>(P));
    const Type                     type = values[g.hidden[0].in].type();
    for (size_t e = 0; e < P * S; ++e) {
      std::vector<double> one(P * S, 0);
      one[e] = 1;
      Tensors tangent(constants.size());
      tangent.emplace_back(Tensor(from_doubles(type, one)));
      const Tensor d = jvp(g.transition.program, joined(constants, {values[g.hidden[0].in]}), tangent).tangents[0];
      for (size_t f = 0; d.defined() && f < P * S; ++f)
        if (at(d.array(), static_cast<int64_t>(f)) != 0) out[f / S][e / S] = true;
    }
    return out;
  }
};

struct Sample {
  std::string name;
  Shape       shape;
  Rule        rule;
  bool        sharp        = true;  // the pattern is exactly that of the Jacobian
  bool        conservative = false;
  bool        stacked      = false;
};
void PrintTo(const Sample& s, std::ostream* out) { *out << s.name; }
class Coverage : public testing::TestWithParam<Sample> {};

TEST_P(Coverage, ThePatternHoldsEveryNonzeroOfTheJacobian) {
  const Compiled c(GetParam().rule, GetParam().shape, 2, GetParam().stacked);
  const auto     mask = mask_of(c.group()), reads = c.reads();
  int            nonzero = 0;
  for (size_t p = 0; p < mask.size(); ++p)
    for (size_t q = 0; q < mask.size(); ++q) {
      nonzero += reads[q][p];
      EXPECT_TRUE(mask[p][q] || !reads[q][p]) << q << " reads " << p;
      EXPECT_TRUE(!GetParam().sharp || p == q || mask[p][q] == reads[q][p]) << p << "→" << q << " is superfluous";
    }
  EXPECT_GT(nonzero, 0);
  EXPECT_EQ(c.group().snap->conservative, GetParam().conservative) << c.group().snap->reason;
  EXPECT_EQ(c.graph.explain({.kind = DiagnosticKind::SnapPatternConservative}).empty(), !GetParam().conservative);
  EXPECT_EQ(c.graph.explain({.kind = DiagnosticKind::SnapPatternDegenerate}).empty(), c.group().snap->width > 1);
}

Tensor unit(const Tensor& h, int64_t i) { return slice_axis(h, -1, i, i + 1); }

INSTANTIATE_TEST_SUITE_P(
    Operations, Coverage,
    testing::Values(
        Sample{"elementwise", {4}, [](auto& h, auto&) { return tanh(h) * h; }},
        Sample{"dense", {4}, [](auto& h, auto& w) { return 0.5 * h + tanh(matmul(h, w)); }},
        Sample{"dense_batched", {2, 3}, [](auto& h, auto& w) { return tanh(matmul(h, w)); }},
        Sample{"plain_product", {2, 3}, [](auto& h, auto& w) { return dot(h, w); }},
        Sample{"two_products", {3}, [](auto& h, auto& w) { return matmul(tanh(matmul(h, w)), w); }},
        Sample{"roll", {5}, [](auto& h, auto&) { return roll(h, 2, 0); }},
        Sample{"roll_of_one_axis", {3, 4}, [](auto& h, auto&) { return roll(h, 1, 1); }},
        Sample{"roll_of_the_first_axis", {3, 2}, [](auto& h, auto&) { return 0.1 * h + roll(h, 1, 0); }},
        Sample{"cumulative_sum", {4}, [](auto& h, auto&) { return cumsum(h, 0); }},
        Sample{"mean", {2, 4}, [](auto& h, auto&) { return h - mean(h, Ints{1}, true); }},
        Sample{"half_feeds_half",
               {4},
               [](auto& h, auto&) {
                 return concat({slice_axis(h, 0, 2, 4), 0.0 * slice_axis(h, 0, 0, 2)}, 0);
               },
               false},
        Sample{"transposed", {3, 3}, [](auto& h, auto&) { return transpose(h); }},
        Sample{"chosen_rows",
               {5},
               [](auto& h, auto&) {
                 return take(h, Array::of<int32_t>({1, 1, 0, 4, 2}, {5}), 0);
               }},
        Sample{"convolution",
               {5, 4, 2},
               [](auto& h, auto&) {
                 return conv(h, Tensor(Type{DType::F64, {3, 3, 2, 2}}, 0.3), {}, {.layout = "NHWC,HWIO->NHWC"});
               }},
        Sample{"chosen_branch",
               {4},
               [](auto& h, auto&) {
                 const Function yes = [](const Tensors& t) -> Tensors { return {roll(t[0], 1, 0)}; };
                 const Function no  = [](const Tensors& t) -> Tensors { return {2.0 * t[0]}; };
                 return cond(Tensor(Array::of<bool>({true}, {})), yes, no, {h})[0];
               },
               false},
        Sample{"long_scan",
               {3},
               [](auto& h, auto&) {
                 const ScanBody body = [](const Tensors& c, const Tensors&) -> ScanResult {
                   return {{0.9 * c[0]}, {}};
                 };
                 return scan(body, {h}, Tensors{}, {.length = 20}).carry[0];
               },
               false,
               true},
        Sample{"stacked",
               {3, 2},
               [](auto& h, auto&) {
                 return concat({unit(h, 1), roll(unit(h, 0), 1, 0)}, 1);
               },
               true,
               false,
               true}),
    [](const auto& info) { return info.param.name; });

TEST(Snap, NeighborsRunDownstreamAndGrowWithN) {
  const Rule ring = [](auto& h, auto&) { return roll(h, 1, 0); };  // element i moves to i+1
  for (int n = 1; n <= 6; ++n) {
    const Compiled c(ring, {5}, n);
    EXPECT_EQ(c.group().snap->width, std::min(n, 5));
    EXPECT_EQ(c.group().trace_state_width(), std::min(n, 5));
    const auto mask = mask_of(c.group());
    for (size_t p = 0; p < 5; ++p)
      for (size_t q = 0; q < 5; ++q) EXPECT_EQ(mask[p][q], (q + 5 - p) % 5 < static_cast<size_t>(n));
  }
}

TEST(Snap, LargeProductsAreFollowedExactly) {
  const Rule          dense = [](auto& h, auto& w) { return matmul(h, w); };
  const Compiled      c(dense, {600}, 1);
  const PositionGraph graph = position_graph(c.graph.module_info, c.group());
  EXPECT_EQ(graph.reason, "");
  ASSERT_EQ(graph.influences.size(), 600u);
  for (const auto& list : graph.influences) EXPECT_EQ(list.size(), 600u);
  EXPECT_EQ(c.group().snap->width, 1);
}

TEST(Snap, LargeSparseProductsAreFollowedExactly) {
  constexpr int64_t    n = 6000;
  std::vector<int32_t> from(n), to(n);
  for (int32_t i = 0; i < n; ++i) from[i] = i, to[i] = (i + 1) % static_cast<int32_t>(n);
  const SparsePattern ring{Array::of<int32_t>(from, {n}), Array::of<int32_t>(to, {n}), n, n};
  const Rule          sparse = [&](auto& h, auto&) {
    return reshape(dot(reshape(h, {n}), ring, zeros({n}, DType::F64)), {n, 1});
  };
  const Compiled c(sparse, {n, 1}, 2);
  EXPECT_EQ(c.group().snap->reason, "");
  EXPECT_EQ(c.group().snap->width, 2);
}

// Its graph would have 2.5·10⁹ edges. Without it, every position is taken alone.
TEST(Snap, GroupsTooLargeToFollowSayWhatToDo) {
  const Rule     sums = [](auto& h, auto&) { return cumsum(h, 0); };
  const Compiled alone(sums, {50000, 1}, 1);
  EXPECT_EQ(alone.group().snap->width, 1);
  EXPECT_EQ(alone.group().snap->neighbors.back(), 49999);
  EXPECT_NE(error_of([&] {
              Compiled(sums, {50000, 1}, 2);
            }).find("its 50000 positions are too many"),
            std::string::npos);
}

// Positions that never meet share one push; of too many to compare, each keeps its own.
TEST(IndependentClasses, AreAsFewAsCanBeFollowed) {
  const auto classes = [](int64_t units) {
    const Program p =
        trace({{DType::F64, {units}}}, [](const Tensors& in) -> Tensors { return {tanh(in[0])}; }).program;
    return independent_classes(p, 0, 1, units);
  };
  EXPECT_EQ(classes(4), (std::vector<int>{0, 0, 0, 0}));
  EXPECT_EQ(classes(1), (std::vector<int>{0}));
  const std::vector<int> many = classes(50000);
  EXPECT_EQ(many.front(), 0);
  EXPECT_EQ(many.back(), 49999);
}

TEST(Snap, TooWideJacobiansAreRefusedWithTheNumbers) {
  const Rule     dense = [](auto& h, auto& w) { return matmul(h, w); };
  const Compiled c(dense, {2, 4}, 2);
  CompileOptions o             = snap(2);
  o.snap_max_jacobian_elements = 2 * 4 * 4 * 4;
  EXPECT_NO_THROW(compile_etrace_graph(*c.cell, {{DType::F64, {}}}, o));
  --o.snap_max_jacobian_elements;
  try {
    compile_etrace_graph(*c.cell, {{DType::F64, {}}}, o);
    FAIL() << "no error";
  } catch (const CompileError& e) {
    EXPECT_NE(std::string(e.what()).find("= 128 elements; snap_max_jacobian_elements is 127"), std::string::npos)
        << e.what();
  }
}

TEST(Snap, BadOptionsAreRefused) {
  const Compiled c([](auto& h, auto&) { return h; }, {3}, 1);
  const auto     error = [&](CompileOptions o) {
    return error_of([&] { compile_etrace_graph(*c.cell, {{DType::F64, {}}}, o); });
  };
  EXPECT_NE(error(snap(0)).find("at least 1"), std::string::npos);
  CompileOptions o           = snap(2);
  o.include_recurrent_mixing = false;
  EXPECT_NE(error(o).find("needs include_recurrent_mixing"), std::string::npos);
}

}  // namespace

}  // namespace braintrace

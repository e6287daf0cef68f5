// SPDX-License-Identifier: Apache-2.0
// Compiled sparse products: known patterns are checked once, when the program is compiled; all others at every call.
#include "braintrace/ops/sparse.h"

#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>

#include "braintrace/algorithms/es_d_rtrl.h"
#include "braintrace/backends/cpu/cpu_backend.h"
#include "braintrace/backends/cpu/stepper.h"
#include "braintrace/backends/cpu/thread_pool.h"
#include "braintrace/backends/reference/interpreter.h"
#include "braintrace/base/rng.h"
#include "braintrace/codegen/events.h"
#include "braintrace/codegen/known_indices.h"
#include "braintrace/codegen/schedule.h"
#include "braintrace/functions/functions.h"
#include "braintrace/functions/loops.h"
#include "braintrace/ir/builder.h"
#include "braintrace/nn/factored.h"
#include "braintrace/nn/loss.h"
#include "braintrace/nn/neuron.h"
#include "braintrace/nn/optim.h"
#include "braintrace/ops/axes.h"
#include "braintrace/ops/index.h"
#include "braintrace/ops/index_walk.h"
#include "braintrace/ops/math.h"
#include "braintrace/ops/move.h"
#include "braintrace/ops/reduce.h"
#include "braintrace/runtime/values.h"
#include "braintrace/transforms/simplify.h"
#include "tests/codegen/agreement.h"

namespace braintrace {
namespace {

using testing_support::worst_disagreement;

Array numbers(Rng& rng, int64_t count, int64_t below) {
  Array a({DType::I32, {count}});
  for (int64_t i = 0; i < count; ++i) a.mutable_data<int32_t>()[i] = static_cast<int32_t>(rng.integer(below));
  return a;
}

int64_t count_of(const codegen::Schedule& s, const Op& op) {
  int64_t n = 0;
  for (const codegen::Kernel& k : s.entries[0]->kernels) n += std::count(k.ops.begin(), k.ops.end(), &op);
  return n;
}

// All operations by index, with a pattern that is traced in or given at every call.
Tensors by_index(const Tensor& from, const Tensor& to, const Tensor& values, const Tensor& x) {
  const SparsePattern p{from, to, 6, 4};
  const Tensor        y = dot(x, p, values);
  return {y, dot(y, transposed(p), values), take(x, from), scatter_add(x, from, values)};
}

TEST(KnownIndices, AreCheckedOnce) {
  Rng         rng(1);
  const Array from = numbers(rng, 9, 6), to = numbers(rng, 9, 4);
  const Array values = random_array(rng, {DType::F32, {9}}), x = random_array(rng, {DType::F32, {6}});
  const Types floats = {values.type(), x.type()};
  const auto  traced = [&](const Array& f) {
    return trace(floats, [&](const Tensors& in) { return by_index(f, to, in[0], in[1]); });
  };
  const auto stops = [](const Program& p) { return codegen::scheduled({p}).entries[0]->may_stop; };
  const auto known = [](const Traced& t) {
    Arrays constants;
    for (const Tensor& c : t.constants) constants.push_back(c.array());
    return std::pair(codegen::with_known_indices(t.program, constants), constants);
  };
  EXPECT_FALSE(stops(known(traced(from)).first));
  const Program given = trace({from.type(), to.type(), values.type(), x.type()}, [&](const Tensors& in) {
                          return by_index(in[0], in[1], in[2], in[3]);
                        }).program;
  EXPECT_TRUE(stops(given)) << "an index that comes with the call is checked with it";

  const Traced good           = traced(from);
  const auto [program, bound] = known(good);
  EXPECT_LE(worst_disagreement({{"known", good.program, bound, {values, x}}}).distance, 1e-6);
  EXPECT_LE(worst_disagreement({{"given", given, {}, {from, to, values, x}}}).distance, 1e-6);

  Array bad = from.copy();
  for (const int32_t wrong : {-1, 6}) {
    bad.mutable_data<int32_t>()[5]        = wrong;
    const auto [wrong_program, constants] = known(traced(bad));
    EXPECT_TRUE(stops(wrong_program));
    EXPECT_THROW(cpu_backend().compile(traced(bad).program, constants)->run({values, x}), UserError);
  }
}

// Also in a loop over time.
TEST(KnownIndices, AreKnownInLoops) {
  Rng         rng(2);
  const Array from = numbers(rng, 9, 5), to = numbers(rng, 9, 5);
  const Types types = {{DType::F32, {9}}, {DType::F32, {7, 5}}};
  const auto  t     = trace_function(types, [&](const Tensors& in) -> Tensors {
    const auto step = [&](Tensor h, Tensor x) {
      const Tensor y = tanh(x + dot(h, SparsePattern{from, to, 5, 5}, in[0]));
      return std::pair(y, take(y, from));
    };
    const auto [h, ys] = scan(step, zeros({5}), in[1]);
    return {h, ys};
  });
  Arrays      constants;
  for (const Tensor& c : t.constants) constants.push_back(c.array());
  EXPECT_FALSE(codegen::scheduled({codegen::with_known_indices(t.program, constants)}).entries[0]->may_stop);
  const Array values = random_array(rng, types[0]), x = random_array(rng, types[1]);
  EXPECT_LE(worst_disagreement({{"loop", t.program, constants, {values, x}}}).distance, 1e-6);
}

// Spiking neurons that drive each other through a sparse matrix, a readout, and one update of a learning rule.
struct Net : nn::Module {
  nn::SparseLinear rec;
  nn::LIF          neurons;
  nn::Linear       out;
  Net(const SparsePattern& p, const Tensor& w)
      : rec(p, w), neurons(p.n_rows, {.tau = 5.0, .reset = nn::Reset::Hard, .dt = 1.0}), out(p.n_rows, 2) {
    children({{"rec", rec}, {"neurons", neurons}, {"out", out}});
  }
  Tensor update(const Tensor& x) override { return out(neurons(x + rec(neurons.spikes()))); }
};

struct Learning {
  static constexpr int64_t n = 300, degree = 20, E = n * degree;

  Net                         net;
  std::unique_ptr<ES_D_RTRL>  learner;
  std::unique_ptr<optim::SGD> optimizer;

  static SparsePattern pattern(bool by_target) {
    Rng   rng(3);
    Array near({DType::I32, {E}}), far = numbers(rng, E, n);
    for (int64_t e = 0; e < E; ++e) near.mutable_data<int32_t>()[e] = static_cast<int32_t>(e / degree);
    return by_target ? coo(far, near, n, n) : coo(near, far, n, n);
  }
  static Tensor weights() {
    Rng rng(4);
    return Tensor(random_array(rng, {DType::F32, {E}})) * 0.1;
  }
  explicit Learning(bool by_target, std::optional<int64_t> batch = {}) : net(pattern(by_target), weights()) {
    if (batch)
      init_all_states(net, {.batch_size = *batch});
    else
      init_all_states(net);
    net.out.weight.set_leaf("weight", full({n, 2}, 0.25));
    learner   = std::make_unique<ES_D_RTRL>(net, 0.9);
    optimizer = std::make_unique<optim::SGD>(1e-2);
    learner->compile_graph(Types{{DType::F32, batch ? Shape{*batch, n} : Shape{n}}});
    optimizer->register_trainable_weights(net.params());
  }
  Tensor update(const Tensor& x, const Tensor& y) {
    const auto loss         = [&](Tensor xi, Tensor yi) { return losses::mse((*learner)(xi), yi); };
    auto [value, gradients] = value_and_grad(loss, net.params())(x, y);
    optimizer->update(gradients);
    return value;
  }
  // The weights after some steps, in which so many neurons are driven to spike.
  Array run(double rate, std::optional<int64_t> batch = {}) {
    Rng  rng(5);
    auto step = jit([this](Tensor x, Tensor y) { return update(x, y); });
    for (int k = 0; k < 6; ++k) {
      Array x({DType::F32, batch ? Shape{*batch, n} : Shape{n}});
      for (int64_t i = 0; i < x.size(); ++i) x.mutable_data<float>()[i] = rng.uniform() < rate ? 20.0F : 0.5F;
      step(Tensor(x), full(batch ? Shape{*batch, 2} : Shape{2}, 0.5));
    }
    return net.rec.weight.leaf("weight").array();
  }
};

// One row, and a batch whose synapses are stored by target: otherwise it has no event-based updates.
class SparseStep : public testing::TestWithParam<std::optional<int64_t>> {};
INSTANTIATE_TEST_SUITE_P(Rows, SparseStep, testing::Values(std::nullopt, 1, 3));

TEST_P(SparseStep, ComputesTheProductOnceAndGathersInPlace) {
  const auto batch = GetParam();
  Learning   l(batch.has_value(), batch);
  const auto t = trace_function(
      {{DType::F32, batch ? Shape{*batch, l.n} : Shape{l.n}}, {DType::F32, batch ? Shape{*batch, 2} : Shape{2}}},
      [&](const Tensors& in) -> Tensors { return {l.update(in[0], in[1])}; });
  Arrays constants;
  for (const Tensor& c : t.constants) constants.push_back(c.array());
  const codegen::Schedule s = codegen::scheduled({codegen::with_known_indices(simplify(t.program), constants)});
  EXPECT_EQ(count_of(s, sparse_dot_op), 0);
  EXPECT_EQ(count_of(s, codegen::event_dot_op), 1);
  EXPECT_EQ(count_of(s, codegen::event_update_op), 1);
  // Of all arrays with a number per synapse, only the new weights are written.
  const codegen::Function& f      = *s.entries[0];
  int64_t                  arrays = 0;
  for (const codegen::Kernel& k : f.kernels)
    for (Var v : k.writes) arrays += f.buffers[static_cast<size_t>(v)].type.size() >= l.E;
  EXPECT_EQ(arrays, 1);
  EXPECT_FALSE(f.may_stop);
}

TEST(SparseLearning, IsThatOfTheInterpreter) {
  for (const bool by_target : {false, true})
    for (const double rate : {0.0, 0.03, 0.6}) {
      const auto weights = [&](std::string_view backend) {
        const BackendScope scope(backend);
        return Learning(by_target).run(rate);
      };
      const Array want = weights("reference");
      EXPECT_EQ(max_difference(want, Learning::weights()) > 1e-4, rate > 0) << "what is silent learns nothing";
      EXPECT_LT(max_difference(weights("cpu"), want), 1e-6) << by_target << " " << rate;
    }
}

TEST(SparseLearning, OfABatchIsThatOfTheInterpreter) {
  struct Case {
    bool   by_target;
    double rate;
  };
  for (const Case& c : {Case{false, 0.1}, {true, 0.0}, {true, 0.1}}) {
    const auto weights = [&](std::string_view backend) {
      const BackendScope scope(backend);
      return Learning(c.by_target, 3).run(c.rate, 3);
    };
    const Array want = weights("reference");
    EXPECT_EQ(max_difference(want, Learning::weights()) > 1e-4, c.rate > 0) << "what is silent learns nothing";
    EXPECT_LT(max_difference(weights("cpu"), want), 1e-6) << c.by_target << " " << c.rate;
  }
}

// Products with patterns that lie by source, by target and in no order, for few and many events, in one row and
// several: the sums of the interpreter, and nothing from a silent source, be its weight infinite.
TEST(EventProduct, IsThatOfTheInterpreter) {
  constexpr int64_t n = 150, m = 30, E = 5000;
  for (const int order : {0, 1, 2})
    for (const Shape& rows : {Shape{}, Shape{3}}) {
      Rng                                      rng(6);
      std::vector<std::pair<int32_t, int32_t>> at;
      for (int64_t e = 0; e < E; ++e) at.emplace_back(rng.integer(n), rng.integer(m));
      if (order == 0) std::sort(at.begin(), at.end());
      if (order == 1) std::sort(at.begin(), at.end(), [](auto a, auto b) { return a.second < b.second; });
      Array from({DType::I32, {E}}), to({DType::I32, {E}}), values = random_array(rng, {DType::F32, {E}});
      for (int64_t e = 0; e < E; ++e) {
        from.mutable_data<int32_t>()[e] = at[static_cast<size_t>(e)].first;
        to.mutable_data<int32_t>()[e]   = at[static_cast<size_t>(e)].second;
        if (at[static_cast<size_t>(e)].first == 7) values.mutable_data<float>()[e] = INFINITY;
      }
      for (const double density : {0.0, 0.1, 0.9}) {
        Array x({DType::F32, joined(rows, Shape{n})});
        for (int64_t i = 0; i < x.size(); ++i)
          x.mutable_data<float>()[i] = rng.uniform() < density && i % n != 7 ? 0.5F : 0.0F;
        const Traced t = trace({values.type(), x.type()}, [&](const Tensors& in) -> Tensors {
          return {dot(in[1], SparsePattern{from, to, n, m}, in[0])};
        });
        ASSERT_EQ(t.constants.size(), 2u);
        const Arrays constants = {t.constants[0].array(), t.constants[1].array()};
        const auto   s         = codegen::scheduled({codegen::with_known_indices(t.program, constants)});
        EXPECT_EQ(count_of(s, codegen::event_dot_op), 1);
        const auto worst = worst_disagreement({{"product", t.program, constants, {values, x}}});
        EXPECT_LE(worst.distance, 1e-5) << order << " " << density;
      }
    }
}

TEST(Grouping, HoldsTheEntriesOfEveryKeyByBlocksOfTheOtherEnd) {
  Rng           rng(7);
  const int64_t keys = 6, others = 10, blocks = 4, E = 60;
  const Array   key = numbers(rng, E, keys), other = numbers(rng, E, others);
  const auto    g = codegen::grouped(key, keys, other, others, blocks);
  ASSERT_EQ(g.order.size(), E);
  std::vector<bool> seen(E);
  for (int32_t k = 0; k < keys; ++k)
    for (int32_t b = 0; b < blocks; ++b)
      for (int32_t i = g.starts.data<int32_t>()[k * blocks + b]; i < g.starts.data<int32_t>()[k * blocks + b + 1];
           ++i) {
        const int32_t e = g.order.data<int32_t>()[i];
        EXPECT_FALSE(seen[static_cast<size_t>(e)]);
        seen[static_cast<size_t>(e)] = true;
        EXPECT_EQ(key.data<int32_t>()[e], k);
        EXPECT_EQ(other.data<int32_t>()[e] * blocks / others, b);
      }
  EXPECT_EQ(std::count(seen.begin(), seen.end(), true), E);
  const auto again = codegen::grouped(Array::of<int32_t>({0, 0, 2}, {3}), 3, Array::of<int32_t>({1, 0, 1}, {3}), 2, 1);
  EXPECT_EQ(again.order.size(), 0) << "entries that lie by key already need no order";
  EXPECT_EQ(to_vector<int32_t>(again.starts), (std::vector<int32_t>{0, 2, 2, 3}));
}

// An update w(w, u, v), in place by compiled code: that of the interpreter, within a tolerance where both are finite.
void expect_interpreters_update(const Traced& t, const Arrays& inputs, double tolerance, const std::string& what) {
  Arrays constants;
  for (const Tensor& c : t.constants) constants.push_back(c.array());
  const Array       want = evaluate(t.program, constants, inputs)[0];
  cpu::Stepper      stepper(t.program, constants, {{0, 0}}, inputs);
  const void* const args[] = {inputs[1].raw(), inputs[2].raw()};
  stepper.step(args, nullptr);
  const Array got = stepper.value(0);
  for (int64_t e = 0; e < want.size(); ++e)
    EXPECT_TRUE(at(got, e) == at(want, e) || std::abs(at(got, e) - at(want, e)) < tolerance ||
                (std::isnan(at(got, e)) && std::isnan(at(want, e))))
        << what << " " << e << " " << at(got, e) << " " << at(want, e);
}

// In a batch a target learns from the rows in which it has a signal, and a source that is not finite reaches the
// weights to silent targets; the interpreter says which.
TEST(EventUpdate, OfABatchIsThatOfTheInterpreter) {
  constexpr int64_t n = 50, E = 5000, B = 4;
  Rng               rng(10);
  const Array       from = numbers(rng, E, n), w = random_array(rng, {DType::F32, {E}});
  Array             to({DType::I32, {E}});
  for (int64_t e = 0; e < E; ++e) to.mutable_data<int32_t>()[e] = static_cast<int32_t>(e / 100);
  for (const double odd : {0.5, static_cast<double>(NAN), static_cast<double>(INFINITY)})
    for (const bool at_source : {false, true}) {
      Array u = random_array(rng, {DType::F32, {B, n}}), v({DType::F32, {B, n}});
      std::fill_n(v.mutable_data<float>(), v.size(), 0.0F);
      for (const int64_t i : {3, 53, 104, 150}) v.mutable_data<float>()[i] = 0.25F * static_cast<float>(i);
      (at_source ? u : v).mutable_data<float>()[120] = static_cast<float>(odd);
      const Traced t = trace({w.type(), u.type(), v.type()}, [&](const Tensors& in) -> Tensors {
        return {in[0] - sum(take(in[1], Tensor(from), -1) * take(in[2], Tensor(to), -1), Ints{0})};
      });
      Arrays       constants;
      for (const Tensor& c : t.constants) constants.push_back(c.array());
      const auto s = codegen::scheduled({codegen::with_known_indices(t.program, constants)});
      EXPECT_EQ(count_of(s, codegen::event_update_op), 1);
      expect_interpreters_update(t, {w, u, v}, 1e-5, std::to_string(odd));
    }
}

// A learning signal that is not a number reaches the weights of silent sources too, as in the interpreter.
TEST(EventUpdate, LeavesOutNothingThatIsNotANumber) {
  constexpr int64_t n = 50, E = 5000;
  Rng               rng(8);
  const Array       from = numbers(rng, E, n), to = numbers(rng, E, n), w = random_array(rng, {DType::F32, {E}});
  for (const double odd : {0.0, static_cast<double>(NAN), static_cast<double>(INFINITY)}) {
    Array u({DType::F32, {n}}), v({DType::F32, {n}});
    std::fill_n(u.mutable_data<float>(), n, 0.0F);
    std::fill_n(v.mutable_data<float>(), n, 0.0F);
    u.mutable_data<float>()[3] = 2;
    v.mutable_data<float>()[4] = 0.5F;
    v.mutable_data<float>()[5] = static_cast<float>(odd);
    const Traced t             = trace({w.type(), u.type(), v.type()}, [&](const Tensors& in) -> Tensors {
      return {in[0] - take(in[1], Tensor(from)) * take(in[2], Tensor(to))};
    });
    expect_interpreters_update(t, {w, u, v}, 0, std::to_string(odd));
  }
}

// Threads share targets, sources and entries: every number is computed by one of them, in the order of the pattern.
TEST(SparseLearning, ThreadsDoNotChangeBits) {
  constexpr int64_t n = 1000, E = 280000;
  Rng               rng(9);
  const Array       far = numbers(rng, E, n);
  Array             near({DType::I32, {E}});
  for (int64_t e = 0; e < E; ++e) near.mutable_data<int32_t>()[e] = static_cast<int32_t>(e * n / E);
  const Array w      = random_array(rng, {DType::F32, {E}});
  const int   before = cpu::num_threads();
  struct Case {
    bool   by_target;
    double density;
    Shape  rows;
  };
  for (const Case& c :
       {Case{false, 0.02, {}}, {false, 0.5, {}}, {true, 0.02, {}}, {true, 0.5, {}}, {true, 0.02, {3}}}) {
    const Array v = random_array(rng, {DType::F32, joined(c.rows, Shape{n})});
    Array       x(v.type());
    for (int64_t i = 0; i < x.size(); ++i) x.mutable_data<float>()[i] = rng.uniform() < c.density ? 1.0F : 0.0F;
    const Array &from = c.by_target ? far : near, &to = c.by_target ? near : far;
    const Traced t = trace({w.type(), x.type(), v.type()}, [&](const Tensors& in) -> Tensors {
      const Tensor y      = dot(in[1], SparsePattern{from, to, n, n}, in[0]);
      const Tensor change = take(in[1], Tensor(from), -1) * take(in[2], Tensor(to), -1);
      return {in[0] - (c.rows.empty() ? change : sum(change, Ints{0})), y};
    });
    Arrays       constants;
    for (const Tensor& c : t.constants) constants.push_back(c.array());
    const auto s = codegen::scheduled({codegen::with_known_indices(t.program, constants)});
    for (const codegen::Kernel& k : s.entries[0]->kernels)
      if (k.ops[0] == &codegen::event_dot_op || k.ops[0] == &codegen::event_update_op)
        EXPECT_GT(k.grain, 0) << k.ops[0]->name << " is not shared";
    cpu::Stepper stepper(t.program, constants, {{0, 0}});
    const auto   results = [&](int threads) {
      cpu::set_num_threads(threads);
      stepper.hold({w});
      Array             y(x.type());
      const void* const args[] = {x.raw(), v.raw()};
      void* const       out[]  = {y.mutable_raw()};
      for (int k = 0; k < 3; ++k) stepper.step(args, out);
      return Arrays{stepper.value(0), y};
    };
    const Arrays one = results(1);
    for (const int threads : {2, 7}) {
      const Arrays many = results(threads);
      EXPECT_TRUE(identical(one[0], many[0]) && identical(one[1], many[1])) << threads << " " << c.density;
    }
  }
  cpu::set_num_threads(before);
}

}  // namespace
}  // namespace braintrace

// SPDX-License-Identifier: Apache-2.0
// Lesson: core concepts. The text is core_concepts.md.
#include <set>

#include "docs/tutorial/lesson.h"

namespace {

bt::ParamState random_weight(int64_t n_in, int64_t n_out) {
  return bt::ParamState(bt::random::normal(bt::random::next(), {n_in, n_out}) * 0.01);
}

}  // namespace

struct SimpleRNN : bt::nn::Module {
  bt::ParamState     w_in, w_rec, w_out;
  bt::ShortTermState h;
  SimpleRNN(int n_in, int n_rec, int n_out)
      : w_in(state("w_in", random_weight(n_in, n_rec))),
        w_rec(state("w_rec", random_weight(n_rec, n_rec))),
        w_out(state("w_out", random_weight(n_rec, n_out))),
        h(state("h", bt::ShortTermState(bt::zeros({n_rec})))) {}

  bt::Tensor update(const bt::Tensor& x) override {
    // Regular product: w_in excluded from online learning
    const bt::Tensor inp = bt::dot(x, w_in.value());
    // ETP product: w_rec included in online learning
    const bt::Tensor rec = bt::matmul(h.value(), w_rec.value());
    h.set(bt::tanh(inp + rec));
    // Regular product: w_out excluded from online learning
    return bt::dot(h.value(), w_out.value());
  }
};

struct GRUNet : bt::nn::Module {
  bt::nn::GRUCell rnn;
  bt::nn::Linear  readout;
  GRUNet(int n_in, int n_rec, int n_out) : rnn(n_in, n_rec), readout(n_rec, n_out) {
    children({{"rnn", rnn}, {"readout", readout}});
  }
  bt::Tensor update(const bt::Tensor& x) override { return readout(rnn(x)); }
};

namespace {

int64_t elements(const bt::Tensors& tensors) {
  int64_t n = 0;
  for (const bt::Tensor& t : tensors) n += t.size();
  return n;
}

void memory_does_not_grow() {
  GRUNet model(10, 64, 10);
  bt::init_all_states(model);
  bt::D_RTRL trainer(model);
  trainer.compile_graph(bt::zeros({10}));
  const int64_t before = elements(trainer.memory());
  for (int t = 0; t < 5; ++t) trainer(bt::ones({10}));
  check(elements(trainer.memory()) == before && before > 0, "memory is O(1) per time step");
}

void operation_decides() {
  SimpleRNN  model(10, 32, 5);
  bt::D_RTRL trainer(model);
  trainer.compile_graph(bt::zeros({10}));
  fmt::print("{}", trainer.show_graph());

  const bt::ETraceGraph& graph = trainer.graph();
  check(graph.hidden_param_op_relations.size() == 1 && relation_of(graph, "w_rec").carries_trace(),
        "w_rec, and only w_rec, has an eligibility trace");
  check(graph.explain({.kind = bt::DiagnosticKind::ShortTermStatePromoted}).size() == 1,
        "h is carried from step to step: the compiler takes it as hidden and says so");

  auto loss = [&](const bt::Tensor& x) { return bt::mean(bt::square(trainer(x) - 0.5)); };
  auto grad = bt::grad(loss, model.params());
  grad(bt::ones({10}));  // h is zero at the first step, and so is the gradient of w_rec
  const bt::Gradients grads = grad(bt::ones({10}));
  for (const char* w : {"w_in", "w_rec", "w_out"})
    check(bt::max(bt::abs(grads[w])).item() > 1e-6, "all three weights receive gradients");

  bt::optim::SGD opt(0.5);
  opt.register_trainable_weights(model.params());
  const bt::Tensor start = model.w_rec.value();
  const double     first = loss(bt::ones({10})).item();
  for (int t = 0; t < 20; ++t) opt.update(grad(bt::ones({10})));
  check(distance(model.w_rec.value(), start) > 1e-6 && loss(bt::ones({10})).item() < 0.1 * first,
        "w_rec learns online, and the loss falls");
}

// The trainable operations in one step of a layer, by the names of their functions.
std::string operations_of(bt::Module& layer, const bt::Shape& input) {
  bt::init_all_states(layer);
  std::set<std::string> names;
  const auto            step =
      bt::trace_function({{bt::DType::F32, input}}, [&](const bt::Tensors& in) { return bt::Tensors{layer(in[0])}; });
  for (const bt::Eqn& e : step.program.eqns)
    if (e.op->etp) names.insert(std::string(e.op->called()));
  std::string list;
  for (const std::string& name : names) list += list.empty() ? name : ", " + name;
  return list.empty() ? "none" : list;
}

void layers_and_their_operations() {
  using namespace bt::nn;
  const bt::Tensor ends = bt::Array::of<int32_t>({0, 1, 2}, {3});
  const auto       show = [](const char* name, Module&& layer, const bt::Shape& input) {
    fmt::print("  {:<18} {}\n", name, operations_of(layer, input));
  };
  show("Linear", Linear(3, 4), {3});
  show("SignedWLinear", SignedWLinear(3, 4), {3});
  show("ScaledWSLinear", ScaledWSLinear(3, 4), {3});
  show("SparseLinear", SparseLinear(bt::coo(ends, ends, 3, 4), bt::ones({3})), {3});
  show("LoRA", LoRA(3, 2, 4), {3});
  show("Conv1d", Conv1d({8, 1}, 2, 3), {8, 1});
  show("Conv2d", Conv2d({8, 8, 1}, 2, 3), {8, 8, 1});
  show("Conv3d", Conv3d({4, 4, 4, 1}, 2, 3), {4, 4, 4, 1});
  show("GRUCell", GRUCell(3, 4), {3});
  show("LSTMCell", LSTMCell(3, 4), {3});
  show("ValinaRNNCell", ValinaRNNCell(3, 4), {3});
  show("LeakyRateReadout", LeakyRateReadout(3, 4, {.dt = 1.0}), {3});
  show("BatchNorm1d", BatchNorm1d(3), {2, 5, 3});
  show("LayerNorm", LayerNorm(3), {3});
}

void three_steps() {
  // Step 1: Define model
  GRUNet model(10, 64, 10);
  bt::init_all_states(model);
  fmt::print("{}\n", model);

  // Step 2: Wrap with D-RTRL and compile
  bt::D_RTRL trainer(model);
  trainer.compile_graph(bt::zeros({10}));  // an example input, for its shape
  for (const auto& record : bt::CompilationReport(trainer.graph()).diagnostics())
    if (record.kind != bt::DiagnosticKind::RelationIncluded)
      fmt::print("{}: {}\n", bt::name_of(record.kind), record.weight_path.tuple());

  // Step 3: Use standard gradient computation
  // The eligibility traces are updated inside trainer(x)
  auto                loss_fn = [&](const bt::Tensor& x) { return bt::mean(bt::square(trainer(x))); };
  auto                grad_fn = bt::grad(loss_fn, model.params());
  const bt::Tensors   before  = trainer.memory();
  const bt::Gradients grads   = grad_fn(bt::ones({10}));

  const bt::ETraceGraph& graph = trainer.graph();
  for (const char* w : {"rnn.Wz.weight", "rnn.Wr.weight", "rnn.Wh.weight"})
    check(relation_of(graph, w).group_indices() == std::vector<int>{0},
          "all recurrent parameters of the GRUCell participate in online learning");
  check(!graph
             .explain({.weight_path = bt::Path{"readout", "weight"},
                       .kind        = bt::DiagnosticKind::RelationExcludedNonTemporal})
             .empty(),
        "the readout is not connected to any hidden state");
  const bt::Tensors after = trainer.memory();
  for (size_t i = 0; i < after.size(); ++i) check(distance(before[i], after[i]) > 0, "each call updates all traces");
  check(grads.size() == 4, "the gradient has an entry for every weight");
  for (const auto& [path, leaves] : grads)
    check(path.str() == "rnn.Wr.weight" || bt::max(bt::abs(leaves.at("weight"))).item() > 0, "and it is alive");
}

void own_model() {
  SimpleRNN  model(10, 32, 5);
  bt::D_RTRL trainer(model);
  trainer.compile_graph(bt::zeros({10}));

  bt::optim::SGD opt(bt::optim::exponential_lr(0.1, 0.9));
  opt.register_trainable_weights(model.params());
  auto             train = bt::jit([&](const bt::Tensor& x, const bt::Tensor& y) {
    auto loss = [&](const bt::Tensor& in) {
      const bt::Tensor error = trainer(in) - y;
      return (error * error).mean();
    };
    opt.update(bt::grad(loss, model.params())(x));
  });
  const bt::Tensor xs = bt::random::randn(20, 10), y = bt::ones({5});
  for (int epoch = 0; epoch < 3; ++epoch) {
    trainer.reset();  // a new sequence: states and traces
    for (int t = 0; t < 20; ++t) train(xs[t], y);
    opt.lr().step();  // the jitted step follows
    fmt::print("  the learning rate is now {:.3f}\n", opt.current_lr());
  }
  check(train.num_traces() == 1, "a new rate needs no new trace");
  trainer.reset();
  check(bt::abs(model.h.value()).max().item() == 0, "a state made from a value starts from it again");
}

void algorithms() {
  constexpr int64_t n_in = 10, N = 64, B = 4;
  const int64_t     theta = 2 * ((n_in + N) * N + N);  // Wz and Wh with their biases
  GRUNet            model(n_in, N, 10);
  bt::init_all_states(model, {.batch_size = B});

  // D-RTRL for RNNs
  bt::D_RTRL d_rtrl(model);
  // ES-D-RTRL for SNNs
  bt::ES_D_RTRL es_d_rtrl(model, bt::TraceDecay::decay(0.9));
  d_rtrl.compile_graph(bt::zeros({B, n_in}));
  es_d_rtrl.compile_graph(bt::zeros({B, n_in}));
  fmt::print("  D_RTRL     {} numbers\n  ES_D_RTRL  {} numbers\n", elements(d_rtrl.memory()),
             elements(es_d_rtrl.memory()));

  check(elements(d_rtrl.memory()) == B * theta, "D-RTRL keeps O(B·θ) numbers");
  check(elements(es_d_rtrl.memory()) < 8 * B * (n_in + 2 * N), "ES-D-RTRL keeps O(B·N) numbers");
}

}  // namespace

int main() {
  bt::random::seed(1);
  const std::pair<const char*, void (*)()> sections[] = {
      {"memory", memory_does_not_grow},        {"the operation decides", operation_decides},
      {"layers", layers_and_their_operations}, {"three steps", three_steps},
      {"a model of your own", own_model},      {"algorithms", algorithms}};
  for (const auto& [title, section] : sections) {
    fmt::print("# {}\n", title);
    section();
    fmt::print("\n");
  }
}

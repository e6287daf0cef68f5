// SPDX-License-Identifier: Apache-2.0
#include "tests/codegen/learning_jobs.h"

#include <fmt/format.h>

#include "braintrace/algorithms/bptt.h"
#include "braintrace/algorithms/d_rtrl.h"
#include "braintrace/algorithms/drivers.h"
#include "braintrace/algorithms/es_d_rtrl.h"
#include "braintrace/base/rng.h"
#include "braintrace/functions/grad.h"
#include "braintrace/model/environment.h"
#include "braintrace/model/random_stream.h"
#include "braintrace/nn/linear.h"
#include "braintrace/nn/neuron.h"
#include "braintrace/nn/optim.h"
#include "braintrace/nn/rnn.h"
#include "braintrace/ops/index_walk.h"
#include "braintrace/ops/math.h"
#include "braintrace/ops/move.h"
#include "braintrace/ops/reduce.h"
#include "braintrace/runtime/values.h"

namespace braintrace::testing_support {

namespace {

// Neurons that feed each other.
template <class Population>
class Spiking : public nn::Module {
 public:
  Spiking(int64_t n_in, int64_t n) : w(n_in + n, n), neuron(n) { children({{"w", w}, {"neuron", neuron}}); }
  Tensor update(const Tensor& x) override { return neuron(w(concat({x, neuron.spikes()}, -1))); }

  nn::Linear w;
  Population neuron;
};

std::shared_ptr<nn::Module> cell_of(const LearningOptions& o, int64_t n_in) {
  if (o.kind == "rnn") return std::make_shared<nn::ValinaRNNCell>(n_in, o.n, nn::CellOptions{.activation = "tanh"});
  if (o.kind == "gru") return std::make_shared<nn::GRUCell>(n_in, o.n);
  if (o.kind == "lstm") return std::make_shared<nn::LSTMCell>(n_in, o.n);
  if (o.kind == "alif") return std::make_shared<Spiking<nn::ALIF>>(n_in, o.n);
  return std::make_shared<Spiking<nn::LIF>>(n_in, o.n);
}

class Net : public nn::Module {
 public:
  explicit Net(const LearningOptions& o) : out(o.n, o.n_out) {
    for (int64_t i = 0; i < o.layers; ++i) {
      cells.push_back(cell_of(o, i == 0 ? o.n_in : o.n));
      children({{i == 0 ? "cell" : fmt::format("cell{}", i), *cells.back()}});
    }
    children({{"out", out}});
  }
  Tensor update(const Tensor& x) override {
    Tensor y = x;
    for (const auto& cell : cells) y = cell->update(y);
    return out(y);
  }

  std::vector<std::shared_ptr<nn::Module>> cells;
  nn::Linear                               out;
};

std::shared_ptr<OnlineLearner> learner_named(const std::string& rule, Module& model) {
  if (rule == "D_RTRL") return std::make_shared<D_RTRL>(model);
  if (rule == "ES_D_RTRL") return std::make_shared<ES_D_RTRL>(model, TraceDecay::decay(0.9));
  return std::make_shared<BPTT>(model);
}

}  // namespace

LearningJob learning_job(const LearningOptions& o) {
  Environment::Scope scope({.dt = 1.0, .precision = o.dtype});
  random::seed(3);
  Net model(o);
  init_all_states(model, {.batch_size = o.batch});
  const auto learner = learner_named(o.rule, model);
  learner->compile_graph(zeros({o.batch, o.n_in}, o.dtype));
  optim::SGD opt(0.1);
  opt.register_trainable_weights(model.params());
  auto loss = [&](Tensor x, Tensor y) {
    return mean(square((o.form == Form::Window ? (*learner)(MultiStepData{{x}}) : (*learner)(x)) - y));
  };
  Rng         rng(4);
  const Shape lead = o.form == Form::Step ? Shape{o.batch} : Shape{o.steps, o.batch};
  auto        draw = [&](int64_t width) {
    Shape shape = lead;
    shape.push_back(width);
    return Tensor(random_array(rng, {o.dtype, shape}));
  };
  const Tensor x = draw(o.n_in), y = draw(o.n_out);
  if (o.first && o.form != Form::Sequence) loss(o.form == Form::Step ? draw(o.n_in) : x, y);
  const StatefulProgram    p       = trace_function({x.type(), y.type()}, [&](const Tensors& in) -> Tensors {
    if (o.form == Form::Sequence) {
      auto r = etrace_grad(loss, *learner, {.window = Window::all(), .drop_traces = true})(in[0], in[1]);
      opt.update(r.grads);
      return {mean(r.losses)};
    }
    auto [value, grads] = value_and_grad(loss, model.params())(in[0], in[1]);
    opt.update(grads);
    return {value};
  });
  static const char* const forms[] = {"step", "window", "sequence"};
  LearningJob              job;
  job.name =
      fmt::format("{} {} {} {}", o.kind, o.rule, forms[static_cast<size_t>(o.form)], braintrace::name_of(o.dtype));
  job.program = p.program;
  for (const Tensor& c : p.constants) job.constants.push_back(c.array());
  for (const Tensor& t : p.inputs({x, y})) job.args.push_back(t.array());
  for (size_t w = 0; w < p.writes.size(); ++w)
    for (size_t r = 0; r < p.reads.size(); ++r)
      if (p.reads[r] == p.writes[w]) job.feeds.push_back({p.num_results + w, p.num_args + r});
  for (const Tensor& t : learner->memory()) job.trace_bytes += static_cast<int64_t>(t.array().bytes());
  return job;
}

std::vector<Job> learning_jobs(std::initializer_list<const char*> kinds, DType dtype) {
  std::vector<Job> jobs;
  for (const char* kind : kinds)
    for (const char* rule : {"D_RTRL", "ES_D_RTRL", "BPTT"})
      for (const Form form : {Form::Step, Form::Window})
        jobs.push_back(learning_job({.kind = kind, .rule = rule, .form = form, .dtype = dtype}));
  return jobs;
}

}  // namespace braintrace::testing_support

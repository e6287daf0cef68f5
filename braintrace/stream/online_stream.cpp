// SPDX-License-Identifier: Apache-2.0
#include "braintrace/stream/online_stream.h"

#include <nlohmann/json.hpp>

#include "braintrace/algorithms/compile.h"
#include "braintrace/io/safetensors.h"
#include "braintrace/model/functions.h"
#include "braintrace/model/random_stream.h"
#include "braintrace/nn/loss.h"
#include "braintrace/ops/move.h"
#include "braintrace/ops/reduce.h"
#include "braintrace/train/checkpoint.h"
#include "braintrace/train/optimizer.h"

namespace braintrace::stream {

namespace {

std::unique_ptr<optim::Optimizer> make_optimizer(const StreamOptions& o) {
  const nlohmann::ordered_json filled = train::filled_optimizer({{"type", o.optimizer}, {"lr", o.lr}}, "optimizer");
  return train::make_optimizer(filled, "optimizer").optimizer;
}

constexpr const char* format = "braintrace-stream/1";

}  // namespace

OnlineStream::OnlineStream(Module& model, const Type& input, const StreamOptions& options)
    : model_(&model), optimizer_(make_optimizer(options)) {
  learner_     = compile(model, options.rule, Tensor(Array(input)), options.rule_options);
  const Type y = trace_function({input}, [&](const Tensors& in) { return model.call(in); }).result_types().at(0);
  require(is_float(y.dtype), "the model answers with {}; a loss needs floats.", to_string(y));
  target_ = y;
  if (options.loss == Loss::CrossEntropy) {
    require(y.shape.size() == 1, "cross entropy needs one score per class, the model answers with {}.", to_string(y));
    classes_ = y.shape[0];
    target_  = {DType::I32, {}};
  }
  optimizer_->register_trainable_weights(model.params());
  const auto loss = [this](Tensor x, Tensor target) {
    const Tensor out = (*learner_)(x);
    const Tensor l =
        classes_ ? losses::softmax_cross_entropy_with_integer_labels(out, target) : losses::mse(out, target);
    return std::pair(l, out);
  };
  learn_   = jit([this, loss](Tensor x, Tensor target) {
    auto [l, grads, out] = value_and_grad(loss, model_->params(), has_aux)(x, target);
    optimizer_->update(grads);
    return std::pair<Tensor, Tensor>(l, out);
  });
  predict_ = jit([this](Tensor x) { return (*learner_)(x); });
}

OnlineStream::Answer OnlineStream::learn(const Array& x, const Array& y) {
  const auto [l, out] = learn_(Tensor(x), Tensor(y));
  return {out.array(), l.item()};
}

Array OnlineStream::predict(const Array& x) { return predict_(Tensor(x)).array(); }

void OnlineStream::reset() {
  reset_all_states(*model_);
  learner_->reset_state();
}

std::vector<std::pair<std::string, StateMap>> OnlineStream::states() const {
  return {{"model", model_->states()},
          {"optimizer", optimizer_->states()},
          {"learner", learner_->own_states()},
          {"random", {{Path::dotted("stream"), random::default_stream()}}}};
}

void save(const OnlineStream& stream, const std::string& path, int64_t records) {
  SafeTensors file;
  for (const auto& [part, states] : stream.states()) train::gather(file.arrays, part, states);
  file.metadata = {{"format", format}, {"records", std::to_string(records)}};
  write_safetensors(path, file);
}

int64_t load(OnlineStream& stream, const std::string& path) {
  const SafeTensors file = read_safetensors(path);
  const auto        said = [&](const char* key) {
    const auto it = file.metadata.find(key);
    return it == file.metadata.end() ? std::string() : it->second;
  };
  require(said("format") == format, "{}: this is not a stream's file; 'braintrace stream --save' writes them.", path);
  for (const auto& [part, states] : stream.states()) train::restore(file.arrays, part, states, path);
  return std::strtoll(said("records").c_str(), nullptr, 10);
}

void load_weights(const Module& model, const std::string& path) {
  const SafeTensors file = read_safetensors(path);
  NamedArrays       weights;
  train::gather(weights, "model", model.params());
  for (auto it = weights.begin(); it != weights.end();) {
    const auto stored = file.arrays.find(it->first);
    if (stored != file.arrays.end()) it->second = stored->second;
    it = stored == file.arrays.end() ? weights.erase(it) : std::next(it);
  }
  train::restore(weights, "model", model.params(), path);
}

}  // namespace braintrace::stream

// SPDX-License-Identifier: Apache-2.0
#include "braintrace/stream/online_stream.h"

#include <cmath>

#include "braintrace/algorithms/compile.h"
#include "braintrace/io/safetensors.h"
#include "braintrace/model/functions.h"
#include "braintrace/model/random_stream.h"
#include "braintrace/nn/loss.h"
#include "braintrace/ops/move.h"
#include "braintrace/ops/reduce.h"

namespace braintrace::stream {

namespace {

std::unique_ptr<optim::Optimizer> make_optimizer(const StreamOptions& o) {
  require(o.lr > 0 && std::isfinite(o.lr), "the learning rate must be positive, got {}.", o.lr);
  if (o.optimizer == "adam") return std::make_unique<optim::Adam>(o.lr);
  if (o.optimizer == "sgd") return std::make_unique<optim::SGD>(o.lr);
  fail("there is no optimiser '{}' for streams; known are adam and sgd.", o.optimizer);
}

StateMap prefixed(const std::string& prefix, const StateMap& states) {
  StateMap out;
  for (const auto& [path, state] : states) out.emplace_back(Path::dotted(prefix + "." + path.str()), state);
  return out;
}

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

StateMap OnlineStream::states() const {
  StateMap out = prefixed("model", model_->states());
  for (const StateMap& part : {prefixed("optimizer", optimizer_->states()), prefixed("learner", learner_->own_states()),
                               StateMap{{Path::dotted("random"), random::default_stream()}}})
    out.insert(out.end(), part.begin(), part.end());
  return out;
}

void save(const OnlineStream& stream, const std::string& path, int64_t records) {
  SafeTensors file;
  for (const auto& [place, state] : stream.states())
    for (const std::string& leaf : state.leaf_names())
      file.arrays[place.str() + (leaf.empty() ? "" : "." + leaf)] = state.leaf(leaf).array();
  file.metadata = {{"format", "braintrace-stream/1"}, {"records", std::to_string(records)}};
  write_safetensors(path, file);
}

int64_t load(OnlineStream& stream, const std::string& path) {
  const SafeTensors file   = read_safetensors(path);
  const auto        format = file.metadata.find("format");
  require(format != file.metadata.end() && format->second == "braintrace-stream/1",
          "{}: this is not a stream's file; 'braintrace stream --save' writes them.", path);
  size_t found = 0;
  for (const auto& [place, state] : stream.states())
    for (const std::string& leaf : state.leaf_names()) {
      const std::string name = place.str() + (leaf.empty() ? "" : "." + leaf);
      const auto        it   = file.arrays.find(name);
      const Type        type = state.leaf(leaf).type();
      require(it != file.arrays.end(), "{}: it holds no '{}'; is it of another model, rule or optimiser?", path, name);
      require(it->second.type() == type, "{}: '{}' is {}, here it is {}.", path, name, to_string(it->second.type()),
              to_string(type));
      ++found;
    }
  require(found == file.arrays.size(), "{}: it holds {} arrays, this stream has {}; is it of another model?", path,
          file.arrays.size(), found);
  for (const auto& [place, state] : stream.states())
    for (const std::string& leaf : state.leaf_names())
      state.set_leaf(leaf, Tensor(file.arrays.at(place.str() + (leaf.empty() ? "" : "." + leaf))));
  const auto records = file.metadata.find("records");
  return records == file.metadata.end() ? 0 : std::strtoll(records->second.c_str(), nullptr, 10);
}

}  // namespace braintrace::stream

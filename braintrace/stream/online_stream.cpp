// SPDX-License-Identifier: Apache-2.0
#include "braintrace/stream/online_stream.h"

#include <algorithm>
#include <charconv>

#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "braintrace/algorithms/compile.h"
#include "braintrace/algorithms/config_json.h"
#include "braintrace/algorithms/registry.h"
#include "braintrace/base/finite.h"
#include "braintrace/base/json.h"
#include "braintrace/functions/functions.h"
#include "braintrace/io/safetensors.h"
#include "braintrace/model/random_stream.h"
#include "braintrace/nn/loss.h"
#include "braintrace/ops/move.h"
#include "braintrace/ops/reduce.h"
#include "braintrace/train/checkpoint.h"
#include "braintrace/train/optimizer.h"
#include "braintrace/train/undo.h"

namespace braintrace::stream {

namespace {

using nlohmann::ordered_json;

constexpr const char* format = "braintrace-stream/2";

// A name, or an object such as {"type": "sgd", "momentum": 0.9}.
ordered_json optimizer_of(const StreamOptions& o) {
  ordered_json given = {{"type", o.optimizer}};
  if (o.optimizer.starts_with("{")) given = read_ordered_json(o.optimizer, "optimizer");
  if (given.is_object() && !given.contains("lr")) given["lr"] = o.lr;
  return train::filled_optimizer(given, "optimizer");
}

ordered_json numbers_of(const Tensor& t) {
  ordered_json out = ordered_json::array();
  for (int64_t i = 0; i < t.size(); ++i) out.push_back(at(t.array(), i));
  return out;
}

// What makes two streams learn differently from the same records and states.
ordered_json description_of(const StreamOptions& o) {
  const Algorithm& algorithm = algorithm_named(o.rule);
  ordered_json     out       = {{"rule", algorithm.name}};
  if (algorithm.config) out["rule_options"] = to_json(algorithm.config(o.rule_options));
  if (o.rule_options.feedback) out["feedback_key"] = o.rule_options.feedback->key;
  if (o.rule_options.projection_key) out["projection_key"] = *o.rule_options.projection_key;
  if (o.rule_options.vjp_method) out["vjp_method"] = to_string(*o.rule_options.vjp_method);
  out["loss"]      = o.loss == Loss::Mse ? "mse" : "cross_entropy";
  out["optimizer"] = optimizer_of(o);
  if (o.scaling.horizon > 0) out["scaling"]["horizon"] = o.scaling.horizon;
  if (o.scaling.shift.defined())
    out["scaling"].update({{"shift", numbers_of(o.scaling.shift)}, {"scale", numbers_of(o.scaling.scale)}});
  return out;
}

}  // namespace

OnlineStream::OnlineStream(Module& model, const Type& input, const StreamOptions& options)
    : model_(&model), scale_(input, options.scaling), input_(input), learning_(description_of(options).dump()) {
  const ordered_json optimizer = optimizer_of(options);
  auto               made      = train::make_optimizer(optimizer, "optimizer");
  optimizer_                   = std::move(made.optimizer);
  if (optimizer.contains("schedule")) updates_per_epoch_ = made.updates_per_epoch;
  const Need need = algorithm_named(options.rule).needs();
  require(need == Need::Nothing, "{}: it needs {}, which records do not bring; choose another rule.", options.rule,
          to_string(need));
  learner_     = compile(model, options.rule, Tensor(Array(input)), options.rule_options);
  const Type y = trace_function({input}, [&](const Tensors& in) { return model.call(in); }).result_types().at(0);
  require(is_float(y.dtype), "the model returns {}; a loss needs floating-point outputs.", to_string(y));
  target_ = y;
  if (options.loss == Loss::CrossEntropy) {
    require(y.shape.size() == 1, "cross entropy needs one score per class, but the model returns {}.", to_string(y));
    classes_ = y.shape[0];
    target_  = {DType::I32, {}};
  }
  optimizer_->register_trainable_weights(model.params());
  const auto loss_of = [this](const Tensor& out, const Tensor& target) {
    return classes_ ? losses::softmax_cross_entropy_with_integer_labels(out, target) : losses::mse(out, target);
  };
  const auto loss = [this, loss_of](Tensor x, Tensor target) {
    const Tensor out = (*learner_)(x);
    return std::pair(loss_of(out, target), out);
  };
  learn_   = jit([this, loss, loss_of](Tensor x, Tensor target) {
    const Snapshot before(averaged_states());
    const Tensor   scaled = scale_(x);
    auto [l, grads, out]  = value_and_grad(loss, model_->params(), has_aux)(scaled, target);
    if (optimizer_->averages()) {
      out = averaged_answer(before, scaled);
      l   = loss_of(out, target);
    }
    optimizer_->update(grads);
    return std::pair<Tensor, Tensor>(l, out);
  });
  predict_ = jit([this](Tensor x) {
    const Snapshot before(averaged_states());
    const Tensor   scaled = scale_(x), out = (*learner_)(scaled);
    return optimizer_->averages() ? averaged_answer(before, scaled) : out;
  });
}

StateMap OnlineStream::averaged_states() const { return optimizer_->averages() ? model_->states() : StateMap(); }

// After the learner, which does not take states that others wrote.
Tensor OnlineStream::averaged_answer(const Snapshot& before, const Tensor& x) const {
  const train::ModelUndo undo(*model_);
  before.restore();
  const optim::Averaged weights(*optimizer_);
  return model_->call({x}).front();
}

OnlineStream::Answer OnlineStream::learn(const Array& x, const Array& y) {
  const auto [l, out] = learn_(Tensor(x), Tensor(y));
  if (updates_per_epoch_ > 0 && ++updates_ % updates_per_epoch_ == 0) optimizer_->step_epoch();
  return {out.array(), l.item()};
}

// Inside a trace, jit has no effect.
StatefulProgram OnlineStream::learn_program() const {
  return trace_function({input_, target_}, [this](const Tensors& in) -> Tensors {
    const auto [l, out] = learn_(in[0], in[1]);
    return {l, out};
  });
}
StatefulProgram OnlineStream::predict_program() const {
  return trace_function({input_}, [this](const Tensors& in) -> Tensors { return {predict_(in[0])}; });
}

Array OnlineStream::predict(const Array& x) { return predict_(Tensor(x)).array(); }

void OnlineStream::follow_schedule() {
  if (updates_per_epoch_ == 0) return;
  updates_ = optimizer_->step_count();
  optimizer_->lr().set_epoch(updates_ / updates_per_epoch_);
}

void OnlineStream::reset() {
  reset_all_states(*model_);
  learner_->reset_state();
}

std::vector<std::pair<std::string, StateMap>> OnlineStream::states() const {
  std::vector<std::pair<std::string, StateMap>> out = {
      {"model", model_->states()},
      {"optimizer", optimizer_->states()},
      {"learner", learner_->own_states()},
      {"random", {{Path::dotted("stream"), random::default_stream()}}}};
  if (const StateMap scale = scale_.states(); !scale.empty()) out.emplace_back("scale", scale);
  return out;
}

// "optimizer.lr is 0.01 there and 0.001 here" for every value that differs.
std::string differences(const std::string& there, const std::string& here, const std::string& where) {
  const std::string  what     = where + ": the file is damaged: learning";
  const ordered_json learning = read_ordered_json(there, what);
  require(learning.is_object(), "{} is {}, not an object.", what, learning.type_name());
  const ordered_json       all_there = learning.flatten();
  const ordered_json       all_here  = read_ordered_json(here, "learning").flatten();
  std::vector<std::string> said;
  const auto               value = [](const ordered_json& of, const std::string& key) {
    return of.contains(key) ? of[key].dump() : std::string("not given");
  };
  const auto add = [&](const std::string& key) {
    std::string name = key.substr(1);
    std::replace(name.begin(), name.end(), '/', '.');
    said.push_back(fmt::format("{} is {} there and {} here", name, value(all_there, key), value(all_here, key)));
  };
  for (const auto& [key, v] : all_there.items())
    if (!all_here.contains(key) || all_here[key] != v) add(key);
  for (const auto& [key, v] : all_here.items())
    if (!all_there.contains(key)) add(key);
  return fmt::format("{}", fmt::join(said, "; "));
}

void save(const OnlineStream& stream, const std::string& path, int64_t records) {
  SafeTensors file;
  for (const auto& [part, states] : stream.states()) train::gather(file.arrays, part, states);
  for (const auto& [name, array] : file.arrays)
    require(all_finite(array), "{}: nothing is saved: {} is not finite.", path, name);
  file.metadata = {{"format", format}, {"records", std::to_string(records)}, {"learning", stream.learning()}};
  write_safetensors(path, file);
}

int64_t load(OnlineStream& stream, const std::string& path) {
  const SafeTensors file = read_safetensors(path);
  const auto        said = [&](const char* key) {
    const auto it = file.metadata.find(key);
    return it == file.metadata.end() ? std::string() : it->second;
  };
  require(said("format").starts_with("braintrace-stream/"),
          "{}: this is not a stream's file; 'braintrace stream --save' writes them.", path);
  require(said("format") == format,
          "{}: another version of braintrace wrote it ({}; this one reads {}).\n  --weights takes its weights alone.",
          path, said("format"), format);
  int64_t    records = -1;
  const auto text    = said("records");
  const auto end     = std::from_chars(text.data(), text.data() + text.size(), records);
  require(file.checked && end.ec == std::errc() && end.ptr == text.data() + text.size() && records >= 0 &&
              records < int64_t{1} << 53,
          "{}: the file is damaged: its checksum, its number of records or how it learns is missing or wrong.", path);
  const std::string what = differences(said("learning"), stream.learning(), path);
  require(what.empty(), "{}: its settings differ: {}.\n  Give the same, or take its weights alone with --weights.",
          path, what);
  for (const auto& [part, states] : stream.states()) train::check_fits(file.arrays, part, states, path);
  for (const auto& [part, states] : stream.states()) train::restore(file.arrays, part, states, path);
  stream.follow_schedule();
  return records;
}

}  // namespace braintrace::stream

// SPDX-License-Identifier: Apache-2.0
// A model that keeps learning: each record is answered with the weights as they are, or with their averages where the
// optimizer keeps those, and then learned from. Model, traces, gradient and update are one compiled program; memory
// does not grow with the stream.
//
//   stream::OnlineStream net(*model, {DType::F32, {4}}, {.rule = "D_RTRL", .lr = 3e-3});
//   auto [prediction, loss] = net.learn(x, y);
#pragma once

#include <functional>
#include <memory>

#include "braintrace/algorithms/learner.h"
#include "braintrace/algorithms/make_rule.h"
#include "braintrace/model/frame.h"
#include "braintrace/nn/optim.h"
#include "braintrace/stream/running_scale.h"

namespace braintrace::stream {

enum class Loss : uint8_t { Mse, CrossEntropy };

struct StreamOptions {
  std::string rule         = "D_RTRL";
  RuleOptions rule_options = {};
  Loss        loss         = Loss::Mse;
  std::string optimizer    = "adam";  // or an object: {"type": "sgd", "momentum": 0.9}
  double      lr           = 1e-3;
  Scaling     scaling      = {};  // of the inputs
};

class OnlineStream {
 public:
  // The model must outlive the stream; its states are initialized.
  OnlineStream(Module& model, const Type& input, const StreamOptions& options);

  struct Answer {
    Array  prediction;
    double loss = 0;
  };
  Answer learn(const Array& x, const Array& y);
  Array  predict(const Array& x);  // states and traces advance, weights stay
  void   reset();                  // a new sequence: states and traces as at the start, weights stay

  // The same as programs: (x, y) → (loss, prediction), and x → prediction, with the states they read and write.
  StatefulProgram learn_program() const;
  StatefulProgram predict_program() const;

  const Type& input() const { return input_; }      // of one record
  const Type& target() const { return target_; }    // likewise
  int64_t     classes() const { return classes_; }  // 0 for values
  // All that is learned and remembered, by name: weights, states, traces, what the optimizer keeps.
  std::vector<std::pair<std::string, StateMap>> states() const;
  // How it learns, as JSON: rule, loss, optimizer with its rate.
  const std::string& learning() const { return learning_; }
  // After states were put back: the learning rate follows the number of updates.
  void follow_schedule();
  bool is_steady() const { return updates_per_epoch_ == 0 && !scale_.active(); }  // no schedule, inputs as they are

 private:
  Module*                           model_;
  std::unique_ptr<OnlineLearner>    learner_;
  std::unique_ptr<optim::Optimizer> optimizer_;
  RunningScale                      scale_;
  int64_t                           updates_ = 0, updates_per_epoch_ = 0;  // of the schedule; 0: there is none
  Type                              input_, target_;
  int64_t                           classes_ = 0;
  std::string                       learning_;

  // The answer of averaged weights from the states as they are; the model stays as it is.
  Tensor averaged_answer(const Tensor& x) const;

  std::function<std::pair<Tensor, Tensor>(Tensor, Tensor)> learn_;
  std::function<Tensor(Tensor)>                            predict_;
};

// A stream's states as a safetensors file. States that are not finite are an error, and a file that is there stays.
void save(const OnlineStream& stream, const std::string& path, int64_t records);
// The way back; gives the number of records it had learned from. A file of another model, rule, loss, optimizer or rate
// is an error that says what differs.
int64_t load(OnlineStream& stream, const std::string& path);
// What differs between two ways to learn (OnlineStream::learning), as text; empty for none.
std::string differences(const std::string& there, const std::string& here, const std::string& where);

}  // namespace braintrace::stream

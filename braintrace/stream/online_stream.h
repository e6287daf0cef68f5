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
#include "braintrace/model/snapshot.h"
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
  Array  predict(const Array& x);  // states and traces advance, weights do not change
  void   reset();                  // a new sequence: resets states and traces, keeps the weights

  // The same as programs: (x, y) → (loss, prediction), and x → prediction, with the states they read and write.
  StatefulProgram learn_program() const;
  StatefulProgram predict_program() const;

  const Type& input() const { return input_; }      // of one record
  const Type& target() const { return target_; }    // likewise
  int64_t     classes() const { return classes_; }  // 0 for values
  // All states, by name: weights, hidden states, traces, optimizer memory.
  std::vector<std::pair<std::string, StateMap>> states() const;
  // How it learns, as JSON: rule, loss, optimizer with its rate.
  const std::string& learning() const { return learning_; }
  // Call after restoring states: sets the learning rate for the number of updates.
  void follow_schedule();
  bool is_steady() const { return updates_per_epoch_ == 0 && !scale_.active(); }  // no schedule, no scaling of inputs

 private:
  Module*                           model_;
  std::unique_ptr<OnlineLearner>    learner_;
  std::unique_ptr<optim::Optimizer> optimizer_;
  RunningScale                      scale_;
  int64_t                           updates_ = 0, updates_per_epoch_ = 0;  // of the schedule; 0: no schedule
  Type                              input_, target_;
  int64_t                           classes_ = 0;
  std::string                       learning_;

  StateMap averaged_states() const;  // of the model, where averages of its weights answer
  // The answer of averaged weights from the states before the step; the model stays as it is.
  Tensor averaged_answer(const Snapshot& before, const Tensor& x) const;

  std::function<std::pair<Tensor, Tensor>(Tensor, Tensor)> learn_;
  std::function<Tensor(Tensor)>                            predict_;
};

// Saves the states of a stream to a safetensors file. Non-finite states are an error, and an existing file stays
// unchanged.
void save(const OnlineStream& stream, const std::string& path, int64_t records);
// Loads them, and returns the number of records that the stream had learned from. If model, rule, loss, optimizer or
// rate differ, the error says how.
int64_t load(OnlineStream& stream, const std::string& path);
// The differences between two descriptions of learning (OnlineStream::learning), as text; empty if there are none.
std::string differences(const std::string& there, const std::string& here, const std::string& where);

}  // namespace braintrace::stream

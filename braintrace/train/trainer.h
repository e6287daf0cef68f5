// SPDX-License-Identifier: Apache-2.0
// Training by configuration: batches of a task, a learning rule, an optimizer, validation, checkpoints.
//
//   bt::train::Trainer trainer(bt::train::load_config("copy.json"));
//   trainer.run();
//
// A resumed run produces the same bits as a run that never stopped.
#pragma once

#include <functional>
#include <memory>

#include "braintrace/train/config.h"
#include "braintrace/train/predictions.h"
#include "braintrace/train/run_record.h"

namespace braintrace::parallel {
class Group;  // parallel/group.h
}
namespace braintrace::tasks {
enum class Part : uint8_t;  // tasks/task.h
}

namespace braintrace::train {

// Why a run ended.
enum class Ending : uint8_t { Finished, EarlyStop, Interrupted, NotFinite };

class Trainer {
 public:
  // Creates and checks everything that the configuration describes; writes nothing. In a group of processes, each
  // creates a trainer, and all make the same calls; the first one writes files. All must have the same configuration,
  // version and data; otherwise the error says what differs.
  explicit Trainer(Config config, std::shared_ptr<parallel::Group> group = nullptr);
  ~Trainer();

  void observe(std::shared_ptr<Observer> observer);

  // Runs to the end, with validations and checkpoints as configured. Calls `stop` after every update.
  Ending run(const std::function<bool()>& stop = {});

  StepRecord step();  // one update of the weights
  // Evaluates this many batches of the validation part or another part; 0: the whole part, or four batches if it is
  // endless. Changes only the record.
  ValidationRecord validate(int64_t batches = 0);
  ValidationRecord validate(int64_t batches, tasks::Part part);
  // Evaluates baselines on the samples of the last validation; also stores them in the record.
  const std::vector<Baseline>& compare();
  // The predictions for all samples of a part.
  Predictions predict(tasks::Part part);

  // Writes a checkpoint to the configured folder, and removes the oldest; or to a path. Returns its path.
  std::string save();
  void        save(const std::string& path) const;
  void        load(const std::string& path);

  int64_t          updates() const;
  const RunRecord& record() const;
  bool             goal_reached() const;  // in the last validation
  const Config&    config() const;
  OnlineLearner&   learner();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// The configuration stored in a checkpoint.
Config config_of_checkpoint(const std::string& path);
// The same for another data file, all of which is the test part. If targets are optional, a table may lack them: they
// are then zeros.
enum class Targets : uint8_t { Needed, Optional };
Config with_test_file(Config config, const std::string& file, Targets targets = Targets::Needed);

}  // namespace braintrace::train

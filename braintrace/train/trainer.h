// SPDX-License-Identifier: Apache-2.0
// Training by configuration: batches of a task, a learning rule, an optimizer, validation, checkpoints.
//
//   bt::train::Trainer trainer(bt::train::load_config("copy.json"));
//   trainer.run();
//
// A run that goes on from a checkpoint makes the same bits as one that never stopped.
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
  // Makes and checks everything that the configuration describes; writes nothing. Of a group of processes each makes a
  // trainer, and all make the same calls; the first one writes files. All must have the same configuration, version and
  // data: the error says what differs.
  explicit Trainer(Config config, std::shared_ptr<parallel::Group> group = nullptr);
  ~Trainer();

  void observe(std::shared_ptr<Observer> observer);

  // To the end, with validations and checkpoints as configured. `stop` is asked after every update.
  Ending run(const std::function<bool()>& stop = {});

  StepRecord step();  // one update of the weights
  // Over so many batches of the validation part, or over all of it (0: four where it has no end), or of another part.
  // Changes nothing but the record.
  ValidationRecord validate(int64_t batches = 0);
  ValidationRecord validate(int64_t batches, tasks::Part part);
  // What simple answers reach on the samples of the last validation; also kept in the record.
  const std::vector<Baseline>& compare();
  // The answers to all samples of a part.
  Predictions predict(tasks::Part part);

  // A checkpoint in the configured folder, which also forgets the oldest; or at a path. Gives its path.
  std::string save();
  void        save(const std::string& path) const;
  void        load(const std::string& path);

  int64_t          updates() const;
  const RunRecord& record() const;
  bool             goal_reached() const;  // by the last validation
  const Config&    config() const;
  OnlineLearner&   learner();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// The configuration inside a checkpoint.
Config config_of_checkpoint(const std::string& path);
// The same on another data file, all of which is the test part. Where targets are optional, a table may lack them: they
// are then zeros.
enum class Targets : uint8_t { Needed, Optional };
Config with_test_file(Config config, const std::string& file, Targets targets = Targets::Needed);

}  // namespace braintrace::train

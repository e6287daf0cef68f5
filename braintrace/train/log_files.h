// SPDX-License-Identifier: Apache-2.0
// What a run tells, as files. Every record is written whole and at once, so a killed run leaves whole records.
//
// Files are opened when the run begins. One that goes on from a checkpoint drops what a file holds beyond that step,
// since these steps are done again, and goes on from there; so it does with the validation that ended a run, which came
// after its last checkpoint. A new run replaces a file that is there.
#pragma once

#include <optional>

#include "braintrace/io/append_file.h"
#include "braintrace/train/run_record.h"

namespace braintrace::train {

// Whether a record of an update or a validation belongs to what the checkpoint knows.
bool is_before_checkpoint(const RunRecord& run, int64_t step, bool validation);

// One JSON object per line, of kind step, validation or alarm. Numbers that are not finite are null.
class JsonlLog : public Observer {
 public:
  explicit JsonlLog(std::string path) : path_(std::move(path)) {}
  void begin(const RunRecord& run) override;
  void step(const StepRecord& r) override;
  void validation(const ValidationRecord& r) override;
  void alarm(const Alarm& a) override;

 private:
  std::string               path_;
  std::optional<AppendFile> file_;
};

// step,part,loss,accuracy,gradient_norm,learning_rate,seconds: one row per update (part train) or validation.
class CsvLog : public Observer {
 public:
  explicit CsvLog(std::string path) : path_(std::move(path)) {}
  void begin(const RunRecord& run) override;
  void step(const StepRecord& r) override;
  void validation(const ValidationRecord& r) override;

 private:
  std::string               path_;
  std::optional<AppendFile> file_;
};

// Scalars train/loss, validation/accuracy, … in an event file of the folder, for TensorBoard.
class TensorboardLog : public Observer {
 public:
  explicit TensorboardLog(std::string folder) : folder_(std::move(folder)) {}
  void begin(const RunRecord& run) override;
  void step(const StepRecord& r) override;
  void validation(const ValidationRecord& r) override;

 private:
  std::string               folder_;
  std::optional<AppendFile> file_;
};

}  // namespace braintrace::train

// SPDX-License-Identifier: Apache-2.0
// Log files of a run. Every record is written whole and immediately, so a killed run leaves whole records.
//
// Files are opened when the run begins. A resumed run drops the records after its checkpoint, because these steps are
// repeated, including the final validation of a finished run, which came after its last checkpoint. A new run replaces
// existing files.
#pragma once

#include <optional>

#include "braintrace/io/append_file.h"
#include "braintrace/train/run_record.h"

namespace braintrace::train {

// Whether a record of an update or a validation precedes the checkpoint.
bool is_before_checkpoint(const RunRecord& run, int64_t step, bool validation);

// One JSON object per line, of kind step, validation or alarm. Non-finite numbers are null.
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

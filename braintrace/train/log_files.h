// SPDX-License-Identifier: Apache-2.0
// What a run tells, as files. Every record is written whole and at once, so a killed run leaves whole records.
//
// A resumed run gives the step of its checkpoint: what the file holds beyond it is dropped, since these steps are done
// again, and the file goes on from there. Without one a file that is there is replaced.
#pragma once

#include <optional>

#include "braintrace/io/append_file.h"
#include "braintrace/train/run_record.h"

namespace braintrace::train {

using ResumedAt = std::optional<int64_t>;

// One JSON object per line, of kind step, validation or alarm. Numbers that are not finite are null.
class JsonlLog : public Observer {
 public:
  explicit JsonlLog(const std::string& path, ResumedAt resumed_at = {});
  void step(const StepRecord& r) override;
  void validation(const ValidationRecord& r) override;
  void alarm(const Alarm& a) override;

 private:
  AppendFile file_;
};

// step,part,loss,accuracy,gradient_norm,learning_rate,seconds: one row per update (part train) or validation.
class CsvLog : public Observer {
 public:
  explicit CsvLog(const std::string& path, ResumedAt resumed_at = {});
  void step(const StepRecord& r) override;
  void validation(const ValidationRecord& r) override;

 private:
  AppendFile file_;
};

// Scalars train/loss, validation/accuracy, … in an event file of the folder, for TensorBoard.
class TensorboardLog : public Observer {
 public:
  explicit TensorboardLog(const std::string& folder, ResumedAt resumed_at = {});
  void step(const StepRecord& r) override;
  void validation(const ValidationRecord& r) override;

 private:
  AppendFile file_;
};

}  // namespace braintrace::train

// SPDX-License-Identifier: Apache-2.0
// The report of a run: figures, curves, activity, traces, confusion matrix, graph, configuration. One self-contained
// page, whose size does not grow with the number of steps.
#pragma once

#include <string>

#include "braintrace/train/run_record.h"

namespace braintrace::train {

std::string report_html(const RunRecord& run);

// Writes the page when the run ends.
class ReportFile : public Observer {
 public:
  explicit ReportFile(std::string path) : path_(std::move(path)) {}
  void end(const RunRecord& run) override;

 private:
  std::string path_;
};

}  // namespace braintrace::train

// SPDX-License-Identifier: Apache-2.0
// A run as one page to look at: figures, curves, activity, traces, confusion, graph, configuration. One file that
// needs nothing from elsewhere; its size does not grow with the number of steps.
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

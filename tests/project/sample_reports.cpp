// SPDX-License-Identifier: Apache-2.0
// Writes reports of synthetic runs, for a browser to look at.  Usage: sample_reports FOLDER
#include "braintrace/train/report.h"
#include "tests/support/sample_run.h"

int main(int argc, char** argv) {
  using namespace braintrace::train;
  if (argc != 2) return 2;
  const std::pair<const char*, RunRecord> runs[] = {{"whole", sample_run(1500)},
                                                    {"long", sample_run(100'000, 2000, 300)},
                                                    {"troubled", troubled_run()},
                                                    {"empty", RunRecord()},
                                                    {"one_class", one_class_run()}};
  for (const auto& [name, run] : runs) ReportFile(std::string(argv[1]) + "/" + name + ".html").end(run);
}

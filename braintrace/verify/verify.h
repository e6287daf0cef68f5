// SPDX-License-Identifier: Apache-2.0
// Runs a recorded case and compares the results with the recorded ones. One file per kind of case.
#pragma once

#include "braintrace/verify/case.h"
#include "braintrace/verify/report.h"

namespace braintrace::golden {

// Throws UserError if the case is broken or has an unknown format.
CaseReport verify_case(const Case& c);

// The kinds.
void verify_graph_case(const Case& c, CaseReport& report);
void verify_numeric_case(const Case& c, CaseReport& report);
void verify_op_case(const Case& c, CaseReport& report);
void verify_driver_case(const Case& c, CaseReport& report);
void verify_training_case(const Case& c, CaseReport& report);

}  // namespace braintrace::golden

// SPDX-License-Identifier: Apache-2.0
// Runs what a recorded case describes and compares with what it recorded. One file per kind of case.
#pragma once

#include "braintrace/verify/case.h"
#include "braintrace/verify/report.h"

namespace braintrace::golden {

// Throws UserError when the case is broken or of a format that is not known here.
CaseReport verify_case(const Case& c);

// The kinds.
void verify_graph_case(const Case& c, CaseReport& report);
void verify_numeric_case(const Case& c, CaseReport& report);
void verify_op_case(const Case& c, CaseReport& report);
void verify_driver_case(const Case& c, CaseReport& report);
void verify_training_case(const Case& c, CaseReport& report);

}  // namespace braintrace::golden

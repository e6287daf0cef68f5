// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "braintrace/executor/rule.h"
#include "ref.h"

namespace pybraintrace {

// A rule whose equations are the methods of a Python object (pybraintrace.LearningRule).
std::shared_ptr<const braintrace::LearningRule> rule_from(nb::handle python_rule);

}  // namespace pybraintrace

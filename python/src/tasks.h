// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "braintrace/tasks/task.h"

namespace pybraintrace {

// 'train', 'validation' or 'test'.
braintrace::tasks::Part part_named(const std::string& name);

}  // namespace pybraintrace

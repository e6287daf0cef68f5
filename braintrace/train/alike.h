// SPDX-License-Identifier: Apache-2.0
// Whether all processes of a run have the same version, configuration and data.
#pragma once

#include "braintrace/parallel/group.h"
#include "braintrace/tasks/task.h"
#include "braintrace/train/config.h"

namespace braintrace::train {

// Throws a SharedError that names the rank and how it differs from the first rank.
void check_alike(parallel::Group& group, const Config& config, const tasks::Task& task);

}  // namespace braintrace::train

// SPDX-License-Identifier: Apache-2.0
// The task types, one file per family.
#pragma once

#include "braintrace/tasks/task.h"

namespace braintrace::tasks {

std::vector<TaskType> memory_tasks();
std::vector<TaskType> signal_tasks();
std::vector<TaskType> matching_tasks();
std::vector<TaskType> evidence_tasks();
std::vector<TaskType> spike_tasks();
std::vector<TaskType> text_tasks();
std::vector<TaskType> digit_tasks();
std::vector<TaskType> event_tasks();
std::vector<TaskType> mnist_tasks();
std::vector<TaskType> npz_tasks();
std::vector<TaskType> csv_tasks();
std::vector<TaskType> ts_tasks();
std::vector<TaskType> wav_tasks();

}  // namespace braintrace::tasks

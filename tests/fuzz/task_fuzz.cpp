// SPDX-License-Identifier: Apache-2.0
// Any text either fails with a UserError or gives a task whose samples are repeatable; large ones are not drawn.
#include <algorithm>

#include "braintrace/tasks/task.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace braintrace;
  using namespace braintrace::tasks;
  try {
    const auto task     = make_task(std::string(reinterpret_cast<const char*>(data), size), 1);
    int64_t    elements = task->facts().length * task->facts().outputs;
    for (int64_t n : task->facts().input) elements = std::max(elements, task->facts().length * n);
    if (elements > 10000) return 0;
    const Batch once = task->batch(Part::Train, 2, 1), again = task->batch(Part::Train, 2, 1);
    if (!identical(once.inputs, again.inputs) || !identical(once.targets, again.targets)) __builtin_trap();
  } catch (const UserError&) {
  }
  return 0;
}

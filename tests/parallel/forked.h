// SPDX-License-Identifier: Apache-2.0
// A group of real processes without MPI: forks that talk over sockets. A process that is killed closes its sockets, so
// the others notice.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "braintrace/parallel/group.h"

namespace braintrace::parallel {

struct Forked {
  int         status = 0;  // 0, 1 for an exception, or the signal that ended it, negative
  std::string error;       // the message of the exception
};
// Runs `work` in `size` processes at once and waits for all of them.
std::vector<Forked> run_forked(int size, const std::function<void(const std::shared_ptr<Group>&)>& work);
// The same for work that must not fail; an exception of a rank is one here.
void work_forked(int size, const std::function<void(const std::shared_ptr<Group>&)>& work);

}  // namespace braintrace::parallel

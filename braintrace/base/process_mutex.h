// SPDX-License-Identifier: Apache-2.0
// A mutex that the whole process shares. A child of fork() has only the thread that called fork(): a mutex that another
// thread held at that moment would stay locked in the child forever. So fork() first locks all of these, and unlocks
// them in parent and child.
//
// A thread that holds one must not lock another.
#pragma once

#include <mutex>

namespace braintrace {

class ProcessMutex : public std::mutex {
 public:
  ProcessMutex();
  ~ProcessMutex();
};

}  // namespace braintrace

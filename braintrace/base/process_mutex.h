// SPDX-License-Identifier: Apache-2.0
// A mutex that the whole process shares. A child of fork() has the thread that forked and no other: what another thread
// held at that moment would stay taken there for ever. So whoever forks takes all of these first, and lets go in both.
//
// While one is held nobody may ask for another.
#pragma once

#include <mutex>

namespace braintrace {

class ProcessMutex : public std::mutex {
 public:
  ProcessMutex();
  ~ProcessMutex();
};

}  // namespace braintrace

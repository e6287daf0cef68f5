// SPDX-License-Identifier: Apache-2.0
#include "braintrace/base/process_mutex.h"

#include <algorithm>
#include <pthread.h>
#include <vector>

namespace braintrace {

namespace {

struct All {
  std::mutex                 mutex;  // of the list
  std::vector<ProcessMutex*> list;

  All() { pthread_atfork(lock, unlock, unlock); }

  static All& get() {
    static All& all = *new All;  // mutexes of other files may outlive those of this one
    return all;
  }
  static void lock() {
    get().mutex.lock();
    for (ProcessMutex* m : get().list) m->lock();
  }
  static void unlock() {
    for (ProcessMutex* m : get().list) m->unlock();
    get().mutex.unlock();
  }
};

}  // namespace

ProcessMutex::ProcessMutex() {
  All&            all = All::get();
  std::lock_guard lock(all.mutex);
  all.list.push_back(this);
}

ProcessMutex::~ProcessMutex() {
  All&            all = All::get();
  std::lock_guard lock(all.mutex);
  std::erase(all.list, this);
}

}  // namespace braintrace

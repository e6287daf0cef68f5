// SPDX-License-Identifier: Apache-2.0
#include "braintrace/base/process_mutex.h"

#include <atomic>
#include <chrono>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

#include <gtest/gtest.h>

namespace braintrace {
namespace {

TEST(ProcessMutex, IsFreeInAChildWhateverOtherThreadsHold) {
  ProcessMutex      mutex;
  std::atomic<bool> stop = false;
  std::thread       holder([&] {
    while (!stop) {
      std::lock_guard lock(mutex);
      std::this_thread::sleep_for(std::chrono::microseconds(200));
    }
  });
  for (int i = 0; i < 20; ++i) {
    const pid_t child = fork();
    if (child == 0) {
      alarm(10);  // ends a child that waits for ever
      mutex.lock();
      _exit(0);
    }
    int status = -1;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
    if (status != 0) break;
  }
  stop = true;
  holder.join();
}

TEST(ProcessMutex, MayEndBeforeAFork) {
  { ProcessMutex gone; }
  const pid_t child = fork();
  if (child == 0) _exit(0);
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace braintrace

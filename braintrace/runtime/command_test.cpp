// SPDX-License-Identifier: Apache-2.0
#include "braintrace/runtime/command.h"

#include <csignal>
#include <fcntl.h>
#include <fstream>
#include <poll.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include "braintrace/base/temporary_folder.h"

namespace braintrace {
namespace {

bool has_child(pid_t pid) {
  const std::string number = std::to_string(pid);
  std::ifstream     children("/proc/" + number + "/task/" + number + "/children");
  return !(children >> std::ws).eof();
}

// A program's output is a pipe: opening it makes the start wait for us, and its end tells that nobody holds it any
// more. Signals that come meanwhile are delivered the moment the program runs, before its number is known to us.
TEST(Command, ASignalDuringTheStartLeavesNothingRunning) {
  const TemporaryFolder folder;
  const std::string     pipe = (folder.path / "pipe").string();
  for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGQUIT}) {
    ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
    const pid_t process = ::fork();
    if (process == 0) {
      std::signal(number, SIG_DFL);
      run_command({"/bin/sleep", "1000"}, pipe, folder.path.string(), 60);
      ::_exit(7);  // the signal was lost
    }
    while (!has_child(process)) ::usleep(1000);
    ::kill(process, number);
    const int reader = ::open(pipe.c_str(), O_RDONLY);
    int       status = 0;
    ASSERT_EQ(::waitpid(process, &status, 0), process);
    EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == number) << status;
    pollfd end{reader, POLLIN, 0};
    EXPECT_EQ(::poll(&end, 1, 10000), 1) << "the program still runs after signal " << number;
    ::close(reader);
    ::unlink(pipe.c_str());
  }
}

}  // namespace
}  // namespace braintrace

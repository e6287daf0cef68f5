// SPDX-License-Identifier: Apache-2.0
// A program run to its end, or to a limit of time, with all that it started.
#pragma once

#include <string>
#include <vector>

namespace braintrace {

enum class CommandEnd { Done, Failed, TooLong, Stopped };

struct CommandResult {
  CommandEnd  end = CommandEnd::Failed;
  std::string problem;  // why it could not be started
};

// What it prints goes to the file `output`; its temporary files go to `folder`. Several threads may at once.
//
// While it runs, SIGINT, SIGTERM, SIGHUP and SIGQUIT end it too where this process leaves them to the system.
CommandResult run_command(const std::vector<std::string>& words, const std::string& output, const std::string& folder,
                          double seconds);

// Ends all programs that run, and does not start others until `stop` is false. A signal handler may call it.
void stop_commands(bool stop = true);
bool commands_are_stopped();

}  // namespace braintrace

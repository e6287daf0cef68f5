// SPDX-License-Identifier: Apache-2.0
// Runs a command, and the processes it starts, until it ends or exceeds a time limit.
#pragma once

#include <string>
#include <vector>

namespace braintrace {

enum class CommandEnd { Done, Failed, TooLong, Stopped };

struct CommandResult {
  CommandEnd  end = CommandEnd::Failed;
  std::string problem;  // of one that failed: "could not be started: …", "exited with status 1", "was ended by …"
  bool        has_started = true;
};

// Its output goes to the file `output`, and its temporary files to `folder`. Several threads may call this at the same
// time.
//
// While it runs, SIGINT, SIGTERM, SIGHUP and SIGQUIT also end the command, if this process does not handle them itself.
CommandResult run_command(const std::vector<std::string>& words, const std::string& output, const std::string& folder,
                          double seconds);

// Ends all running commands, and starts no others until `stop` is false. May be called in a signal handler.
void stop_commands(bool stop = true);
bool commands_are_stopped();

}  // namespace braintrace

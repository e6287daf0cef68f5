// SPDX-License-Identifier: Apache-2.0
// Runs pieces of work in parallel, each in its own process. A piece that fails or is killed does not affect the others.
// When this process receives a stop signal or is killed, all pieces receive one, and each ends when it is ready.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace braintrace::sweep {

struct Child {
  size_t               piece = 0;
  std::function<int()> work;    // returns the exit status
  std::string          output;  // file for its stdout
  std::string          errors;  // file for its stderr
};

// How a piece ended: its exit status, or the signal that killed it.
struct Ended {
  size_t piece  = 0;
  int    status = 0, signal = 0;
};

class Children {
 public:
  ~Children();  // stops running pieces, and waits for them
  Children()                           = default;
  Children(const Children&)            = delete;
  Children& operator=(const Children&) = delete;

  void                start(const Child& child);  // throws UserError if the system fails
  size_t              running() const { return running_.size(); }
  std::vector<size_t> pieces() const;
  // Pieces that have ended, after at most `seconds`; returns immediately if this process received a stop signal.
  std::vector<Ended> wait(double seconds);
  void               stop(int signal);

 private:
  struct Process {
    size_t piece;
    int    pid;
  };
  std::vector<Process> running_;
  bool                 is_stopped_ = false;
};

}  // namespace braintrace::sweep

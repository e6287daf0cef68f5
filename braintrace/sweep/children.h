// SPDX-License-Identifier: Apache-2.0
// Work side by side, each piece in a process of its own. A piece that fails or is killed does not touch the others.
// When this process is asked to stop, all of them are, and each ends in its own good time; when this process is killed,
// so is asked of them too.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace braintrace::sweep {

struct Child {
  size_t               piece = 0;
  std::function<int()> work;    // gives the exit status
  std::string          output;  // file for what it prints
  std::string          errors;  // file for what it complains about
};

// How a piece ended: its exit status, or the signal that killed it.
struct Ended {
  size_t piece  = 0;
  int    status = 0, signal = 0;
};

class Children {
 public:
  ~Children();  // asks those that run to stop, and waits for them
  Children()                           = default;
  Children(const Children&)            = delete;
  Children& operator=(const Children&) = delete;

  void                start(const Child& child);  // throws UserError when the system refuses
  size_t              running() const { return running_.size(); }
  std::vector<size_t> pieces() const;
  // Those that ended, after at most `seconds`; at once when a signal asked this process to stop.
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

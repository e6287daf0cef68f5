// SPDX-License-Identifier: Apache-2.0
// Processes that work on one thing together. A group moves bytes; all else (collective.h, tree_sum.h) is made of that.
//
//   const auto group = bt::parallel::world();   // the processes that mpirun started, or this one alone
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>

#include "braintrace/base/error.h"

namespace braintrace::parallel {

struct Outgoing {
  int              to;
  const std::byte* data;
  size_t           bytes;
};
struct Incoming {
  int        from;
  std::byte* data;
  size_t     bytes;
};

class Group {
 public:
  virtual ~Group() = default;

  virtual int rank() const = 0;
  virtual int size() const = 0;
  bool        is_first() const { return rank() == 0; }  // the one that writes files and talks
  virtual int local_rank() const { return 0; }          // among the processes of this machine

  // Sends and receives, and returns when all of it is done. Two ranks see the messages between them in one order, and
  // what is received has the size of what was sent. Throws UserError when another rank is gone.
  virtual void exchange(std::span<const Outgoing> out, std::span<const Incoming> in) = 0;
  // This rank cannot go on: the others end too. It may end the process.
  virtual void abandon(const std::string& why) = 0;
};

// This process, with nobody to talk to.
std::shared_ptr<Group> alone();
// The processes that mpirun or srun started with this one, over Open MPI; `alone` where there are none. The library of
// MPI is loaded here, and only then. Throws UserError when it is missing.
std::shared_ptr<Group> world();

// An error that all ranks of a group throw at the same place.
class SharedError : public UserError {
 public:
  using UserError::UserError;
};

}  // namespace braintrace::parallel

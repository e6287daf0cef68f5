// SPDX-License-Identifier: Apache-2.0
// A group of processes that work together. A group only transfers bytes; everything else (collective.h, tree_sum.h) is
// built on that.
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
  bool        is_first() const { return rank() == 0; }  // the process that writes files and prints
  virtual int local_rank() const { return 0; }          // among the processes of this machine

  // Sends and receives, and returns when everything is done. Messages between two ranks arrive in order, and a received
  // message must have the size of the sent one. Throws UserError if another rank has ended.
  virtual void exchange(std::span<const Outgoing> out, std::span<const Incoming> in) = 0;
  // This rank cannot continue: ends the other ranks too. May end the process.
  virtual void abandon(const std::string& why) = 0;
};

// This process alone.
std::shared_ptr<Group> alone();
// The processes that mpirun or srun started together with this one, over Open MPI; `alone` if there are none. Loads the
// MPI library only if it is needed. Throws UserError if the library is missing.
std::shared_ptr<Group> world();

// An error that all ranks of a group throw at the same point.
class SharedError : public UserError {
 public:
  using UserError::UserError;
};

}  // namespace braintrace::parallel

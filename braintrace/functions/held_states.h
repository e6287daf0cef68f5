// SPDX-License-Identifier: Apache-2.0
// A compiled program that keeps the states it reads and writes, where the backend can: calls one after the other look
// nothing up and write the states where they are. As soon as anybody else asks for one of these states, all go back to
// their cells, and the next call takes them again. Values that were given out never change.
#pragma once

#include <mutex>

#include "braintrace/model/frame.h"
#include "braintrace/runtime/backend.h"

namespace braintrace {

// States that are read and written, as the same type.
std::vector<Feed> feeds_of(const StatefulProgram& p);

namespace detail {

class HeldStates : public StateHolder {
 public:
  // Null where the program has no such states or the backend does not keep any.
  static std::unique_ptr<HeldStates> make(Backend& backend, const StatefulProgram& p, const Arrays& constants);

  HeldStates(const StatefulProgram& p, std::unique_ptr<ResidentProgram> program);
  ~HeldStates() override { settle(); }
  HeldStates(const HeldStates&)            = delete;
  HeldStates& operator=(const HeldStates&) = delete;

  // Outside any trace, with states of the types that the program was made for.
  Tensors call(const Tensors& args);
  // Whether the value of reads[index] is here now, and so has the type that it had.
  bool holds(size_t index) const { return holding_ && kept_[index]; }
  void settle() override;

 private:
  void   take();
  Tensor read(const StateLeaf& leaf) const;
  void   write(const StateLeaf& leaf, Tensor value) const;

  std::unique_ptr<ResidentProgram> program_;
  size_t                           num_results_;
  std::vector<bool>                kept_;            // by read
  std::vector<StateLeaf>           held_;            // by feed
  std::vector<StateLeaf>           reads_, writes_;  // of the others
  std::mutex                       mutex_;           // calls, and several that ask for a state
  std::atomic<bool>                holding_ = false;
};

}  // namespace detail

}  // namespace braintrace

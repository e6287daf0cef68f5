// SPDX-License-Identifier: Apache-2.0
// A compiled program that keeps the states it reads and writes, where the backend can: calls one after the other look
// nothing up and write the states where they are. As soon as anybody else asks for one of these states, all go back to
// their cells, and the next call takes them again. Values that were given out never change. A state that is written and
// never read stays with the program too, where that saves a copy, and goes back alone.
#pragma once

#include <list>
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
  ~HeldStates() override;
  HeldStates(const HeldStates&)            = delete;
  HeldStates& operator=(const HeldStates&) = delete;

  // Outside any trace, with states of the types that the program was made for.
  Tensors call(const Tensors& args);
  // Whether the value of reads[index] is here now, and so has the type that it had.
  bool holds(size_t index) const { return holding_ && kept_[index]; }
  void settle() override;

 private:
  // A state of one leaf that the program writes and never reads: its value is what the last call left.
  class LeftState : public StateHolder {
   public:
    LeftState(HeldStates& all, StateLeaf leaf, size_t index) : all_(all), leaf_(std::move(leaf)), index_(index) {}
    void hold();
    void settle() override;

   private:
    HeldStates& all_;
    StateLeaf   leaf_;
    size_t      index_;  // among the results that are left
    Tensor      before_;
  };

  void   leave_results(const StatefulProgram& p, const std::vector<bool>& written);
  void   take();
  Tensor read(const StateLeaf& leaf) const;
  void   write(const StateLeaf& leaf, Tensor value) const;

  std::unique_ptr<ResidentProgram> program_;
  size_t                           num_results_;
  std::vector<bool>                kept_;            // by read
  std::vector<StateLeaf>           held_;            // by feed
  std::vector<StateLeaf>           reads_, writes_;  // of the others
  std::list<LeftState>             left_;            // of the others, too: those that are written alone
  std::mutex                       mutex_;           // calls, and several that ask for a state
  std::atomic<bool>                holding_ = false;
};

}  // namespace detail

}  // namespace braintrace

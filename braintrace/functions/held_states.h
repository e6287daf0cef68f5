// SPDX-License-Identifier: Apache-2.0
// A compiled program that keeps the states it reads and writes, if the backend supports it: consecutive calls need no
// lookups and update the states in place. As soon as other code accesses one of these states, all return to their
// cells, and the next call takes them again. Values that were handed out never change. A state that is written but
// never read also stays with the program if that saves a copy, and returns separately.
#pragma once

#include <list>
#include <mutex>

#include "braintrace/model/frame.h"
#include "braintrace/runtime/backend.h"

namespace braintrace {

// States that are read and written with the same type.
std::vector<Feed> feeds_of(const StatefulProgram& p);

namespace detail {

class HeldStates : public StateHolder {
 public:
  // Null if the program has no such states or the backend does not keep any.
  static std::unique_ptr<HeldStates> make(Backend& backend, const StatefulProgram& p, const Arrays& constants);

  HeldStates(const StatefulProgram& p, std::unique_ptr<ResidentProgram> program);
  ~HeldStates() override;
  HeldStates(const HeldStates&)            = delete;
  HeldStates& operator=(const HeldStates&) = delete;

  // To be called outside any trace, with states of the types for which the program was compiled.
  Tensors call(const Tensors& args);
  // Whether the program currently holds the value of reads[index], whose type is then unchanged.
  bool holds(size_t index) const { return holding_ && kept_[index]; }
  void settle() override;

 private:
  // A state of one leaf that the program writes and never reads: its value is that of the last call.
  class LeftState : public StateHolder {
   public:
    LeftState(HeldStates& all, StateLeaf leaf, size_t index) : all_(all), leaf_(std::move(leaf)), index_(index) {}
    void hold();
    void settle() override;

   private:
    HeldStates& all_;
    StateLeaf   leaf_;
    size_t      index_;  // among the results that run() does not return
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
  std::list<LeftState>             left_;            // of the others: those that are only written
  std::mutex                       mutex_;           // protects calls and accesses to states
  std::atomic<bool>                holding_ = false;
};

}  // namespace detail

}  // namespace braintrace

// SPDX-License-Identifier: Apache-2.0
#include "braintrace/backends/cpu/thread_choice.h"

#include <algorithm>

namespace braintrace::cpu {

namespace {

constexpr int    share_of_time = 100;   // trials take 1/100 of the time
constexpr double is_faster     = 0.95;  // ratio to the usual time; smaller differences are noise
constexpr double is_hopeless   = 1.5;   // ratio, after one call

}  // namespace

int ThreadChoice::threads(int most) {
  if (most != most_) {
    const Time left = credit_;
    *this           = ThreadChoice();
    credit_         = left;
    most_ = usual_ = most;
  }
  return tried_ ? tried_ : usual_;
}

void ThreadChoice::took(Time time) {
  if (most_ <= 1) return;
  recent_[count_++ % calls] = time;
  if (!tried_) {
    credit_ += time / share_of_time;
    // Half as many threads take at most twice as long.
    if (count_ >= rest_ && credit_ >= static_cast<int>(calls + 1) * median()) begin_trial();
    return;
  }
  credit_ -= std::max(Time(0), time - before_);
  if (count_ == 1)
    recent_.fill(Time::max());
  else if (count_ > calls || time > is_hopeless * before_)
    end_trial();
}

void ThreadChoice::begin_trial() {
  if (usual_ == most_) up_ = false;
  if (usual_ == 1) up_ = true;
  tried_  = up_ ? std::min(2 * usual_, most_) : (usual_ + 1) / 2;
  before_ = median();
  count_  = 0;
}

void ThreadChoice::end_trial() {
  if (median() < is_faster * before_) {
    usual_ = tried_;
    rest_  = least_rest;
  } else {
    up_   = !up_;
    rest_ = std::min(2 * rest_, longest_rest);
  }
  tried_ = 0;
  count_ = 0;
}

ThreadChoice::Time ThreadChoice::median() const {
  auto times = recent_;
  std::nth_element(times.begin(), times.begin() + calls / 2, times.end());
  return times[calls / 2];
}

}  // namespace braintrace::cpu

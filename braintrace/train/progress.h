// SPDX-License-Identifier: Apache-2.0
// A progress line: steps, loss, accuracy, time left, rate. On a terminal it is updated in place and truncated to its
// width; elsewhere a plain line is printed from time to time.
#pragma once

#include <functional>
#include <string_view>

#include "braintrace/train/run_record.h"

namespace braintrace::train {

// Where lines are printed.
struct Screen {
  bool                                  is_terminal = false;
  std::function<int()>                  columns;
  std::function<void(std::string_view)> write;

  static Screen standard_error();
};

class Progress : public Observer {
 public:
  explicit Progress(Screen screen = Screen::standard_error()) : screen_(std::move(screen)) {}

  void begin(const RunRecord& run) override;
  void step(const StepRecord& r) override;
  void validation(const ValidationRecord& r) override;
  void alarm(const Alarm& a) override;
  void end(const RunRecord& run) override;

 private:
  std::string line(int columns) const;
  void        draw();
  void        say(const std::string& text);  // a permanent line

  Screen     screen_;
  int64_t    total_ = 0;                 // updates of the whole run; 0 if it is endless
  StepRecord first_, last_;              // of this process; the rate is measured from the first update, which compiles
  double     loss_ = 0, accuracy_ = -1;  // smoothed
  double     drawn_at_ = -1;
  bool       is_drawn_ = false;
};

// 75 s → 1:15, 4000 s → 1:06:40
std::string clock_text(double seconds);

}  // namespace braintrace::train

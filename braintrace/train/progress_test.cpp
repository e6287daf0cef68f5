// SPDX-License-Identifier: Apache-2.0
#include "braintrace/train/progress.h"

#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>

namespace braintrace::train {
namespace {

struct Paper {
  std::string text;
  Screen      screen(bool is_terminal, int columns) {
         return {is_terminal, [columns] { return columns; }, [this](std::string_view s) { text += s; }};
  }
};

Progress begun(int64_t total, int64_t first, Screen screen) {
  Progress  p(std::move(screen));
  RunRecord run;
  run.total_steps = total, run.start_step = first;
  p.begin(run);
  return p;
}

StepRecord at(int64_t step, double seconds, double loss = 0.5) { return {step, loss, 0.875, 1, 1e-3, seconds}; }

TEST(Progress, TellsLossAccuracyRateAndTimeLeft) {
  Paper    paper;
  Progress p = begun(1000, 0, paper.screen(false, 0));
  p.step(at(1, 30));  // what it took to compile says nothing about the steps to come
  EXPECT_EQ(paper.text, "1/1000  loss 0.5  accuracy 87.5%\n");
  p.step(at(101, 40));
  EXPECT_NE(paper.text.find("\n101/1000  loss 0.5  accuracy 87.5%  1:29 left  10 updates/s\n"), std::string::npos)
      << paper.text;
  p.step(at(110, 41));  // too soon for another line
  EXPECT_EQ(paper.text.find("110/"), std::string::npos);
  p.validation({110, 0.25, 1});
  p.end({});
  EXPECT_EQ(paper.text.find('\r'), std::string::npos);
  EXPECT_NE(paper.text.find("update 110: validation loss 0.25, accuracy 100.0%\n110/1000"), std::string::npos)
      << paper.text;
}

TEST(Progress, ResumedRunCountsItsOwnSteps) {
  Paper    paper;
  Progress p = begun(1000, 900, paper.screen(false, 0));
  p.step(at(901, 1));
  p.step(at(951, 2));
  p.end({});
  EXPECT_NE(paper.text.find("0:00 left  50 updates/s"), std::string::npos) << paper.text;
}

// Whatever the width, a drawing never reaches the last column, where terminals wrap.
TEST(Progress, FitsAnyTerminal) {
  for (int columns : {1, 5, 12, 30, 60, 80, 200}) {
    Paper    paper;
    Progress p = begun(1'000'000, 0, paper.screen(true, columns));
    p.step(at(123455, 1000));
    p.step(at(123456, 1001));
    const std::string head = "\r\x1b[K";
    ASSERT_EQ(paper.text.find(head), 0u);
    const std::string line  = paper.text.substr(paper.text.rfind(head) + head.size());
    const auto        width = std::count_if(line.begin(), line.end(), [](char c) { return (c & 0xC0) != 0x80; });
    EXPECT_LT(width, columns) << line;
    EXPECT_EQ(line.find("123456/1000000") != std::string::npos, columns > 14);
    EXPECT_EQ(line.find("━") != std::string::npos, columns == 200);
  }
}

TEST(Progress, RedrawsInPlaceAndKeepsAlarms) {
  Paper    paper;
  Progress p = begun(0, 0, paper.screen(true, 80));
  for (int i = 1; i <= 1000; ++i) p.step(at(i, 0.001 * i));
  EXPECT_EQ(std::count(paper.text.begin(), paper.text.end(), '\n'), 0);
  EXPECT_LE(std::count(paper.text.begin(), paper.text.end(), '\r'), 11);  // not every step
  EXPECT_GE(std::count(paper.text.begin(), paper.text.end(), '\r'), 9);
  p.alarm({1000, "not_finite", "rnn.W", "lower the learning rate"});
  EXPECT_NE(paper.text.find("\r\x1b[Kupdate 1000: not_finite at rnn.W: lower the learning rate\n\r\x1b[Kupdate 1000"),
            std::string::npos);
  p.step(at(1001, 5, NAN));
  EXPECT_NE(paper.text.find("loss nan"), std::string::npos);
  p.end({});
  EXPECT_EQ(paper.text.back(), '\n');
}

TEST(Progress, NothingHappened) {
  Paper paper;
  begun(10, 0, paper.screen(true, 80)).end({});
  EXPECT_EQ(paper.text, "");
}

TEST(Progress, Clock) {
  EXPECT_EQ(clock_text(75), "1:15");
  EXPECT_EQ(clock_text(4000), "1:06:40");
  EXPECT_EQ(clock_text(INFINITY), "?");
  EXPECT_EQ(clock_text(NAN), "?");
}

}  // namespace
}  // namespace braintrace::train

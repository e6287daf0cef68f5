// SPDX-License-Identifier: Apache-2.0
#include "braintrace/stream/save_pace.h"

#include <gtest/gtest.h>

namespace braintrace::stream {
namespace {

using std::chrono::milliseconds;

struct Course {
  int64_t      saves = 0;
  milliseconds saving{0}, whole{0};
};
// A stream of records that take a millisecond each.
Course course(int64_t every, milliseconds save_takes, int64_t records) {
  SavePace                          pace(every);
  const SavePace::Clock::time_point start{std::chrono::hours(1)};
  auto                              now = start;
  Course                            c;
  for (int64_t i = 0; i < records; ++i) {
    now += milliseconds(1);
    pace.add_record();
    if (pace.due_in(now) != SavePace::Clock::duration::zero()) continue;
    const auto begin = now;
    now += save_takes;
    pace.tried(begin, now);
    ++c.saves;
    c.saving += save_takes;
  }
  c.whole = std::chrono::duration_cast<milliseconds>(now - start);
  return c;
}

TEST(SavePace, SavesAfterEverySoManyRecords) {
  EXPECT_EQ(course(100, milliseconds(1), 1000).saves, 10);
  EXPECT_EQ(course(0, milliseconds(1), 1000).saves, 0);
}

TEST(SavePace, SavingTakesATwentiethOfTheTimeAtMost) {
  for (int64_t every : {1, 7, 100})
    for (int64_t takes : {1, 50, 300}) {
      const Course c = course(every, milliseconds(takes), 20000);
      EXPECT_GT(c.saves, 0);
      EXPECT_LE((c.saving - milliseconds(takes)).count() * 20, c.whole.count()) << every << " " << takes;
    }
}

TEST(SavePace, ASaveThatWaitsSaysHowLong) {
  SavePace   pace(1);
  const auto now = SavePace::Clock::time_point{std::chrono::hours(1)};
  EXPECT_FALSE(pace.due_in(now).has_value());
  pace.add_record();
  EXPECT_EQ(pace.due_in(now), SavePace::Clock::duration::zero());
  pace.tried(now, now + milliseconds(10));
  pace.add_record();
  EXPECT_EQ(pace.due_in(now + milliseconds(50)), milliseconds(150));
}

}  // namespace
}  // namespace braintrace::stream

// SPDX-License-Identifier: Apache-2.0
// Each task against its rule: the target, found again from the inputs.
#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include <gtest/gtest.h>

#include "braintrace/tasks/task.h"
#include "braintrace/tasks/text_data.h"

namespace braintrace::tasks {

namespace {

// A batch with elements by step, row and channel.
struct View {
  Batch        batch;
  const float* shown;
  int64_t      T, B, in, out;

  View(const Task& task, int64_t size, Part part = Part::Train)
      : batch(task.batch(part, 0, size)), shown(batch.inputs.data<float>()), T(task.facts().length), B(size) {
    in  = batch.inputs.size() / (T * B);
    out = batch.targets.size() / (T * B);
  }
  double x(int64_t t, int64_t b, int64_t i = 0) const { return shown[(t * B + b) * in + i]; }
  double y(int64_t t, int64_t b, int64_t i = 0) const { return at(batch.targets, (t * B + b) * out + i); }

  void expect_scored_from(int64_t from) const {
    for (int64_t t = 0; t < T; ++t)
      for (int64_t b = 0; b < B; ++b) ASSERT_EQ(at(batch.mask, t * B + b), t >= from ? 1 : 0) << t;
  }
  // Spikes of channels from … to-1 during steps [start, end).
  double spikes(int64_t b, int64_t start, int64_t end, int64_t from, int64_t to) const {
    double n = 0;
    for (int64_t t = start; t < end; ++t)
      for (int64_t i = from; i < to; ++i) n += x(t, b, i);
    return n;
  }
};

View view(const std::string& description, int64_t size, Part part = Part::Train) {
  return View(*make_task(description, 11), size, part);
}

int64_t hot(const View& v, int64_t t, int64_t b) {
  int64_t which = -1;
  for (int64_t i = 0; i < v.in; ++i)
    if (v.x(t, b, i) != 0) {
      EXPECT_EQ(v.x(t, b, i), 1);
      EXPECT_EQ(which, -1) << "two channels are hot";
      which = i;
    }
  return which;
}

TEST(Copy, TheSymbolsAreAskedInOrder) {
  const View v = view(R"({"type": "copy", "lag": 5})", 64);
  ASSERT_EQ(v.T, 25);
  v.expect_scored_from(15);
  std::map<int64_t, int> seen;
  for (int64_t b = 0; b < v.B; ++b)
    for (int64_t t = 0; t < v.T; ++t) {
      const int64_t symbol = hot(v, t, b);
      if (t < 10) {
        ++seen[symbol];
        EXPECT_EQ(v.y(15 + t, b), double(symbol));
      } else {
        EXPECT_EQ(symbol, t < 15 ? 0 : 9);
      }
    }
  EXPECT_EQ(seen.size(), 8u);
  EXPECT_EQ(seen.count(0) + seen.count(9), 0u);
}

TEST(DelayedXor, TheLabelIsTheDifference) {
  const View v = view(R"({"type": "delayed_xor", "delay": 6})", 200);
  v.expect_scored_from(6);
  std::map<std::pair<double, double>, int> seen;
  for (int64_t b = 0; b < v.B; ++b) {
    ++seen[{v.x(0, b, 0), v.x(6, b, 1)}];
    EXPECT_EQ(v.y(6, b), double(v.x(0, b, 0) != v.x(6, b, 1)));
    EXPECT_EQ(v.spikes(b, 0, 7, 0, 2), v.x(0, b, 0) + v.x(6, b, 1)) << "nothing else is shown";
  }
  ASSERT_EQ(seen.size(), 4u);
  for (const auto& [bits, n] : seen) EXPECT_NEAR(n, 50, 6 * 6.1);
}

TEST(WorkingMemory, TheVectorIsShownThenAsked) {
  const View v = view(R"({"type": "working_memory"})", 32);
  v.expect_scored_from(0);
  double ones = 0;
  for (int64_t b = 0; b < v.B; ++b)
    for (int64_t i = 0; i < 8; ++i) {
      ones += v.y(0, b, i);
      for (int64_t t = 0; t < 30; ++t) {
        EXPECT_EQ(v.y(t, b, i), v.x(0, b, i));
        EXPECT_EQ(v.x(t, b, i), t < 6 ? v.x(0, b, i) : 0);
      }
    }
  EXPECT_NEAR(ones / (32 * 8), 0.5, 6 * 0.5 / 16);
}

TEST(Adding, TheSumOfTheMarkedNumbers) {
  const View v = view(R"({"type": "adding", "length": 21})", 64);
  v.expect_scored_from(20);
  for (int64_t b = 0; b < v.B; ++b) {
    double sum = 0, first_half = 0, marks = 0;
    for (int64_t t = 0; t < 21; ++t) {
      EXPECT_GE(v.x(t, b, 0), 0);
      EXPECT_LE(v.x(t, b, 0), 1);
      sum += v.x(t, b, 0) * v.x(t, b, 1);
      marks += v.x(t, b, 1);
      if (t < 10) first_half += v.x(t, b, 1);
    }
    EXPECT_EQ(marks, 2);
    EXPECT_EQ(first_half, 1);
    EXPECT_NEAR(v.y(20, b), sum, 1e-6);
  }
}

TEST(Integrator, TheRunningSumOfAnInputWithTheStatedMoments) {
  const View v = view(R"({"type": "integrator"})", 2000);
  v.expect_scored_from(0);
  double mean = 0, between = 0, within = 0;
  for (int64_t b = 0; b < v.B; ++b) {
    double sum = 0, squares = 0;
    for (int64_t t = 0; t < 25; ++t) {
      sum += v.x(t, b);
      squares += v.x(t, b) * v.x(t, b);
      EXPECT_NEAR(v.y(t, b), sum, 1e-6);
    }
    mean += sum / 25 / 2000;
    between += sum / 25 * (sum / 25) / 2000;
    within += (squares - sum * sum / 25) / 24 / 2000;
  }
  // bias: mean -0.025, deviation 0.05; noise: deviation 0.01 / √0.04 = 0.05
  EXPECT_NEAR(mean, -0.025, 6 * 0.051 / std::sqrt(2000));
  EXPECT_NEAR(between - mean * mean, 0.0025 + 0.0025 / 25, 6 * 0.0026 * std::sqrt(2.0 / 2000));
  EXPECT_NEAR(within, 0.0025, 6 * 0.0025 * std::sqrt(2.0 / 48000));
}

// x_{t+1} + x_{t-1} = 2 cos(ω) x_t for every sine.
TEST(Sine, TheNextSampleOfASine) {
  const View v = view(R"({"type": "sine"})", 16);
  v.expect_scored_from(0);
  for (int64_t b = 0; b < v.B; ++b) {
    ASSERT_NE(v.x(1, b), 0);
    const double twice_cosine = v.x(2, b) / v.x(1, b), frequency = std::acos(twice_cosine / 2) * 10 / (2 * M_PI);
    EXPECT_GT(frequency, 0.49);
    EXPECT_LT(frequency, 2.51);
    for (int64_t t = 1; t < v.T; ++t) {
      EXPECT_EQ(v.y(t - 1, b), v.x(t, b));
      EXPECT_NEAR(v.y(t, b) + v.x(t - 1, b), twice_cosine * v.x(t, b), 1e-4);
    }
  }
}

TEST(Pattern, EqualSpikesAskForEqualCurves) {
  const View                                         v = view(R"({"type": "pattern"})", 60);
  std::map<std::vector<double>, std::vector<double>> curve_of;
  std::map<std::vector<double>, int>                 seen;
  for (int64_t b = 0; b < v.B; ++b) {
    std::vector<double> shown, asked;
    for (int64_t t = 0; t < v.T; ++t) {
      for (int64_t i = 0; i < v.in; ++i) shown.push_back(v.x(t, b, i));
      asked.push_back(v.y(t, b));
      EXPECT_LE(std::abs(asked.back()), 1);
    }
    EXPECT_EQ(curve_of.emplace(shown, asked).first->second, asked);
    ++seen[shown];
    EXPECT_NEAR(std::accumulate(shown.begin(), shown.end(), 0.0) / 2000, 0.05, 6 * 0.0049);
    EXPECT_NEAR(std::accumulate(asked.begin(), asked.end(), 0.0), 0, 1e-4) << "whole periods";
  }
  EXPECT_EQ(curve_of.size(), 3u);
  for (const auto& [shown, n] : seen) EXPECT_GT(n, 5);
}

TEST(Dms, TheLabelIsWhetherTheChannelsAgree) {
  const View v = view(R"({"type": "dms", "rate_hz": 500, "channels": 4, "active": 2})", 400);
  v.expect_scored_from(30);
  int matches = 0, clear = 0;
  for (int64_t b = 0; b < v.B; ++b) {
    EXPECT_EQ(v.spikes(b, 10, 30, 0, 4), 0) << "the delay is silent";
    bool same = true, opposite = true, spiked[4][2];
    for (int64_t i = 0; i < 4; ++i)
      spiked[i][0] = v.spikes(b, 0, 10, i, i + 1) > 0, spiked[i][1] = v.spikes(b, 30, 40, i, i + 1) > 0;
    int64_t active = 0;
    for (auto& s : spiked) {
      same &= s[0] == s[1];
      opposite &= s[0] != s[1];
      active += s[0] + s[1];
    }
    if (active != 4) continue;  // a channel stayed silent by chance
    ++clear;
    EXPECT_TRUE(same != opposite);
    EXPECT_EQ(v.y(39, b), same);
    matches += same;
  }
  EXPECT_GT(clear, 390);
  EXPECT_NEAR(matches, 200, 6 * 10);
}

TEST(Dms, AsInTheReferenceAThirdOfTheTrialsShowBothStimuli) {
  const View v    = view(R"({"type": "dms"})", 2000);
  double     both = 0, spikes = 0;
  for (int64_t b = 0; b < v.B; ++b) {
    both += v.spikes(b, 0, 10, 0, 16) > 0 && v.spikes(b, 30, 40, 0, 16) > 0;
    spikes += v.spikes(b, 0, 40, 0, 16);
  }
  EXPECT_NEAR(both / 2000, 0.32, 6 * 0.0104);
  EXPECT_NEAR(spikes / 2000 / 20, 0.08, 6 * 0.00136);
}

TEST(DmsFull, TheDirectionsAreThoseOfTheTunedRates) {
  const View v = view(R"({"type": "dms_full"})", 40);
  ASSERT_EQ(v.T, 2010);
  v.expect_scored_from(1510);
  int  matches   = 0;
  auto direction = [&](int64_t b, int64_t from) {  // population vector, in eighths of a turn
    double re = 0, im = 0;
    for (int64_t i = 0; i < 100; ++i) {
      const double n = v.spikes(b, from, from + 500, i, i + 1);
      re += n * std::cos(2 * M_PI * double(i) / 100);
      im += n * std::sin(2 * M_PI * double(i) / 100);
    }
    const double eighths = std::atan2(im, re) / (2 * M_PI) * 8;
    EXPECT_NEAR(eighths, std::round(eighths), 0.2);
    return (std::lround(eighths) + 8) % 8;
  };
  double background = 0, preferred = 0;
  for (int64_t b = 0; b < v.B; ++b) {
    EXPECT_EQ(v.y(2009, b), direction(b, 10) == direction(b, 1510));
    matches += v.y(2009, b) == 1;
    background += v.spikes(b, 510, 1510, 0, 100) / 40;
    preferred += v.spikes(b, 10, 510, 0, 100) / 40;
  }
  EXPECT_NEAR(background, 100, 6 * 10 / std::sqrt(40));  // 100 neurons, 1 s, 1 Hz
  // Mean over preferred directions of exp(κ(cos Δ - 1)) is e^-3 I₀(3) = 0.2430; 100 neurons, 0.5 s, 100 Hz, and 1 Hz.
  EXPECT_NEAR(preferred, 100 * 0.5 * (100 * 0.2430 + 1), 6 * std::sqrt(1265.0 / 40));
  EXPECT_GT(matches, 5);
  EXPECT_LT(matches, 35);
}

TEST(Evidence, TheSideWithMoreCues) {
  const View v = view(R"({"type": "evidence"})", 60);
  ASSERT_EQ(v.T, 2200);
  v.expect_scored_from(2050);
  double             cue_spikes = 0, noise = 0, recall = 0, lefts_seen = 0;
  std::map<int, int> histogram;
  for (int64_t b = 0; b < v.B; ++b) {
    int lefts = 0;
    for (int64_t c = 0; c < 7; ++c) {
      EXPECT_EQ(v.spikes(b, 150 * c, 150 * c + 50, 0, 75), 0) << "gaps are silent";
      const double left  = v.spikes(b, 150 * c + 50, 150 * c + 150, 0, 25);
      const double right = v.spikes(b, 150 * c + 50, 150 * c + 150, 25, 50);
      EXPECT_TRUE((left > 0) != (right > 0));
      lefts += left > 0;
      cue_spikes += (left + right) / (7 * 60);
    }
    EXPECT_EQ(v.y(2199, b), lefts > 3);
    ++histogram[lefts];
    lefts_seen += v.y(2199, b);
    EXPECT_EQ(v.spikes(b, 1050, 2050, 0, 75), 0) << "the delay is silent";
    recall += v.spikes(b, 2050, 2200, 50, 75) / 60;
    noise += v.spikes(b, 0, 2200, 75, 100) / 60;
  }
  EXPECT_NEAR(cue_spikes, 25 * 0.1 * 40, 6 * std::sqrt(100.0 / 420));
  EXPECT_NEAR(recall, 25 * 0.15 * 40, 6 * std::sqrt(150.0 / 60));
  EXPECT_NEAR(noise, 25 * 2.2 * 10, 6 * std::sqrt(550.0 / 60));
  EXPECT_NEAR(lefts_seen, 30, 6 * 3.9);
  EXPECT_GE(histogram.size(), 5u);
}

// The class is the nearest of the mean counts that each label shows elsewhere.
TEST(PoissonRows, ProfilesTellTheClasses) {
  const auto                            task = make_task(R"({"type": "poisson_rows"})", 11);
  const View                            v(*task, 200), w(*task, 100, Part::Validation);
  std::map<double, std::vector<double>> profile;
  std::map<double, int>                 seen;
  v.expect_scored_from(27);
  for (int64_t b = 0; b < v.B; ++b) {
    auto& p = profile[v.y(27, b)];
    p.resize(28);
    ++seen[v.y(27, b)];
    for (int64_t i = 0; i < 28; ++i) p[static_cast<size_t>(i)] += v.spikes(b, 0, 28, i, i + 1) / 28;
  }
  ASSERT_EQ(profile.size(), 4u);
  for (auto& [label, p] : profile)
    for (double& rate : p) {
      rate /= seen[label];
      EXPECT_GT(rate, 0.1 - 6 * 0.01);
      EXPECT_LT(rate, 0.9 + 6 * 0.03);
    }
  int right = 0;
  for (int64_t b = 0; b < w.B; ++b) {
    double best = 1e30, label = -1;
    for (const auto& [candidate, p] : profile) {
      double distance = 0;
      for (int64_t i = 0; i < 28; ++i)
        distance += std::pow(w.spikes(b, 0, 28, i, i + 1) / 28 - p[static_cast<size_t>(i)], 2);
      if (distance < best) best = distance, label = candidate;
    }
    right += label == w.y(27, b);
  }
  EXPECT_GT(right, 95);
}

TEST(SpikeIntegrator, TheSpikesSoFar) {
  const View v = view(R"({"type": "spike_integrator", "channels": 3})", 100);
  v.expect_scored_from(0);
  double all = 0;
  for (int64_t b = 0; b < v.B; ++b) {
    for (int64_t t = 0; t < 50; ++t) EXPECT_NEAR(v.y(t, b), v.spikes(b, 0, t + 1, 0, 3) / 50, 1e-6);
    all += v.spikes(b, 0, 50, 0, 3);
  }
  EXPECT_NEAR(all / 15000, 0.05, 6 * 0.00178);
}

TEST(RandomFrames, DensityAndLabels) {
  const View            v = view(R"({"type": "random_frames", "width": 20})", 220);
  std::map<double, int> seen;
  double                all = 0;
  for (int64_t b = 0; b < v.B; ++b) all += v.spikes(b, 0, 50, 0, 20), ++seen[v.y(0, b)];
  EXPECT_NEAR(all / 220000, 0.1, 6 * 0.3 / std::sqrt(220000));
  EXPECT_EQ(seen.size(), 11u);
}

TEST(CharLm, WindowsOfTheTextAndTheirNextCharacter) {
  const auto                      task      = make_task(R"({"type": "char_lm", "text": "story"})", 11);
  const std::vector<std::string>& names     = task->facts().class_names;
  const auto                      character = [&](int64_t id) {
    return names[static_cast<size_t>(id)] == "space"   ? " "
                                : names[static_cast<size_t>(id)] == "\\x0a" ? "\n"
                                                                            : names[static_cast<size_t>(id)];
  };
  const size_t cut = story.size() * 9 / 10;
  for (Part part : {Part::Train, Part::Validation}) {
    const View            v(*task, 32, part);
    std::map<size_t, int> places;
    for (int64_t b = 0; b < v.B; ++b) {
      std::string window;
      for (int64_t t = 0; t < v.T; ++t) window += character(hot(v, t, b));
      window += character(static_cast<int64_t>(v.y(v.T - 1, b)));
      for (int64_t t = 0; t + 1 < v.T; ++t) EXPECT_EQ(v.y(t, b), double(hot(v, t + 1, b)));
      const auto in = part == Part::Train ? story.substr(0, cut) : story.substr(cut);
      EXPECT_NE(in.find(window), in.npos) << window;
      ++places[in.find(window)];
    }
    EXPECT_GT(places.size(), 20u);
  }
  EXPECT_TRUE(std::is_sorted(names.begin() + 2, names.end())) << "after newline and space";
  EXPECT_EQ(make_task(R"({"type": "char_lm"})", 1)->facts().outputs, 28);
}

}  // namespace

}  // namespace braintrace::tasks

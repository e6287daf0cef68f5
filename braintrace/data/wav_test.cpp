// SPDX-License-Identifier: Apache-2.0
#include "braintrace/data/wav.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <fstream>

#include <gtest/gtest.h>

#include "tests/support/error_of.h"
#include "tests/support/wav.h"

namespace braintrace::data {
namespace {

using testing_support::little_bytes;
using testing_support::wav_format;
using testing_support::wav_text;

std::string written(const std::string& bytes) {
  const std::string path = ::testing::TempDir() + "/wav_test.wav";
  std::ofstream(path, std::ios::binary) << bytes;
  return path;
}
std::vector<float> samples_of(int coding, int bits, const std::string& samples) {
  return WavFile(written(wav_text(wav_format(coding, 1, 8000, bits), samples))).samples();
}
void expect_refused(const std::string& bytes, const std::string& phrase) {
  const std::string message = error_of([&] { WavFile(written(bytes)).samples(); });
  EXPECT_NE(message.find(phrase), message.npos) << message;
}

TEST(Wav, EveryCoding) {
  const std::vector<float> expected = {-1, 0, 0.5};
  EXPECT_EQ(samples_of(1, 8, std::string("\x00\x80\xC0", 3)), expected);
  EXPECT_EQ(samples_of(1, 16, little_bytes(0x8000, 2) + little_bytes(0, 2) + little_bytes(0x4000, 2)), expected);
  EXPECT_EQ(samples_of(1, 24, little_bytes(0x800000, 3) + little_bytes(0, 3) + little_bytes(0x400000, 3)), expected);
  EXPECT_EQ(samples_of(1, 32, little_bytes(0x80000000, 4) + little_bytes(0, 4) + little_bytes(0x40000000, 4)),
            expected);
  std::string floats, doubles;
  for (const float x : expected) {
    floats += little_bytes(std::bit_cast<uint32_t>(x), 4);
    doubles += little_bytes(std::bit_cast<uint64_t>(double(x)), 8);
  }
  EXPECT_EQ(samples_of(3, 32, floats), expected);
  EXPECT_EQ(samples_of(3, 64, doubles), expected);
  // extensible: the coding is the first word of a longer format
  const std::string longer = little_bytes(0xFFFE, 2) + wav_format(3, 1, 8000, 32).substr(2) + little_bytes(22, 2) +
                             little_bytes(32, 2) + little_bytes(0, 4) + little_bytes(3, 2) + std::string(14, '\0');
  EXPECT_EQ(WavFile(written(wav_text(longer, floats))).samples(), expected);
}

TEST(Wav, ChannelsAndEndsThatNobodyKnows) {
  std::string   bytes = wav_text(wav_format(1, 2, 44100, 8), std::string("\x80\x00\xC0\x80", 4));
  const WavFile stereo(written(bytes));
  EXPECT_EQ(stereo.channels(), 2);
  EXPECT_EQ(stereo.rate(), 44100);
  EXPECT_EQ(stereo.size(), 2);
  EXPECT_EQ(stereo.samples(), (std::vector<float>{0, -1, 0.5, 0}));
  const std::string unknown = little_bytes(0xFFFFFFFF, 4);
  std::copy(unknown.begin(), unknown.end(), bytes.end() - 8);
  EXPECT_EQ(WavFile(written(bytes)).samples(), stereo.samples());
}

TEST(Wav, WhatIsWrongIsAnError) {
  const std::string good = wav_text(wav_format(1, 1, 8000, 16), "abcd");
  for (size_t n = 0; n < good.size(); ++n)
    EXPECT_NE(error_of([&] { WavFile(written(good.substr(0, n))).samples(); }), "") << n;
  expect_refused("RIFX" + good.substr(4), "a RIFF file of type WAVE");
  expect_refused(wav_text(wav_format(2, 1, 8000, 4), "abcd"), "convert the file to PCM");
  expect_refused(wav_text(wav_format(1, 0, 8000, 16), "abcd"), "channels");
  expect_refused(wav_text(wav_format(1, 1, 8000, 16), ""), "expected samples");
  expect_refused("RIFF....WAVE" + testing_support::wav_chunk("data", "abcd"), "a chunk 'fmt ' before the data");
  expect_refused(wav_text(wav_format(3, 1, 8000, 32), little_bytes(0x7FC00000, 4)), "a finite sample");
}

// A tone has most energy in the band around its pitch, and twice the amplitude is 2 log 2 more.
TEST(MelBands, FindThePitchOfATone) {
  const MelBands bands(8000, 200, 80, 12);
  const auto     tone = [](double hz, double amplitude) {
    std::vector<float> out;
    for (int t = 0; t < 1000; ++t) out.push_back(static_cast<float>(amplitude * std::sin(2 * M_PI * hz * t / 8000)));
    return out;
  };
  const auto loudest = [&](double hz) {
    const std::vector<float> e = bands(tone(hz, 1));
    return std::max_element(e.begin(), e.begin() + 12) - e.begin();
  };
  const double top = 2595 * std::log10(1 + 4000 / 700.0);
  for (int b = 1; b < 12; ++b) EXPECT_EQ(loudest(700 * (std::pow(10, top * (b + 1) / 13 / 2595) - 1)), b);
  EXPECT_EQ(bands.steps(1000), 11);
  EXPECT_EQ(bands.steps(3), 1);
  EXPECT_EQ(bands(tone(500, 1)).size(), 11u * 12);
  EXPECT_NEAR(bands(tone(900, 2))[4] - bands(tone(900, 1))[4], 2 * std::log(2), 1e-3);
  EXPECT_NE(error_of([] { MelBands(8000, 16, 8, 40); }).find("too many"), std::string::npos);
}

}  // namespace
}  // namespace braintrace::data

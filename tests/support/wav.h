// SPDX-License-Identifier: Apache-2.0
// WAVE files for tests.
#pragma once

#include <cmath>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>

namespace braintrace::testing_support {

inline std::string little_bytes(uint64_t x, int count) {
  std::string out;
  for (int i = 0; i < count; ++i) out += static_cast<char>(x >> (8 * i) & 0xFF);
  return out;
}
inline std::string wav_chunk(const std::string& name, const std::string& data) {
  return name + little_bytes(data.size(), 4) + data + std::string(data.size() % 2, '\0');
}
// coding 1: PCM, 3: floats
inline std::string wav_format(int coding, int channels, int rate, int bits) {
  const int block = channels * bits / 8;
  return little_bytes(coding, 2) + little_bytes(channels, 2) + little_bytes(rate, 4) + little_bytes(rate * block, 4) +
         little_bytes(block, 2) + little_bytes(bits, 2);
}
inline std::string wav_text(const std::string& format, const std::string& samples) {
  const std::string rest = "WAVE" + wav_chunk("fmt ", format) + wav_chunk("LIST", "abc") + wav_chunk("data", samples);
  return "RIFF" + little_bytes(rest.size(), 4) + rest;
}

// A folder with `count` tones of 50 ms for each of two classes, "high" and "low", 8000 samples per second.
inline std::string tones(const std::string& folder, int count) {
  for (const bool high : {false, true})
    for (int i = 0; i < count; ++i) {
      std::string samples;
      for (int t = 0; t < 400 + 8 * i; ++t)
        samples += little_bytes(static_cast<uint64_t>(std::lround(8000 * std::sin((high ? 1.2 : 0.2) * t + i))), 2);
      const std::string inside = folder + (high ? "/high" : "/low");
      std::filesystem::create_directories(inside);
      std::ofstream(inside + "/" + std::to_string(i) + ".wav", std::ios::binary)
          << wav_text(wav_format(1, 1, 8000, 16), samples);
    }
  return folder;
}

}  // namespace braintrace::testing_support

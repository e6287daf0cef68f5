// SPDX-License-Identifier: Apache-2.0
// Sound: RIFF WAVE files, and their energy in frequency bands.
//
//   PCM of 8 (unsigned), 16, 24 or 32 bits and floats of 32 or 64 bits, any number of channels, plain or
//   WAVE_FORMAT_EXTENSIBLE; other chunks are skipped. A data chunk of 2³²-1 bytes, as written by programs
//   that do not know the length, extends to the end of the file. Compressed sound and RF64 are errors.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "braintrace/data/source.h"

namespace braintrace::data {

// The header is read immediately, the samples on demand.
class WavFile {
 public:
  explicit WavFile(const std::string& path);

  int64_t            rate() const { return rate_; }  // samples per second
  int64_t            channels() const { return channels_; }
  int64_t            size() const { return size_; }  // samples of each channel
  std::vector<float> samples() const;                // [size, channels], integers scaled to -1 … 1

 private:
  float decoded(const std::byte* p) const;

  Source  source_;
  int64_t rate_ = 0, channels_ = 0, bits_ = 0, first_ = 0, size_ = 0;
  bool    floats_ = false;
};

// Log energies in bands of equal width on the mel scale, m = 2595 log₁₀(1 + f/700), from 0 to half the rate: frames of
// `frame` samples, every `hop` samples, weighted by a Hann window. Sound shorter than a frame is one frame.
class MelBands {
 public:
  MelBands(int64_t rate, int64_t frame, int64_t hop, int64_t bands);

  int64_t            steps(int64_t samples) const;
  std::vector<float> operator()(const std::vector<float>& mono) const;  // [steps, bands]

 private:
  int64_t                          frame_, hop_, points_;  // points of the Fourier transform: a power of two
  std::vector<double>              window_;
  std::vector<std::vector<double>> filters_;  // weight of each frequency, one row per band
};

}  // namespace braintrace::data

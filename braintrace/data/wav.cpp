// SPDX-License-Identifier: Apache-2.0
#include "braintrace/data/wav.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <complex>
#include <numbers>

#include <fmt/format.h>

#include "braintrace/base/error.h"

namespace braintrace::data {

namespace {

constexpr uint64_t pcm = 1, ieee_float = 3, extensible = 0xFFFE, unknown_size = 0xFFFFFFFF;

std::string chunk_name(const std::byte* p) {
  std::string out;
  for (int i = 0; i < 4; ++i) {
    const char c = std::to_integer<char>(p[i]);
    out += c >= ' ' && c <= '~' ? c : '?';
  }
  return out;
}

int64_t signed_number(const std::byte* p, int64_t bits) {
  uint64_t x = 0;
  for (int64_t i = 0; i < bits / 8; ++i) x |= std::to_integer<uint64_t>(p[i]) << (8 * i);
  return static_cast<int64_t>(x << (64 - bits)) >> (64 - bits);
}

// X_k = Σ_n x_n e^{-2πikn/N}, in place; N a power of two.
void fourier(std::vector<std::complex<double>>& x) {
  const size_t n = x.size();
  for (size_t i = 1, j = 0; i < n; ++i) {
    size_t bit = n >> 1;
    for (; j & bit; bit >>= 1) j ^= bit;
    j ^= bit;
    if (i < j) std::swap(x[i], x[j]);
  }
  for (size_t half = 1; half < n; half *= 2)
    for (size_t k = 0; k < half; ++k) {
      const auto w = std::polar(1.0, -std::numbers::pi * double(k) / double(half));
      for (size_t i = k; i < n; i += 2 * half) {
        const auto other = w * x[i + half];
        x[i + half]      = x[i] - other;
        x[i] += other;
      }
    }
}

double mel_of(double hz) { return 2595 * std::log10(1 + hz / 700); }
double hz_of(double mel) { return 700 * (std::pow(10, mel / 2595) - 1); }

}  // namespace

WavFile::WavFile(const std::string& path) : source_(path) {
  const Bytes head = source_.read(0, 12, "the head of a WAVE file");
  if (chunk_name(&head[0]) != "RIFF" || chunk_name(&head[8]) != "WAVE")
    refuse(path, 0, "a RIFF file of type WAVE",
           fmt::format("'{}' of type '{}'", chunk_name(&head[0]), chunk_name(&head[8])));
  for (int64_t at = 12;;) {
    if (at >= source_.size()) refuse(path, at, "a chunk 'data'", "the end of the file");
    const Bytes       chunk = source_.read(at, 8, "the head of a chunk");
    const std::string name  = chunk_name(chunk.data());
    const uint64_t    said  = little_endian<4>(&chunk[4]);
    const int64_t     rest  = source_.size() - at - 8;
    const bool        open  = name == "data" && said == unknown_size;
    const auto        bytes = open ? rest : static_cast<int64_t>(said);
    if (bytes > rest)
      refuse(path, at, fmt::format("a chunk '{}' of {} bytes", name, bytes), fmt::format("{} bytes", rest));
    if (name == "fmt ") {
      if (bytes < 16) refuse(path, at, "a chunk 'fmt ' of at least 16 bytes", fmt::format("{}", bytes));
      const Bytes f      = source_.read(at + 8, std::min<int64_t>(bytes, 40), "the format");
      uint64_t    coding = little_endian<2>(f.data());
      if (coding == extensible && f.size() >= 26) coding = little_endian<2>(&f[24]);
      channels_        = static_cast<int64_t>(little_endian<2>(&f[2]));
      rate_            = static_cast<int64_t>(little_endian<4>(&f[4]));
      bits_            = static_cast<int64_t>(little_endian<2>(&f[14]));
      floats_          = coding == ieee_float;
      const bool known = floats_ ? bits_ == 32 || bits_ == 64
                                 : coding == pcm && (bits_ == 8 || bits_ == 16 || bits_ == 24 || bits_ == 32);
      if (!known)
        refuse(path, at + 8, "PCM of 8, 16, 24 or 32 bits or floats of 32 or 64 bits",
               fmt::format("coding {} with {} bits; convert the file to PCM", coding, bits_));
      if (channels_ < 1 || rate_ < 1)
        refuse(path, at + 10, "channels and samples per second", fmt::format("{} and {}", channels_, rate_));
      const auto block = static_cast<int64_t>(little_endian<2>(&f[12]));
      if (block != channels_ * bits_ / 8)
        refuse(path, at + 20,
               fmt::format("{} bytes for {} channels of {} bits", channels_ * bits_ / 8, channels_, bits_),
               fmt::format("{}", block));
    } else if (name == "data") {
      if (bits_ == 0) refuse(path, at, "a chunk 'fmt ' before the data", "none");
      first_ = at + 8;
      size_  = bytes / (channels_ * bits_ / 8);
      if (size_ == 0) refuse(path, at, "samples", fmt::format("{} bytes", bytes));
      return;
    }
    at += 8 + bytes + bytes % 2;
  }
}

float WavFile::decoded(const std::byte* p) const {
  if (floats_ && bits_ == 32) return std::bit_cast<float>(static_cast<uint32_t>(little_endian<4>(p)));
  if (floats_) return static_cast<float>(std::bit_cast<double>(little_endian<8>(p)));
  if (bits_ == 8) return (float(std::to_integer<int>(*p)) - 128) / 128;
  return static_cast<float>(std::ldexp(double(signed_number(p, bits_)), static_cast<int>(1 - bits_)));
}

std::vector<float> WavFile::samples() const {
  const int64_t      n = size_ * channels_, each = bits_ / 8;
  const Bytes        bytes = source_.read(first_, n * each, "the samples");
  std::vector<float> out(static_cast<size_t>(n));
  for (int64_t i = 0; i < n; ++i) {
    out[static_cast<size_t>(i)] = decoded(&bytes[static_cast<size_t>(i * each)]);
    if (!std::isfinite(out[static_cast<size_t>(i)]))
      refuse(source_.path(), first_ + i * each, "a finite sample", fmt::format("{}", out[static_cast<size_t>(i)]));
  }
  return out;
}

MelBands::MelBands(int64_t rate, int64_t frame, int64_t hop, int64_t bands)
    : frame_(frame), hop_(hop), points_(static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(frame)))) {
  for (int64_t i = 0; i < frame; ++i)
    window_.push_back(0.5 - 0.5 * std::cos(2 * std::numbers::pi * (double(i) + 0.5) / double(frame)));
  const double top = mel_of(double(rate) / 2);
  for (int64_t b = 0; b < bands; ++b) {
    const auto   edge = [&](int64_t k) { return hz_of(top * double(b + k) / double(bands + 1)); };
    const double low = edge(0), middle = edge(1), high = edge(2);
    double       total = 0;
    filters_.emplace_back();
    for (int64_t k = 0; k <= points_ / 2; ++k) {
      const double hz = double(k) * double(rate) / double(points_);
      const double w  = std::max(0.0, std::min((hz - low) / (middle - low), (high - hz) / (high - middle)));
      filters_.back().push_back(w);
      total += w;
    }
    require(total > 0, "{} bands are too many for frames of {} samples: no frequency falls into band {}.", bands, frame,
            b);
  }
}

int64_t MelBands::steps(int64_t samples) const { return samples <= frame_ ? 1 : 1 + (samples - frame_) / hop_; }

std::vector<float> MelBands::operator()(const std::vector<float>& mono) const {
  std::vector<float> out;
  for (int64_t t = 0; t < steps(std::ssize(mono)); ++t) {
    std::vector<std::complex<double>> x(static_cast<size_t>(points_));
    for (int64_t i = 0; i < std::min(frame_, std::ssize(mono) - t * hop_); ++i)
      x[static_cast<size_t>(i)] = window_[static_cast<size_t>(i)] * double(mono[static_cast<size_t>(t * hop_ + i)]);
    fourier(x);
    for (const std::vector<double>& filter : filters_) {
      double energy = 0;
      for (size_t k = 0; k < filter.size(); ++k) energy += filter[k] * std::norm(x[k]);
      out.push_back(static_cast<float>(std::log(energy + 1e-8)));
    }
  }
  return out;
}

}  // namespace braintrace::data

// SPDX-License-Identifier: Apache-2.0
#include "braintrace/io/tfrecord.h"

#include <array>

namespace braintrace {

namespace {

// Remainders of the reflected Castagnoli polynomial, by byte.
constexpr std::array<uint32_t, 256> table = [] {
  std::array<uint32_t, 256> t{};
  for (uint32_t i = 0; i < 256; ++i) {
    uint32_t r = i;
    for (int bit = 0; bit < 8; ++bit) r = r >> 1 ^ (r & 1 ? 0x82F63B78u : 0);
    t[i] = r;
  }
  return t;
}();

std::string little_endian(uint64_t value, size_t bytes) {
  std::string out;
  for (size_t i = 0; i < bytes; ++i) out += static_cast<char>(value >> 8 * i & 0xFF);
  return out;
}

uint64_t from_little_endian(std::string_view bytes) {
  uint64_t value = 0;
  for (size_t i = bytes.size(); i-- > 0;) value = value << 8 | static_cast<uint8_t>(bytes[i]);
  return value;
}

}  // namespace

uint32_t crc32c(std::string_view bytes) {
  uint32_t r = ~0u;
  for (char c : bytes) r = r >> 8 ^ table[(r ^ static_cast<uint8_t>(c)) & 0xFF];
  return ~r;
}

uint32_t masked_crc32c(std::string_view bytes) {
  const uint32_t r = crc32c(bytes);
  return (r >> 15 | r << 17) + 0xA282EAD8u;
}

std::string tfrecord(std::string_view bytes) {
  const std::string length = little_endian(bytes.size(), 8);
  std::string       out    = length + little_endian(masked_crc32c(length), 4);
  out += bytes;
  return out + little_endian(masked_crc32c(bytes), 4);
}

TfRecord first_tfrecord(std::string_view file) {
  constexpr size_t head = 12, tail = 4;
  if (file.size() < head + tail || from_little_endian(file.substr(8, 4)) != masked_crc32c(file.substr(0, 8))) return {};
  const uint64_t length = from_little_endian(file.substr(0, 8));
  if (length > file.size() - head - tail) return {};
  const std::string_view bytes = file.substr(head, length);
  if (from_little_endian(file.substr(head + length, 4)) != masked_crc32c(bytes)) return {};
  return {true, bytes, head + length + tail};
}

}  // namespace braintrace

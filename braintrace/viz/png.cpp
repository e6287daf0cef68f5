// SPDX-License-Identifier: Apache-2.0
#include "braintrace/viz/png.h"

#include <zlib.h>

#include "braintrace/base/error.h"

namespace braintrace {

namespace {

std::string big_endian(uint32_t value) {
  std::string out;
  for (int shift = 24; shift >= 0; shift -= 8) out += static_cast<char>(value >> shift & 0xFF);
  return out;
}

std::string chunk(const std::string& name, const std::string& content) {
  const std::string body = name + content;
  const auto        sum  = crc32(0, reinterpret_cast<const Bytef*>(body.data()), static_cast<uInt>(body.size()));
  return big_endian(static_cast<uint32_t>(content.size())) + body + big_endian(static_cast<uint32_t>(sum));
}

}  // namespace

std::string png(int width, int height, const std::vector<uint8_t>& pixels, const Palette& palette) {
  ensure(pixels.size() == static_cast<size_t>(width) * static_cast<size_t>(height), "png: {}x{} with {} pixels", width,
         height, pixels.size());
  std::string rows;  // each with its filter, none
  for (int y = 0; y < height; ++y) {
    rows += '\0';
    rows.append(reinterpret_cast<const char*>(pixels.data()) + static_cast<size_t>(y) * static_cast<size_t>(width),
                static_cast<size_t>(width));
  }
  uLongf      size = compressBound(rows.size());
  std::string packed(size, '\0');
  ensure(compress2(reinterpret_cast<Bytef*>(packed.data()), &size, reinterpret_cast<const Bytef*>(rows.data()),
                   rows.size(), 9) == Z_OK,
         "png: the pixels could not be compressed");
  packed.resize(size);
  std::string colors;
  for (const auto& rgb : palette) colors.append(rgb.begin(), rgb.end());
  const std::string head = big_endian(static_cast<uint32_t>(width)) + big_endian(static_cast<uint32_t>(height)) +
                           std::string("\x08\x03\x00\x00\x00", 5);  // 8 bits, palette
  return "\x89PNG\r\n\x1a\n" + chunk("IHDR", head) + chunk("PLTE", colors) + chunk("IDAT", packed) + chunk("IEND", "");
}

std::string base64(std::string_view bytes) {
  constexpr std::string_view letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string                out;
  for (size_t i = 0; i < bytes.size(); i += 3) {
    uint32_t word = 0;
    for (size_t k = 0; k < 3; ++k) word = word << 8 | (i + k < bytes.size() ? static_cast<uint8_t>(bytes[i + k]) : 0u);
    for (size_t k = 0; k < 4; ++k) out += i + k > bytes.size() ? '=' : letters[word >> (18 - 6 * k) & 63];
  }
  return out;
}

}  // namespace braintrace

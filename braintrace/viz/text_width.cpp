// SPDX-License-Identifier: Apache-2.0
// Estimates the width of text without a font: advances of a wide sans-serif font, rounded up, so that text fits with
// any font of the viewer.
#include "braintrace/viz/band_layout.h"

namespace braintrace {

namespace {

bool starts_character(char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }

double advance(char c) {
  if (std::string_view("iljI.,:;'|!").find(c) != std::string_view::npos) return 0.34;
  if (std::string_view("ftr()[]{} /-").find(c) != std::string_view::npos) return 0.44;
  if (std::string_view("mwMW@%").find(c) != std::string_view::npos) return 0.98;
  if (c >= 'A' && c <= 'Z') return 0.75;
  return 0.65;
}

}  // namespace

double text_width(std::string_view text, double size, bool mono) {
  double width = 0;
  for (char c : text)
    if (starts_character(c)) width += mono ? 0.61 : advance(c);
  return width * size;
}

std::string shortened(const std::string& text, size_t max_characters) {
  std::vector<size_t> starts;
  for (size_t i = 0; i < text.size(); ++i)
    if (starts_character(text[i])) starts.push_back(i);
  if (starts.size() <= max_characters) return text;
  const size_t head = (max_characters - 1) / 2, tail = max_characters - 1 - head;
  return text.substr(0, starts[head]) + "…" + text.substr(starts[starts.size() - tail]);
}

}  // namespace braintrace

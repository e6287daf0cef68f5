// SPDX-License-Identifier: Apache-2.0
#include "braintrace/base/ascii.h"

#include <cstdlib>
#include <limits>

#include <gtest/gtest.h>

namespace braintrace {
namespace {

TEST(HexFloat, is_read_back_exactly) {
  const double tiny = std::numeric_limits<double>::denorm_min(), huge = std::numeric_limits<double>::max();
  for (double x : {0.0, -0.0, 1.0, -1.5, 0.1, 1e300, tiny, -tiny, huge, 0x1.fffffep+127}) {
    const std::string text = hex_float(x);
    EXPECT_EQ(text.find(','), text.npos) << text;
    double      back = 0;
    const bool  neg  = text[0] == '-';
    const char* from = text.c_str() + (neg ? 3 : 2);
    ASSERT_EQ(std::from_chars(from, text.c_str() + text.size(), back, std::chars_format::hex).ec, std::errc());
    EXPECT_EQ(std::signbit(x), neg);
    EXPECT_EQ(neg ? -back : back, x) << text;
  }
  EXPECT_EQ(hex_float(3), "0x1.8p+1");
}

TEST(Ascii, knows_no_other_letters) {
  for (int c = 128; c < 256; ++c) EXPECT_FALSE(is_letter(static_cast<char>(c)) || is_space(static_cast<char>(c)));
  EXPECT_EQ(to_upper('z'), 'Z');
  EXPECT_EQ(to_lower('\xC4'), '\xC4');
}

}  // namespace
}  // namespace braintrace

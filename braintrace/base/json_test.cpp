// SPDX-License-Identifier: Apache-2.0
#include "braintrace/base/json.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tests/support/error_of.h"

namespace braintrace {
namespace {

std::string refusal(const std::string& text, const JsonLimits& limits = {}) {
  return error_of([&] { read_json(text, "here", limits); });
}

TEST(Json, is_read_as_it_stands) {
  const std::string text = R"({"b":[1,-2,3.5,{"c":null}],"a":"ä\u00e4","t":true,"":{}})";
  EXPECT_EQ(read_ordered_json(text, "here").dump(), nlohmann::ordered_json::parse(text).dump());
  EXPECT_EQ(read_json(text, "here"), nlohmann::json::parse(text));
  EXPECT_EQ(read_json(" 7 ", "here"), 7);
}

TEST(Json, too_deep) {
  const auto nested = [](size_t n) { return std::string(n, '[') + std::string(n, ']'); };
  EXPECT_NO_THROW(read_json(nested(100), "here"));
  EXPECT_EQ(refusal("{\"x\":" + nested(100) + "}"), "here: at x[0][0][0][0][0][0][0]…: more than 100 nested brackets.");
  EXPECT_NE(refusal(nested(1'000'000)), "");
}

TEST(Json, a_field_twice) {
  EXPECT_EQ(refusal(R"({"a": [{"k": 1, "k": 2}]})"), "here: at a[0].k: the field 'k' is given twice.");
  EXPECT_NO_THROW(read_json(R"({"a": {"k": 1}, "b": {"k": 1}})", "here"));
}

TEST(Json, too_long) { EXPECT_EQ(refusal("[1,2]", {.bytes = 4}), "here: 5 bytes of JSON; at most 4 are read."); }

TEST(Json, text_that_is_none) {
  EXPECT_NE(refusal("{\"a\": [1, }").find("here: at a[1]: this is not JSON: parse error at line 1"), std::string::npos)
      << refusal("{\"a\": [1, }");
  EXPECT_EQ(refusal(" \n"), "here: expected JSON, got an empty text.");
  EXPECT_NE(refusal("[1e999]").find("here: at [0]: this is not JSON: number overflow"), std::string::npos)
      << refusal("[1e999]");
  for (const char* text : {"", "{", "1 2", "\"\xff\"", "nan", "[1,]"}) EXPECT_NE(refusal(text), "") << text;
}

TEST(Json, many_fields_take_no_long) {
  std::string text = "{";
  for (int i = 0; i < 50000; ++i) text += (i ? ",\"" : "\"") + std::to_string(i) + "\":0";
  EXPECT_EQ(read_ordered_json(text + "}", "here").size(), 50000u);
}

TEST(Json, any_bytes_are_shown) {
  EXPECT_EQ(json_text(nlohmann::json("\xff")), "\"\xEF\xBF\xBD\"");
  EXPECT_EQ(shown_json(nlohmann::json(std::string(100, 'x'))).size(), 60u);
}

}  // namespace
}  // namespace braintrace

// SPDX-License-Identifier: Apache-2.0
#include "braintrace/io/safetensors.h"

#include <cstring>

#include <gtest/gtest.h>

namespace braintrace {
namespace {

SafeTensors sample() {
  return {{{"net.w", Array::of<float>({1, -2, 3, 4, 5, 6}, {2, 3})},
           {"flag", Array::of<bool>({true, false, true}, {3})},
           {"count", Array::of<int64_t>({1ll << 40}, {})},
           {"half", Array(Type{DType::BF16, {5}})},
           {"none", Array(Type{DType::F64, {0, 4}})}},
          {{"config", "{\"a\": \"crc32\\\":\\\"ffffffff\"}"}, {"ü", "text\n"}},
          false};
}

Bytes file_of(const std::string& header, const std::string& data) {
  Bytes        out(8 + header.size() + data.size());
  const size_t n = header.size();
  std::memcpy(out.data(), &n, 8);
  std::memcpy(out.data() + 8, header.data(), n);
  if (!data.empty()) std::memcpy(out.data() + 8 + n, data.data(), data.size());
  return out;
}

std::string complaint(ByteSpan bytes) {
  try {
    decode_safetensors(bytes, "a.safetensors");
  } catch (const UserError& e) {
    return e.what();
  }
  return "no error";
}
std::string complaint(const std::string& header, const std::string& data = "") {
  return complaint(file_of(header, data));
}
void expect_says(const std::string& text, const std::string& part) {
  EXPECT_NE(text.find(part), text.npos) << "said: " << text;
}

TEST(SafeTensors, RoundTrip) {
  const SafeTensors a = sample(), b = decode_safetensors(encode_safetensors(a), "memory");
  ASSERT_EQ(a.arrays.size(), b.arrays.size());
  for (const auto& [name, array] : a.arrays) EXPECT_TRUE(identical(array, b.arrays.at(name))) << name;
  EXPECT_EQ(a.metadata, b.metadata);
  EXPECT_TRUE(b.checked);
  EXPECT_EQ(encode_safetensors(a), encode_safetensors(b));
  EXPECT_TRUE(decode_safetensors(encode_safetensors({}), "empty").arrays.empty());
}

TEST(SafeTensors, EveryArrayIsAligned) {
  auto              file = std::make_shared<Bytes>(encode_safetensors(sample()));
  const SafeTensors back = decode_safetensors(*file, "memory", file);
  for (const auto& [name, array] : back.arrays) {
    EXPECT_EQ(reinterpret_cast<uintptr_t>(array.raw()) % size_of(array.dtype()), 0u) << name;
    if (array.size() == 0) continue;
    EXPECT_TRUE(array.raw() >= file->data() && array.raw() < file->data() + file->size()) << name;
  }
}

TEST(SafeTensors, EveryChangedByteIsSeen) {
  const Bytes good = encode_safetensors(sample());
  for (size_t i = 0; i < good.size(); ++i) {
    Bytes bad = good;
    bad[i] ^= std::byte{4};
    try {
      const SafeTensors read = decode_safetensors(bad, "bad");
      EXPECT_FALSE(read.checked) << "byte " << i;  // the key itself was changed: then there is no checksum
    } catch (const UserError&) {
    }
  }
  for (size_t n = 0; n < good.size(); ++n)
    EXPECT_NE(complaint({good.data(), n}), "no error") << "cut to " << n << " bytes";
}

TEST(SafeTensors, FilesOfOtherTools) {
  const SafeTensors a = decode_safetensors(
      file_of(R"({"x":{"dtype":"I32","shape":[2],"data_offsets":[0,8]}}  )", std::string("\1\0\0\0\2\0\0\0", 8)),
      "plain");
  EXPECT_TRUE(identical(a.arrays.at("x"), Array::of<int32_t>({1, 2}, {2})));
  EXPECT_FALSE(a.checked);
}

TEST(SafeTensors, SaysWhatIsWrong) {
  expect_says(complaint(ByteSpan{}), "it has 0 bytes");
  expect_says(complaint("[]"), "not a JSON object");
  expect_says(complaint("{"), "header: this is not JSON");
  expect_says(complaint(R"({"x":0,"x":0})"), "'x' is given twice");
  expect_says(complaint(R"({"__metadata__":{"a":1}})"), "entry 'a' is not text");
  expect_says(complaint(R"({"x":{"dtype":"F8","shape":[1],"data_offsets":[0,1]}})", "1"), "type 'F8'");
  expect_says(complaint(R"({"x":{"dtype":"F32","shape":[-1],"data_offsets":[0,4]}})", "1234"), "shape is missing or");
  expect_says(complaint(R"({"x":{"dtype":"F32","shape":[2],"data_offsets":[0,4]}})", "1234"), "larger than the file");
  expect_says(complaint(R"({"x":{"dtype":"F32","shape":[1],"data_offsets":[0,8]}})", "12345678"), "does not fit");
  expect_says(complaint(R"({"x":{"dtype":"F32","shape":[1],"data_offsets":[4,8]}})", "1234"), "outside the file");
  expect_says(complaint(R"({"x":{"dtype":"F32","shape":[1],"data_offsets":[4,8]}})", "12345678"), "leave a gap");
  expect_says(complaint(R"({"x":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})", "12345678"), "belong to no array");
  expect_says(complaint(R"({"x":{"dtype":"BOOL","shape":[1],"data_offsets":[0,1]}})", "\7"), "neither 0 nor 1");
  expect_says(complaint(R"({"x":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},)"
                        R"("y":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})",
                        "1234"),
              "overlap");
  EXPECT_THROW(encode_safetensors({{{"__metadata__", Array()}}, {}, false}), UserError);
  EXPECT_THROW(encode_safetensors({{}, {{"crc32", ""}}, false}), UserError);
}

}  // namespace
}  // namespace braintrace

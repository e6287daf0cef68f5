// SPDX-License-Identifier: Apache-2.0
// What is written is read again, files of h5py are read, and damaged ones fail with an error, whatever is wrong with
// them.
#include "braintrace/io/hdf5.h"

#include <gtest/gtest.h>

#include "tests/support/error_of.h"

namespace braintrace {

namespace {

const Array&     array_in(const Hdf5Group& g, const std::string& name) { return std::get<Array>(g.members.at(name)); }
const Hdf5Texts& texts_in(const Hdf5Group& g, const std::string& name) {
  return std::get<Hdf5Texts>(g.members.at(name));
}
const Hdf5Group& group_in(const Hdf5Group& g, const std::string& name) {
  return *std::get<std::shared_ptr<Hdf5Group>>(g.members.at(name));
}

Hdf5Group sample_tree() {
  Hdf5Group root;
  root.members["single"] = Array::of<float>({1, 2.5F, -3}, {3});
  root.members["double"] = Array::of<double>({1, 2, 3, 4, 5, 6}, {2, 3});
  root.members["whole"]  = Array::of<int64_t>({-7}, {});
  root.members["none"]   = Array(Type{DType::F32, {0}});
  root.members["text"]   = Hdf5Texts{{}, {"Grüße"}};
  root.members["pairs"]  = Hdf5Texts{{2, 2}, {"a", "b.c", "", "input"}};
  auto many              = std::make_shared<Hdf5Group>();
  for (int i = 0; i < 600; ++i) many->members["n" + std::to_string(i)] = Array::of<int64_t>({i}, {});
  root.members["many"] = many;
  return root;
}

TEST(Hdf5, WhatIsWrittenIsReadAgain) {
  const Hdf5Group root = sample_tree(), back = decode_hdf5(encode_hdf5(root), "memory");
  ASSERT_EQ(back.members.size(), root.members.size());
  for (const char* name : {"single", "double", "whole", "none"})
    EXPECT_TRUE(identical(array_in(root, name), array_in(back, name))) << name;
  for (const char* name : {"text", "pairs"}) {
    EXPECT_EQ(texts_in(root, name).values, texts_in(back, name).values);
    EXPECT_EQ(texts_in(root, name).shape, texts_in(back, name).shape);
  }
  ASSERT_EQ(group_in(back, "many").members.size(), 600u);
  EXPECT_EQ(at(array_in(group_in(back, "many"), "n599"), 0), 599);
}

// tests/nir/make_files.py wrote it with h5py: chunks, deflate, shuffle, checksums, both byte orders, texts of both
// kinds.
TEST(Hdf5, FilesOfH5py) {
  const Hdf5Group root = read_hdf5(BRAINTRACE_SOURCE_DIR "/tests/data/nir/h5py.h5");
  for (const char* name : {"plain", "deflated", "shuffled", "checked", "big_endian"}) {
    const Array& a = array_in(root, name);
    ASSERT_EQ(a.shape(), (Shape{7, 11})) << name;
    for (int64_t i = 0; i < a.size(); ++i) EXPECT_EQ(at(a, i), 0.5 * static_cast<double>(i)) << name;
  }
  EXPECT_EQ(at(array_in(root, "small"), 1), -3);
  EXPECT_EQ(array_in(root, "flag").dtype(), DType::Bool);
  EXPECT_EQ(at(array_in(root, "flag"), 0), 1);
  EXPECT_EQ(at(array_in(root, "half"), 0), 1.5);
  EXPECT_EQ(texts_in(root, "text").values, std::vector<std::string>{"Grüße"});
  EXPECT_EQ(texts_in(root, "fixed").values, (std::vector<std::string>{"ab", "cde"}));
  EXPECT_EQ(group_in(root, "many").members.size(), 40u);
  EXPECT_EQ(at(array_in(group_in(root, "many"), "name39"), 0), 39);
}

// Every byte of a file changed, and every end cut off: an answer or a UserError, nothing else.
TEST(Hdf5, DamagedFilesAreRefused) {
  Hdf5Group root;
  root.members["a"]   = Array::of<float>({1, 2, 3}, {3});
  root.members["t"]   = Hdf5Texts{{2}, {"one", "two"}};
  auto sub            = std::make_shared<Hdf5Group>();
  sub->members["x"]   = Array::of<int64_t>({5}, {});
  root.members["g"]   = sub;
  const Bytes good    = encode_hdf5(root);
  int         refused = 0;
  const auto  attempt = [&](ByteSpan bytes) {
    try {
      decode_hdf5(bytes, "damaged");
    } catch (const UserError&) {
      ++refused;
    }
  };
  for (size_t i = 0; i < good.size(); ++i)
    for (const int value : {0x00, 0x01, 0x7F, 0xFF}) {
      if (good[i] == std::byte{0} && i > 200 && i % 7 != 0) continue;  // most of a file is unused
      Bytes bytes = good;
      bytes[i]    = static_cast<std::byte>(value);
      attempt(bytes);
    }
  for (size_t n = 0; n < good.size(); n += 13) attempt(ByteSpan(good).first(n));
  EXPECT_GT(refused, 300);
  EXPECT_NE(error_of([] { decode_hdf5({}, "empty.nir"); }).find("not an HDF5 file"), std::string::npos);
}

}  // namespace

}  // namespace braintrace

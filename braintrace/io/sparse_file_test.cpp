// SPDX-License-Identifier: Apache-2.0
// Good files give their entries by column; bad ones fail with an error that names the place.
#include "braintrace/io/sparse_file.h"

#include <cmath>

#include <gtest/gtest.h>

#include "braintrace/base/temporary_folder.h"
#include "braintrace/io/npy.h"
#include "tests/support/error_of.h"

namespace braintrace {
namespace {

using Ints32 = std::vector<int32_t>;

TEST(SparseFile, MatrixMarket) {
  const SparseFile s = decode_mtx(
      "%%MatrixMarket matrix coordinate real general\n% a comment\n3 2 3\n3 1 +0.5\n1 2 -1\n1 1 2e-3\r\n", "net.mtx");
  EXPECT_EQ(s.rows, 3);
  EXPECT_EQ(s.cols, 2);
  EXPECT_EQ(s.row, (Ints32{0, 2, 0}));
  EXPECT_EQ(s.col, (Ints32{0, 0, 1}));
  EXPECT_EQ(s.values, (std::vector<float>{2e-3F, 0.5F, -1}));
  const SparseFile p = decode_mtx("%%MatrixMarket matrix coordinate pattern symmetric\n2 2 2\n1 1\n2 1\n", "net.mtx");
  EXPECT_EQ(p.row, (Ints32{0, 1, 0}));
  EXPECT_EQ(p.col, (Ints32{0, 0, 1}));
  EXPECT_TRUE(p.values.empty());
}

TEST(SparseFile, WrongMatrixMarket) {
  const std::string head = "%%MatrixMarket matrix coordinate real general\n";
  const std::vector<std::pair<std::string, std::vector<const char*>>> cases = {
      {"", {"first line"}},
      {"3 3 1\n1 1 1\n", {"first line"}},
      {"%%MatrixMarket matrix array real general\n", {"'array'", "coordinate"}},
      {"%%MatrixMarket matrix coordinate complex general\n", {"'complex'", "pattern"}},
      {"%%MatrixMarket matrix coordinate real hermitian\n", {"'hermitian'"}},
      {head, {"missing"}},
      {head + "0 2 1\n", {"0 by 2"}},
      {head + "3 2\n", {"line 2", "entries"}},
      {head + "3 2 7\n", {"7 entries", "room for 6"}},
      {head + "100000 100000 2000000000\n1 1 1\n", {"2000000000 entries", "bytes"}},
      {head + "100000 100000 9000000000\n1 1 1\n", {"9000000000 entries"}},
      {head + "3 2 2\n1 1 1\n", {"after 1 of 2", "truncated"}},
      {head + "3 2 1\n1 1 1\n2 2 1\n", {"line 4", "more than the 1"}},
      {head + "3 2 1\n1 1\n", {"line 3", "value"}},
      {head + "3 2 1\n1 1 1 1\n", {"line 3", "more words"}},
      {head + "3 2 1\n1 x 1\n", {"line 3", "column", "'x'"}},
      {head + "3 2 1\n0 1 1\n", {"line 3", "row 0", "1 … 3"}},
      {head + "3 2 1\n1 3 1\n", {"line 3", "column 3", "1 … 2"}},
      {"%%MatrixMarket matrix coordinate integer general\n3 2 1\n1 1 1.5\n", {"line 3", "whole number", "'1.5'"}},
      {"%%MatrixMarket matrix coordinate pattern symmetric\n3 2 1\n2 1\n", {"symmetric", "3 by 2"}},
      {head + "3 2 2\n1 2 1\n1 2 4\n", {"row 0, column 1", "twice"}},
      {head + "3 2 1\n1 1 nan\n", {"nan", "finite"}},
      {head + "3 2 1\n1 1 1e300\n", {"finite"}},
  };
  for (const auto& [text, phrases] : cases) {
    const std::string message = error_of([&t = text] { decode_mtx(t, "net.mtx"); });
    EXPECT_EQ(message.find("net.mtx: "), 0u) << message;
    for (const char* p : phrases) EXPECT_NE(message.find(p), message.npos) << "'" << p << "' is not in: " << message;
  }
}

// What scipy.sparse.save_npz writes: .npy members, stored, one of them a text.
class ScipyFile : public testing::Test {
 protected:
  void write(const std::string& format, const NamedArrays& arrays) const {
    std::string members, directory;
    int         count = 0;
    const auto  add   = [&](const std::string& name, const std::string& content) {
      const std::string numbers =
          u16(20) + u16(0) + u16(0) + u32(0) + u32(crc(content)) + u32(static_cast<uint32_t>(content.size())) +
          u32(static_cast<uint32_t>(content.size())) + u16(static_cast<uint16_t>(name.size())) + u16(0);
      directory += "PK\x01\x02" + u16(20) + numbers + u16(0) + u16(0) + u16(0) + u32(0) +
                   u32(static_cast<uint32_t>(members.size())) + name;
      members += "PK\x03\x04" + numbers + name + content;
      ++count;
    };
    for (const auto& [name, array] : arrays) {
      const Bytes npy = encode_npy(array);
      add(name + ".npy", {reinterpret_cast<const char*>(npy.data()), npy.size()});
    }
    std::string header = "{'descr': '|S3', 'fortran_order': False, 'shape': (), }";
    header.resize(117, ' ');
    add("format.npy", std::string("\x93NUMPY\x01\x00\x76\x00", 10) + header + "\n" + format);
    const auto n = static_cast<uint16_t>(count);
    write_text(path, members + directory + "PK\x05\x06" + u16(0) + u16(0) + u16(n) + u16(n) +
                         u32(static_cast<uint32_t>(directory.size())) + u32(static_cast<uint32_t>(members.size())) +
                         u16(0));
  }
  std::string message(const std::string& format, const NamedArrays& arrays) const {
    write(format, arrays);
    return error_of([&] { read_sparse(path); });
  }

  TemporaryFolder folder;
  std::string     path = (folder.path / "net.npz").string();

 private:
  static std::string u16(uint16_t v) { return {static_cast<char>(v & 255), static_cast<char>(v >> 8)}; }
  static std::string u32(uint32_t v) {
    return u16(static_cast<uint16_t>(v & 0xffff)) + u16(static_cast<uint16_t>(v >> 16));
  }
  static uint32_t crc(const std::string& bytes) {
    uint32_t c = ~0U;
    for (const unsigned char b : bytes) {
      c ^= b;
      for (int k = 0; k < 8; ++k) c = (c >> 1) ^ (c & 1 ? 0xedb88320U : 0);
    }
    return ~c;
  }
};

Array i32(const std::vector<int32_t>& v) { return Array::of<int32_t>(v, {static_cast<int64_t>(v.size())}); }
Array f32(const std::vector<float>& v) { return Array::of<float>(v, {static_cast<int64_t>(v.size())}); }

TEST_F(ScipyFile, OfEveryFormat) {
  const NamedArrays by_row = {
      {"shape", i32({2, 3})}, {"data", f32({1, 2, 3})}, {"indptr", i32({0, 1, 3})}, {"indices", i32({2, 1, 0})}};
  write("csr", by_row);
  const SparseFile s = read_sparse(path);
  EXPECT_EQ(s.row, (Ints32{1, 1, 0}));
  EXPECT_EQ(s.col, (Ints32{0, 1, 2}));
  EXPECT_EQ(s.values, (std::vector<float>{3, 2, 1}));
  write("csc",
        {{"shape", i32({3, 2})}, {"data", f32({1, 2, 3})}, {"indptr", i32({0, 1, 3})}, {"indices", i32({2, 1, 0})}});
  EXPECT_EQ(read_sparse(path).col, (Ints32{0, 1, 1}));
  EXPECT_EQ(read_sparse(path).row, (Ints32{2, 0, 1}));
  write("coo", {{"shape", i32({2, 3})}, {"data", f32({4, 5})}, {"row", i32({1, 0})}, {"col", i32({0, 0})}});
  EXPECT_EQ(read_sparse(path).values, (std::vector<float>{5, 4}));
}

TEST_F(ScipyFile, Wrong) {
  const auto shape = i32({2, 3});
  const auto has   = [](const std::string& message, std::initializer_list<const char*> phrases) {
    for (const char* p : phrases) EXPECT_NE(message.find(p), message.npos) << "'" << p << "' is not in: " << message;
  };
  const auto data = f32({1, 2});
  has(message("bsr", {{"shape", shape}, {"data", data}}), {"net.npz", "'bsr'", "csr, csc or coo"});
  has(message("coo", {{"shape", shape}, {"data", data}, {"row", i32({0, 1})}}), {"'col'", "missing"});
  has(message("coo", {{"shape", shape}, {"data", data}, {"row", i32({0, 1})}, {"col", i32({0})}}), {"1 columns"});
  has(message("coo", {{"shape", shape}, {"data", data}, {"row", i32({0, 2})}, {"col", i32({0, 0})}}),
      {"row 2", "2 by 3"});
  has(message("coo", {{"shape", shape}, {"data", data}, {"row", i32({1, 1})}, {"col", i32({0, 0})}}), {"twice"});
  has(message("coo", {{"shape", shape}, {"data", f32({1, NAN})}, {"row", i32({0, 1})}, {"col", i32({0, 0})}}),
      {"finite"});
  has(message("coo", {{"shape", shape}, {"data", data}, {"row", f32({0, 1})}, {"col", i32({0, 0})}}),
      {"'row'", "integers"});
  has(message("csr", {{"shape", shape}, {"data", data}, {"indptr", i32({0, 5, 2})}, {"indices", i32({0, 1})}}),
      {"indptr"});
  has(message("csr", {{"shape", i32({2, 3, 4})}, {"data", data}}), {"3 sizes"});
  has(message("csr", {{"shape", i32({1, 1})}, {"data", data}}), {"2 entries", "room for 1"});
  has(error_of([&] { read_sparse(path + ".txt"); }), {".mtx or .npz"});
  has(error_of([&] { read_sparse((folder.path / "none.npz").string()); }), {"none.npz"});
}

}  // namespace
}  // namespace braintrace

// SPDX-License-Identifier: Apache-2.0
#include <cstring>
#include <filesystem>
#include <functional>
#include <unistd.h>

#include <gtest/gtest.h>

#include "braintrace/io/npy.h"

namespace braintrace {
namespace {

const std::string data = BRAINTRACE_SOURCE_DIR "/tests/data/npy/";

bool contains(const std::string& text, std::string_view part) { return text.find(part) != text.npos; }

std::string complaint(ByteSpan file) {
  try {
    decode_npz(file, "test.npz");
  } catch (const UserError& e) {
    return e.what();
  }
  return "no error";
}

NamedArrays named_arrays() {
  return {{"weight", Array::of<float>({1, 2, 3, 4, 5, 6}, {2, 3})},
          {"net.cell/h", Array(Type{DType::BF16, {64}})},
          {"flag", Array::of<bool>({true}, {})}};
}

// Positions in an archive of one stored member "a": local header, then the directory entry and the end record.
struct One {
  Bytes  file = encode_npz({{"a", Array::of<float>({1, 2}, {2})}});
  size_t end = file.size() - 22, entry = end - 46 - 5;
  void   u16(size_t at, uint16_t v) { std::memcpy(file.data() + at, &v, 2); }
  void   u32(size_t at, uint32_t v) { std::memcpy(file.data() + at, &v, 4); }
};
std::string damaged(const std::function<void(One&)>& change) {
  One one;
  change(one);
  return complaint(one.file);
}

TEST(Npz, RoundTrip) {
  for (Compression method : {Compression::Stored, Compression::Deflated}) {
    const NamedArrays a = named_arrays(), b = decode_npz(encode_npz(a, method), "memory");
    ASSERT_EQ(a.size(), b.size());
    for (const auto& [name, array] : a) EXPECT_TRUE(identical(array, b.at(name))) << name;
    EXPECT_TRUE(decode_npz(encode_npz({}, method), "memory").empty());
  }
  EXPECT_EQ(encode_npz(named_arrays()), encode_npz(named_arrays()));
  const NamedArrays zeros{{"z", Array(Type{DType::F64, {4096}})}};
  EXPECT_LT(encode_npz(zeros, Compression::Deflated).size() * 20, encode_npz(zeros).size());
}

TEST(Npz, FilesRoundTrip) {
  const std::string path =
      std::filesystem::temp_directory_path() / ("braintrace_" + std::to_string(::getpid()) + ".npz");
  write_npz(path, named_arrays(), Compression::Deflated);
  EXPECT_EQ(read_npz(path).size(), named_arrays().size());
  std::filesystem::remove(path);
}

TEST(Npz, StoredMembersShareTheMemoryOfTheFile) {
  const Bytes  bytes = encode_npz(named_arrays());
  const Buffer file  = Buffer::allocate(bytes.size());
  std::memcpy(file.data.get(), bytes.data(), bytes.size());
  const auto* p = static_cast<const std::byte*>(decode_npz(file.span(), "memory", file.data).at("weight").raw());
  EXPECT_TRUE(p >= file.data.get() && p < file.data.get() + file.size);
}

TEST(Npz, ReadsFilesOfOthers) {
  const NamedArrays a = read_npz(data + "stored.npz");
  EXPECT_EQ(a.size(), 14u);
  EXPECT_EQ(a.at("y").type(), (Type{DType::F64, {5}}));
  EXPECT_EQ(at(a.at("y"), 3), -3.762074412672512);
  EXPECT_TRUE(identical(a.at("y"), a.at("param.weight")));
  EXPECT_FALSE(identical(a.at("y"), a.at("D")));
  const NamedArrays b = read_npz(data + "deflated_zip64_local.npz");
  EXPECT_TRUE(identical(b.at("a"), Array::of<float>({1, 2, 3, 4, 5, 6}, {2, 3})));
  EXPECT_TRUE(identical(b.at("deep/b"), Array::of<bool>({true, false, true}, {3})));
}

TEST(Npz, RefusesNamesThatLookLikeEscapes) {
  for (const std::string& name :
       std::vector<std::string>{"", "/etc/x", "../x", "a/../b", "..", "a\\b", std::string("a\0b", 3)})
    EXPECT_THROW(encode_npz({{name, Array()}}), UserError) << name;
  EXPECT_NO_THROW(encode_npz({{"a..b", Array()}, {"...", Array()}}));
  EXPECT_TRUE(contains(damaged([](One& o) {
                         for (size_t at : {size_t{30}, o.entry + 46}) std::memcpy(o.file.data() + at, "/.npy", 5);
                       }),
                       "not allowed"));
}

TEST(Npz, RefusesDamagedArchives) {
  const One one;
  ASSERT_EQ(complaint(one.file), "no error");
  EXPECT_TRUE(contains(complaint({}), "not a .npz file"));
  const size_t last = one.entry - 1;  // of the elements
  struct Bad {
    std::function<void(One&)> change;
    const char*               phrase;
  };
  for (const Bad& bad : std::vector<Bad>{
           {[](One& o) { o.file.pop_back(); }, "truncated"},
           {[](One& o) { o.file.resize(100); }, "truncated"},
           {[&](One& o) { o.file[last] ^= std::byte{1}; }, "checksum of member 'a.npy' is wrong"},
           {[](One& o) { o.u32(o.entry + 16, 5); }, "checksum"},
           {[](One& o) { o.u32(o.entry, 5); }, "directory is damaged"},
           {[](One& o) { o.u32(0, 5); }, "does not match its entry"},
           {[](One& o) { o.file[30] = std::byte{'b'}; }, "does not match its entry"},
           {[](One& o) { o.u16(8, 8); }, "does not match its entry"},
           {[](One& o) { o.u16(o.entry + 10, 12); }, "method 12"},
           {[](One& o) { o.u16(o.entry + 8, 1); }, "encrypted"},
           {[](One& o) { o.u32(o.entry + 20, 0xffffffff); }, "Zip64"},
           {[](One& o) { o.u32(o.entry + 20, 0x7fffffff), o.u32(o.entry + 24, 0x7fffffff); }, "refers to bytes"},
           {[](One& o) { o.u32(o.entry + 24, 1 << 30); }, "which is impossible"},
           {[](One& o) { o.u32(o.entry + 42, 0x7fffffff); }, "refers to bytes"},
           {[](One& o) { o.u16(o.entry + 28, 0xffff); }, "refers to bytes"},
           {[](One& o) { o.u16(o.end + 8, 2), o.u16(o.end + 10, 2); }, "directory is damaged"},
           {[](One& o) { o.u16(o.end + 8, 0), o.u16(o.end + 10, 0); }, "wrong size"},
           {[](One& o) { o.u16(o.end + 4, 1); }, "several parts"},
           {[](One& o) { o.u32(o.end + 16, 0xffffffff); }, "Zip64"},
           {[](One& o) { o.u32(o.end + 16, 0x7fffffff); }, "refers to bytes"},
           {[](One& o) {
              std::memcpy(o.file.data() + o.entry + 46, "a.npx", 5), std::memcpy(o.file.data() + 30, "a.npx", 5);
            },
            "not a .npy file"},
       }) {
    const std::string text = damaged(bad.change);
    EXPECT_TRUE(contains(text, bad.phrase) && contains(text, "test.npz")) << bad.phrase << "\n" << text;
  }
}

// The same local member listed twice would let small files expand without bound.
TEST(Npz, RefusesDuplicatesAndOverlaps) {
  One         one;
  const Bytes entry(one.file.begin() + static_cast<long>(one.entry), one.file.begin() + static_cast<long>(one.end));
  one.file.insert(one.file.begin() + static_cast<long>(one.end), entry.begin(), entry.end());
  one.end += entry.size();
  one.u16(one.end + 8, 2), one.u16(one.end + 10, 2), one.u32(one.end + 12, static_cast<uint32_t>(2 * entry.size()));
  EXPECT_TRUE(contains(complaint(one.file), "overlap")) << complaint(one.file);

  Bytes two = encode_npz({{"a", Array()}, {"b", Array()}});
  for (size_t i = 0; i + 5 <= two.size(); ++i)
    if (std::memcmp(two.data() + i, "b.npy", 5) == 0) two[i] = std::byte{'a'};
  EXPECT_TRUE(contains(complaint(two), "'a' appears twice")) << complaint(two);
}

TEST(Npz, RefusesDamagedCompression) {
  Bytes file = encode_npz({{"a", Array(Type{DType::F64, {512}})}}, Compression::Deflated);
  for (size_t at = 40; at < 60; ++at) {
    Bytes bad = file;
    bad[at] ^= std::byte{0x55};
    EXPECT_NE(complaint(bad), "no error") << at;
  }
}

TEST(Npz, EveryTruncationIsRefused) {
  const Bytes file = encode_npz(named_arrays());
  for (size_t n = 0; n < file.size(); ++n) EXPECT_NE(complaint(ByteSpan(file).first(n)), "no error");
}

}  // namespace
}  // namespace braintrace

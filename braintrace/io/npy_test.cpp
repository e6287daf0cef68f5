// SPDX-License-Identifier: Apache-2.0
#include "braintrace/io/npy.h"

#include <bit>
#include <cmath>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <functional>
#include <limits>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <gtest/gtest.h>

namespace braintrace {
namespace {

namespace fs = std::filesystem;

bool contains(const std::string& text, std::string_view part) { return text.find(part) != text.npos; }

std::string message(const std::function<void()>& f) {
  try {
    f();
  } catch (const UserError& e) {
    return e.what();
  }
  return "no error";
}

ByteSpan bytes_of(const std::string& s) { return std::as_bytes(std::span(s)); }

// A file with this header text and these elements, in format `major`.0.
std::string npy(std::string header, const std::string& elements, int major = 1) {
  header += '\n';
  std::string out = "\x93NUMPY";
  out += static_cast<char>(major);
  out += '\0';
  for (int i = 0; i < (major == 1 ? 2 : 4); ++i) out += static_cast<char>(header.size() >> (8 * i) & 0xff);
  return out + header + elements;
}
std::string dict(const std::string& descr, const std::string& shape, const char* fortran = "False") {
  return "{'descr': '" + descr + "', 'fortran_order': " + fortran + ", 'shape': " + shape + ", }";
}
template <class T>
std::string raw(std::initializer_list<T> values) {
  return {reinterpret_cast<const char*>(values.begin()), values.size() * sizeof(T)};
}
Array read(const std::string& file) { return decode_npy(bytes_of(file), "test.npy"); }

// A folder that vanishes with the test.
struct Folder {
  fs::path path = fs::temp_directory_path() / ("braintrace_npy_" + std::to_string(::getpid()));
  Folder() { fs::create_directories(path); }
  ~Folder() { fs::remove_all(path); }
  std::string file(const char* name) const { return (path / name).string(); }
  size_t      count() const { return static_cast<size_t>(std::distance(fs::directory_iterator(path), {})); }
};

std::vector<Array> one_of_each() {
  const double        inf = std::numeric_limits<double>::infinity();
  std::vector<double> v{0, 1, -2, 0.5, -0.0, inf};
  std::vector<Array>  out;
  for (DType t : all_dtypes) {
    out.push_back(from_doubles({t, {2, 3}}, is_float(t) ? v : std::vector<double>{0, 1, 2, 3, 1, 0}));
    out.push_back(Array(Type{t, {}}));
    out.push_back(Array(Type{t, {0, 4}}));
    out.push_back(Array(Type{t, {1, 2, 1, 5}}));
  }
  return out;
}

TEST(Npy, MemoryRoundTripOfEveryDtype) {
  for (const Array& a : one_of_each()) {
    const Bytes file = encode_npy(a);
    EXPECT_EQ((file.size() - a.bytes()) % 64, 0u);
    EXPECT_TRUE(identical(a, decode_npy(file, "memory"))) << to_string(a.type());
  }
}

TEST(Npy, FileRoundTripLeavesNothingElse) {
  const Folder folder;
  for (const Array& a : one_of_each()) {
    write_npy(folder.file("a.npy"), a);
    EXPECT_TRUE(identical(a, read_npy(folder.file("a.npy"))));
  }
  EXPECT_EQ(folder.count(), 1u);
}

TEST(Npy, ElementsAreSharedWhereAlignmentAllows) {
  const Array a     = Array::of<double>({1, 2, 3}, {3});
  const Bytes bytes = encode_npy(a);
  Buffer      file  = Buffer::allocate(bytes.size() + 1);
  std::memcpy(file.data.get(), bytes.data(), bytes.size());
  const Array shared = decode_npy({file.data.get(), bytes.size()}, "memory", file.data);
  EXPECT_EQ(shared.raw(), file.data.get() + bytes.size() - a.bytes());
  std::memcpy(file.data.get() + 1, bytes.data(), bytes.size());
  const Array copied = decode_npy({file.data.get() + 1, bytes.size()}, "memory", file.data);
  EXPECT_TRUE(identical(copied, a));
  EXPECT_NE(decode_npy(bytes, "memory").raw(), static_cast<const void*>(bytes.data() + bytes.size() - a.bytes()));
}

TEST(Npy, ReadsAllVersionsKeyOrdersAndQuotes) {
  const Array wanted = Array::of<int32_t>({7, -8}, {2});
  for (int major : {1, 2, 3})
    EXPECT_TRUE(identical(wanted, read(npy(dict("<i4", "(2,)"), raw<int32_t>({7, -8}), major))));
  EXPECT_TRUE(identical(
      wanted, read(npy("{\"shape\":(2L,),\"descr\":\"=i4\",\"fortran_order\":False}", raw<int32_t>({7, -8})))));
}

TEST(Npy, ConvertsByteOrderAndFortranOrder) {
  EXPECT_TRUE(identical(Array::of<int32_t>({1, -2}, {2}),
                        read(npy(dict(">i4", "(2,)"), std::string("\0\0\0\1\xff\xff\xff\xfe", 8)))));
  EXPECT_TRUE(identical(Array::of<int64_t>({1}, {}), read(npy(dict(">i8", "()"), std::string("\0\0\0\0\0\0\0\1", 8)))));
  const Array f = read(npy(dict("<i4", "(2, 3)", "True"), raw<int32_t>({0, 3, 1, 4, 2, 5})));
  EXPECT_TRUE(identical(f, Array::of<int32_t>({0, 1, 2, 3, 4, 5}, {2, 3})));
  const Array cube = read(npy(dict("<i4", "(2, 1, 2)", "True"), raw<int32_t>({0, 2, 1, 3})));
  EXPECT_TRUE(identical(cube, Array::of<int32_t>({0, 1, 2, 3}, {2, 1, 2})));
  EXPECT_EQ(read(npy(dict("<f8", "(0, 3)", "True"), "")).shape(), (Shape{0, 3}));
}

TEST(Npy, SmallIntegersAreReadAsI32) {
  const auto numbers = [](const Array& a) {
    EXPECT_EQ(a.dtype(), DType::I32);
    return std::vector<int32_t>(a.data<int32_t>(), a.data<int32_t>() + a.size());
  };
  const std::string four("\x01\xff\x80\x7f", 4);
  EXPECT_EQ(numbers(read(npy(dict("|u1", "(4,)"), four))), (std::vector<int32_t>{1, 255, 128, 127}));
  EXPECT_EQ(numbers(read(npy(dict("|i1", "(4,)"), four))), (std::vector<int32_t>{1, -1, -128, 127}));
  EXPECT_EQ(numbers(read(npy(dict("<u2", "(2,)"), four))), (std::vector<int32_t>{0xff01, 0x7f80}));
  EXPECT_EQ(numbers(read(npy(dict("<i2", "(2,)"), four))), (std::vector<int32_t>{-255, 0x7f80}));
  EXPECT_EQ(numbers(read(npy(dict(">i2", "(2,)"), four))), (std::vector<int32_t>{0x01ff, -32641}));
}

TEST(Npy, BoolsAreZeroOrOneInMemory) {
  const Array a = read(npy(dict("|b1", "(3,)"), std::string("\0\1\7", 3)));
  EXPECT_TRUE(identical(a, Array::of<bool>({false, true, true}, {3})));
}

TEST(Npy, RefusesMalformedFiles) {
  struct Bad {
    std::string file;
    const char* phrase;
  };
  const std::string two = raw<float>({1, 2});
  const std::string ok  = npy(dict("<f4", "(2,)"), two);
  ASSERT_EQ(read(ok).size(), 2);
  for (const Bad& bad : std::vector<Bad>{
           {"", "not a .npy file"},
           {"PK\3\4 this is a zip file", "not a .npy file"},
           {ok.substr(0, 30), "ends inside the .npy header"},
           {ok.substr(0, ok.size() - 1), "truncated or damaged"},
           {ok + "x", "truncated or damaged"},
           {npy(dict("<f4", "(2,)"), two, 4), "version 4.0 is not known"},
           {std::string("\x93NUMPY\2\0\xff\xff\xff\xff{}", 14), "are accepted"},
           {npy(dict("<f4", "(-2,)"), two), "negative"},
           {npy(dict("<f4", "(99999999999999999999,)"), two), "too large"},
           {npy(dict("<f4", "(4611686018427387904, 4)"), two), "too large"},
           {npy(dict("<f8", "(2305843009213693952,)"), two), "too large"},
           {npy(dict("<f4", "(2305843009213693952, 0)"), ""), "too large"},
           {npy(dict("<f4", "(1000000000000,)"), two), "truncated or damaged"},
           {npy(dict("<f4", "(2, x)"), two), "not a number"},
           {npy(dict("<f4", "(2,"), two), "malformed"},
           {npy(dict("<f4", "2"), two), "expected '('"},
           {npy(dict("<c8", "(1,)"), two), "'<c8' is not supported"},
           {npy(dict("|O", "(1,)"), two), "'|O' is not supported"},
           {npy(dict("", "(1,)"), two), "'' is not supported"},
           {npy(dict("<f4", "(2,)", "Maybe"), two), "neither True nor False"},
           {npy("{'descr': '<f4', 'shape': (2,)}", two), "needs the keys"},
           {npy("{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': (2,)}", two),
            "'descr' is unknown or repeated"},
           {npy(dict("<f4", "(2,)") + " + 1", two), "text follows"},
           {npy("{'descr", two), "a string does not end"},
       }) {
    const std::string text = message([&] { read(bad.file); });
    EXPECT_TRUE(contains(text, bad.phrase) && contains(text, "test.npy")) << bad.phrase << "\n" << text;
  }
  std::string deep = "(";
  for (int i = 0; i < 100; ++i) deep += "1, ";
  EXPECT_TRUE(contains(message([&] { read(npy(dict("<f4", deep + ")"), raw<float>({1}))); }), "more than 64 axes"));
}

TEST(Npy, FileErrorsNameTheFileAndTheReason) {
  const Folder folder;
  EXPECT_TRUE(contains(message([&] { read_npy(folder.file("none.npy")); }), "none.npy: cannot open"));
  EXPECT_TRUE(contains(message([&] { read_npy(folder.path.string()); }), "expected a regular file"));
  EXPECT_TRUE(contains(message([&] { write_npy(folder.file("no/such/folder.npy"), Array()); }), "cannot create"));
  EXPECT_TRUE(contains(message([&] { write_npy(folder.path.string(), Array()); }), "this is a folder"));
  ASSERT_EQ(::mkfifo(folder.file("pipe").c_str(), 0600), 0);
  EXPECT_TRUE(contains(message([&] { read_npy(folder.file("pipe")); }), "expected a regular file"));
  EXPECT_EQ(folder.count(), 1u);
}

// A disk that fills up, through a limit on file sizes.
TEST(Npy, AFailedWriteKeepsTheOldFile) {
  const Folder folder;
  const Array  old = Array::of<float>({1, 2}, {2});
  write_npy(folder.file("a.npy"), old);
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  const auto   handler = std::signal(SIGXFSZ, SIG_IGN);
  const rlimit small{4096, before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
  const std::string text = message([&] { write_npy(folder.file("a.npy"), Array({DType::F64, {4096}})); });
  ::setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, handler);
  EXPECT_TRUE(contains(text, "cannot write")) << text;
  EXPECT_TRUE(identical(read_npy(folder.file("a.npy")), old));
  EXPECT_EQ(folder.count(), 1u);
}

}  // namespace
}  // namespace braintrace

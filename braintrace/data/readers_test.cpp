// SPDX-License-Identifier: Apache-2.0
// Files made here, read back; damaged ones refused with file, offset, what was expected and what was found.
#include <cmath>
#include <filesystem>
#include <fstream>
#include <zlib.h>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "braintrace/data/aedat.h"
#include "braintrace/data/csv.h"
#include "braintrace/data/idx.h"
#include "braintrace/data/nmnist.h"
#include "braintrace/io/npy.h"
#include "tests/support/error_of.h"

namespace braintrace::data {

namespace {

std::string path_of(const std::string& name) { return ::testing::TempDir() + "/readers_" + name; }
std::string write(const std::string& name, const std::string& bytes) {
  std::ofstream(path_of(name), std::ios::binary) << bytes;
  return path_of(name);
}
void expect_holds(const std::string& message, const std::vector<std::string>& phrases) {
  for (const std::string& p : phrases)
    EXPECT_NE(message.find(p), message.npos) << "'" << p << "' is not in: " << message;
}

std::string nmnist_event(int x, int y, int p, int t) {
  const int bytes[] = {x, y, p << 7 | t >> 16, t >> 8 & 255, t & 255};
  return std::string(bytes, bytes + 5);
}

TEST(EventFrames, BinsOfEqualWidthAndADroppedRest) {
  // Width ⌊(107 - 7) / 3⌋ = 33: [7, 40), [40, 73), [73, 106); the event at 107 is dropped. Order does not matter.
  const Events events = {{1, 0, 1, 107}, {0, 0, 0, 7}, {2, 1, 1, 39}, {2, 1, 1, 40}, {2, 1, 1, 72}, {0, 0, 0, 105}};
  const Array  f      = event_frames(events, 3, {2, 2, 3}, "made");
  ASSERT_EQ(f.type(), (Type{DType::F32, {3, 2, 2, 3}}));
  const auto count = [&](int64_t i, int64_t p, int64_t y, int64_t x) { return at(f, ((i * 2 + p) * 2 + y) * 3 + x); };
  EXPECT_EQ(count(0, 0, 0, 0), 1);
  EXPECT_EQ(count(0, 1, 1, 2), 1);
  EXPECT_EQ(count(1, 1, 1, 2), 2);
  EXPECT_EQ(count(2, 0, 0, 0), 1);
  double all = 0;
  for (int64_t i = 0; i < f.size(); ++i) all += at(f, i);
  EXPECT_EQ(all, 5);

  EXPECT_EQ(event_frames({}, 2, {1, 1, 4}, "none").size(), 8);
  expect_holds(error_of([&] { event_frames(events, 101, {2, 2, 3}, "made"); }), {"made", "6 events within 100 µs"});
  expect_holds(error_of([&] { event_frames(events, 3, {2, 2, 2}, "made"); }), {"made", "x 2, y 1", "2×2"});
  expect_holds(error_of([&] { event_frames(events, 0, {2, 2, 3}, "made"); }), {"at least one frame"});
}

TEST(Nmnist, EventsAndTheOverflowOfTheClock) {
  const std::string bytes = nmnist_event(3, 33, 1, 5) + nmnist_event(0, 240, 0, 9) + nmnist_event(33, 0, 0, 0x7fffff) +
                            nmnist_event(1, 240, 1, 0) + nmnist_event(2, 2, 1, 70000);
  const std::string path = write("a.bin", bytes);
  EXPECT_EQ(read_nmnist(path), (Events{{3, 33, 1, 5}, {33, 0, 0, 0x7fffff + 8192}, {2, 2, 1, 70000 + 2 * 8192}}));
  write("empty.bin", "");
  expect_holds(error_of([&] { read_nmnist(path_of("empty.bin")); }), {"empty.bin", "an event", "an empty file"});

  write("a.bin", bytes.substr(0, 12));
  expect_holds(error_of([&] { read_nmnist(path); }), {"a.bin", "byte 10", "an event (5 bytes)", "2 bytes"});
  write("a.bin", nmnist_event(3, 3, 1, 5) + nmnist_event(34, 3, 1, 5));
  expect_holds(error_of([&] { read_nmnist(path); }), {"a.bin", "byte 5", "below 34", "x 34"});
  expect_holds(error_of([&] { read_nmnist(path_of("missing.bin")); }), {"missing.bin", "No such file"});
}

std::string word(uint64_t x, int bytes) {
  std::string out;
  for (int i = 0; i < bytes; ++i) out += static_cast<char>(x >> (8 * i));
  return out;
}
std::string packet(int type, int event_size, int overflows, const std::vector<std::string>& events) {
  std::string out = word(type, 2) + word(0, 2) + word(event_size, 4) + word(4, 4) + word(overflows, 4) +
                    word(events.size(), 4) + word(events.size(), 4) + word(events.size(), 4);
  for (const std::string& e : events) out += e;
  return out;
}
std::string polarity(uint32_t x, uint32_t y, uint32_t p, uint32_t t) {
  return word(x << 17 | y << 2 | p << 1 | 1, 4) + word(t, 4);
}

TEST(Aedat, ClipsOfARecording) {
  const std::string header  = "#!AER-DAT3.1\r\n#Format: RAW\r\n#!END-HEADER\r\n";
  const std::string first   = packet(1, 8, 0, {polarity(127, 0, 1, 10), polarity(0, 127, 0, 20)});
  const std::string special = packet(0, 12, 0, {std::string(12, 'x')});
  const std::string second  = packet(1, 8, 0, {polarity(5, 6, 1, 30), polarity(7, 8, 0, 40), polarity(9, 9, 1, 50)});
  const std::string third   = packet(1, 8, 1, {polarity(1, 1, 1, 60)});
  const std::string bytes   = header + first + special + second + third;
  const AedatFile   file(write("a.aedat", bytes));
  EXPECT_EQ(file.read(0, 100), (Events{{127, 0, 1, 10}, {0, 127, 0, 20}, {5, 6, 1, 30}, {7, 8, 0, 40}, {9, 9, 1, 50}}));
  EXPECT_EQ(file.read(20, 50), (Events{{0, 127, 0, 20}, {5, 6, 1, 30}, {7, 8, 0, 40}}));
  EXPECT_EQ(file.read(int64_t{1} << 31, int64_t{1} << 32), (Events{{1, 1, 1, (int64_t{1} << 31) + 60}}));

  const auto refused = [&](const std::string& content, const std::vector<std::string>& phrases) {
    const std::string path = write("b.aedat", content);
    expect_holds(error_of([&] { AedatFile f(path); }), phrases);
  };
  refused("#!AER-DAT2.0\r\n", {"b.aedat", "byte 0", "#!AER-DAT3.1"});
  refused("", {"byte 0", "#!AER-DAT3.1"});
  refused(header + first.substr(0, 20), {"byte 42", "a packet header (28 bytes)", "20 bytes"});
  refused(header + first.substr(0, 40), {"byte 62", "2 events of 8 bytes", "12 bytes"});
  refused(header + packet(1, 9, 0, {std::string(9, 'x')}), {"byte 46", "polarity events of 8 bytes", "9"});
  refused(header + packet(1, 8, -1, {polarity(1, 1, 1, 1)}), {"byte 54", "65536 overflows", "4294967295"});
  refused(header + packet(1, 0, 0, {""}), {"byte 46", "positive event size"});
  refused("#!AER-DAT3.1\r\n#" + std::string(5000, 'x'), {"byte 14", "a header line with an end"});
  // Whatever the end is cut to, the file is an error or holds a part of the packets.
  for (size_t n = header.size(); n < bytes.size(); ++n) {
    const std::string path    = write("b.aedat", bytes.substr(0, n));
    const std::string message = error_of([&] { AedatFile f(path); });
    const bool        whole   = n == header.size() || n == header.size() + first.size() ||
                       n == header.size() + first.size() + special.size() || n == bytes.size() - third.size();
    EXPECT_EQ(message.empty(), whole) << n << ": " << message;
  }
}

TEST(Aedat, TheTableOfClips) {
  const auto clips = read_clips(write("l.csv", "class,startTime_usec,endTime_usec\n2,100,250\n11,300,400\n"), 11);
  ASSERT_EQ(clips.size(), 2u);
  EXPECT_EQ(clips[0].label, 1);
  EXPECT_EQ(clips[1].label, 10);
  EXPECT_EQ(clips[1].from_us, 300);
  EXPECT_EQ(clips[1].to_us, 400);
  const auto refused = [](const std::string& row, const std::vector<std::string>& phrases) {
    const std::string path = write("l.csv", "class,startTime_usec,endTime_usec\n" + row + "\n");
    expect_holds(error_of([&] { read_clips(path, 11); }), phrases);
  };
  refused("12,1,2", {"l.csv", "row 1", "1 to 11", "12"});
  refused("0,1,2", {"row 1", "1 to 11"});
  refused("1,5,5", {"start < end", "5"});
  refused("1,5", {"byte 34", "3 cells", "2"});
}

TEST(GestureNpy, MillisecondsBecomeMicroseconds) {
  const std::string path = path_of("3.npy");
  write_npy(path, Array::of<double>({1, 2, 1, 0.5, 127, 0, 0, 12.25}, {2, 4}));
  EXPECT_EQ(read_gesture_npy(path), (Events{{1, 2, 1, 500}, {127, 0, 0, 12250}}));
  write_npy(path, Array::of<double>({1, 2, 1, NAN}, {1, 4}));
  expect_holds(error_of([&] { read_gesture_npy(path); }), {"3.npy", "row 0, column 3"});
  write_npy(path, Array::of<double>({1, 2, 1}, {1, 3}));
  expect_holds(error_of([&] { read_gesture_npy(path); }), {"3.npy", "[n, 4]", "[1,3]"});
}

std::string idx(const std::vector<uint32_t>& sizes, const std::string& elements) {
  std::string out = {0, 0, 8, static_cast<char>(sizes.size())};
  for (uint32_t n : sizes)
    for (int shift : {24, 16, 8, 0}) out += static_cast<char>(n >> shift);
  return out + elements;
}
std::string gzipped(const std::string& bytes) {
  const std::string path = path_of("packing");
  gzFile            f    = gzopen(path.c_str(), "wb");
  gzwrite(f, bytes.data(), static_cast<unsigned>(bytes.size()));
  gzclose(f);
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

TEST(Idx, PlainAndGzipped) {
  std::string elements;
  for (int i = 0; i < 12; ++i) elements += static_cast<char>(200 + i);
  const std::string bytes = idx({2, 3, 2}, elements);
  for (const std::string& content : {bytes, gzipped(bytes)}) {
    const IdxFile file(write("images", content));
    EXPECT_EQ(file.shape(), (Shape{2, 3, 2}));
    EXPECT_EQ(file.size(), 2);
    for (int i = 0; i < 2; ++i) {
      const Bytes item = file.item(i);
      ASSERT_EQ(item.size(), 6u);
      for (int k = 0; k < 6; ++k) EXPECT_EQ(std::to_integer<int>(item[static_cast<size_t>(k)]), 200 + 6 * i + k);
    }
    expect_holds(error_of([&] { file.item(2); }), {"item 2", "there are 2"});
  }
  const auto refused = [](const std::string& content, const std::vector<std::string>& phrases) {
    const std::string path = write("images", content);
    expect_holds(error_of([&] { IdxFile f(path); }), phrases);
  };
  refused(bytes.substr(0, 27), {"images", "byte 27", "28 bytes for [2,3,2]", "27 bytes"});
  refused(bytes + "x", {"28 bytes", "29 bytes"});
  refused(bytes.substr(0, 3), {"byte 0", "header"});
  refused("abcd", {"byte 0", "0 0 8", "97 98 99 100"});
  refused(idx({2, 0}, ""), {"byte 8", "a size", "0"});
  refused(idx({1u << 31, 1u << 31}, ""), {"byte 8", "a size"});
  refused(gzipped(bytes.substr(0, 20)), {"byte 20", "elements (12 bytes, unpacked)", "after 4"});
  refused(gzipped(idx({1u << 30}, "x")), {"elements in", "packed bytes", "1073741824"});
  const std::string packed = gzipped(bytes);
  refused(packed.substr(0, packed.size() - 12), {"images"});
  std::string damaged = packed;
  damaged[14]         = static_cast<char>(damaged[14] ^ 0x5a);
  refused(damaged, {"images"});
  expect_holds(error_of([] { open_idx(::testing::TempDir(), "no-such"); }), {"no-such", ".gz"});
  expect_holds(error_of([] { IdxFile f(::testing::TempDir()); }), {"expected a regular file"});
}

TEST(Csv, RowsByNumberAcrossPieces) {
  std::string text = "a, \"b\" ,c\n";
  for (int i = 0; i < 20000; ++i) text += fmt::format("{},{},-1e3\n", i, i * 0.5);
  const CsvFile file(write("t.csv", text));
  EXPECT_EQ(file.columns(), (std::vector<std::string>{"a", "b", "c"}));
  EXPECT_EQ(file.size(), 20000);
  EXPECT_EQ(file.column("b"), 1u);
  for (int64_t from : {0, 1, 255, 256, 257, 12345, 19997}) {
    const auto rows = file.rows(from, 3);
    for (int64_t i = 0; i < 3; ++i)
      EXPECT_EQ(rows[static_cast<size_t>(i)], (std::vector<double>{double(from + i), 0.5 * double(from + i), -1000}));
  }
  EXPECT_TRUE(file.rows(5, 0).empty());
  expect_holds(error_of([&] { file.rows(19998, 3); }), {"rows 19998 to 20000", "there are 20000"});
  expect_holds(error_of([&] { file.column("bb"); }), {"'bb'", "did you mean"});

  const auto refused = [](const std::string& content, const std::vector<std::string>& phrases) {
    const std::string path = write("t.csv", content);
    expect_holds(error_of([&] {
                   const CsvFile f(path);
                   f.rows(0, f.size());
                 }),
                 phrases);
  };
  refused("", {"t.csv", "headings"});
  refused("a,b\n", {"t.csv", "headings", "1 lines"});
  refused("a,b\n1,2\n3\n", {"byte 8", "2 cells in row 2", "found 1"});
  refused("a,b\n1,2,3\n", {"2 cells", "found 3"});
  refused("a,b\n1,x\n", {"byte 4", "a number in row 1, column 'b'", "'x'"});
  refused("a,b\n1,nan\n", {"row 1, column 'b'", "a number", "none"});
  refused("a,b\n1,\n", {"row 1, column 'b'", "a number", "none"});
  refused("a\n" + std::string((1 << 20) + (1 << 17), '1'), {"byte 2", "at most"});
  EXPECT_EQ(CsvFile(write("t.csv",
                          "\xEF\xBB\xBF"
                          "a,b\n1,2"))
                .columns(),
            (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(CsvFile(write("t.csv", "a,b\r\n1,2\r\n\r\n3,4")).rows(0, 2)[1], (std::vector<double>{3, 4}));

  // Quotes: separators, line breaks and doubled quotes in a cell; a quote inside of a cell is a character.
  const CsvFile quoted(write("t.csv",
                             "\"x \"\"q\"\"\", note ,\"a,b\"\r\n"
                             "1,\"two\nlines, \"\"and\"\" more\",\"2\"\r\n"
                             "3,5\" pipe,4\n"
                             "5, \"\" ,6\n"));
  EXPECT_EQ(quoted.columns(), (std::vector<std::string>{"x \"q\"", "note", "a,b"}));
  EXPECT_EQ(quoted.rows(0, 3, {0, 2}), (std::vector<std::vector<double>>{{1, 2}, {3, 4}, {5, 6}}));
  EXPECT_EQ(quoted.texts(0, 3, 1), (std::vector<std::string>{"two\nlines, \"and\" more", "5\" pipe", ""}));
  refused("a,b\n1,\"2\n3,4\n", {"byte 4", "quote", "end of the file"});
  refused("a,b\n1,2\n3,\"4\"5\n", {"t.csv", "row 2", "cell 2 has '5' after its closing quote"});
  refused("\"a\"1,b\n1,2\n", {"t.csv", "headings", "cell 1 has '1' after"});
  EXPECT_EQ(CsvFile(write("t.csv", "a;\"b,c\";d\n1;2;3\n")).rows(0, 1)[0], (std::vector<double>{1, 2, 3}));
  EXPECT_EQ(CsvFile(write("t.csv", "a,b\n6\"\" pipe,1\nx,2\n")).texts(0, 2, 0),
            (std::vector<std::string>{"6\"\" pipe", "x"}));
  EXPECT_EQ(CsvFile(write("t.csv", "a\n1\n2")).rows(0, 2)[1], (std::vector<double>{2}));

  const CsvFile tabs(write("t.tsv", "day\ta\tb\nMonday, early\t1\tNA\nTuesday\t\t4\n"));
  const auto    chosen = tabs.rows(0, 2, {2, 1});
  EXPECT_TRUE(std::isnan(chosen[0][0]) && std::isnan(chosen[1][1]));
  EXPECT_EQ(chosen[0][1], 1);
  EXPECT_EQ(chosen[1][0], 4);
  expect_holds(error_of([&] { tabs.rows(0, 1); }), {"row 1, column 'day'", "'Monday, early'"});
}

}  // namespace

}  // namespace braintrace::data

// SPDX-License-Identifier: Apache-2.0
#include "braintrace/train/log_files.h"

#include <bit>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <functional>
#include <sstream>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "braintrace/io/tfrecord.h"
#include "tests/support/error_of.h"

namespace braintrace::train {
namespace {

namespace fs = std::filesystem;

class LogFiles : public testing::Test {
 protected:
  LogFiles() { fs::create_directories(folder); }
  ~LogFiles() override { fs::remove_all(folder); }
  std::string        path(const std::string& name) const { return (folder / name).string(); }
  static std::string text_of(const std::string& path) {
    std::ostringstream text;
    text << std::ifstream(path, std::ios::binary).rdbuf();
    return text.str();
  }
  // Two updates and a validation per round.
  static void tell(Observer& o, int64_t first, int64_t last) {
    for (int64_t s = first; s <= last; ++s) {
      o.step({s, 1.0 / static_cast<double>(s), 0.5, 2, 1e-3, 0.1 * static_cast<double>(s)});
      if (s % 2 == 0) o.validation({s, 0.25, 0.75});
    }
  }

  fs::path folder = fs::temp_directory_path() / ("braintrace_logs_" + std::to_string(::getpid()));
};

RunRecord from(int64_t start_step) {
  RunRecord run;
  run.start_step = start_step;
  for (int64_t s = 2; s <= start_step; s += 2) run.validations.push_back({s, 0.25, 0.75});
  return run;
}

template <class Log>
void resumes_without_a_seam(const std::string& whole, const std::string& resumed,
                            void (*tell)(Observer&, int64_t, int64_t),
                            const std::function<std::string(std::string)>& read) {
  {
    Log log(whole);
    log.begin(from(0));
    tell(log, 1, 9);
  }
  {
    Log log(resumed);
    log.begin(from(0));
    tell(log, 1, 7);
    log.alarm({7, "dead", "snn.V", "at the end"});
    log.validation({7, 0.5, 0.5});  // at the end of the run, after its last checkpoint
  }
  {
    Log log(resumed);
    log.begin(from(7));
    tell(log, 8, 9);
  }
  EXPECT_EQ(read(resumed), read(whole));
  {
    Log log(resumed);
    log.begin(from(4));  // the checkpoint is older than the end of the log
    tell(log, 5, 9);
  }
  EXPECT_EQ(read(resumed), read(whole));
  EXPECT_FALSE(read(whole).empty());
  {
    Log log(resumed);
    log.begin(from(0));
    tell(log, 1, 1);
  }
  EXPECT_LT(read(resumed).size(), read(whole).size());  // a new run starts new files
}

TEST_F(LogFiles, ResumeWithoutASeam) {
  resumes_without_a_seam<JsonlLog>(path("a.jsonl"), path("b.jsonl"), tell, text_of);
  resumes_without_a_seam<CsvLog>(path("a.csv"), path("b.csv"), tell, text_of);
}

TEST_F(LogFiles, JsonlHoldsEverything) {
  {
    JsonlLog log(path("a.jsonl"));
    log.begin(from(0));
    log.step({1, NAN, -1, 0.5, 0.1, 2});
    log.validation({1, 0.125, 0.5});
    log.alarm({1, "dead", "rnn.\xFF", "never \"fires\"\n"});
  }
  std::istringstream          lines(text_of(path("a.jsonl")));
  std::vector<nlohmann::json> records;
  for (std::string line; std::getline(lines, line);) records.push_back(nlohmann::json::parse(line));
  ASSERT_EQ(records.size(), 3u);
  EXPECT_TRUE(records[0]["loss"].is_null());
  EXPECT_FALSE(records[0].contains("accuracy"));
  EXPECT_EQ(records[0]["gradient_norm"], 0.5);
  EXPECT_EQ(records[1]["accuracy"], 0.5);
  EXPECT_EQ(records[2]["message"], "never \"fires\"\n");
}

TEST_F(LogFiles, CsvRowsAreReadBackExactly) {
  {
    CsvLog log(path("a.csv"));
    log.begin(from(0));
    log.step({7, 1.0 / 3, -1, INFINITY, 0.1, 2});
    log.validation({7, NAN, 0.5});
  }
  std::istringstream lines(text_of(path("a.csv")));
  std::string        head, step, validation;
  std::getline(lines, head), std::getline(lines, step), std::getline(lines, validation);
  EXPECT_EQ(head, "step,part,loss,accuracy,gradient_norm,learning_rate,seconds");
  EXPECT_EQ(step, "7,train,0.3333333333333333,,inf,0.1,2");
  EXPECT_EQ(validation, "7,validation,nan,0.5,,,");
}

TEST_F(LogFiles, CutOffLineIsDroppedAndForeignFileRefused) {
  {
    JsonlLog log(path("a.jsonl"));
    log.begin(from(0));
    tell(log, 1, 2);
  }
  const std::string whole = text_of(path("a.jsonl"));
  std::ofstream(path("a.jsonl"), std::ios::app) << "{\"kind\":\"st";
  JsonlLog(path("a.jsonl")).begin(from(100));
  EXPECT_EQ(text_of(path("a.jsonl")), whole);

  std::ofstream(path("letter.csv")) << "dear diary\n";
  EXPECT_EQ(
      error_of([&] { CsvLog(path("letter.csv")).begin(from(3)); }).find(path("letter.csv") + ":1: this is not a line"),
      0u);
  EXPECT_EQ(text_of(path("letter.csv")), "dear diary\n");
}

TEST_F(LogFiles, FullDiskIsAnError) {
  ASSERT_TRUE(fs::exists("/dev/full"));
  EXPECT_NE(
      error_of([] { CsvLog("/dev/full").begin(from(0)); }).find("/dev/full: cannot write the file: No space left"),
      std::string::npos);
  JsonlLog log("/dev/full");
  log.begin(from(0));
  EXPECT_NE(error_of([&] { log.step({}); }).find("No space left"), std::string::npos);
  EXPECT_NE(error_of([&] { CsvLog(path("no/such/folder.csv")).begin(from(0)); }).find("cannot open"),
            std::string::npos);
}

// A decoder of its own: frames by their lengths, checksums bit by bit, fields by their wire types.
struct Decoded {
  double                       time = 0;
  int64_t                      step = 0;
  std::string                  version;
  std::map<std::string, float> scalars;
};
uint32_t slow_masked_crc(const std::string& bytes) {
  uint32_t r = 0xFFFFFFFF;
  for (char c : bytes)
    for (int bit = 0; bit < 8; ++bit) {
      const bool odd = ((r >> 0) ^ (static_cast<uint8_t>(c) >> bit)) & 1;
      r              = (r >> 1) ^ (odd ? 0x82F63B78u : 0u);
    }
  r ^= 0xFFFFFFFF;
  return ((r >> 15) | (r << 17)) + 0xa282ead8u;
}
template <class T>
T take(const std::string& s, size_t& at) {
  T value;
  std::memcpy(&value, s.data() + at, sizeof value);
  at += sizeof value;
  return value;
}
uint64_t take_varint(const std::string& s, size_t& at) {
  uint64_t value = 0;
  for (int shift = 0;; shift += 7) {
    const auto byte = static_cast<uint8_t>(s.at(at++));
    value |= static_cast<uint64_t>(byte & 0x7F) << shift;
    if (byte < 0x80) return value;
  }
}
std::string take_bytes(const std::string& s, size_t& at) {
  const size_t      n   = take_varint(s, at);
  const std::string out = s.substr(at, n);
  at += n;
  return out;
}
Decoded decode_event(const std::string& e) {
  Decoded out;
  for (size_t at = 0; at < e.size();) {
    const uint64_t key = take_varint(e, at);
    if (key == 9) out.time = take<double>(e, at);
    if (key == 16) out.step = static_cast<int64_t>(take_varint(e, at));
    if (key == 26) out.version = take_bytes(e, at);
    if (key != 42) continue;
    const std::string summary = take_bytes(e, at);
    for (size_t i = 0; i < summary.size();) {
      EXPECT_EQ(take_varint(summary, i), 10u);
      const std::string value = take_bytes(summary, i);
      size_t            j     = 0;
      EXPECT_EQ(take_varint(value, j), 10u);
      const std::string tag = take_bytes(value, j);
      EXPECT_EQ(take_varint(value, j), 21u);
      out.scalars[tag] = take<float>(value, j);
    }
  }
  return out;
}
std::vector<Decoded> decode(const std::string& file) {
  std::vector<Decoded> out;
  for (size_t at = 0; at < file.size();) {
    const std::string length_bytes = file.substr(at, 8);
    const auto        length       = take<uint64_t>(file, at);
    EXPECT_EQ(take<uint32_t>(file, at), slow_masked_crc(length_bytes));
    const std::string event = file.substr(at, length);
    at += length;
    EXPECT_EQ(take<uint32_t>(file, at), slow_masked_crc(event));
    out.push_back(decode_event(event));
  }
  return out;
}

TEST_F(LogFiles, Crc32cOfTheStandardSample) { EXPECT_EQ(crc32c("123456789"), 0xE3069283u); }

TEST_F(LogFiles, TensorboardEvents) {
  const std::string file = path("tb") + "/events.out.tfevents.0.braintrace";
  {
    TensorboardLog log(path("tb"));
    log.begin(from(0));
    log.step({1, 0.5, -1, 2, 0.25, 0});
    log.step({300, 0.125, 0.75, 3, 0.25, 0});
    log.validation({300, 4, 1});
    log.step({301, 1, 1, 1, 1, 0});
  }
  auto events = decode(text_of(file));
  ASSERT_EQ(events.size(), 5u);
  EXPECT_EQ(events[0].version, "brain.Event:2");
  EXPECT_GT(events[0].time, 1.6e9);
  EXPECT_EQ(events[1].scalars,
            (std::map<std::string, float>{
                {"train/loss", 0.5F}, {"train/gradient_norm", 2.F}, {"train/learning_rate", 0.25F}}));
  EXPECT_EQ(events[2].step, 300);
  EXPECT_EQ(events[2].scalars.at("train/accuracy"), 0.75F);
  EXPECT_EQ(events[3].scalars.at("validation/loss"), 4.F);

  fs::resize_file(file, fs::file_size(file) - 3);  // killed while writing
  {
    TensorboardLog log(path("tb"));
    log.begin(from(1000));
    log.step({302, 1, 1, 1, 1, 0});
  }
  events = decode(text_of(file));
  ASSERT_EQ(events.size(), 5u);
  EXPECT_EQ(events[4].step, 302);
  TensorboardLog(path("tb")).begin(from(1));
  events = decode(text_of(file));
  ASSERT_EQ(events.size(), 2u);
  EXPECT_EQ(events[1].step, 1);
}

}  // namespace
}  // namespace braintrace::train

// SPDX-License-Identifier: Apache-2.0
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "braintrace/tasks/task.h"

namespace braintrace::tasks {

namespace {

const std::string docs = std::string(BRAINTRACE_SOURCE_DIR) + "/docs/";

// BRAINTRACE_WRITE_DOCS=1 writes the file instead.
void expect_holds(const std::string& file, const std::string& content) {
  if (std::getenv("BRAINTRACE_WRITE_DOCS")) {
    std::filesystem::create_directories(std::filesystem::path(docs + file).parent_path());
    std::ofstream(docs + file) << content;
  }
  std::ifstream     in(docs + file);
  const std::string found{std::istreambuf_iterator<char>(in), {}};
  EXPECT_TRUE(found == content) << "run this test with BRAINTRACE_WRITE_DOCS=1 to write docs/" << file;
}

TEST(TasksPage, IsUpToDateWithItsPictures) {
  expect_holds("tasks.md", tasks_page());
  int drawn = 0;
  for (const TaskType& type : task_types()) {
    nlohmann::json j{{"type", type.name}};
    if (type.fields.find("synthetic") != type.fields.npos) j["synthetic"] = true;
    if (tasks_page().find("img/tasks/" + type.name + ".svg") == std::string::npos) continue;
    const std::string svg = picture(*make_task(j, 4), type.name);
    EXPECT_LT(svg.size(), 60000u) << type.name;
    expect_holds("img/tasks/" + type.name + ".svg", svg);
    ++drawn;
  }
  EXPECT_GT(drawn, 20);
}

TEST(Picture, ShowsWhatIsInTheBatch) {
  const auto  copy = make_task(R"({"type": "copy", "count": 2, "lag": 3, "symbols": 3})", 1);
  const Batch b    = copy->batch(Part::Train, 0, 1);
  const auto  svg  = picture(*copy, "copy");
  EXPECT_NE(svg.find(">copy</text>"), svg.npos);
  EXPECT_NE(svg.find("5 channels, 7 steps, 5 classes; gray steps have no loss"), svg.npos);
  // The symbol of step 0, 402/7 wide and 112/5 high.
  const double symbol = at(b.targets, 5);
  EXPECT_NE(svg.find(fmt::format("M58.0 {:.1f}h57.4v22.4", 74 + 22.4 * symbol)), svg.npos) << svg;
  EXPECT_NE(svg.find(fmt::format(">{}</text>", symbol)), svg.npos) << svg;
  EXPECT_NE(svg.find("prefers-color-scheme:dark"), svg.npos);
}

// Pixel (row, column) of a digit is drawn at that row and column, whether a step is a row or a frame.
TEST(Picture, DigitsAreUpright) {
  const auto  rows = make_task(R"({"type": "sequential_digits"})", 1);
  const Batch b    = rows->batch(Part::Train, 0, 1);
  const auto  svg  = picture(*rows, "rows");
  int         dark = 0;
  for (int64_t row = 0; row < 8; ++row)
    for (int64_t column = 0; column < 8; ++column) {
      const auto cell = fmt::format("M{:.1f} {:.1f}h21.0v21.0", 58 + 21.0 * double(column), 74 + 21.0 * double(row));
      EXPECT_EQ(svg.find(cell) != svg.npos, at(b.inputs, row * 8 + column) > 0) << row << ' ' << column;
      dark += at(b.inputs, row * 8 + column) > 0;
    }
  EXPECT_GT(dark, 8);

  const auto spikes = make_task(R"({"type": "spiking_digits", "encoding": "latency", "length": 1})", 1);
  const auto frame  = picture(*spikes, "frame");  // one frame of 112/8 each pixel, in the middle
  const auto first  = spikes->batch(Part::Train, 0, 1);
  for (int64_t pixel = 0; pixel < 64; ++pixel) {
    const auto cell =
        fmt::format("M{:.1f} {:.1f}h14.0v14.0", 203 + 14.0 * double(pixel % 8), 74 + 14.0 * double(pixel / 8));
    EXPECT_EQ(frame.find(cell) != frame.npos, at(first.inputs, pixel) != 0) << pixel;
  }
}

}  // namespace

}  // namespace braintrace::tasks

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
    const std::string svg = picture(*make_task(j, 4));
    EXPECT_LT(svg.size(), 60000u) << type.name;
    expect_holds("img/tasks/" + type.name + ".svg", svg);
    ++drawn;
  }
  EXPECT_GT(drawn, 20);
}

TEST(Picture, ShowsWhatIsInTheBatch) {
  const auto  copy = make_task(R"({"type": "copy", "count": 2, "lag": 3, "symbols": 3})", 1);
  const Batch b    = copy->batch(Part::Train, 0, 1);
  const auto  svg  = picture(*copy);
  EXPECT_NE(svg.find("5 channels"), svg.npos);
  EXPECT_NE(svg.find("7 steps"), svg.npos);
  // The symbol of step 0, 300/7 wide and 96/5 high.
  const double symbol = at(b.targets, 5);
  EXPECT_NE(svg.find(fmt::format("M52.0 {:.1f}h42.9v19.2", 8 + 19.2 * symbol)), svg.npos) << svg;
  EXPECT_NE(svg.find(fmt::format("text-anchor=\"middle\">{}</text>", symbol)), svg.npos) << svg;
}

}  // namespace

}  // namespace braintrace::tasks

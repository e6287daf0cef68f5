// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <csignal>
#include <unistd.h>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "braintrace/base/error.h"
#include "braintrace/base/json.h"
#include "braintrace/base/temporary_folder.h"
#include "braintrace/io/file.h"
#include "braintrace/sweep/children.h"
#include "braintrace/sweep/page.h"
#include "tests/support/error_of.h"

namespace braintrace::sweep {
namespace {

using Status = Outcome::Status;
using Words  = std::vector<std::string>;

struct Files {
  TemporaryFolder folder;
  std::string     config = (folder.path / "net.json").string();
  Files() { write_text(config, R"({"model": "gru", "seed": 7, "output": "elsewhere"})"); }
};

TEST(SweepPlan, ReadsValuesOfAnyKind) {
  EXPECT_EQ(parse_axis("optimizer.lr=1e-3,3e-3").values, (Words{"1e-3", "3e-3"}));
  EXPECT_EQ(parse_axis(R"(rule={"name":"EProp","k":[1,2]},D_RTRL)").values,
            (Words{R"({"name":"EProp","k":[1,2]})", "D_RTRL"}));
  EXPECT_EQ(parse_axis(R"(about="a,b","c\",d")").values, (Words{R"("a,b")", R"("c\",d")"}));
  for (const char* bad : {"lr", "=1", "lr=", "lr=1,,2", "lr=1,1", "lr=\xff"}) EXPECT_THROW(parse_axis(bad), UserError);
}

TEST(SweepPlan, CombinesValuesAndSeeds) {
  const Files files;
  const Plan  plan({files.config, {"a=1,2", "b=x,y z"}, {"batch=3"}, 2});
  ASSERT_EQ(plan.points().size(), 4u);
  ASSERT_EQ(plan.runs().size(), 8u);
  EXPECT_EQ(plan.points()[1].name, "a=1 b=y z");
  EXPECT_EQ(plan.runs()[3].name, "a=1 b=y z seed=8");
  EXPECT_EQ(plan.runs()[3].folder, "runs/3-a=1-b=y-z-seed=8");
  EXPECT_EQ(plan.assignments(plan.runs()[3], "s"),
            (Words{"batch=3", "seed=8", "a=1", "b=y z", "output=\"s/runs/3-a=1-b=y-z-seed=8\""}));
  EXPECT_EQ(read_json(plan.config(), "config").contains("output"), false);
  EXPECT_EQ(Plan({files.config, {"seed=3,4"}}).runs()[1].name, "seed=4");
}

TEST(SweepPlan, RefusesWhatMakesNoSense) {
  const Files files;
  const auto  refused = [&](Words grid, Words set, int64_t seeds, const char* why) {
    const std::string told = error_of([&] { Plan({files.config, grid, set, seeds}); });
    EXPECT_NE(told.find(why), told.npos) << told;
  };
  refused({"a=1", "a=2"}, {}, 1, "in the grid already");
  refused({"model={}", "model.n=2"}, {}, 1, "in the grid already");
  refused({"output=x"}, {}, 1, "cannot be part of the grid");
  refused({"checkpoint={}"}, {}, 1, "cannot be part of the grid");
  refused({"a=1"}, {"a=2"}, 1, "one value for all runs");
  refused({"seed=1"}, {}, 2, "leave out one");
  refused({}, {"seed=1"}, 1, "first seed");
  refused({"a=1"}, {}, 200000, "more than 100000 runs");
}

TEST(SweepPlan, KnowsItsFolderAgain) {
  const Files       files;
  const std::string folder = (files.folder.path / "s").string();
  Plan({files.config, {"a=1,2"}}).enter(folder);
  Plan({files.config, {"a=1,2"}}).enter(folder);
  const std::string told = error_of([&] { Plan({files.config, {"a=1,3"}}).enter(folder); });
  EXPECT_NE(told.find("its grid differs"), told.npos) << told;
  EXPECT_NE(error_of([&] { Plan({files.config, {"a=1,2"}, {}, 2}).enter(folder); }).find("runs differs"), told.npos);
  write_text(files.config, R"({"model": "lif"})");
  EXPECT_NE(error_of([&] { Plan({files.config, {"a=1,2"}}).enter(folder); }).find("config differs"), told.npos);
  write_text(folder + "/sweep.json", "{}");
  EXPECT_NE(error_of([&] { Plan({files.config, {"a=1,2"}}).enter(folder); }).find("not the file"), told.npos);
}

TEST(SweepResults, MeanAndDeviation) {
  EXPECT_FALSE(spread_of({}).mean);
  EXPECT_EQ(shown(spread_of({2})), "2");
  EXPECT_EQ(*spread_of({1, 2, 3}).mean, 2);
  EXPECT_EQ(*spread_of({1, 2, 3}).deviation, 1);
  EXPECT_EQ(shown(spread_of({0.5, 0.5}), true), "50.0% ± 0.0%");
}

TEST(SweepResults, TheBestComesFirst) {
  const Files          files;
  const Plan           plan({files.config, {"a=1,2,3"}, {}, 2});
  std::vector<Outcome> outcomes(6);
  for (size_t r = 0; r < 6; ++r) outcomes[r] = {Status::Finished, "", 10, 1.0 / static_cast<double>(1 + r), {}};
  outcomes[4]           = {Status::Failed, "it broke", 0, {}, {}};
  std::vector<Row> rows = table_of(plan, outcomes);
  EXPECT_EQ(rows[0].point, 2u);
  EXPECT_EQ(rows[0].finished, 1);
  EXPECT_EQ(rows[0].failed, 1);
  EXPECT_EQ(rows[1].point, 1u);
  for (size_t r = 0; r < 2; ++r) outcomes[r].accuracy = 0.5;  // an accuracy counts before any loss
  rows = table_of(plan, outcomes);
  EXPECT_EQ(rows[0].point, 0u);
  outcomes.assign(6, {});
  outcomes[2] = {Status::Finished, "", 10, NAN, {}};
  outcomes[4] = {Status::Finished, "", 10, 1e9, {}};
  EXPECT_EQ(table_of(plan, outcomes)[0].point, 2u);
  EXPECT_EQ(table_csv(plan, rows).substr(0, 17), "rank,a,finished,f");
}

TEST(SweepResults, ReadsTheCourseOfARun) {
  const Files       files;
  const std::string path = (files.folder.path / "metrics.csv").string();
  write_text(path,
             "step,part,loss,accuracy,gradient_norm,learning_rate,seconds\n1,train,0.5,0.25,1,1,1\n"
             "1,validation,0.4,0.75,,,\n2,train,nan,,1,1,1\n3,train,0.1,");
  const Course c = read_course(path);
  ASSERT_EQ(c.steps.size(), 2u);
  EXPECT_EQ(c.steps[0].accuracy, 0.25);
  EXPECT_TRUE(std::isnan(c.steps[1].loss));
  ASSERT_EQ(c.validations.size(), 1u);
  EXPECT_EQ(c.validations[0].accuracy, 0.75);
  EXPECT_EQ(last_step(path).step, 2);
  EXPECT_EQ(last_step(path + "x").step, 0);
  EXPECT_FALSE(outcome_in("no JSON"));
}

TEST(SweepPage, HoldsTableCurvesAndFailures) {
  const Files          files;
  const Plan           plan({files.config, {"a=<1>,2"}, {}, 2});
  std::vector<Outcome> outcomes(4, {Status::Finished, "", 10, 0.5, 0.75});
  outcomes[3] = {Status::Failed, "it <broke>", 0, {}, {}};
  const std::vector<Course> courses(4, {{{1, 0.5, 0.5}, {2, 0.25, 0.5}}, {{2, 0.25, 0.5}}});
  const std::string         page = sweep_page(plan, table_of(plan, outcomes), outcomes, courses);
  for (const char* part :
       {"it &lt;broke&gt;", "a=&lt;1&gt;", "Validation accuracy", "Seeds of the best point", "75.0% ± 0.0%",
        "<dt>runs finished</dt><dd>3 of 4</dd>", "sweep report", ": sweep of a</h1>"})
    EXPECT_NE(page.find(part), page.npos) << part;
  EXPECT_EQ(page.find("<broke>"), page.npos);
}

TEST(SweepChildren, EachEndsForItself) {
  const Files       files;
  const std::string out = (files.folder.path / "out").string(), errors = (files.folder.path / "errors").string();
  Children          children;
  children.start({0, [] { return (void)!::write(STDOUT_FILENO, "said", 4), 3; }, out, errors});
  children.start({1, [] { return ::raise(SIGKILL); }, out + "1", errors + "1"});
  children.start({2, [] { return ::pause(); }, out + "2", errors + "2"});
  std::vector<Ended> ended;
  while (ended.size() < 2)
    for (const Ended& e : children.wait(1)) ended.push_back(e);
  std::sort(ended.begin(), ended.end(), [](const Ended& a, const Ended& b) { return a.piece < b.piece; });
  EXPECT_EQ(ended[0].status, 3);
  EXPECT_EQ(read_text(out), "said");
  EXPECT_EQ(ended[1].signal, SIGKILL);
  EXPECT_EQ(children.pieces(), std::vector<size_t>{2});
  children.stop(SIGINT);
  while (children.running() > 0)
    for (const Ended& e : children.wait(1)) EXPECT_EQ(e.signal, SIGINT);
}

}  // namespace
}  // namespace braintrace::sweep

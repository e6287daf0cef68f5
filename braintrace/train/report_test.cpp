// SPDX-License-Identifier: Apache-2.0
#include "braintrace/train/report.h"

#include <cmath>

#include <gtest/gtest.h>

#include "tests/support/sample_run.h"

namespace braintrace::train {
namespace {

size_t count(const std::string& text, const std::string& part) {
  size_t n = 0;
  for (size_t at = text.find(part); at != text.npos; at = text.find(part, at + 1)) ++n;
  return n;
}

TEST(Report, HoldsEverySection) {
  const std::string page = report_html(sample_run(300));
  for (const char* part : {"Loss",
                           "Accuracy",
                           "Gradient norm",
                           "Learning rate",
                           "Confusion matrix",
                           "Inputs",
                           "Spikes of rec.spike",
                           "Voltages of rec.V",
                           "Activity of gru.h",
                           "eligibility traces",
                           "Graph",
                           "Configuration",
                           "rec.w.bias",
                           "rule D_RTRL",
                           " · seed 42</p>",
                           "<dt>parameters</dt><dd>14,794</dd>",
                           "<h1>chain on the evidence task, trained with D_RTRL</h1>",
                           "92.9%",
                           "86.7%",
                           "94.7%"})
    EXPECT_NE(page.find(part), page.npos) << part;
  EXPECT_EQ(page.find("<section><h2>Alarms"), page.npos);
  EXPECT_NE(report_html(troubled_run()).find("<section><h2>Alarms"), std::string::npos);
}

TEST(Report, ALearningRateThatNeverChangesIsANumber) {
  RunRecord run = sample_run(10);
  for (StepRecord& s : run.steps) s.learning_rate = 0.005;
  const std::string page = report_html(run);
  EXPECT_NE(page.find(" · learning rate 0.005 · "), page.npos);
  EXPECT_EQ(page.find("Learning rate"), page.npos);
  run.steps[3].learning_rate = 0.004;
  EXPECT_NE(report_html(run).find("Learning rate"), std::string::npos);
}

TEST(Report, SaysWhatWasTrainedAndHowToRunItAgain) {
  RunRecord run          = sample_run(10);
  run.config             = R"({"name": "run 3", "model": {"type": "chain", "layers": [
      {"name": "rnn", "type": "gru", "n_in": 10, "n_rec": 64}, {"name": "out", "type": "linear", "n_in": 64, "n_out": 10}]},
      "task": {"type": "copy"}, "rule": "D_RTRL", "optimizer": {"type": "adam"}, "output": "runs/<1>"})";
  const std::string page = report_html(run);
  EXPECT_NE(page.find("<h1>GRU on the copy task, trained with D_RTRL</h1>"), page.npos);
  EXPECT_NE(
      page.find("<p>run 3 · gru 10 → 64, linear 64 → 10 · task copy · rule D_RTRL · optimizer adam · seed 42</p>"),
      page.npos);
  EXPECT_NE(page.find("<code>braintrace train &#39;runs/&lt;1&gt;/config.json&#39; --set "
                      "&#39;output=&quot;runs/&lt;1&gt;-again&quot;&#39;</code>"),
            page.npos);
}

TEST(Report, TellsThePerplexityOfText) {
  RunRecord run = sample_run(10);
  EXPECT_EQ(report_html(run).find("perplexity"), std::string::npos);
  run.config                  = R"({"task": {"type": "char_lm"}})";
  run.validations.back().loss = std::log(4.5);
  EXPECT_NE(report_html(run).find("<dt>final validation perplexity</dt><dd>4.5</dd>"), std::string::npos);
}

// Only what we wrote is markup: names and configuration come from users.
TEST(Report, EscapesWhatUsersName) {
  RunRecord run                         = sample_run(10);
  run.class_names                       = {"</script><script>alert(1)</script>", "b", "c"};
  run.activity.states[0].path           = "</script><img src=x>";
  run.activity.trace_norms["</script>"] = {1, 2};
  const std::string page                = report_html(run);
  EXPECT_EQ(page.find("alert(1)</script>"), page.npos);
  EXPECT_EQ(page.find("<img src=x"), page.npos);
  EXPECT_EQ(count(page, "<script"), count(page, "</script>"));
  EXPECT_NE(page.find("&lt;/script&gt;"), page.npos);
}

TEST(Report, SizeDoesNotGrowWithTheRun) {
  const std::string page = report_html(sample_run(100'000, 2000, 300));
  EXPECT_LT(page.size(), 2u << 20);
  EXPECT_EQ(page.find("nan"), page.npos);
}

// The extremes that share a pixel stay visible.
TEST(Report, DecimationKeepsPeaks) {
  RunRecord run          = sample_run(50'000);
  run.steps[31'234].loss = 987.5;
  EXPECT_NE(report_html(run).find("987.5"), std::string::npos);
}

TEST(Report, DegenerateRuns) {
  for (const RunRecord& run : {RunRecord(), one_class_run(), troubled_run()}) {
    const std::string page = report_html(run);
    EXPECT_NE(page.find("</html>"), page.npos);
    // Numbers that are not numbers appear in words only, never as coordinates.
    for (const char* bad : {"M-nan", "Lnan", "Mnan", "Minf", "=\"nan", "=\"-nan", "=\"inf"})
      EXPECT_EQ(page.find(bad), page.npos) << bad;
  }
}

}  // namespace
}  // namespace braintrace::train

// SPDX-License-Identifier: Apache-2.0
#include "braintrace/algorithms/registry.h"

#include <fstream>
#include <map>

#include <gtest/gtest.h>

#include "braintrace/algorithms/config_json.h"
#include "braintrace/nn/rnn.h"
#include "tests/support/error_of.h"
#include "tests/support/golden_case.h"

namespace braintrace {

namespace {

const RuleOptions decay_09{.decay_or_rank = TraceDecay::decay(0.9)};

struct Preset {
  const char* name;
  RuleOptions options;
  const char* point;
  VjpMethod   method;
};
const Preset presets[] = {
    {"D_RTRL", {}, "default", VjpMethod::SingleStep},
    {"pp_prop", decay_09, "trace_factorization=io_factorized temporal_recursion=(scalar_leak,jacobian) decay=(0.9,0.9)",
     VjpMethod::SingleStep},
    {"ES_D_RTRL",
     {.decay_or_rank = TraceDecay::rank(1)},
     "trace_factorization=io_factorized temporal_recursion=(none,none) decay=(0.0,0.0)",
     VjpMethod::SingleStep},
    {"EProp", {}, "default", VjpMethod::SingleStep},
    {"EProp", {.kappa_filter_decay = 0.5}, "trace_filter=kappa kappa=0.5", VjpMethod::SingleStep},
    {"EProp", {.feedback = RandomFeedback{}}, "learning_signal=random_feedback", VjpMethod::SingleStep},
    {"OSTLRecurrent", {}, "recurrence_scope=coupled", VjpMethod::SingleStep},
    {"OSTLFeedforward",
     {},
     "trace_factorization=io_factorized temporal_recursion=(scalar_leak,jacobian) decay=(1e-06,1e-06)",
     VjpMethod::SingleStep},
    {"OSTLFeedforward",
     {.decay_or_rank = TraceDecay::decay(0)},
     "trace_factorization=io_factorized temporal_recursion=(none,none) decay=(0.0,0.0)",
     VjpMethod::SingleStep},
    {"SnAp", {}, "recurrence_scope=sparse_n sparse_n=2", VjpMethod::SingleStep},
    {"SnAp", {.n = 1}, "recurrence_scope=coupled", VjpMethod::SingleStep},
    {"UORO", {}, "trace_factorization=random_projection recurrence_scope=coupled", VjpMethod::MultiStep},
    {"ThreeFactor", {}, "learning_signal=modulatory", VjpMethod::SingleStep},
    {"DNI", {}, "learning_signal=bootstrapped", VjpMethod::MultiStep},
};

TEST(Algorithms, HaveTheirPoints) {
  for (const Preset& p : presets) {
    const ETraceConfig config = algorithm_named(p.name).config(p.options);
    EXPECT_EQ(config.describe(), p.point) << p.name;
    EXPECT_EQ(own_method(config), p.method) << p.name;
  }
}

TEST(Algorithms, HaveThePointsOfTheRecordedRuns) {
  std::map<std::string, int> runs;
  for (const std::string& name : golden_cases({"numerics"})) {
    const json info = json::parse(std::ifstream(golden_data / name / "case.json"));
    for (const auto& run : info["runs"]) {
      const std::string algorithm = run["algorithm"];
      if (algorithm == "ParamDimVjpAlgorithm" || algorithm == "IODimVjpAlgorithm") continue;  // rule families
      json h = run["hyperparameters"];
      h.erase("fast_solve");  // does not change the result
      if (h.value("feedback", "") == "random") h["random_feedback_key"] = 0;
      const Algorithm& a = algorithm_named(algorithm);
      EXPECT_EQ(a.config(rule_options_from_json(h)), config_from_json(run["axes"])) << name << " " << run["id"];
      ++runs[a.name];
    }
  }
  EXPECT_EQ(runs.size(), 9u);
}

TEST(Algorithms, AreFoundInAnySpelling) {
  for (const char* name : {"d_rtrl", "pp_prop", "es_d_rtrl", "esd_rtrl", "eprop", "e_prop", "ostl_recurrent",
                           "ostl_feedforward", "uoro", "three_factor", "dni", "D_RTRL", "Pp_Prop", "BPTT", "rtrl"})
    EXPECT_EQ(error_of([&] { algorithm_named(name); }), "");
  EXPECT_EQ(&algorithm_named("PP_PROP"), &algorithm_named("ES_D_RTRL"));
  EXPECT_NE(error_of([] { algorithm_named("ostl"); }).find("OSTLRecurrent or OSTLFeedforward"), std::string::npos);
  EXPECT_NE(error_of([] { algorithm_named("d_rtlr"); }).find("did you mean 'D_RTRL'?"), std::string::npos);
  EXPECT_NE(error_of([] { algorithm_named("xyzzy"); }).find("Known: D_RTRL"), std::string::npos);
}

TEST(Algorithms, ListThemselves) {
  const std::string list = list_of_algorithms();
  for (const Algorithm& a : algorithms()) {
    EXPECT_NE(list.find(a.name), std::string::npos);
    EXPECT_NE(list.find(a.doc), std::string::npos);
    EXPECT_NE(a.config == nullptr, a.rule == nullptr) << a.name;
  }
}

std::string document(const std::string& path) {
  std::ifstream file(std::string(BRAINTRACE_SOURCE_DIR) + "/docs/" + path);
  return std::string(std::istreambuf_iterator<char>(file), {});
}
TEST(Algorithms, HaveAPageInTheDocuments) {
  const std::string overview = document("rules.md");
  for (const Algorithm& a : algorithms()) {
    EXPECT_NE(overview.find("(rules/" + a.name + ".md)"), std::string::npos) << a.name;
    const std::string page = document("rules/" + a.name + ".md");
    for (const std::string heading : {"Equation", "Cost", "When exact", "When to use"})
      EXPECT_NE(page.find("\n## " + heading + "\n"), std::string::npos) << a.name << " " << heading;
  }
  for (const char* axis : {"trace_factorization", "temporal_recursion", "recurrence_scope", "learning_signal"})
    EXPECT_NE(overview.find(axis), std::string::npos);
}

struct Misuse {
  const char* algorithm;
  RuleOptions options;
  const char* says;
};
TEST(Algorithms, RefuseWhatTheyDoNotTake) {
  nn::GRUCell model(2, 3);
  for (const Misuse& m : {
           Misuse{"D_RTRL", decay_09, "it has no option decay_or_rank, which is for ES_D_RTRL, OSTLFeedforward."},
           Misuse{"D_RTRL", {.kappa_filter_decay = 0.5}, "it has no option kappa_filter_decay, which is for EProp."},
           Misuse{"BPTT", {.trace_dtype = DType::BF16}, "It takes no options"},
           Misuse{"BPTT", {.vjp_method = VjpMethod::SingleStep}, "its vjp_method is 'multi-step', got 'single-step'"},
           Misuse{"EProp", {.kappa_filter_decay = 1.0}, "kappa must be in [0, 1), got 1"},
           Misuse{"pp_prop", {.decay_or_rank = TraceDecay::decay(1)}, "must be in [0, 1), got 1"},
           Misuse{"pp_prop", {.decay_or_rank = TraceDecay{0.5, -1}}, "f side must be in [0, 1), got -1"},
           Misuse{"ThreeFactor", {.vjp_method = VjpMethod::MultiStep}, "needs vjp_method 'single-step'"},
           Misuse{"DNI", {.vjp_method = VjpMethod::SingleStep}, "needs vjp_method 'multi-step'"},
           Misuse{"D_RTRL", {.modulator = Tensor(1.0)}, "it has no option modulator, which is for ThreeFactor."},
           Misuse{"UORO", {.projection_eps = 0.0}, "projection_eps"},
           Misuse{"SnAp", {.n = 0}, "sparse_n must be at least 1"},
       }) {
    const std::string message = error_of([&] { algorithm_named(m.algorithm).learner(model, m.options); });
    EXPECT_NE(message.find(m.says), std::string::npos) << m.algorithm << "\n" << message;
  }
}

struct WrongPoint {
  RuleAxes    axes;
  RuleOptions options;
  const char* says;
};
TEST(MakeRule, RefusesOptionsThatContradictThePoint) {
  const RuleAxes feedback{.learning_signal = SignalSource::RandomFeedback},
      factors{.trace_factorization = TraceFactorization::IoFactorized, .decay = 0.9};
  for (const WrongPoint& m : {
           WrongPoint{feedback, {}, "'random_feedback' needs a key"},
           WrongPoint{{}, {.feedback = RandomFeedback{}}, "learning_signal is 'symmetric'"},
           WrongPoint{factors, decay_09, "decay_or_rank is given twice"},
           WrongPoint{{}, {.kappa_filter_decay = 0.5}, "kappa_filter_decay is given twice"},
           WrongPoint{{}, {.modulator = Tensor(1.0)}, "a modulator is given, but learning_signal is 'symmetric'"},
           WrongPoint{{}, {.projection_key = 1}, "belong to 'random_projection'"},
           WrongPoint{factors, {.trace_dtype = DType::BF16}, "trace_factorization is 'io_factorized'"},
           WrongPoint{{.learning_signal = SignalSource::Modulatory},
                      {.vjp_method = VjpMethod::MultiStep},
                      "needs vjp_method 'single-step'"},
           WrongPoint{{.trace_factorization = TraceFactorization::IoFactorized,
           .learning_signal                 = SignalSource::Bootstrapped,
           .decay                           = 0.9},
                      {},
                      "'bootstrapped' needs 'per_param'"},
           WrongPoint{{.trace_factorization = TraceFactorization::RandomProjection,
           .recurrence_scope                = RecurrenceScope::Coupled,
           .learning_signal                 = SignalSource::RandomFeedback},
                      {.feedback = RandomFeedback{}},
                      "takes only learning_signal 'symmetric'"},
       }) {
    const std::string message = error_of([&] { make_rule(ETraceConfig(m.axes), m.options); });
    EXPECT_NE(message.find(m.says), std::string::npos) << m.says << "\n" << message;
  }
}

TEST(MakeRule, EnginesRefuseForeignPoints) {
  const ETraceConfig traces, factors({.trace_factorization = TraceFactorization::IoFactorized, .decay = 0.9});
  EXPECT_NE(error_of([&] { param_dim_options(factors, {}); }).find("got 'io_factorized'"), std::string::npos);
  EXPECT_NE(error_of([&] { io_dim_options(traces, {}); }).find("got 'per_param'"), std::string::npos);
}

TEST(MakeRule, SetsTheEngine) {
  const auto leak = param_dim_options(ETraceConfig({.temporal_recursion = TemporalRecursion::ScalarLeak, .decay = 0.7}),
                                      {.trace_dtype = DType::BF16});
  EXPECT_EQ(leak.leak, 0.7);
  EXPECT_EQ(leak.trace_dtype, DType::BF16);
  EXPECT_FALSE(leak.coupled);
  EXPECT_EQ(param_dim_options(ETraceConfig({.temporal_recursion = TemporalRecursion::None}), {}).leak, 0.0);
  EXPECT_FALSE(param_dim_options(ETraceConfig(), {}).leak.has_value());
  EXPECT_TRUE(param_dim_options(ETraceConfig({.recurrence_scope = RecurrenceScope::Coupled}), {}).coupled);
  EXPECT_EQ(param_dim_options(ETraceConfig({.trace_filter = TraceFilter::Kappa, .kappa = 0.5}), {}).kappa, 0.5);

  const RuleAxes factors{.trace_factorization = TraceFactorization::IoFactorized, .decay = OneOrPair(0.8, 0.6)};
  auto           with_f = [&](TemporalRecursion f, double decay_f) {
    RuleAxes a           = factors;
    a.temporal_recursion = OneOrPair(TemporalRecursion::ScalarLeak, f);
    a.decay              = OneOrPair(0.8, decay_f);
    return io_dim_options(ETraceConfig(a), {});
  };
  EXPECT_EQ(io_dim_options(ETraceConfig(factors), {}).decay.x, 0.8);
  EXPECT_EQ(io_dim_options(ETraceConfig(factors), {}).decay.f, 0.6);
  EXPECT_FALSE(io_dim_options(ETraceConfig(factors), {}).leak.has_value());
  EXPECT_EQ(with_f(TemporalRecursion::ScalarLeak, 0.6).leak, 1.0);
  EXPECT_EQ(with_f(TemporalRecursion::None, 0).leak, 0.0);
}

TEST(RuleOptions, ReadDecaysAndRanks) {
  const auto decay = [](const char* text) { return rule_options_from_json(json::parse(text)).decay_or_rank.value(); };
  EXPECT_EQ(decay(R"({"decay_or_rank": 0.0})").x, 0);
  EXPECT_EQ(decay(R"({"decay_or_rank": 1})").x, 0);
  EXPECT_DOUBLE_EQ(decay(R"({"decay_or_rank": 19})").f, 0.9);
  EXPECT_DOUBLE_EQ(decay(R"({"decay_or_rank": [0.8, 3]})").x, 0.8);
  EXPECT_DOUBLE_EQ(decay(R"({"decay_or_rank": [0.8, 3]})").f, 0.5);
  for (const char* bad : {"0", "-1", "true", "\"x\"", "[0.5]"})
    EXPECT_NE(error_of([&] { decay(fmt::format(R"({{"decay_or_rank": {}}})", bad).c_str()); }), "") << bad;
}

TEST(RuleOptions, ReadWords) {
  EXPECT_EQ(vjp_method_named("single-step"), VjpMethod::SingleStep);
  EXPECT_EQ(vjp_method_named(to_string(VjpMethod::MultiStep)), VjpMethod::MultiStep);
  EXPECT_NE(error_of([] { vjp_method_named("Single-Step"); }).find("did you mean 'single-step'?"), std::string::npos);
  const auto read = [](const char* text) { return rule_options_from_json(json::parse(text)); };
  EXPECT_EQ(read(R"({"trace_dtype": "bf16"})").trace_dtype, DType::BF16);
  EXPECT_EQ(read(R"({"projection_key": 7})").projection_key, 7u);
  EXPECT_EQ(read(R"({"projection_eps": 1e-6})").projection_eps, 1e-6);
  EXPECT_EQ(read(R"({"feedback": "random", "random_feedback_key": 7})").feedback->key, 7u);
  for (const char* bad : {R"({"feedback": "random"})", R"({"random_feedback_key": 1})", R"({"feedback": "randm"})",
                          R"({"trace_dtype": "i32"})", R"({"kappa": 0.5})", R"({"n": 1.5})"})
    EXPECT_NE(error_of([&] { read(bad); }), "") << bad;
}

TEST(Registry, OneRuleStandsForEachKindOfTrace) {
  EXPECT_EQ(representative_algorithms(), (std::vector<std::string>{"D_RTRL", "ES_D_RTRL", "BPTT"}));
}

}  // namespace

}  // namespace braintrace

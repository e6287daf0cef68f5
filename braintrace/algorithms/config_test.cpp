// SPDX-License-Identifier: Apache-2.0
#include "braintrace/algorithms/config.h"

#include <cmath>
#include <fstream>
#include <unordered_set>

#include <gtest/gtest.h>

#include "braintrace/algorithms/config_json.h"
#include "tests/support/error_of.h"
#include "tests/support/golden_case.h"

namespace braintrace {

namespace {

using enum TraceFactorization;
using enum TemporalRecursion;
using enum RecurrenceScope;

constexpr TraceFilter filtered = TraceFilter::Kappa;

OneOrPair<TemporalRecursion> recursions(TemporalRecursion x, TemporalRecursion f) { return {x, f}; }
OneOrPair<double>            decays(double x, double f) { return {x, f}; }

struct CanonicalForm {
  const char* name;
  RuleAxes    written, canonical;
};
const CanonicalForm canonical_forms[] = {
    {"Default", {}, {}},
    {"LeakOfZeroIsNone",
     {.temporal_recursion = ScalarLeak, .decay = 0.0},
     {.temporal_recursion = TemporalRecursion::None, .decay = 0.0}},
    {"NonePinsTheDecay",
     {.temporal_recursion = TemporalRecursion::None},
     {.temporal_recursion = TemporalRecursion::None, .decay = 0.0}},
    {"ALeakStays", {.temporal_recursion = ScalarLeak, .decay = 0.7}, {.temporal_recursion = ScalarLeak, .decay = 0.7}},
    {"OneValueBecomesAPairAndJacobianDemotesX",
     {.trace_factorization = IoFactorized, .decay = 0.9},
     {.trace_factorization = IoFactorized,
      .temporal_recursion  = recursions(ScalarLeak, Jacobian),
      .decay               = decays(0.9, 0.9)}},
    {"OneLeakIsBothSides",
     {.trace_factorization = IoFactorized, .temporal_recursion = ScalarLeak, .decay = 0.5},
     {.trace_factorization = IoFactorized,
      .temporal_recursion  = recursions(ScalarLeak, ScalarLeak),
      .decay               = decays(0.5, 0.5)}},
    {"ZeroDecayForgetsOnItsSide",
     {.trace_factorization = IoFactorized,
      .temporal_recursion  = recursions(ScalarLeak, Jacobian),
      .decay               = decays(0.9, 0)},
     {.trace_factorization = IoFactorized,
      .temporal_recursion  = recursions(ScalarLeak, TemporalRecursion::None),
      .decay               = decays(0.9, 0)}},
    {"ZeroDecayForgetsWhateverTheSideWas",
     {.trace_factorization = IoFactorized,
      .temporal_recursion  = recursions(Jacobian, Jacobian),
      .decay               = decays(0, 0.9)},
     {.trace_factorization = IoFactorized,
      .temporal_recursion  = recursions(TemporalRecursion::None, Jacobian),
      .decay               = decays(0, 0.9)}},
    {"ZeroDecayForgetsOnBothSides",
     {.trace_factorization = IoFactorized, .decay = 0.0},
     {.trace_factorization = IoFactorized,
      .temporal_recursion  = recursions(TemporalRecursion::None, TemporalRecursion::None),
      .decay               = decays(0, 0)}},
    {"NoneOnBothSidesPinsBothDecays",
     {.trace_factorization = IoFactorized, .temporal_recursion = TemporalRecursion::None},
     {.trace_factorization = IoFactorized,
      .temporal_recursion  = recursions(TemporalRecursion::None, TemporalRecursion::None),
      .decay               = decays(0, 0)}},
    {"KappaOfZeroIsNoFilter", {.trace_filter = filtered, .kappa = 0.0}, {}},
    {"KappaOfZeroIsNoFilterInAnyEngine",
     {.trace_factorization = IoFactorized, .trace_filter = filtered, .decay = 0.9, .kappa = 0.0},
     {.trace_factorization = IoFactorized,
      .temporal_recursion  = recursions(ScalarLeak, Jacobian),
      .decay               = decays(0.9, 0.9)}},
    {"SparseOneIsCoupled", {.recurrence_scope = SparseN, .sparse_n = 1}, {.recurrence_scope = Coupled}},
    {"SparseTwoStays", {.recurrence_scope = SparseN, .sparse_n = 2}, {.recurrence_scope = SparseN, .sparse_n = 2}},
};

struct Rejection {
  const char*              name;
  RuleAxes                 written;
  std::vector<const char*> says;  // the error, then a valid neighbor
};
const Rejection rejections[] = {
    {"R1KappaNeedsPerParam",
     {.trace_factorization = IoFactorized, .trace_filter = filtered, .decay = 0.9, .kappa = 0.5},
     {"'kappa' needs trace_factorization 'per_param', got 'io_factorized'", "trace_filter 'none'"}},
    {"R1KappaNeedsPerParamNotAProjection",
     {.trace_factorization = RandomProjection, .recurrence_scope = Coupled, .trace_filter = filtered, .kappa = 0.5},
     {"got 'random_projection'", "trace_filter 'none'"}},
    {"R2CoupledNeedsAJacobian",
     {.temporal_recursion = ScalarLeak, .recurrence_scope = Coupled, .decay = 0.5},
     {"'coupled'", "'scalar_leak' uses none", "scope 'diagonal'"}},
    {"R2SparseNeedsAJacobian",
     {.temporal_recursion = TemporalRecursion::None, .recurrence_scope = SparseN, .sparse_n = 2},
     {"'sparse_n'", "'none' uses none", "recursion 'jacobian'"}},
    {"R2CoupledNeedsAJacobianOnTheFSide",
     {.trace_factorization = IoFactorized, .recurrence_scope = Coupled, .decay = decays(0.9, 0)},
     {"'none' uses none", "scope 'diagonal'"}},
    {"R2AProjectionNeedsAJacobian",
     {.trace_factorization = RandomProjection,
      .temporal_recursion  = ScalarLeak,
      .recurrence_scope    = Coupled,
      .decay               = 0.5},
     {"'scalar_leak' uses none"}},
    {"R3NoJacobianOnTheXSide",
     {.trace_factorization = IoFactorized, .temporal_recursion = recursions(Jacobian, Jacobian), .decay = 0.9},
     {"x side", "'scalar_leak' or 'none'"}},
    {"R4JacobianTakesNoDecay", {.decay = 0.9}, {"takes no decay, got 0.9", "'scalar_leak'", "'io_factorized'"}},
    {"R4JacobianTakesNoDecayOfZero", {.decay = 0.0}, {"takes no decay, got 0", "'scalar_leak'"}},
    {"R5LeakNeedsADecay", {.temporal_recursion = ScalarLeak}, {"'scalar_leak' needs a decay", "'jacobian'"}},
    {"R6FactorsNeedDecays", {.trace_factorization = IoFactorized}, {"decay of both sides", "a pair"}},
    {"R7KappaWithoutFilter", {.kappa = 0.5}, {"kappa is 0.5", "trace_filter 'kappa'"}},
    {"R7FilterWithoutKappa", {.trace_filter = filtered}, {"needs kappa", "'none'"}},
    {"R7CountWithoutScope", {.recurrence_scope = Coupled, .sparse_n = 2}, {"sparse_n is 2", "scope 'sparse_n'"}},
    {"R7ScopeWithoutCount", {.recurrence_scope = SparseN}, {"needs sparse_n", "'coupled'"}},
    {"R7WindowSizeWithoutSchedule", {.window_size = 3}, {"window_size", "Leave it out"}},
    {"R8NoWindows",
     {.update_schedule = UpdateSchedule::Window, .window_size = 3},
     {"'window' is not supported", "'per_step'"}},
    {"R8NoSequenceEnd",
     {.update_schedule = UpdateSchedule::SequenceEnd},
     {"'sequence_end' is not supported", "'per_step'"}},
    {"R9SparseNeedsPerParam",
     {.trace_factorization = IoFactorized, .recurrence_scope = SparseN, .decay = 0.9, .sparse_n = 2},
     {"'sparse_n' needs trace_factorization 'per_param'", "'diagonal' or 'coupled'"}},
    {"R10SparseCountsFromOne", {.recurrence_scope = SparseN, .sparse_n = 0}, {"at least 1", "got 0", "'coupled'"}},
    {"R11AProjectionNeedsCoupled",
     {.trace_factorization = RandomProjection},
     {"'random_projection' needs recurrence_scope 'coupled', got 'diagonal'"}},
    {"R11ComesBeforeR9",
     {.trace_factorization = RandomProjection, .recurrence_scope = SparseN, .sparse_n = 2},
     {"'random_projection' needs recurrence_scope 'coupled', got 'sparse_n'", "'per_param'"}},
    {"PairOfRecursionsInOneTrace",
     {.temporal_recursion = recursions(ScalarLeak, Jacobian)},
     {"is a pair", "'io_factorized'"}},
    {"PairOfDecaysInOneTrace",
     {.temporal_recursion = ScalarLeak, .decay = decays(0.9, 0.9)},
     {"is a pair", "'io_factorized'"}},
    {"NoneWithADecay",
     {.temporal_recursion = TemporalRecursion::None, .decay = 0.5},
     {"'none' keeps nothing, but decay is 0.5", "'scalar_leak'"}},
    {"NoneWithADecayOnOneSide",
     {.trace_factorization = IoFactorized,
      .temporal_recursion  = recursions(ScalarLeak, TemporalRecursion::None),
      .decay               = 0.9},
     {"decay of the f side is 0.9", "'scalar_leak'"}},
    {"DecayOfOne", {.temporal_recursion = ScalarLeak, .decay = 1.0}, {"decay must be in [0, 1), got 1"}},
    {"NegativeDecay", {.temporal_recursion = ScalarLeak, .decay = -0.1}, {"[0, 1), got -0.1"}},
    {"DecayOnOneSide",
     {.trace_factorization = IoFactorized, .decay = decays(0.9, 1.5)},
     {"decay of the f side must be in [0, 1), got 1.5"}},
    {"KappaOfOne", {.trace_filter = filtered, .kappa = 1.0}, {"kappa must be in [0, 1), got 1"}},
    {"KappaThatIsNoNumber", {.trace_filter = filtered, .kappa = std::nan("")}, {"kappa must be in [0, 1)"}},
    {"WindowOfNothing", {.window_size = 0}, {"window_size must be at least 1"}},
};

template <class Row>
auto named = [](const testing::TestParamInfo<Row>& info) { return info.param.name; };

class Canonical : public testing::TestWithParam<CanonicalForm> {};
TEST_P(Canonical, IsTheSameRule) {
  const ETraceConfig config(GetParam().written);
  EXPECT_EQ(config.axes(), GetParam().canonical) << config.describe();
  EXPECT_EQ(canonical(config.axes()), config.axes());
  EXPECT_EQ(config, ETraceConfig(GetParam().canonical));
  EXPECT_EQ(std::hash<ETraceConfig>()(config), std::hash<ETraceConfig>()(ETraceConfig(GetParam().canonical)));
  EXPECT_EQ(config_from_json(json::parse(to_json(config).dump())), config);
}
INSTANTIATE_TEST_SUITE_P(Config, Canonical, testing::ValuesIn(canonical_forms), named<CanonicalForm>);

class Rejected : public testing::TestWithParam<Rejection> {};
TEST_P(Rejected, NamesTheMistakeAndANeighbor) {
  const std::string message = error_of([] { ETraceConfig config(GetParam().written); });
  for (const char* part : GetParam().says) EXPECT_NE(message.find(part), std::string::npos) << part << "\n" << message;
}
INSTANTIATE_TEST_SUITE_P(Config, Rejected, testing::ValuesIn(rejections), named<Rejection>);

TEST(ETraceConfig, IsEqualByCoordinate) {
  const ETraceConfig               d_rtrl, ostl({.recurrence_scope = Coupled});
  std::unordered_set<ETraceConfig> points{d_rtrl, ostl, ETraceConfig({.recurrence_scope = SparseN, .sparse_n = 1})};
  EXPECT_EQ(points.size(), 2u);
  EXPECT_NE(d_rtrl, ostl);
  EXPECT_FALSE(d_rtrl.include_recurrent_mixing());
  EXPECT_TRUE(ostl.include_recurrent_mixing());
  EXPECT_TRUE(ETraceConfig({.recurrence_scope = SparseN, .sparse_n = 3}).include_recurrent_mixing());
}

TEST(ETraceConfig, ReplaceChecksAgain) {
  const ETraceConfig config;
  const ETraceConfig eprop = config.replace([](RuleAxes& a) {
    a.trace_filter = filtered;
    a.kappa        = 0.5;
  });
  EXPECT_EQ(eprop->kappa, 0.5);
  EXPECT_EQ(eprop.replace([](RuleAxes& a) { a.kappa = 0; }), config);
  EXPECT_NE(error_of([&] { eprop.replace([](RuleAxes& a) { a.trace_factorization = IoFactorized; }); }), "");
  EXPECT_EQ(config, ETraceConfig());
}

TEST(ETraceConfig, DescribesWhatIsNotDefault) {
  EXPECT_EQ(ETraceConfig().describe(), "default");
  EXPECT_EQ(ETraceConfig({.recurrence_scope = SparseN, .sparse_n = 2}).describe(),
            "recurrence_scope=sparse_n sparse_n=2");
  EXPECT_EQ(ETraceConfig({.trace_factorization = IoFactorized, .decay = decays(0.9, 0.5)}).describe(),
            "trace_factorization=io_factorized temporal_recursion=(scalar_leak,jacobian) decay=(0.9,0.5)");
}

template <RuleAxis A>
void expect_words() {
  for (size_t i = 0; i < axis_words(number_of(A{})).values.size(); ++i)
    EXPECT_EQ(axis_named<A>(to_string(static_cast<A>(i))), static_cast<A>(i));
}
TEST(ETraceConfig, WordsNameTheirValues) {
  expect_words<TraceFactorization>();
  expect_words<TemporalRecursion>();
  expect_words<RecurrenceScope>();
  expect_words<SignalSource>();
  expect_words<TraceFilter>();
  expect_words<UpdateSchedule>();
  EXPECT_EQ(to_string(RandomProjection), "random_projection");
  EXPECT_EQ(to_string(SignalSource::Bootstrapped), "bootstrapped");
  EXPECT_EQ(to_string(UpdateSchedule::SequenceEnd), "sequence_end");
}

struct BadText {
  const char *text, *says;
};
TEST(ETraceConfig, RefusesOtherText) {
  for (const BadText& bad : {
           BadText{R"({"recurrence_scope": "copled"})", "did you mean 'coupled'?"},
           BadText{R"({"recurrence_scope": "Coupled"})", "did you mean 'coupled'?"},
           BadText{R"({"recurrence": "coupled"})", "there is no axis or coefficient 'recurrence'"},
           BadText{R"({"recurrence_scope": 3})", "recurrence_scope must be one of diagonal, coupled, sparse_n, got 3"},
           BadText{R"({"decay": "much"})", "decay must be a number"},
           BadText{R"({"decay": [0.5]})", "one value or a pair"},
           BadText{R"({"sparse_n": 1.5})", "sparse_n must be an integer"},
           BadText{R"([1])", "expected a JSON object"},
       }) {
    const std::string message = error_of([&] { config_from_json(json::parse(bad.text)); });
    EXPECT_NE(message.find(bad.says), std::string::npos) << bad.text << "\n" << message;
  }
}

TEST(ETraceConfig, RecordedCoordinatesAreCanonical) {
  size_t                           runs = 0;
  std::unordered_set<ETraceConfig> points;
  for (const std::string& name : golden_cases({"numerics"})) {
    const json info = json::parse(std::ifstream(golden_data / name / "case.json"));
    for (const auto& run : info["runs"]) {
      const ETraceConfig config = config_from_json(run["axes"]);
      EXPECT_EQ(axes_from_json(run["axes"]), config.axes()) << name << " " << run["id"];
      EXPECT_EQ(json::parse(to_json(config).dump()), run["axes"]) << name << " " << run["id"];
      points.insert(config);
      ++runs;
    }
  }
  EXPECT_GT(runs, 500u);
  EXPECT_GT(points.size(), 15u);
}

}  // namespace

}  // namespace braintrace

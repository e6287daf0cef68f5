// SPDX-License-Identifier: Apache-2.0
// The recorded cases, replayed by the code of `braintrace verify`, which must also detect mistakes.
#include "braintrace/verify/verify.h"

#include <cmath>
#include <fstream>
#include <limits>

#include <gtest/gtest.h>

#include "tests/support/error_of.h"
#include "tests/support/golden_case.h"

namespace braintrace {

namespace {

using golden::CaseReport;
using Status = CaseReport::Status;

std::string misses(const CaseReport& r) {
  std::string out;
  for (const auto& c : r.compared)
    if (!c.equal()) out += c.what + "\n" + c.difference + "\n";
  return out;
}

CaseReport verified(const std::string& name, const std::function<void(json&)>& change = nullptr) {
  golden::Case c = golden::load_case((golden_data / name).string());
  if (change) change(c.info);
  return golden::verify_case(c);
}

class Graphs : public testing::TestWithParam<std::string> {};

TEST_P(Graphs, AreFoundAsRecorded) {
  const CaseReport  r    = verified(GetParam());
  const std::string name = fs::path(GetParam()).stem();
  if (name == "conv_rnn_as_written") {  // the package that recorded it failed
    EXPECT_EQ(r.status(), Status::LeftOut);
    return;
  }
  EXPECT_EQ(r.status(), Status::Passed) << misses(r);
}

INSTANTIATE_TEST_SUITE_P(Golden, Graphs, testing::ValuesIn(golden_cases({"graphs"})),
                         [](const auto& info) { return fs::path(info.param).stem().string(); });

class Numbers : public testing::TestWithParam<std::string> {};

TEST_P(Numbers, AreAsRecorded) {
  const CaseReport r = verified(GetParam());
  EXPECT_EQ(r.status(), Status::Passed) << misses(r);
}

INSTANTIATE_TEST_SUITE_P(Golden, Numbers,
                         testing::ValuesIn(golden_cases({"corrected", "driver", "numerics", "ops", "training"})),
                         [](const auto& info) { return test_name(info.param); });

// Every array that a case compares matters: a small change of any kind of array is detected.
class ChangedArray : public testing::TestWithParam<std::pair<const char*, const char*>> {};

TEST_P(ChangedArray, IsSeen) {
  const auto [name, array]     = GetParam();
  golden::Case        c        = golden::load_case((golden_data / name).string());
  const Array         recorded = c.arrays.at(array);
  std::vector<double> values;
  for (int64_t i = 0; i < recorded.size(); ++i) values.push_back(at(recorded, i));
  const double largest = std::abs(
      *std::max_element(values.begin(), values.end(), [](double a, double b) { return std::abs(a) < std::abs(b); }));
  ASSERT_GT(largest, 0);
  values.back() += 1e-5 * largest;
  c.arrays.insert_or_assign(array, Array::of<double>(values, recorded.shape()));
  const CaseReport r = golden::verify_case(c);
  EXPECT_EQ(r.status(), Status::Failed);
  EXPECT_NE(misses(r).find(array), std::string::npos) << misses(r);
}

INSTANTIATE_TEST_SUITE_P(Golden, ChangedArray,
                         testing::Values(std::pair("corrected/chain_scale", "fwd.y"),
                                         std::pair("corrected/chain_scale", "bptt.total.cell.w"),
                                         std::pair("corrected/chain_scale", "jac.D.g0"),
                                         std::pair("corrected/chain_scale", "signal.g0"),
                                         std::pair("corrected/chain_scale", "jac.df.rel0.g0"),
                                         std::pair("corrected/chain_scale", "run.d_rtrl.ss.grad_sum.cell.w"),
                                         std::pair("corrected/chain_scale", "run.d_rtrl.ss.trace.rel0.g0.weight"),
                                         std::pair("corrected/chain_scale", "run.es_d0.9.ss.xtrace.rel0"),
                                         std::pair("driver/driver_gru", "call.warmup3_mean.grad.rnn.Wz.weight.weight"),
                                         std::pair("training/spikes_lif_eprop_ss", "grad_first.out.W"),
                                         std::pair("ops/matmul_mm", "recur.weight")));

// Each corruption of a passing case is detected, at the right place.
struct Corruption {
  std::string name, pointer;
  json        value;
  std::string seen;
};
void PrintTo(const Corruption& c, std::ostream* out) { *out << c.name << c.pointer; }
class Corrupted : public testing::TestWithParam<Corruption> {};

TEST_P(Corrupted, FailsAndSaysWhere) {
  const Corruption& c = GetParam();
  const CaseReport  r = verified(c.name, [&](json& info) {
    json& place = info["compilations"].at(json::json_pointer(c.pointer));
    ASSERT_NE(place, c.value);
    place = c.value;
  });
  EXPECT_EQ(r.status(), Status::Failed);
  EXPECT_NE(misses(r).find(c.seen), std::string::npos) << misses(r);
}

INSTANTIATE_TEST_SUITE_P(
    Graph, Corrupted,
    testing::Values(
        Corruption{"graphs/lstm.json", "/default/hidden_groups/0/num_state", 1, "/0/num_state: expected 1, got 2"},
        Corruption{"graphs/lstm.json", "/default/hidden_groups/0/hidden_paths", {"rnn.c", "rnn.h"}, "/0/hidden_paths"},
        Corruption{"graphs/lstm.json", "/default/relations", json::array(), "default.relations"},
        Corruption{"graphs/mgu.json", "/default/relations/0/path_classification/rnn.h", "all_direct", "got \"mixed\""},
        Corruption{"graphs/lstm.json", "/default/relations/0/trainable/bias/leaf_index", 1, "/bias/leaf_index"},
        Corruption{"graphs/lstm.json", "/default/relations_sharing_x", {{0}, {1}}, "default.relations_sharing_x"},
        Corruption{"graphs/lstm.json", "/default/excluded_weights/0/reason", nullptr, "default.excluded_weights"},
        Corruption{"graphs/lstm.json", "/default/diagnostics/0/kind", "state_mismatch", "default.diagnostics"},
        Corruption{"graphs/lstm.json", "/default/module_info/n_invars", 12, "n_invars: expected 12, got 13"},
        Corruption{"graphs/lstm.json", "/default/hidden_perturb/perturb_shapes", {{4}}, "perturb_shapes"},
        Corruption{"graphs/sparse_rnn.json", "/include_recurrent_mixing=True+sparse_n=2/hidden_groups/0/snap/valid/0/1",
                   0, "snap"}));

TEST(VerifyReport, ArraysAreJudgedByTheirLargestElement) {
  const auto of = [](std::vector<double> v) { return Array::of<double>(v, {static_cast<int64_t>(v.size())}); };
  CaseReport r{"arrays", "", {}, {}};
  EXPECT_EQ(r.status(), Status::LeftOut);
  r.array("close", of({1, 1000 + 5e-7}), of({1, 1000}), {1e-9});
  r.array("zero", of({1e-13}), of({0}), {1e-9});
  EXPECT_EQ(r.status(), Status::Passed);
  for (const auto& [what, got] : {std::pair{"far", of({1 + 2e-6, 1000})},
                                  {"nan", of({std::numeric_limits<double>::quiet_NaN(), 1000})},
                                  {"shape", of({1})}}) {
    CaseReport one{"arrays", "", {}, {}};
    one.array(what, got, of({1, 1000}), {1e-9});
    EXPECT_EQ(one.status(), Status::Failed) << what;
  }
}

TEST(VerifyLoader, SaysWhatIsWrongWithAFile) {
  const fs::path folder = fs::temp_directory_path() / "braintrace_verify_test";
  fs::remove_all(folder);
  fs::create_directories(folder / "numeric");
  const auto write = [&](const fs::path& name, const std::string& text) { std::ofstream(folder / name) << text; };
  const auto error = [&](const fs::path& name) {
    return error_of([&] { golden::verify_case(golden::load_case((folder / name).string())); });
  };
  EXPECT_NE(error_of([&] { golden::find_cases(folder.string()); }).find("no case"), std::string::npos);
  EXPECT_NE(error_of([&] { golden::find_cases((folder / "gone").string()); }).find("no such file"), std::string::npos);
  write("broken.json", "{\"format\": ");
  EXPECT_NE(error("broken.json").find("not JSON"), std::string::npos);
  write("broken.json", "[]");
  EXPECT_NE(error("broken.json").find("\"format\""), std::string::npos);
  write("broken.json", R"({"format": "braintrace-golden-graph/9"})");
  EXPECT_NE(error("broken.json").find("braintrace-golden-graph/1,"), std::string::npos);
  write("broken.json", R"({"format": "braintrace-golden-graph/1"})");
  EXPECT_NE(error("broken.json").find("compilations"), std::string::npos);
  write("numeric/case.json", R"({"format": "braintrace-golden-graph/1", "arrays": {"x": "f8[2]"}})");
  EXPECT_NE(error("numeric").find("arrays.npz"), std::string::npos);
  write_npz((folder / "numeric/arrays.npz").string(), {{"x", Array::of<double>({1, 2, 3}, {3})}});
  EXPECT_NE(error("numeric").find("listed as \"f8[2]\", arrays.npz holds f8[3]"), std::string::npos);
  write_npz((folder / "numeric/arrays.npz").string(), {{"y", Array::of<double>({1, 2}, {2})}});
  EXPECT_NE(error("numeric").find("array x is listed"), std::string::npos);
  write("list.json", "[1, 2]");
  EXPECT_EQ(golden::find_cases(folder.string()).size(), 2u);
  fs::remove_all(folder);
}

}  // namespace

}  // namespace braintrace

// SPDX-License-Identifier: Apache-2.0
// Weights of files go into a model by path, or the report says why not. tests/zoo/make_weights.py made the files of the
// Python package.
#include "braintrace/zoo/weights.h"

#include <cmath>
#include <filesystem>

#include <gtest/gtest.h>

#include "braintrace/io/msgpack.h"
#include "braintrace/io/safetensors.h"
#include "braintrace/model/random_stream.h"
#include "braintrace/ops/move.h"
#include "braintrace/zoo/model.h"
#include "tests/support/error_of.h"

namespace braintrace::zoo {

namespace {

const char* gru = R"({"type": "chain", "layers": [{"name": "rnn", "type": "gru", "n_in": 3, "n_rec": 4},
                                                  {"name": "out", "type": "linear", "n_in": 4, "n_out": 2}]})";

std::string path_of(const char* name) { return std::string(BRAINTRACE_SOURCE_DIR "/tests/data/weights/") + name; }

TEST(Weights, OfThePythonPackage) {
  const auto         model  = build_model(gru);
  const WeightReport report = load_weights(*model, read_weights(path_of("gru.msgpack")));
  EXPECT_EQ(report.matched.size(), 8u);
  EXPECT_TRUE(report.complete());
  init_all_states(*model);
  const NamedArrays io = read_npz(path_of("gru.npz"));
  for (int64_t t = 0; t < 10; ++t) {
    const Array y = (*model)(squeeze(slice_axis(Tensor(io.at("x")), 0, t, t + 1), {0})).array();
    for (int64_t i = 0; i < 2; ++i) EXPECT_NEAR(at(y, i), at(io.at("y"), 2 * t + i), 1e-5) << "step " << t;
  }
}

TEST(Weights, ByEveryFormat) {
  random::seed(1);
  const auto        from   = build_model(gru);
  const NamedArrays all    = weights_of(*from);
  const std::string folder = testing::TempDir();
  write_npz(folder + "/w.npz", all);
  write_safetensors(folder + "/w.safetensors", {all, {}, false});
  for (const char* name : {"/w.npz", "/w.safetensors"}) {
    random::seed(2);
    const auto to = build_model(gru);
    EXPECT_TRUE(load_weights(*to, read_weights(folder + name)).complete());
    for (const auto& [path, array] : weights_of(*to)) EXPECT_TRUE(identical(array, all.at(path))) << path;
    std::filesystem::remove(folder + name);
  }
}

TEST(Weights, TheReportSaysWhatDidNotMatch) {
  const auto        model = build_model(gru);
  NamedArrays       given = weights_of(*model);
  const NamedArrays first = given;
  given.erase("out.weight.bias");
  given["out.weight.weight"]  = Array(Type{DType::F32, {3, 2}});
  given["extra"]              = Array(Type{DType::F32, {1}});
  given["rnn.Wz.weight.bias"] = Array::of<double>({1, 2, 3, 4}, {4});
  const std::string message   = error_of([&] { load_weights(*model, given); });
  for (const char* part : {"6 parameters matched", "missing in the file (1): out.weight.bias", "unused (1): extra",
                           "out.weight.weight: f32[3,2] in the file, f32[4,2] in the model"})
    EXPECT_NE(message.find(part), message.npos) << part << " is not in: " << message;
  for (const auto& [path, array] : weights_of(*model))
    EXPECT_TRUE(identical(array, first.at(path))) << "changed " << path;
  const WeightReport report = load_weights(*model, given, false);
  EXPECT_EQ(report.other_shape.size(), 1u);
  EXPECT_EQ(at(weights_of(*model).at("rnn.Wz.weight.bias"), 3), 4);
  given["rnn.Wz.weight.bias"] = Array::of<double>({1, NAN, 3, 4}, {4});
  EXPECT_NE(error_of([&] { load_weights(*model, given, false); }).find("not finite"), std::string::npos);
}

TEST(Weights, ADescriptionNamesItsFile) {
  random::seed(1);
  const auto        from = build_model(gru);
  const std::string file = testing::TempDir() + "/named.safetensors";
  write_safetensors(file, {weights_of(*from), {}, false});
  const std::string text = std::string(R"({"weights": ")") + file + "\", " + std::string(gru).substr(1);
  for (const auto& [path, array] : weights_of(*build_model(text)))
    EXPECT_TRUE(identical(array, weights_of(*from).at(path))) << path;
  std::filesystem::remove(file);
  EXPECT_NE(error_of([&] { build_model(text); }).find("named.safetensors"), std::string::npos);
}

// Every byte changed, and every end cut off.
TEST(Weights, DamagedMsgpackIsRefused) {
  const Buffer file    = read_file(path_of("gru.msgpack"));
  int          refused = 0;
  const auto   attempt = [&](ByteSpan bytes) {
    try {
      decode_msgpack_arrays(bytes, "damaged");
    } catch (const UserError&) {
      ++refused;
    }
  };
  for (size_t i = 0; i < file.size; ++i) {
    attempt(file.span().first(i));
    for (const int value : {0x00, 0x7F, 0x81, 0x93, 0xC7, 0xDD, 0xFF}) {
      Bytes bytes(file.span().begin(), file.span().end());
      bytes[i] = static_cast<std::byte>(value);
      attempt(bytes);
    }
  }
  EXPECT_GT(refused, 1000);
}

}  // namespace

}  // namespace braintrace::zoo

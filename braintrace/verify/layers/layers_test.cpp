// SPDX-License-Identifier: Apache-2.0
// Layers of recorded cases stand beside the catalogue that users see, not in it.
#include "braintrace/verify/layers/layers.h"

#include <set>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "braintrace/zoo/model.h"
#include "tests/support/error_of.h"

namespace braintrace::golden {
namespace {

using nlohmann::json;

TEST(RecordedLayers, AreNotInTheCatalogue) {
  std::set<std::string> names;
  for (const LayerType& t : zoo::layer_types()) names.insert(t.name);
  for (const LayerType& t : recorded_layers()) {
    EXPECT_TRUE(names.insert(t.name).second) << t.name;
    EXPECT_FALSE(t.doc.empty()) << t.name;
  }
}

TEST(RecordedLayers, AreFoundWhereAskedFor) {
  const json layer = {{"name", "a"}, {"type", "alias_states"}, {"n_in", 2}, {"n_rec", 3}};
  const json chain = {{"type", "chain"}, {"layers", {layer}}};
  EXPECT_EQ(described_model(chain)->states().size(), 3u);  // the weight and two hidden states
  EXPECT_NE(error_of([&] { zoo::build_model(chain); }).find("no layer 'alias_states'"), std::string::npos);
}

TEST(RecordedLayers, RefuseWithThePlace) {
  const json        layer   = {{"type", "leaky_op_rnn"}, {"op", {{"kind", "dens"}}}, {"h_shape", {2}}, {"leak", 0.5}};
  const std::string message = error_of([&] { described_model(layer); });
  for (const char* p : {"op.kind", "'dense'"}) EXPECT_NE(message.find(p), message.npos) << message;
}

}  // namespace
}  // namespace braintrace::golden

// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "tests/support/sample_views.h"

namespace braintrace {
namespace {

std::string message_of(const std::string& text) {
  try {
    read_graph_json(text);
  } catch (const UserError& error) {
    return error.what();
  }
  return "no error";
}
std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}
void expect_error(const std::string& text, const std::string& part) {
  const std::string message = message_of(text);
  EXPECT_NE(message.find(part), std::string::npos) << message;
}

TEST(GraphJson, WriteReadWriteGivesTheSameBytes) {
  for (const GraphView& view : {samples::single_layer_rnn(), samples::two_gru_layers(), samples::lstm(),
                                samples::conv_rnn(), samples::deep(12), GraphView{}}) {
    const std::string text = graph_json(view);
    EXPECT_EQ(graph_json(read_graph_json(text)), text) << view.model;
  }
  for (unsigned seed = 0; seed < 50; ++seed) {
    const std::string text = graph_json(samples::random_view(seed, 60));
    EXPECT_EQ(graph_json(read_graph_json(text)), text) << "seed " << seed;
  }
}

TEST(GraphJson, NamesOfAnyKindSurvive) {
  samples::ViewMaker m("a<b> & \"c\" 'd' \\ \n \t ü 模型 </script>");
  m.input("x<&>", {1});
  const std::string text = graph_json(m.view);
  EXPECT_EQ(read_graph_json(text).model, m.view.model);
  EXPECT_EQ(graph_json(read_graph_json(text)), text);
  m.view.model = "bytes \xff\xfe that are not text";
  EXPECT_EQ(read_graph_json(graph_json(m.view)).model, "bytes \xEF\xBF\xBD\xEF\xBF\xBD that are not text");
}

TEST(GraphJson, ErrorsNameThePlace) {
  const std::string good = graph_json(samples::two_gru_layers());
  EXPECT_EQ(message_of(good), "no error");
  expect_error("", "expected JSON, got an empty text");
  expect_error("{", "not JSON");
  expect_error("[]", "at $: expected an object, got []");
  expect_error("{}", "at $: the field \"schema\" is missing");
  expect_error(replaced(good, "braintrace-graph/1", "braintrace-graph/7"),
               "at $.schema: expected \"braintrace-graph/1\"");
  expect_error(replaced(good, "\"num_state\": 1", "\"num_state\": \"1\""),
               "at $.groups[0].num_state: expected a whole number, got \"1\"");
  expect_error(replaced(good, "\"num_state\": 1", "\"num_state\": 9999999999"),
               "at $.groups[0].num_state: expected a number of 32 bits");
  expect_error(replaced(good, "\"num_state\": 1", "\"num_state\": 1.5"), "expected a whole number, got 1.5");
  expect_error(replaced(good, "\"learns\": \"trace\"", "\"learns\": \"traces\""),
               "at $.weights[0].learns: expected one of trace, window, same_step, unused");
  expect_error(replaced(good, "\"dtype\": \"f32\"", "\"dtype\": \"float\""), "expected one of f32, f64");
  expect_error(replaced(good, "\"why\"", "\"wy\""), "at $.weights[0]: the field \"why\" is missing");
  expect_error(replaced(good, "\"why\"", "\"extra\": 1, \"why\""), "at $.weights[0]: unknown field \"extra\"");
  expect_error(replaced(good, "\"operation\": 0", "\"operation\": 99"),
               "at $.relations[0].operation: there is no operation 99");
  expect_error(replaced(good, "\"to\": \"op:0\"", "\"to\": \"op:77\""), "nothing with the id \"op:77\"");
  expect_error(replaced(good, "\"shape\": [\n          10", "\"shape\": [\n          true"),
               "shape[0]: expected a whole number, got true");
}

}  // namespace
}  // namespace braintrace

// SPDX-License-Identifier: Apache-2.0
#include "braintrace/viz/picture.h"

#include <gtest/gtest.h>

#include "braintrace/ir/builder.h"
#include "braintrace/ops/math.h"
#include "braintrace/viz/escape.h"
#include "braintrace/viz/program_picture.h"
#include "tests/support/sample_views.h"

namespace braintrace {
namespace {

using Ids = std::set<std::string>;

TEST(Lights, AWeightLightsItsOperationsGroupsAndStates) {
  const Picture p = picture_of(samples::lstm());
  EXPECT_EQ(p.lights.at("weight:lstm.Wf.weight"),
            (Ids{"weight:lstm.Wf.weight", "op:2", "group:0", "state:lstm.c", "state:lstm.h"}));
  // The output gate touches h only.
  EXPECT_EQ(p.lights.at("weight:lstm.Wo.weight"), (Ids{"weight:lstm.Wo.weight", "op:3", "group:0", "state:lstm.h"}));
  EXPECT_EQ(p.lights.at("weight:readout.weight"), (Ids{"weight:readout.weight", "op:4", "output:0"}));
}

TEST(Lights, AWindowedWeightLightsTheOperationsItPasses) {
  const Picture p = picture_of(samples::two_gru_layers());
  EXPECT_EQ(p.lights.at("weight:rnn2.Wr.weight"),
            (Ids{"weight:rnn2.Wr.weight", "op:4", "op:5", "group:1", "state:rnn2.h"}));
}

TEST(Lights, TheReverseHolds) {
  for (const GraphView& view : {samples::lstm(), samples::two_gru_layers(), samples::conv_rnn(), samples::deep(5)}) {
    const Picture p = picture_of(view);
    for (const auto& [id, lit] : p.lights) {
      EXPECT_TRUE(lit.count(id)) << id;
      if (!id.starts_with("weight:")) continue;
      for (const std::string& other : lit)
        if (other.starts_with("group:") || other.starts_with("state:")) {
          EXPECT_TRUE(p.lights.at(other).count(id)) << id << " and " << other;
        }
    }
  }
  EXPECT_FALSE(picture_of(samples::lstm()).lights.at("state:lstm.c").count("weight:lstm.Wo.weight"));
}

TEST(Escape, TextOfAnyKind) {
  EXPECT_EQ(xml_text("a<b & \"c\" 'd'>"), "a&lt;b &amp; &quot;c&quot; &#39;d&#39;&gt;");
  EXPECT_EQ(xml_text(std::string_view("\x01\x00z", 3)), "\xEF\xBF\xBD\xEF\xBF\xBDz");
  EXPECT_EQ(utf8("\xc0\xaf\xed\xa0\x80ü"), "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBDü");
  EXPECT_EQ(dot_string("a\"b\\c\nd"), "\"a\\\"b\\\\c\\nd\"");
  EXPECT_EQ(script_json("\"</script>\""), "\"\\u003c/script>\"");
}

TEST(Pictures, HostileNamesCannotLeaveTheirPlace) {
  samples::ViewMaker m("<img src=x onerror=alert(1)>\"'&");
  const std::string  evil = "</script><script>alert(1)</script>\"'&<g>";
  samples::rnn_layer(m, evil, m.input(evil, {3}), 3, 4);
  const std::string svg = graph_svg(m.view), html = graph_html(m.view), dot = graph_dot(m.view);
  for (const std::string& text : {svg, html}) {
    EXPECT_EQ(text.find("<img"), std::string::npos);
    EXPECT_EQ(text.find("<script>alert"), std::string::npos);
    EXPECT_EQ(text.find("</script><"), std::string::npos);
  }
  EXPECT_NE(svg.find("&lt;img src=x onerror=alert(1)&gt;&quot;&#39;&amp;"), std::string::npos);
  EXPECT_NE(dot.find("\\\"'&<g>"), std::string::npos);
}

TEST(Pictures, HtmlFetchesNothing) {
  const std::string html = graph_html(samples::two_gru_layers());
  for (const char* part : {"http://", "https://", "src=", "@import", "url("}) {
    size_t at = html.find(part);
    while (at != std::string::npos && html.compare(at, 26, "http://www.w3.org/2000/svg") == 0)
      at = html.find(part, at + 1);
    EXPECT_EQ(at, std::string::npos) << part;
  }
}

TEST(Pictures, AreDeterministic) {
  EXPECT_EQ(graph_html(samples::deep(7)), graph_html(samples::deep(7)));
  EXPECT_NE(graph_html(samples::deep(7)), graph_html(samples::deep(8)));
}

TEST(Pictures, SvgShowsEveryThing) {
  const GraphView   view = samples::two_gru_layers();
  const std::string svg = graph_svg(view), dot = graph_dot(view);
  for (const auto& [id, lit] : picture_of(view).lights)
    EXPECT_NE(svg.find("data-id=\"" + id + "\""), std::string::npos) << id;
  for (const PictureNode& n : picture_of(view).nodes)
    EXPECT_NE(dot.find("\"" + n.id + "\" ["), std::string::npos) << n.id;
  EXPECT_NE(svg.find("class=\"edge window\""), std::string::npos);
  EXPECT_NE(svg.find("class=\"edge recurrent\""), std::string::npos);
  EXPECT_EQ(graph_svg(samples::lstm()).find("class=\"edge window\""), std::string::npos);
}

TEST(ProgramPicture, HasABoxPerEquationAndUsedInput) {
  const Traced      t   = trace({{DType::F32, {3}}, {DType::F32, {3}}, {DType::F32, {5}}},
                                [](const Tensors& x) -> Tensors { return {tanh(x[0]) * x[1]}; });
  const std::string dot = program_dot(t.program, {{{t.program.args[0], "rnn.\"h\""}}, {}});
  EXPECT_NE(dot.find("rnn.\\\"h\\\""), std::string::npos);
  EXPECT_NE(dot.find("tanh"), std::string::npos);
  EXPECT_EQ(dot.find("f32[5]"), std::string::npos);  // never read
  const std::string svg   = program_svg(t.program);
  size_t            boxes = 0;
  for (size_t at = svg.find("<g class=\"p "); at != std::string::npos; at = svg.find("<g class=\"p ", at + 1)) ++boxes;
  EXPECT_EQ(boxes, t.program.eqns.size() + 3);  // two inputs, one result
}

}  // namespace
}  // namespace braintrace

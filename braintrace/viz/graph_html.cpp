// SPDX-License-Identifier: Apache-2.0
// The interactive page: drawing, data, style and behavior in one file. Nothing is fetched from anywhere.
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "braintrace/viz/escape.h"
#include "braintrace/viz/page.h"
#include "braintrace/viz/svg.h"

namespace braintrace {

namespace {

std::string lights_json(const Picture& picture) {
  nlohmann::ordered_json json = nlohmann::ordered_json::object();
  for (const auto& [id, lit] : picture.lights) json[utf8(id)] = lit;
  return json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

constexpr std::string_view tools = R"html(<div class="tools" role="toolbar" aria-label="view">
<input id="find" type="search" list="names" placeholder="Find…" aria-label="find a weight, operation, group or state">
<datalist id="names"></datalist>
<button id="out" type="button" aria-label="zoom out">−</button><button id="in" type="button" aria-label="zoom in">+</button>
<button id="fit" type="button" aria-label="fit the picture">Fit</button>
<button id="theme" type="button" aria-label="switch between light and dark">◐</button></div>)html";

}  // namespace

std::string graph_html(const GraphView& view) {
  const Picture picture = picture_of(view);
  std::string   out     = "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n";
  out +=
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<link rel=\"icon\" href=\"data:,\">\n";
  out += fmt::format("<title>{} · braintrace</title>\n<style>", xml_text(picture.title));
  out += picture_css();
  out += page_css();
  out += fmt::format("</style>\n</head>\n<body class=\"picture\">\n<header><h1>{}</h1><p>{}</p>\n{}</header>\n",
                     xml_text(picture.title), xml_text(picture.subtitle), tools);
  out += "<main id=\"stage\" aria-label=\"picture of the graph\">\n" + svg_picture(picture, true) + "</main>\n";
  out += "<aside id=\"panel\" aria-live=\"polite\" aria-label=\"details\"></aside>\n";
  out += "<script type=\"application/json\" id=\"data\">{\"graph\":" + script_json(graph_json(view)) +
         ",\"lights\":" + script_json(lights_json(picture)) + "}</script>\n<script>";
  out += page_script();
  return out + "</script>\n</body>\n</html>\n";
}

}  // namespace braintrace

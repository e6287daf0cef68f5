// SPDX-License-Identifier: Apache-2.0
#include "braintrace/train/report_parts.h"

#include <fmt/format.h>

#include "braintrace/base/version.h"
#include "braintrace/train/report_page.h"
#include "braintrace/viz/chart.h"
#include "braintrace/viz/escape.h"
#include "braintrace/viz/svg.h"

namespace braintrace::train {

std::string report_page(const std::string& title, const std::string& kind, const std::vector<std::string>& lines,
                        const std::string& content) {
  std::string out = "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n";
  out +=
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<link rel=\"icon\" href=\"data:,\">\n";
  out += fmt::format("<title>{} · {}</title>\n<style>", xml_text(title), kind);
  out += picture_css();
  out += chart_css();
  out += report_css();
  out += fmt::format("</style>\n</head>\n<body class=\"picture\">\n<header><h1>{}</h1>", xml_text(title));
  out += "<button id=\"theme\" type=\"button\" aria-label=\"switch between light and dark\">◐</button>";
  for (const std::string& line : lines)
    if (!line.empty()) out += fmt::format("<p>{}</p>", xml_text(line));
  out += "</header>\n<main>\n" + content;
  out += fmt::format(
      "</main>\n<footer>{} of braintrace {} · one file, nothing is loaded from elsewhere</footer>\n<script>", kind,
      version);
  out += chart_script();
  out += report_script();
  return out + "</script>\n</body>\n</html>\n";
}

std::string tile(const std::string& name, const std::string& value, const char* css) {
  return fmt::format("<div class=\"{}\"><dt>{}</dt><dd>{}</dd></div>", css, name, xml_text(value));
}

std::string section(const std::string& title, const std::string& text, const std::string& content) {
  if (content.empty()) return "";
  return fmt::format("<section><h2>{}</h2><p>{}</p>\n{}</section>\n", title, text, content);
}

std::string charts(const std::string& content, const char* arrangement) {
  return content.empty() ? "" : fmt::format("<div class=\"{}\">\n{}</div>", arrangement, content);
}

std::string text_block(const std::string& title, const std::string& text, bool open) {
  if (text.empty()) return "";
  return fmt::format("<details{}><summary>{}</summary><pre>{}</pre></details>\n", open ? " open" : "", title,
                     xml_text(text));
}

}  // namespace braintrace::train

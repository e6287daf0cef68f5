// SPDX-License-Identifier: Apache-2.0
// Building blocks of pages about runs: a frame in light and dark, figures, sections with charts.
#pragma once

#include <string>
#include <vector>

namespace braintrace::train {

// A whole page in one file. `lines` are shown below the title; empty ones are skipped. `kind` is the kind of page, such
// as "training report". `content` is HTML; the others are plain text.
std::string report_page(const std::string& title, const std::string& kind, const std::vector<std::string>& lines,
                        const std::string& content);

std::string tile(const std::string& name, const std::string& value, const char* css = "");
// Empty if there is no content. `text` may contain HTML.
std::string section(const std::string& title, const std::string& text, const std::string& content);
std::string charts(const std::string& content, const char* arrangement = "charts");
std::string text_block(const std::string& title, const std::string& text, bool open);

}  // namespace braintrace::train

// SPDX-License-Identifier: Apache-2.0
// The fixed parts of the interactive page: page.css and page.js.
#pragma once

#include <string_view>

namespace braintrace {

std::string_view page_css();
std::string_view page_script();

}  // namespace braintrace

// SPDX-License-Identifier: Apache-2.0
// The fixed parts of the report: report.css and report.js.
#pragma once

#include <string_view>

namespace braintrace {

std::string_view report_css();
std::string_view report_script();

}  // namespace braintrace

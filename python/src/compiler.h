// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "braintrace/compiler/diagnostics.h"
#include "convert.h"

namespace pybraintrace {

nb::object records_of(const bt::Diagnostics& records);  // a tuple of CompilationRecord
// Of show_graph: prints the text where `verbose` is set, and gives it where `return_msg` is set.
nb::object           shown(const std::string& text, bool verbose, bool return_msg);
constexpr const char shown_sig[] = "def show_graph(self, verbose: bool = True, return_msg: bool = False) -> str | None";
constexpr const char* shown_doc  = "Print a summary of groups and weights; return the text if `return_msg` is set.";

}  // namespace pybraintrace

// SPDX-License-Identifier: Apache-2.0
// C functions that kernels call. Most are C files of their own beside this one, which the build embeds. In the text of
// a kernel their names are placeholders, like those of buffers: @bt_exp (context.h).
#pragma once

#include <set>
#include <string>
#include <string_view>

#include "braintrace/codegen/c/c_text.h"

namespace braintrace::codegen {

// The functions that the kernels of a file call.
class Library {
 public:
  // The text of a kernel, with names in place of its placeholders. Without `buffers`, these keep their own names.
  std::string linked(std::string_view kernel, const Words& buffers = {});
  // The functions called by the kernels linked so far, directly or through each other; `storage` replaces `static`.
  std::string text(std::string_view storage = "static") const;

 private:
  std::set<size_t> called_;
};

// An embedded C file without what only its readers and those who compile it alone need: lines of `//` and its includes
// of our files.
std::string emitted_text(std::string_view file);

}  // namespace braintrace::codegen

// SPDX-License-Identifier: Apache-2.0
// Linked into every test: $BRAINTRACE_TEST_LOCALE chooses the language for the C library and the C++ library.
#include <clocale>
#include <cstdio>
#include <cstdlib>
#include <locale>

namespace {

const bool chosen = [] {
  const char* name = std::getenv("BRAINTRACE_TEST_LOCALE");
  if (!name) return true;
  std::locale::global(std::locale(name));  // throws when there is none
  char text[16];
  std::snprintf(text, sizeof text, "%.1f", 0.5);
  if (text[1] == '.') std::abort();  // the test would show nothing
  return true;
}();

}  // namespace

// SPDX-License-Identifier: Apache-2.0
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "bindings.h"
#include "gil.h"

int braintrace_main(int argc, char** argv);  // of cli/main.cpp

namespace pybraintrace {

namespace nb = nanobind;
using namespace nb::literals;

void bind_command(nb::module_& m) {
  m.def(
      "command",
      [](std::vector<std::string> arguments) {
        std::vector<char*> argv;
        for (std::string& a : arguments) argv.push_back(a.data());
        argv.push_back(nullptr);
        WithoutGil release;
        return braintrace_main(static_cast<int>(arguments.size()), argv.data());
      },
      "arguments"_a, "Run the command line and return its exit status.");
}

}  // namespace pybraintrace

// SPDX-License-Identifier: Apache-2.0
#include "cli/backend_choice.h"

#include <cstdlib>

#include "braintrace/backends/settings.h"
#include "braintrace/base/error.h"
#include "braintrace/runtime/backend.h"

namespace braintrace::cli {

void BackendChoice::add_options(CLI::App& command) {
  command
      .add_option("--backend", backend,
                  "Backend: cpu, reference, cuda (a GPU), cuda:1 (the second GPU), auto (a GPU if there is one)")
      ->type_name("NAME");
  command.add_option("--precision", precision, "Precision of f32 matrix products on a GPU")->type_name("f32|tf32|bf16");
}

void BackendChoice::apply() const {
  if (!backend.empty()) {
    find_backend(backend);
    setenv("BRAINTRACE_BACKEND", backend.c_str(), 1);
  }
  if (!precision.empty()) {
    require(precision == "f32" || precision == "tf32" || precision == "bf16",
            "--precision {}: expected f32, tf32 or bf16.", precision);
    setenv("BRAINTRACE_PRECISION", precision.c_str(), 1);
  }
}

}  // namespace braintrace::cli

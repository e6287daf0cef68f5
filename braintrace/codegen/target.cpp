// SPDX-License-Identifier: Apache-2.0
#include "braintrace/codegen/target.h"

namespace braintrace::codegen {

const Target& native_target() {
  static constexpr Target target{.name = "native"};
  return target;
}

const Target& portable_target() {
  static constexpr Target target{.name = "portable", .has_host = false, .threads = false, .alignment = 8};
  return target;
}

}  // namespace braintrace::codegen

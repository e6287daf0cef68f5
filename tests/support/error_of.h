// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "braintrace/base/error.h"

namespace braintrace {

// The message of the UserError that f throws, or empty.
template <class F>
std::string error_of(F f) {
  try {
    f();
  } catch (const UserError& e) {
    return e.what();
  }
  return "";
}

}  // namespace braintrace

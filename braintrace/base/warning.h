// SPDX-License-Identifier: Apache-2.0
// Warnings: what the user should know though the call goes on. They go to stderr, each topic once in the life of the
// process, or to a hook, which hears all of them.
//
//   const auto before = bt::set_warning_hook([&](const std::string& text) { log(text); });
#pragma once

#include <functional>
#include <string>

namespace braintrace {

using WarningHook = std::function<void(const std::string& text)>;

void warn(const std::string& text, const std::string& topic = {});  // its own topic unless one is given
// Every warning of the process goes to `hook` from now on; null means stderr. Returns the hook before.
WarningHook set_warning_hook(WarningHook hook);

}  // namespace braintrace

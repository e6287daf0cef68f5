// SPDX-License-Identifier: Apache-2.0
// Warnings: what the user should know though the call goes on. They go to stderr, each once in the life of the process,
// or to a hook, which hears all of them.
//
//   const auto before = bt::set_warning_hook([&](const std::string& text) { log(text); });
#pragma once

#include <functional>
#include <string>

namespace braintrace {

// Of warnings with one topic stderr shows the first; those about a model have none.
using WarningHook = std::function<void(const std::string& text, const std::string& topic)>;

void warn(const std::string& text, const std::string& topic = {});

// Every warning of the process goes to `hook` from now on, in the thread that warns; null means stderr. Returns the
// hook before.
WarningHook set_warning_hook(WarningHook hook);
template <class Hook>
requires(std::is_invocable_v<Hook&, const std::string&>) WarningHook set_warning_hook(Hook hook) {
  return set_warning_hook(WarningHook([hook](const std::string& text, const std::string&) mutable { hook(text); }));
}

}  // namespace braintrace

// SPDX-License-Identifier: Apache-2.0
// Warnings: messages to the user that do not stop a call. Each warning goes to stderr once per process, or every time
// to a hook.
//
//   const auto before = bt::set_warning_hook([&](const std::string& text) { log(text); });
#pragma once

#include <functional>
#include <string>

namespace braintrace {

// Of the warnings with the same topic, stderr shows only the first. Warnings about a model have no topic.
using WarningHook = std::function<void(const std::string& text, const std::string& topic)>;

void warn(const std::string& text, const std::string& topic = {});

// Sends every later warning of the process to `hook`, in the thread that warns; null means stderr. Returns the previous
// hook.
WarningHook set_warning_hook(WarningHook hook);
template <class Hook>
requires(std::is_invocable_v<Hook&, const std::string&>) WarningHook set_warning_hook(Hook hook) {
  return set_warning_hook(WarningHook([hook](const std::string& text, const std::string&) mutable { hook(text); }));
}

}  // namespace braintrace

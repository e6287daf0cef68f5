// SPDX-License-Identifier: Apache-2.0
#include "braintrace/base/warning.h"

#include <cstdio>
#include <mutex>
#include <utility>

namespace braintrace {

namespace {

std::mutex  mutex;
WarningHook current;

}  // namespace

void warn(const std::string& text) {
  WarningHook hook;
  {
    std::lock_guard lock(mutex);
    hook = current;
  }
  if (hook)
    hook(text);
  else
    std::fputs(("warning: " + text + "\n").c_str(), stderr);
}

WarningHook set_warning_hook(WarningHook hook) {
  std::lock_guard lock(mutex);
  return std::exchange(current, std::move(hook));
}

}  // namespace braintrace

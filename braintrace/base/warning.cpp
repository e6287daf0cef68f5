// SPDX-License-Identifier: Apache-2.0
#include "braintrace/base/warning.h"

#include <cstdio>
#include <mutex>
#include <set>
#include <utility>

#include "braintrace/base/process_mutex.h"

namespace braintrace {

namespace {

ProcessMutex          mutex;
WarningHook           current;
std::set<std::string> told;  // topics or texts, on stderr

}  // namespace

void warn(const std::string& text, const std::string& topic) {
  WarningHook hook;
  bool        is_new = false;
  {
    std::lock_guard lock(mutex);
    hook   = current;
    is_new = !hook && told.insert(topic.empty() ? text : topic).second;
  }
  if (hook)
    hook(text, topic);
  else if (is_new)
    std::fputs(("warning: " + text + "\n").c_str(), stderr);
}

WarningHook set_warning_hook(WarningHook hook) {
  std::lock_guard lock(mutex);
  return std::exchange(current, std::move(hook));
}

}  // namespace braintrace

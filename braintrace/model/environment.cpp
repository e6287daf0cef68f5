// SPDX-License-Identifier: Apache-2.0
#include "braintrace/model/environment.h"

#include <cmath>
#include <cstring>
#include <mutex>

#include "braintrace/base/default_float.h"
#include "braintrace/base/error.h"
#include "braintrace/base/process_mutex.h"

namespace braintrace {

namespace {

using Settings = Environment::Settings;

ProcessMutex          process_mutex;
Settings              process_settings;
thread_local Settings thread_settings;

void check(const Settings& s) {
  require(!s.dt || (std::isfinite(*s.dt) && *s.dt > 0), "environment: dt must be positive and finite, got {}.",
          s.dt.value_or(0));
  require(!s.precision || is_float(*s.precision), "environment: precision must be a float type, got {}.",
          name_of(s.precision.value_or(DType::F32)));
}

Settings over(Settings base, const Settings& top) {
  if (top.dt) base.dt = top.dt;
  if (top.precision) base.precision = top.precision;
  if (top.training) base.training = top.training;
  return base;
}

Settings present() {
  std::lock_guard lock(process_mutex);
  return over(process_settings, thread_settings);
}

}  // namespace

double Environment::dt() {
  const Settings s = present();
  require(s.dt.has_value(),
          "environment: dt is read but was never set.\n"
          "  Set the time step, such as dt = 0.1 (ms), for the process or for a scope around the call.");
  return *s.dt;
}
DType Environment::precision() { return default_float(); }
bool  Environment::training() { return present().training.value_or(true); }

std::string Environment::signature() {
  const Settings s = present();
  std::string    out(sizeof(double), '\0');
  if (s.dt) std::memcpy(out.data(), &*s.dt, sizeof(double));  // positive: zero means that it was not set
  out += static_cast<char>(precision());
  out += s.training.value_or(true) ? '1' : '0';
  return out;
}

void Environment::set(const Settings& settings) {
  check(settings);
  std::lock_guard lock(process_mutex);
  process_settings = over(process_settings, settings);
  set_default_float(process_settings.precision.value_or(DType::F32));
}

Environment::Scope::Scope(const Settings& settings) : previous_(thread_settings) {
  check(settings);
  thread_settings = over(thread_settings, settings);
  set_thread_default_float(thread_settings.precision);
}
Environment::Scope::~Scope() {
  thread_settings = previous_;
  set_thread_default_float(thread_settings.precision);
}

}  // namespace braintrace

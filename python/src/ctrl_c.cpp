// SPDX-License-Identifier: Apache-2.0
#include "ctrl_c.h"

#include <csignal>

#include "braintrace/base/long_run.h"

namespace pybraintrace {

namespace nb = nanobind;
namespace bt = braintrace;

namespace {

using Handler = void (*)(int);

thread_local bool heeds = false;

bt::StopFlag asked   = 0;
Handler      pythons = nullptr;  // Python's handler of the signal, which ours calls

void on_ctrl_c(int signal) {
  asked = 1;
  pythons(signal);
}

// Puts our handler before Python's, which every `signal.signal` of the user puts back. A handler of other code stays:
// it may call ours.
void listen() {
  struct sigaction now;
  if (sigaction(SIGINT, nullptr, &now) != 0 || (now.sa_flags & SA_SIGINFO)) return;
  if (now.sa_handler == on_ctrl_c || now.sa_handler == SIG_DFL || now.sa_handler == SIG_IGN) return;
  if (!pythons) pythons = now.sa_handler;
  if (now.sa_handler != pythons) return;
  now.sa_handler = on_ctrl_c;
  sigaction(SIGINT, &now, nullptr);
}

bool is_main_thread() {
  static const nb::handle threading = nb::module_::import_("threading").release();
  thread_local const bool is_main =
      nb::object(threading.attr("get_ident")()).equal(nb::object(threading.attr("main_thread")().attr("ident")));
  return is_main;
}

// A handler of the user's own may want the program to go on.
bool python_raises() {
  static const nb::handle signal = nb::module_::import_("_signal").release();  // without the wrappers of `signal`
  static const nb::handle get    = nb::object(signal.attr("getsignal")).release();
  static const nb::handle number = nb::object(signal.attr("SIGINT")).release();
  static const nb::handle raises = nb::object(signal.attr("default_int_handler")).release();
  return get(number).is(raises);
}

}  // namespace

void begin_to_listen() {
  bt::set_stop_source([]() -> const bt::StopFlag* { return heeds ? &asked : nullptr; });
}

// Signals until here are Python's to raise; those that come later, also while the program is compiled, stop it.
HeedsCtrlC::HeedsCtrlC() : before_(heeds) {
  const bool can_be_stopped = is_main_thread() && python_raises();
  if (can_be_stopped) {
    listen();
    asked = 0;
    if (PyErr_CheckSignals() != 0) nb::raise_python_error();
  }
  heeds = can_be_stopped;
}
HeedsCtrlC::~HeedsCtrlC() { heeds = before_; }

}  // namespace pybraintrace

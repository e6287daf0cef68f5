// SPDX-License-Identifier: Apache-2.0
#include "ctrl_c.h"

#include <csignal>
#include <utility>

#include "braintrace/base/long_run.h"

namespace pybraintrace {

namespace nb = nanobind;
namespace bt = braintrace;

namespace {

thread_local bool heeds = false;

bt::StopFlag     asked = 0;
struct sigaction before;

void on_ctrl_c(int signal) {
  asked = 1;
  before.sa_handler(signal);
}

const bt::StopFlag* begin() {
  if (!heeds || sigaction(SIGINT, nullptr, &before) != 0) return nullptr;
  if ((before.sa_flags & SA_SIGINFO) || before.sa_handler == SIG_DFL || before.sa_handler == SIG_IGN) return nullptr;
  asked                 = 0;
  struct sigaction ours = before;
  ours.sa_handler       = on_ctrl_c;
  return sigaction(SIGINT, &ours, nullptr) == 0 ? &asked : nullptr;
}

void end() { sigaction(SIGINT, &before, nullptr); }

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
  static constexpr bt::StopSource source{begin, end};
  bt::set_stop_source(&source);
}

HeedsCtrlC::HeedsCtrlC() : before_(std::exchange(heeds, is_main_thread() && python_raises())) {}
HeedsCtrlC::~HeedsCtrlC() { heeds = before_; }

}  // namespace pybraintrace

// SPDX-License-Identifier: Apache-2.0
// The arrays of a numeric case, compared one by one.
#pragma once

#include <set>

#include "braintrace/verify/case.h"
#include "braintrace/verify/report.h"

namespace braintrace::golden {

// Compares by name what a case holds, leaves out what it says is superseded, and knows what was never looked at.
class Comparer {
 public:
  Comparer(const Case& c, CaseReport& report);

  void compare(const std::string& name, const Array& got, double relative = 1e-9);
  void leave_out(const std::string& name, const std::string& reason);
  void input(const std::string& name) { seen_.insert(name); }  // given to the run, no result of it
  void finish();                                               // leaves out, as not understood, what is left

 private:
  bool wants(const std::string& name);

  const Case&           case_;
  CaseReport&           report_;
  bool                  is_float32_;
  std::set<std::string> seen_;
};

}  // namespace braintrace::golden

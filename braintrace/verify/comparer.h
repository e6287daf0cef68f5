// SPDX-License-Identifier: Apache-2.0
// The arrays of a numeric case, compared one by one.
#pragma once

#include <set>

#include "braintrace/verify/case.h"
#include "braintrace/verify/report.h"

namespace braintrace::golden {

// Compares the arrays of a case by name, skips those that the case marks as superseded, and tracks those that were
// never compared.
class Comparer {
 public:
  Comparer(const Case& c, CaseReport& report);

  void compare(const std::string& name, const Array& got, double relative = 1e-9);
  void leave_out(const std::string& name, const std::string& reason);
  void input(const std::string& name) { seen_.insert(name); }  // an input of the run, not a result
  void finish();                                               // reports the remaining arrays as not understood

 private:
  bool wants(const std::string& name);

  const Case&           case_;
  CaseReport&           report_;
  bool                  is_float32_;
  std::set<std::string> seen_;
};

}  // namespace braintrace::golden

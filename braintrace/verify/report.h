// SPDX-License-Identifier: Apache-2.0
// The comparisons of a case, and what was skipped and why.
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "braintrace/base/array.h"

namespace braintrace::golden {

// max |got − want| ≤ relative · max |want| + absolute
struct Tolerance {
  double relative, absolute = 1e-12;
};

// A number array or a fact (any JSON value).
struct Comparison {
  std::string what;
  bool        is_array   = false;
  double      error      = 0;   // of arrays, relative to the largest element
  double      tolerance  = 0;   // of arrays
  std::string difference = {};  // of facts and of shapes, readable; empty if equal

  bool equal() const { return difference.empty() && error <= tolerance; }
};

struct LeftOut {
  std::string what, reason;
};

struct CaseReport {
  std::string             name, file;
  std::vector<Comparison> compared;
  std::vector<LeftOut>    left_out;

  enum class Status : uint8_t { Passed, Failed, LeftOut };  // LeftOut: nothing could be compared
  Status status() const;

  void fact(const std::string& what, const nlohmann::json& got, const nlohmann::json& want);
  void array(const std::string& what, const Array& got, const Array& want, Tolerance tolerance);
  void leave_out(const std::string& what, const std::string& reason) { left_out.push_back({what, reason}); }
};
std::string_view name_of(CaseReport::Status status);  // passed, FAILED, left out

// The differences of two JSON values, one per line; empty if they are equal.
std::string difference(const nlohmann::json& got, const nlohmann::json& want);

}  // namespace braintrace::golden

// SPDX-License-Identifier: Apache-2.0
#include "braintrace/verify/report.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace braintrace::golden {

namespace {

using nlohmann::json;

std::string shown(const json& j) {
  const std::string text = j.dump(-1, ' ', false, json::error_handler_t::replace);
  return text.size() <= 160 ? text : text.substr(0, 157) + "…";
}

void add_differences(const json& got, const json& want, const std::string& place, std::vector<std::string>& out) {
  if (got == want) return;
  const std::string where = place.empty() ? "" : place + ": ";
  if (got.is_object() && want.is_object()) {
    for (const auto& [key, value] : want.items()) {
      if (got.contains(key))
        add_differences(got.at(key), value, place + "/" + key, out);
      else
        out.push_back(fmt::format("{}/{}: expected {}, got nothing", place, key, shown(value)));
    }
    for (const auto& [key, value] : got.items())
      if (!want.contains(key)) out.push_back(fmt::format("{}/{}: expected nothing, got {}", place, key, shown(value)));
    return;
  }
  const auto records = [](const json& list) {
    return list.is_array() && std::all_of(list.begin(), list.end(), [](const json& j) { return j.is_object(); });
  };
  if (records(got) && records(want) && got.size() == want.size()) {
    for (size_t i = 0; i < want.size(); ++i) add_differences(got[i], want[i], fmt::format("{}/{}", place, i), out);
    return;
  }
  if (records(got) && records(want)) {
    const auto lacks = [](const json& list, const json& j) {
      return std::find(list.begin(), list.end(), j) == list.end();
    };
    out.push_back(fmt::format("{}expected {} records, got {}", where, want.size(), got.size()));
    for (const json& j : want)
      if (lacks(got, j)) out.push_back("  missing " + shown(j));
    for (const json& j : got)
      if (lacks(want, j)) out.push_back("  surplus " + shown(j));
    return;
  }
  out.push_back(fmt::format("{}expected {}, got {}", where, shown(want), shown(got)));
}

}  // namespace

std::string difference(const json& got, const json& want) {
  std::vector<std::string> lines;
  add_differences(got, want, "", lines);
  return fmt::format("{}", fmt::join(lines, "\n"));
}

void CaseReport::fact(const std::string& what, const json& got, const json& want) {
  compared.push_back({.what = what, .difference = difference(got, want)});
}

void CaseReport::array(const std::string& what, const Array& got, const Array& want, Tolerance tolerance) {
  Comparison c{.what = what, .is_array = true, .tolerance = tolerance.relative};
  if (got.shape() != want.shape()) {
    c.error      = std::numeric_limits<double>::infinity();
    c.difference = fmt::format("expected shape {}, got {}", to_string(want.shape()), to_string(got.shape()));
  } else {
    double worst = 0, largest = 0;
    for (int64_t i = 0; i < want.size(); ++i) {
      const double d = std::abs(at(got, i) - at(want, i));
      worst          = std::isnan(d) ? std::numeric_limits<double>::infinity() : std::max(worst, d);
      largest        = std::max(largest, std::abs(at(want, i)));
      if (std::isinf(worst)) break;
    }
    if (worst > 0) c.error = worst / (largest + tolerance.absolute / tolerance.relative);
  }
  compared.push_back(std::move(c));
}

CaseReport::Status CaseReport::status() const {
  if (compared.empty()) return Status::LeftOut;
  return std::all_of(compared.begin(), compared.end(), [](const Comparison& c) { return c.equal(); }) ? Status::Passed
                                                                                                      : Status::Failed;
}

std::string_view name_of(CaseReport::Status status) {
  constexpr std::string_view names[] = {"passed", "FAILED", "left out"};
  return names[static_cast<size_t>(status)];
}

}  // namespace braintrace::golden

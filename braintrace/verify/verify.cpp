// SPDX-License-Identifier: Apache-2.0
#include "braintrace/verify/verify.h"

#include <map>
#include <stdexcept>

#include <fmt/format.h>

namespace braintrace::golden {

namespace {

using Verifier = void (*)(const Case&, CaseReport&);

const std::map<std::string, Verifier> verifiers = {
    {"braintrace-golden-graph/1", verify_graph_case},
    {"braintrace-golden-numeric/1", verify_numeric_case},
    {"braintrace-golden-op/1", verify_op_case},
    {"braintrace-golden-driver/1", verify_driver_case},
    {"braintrace-golden-training/1", verify_training_case},
};

}  // namespace

CaseReport verify_case(const Case& c) {
  const auto it = verifiers.find(c.format);
  if (it == verifiers.end()) {
    std::string known;
    for (const auto& entry : verifiers) known += (known.empty() ? "" : ", ") + entry.first;
    fail("{}: the format {} is not known here; known: {}.", c.file, c.format, known);
  }
  CaseReport report{c.name, c.file, {}, {}};
  try {
    it->second(c, report);
  } catch (const json::exception& error) {
    fail("{}: the case does not follow its format: {}.", c.file, error.what());
  } catch (const std::out_of_range& error) {  // an array or field that a case of its format has
    fail("{}: the case does not follow its format: a required field is missing ({}).", c.file, error.what());
  } catch (const UserError& error) {
    fail("{}: {}", c.file, error.what());
  }
  return report;
}

}  // namespace braintrace::golden

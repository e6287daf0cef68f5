// SPDX-License-Identifier: Apache-2.0
// Recorded cases: a JSON file that describes a model and the recorded results, and for numeric cases `arrays.npz` next
// to it.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "braintrace/io/npy.h"
#include "braintrace/model/module.h"

namespace braintrace::golden {

using nlohmann::json;

struct Case {
  std::string name, file, format;
  json        info;
  NamedArrays arrays;

  const Array& array(const std::string& name) const;  // throws UserError if there is none
};

// The case in a file, or in a folder with case.json. Throws UserError for an incomplete case.
Case load_case(const std::string& path);

// Files of the cases at a path: the file itself, or every case in and below a folder, sorted.
std::vector<std::string> find_cases(const std::string& path);

// The described model; its states have their initial values, for the batch of the case.
std::shared_ptr<Module> build_model(const Case& c);
// The same with the recorded parameters only.
std::shared_ptr<Module> load_parameters(const Case& c);
// The model of one sample, with the recorded parameters.
std::shared_ptr<Module> load_lane_model(const Case& c);
// Sets the hidden states to their recorded values.
void load_hidden(const Case& c, const Module& model);
// The same with the recorded parameters and hidden states (arrays param.*, h0.*).
std::shared_ptr<Module> load_model(const Case& c);

// The state and leaf of a dotted array name: "rnn.W.weight.bias" is leaf bias of rnn.W.weight.
std::pair<State, std::string> find_leaf(const Module& model, const std::string& name);
// The part of an array [T,…] that belongs to step t.
Tensor at_step(const Array& all, int64_t t);
Array  stacked(const std::vector<Array>& rows);

}  // namespace braintrace::golden

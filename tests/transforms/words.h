// SPDX-License-Identifier: Apache-2.0
// Words over transforms: "RF" is forward mode of reverse mode. A word turns a program and operands for it into the
// transformed program and operands for that, deterministically, so that two programs can be compared under it.
#pragma once

#include <string>
#include <vector>

#include "braintrace/control/nested.h"

namespace braintrace::testing_support {

struct Instance {
  Program program;
  Tensors in;
};

// The program of f at operands like `in`; captured arrays are part of it.
Instance run_of(const Function& f, const Tensors& in);

// F: jvp   R: vjp   M: vmap over 3 perturbed samples   S: simplify   I: inline   P: parse(print)
// The result is verified after every letter.
Instance transformed(Instance run, const std::string& word, uint64_t seed = 1);

Tensors results(const Instance& run);

// Largest difference over all results, relative to the largest element; infinite when types differ.
double difference(const Tensors& a, const Tensors& b);

// The same, between two functions under a word.
double difference(const Function& f, const Function& g, const Tensors& in, const std::string& word);

// Words without and with reverse mode.
const std::vector<std::string>& forward_words();
const std::vector<std::string>& all_words();

// Random normal f64 tensors.
Tensor normal(Shape shape, uint64_t seed);

}  // namespace braintrace::testing_support

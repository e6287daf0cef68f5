// SPDX-License-Identifier: Apache-2.0
// The base of all tasks. A task draws one sample at a time from its own random numbers; a batch consists of samples:
//
//   row b of batch(part, i, size) = sample number n = i·size + b of the part
//
// The random numbers of a sample are a function of seed, part and n (Philox counters), so parts never share samples. If
// a part has N samples, number n is sample perm_e(n mod N) of epoch e = ⌊n / N⌋.
#pragma once

#include <array>
#include <functional>
#include <memory>
#include <span>

#include "braintrace/tasks/task.h"

namespace braintrace::tasks {

class Random {
 public:
  Random(uint64_t seed, Part part, int64_t number);
  static Random of_task(uint64_t seed, int64_t which = 0);  // for what samples share, such as class profiles

  uint32_t bits();
  bool     chance(double p) { return bits() < p * 0x1p32; }
  double   uniform(double from = 0, double to = 1);
  double   normal();
  int64_t  integer(int64_t below);
  int64_t  poisson(double mean);

 private:
  Random(uint64_t seed, uint32_t stream, uint64_t number);

  std::array<uint32_t, 2> key_;
  std::array<uint32_t, 4> counter_, block_{};
  int                     used_ = 4;
};

// One sequence, to be filled in; initially zeros with a mask of ones.
struct Sample {
  std::span<float>   inputs;   // [T, input…]
  std::span<int32_t> classes;  // [T], for TargetKind::Classes
  std::span<float>   values;   // [T, outputs], for TargetKind::Values
  std::span<float>   mask;     // [T]

  std::span<float> input(int64_t t) const;  // [input…]
  std::span<float> value(int64_t t) const;  // [outputs]
  int64_t          length() const { return std::ssize(mask); }

  void label(int32_t which) const;      // at every step
  void score_only(int64_t from) const;  // steps from … T-1; negative counts from the end
  void end_at(int64_t length) const;    // no loss from here on: the rest is padding
};

// Fills in one sample. If the part is finite, `which` is the index of a sample; else it is the number n.
using Read = std::function<void(Part part, int64_t which, Random&, const Sample&)>;
using Draw = std::function<void(Random&, const Sample&)>;  // the same for all parts
// For samples of different lengths: batches are padded to the next of `count` equally spaced lengths up to the longest.
// Neighbors in the order of an epoch (except in the test part) are sorted by length, so that batches contain similar
// lengths.
struct Buckets {
  int64_t                                          count  = 1;
  std::function<int64_t(Part part, int64_t which)> length = nullptr;
};
std::shared_ptr<Task> sampled(TaskFacts facts, uint64_t seed, Read read, Buckets buckets = {});
std::shared_ptr<Task> generated(TaskFacts facts, uint64_t seed, Draw draw);

// Element i of a random permutation of 0 … n-1.
int64_t permuted(int64_t i, int64_t n, uint64_t seed, uint64_t epoch);

// The samples of each part if one data set is split: a fraction, chosen by a fixed random permutation, is for
// validation.
struct Split {
  std::vector<int64_t>        train, validation;
  const std::vector<int64_t>& of(Part part) const { return part == Part::Train ? train : validation; }
};
Split split(int64_t n, const zoo::Fields& fields, const std::string& fraction_field);

// Reads and checks fields that many tasks have.
int64_t count(const zoo::Fields& fields, const std::string& name);            // 1 … 10⁹
double  positive(const zoo::Fields& fields, const std::string& name);         // finite, > 0
double  probability(const zoo::Fields& fields, const std::string& name);      // 0 … 1
double  spike_chance(const zoo::Fields& fields, const std::string& rate_hz);  // per step of dt_ms
int64_t steps(const zoo::Fields& fields, const std::string& time_ms);         // of dt_ms

}  // namespace braintrace::tasks

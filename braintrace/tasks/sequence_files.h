// SPDX-License-Identifier: Apache-2.0
// Data sets in files: their sequences, divided into parts, with missing cells and scales seen to.
//
//   file               training, and what has no file of its own: the fractions `validation` and `test` of it
//   validation_file, test_file
//   split              who goes where. chronological: training comes first, then validation, then test;
//                      stratified: every class has its share in each part; random: by a fixed random order;
//                      auto: chronological for pieces of one series, stratified for classes, else random
//   missing, normalize see preparation.h
//   class_weights      of the losses in the training part: none, balanced (a class that is asked for n_c of n times,
//   one
//                      of k, weighs n / (k n_c)), or a list
//   buckets            of lengths: batches hold sequences of similar length and are padded to one of so many lengths
//   contiguous         row b of batch i goes on where row b of batch i-1 ended; for pieces of one series
#pragma once

#include "braintrace/tasks/sample.h"

namespace braintrace::tasks {

constexpr int32_t missing_class = -1;

class SequenceFile {
 public:
  virtual ~SequenceFile()                          = default;
  virtual const TaskFacts& facts() const           = 0;  // input, targets, outputs, length
  virtual bool             is_series() const       = 0;  // its sequences follow each other in time
  virtual int64_t          size() const            = 0;  // sequences
  virtual int64_t          length(int64_t i) const = 0;  // steps
  // Fills in steps 0 … length(i)-1 and the mask; NaN and missing_class where something is missing.
  virtual void read(int64_t i, const Sample& s) const = 0;
  // Names for messages.
  virtual std::string place(int64_t i, int64_t t, const std::string& what) const = 0;
  virtual std::string name_of_input(size_t k) const { return "input " + std::to_string(k); }
  virtual std::string name_of_target(size_t k) const { return "target " + std::to_string(k); }
};

using OpenFile = std::function<std::shared_ptr<const SequenceFile>(const std::string& path)>;
std::shared_ptr<Task> task_of_files(const zoo::Fields& f, uint64_t seed, const OpenFile& open);
std::string           with_file_fields(const std::string& own);  // a type's own fields and those above

void check_class(const std::string& where, double found, int64_t classes);  // throws UserError

}  // namespace braintrace::tasks

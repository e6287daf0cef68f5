// SPDX-License-Identifier: Apache-2.0
// Data sets in files: their sequences, split into parts, with missing cells handled and inputs scaled.
//
//   file               training, and parts without their own file: the fractions `validation` and `test` of it
//   validation_file, test_file
//   split              chronological: training first, then validation, then test;
//                      stratified: every part has the same proportion of classes; random: a fixed permutation;
//                      auto: chronological for pieces of one series, stratified for classes, else random
//   missing, normalize see preparation.h
//   class_weights      weights of the losses in the training part: none, a list, or balanced: with n targets in k
//                      classes, class c with n_c targets has weight n / (k n_c)
//   buckets            number of lengths: batches contain sequences of similar length, padded to one of these
//   contiguous         row b of batch i continues where row b of batch i-1 ended; for pieces of one series
#pragma once

#include "braintrace/tasks/sample.h"

namespace braintrace::tasks {

constexpr int32_t missing_class = -1;

class SequenceFile {
 public:
  virtual ~SequenceFile()                          = default;
  virtual const TaskFacts& facts() const           = 0;  // input, targets, outputs, length
  virtual bool             is_series() const       = 0;  // its sequences are consecutive in time
  virtual int64_t          size() const            = 0;  // sequences
  virtual int64_t          length(int64_t i) const = 0;  // steps
  // Fills in steps 0 … length(i)-1 and the mask; NaN and missing_class for missing values.
  virtual void read(int64_t i, const Sample& s) const = 0;
  // Names for messages.
  virtual std::string place(int64_t i, int64_t t, const std::string& what) const = 0;
  virtual std::string name_of_input(size_t k) const { return "input " + std::to_string(k); }
  virtual std::string name_of_target(size_t k) const { return "target " + std::to_string(k); }
};

using OpenFile = std::function<std::shared_ptr<const SequenceFile>(const std::string& path)>;
std::shared_ptr<Task> task_of_files(const zoo::Fields& f, uint64_t seed, const OpenFile& open);
std::string           with_file_fields(const std::string& own);  // the fields of a type and those above

void check_class(const std::string& where, double found, int64_t classes);  // throws UserError

}  // namespace braintrace::tasks

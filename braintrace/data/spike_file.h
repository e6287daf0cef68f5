// SPDX-License-Identifier: Apache-2.0
// Spikes of an artificial cochlea in HDF5 files: Spiking Heidelberg Digits and Spiking Speech Commands (Cramer et al.
// 2020).
//
//   spikes/times : variable-length floats, seconds;   spikes/units : variable-length integers;   labels : integers
//
// The library is built with or without HDF5; without it, opening a file throws a UserError that says so.
#pragma once

#include <memory>

#include "braintrace/data/events.h"

namespace braintrace::data {

bool hdf5_is_built_in();

// Labels are kept in memory; spikes are read on demand. Calls from several threads are serialized, as HDF5 requires.
class SpikeFile {
 public:
  explicit SpikeFile(const std::string& path);

  const std::string& path() const { return path_; }
  int64_t            size() const { return static_cast<int64_t>(labels_.size()); }
  int64_t            label(int64_t i) const { return labels_[static_cast<size_t>(i)]; }
  Events             read(int64_t i) const;  // x is the unit

 private:
  std::string           path_;
  std::shared_ptr<void> file_;
  std::vector<int64_t>  labels_;
};

}  // namespace braintrace::data

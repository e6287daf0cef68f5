// SPDX-License-Identifier: Apache-2.0
// Checkpoints: safetensors files with everything a run needs to go on as if it had never stopped, and the folders they
// lie in.
#pragma once

#include <optional>

#include "braintrace/io/safetensors.h"
#include "braintrace/model/module.h"

namespace braintrace::train {

struct Checkpoint {
  NamedArrays arrays;
  std::string config;    // JSON
  std::string progress;  // JSON: counters and what was said
};

void       write_checkpoint(const std::string& path, const Checkpoint& c);
Checkpoint read_checkpoint(const std::string& path);  // damaged files and those of newer versions are an error

// Adds the leaves of states under "prefix.path", and the way back. Loading wants exactly the stored names and types
// below the prefix, and finite numbers; it changes nothing when they differ.
void gather(NamedArrays& to, const std::string& prefix, const StateMap& states);
void check_fits(const NamedArrays& from, const std::string& prefix, const StateMap& states, const std::string& where);
void restore(const NamedArrays& from, const std::string& prefix, const StateMap& states, const std::string& where);

// A folder of numbered checkpoints.
class CheckpointFolder {
 public:
  CheckpointFolder(std::string dir, int64_t keep) : dir_(std::move(dir)), keep_(keep) {}

  // Makes the folder and what is missing above it; throws UserError when nothing can be written there.
  void                     prepare() const;
  std::string              path_of(int64_t step) const;
  std::string              best_path() const;
  std::vector<std::string> files() const;  // numbered ones, oldest first
  // Writes one, and then removes the oldest beyond those to keep.
  std::string write(int64_t step, const Checkpoint& c) const;
  // The newest that can be read; `refused` gets the reasons why newer ones cannot.
  std::optional<std::string> newest_valid(std::vector<std::string>& refused) const;
  void                       remove_all() const;

 private:
  std::string dir_;
  int64_t     keep_;
};

}  // namespace braintrace::train

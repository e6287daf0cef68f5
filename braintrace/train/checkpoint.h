// SPDX-License-Identifier: Apache-2.0
// Checkpoints: safetensors files with everything that a run needs to continue as if it had never stopped, and their
// folders.
#pragma once

#include <optional>

#include "braintrace/io/safetensors.h"
#include "braintrace/model/module.h"

namespace braintrace::train {

struct Checkpoint {
  NamedArrays arrays;
  std::string config;    // JSON
  std::string progress;  // JSON: counters and messages
};

void       write_checkpoint(const std::string& path, const Checkpoint& c);
Checkpoint read_checkpoint(const std::string& path);  // throws for damaged files and files of newer versions

// Adds the leaves of states as "prefix.path", and loads them. Loading requires exactly the stored names and types below
// the prefix, and finite numbers; otherwise it changes nothing.
void gather(NamedArrays& to, const std::string& prefix, const StateMap& states);
void check_fits(const NamedArrays& from, const std::string& prefix, const StateMap& states, const std::string& where);
void restore(const NamedArrays& from, const std::string& prefix, const StateMap& states, const std::string& where);

// A folder of numbered checkpoints.
class CheckpointFolder {
 public:
  CheckpointFolder(std::string dir, int64_t keep) : dir_(std::move(dir)), keep_(keep) {}

  // Creates the folder and its missing parents; throws UserError if it is not writable.
  void                     prepare() const;
  std::string              path_of(int64_t step) const;
  std::string              best_path() const;
  std::vector<std::string> files() const;  // numbered ones, oldest first
  // Writes a checkpoint, then removes the oldest ones beyond the number to keep.
  std::string write(int64_t step, const Checkpoint& c) const;
  // The newest readable checkpoint; `refused` gets the reasons why newer ones are not readable.
  std::optional<std::string> newest_valid(std::vector<std::string>& refused) const;
  void                       remove_all() const;

 private:
  std::string dir_;
  int64_t     keep_;
};

}  // namespace braintrace::train

// SPDX-License-Identifier: Apache-2.0
// Many small learners in one process: one per sensor, patient or robot. Members have the same model, rule and
// optimizer; each has its own weights, states, traces and optimizer memory. One compiled program runs all of them, each
// on its own memory, so a member computes bit for bit what a single OnlineStream would, and adding or removing members
// compiles nothing.
//
//   stream::Fleet fleet(*model, {DType::F32, {4}}, {.rule = "D_RTRL", .lr = 3e-3});
//   const auto [predictions, losses, undone] = fleet.learn({"pump 1", "pump 7"}, x, y);   // x [2,4], y [2,…]
//
// Several records of each member in one call, x [2,k,4] and y [2,k,…], produce the same bits as k calls, but much
// faster if the fleet is larger than the caches: a member makes all of its steps while it is in the cache.
//
// A new member starts with the weights that the model had when the fleet was created.
#pragma once

#include <memory>
#include <unordered_map>

#include "braintrace/runtime/backend.h"
#include "braintrace/stream/online_stream.h"

namespace braintrace::stream {

struct FleetOptions {
  int64_t most = 1'000'000;  // maximum number of members
  // Undoes a step after which the loss, prediction or states of a member are not usable, at the cost of a copy of the
  // states in each step. Without it, such a member continues with these values; the others are not affected.
  bool guard = false;
};

class Fleet {
 public:
  using Ids = std::vector<std::string>;

  // The model must outlive the fleet; its states are initialized.
  Fleet(Module& model, const Type& input, const StreamOptions& options, const FleetOptions& fleet = {});
  ~Fleet();
  Fleet(const Fleet&)            = delete;
  Fleet& operator=(const Fleet&) = delete;

  struct Undone {
    size_t      index = 0;  // in the ids of the call
    std::string why;
    size_t      step = 0;  // among its records
  };
  struct Answers {
    Array               predictions;  // [n, …]
    Array               losses;       // [n]; empty without learning
    std::vector<Undone> undone = {};
  };
  // One step of each of n different members: x [n, …], y [n, …], in the order of ids; or k steps of each: x [n, k, …],
  // y [n, k, …], and answers likewise. Without ids: all members, in the order of ids(). Unknown ids become new members.
  // If an argument is wrong, nothing changes.
  Answers learn(const Ids& ids, const Array& x, const Array& y);
  Answers learn(const Array& x, const Array& y);
  Answers predict(const Ids& ids, const Array& x);  // states and traces advance, weights do not change
  Answers predict(const Array& x);
  void    reset(const std::string& id);  // a new sequence: resets states and traces, keeps the weights

  void       add(const std::string& id);     // with the initial weights
  void       remove(const std::string& id);  // the last of ids() takes its place
  bool       contains(const std::string& id) const { return slots_.contains(id); }
  size_t     size() const { return ids_.size(); }
  const Ids& ids() const { return ids_; }
  int64_t    records(const std::string& id) const;  // number of records it learned from
  size_t     bytes_per_member() const { return row_bytes_; }

  // A single member, in the file format of a single stream (`braintrace stream --load`, `--save`). Loading adds or
  // replaces the member.
  void save_member(const std::string& id, const std::string& path);
  void load_member(const std::string& id, const std::string& path);
  // All members.
  void save(const std::string& path);
  void load(const std::string& path);  // replaces the current ones

  const OnlineStream& stream() const { return stream_; }  // how members learn

 private:
  struct Leaf;
  struct Program;
  class Batch;

  std::byte* row(size_t slot) const;
  size_t     slot_of(const std::string& id) const;  // throws a UserError that suggests the closest id
  size_t     join(const std::string& id);
  void       check_room(size_t more) const;
  StateMap   stream_states() const;
  void       to_stream(size_t slot);  // copies the states of the member to the single stream, and back
  void       from_stream(size_t slot);

  std::vector<size_t> slots_for(const Ids& ids);  // adds new members
  // For these members, or for all.
  Answers     step(Program& program, const Ids* ids, const std::vector<const Array*>& records);
  std::string problem(size_t slot, const Array& prediction, const std::optional<double>& loss) const;

  OnlineStream             stream_;
  FleetOptions             options_;
  std::vector<Leaf>        leaves_;
  size_t                   row_bytes_ = 0;
  std::vector<std::byte>   start_;  // row of a new member
  std::unique_ptr<Program> learn_, predict_;

  struct Chunk;
  std::vector<std::unique_ptr<Chunk>>     chunks_;
  Ids                                     ids_;  // by slot
  std::vector<int64_t>                    records_;
  std::unordered_map<std::string, size_t> slots_;
};

}  // namespace braintrace::stream

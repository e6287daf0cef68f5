// SPDX-License-Identifier: Apache-2.0
// Thousands of small learners in one process: one per sensor, patient or robot. Members have the same model, rule and
// optimizer; each has its own weights, states, traces and optimizer memory. All of them run through one compiled
// program, each on memory of its own, so a member computes bit by bit what a single OnlineStream would, and members
// joining or leaving compile nothing.
//
//   stream::Fleet fleet(*model, {DType::F32, {4}}, {.rule = "D_RTRL", .lr = 3e-3});
//   const auto [predictions, losses, undone] = fleet.learn({"pump 1", "pump 7"}, x, y);   // x [2,4], y [2,…]
//
// Several records of each member at once, x [2,k,4] and y [2,k,…], make the same bits as k calls, much faster where
// the fleet is larger than the caches: a member that is there makes all of its steps before the next one comes.
//
// A member that is named for the first time joins with the weights that the model had when the fleet was made.
#pragma once

#include <memory>
#include <unordered_map>

#include "braintrace/runtime/backend.h"
#include "braintrace/stream/online_stream.h"

namespace braintrace::stream {

struct FleetOptions {
  int64_t most = 1'000'000;  // members
  // A step after which a member's loss, answer or states are not numbers to go on with is undone. Costs a copy of the
  // states for each step. Without it such a member goes on with what it has; the others never notice.
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
    Array               losses;       // [n]; empty where nothing is learned
    std::vector<Undone> undone = {};
  };
  // One step of each of n different members: x [n, …], y [n, …], in the order of ids; or k steps of each: x [n, k, …],
  // y [n, k, …], and answers likewise. Those of all members have the order of ids(). An id may be unknown: it joins.
  // Nothing has changed if an argument is wrong.
  Answers learn(const Ids& ids, const Array& x, const Array& y);
  Answers learn(const Array& x, const Array& y);
  Answers predict(const Ids& ids, const Array& x);  // states and traces advance, weights stay
  Answers predict(const Array& x);
  void    reset(const std::string& id);  // a new sequence: states and traces as at the start, weights stay

  void       add(const std::string& id);     // with the weights of the start
  void       remove(const std::string& id);  // the last of ids() takes its place
  bool       contains(const std::string& id) const { return slots_.contains(id); }
  size_t     size() const { return ids_.size(); }
  const Ids& ids() const { return ids_; }
  int64_t    records(const std::string& id) const;  // it learned from
  size_t     bytes_per_member() const { return row_bytes_; }

  // A single member, as the file of a single stream: `braintrace stream --load` reads it, and the other way round. A
  // member that is loaded joins, or is replaced.
  void save_member(const std::string& id, const std::string& path);
  void load_member(const std::string& id, const std::string& path);
  // All members.
  void save(const std::string& path);
  void load(const std::string& path);  // in place of the present ones

  const OnlineStream& stream() const { return stream_; }  // how each of them learns

 private:
  struct Leaf;
  struct Program;

  std::byte* row(size_t slot) const;
  size_t     slot_of(const std::string& id) const;  // UserError with the nearest
  size_t     join(const std::string& id);
  void       check_room(size_t more) const;
  StateMap   stream_states() const;
  void       to_stream(size_t slot);  // the states of the single stream become those of the member, and back
  void       from_stream(size_t slot);

  std::vector<size_t> slots_for(const Ids& ids);  // joins what is new
  // Of these members, or of all.
  Answers     step(Program& program, const Ids* ids, const std::vector<const Array*>& records);
  std::string problem(size_t slot, const Array& prediction, const std::optional<double>& loss) const;

  OnlineStream             stream_;
  FleetOptions             options_;
  std::vector<Leaf>        leaves_;
  size_t                   row_bytes_ = 0;
  std::vector<std::byte>   start_;  // row of a member that joins
  std::unique_ptr<Program> learn_, predict_;

  struct Chunk;
  std::vector<std::unique_ptr<Chunk>>     chunks_;
  Ids                                     ids_;  // by slot
  std::vector<int64_t>                    records_;
  std::unordered_map<std::string, size_t> slots_;
};

}  // namespace braintrace::stream

// SPDX-License-Identifier: Apache-2.0
// Divides a batch into shards of equally many rows, over the processes of a group. Weights and optimizer memory are the
// same everywhere. Everything else (hidden states, traces, random numbers, the synthesizer of DNI) belongs to a shard.
// A process computes its shards one after the other with one program, so that a shard has the same bits wherever it is
// computed, and sums over shards follow one tree (parallel/tree_sum.h).
//
// A model with long-term states, such as the statistics of batch norm, mixes the rows of a batch: it has one shard, the
// whole batch, which every process computes.
#pragma once

#include <memory>
#include <span>

#include "braintrace/io/safetensors.h"
#include "braintrace/model/state.h"
#include "braintrace/parallel/tree_sum.h"
#include "braintrace/train/parts.h"

namespace braintrace::train {

class Shards {
 public:
  // Either several shards, equally many for each rank of the group, or one, which every rank computes.
  Shards(std::shared_ptr<parallel::Group> group, int64_t count);

  int64_t          count() const { return count_; }
  int64_t          first() const { return mine_.lo; }     // of this process
  int64_t          here() const { return mine_.size(); }  // number of shards of this process
  parallel::Group& group() const { return *group_; }

  // From now on, the states of the parts are those of a shard. Each shard is reset, with its own random numbers. The
  // states include the default random stream, so a run must be active (surroundings.h), here and below.
  void adopt(const Parts& parts);
  // Calls f(k) for shards first() + k, k = 0 … here()-1, with their states in place.
  template <class F>
  void each(const F& f) {
    for (int64_t k = 0; k < here(); ++k) {
      put(k);
      f(k);
    }
  }

  // Σ over all shards at every rank, from one vector per shard of this process.
  void sum(std::span<const std::span<const float>> mine, std::span<float> out) { sum_f32_(mine, out); }
  void sum(std::span<const std::span<const double>> mine, std::span<double> out) { sum_f64_(mine, out); }
  // The vectors of all shards, equally long, at every rank.
  std::vector<std::vector<double>> all(const std::vector<std::vector<double>>& mine) const;

  // All states, by owner and path, at the first rank; states of shards have a leading axis if there is more than one
  // shard.
  NamedArrays gathered();
  // Throws UserError if arrays do not match, before anything changes.
  void restore(const NamedArrays& from, const std::string& where);

  // All persistent states, by the name of their owner, with the values of the shard in place.
  const std::vector<std::pair<std::string, StateMap>>& states() const { return states_; }

 private:
  void        put(int64_t k);
  bool        is_shared(const std::string& owner, const State& state) const;
  NamedArrays of_shard(const NamedArrays& from, int64_t shard, const std::string& where) const;

  std::shared_ptr<parallel::Group>              group_;
  int64_t                                       count_;
  parallel::ShardRange                          mine_;
  parallel::TreeSum<float>                      sum_f32_;
  parallel::TreeSum<double>                     sum_f64_;
  std::vector<std::pair<std::string, StateMap>> states_;
  struct Leaf {
    std::string name;  // in checkpoints
    StateLeaf   where;
  };
  std::vector<Leaf>    leaves_;  // the leaves that belong to a shard
  std::vector<Tensors> kept_;    // by shard of this process, except the one in place
  int64_t              in_place_ = 0;
};

}  // namespace braintrace::train

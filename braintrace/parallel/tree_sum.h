// SPDX-License-Identifier: Apache-2.0
// Sums over shards in an order that depends on the number of shards alone, not on who computes them:
//
//   sum(lo, hi) = sum(lo, mid) + sum(mid, hi)        mid = ⌈(lo + hi)/2⌉
//
// Floating-point addition depends on its order, so one tree for all makes the same bits with any number of processes.
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "braintrace/parallel/group.h"

namespace braintrace::parallel {

// Shards lo … hi-1.
struct ShardRange {
  int64_t lo, hi;

  int64_t size() const { return hi - lo; }
  bool    operator==(const ShardRange&) const = default;
};

// The shards of a rank, equally many for all.
ShardRange shards_of(const Group& group, int rank, int64_t shards);
// The largest nodes of the tree inside a range, in order.
std::vector<ShardRange> largest_nodes(int64_t shards, const ShardRange& range);

// Nodes of the tree as they come. Two halves of a node become that node at once, so little is kept.
template <class T>
class TreeSum {
 public:
  explicit TreeSum(int64_t shards) : shards_(shards) {}

  void add(ShardRange node, std::vector<T> values);
  // What is there, by its first shard: the root alone when all shards have come.
  const std::map<int64_t, std::pair<ShardRange, std::vector<T>>>& nodes() const { return nodes_; }
  std::vector<T>                                                  take_root();

 private:
  int64_t                                                  shards_;
  std::map<int64_t, std::pair<ShardRange, std::vector<T>>> nodes_;
};

// The sum over all shards at every rank, from the nodes that each rank has of its own. Long vectors are cut: each rank
// sums one part for all and hands it back, so a rank sends and receives about twice the vector, however many there are.
template <class T>
std::vector<T> sum_over_ranks(Group& group, int64_t shards, TreeSum<T>&& mine);

extern template class TreeSum<float>;
extern template class TreeSum<double>;

}  // namespace braintrace::parallel

// SPDX-License-Identifier: Apache-2.0
// Sums over shards in an order that depends on the number of shards alone, not on who computes them:
//
//   sum(lo, hi) = sum(lo, mid) + sum(mid, hi)        mid = ⌈(lo + hi)/2⌉
//
// Floating-point addition depends on its order, so one tree for all makes the same bits with any number of processes.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
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

// Sums vectors over all shards, at every rank. Memory is kept from sum to sum: fresh pages would take longer than the
// messages.
template <class T>
class TreeSum {
 public:
  // `group` has shards of every rank, or is alone with all of them.
  TreeSum(std::shared_ptr<Group> group, int64_t shards) : group_(std::move(group)), shards_(shards) {}

  // mine: the vectors of the shards of this rank, in order; out: their sum with those of all other ranks. Long vectors
  // are cut: each rank sums one part for all and hands it back, so a rank sends and receives about twice the vector,
  // however many there are.
  void operator()(std::span<const std::span<const T>> mine, std::span<T> out);

 private:
  std::shared_ptr<Group> group_;
  int64_t                shards_;
  std::vector<T>         own_;       // sums of the largest nodes of this rank, one after the other
  std::vector<T>         received_;  // the part that this rank sums, of the nodes of the others
};

extern template class TreeSum<float>;
extern template class TreeSum<double>;

}  // namespace braintrace::parallel

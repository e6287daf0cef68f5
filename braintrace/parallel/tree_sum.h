// SPDX-License-Identifier: Apache-2.0
// Sums over shards in an order that depends only on the number of shards, not on the processes that compute them:
//
//   sum(lo, hi) = sum(lo, mid) + sum(mid, hi)        mid = ⌈(lo + hi)/2⌉
//
// Floating-point sums depend on the order, so a fixed tree produces the same bits with any number of processes.
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
// The largest nodes of the tree within a range, in order.
std::vector<ShardRange> largest_nodes(int64_t shards, const ShardRange& range);

// Sums vectors over all shards, at every rank. Memory is reused from sum to sum: new pages would take longer than the
// messages.
template <class T>
class TreeSum {
 public:
  // `group` has shards on every rank, or is a single process with all of them.
  TreeSum(std::shared_ptr<Group> group, int64_t shards) : group_(std::move(group)), shards_(shards) {}

  // mine: the vectors of the shards of this rank, in order; out: their sum with those of all other ranks. Long vectors
  // are divided: each rank sums one part for all and sends back the result, so a rank sends and receives about twice
  // the vector, for any number of ranks.
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

// SPDX-License-Identifier: Apache-2.0
#include "braintrace/parallel/tree_sum.h"

#include <algorithm>
#include <array>

#include "braintrace/base/error.h"

namespace braintrace::parallel {

namespace {

constexpr size_t short_bytes = 4096;  // a vector this short goes to everybody whole: one round of messages, not two
constexpr size_t block       = 1024;  // numbers that go through the whole tree while they are in the cache

int64_t middle(const ShardRange& r) { return (r.lo + r.hi + 1) / 2; }

void collect(const ShardRange& node, const ShardRange& range, std::vector<ShardRange>& out) {
  if (node.hi <= range.lo || range.hi <= node.lo) return;
  if (range.lo <= node.lo && node.hi <= range.hi) return out.push_back(node);
  collect({node.lo, middle(node)}, range, out);
  collect({middle(node), node.hi}, range, out);
}

// A node whose numbers are known.
template <class T>
struct Known {
  ShardRange         node;
  std::span<const T> values;
};

// Σ of a node, numbers from … from+n-1, from the known nodes in it, which are in order.
template <class T>
void sum_block(const ShardRange& node, std::span<const Known<T>> known, size_t from, size_t n, T* out) {
  if (known[0].node == node) {
    std::copy_n(known[0].values.begin() + static_cast<int64_t>(from), n, out);
    return;
  }
  ensure(node.size() > 1, "tree_sum: shards {} … {} are not a node.", known[0].node.lo, known[0].node.hi);
  const ShardRange     left{node.lo, middle(node)}, right{middle(node), node.hi};
  const auto           cut   = std::find_if(known.begin(), known.end(), [&](auto& k) { return k.node.lo >= right.lo; });
  const auto           lefts = static_cast<size_t>(cut - known.begin());
  std::array<T, block> other;
  sum_block(left, known.first(lefts), from, n, out);
  sum_block(right, known.subspan(lefts), from, n, other.data());
  for (size_t i = 0; i < n; ++i) out[i] += other[i];
}
template <class T>
void sum_node(const ShardRange& node, std::span<const Known<T>> known, std::span<T> out) {
  for (size_t from = 0; from < out.size(); from += block)
    sum_block(node, known, from, std::min(block, out.size() - from), out.data() + from);
}

struct Slice {
  size_t from, to;
};
template <class S>
S of(const Slice& s, S values) {
  return values.subspan(s.from, s.to - s.from);
}

// Divides a vector into parts, one for each rank to sum; or keeps it whole, for all of them.
struct Cut {
  size_t numbers;
  int    parts;

  Slice part_of(int rank) const {
    const auto p = static_cast<size_t>(parts == 1 ? 0 : rank), P = static_cast<size_t>(parts);
    return {numbers * p / P, numbers * (p + 1) / P};
  }
};

template <class T>
Outgoing message(int to, std::span<const T> v) {
  return {to, reinterpret_cast<const std::byte*>(v.data()), v.size_bytes()};
}
template <class T>
Incoming place(int from, std::span<T> v) {
  return {from, reinterpret_cast<std::byte*>(v.data()), v.size_bytes()};
}

// Sums of nodes, from the shards that they have, in `room`. A node that is one shard is there already.
template <class T>
std::vector<Known<T>> sums_of(const std::vector<ShardRange>& nodes, std::span<const Known<T>> shards,
                              std::vector<T>& room) {
  const size_t          n = shards[0].values.size();
  std::vector<Known<T>> out;
  room.resize(nodes.size() * n);
  for (const ShardRange& node : nodes) {
    const std::span<T> sum = std::span(room).subspan(out.size() * n, n);
    const auto first = static_cast<size_t>(node.lo - shards[0].node.lo), count = static_cast<size_t>(node.size());
    if (count > 1) sum_node<T>(node, shards.subspan(first, count), sum);
    out.push_back({node, count > 1 ? sum : shards[first].values});
  }
  return out;
}

// The part of this rank, of the nodes of all ranks: `own` has those of this one, `room` takes the others.
template <class T>
std::vector<Known<T>> parts_of_all(Group& group, int64_t shards, const std::vector<Known<T>>& own, const Cut& cut,
                                   std::vector<T>& room) {
  const Slice           mine   = cut.part_of(group.rank());
  const size_t          length = mine.to - mine.from;
  std::vector<Known<T>> out;
  std::vector<Outgoing> sent;
  std::vector<Incoming> awaited;
  room.resize(static_cast<size_t>(shards) * length);
  for (int r = 0; r < group.size(); ++r) {
    if (r == group.rank()) {
      for (const Known<T>& k : own) out.push_back({k.node, of(mine, k.values)});
      continue;
    }
    for (const ShardRange& node : largest_nodes(shards, shards_of(group, r, shards))) {
      const std::span<T> values = std::span(room).subspan(out.size() * length, length);
      out.push_back({node, values});
      awaited.push_back(place(r, values));
    }
    for (const Known<T>& k : own) sent.push_back(message(r, of(cut.part_of(r), k.values)));
  }
  group.exchange(sent, awaited);
  return out;
}

// Each rank has its part of `out`; now all have all of it.
template <class T>
void hand_back(Group& group, const Cut& cut, std::span<T> out) {
  std::vector<Outgoing> sent;
  std::vector<Incoming> awaited;
  for (int r = 0; r < group.size(); ++r) {
    if (r == group.rank()) continue;
    sent.push_back(message<T>(r, of(cut.part_of(group.rank()), out)));
    awaited.push_back(place(r, of(cut.part_of(r), out)));
  }
  group.exchange(sent, awaited);
}

}  // namespace

ShardRange shards_of(const Group& group, int rank, int64_t shards) {
  const int64_t each = shards / group.size();
  return {each * rank, each * (rank + 1)};
}

std::vector<ShardRange> largest_nodes(int64_t shards, const ShardRange& range) {
  std::vector<ShardRange> out;
  collect({0, shards}, range, out);
  return out;
}

template <class T>
void TreeSum<T>::operator()(std::span<const std::span<const T>> mine, std::span<T> out) {
  const ShardRange      here = shards_of(*group_, group_->rank(), shards_);
  std::vector<Known<T>> shards;
  for (size_t k = 0; k < mine.size(); ++k) {
    const int64_t s = here.lo + static_cast<int64_t>(k);
    ensure(mine[k].size() == out.size(), "tree_sum: vectors of {} and {} numbers.", mine[k].size(), out.size());
    shards.push_back({{s, s + 1}, mine[k]});
  }
  ensure(std::ssize(shards) == here.size(), "tree_sum: {} shards of {}.", shards.size(), here.size());
  if (group_->size() == 1) return sum_node<T>(here, shards, out);

  const auto  own     = sums_of<T>(largest_nodes(shards_, here), shards, own_);
  const bool  whole   = out.size_bytes() <= short_bytes;
  const Cut   cut     = {out.size(), whole ? 1 : group_->size()};
  const Slice my_part = cut.part_of(group_->rank());
  sum_node<T>({0, shards_}, parts_of_all<T>(*group_, shards_, own, cut, received_), of(my_part, out));
  if (!whole) hand_back(*group_, cut, out);
}

template class TreeSum<float>;
template class TreeSum<double>;

}  // namespace braintrace::parallel

// SPDX-License-Identifier: Apache-2.0
#include "braintrace/parallel/tree_sum.h"

#include <algorithm>

#include "braintrace/base/error.h"

namespace braintrace::parallel {

namespace {

constexpr size_t short_bytes = 4096;  // a vector this short goes to everybody whole: one round of messages, not two

int64_t middle(const ShardRange& r) { return (r.lo + r.hi + 1) / 2; }

ShardRange parent_of(int64_t shards, const ShardRange& node) {
  ShardRange at{0, shards};
  while (true) {
    const int64_t    mid  = middle(at);
    const ShardRange half = node.lo < mid ? ShardRange{at.lo, mid} : ShardRange{mid, at.hi};
    if (half == node) return at;
    ensure(half.size() > 1, "tree_sum: shards {} … {} are not a node of a tree of {}.", node.lo, node.hi, shards);
    at = half;
  }
}

void collect(const ShardRange& node, const ShardRange& range, std::vector<ShardRange>& out) {
  if (node.hi <= range.lo || range.hi <= node.lo) return;
  if (range.lo <= node.lo && node.hi <= range.hi) return out.push_back(node);
  collect({node.lo, middle(node)}, range, out);
  collect({middle(node), node.hi}, range, out);
}

struct Slice {
  size_t from, to;
};
Slice slice_of(size_t n, int part, int parts) {
  const auto p = static_cast<size_t>(part), P = static_cast<size_t>(parts);
  return {n * p / P, n * (p + 1) / P};
}

template <class T>
Outgoing message(int to, const std::vector<T>& v, const Slice& s) {
  return {to, reinterpret_cast<const std::byte*>(v.data() + s.from), (s.to - s.from) * sizeof(T)};
}
template <class T>
Incoming place(int from, std::vector<T>& v, const Slice& s) {
  return {from, reinterpret_cast<std::byte*>(v.data() + s.from), (s.to - s.from) * sizeof(T)};
}

// Sums what a rank is responsible for: slice_for(r) is the part of the vector that rank r sums.
template <class T, class F>
std::vector<T> summed(Group& group, int64_t shards, const TreeSum<T>& mine, const F& slice_for) {
  const Slice                                        here = slice_for(group.rank());
  std::vector<Outgoing>                              out;
  std::vector<Incoming>                              in;
  std::vector<std::pair<ShardRange, std::vector<T>>> parts;
  for (int r = 0; r < group.size(); ++r)
    for (const ShardRange& node : largest_nodes(shards, shards_of(group, r, shards)))
      parts.emplace_back(node, std::vector<T>(r == group.rank() ? 0 : here.to - here.from));
  auto part = parts.begin();
  for (int r = 0; r < group.size(); ++r)
    for (const ShardRange& node : largest_nodes(shards, shards_of(group, r, shards))) {
      auto& values = (part++)->second;
      if (r != group.rank()) {
        in.push_back(place(r, values, {0, values.size()}));
        continue;
      }
      const std::vector<T>& own = mine.nodes().at(node.lo).second;
      values.assign(own.begin() + static_cast<int64_t>(here.from), own.begin() + static_cast<int64_t>(here.to));
      for (int to = 0; to < group.size(); ++to)
        if (to != r) out.push_back(message(to, own, slice_for(to)));
    }
  group.exchange(out, in);
  TreeSum<T> all(shards);
  for (auto& [node, values] : parts) all.add(node, std::move(values));
  return all.take_root();
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
void TreeSum<T>::add(ShardRange node, std::vector<T> values) {
  while (node.size() < shards_) {
    const ShardRange parent   = parent_of(shards_, node);
    const bool       is_right = parent.hi == node.hi;
    const auto       it       = nodes_.find(is_right ? parent.lo : node.hi);
    if (it == nodes_.end() ||
        it->second.first != ShardRange{is_right ? parent.lo : node.hi, is_right ? node.lo : parent.hi})
      break;
    std::vector<T>&       left  = is_right ? it->second.second : values;
    const std::vector<T>& right = is_right ? values : it->second.second;
    ensure(left.size() == right.size(), "tree_sum: vectors of {} and {} numbers.", left.size(), right.size());
    for (size_t i = 0; i < left.size(); ++i) left[i] += right[i];
    std::vector<T> sum = std::move(left);
    nodes_.erase(it);
    values = std::move(sum);
    node   = parent;
  }
  nodes_.insert_or_assign(node.lo, std::pair(node, std::move(values)));
}

template <class T>
std::vector<T> TreeSum<T>::take_root() {
  ensure(nodes_.size() == 1 && nodes_.begin()->second.first.size() == shards_, "tree_sum: some shards are missing.");
  std::vector<T> out = std::move(nodes_.begin()->second.second);
  nodes_.clear();
  return out;
}

template <class T>
std::vector<T> sum_over_ranks(Group& group, int64_t shards, TreeSum<T>&& mine) {
  if (group.size() == 1) return mine.take_root();
  const size_t n = mine.nodes().begin()->second.second.size();
  if (n * sizeof(T) <= short_bytes) return summed(group, shards, mine, [&](int) { return Slice{0, n}; });
  const auto            slice_for = [&](int r) { return slice_of(n, r, group.size()); };
  const std::vector<T>  part      = summed(group, shards, mine, slice_for);
  std::vector<T>        whole(n);
  std::vector<Outgoing> out;
  std::vector<Incoming> in;
  std::copy(part.begin(), part.end(), whole.begin() + static_cast<int64_t>(slice_for(group.rank()).from));
  for (int r = 0; r < group.size(); ++r) {
    if (r == group.rank()) continue;
    out.push_back(message(r, part, {0, part.size()}));
    in.push_back(place(r, whole, slice_for(r)));
  }
  group.exchange(out, in);
  return whole;
}

template class TreeSum<float>;
template class TreeSum<double>;
template std::vector<float>  sum_over_ranks(Group&, int64_t, TreeSum<float>&&);
template std::vector<double> sum_over_ranks(Group&, int64_t, TreeSum<double>&&);

}  // namespace braintrace::parallel

// SPDX-License-Identifier: Apache-2.0
#include "braintrace/train/shards.h"

#include <algorithm>
#include <cstring>

#include "braintrace/model/random_stream.h"
#include "braintrace/ops/random.h"
#include "braintrace/parallel/collective.h"
#include "braintrace/train/checkpoint.h"

namespace braintrace::train {

namespace {

using parallel::ShardRange;

// The counters for random numbers of a learner survive a reset. Those of different shards start far apart.
constexpr uint32_t far_apart = 0x9E3779B1;

void move_counts(const OnlineLearner& learner, int64_t shard) {
  for (const auto& [path, state] : learner.lasting_states()) {
    const Array now = state.value().array();
    if (now.type() != Type{DType::I32, {}}) continue;
    const uint32_t moved = static_cast<uint32_t>(*now.data<int32_t>()) + far_apart * static_cast<uint32_t>(shard);
    state.set(Array::of<int32_t>({static_cast<int32_t>(moved)}, {}));
  }
}

Type with_shards(const Type& one, int64_t shards) {
  Type out = one;
  out.shape.insert(out.shape.begin(), shards);
  return out;
}

}  // namespace

Shards::Shards(std::shared_ptr<parallel::Group> group, int64_t count)
    : group_(std::move(group)),
      count_(count),
      mine_(count == 1 ? ShardRange{0, 1} : parallel::shards_of(*group_, group_->rank(), count)),
      sum_f32_(count == 1 ? parallel::alone() : group_, count),
      sum_f64_(count == 1 ? parallel::alone() : group_, count) {
  ensure(count == 1 || count % group_->size() == 0, "Shards: {} shards for {} ranks.", count, group_->size());
}

bool Shards::is_shared(const std::string& owner, const State& state) const {
  return count_ == 1 || owner == "optimizer" || owner == "modulation" || (owner == "model" && state.is_param());
}

void Shards::adopt(const Parts& parts) {
  states_ = parts.states();
  states_.push_back({"random", {{Path{"key"}, random::default_stream()}}});
  if (count_ == 1) return;
  for (const auto& [owner, states] : states_)
    for (const auto& [path, state] : states)
      for (const std::string& leaf : state.leaf_names())
        if (!is_shared(owner, state)) leaves_.push_back({owner + "." + leaf_name(path, leaf), {state, leaf}});
  Tensors now;
  for (const Leaf& l : leaves_) now.push_back(l.where.value());
  kept_.assign(static_cast<size_t>(here()), now);
  each([&](int64_t k) {
    const int64_t       shard  = first() + k;
    const RandomStream& stream = random::default_stream();
    stream.set(random::fold_in(stream.value(), Tensor(Type{DType::I32, {}}, static_cast<double>(shard))));
    parts.learner->reset();
    move_counts(*parts.learner, shard);
  });
}

void Shards::put(int64_t k) {
  if (k == in_place_) return;
  Tensors &before = kept_[static_cast<size_t>(in_place_)], &now = kept_[static_cast<size_t>(k)];
  before.clear();
  for (const Leaf& l : leaves_) before.push_back(l.where.value());
  for (size_t i = 0; i < leaves_.size(); ++i) leaves_[i].where.set(std::exchange(now[i], {}));
  in_place_ = k;
}

std::vector<std::vector<double>> Shards::all(const std::vector<std::vector<double>>& mine) const {
  if (count_ == here()) return mine;
  std::vector<double> flat;
  for (const auto& v : mine) flat.insert(flat.end(), v.begin(), v.end());
  const auto          bytes = parallel::all_gather_blocks(*group_, std::as_bytes(std::span(flat)));
  std::vector<double> whole(bytes.size() / sizeof(double));
  if (!bytes.empty()) std::memcpy(whole.data(), bytes.data(), bytes.size());
  const auto                       n = static_cast<int64_t>(mine[0].size());
  std::vector<std::vector<double>> out;
  for (int64_t s = 0; s < count_; ++s) out.emplace_back(whole.begin() + s * n, whole.begin() + (s + 1) * n);
  return out;
}

NamedArrays Shards::gathered() {
  NamedArrays out;
  for (const auto& [owner, states] : states_) {
    StateMap shared;
    for (const auto& entry : states)
      if (is_shared(owner, entry.second)) shared.push_back(entry);
    gather(out, owner, shared);
  }
  if (count_ == 1) return out;
  std::vector<std::byte> mine;
  each([&](int64_t) {
    for (const Leaf& l : leaves_) {
      const Array      a  = l.where.value().array();
      const std::byte* at = static_cast<const std::byte*>(a.raw());
      mine.insert(mine.end(), at, at + a.bytes());
    }
  });
  const std::vector<std::byte> all = parallel::gather_blocks(*group_, mine);  // shard by shard, leaf by leaf
  if (!group_->is_first()) return out;
  std::vector<Array> whole;
  for (const Leaf& l : leaves_) whole.emplace_back(with_shards(l.where.value().type(), count_));
  const std::byte* at = all.data();
  for (int64_t s = 0; s < count_; ++s)
    for (Array& a : whole) {
      const size_t bytes = a.bytes() / static_cast<size_t>(count_);
      std::copy_n(at, bytes, static_cast<std::byte*>(a.mutable_raw()) + bytes * static_cast<size_t>(s));
      at += bytes;
    }
  for (size_t i = 0; i < leaves_.size(); ++i)
    require(out.emplace(leaves_[i].name, whole[i]).second,
            "two states would be saved as '{}'; give them different names.", leaves_[i].name);
  return out;
}

NamedArrays Shards::of_shard(const NamedArrays& from, int64_t shard, const std::string& where) const {
  NamedArrays out = from;
  for (const Leaf& l : leaves_) {
    const auto it = out.find(l.name);
    if (it == out.end()) continue;  // check_fits finds words
    const Type one = l.where.value().type();
    require(it->second.type() == with_shards(one, count_),
            "{}: it belongs to a different model: array '{}' is {} there and {} here.", where, l.name,
            to_string(it->second.type()), to_string(with_shards(one, count_)));
    const auto* data = static_cast<const std::byte*>(it->second.raw()) + static_cast<int64_t>(one.bytes()) * shard;
    it->second       = Array::borrow(one, data, std::make_shared<Array>(it->second));
  }
  return out;
}

void Shards::restore(const NamedArrays& from, const std::string& where) {
  std::vector<NamedArrays> mine;
  for (int64_t k = 0; k < here(); ++k) {
    mine.push_back(of_shard(from, first() + k, where));
    for (const auto& [owner, states] : states_) check_fits(mine.back(), owner, states, where);
  }
  each([&](int64_t k) {
    for (const auto& [owner, states] : states_) train::restore(mine[static_cast<size_t>(k)], owner, states, where);
  });
}

}  // namespace braintrace::train

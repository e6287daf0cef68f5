// SPDX-License-Identifier: Apache-2.0
#include "braintrace/backends/cuda/ports.h"

#include <algorithm>
#include <cstring>

#include "braintrace/base/process_mutex.h"

namespace braintrace::cuda {

namespace {

constexpr int64_t small_array = 1 << 15, alignment = 256;  // bytes

int64_t aligned(int64_t bytes) { return (bytes + alignment - 1) / alignment * alignment; }

Types without_unread(Types types, const Mask& is_read) {
  for (size_t i = 0; i < types.size(); ++i)
    if (!is_read[i]) types[i].shape = {0};
  return types;
}

}  // namespace

Layout::Layout(Types list, int64_t reserved) : types(std::move(list)), at(types.size()), bytes(reserved) {
  for (const bool large : {false, true}) {
    for (size_t i = 0; i < types.size(); ++i) {
      if ((types[i].bytes() > small_array) != large) continue;
      at[i] = bytes;
      bytes += aligned(types[i].bytes());
    }
    if (!large) small = bytes;
  }
}

Inputs::Inputs(Types types, const Mask& is_read)
    : types_(std::move(types)), is_read_(is_read), layout_(without_unread(types_, is_read), 0), last_(types_.size()) {}

void Inputs::allocate(Device& device) {
  memory_ = DeviceMemory(device, layout_.bytes);
  staging_.resize(static_cast<size_t>(layout_.small));
}

void Inputs::write(Device& device, const Arrays& values) {
  for (size_t i = 0; i < values.size(); ++i) {
    if (!is_read_[i]) continue;
    const Array& a = values[i];
    if (layout_.is_small(i)) {
      std::memcpy(staging_.data() + layout_.at[i], a.raw(), a.bytes());
    } else if (a.is_borrowed() || a.raw() != last_[i].raw()) {
      last_[i] = Array();
      device.write(memory_.data() + layout_.at[i], a.raw(), static_cast<int64_t>(a.bytes()));
      last_[i] = a;
    }
  }
  if (layout_.small > 0) device.write(memory_.data(), staging_.data(), layout_.small);
}

class Outputs::Pool : public std::enable_shared_from_this<Outputs::Pool> {
 public:
  Array array(Device& device, const Type& type) {
    std::shared_ptr<void> block;
    {
      std::lock_guard lock(mutex_);
      auto&           free = free_[type.bytes()];
      if (!free.empty()) {
        block = std::move(free.back());
        free.pop_back();
      }
    }
    if (!block) block = device.host_memory(type.bytes());
    void* const data = block.get();
    return Array::adopt(type,
                        {data, [self = shared_from_this(), block = std::move(block), bytes = type.bytes()](void*) {
                           std::lock_guard lock(self->mutex_);
                           auto&           free = self->free_[bytes];
                           if (free.size() < kept) free.push_back(block);
                         }});
  }

 private:
  static constexpr size_t                               kept = 4;  // per size
  ProcessMutex                                          mutex_;
  std::map<int64_t, std::vector<std::shared_ptr<void>>> free_;
};

void Outputs::allocate(Device& device) {
  memory_ = DeviceMemory(device, layout_.bytes);
  device.clear(memory_.data(), reserved);  // kernels read the status even in programs that never set it
  staging_ = device.host_memory(layout_.small);
  pool_    = std::make_shared<Pool>();
}

Outputs::Taken Outputs::read(Device& device, bool with_status) {
  Taken               out{0, {}};
  std::vector<size_t> taken;
  for (size_t i = 0; i < layout_.types.size(); ++i)
    if (!is_left_[i]) taken.push_back(i);
  if (taken.empty() && !with_status) return out;
  if (with_status || std::any_of(taken.begin(), taken.end(), [&](size_t i) { return layout_.is_small(i); }))
    device.read(staging_.get(), memory_.data(), layout_.small);
  for (size_t i : taken) {
    if (layout_.is_small(i)) {
      out.values.emplace_back(layout_.types[i]);
      continue;
    }
    out.values.push_back(pool_->array(device, layout_.types[i]));
    device.read(out.values.back().mutable_raw(), pointer(i), layout_.types[i].bytes());
  }
  device.wait();
  const char* const small = static_cast<const char*>(staging_.get());
  if (with_status) std::memcpy(&out.status, small, sizeof out.status);
  for (size_t k = 0; k < taken.size(); ++k)
    if (layout_.is_small(taken[k]))
      std::memcpy(out.values[k].mutable_raw(), small + layout_.at[taken[k]], out.values[k].bytes());
  return out;
}

void Outputs::leave(const std::vector<size_t>& which) {
  for (size_t i : which) is_left_.at(i) = true;
}

Array Outputs::read_left(Device& device, size_t i) {
  Array out = pool_->array(device, layout_.types.at(i));
  device.read(out.mutable_raw(), pointer(i), layout_.types[i].bytes());
  device.wait();
  return out;
}

}  // namespace braintrace::cuda

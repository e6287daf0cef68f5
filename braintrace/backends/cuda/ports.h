// SPDX-License-Identifier: Apache-2.0
// Transfers a caller's arrays to and from a device. All arguments of a program are in one block of device memory, all
// results in another, small ones first, so that those are copied together.
#pragma once

#include <map>
#include <mutex>

#include "braintrace/backends/cuda/device_memory.h"
#include "braintrace/base/array.h"

namespace braintrace::cuda {

// Offsets of arrays in one block of memory.
struct Layout {
  Types                types;
  std::vector<int64_t> at;  // in bytes, per array
  int64_t              small = 0, bytes = 0;

  Layout(Types list, int64_t reserved);  // `reserved` bytes at the beginning stay free
  bool is_small(size_t i) const { return at[i] < small; }
};

class Inputs {
 public:
  // Inputs that no kernel reads take no memory and are not copied.
  Inputs(Types types, const Mask& is_read);
  int64_t bytes() const { return layout_.bytes; }
  void    allocate(Device& device);

  const Types& types() const { return types_; }
  char*        pointer(size_t i) const { return memory_.data() + layout_.at[i]; }
  // Queued. Skips a large array that is the same object as in the last call: it is referenced here, so it cannot have
  // been written. Borrowed memory (Array::borrow) may have changed and is always copied.
  void write(Device& device, const Arrays& values);

 private:
  Types              types_;
  Mask               is_read_;
  Layout             layout_;  // of the inputs that are read
  DeviceMemory       memory_;
  std::vector<char>  staging_;
  std::vector<Array> last_;
};

class Outputs {
 public:
  explicit Outputs(Types types) : layout_(std::move(types), reserved), is_left_(layout_.types.size()) {}
  int64_t bytes() const { return layout_.bytes; }
  void    allocate(Device& device);

  const Types& types() const { return layout_.types; }
  char*        pointer(size_t i) const { return memory_.data() + layout_.at[i]; }
  int32_t*     status() const { return reinterpret_cast<int32_t*>(memory_.data()); }

  struct Taken {
    int32_t status;
    Arrays  values;
  };
  // Reads all results except those left on the device. Waits for queued work unless nothing is read.
  Taken read(Device& device, bool with_status);
  // These results stay on the device until read_left() requests one, as computed by the last run.
  void  leave(const std::vector<size_t>& which);
  Array read_left(Device& device, size_t i);

 private:
  // Reuses host memory of large results that have been released.
  class Pool;
  static constexpr int64_t reserved = 256;

  Layout                layout_;
  Mask                  is_left_;
  DeviceMemory          memory_;
  std::shared_ptr<void> staging_;
  std::shared_ptr<Pool> pool_;
};

}  // namespace braintrace::cuda

// SPDX-License-Identifier: Apache-2.0
// Where the arrays of a caller enter and leave a device. All arguments of a program lie in one piece of its memory, all
// results in another, small ones first: those are copied together.
#pragma once

#include <map>
#include <mutex>

#include "braintrace/backends/cuda/device_memory.h"
#include "braintrace/base/array.h"

namespace braintrace::cuda {

// Places of arrays in one piece of memory.
struct Layout {
  Types                types;
  std::vector<int64_t> at;  // bytes, by array
  int64_t              small = 0, bytes = 0;

  Layout(Types list, int64_t reserved);  // so many bytes at the beginning are kept free
  bool is_small(size_t i) const { return at[i] < small; }
};

class Inputs {
 public:
  // Those that no kernel reads take no memory, and are not copied.
  Inputs(Types types, const Mask& is_read);
  int64_t bytes() const { return layout_.bytes; }
  void    allocate(Device& device);

  const Types& types() const { return types_; }
  char*        pointer(size_t i) const { return memory_.data() + layout_.at[i]; }
  // Queued. A large array that is the very one of the last call is there already: nobody can have written it, since it
  // is kept here. Memory of others (Array::borrow) may have changed.
  void write(Device& device, const Arrays& values);

 private:
  Types              types_;
  Mask               is_read_;
  Layout             layout_;  // of those that are read
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
  // All but those that are left. Waits for what is queued, unless nobody wants to know anything.
  Taken read(Device& device, bool with_status);
  // These stay on the device until read_left() asks for one, as the last run made it.
  void  leave(const std::vector<size_t>& which);
  Array read_left(Device& device, size_t i);

 private:
  // Host memory of large results that nobody holds any more is used again.
  class Pool;
  static constexpr int64_t reserved = 256;

  Layout                layout_;
  Mask                  is_left_;
  DeviceMemory          memory_;
  std::shared_ptr<void> staging_;
  std::shared_ptr<Pool> pool_;
};

}  // namespace braintrace::cuda

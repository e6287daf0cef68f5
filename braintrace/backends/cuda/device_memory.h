// SPDX-License-Identifier: Apache-2.0
// RAII owner of device memory.
#pragma once

#include <utility>

#include "braintrace/backends/cuda/device.h"

namespace braintrace::cuda {

class DeviceMemory {
 public:
  DeviceMemory() = default;
  DeviceMemory(Device& device, int64_t bytes) : device_(&device), data_(static_cast<char*>(device.allocate(bytes))) {}
  DeviceMemory(DeviceMemory&& other) noexcept : device_(other.device_), data_(std::exchange(other.data_, nullptr)) {}
  DeviceMemory& operator=(DeviceMemory&& other) noexcept {
    std::swap(device_, other.device_);
    std::swap(data_, other.data_);
    return *this;
  }
  ~DeviceMemory() {
    if (data_) device_->free(data_);
  }

  char* data() const { return data_; }

 private:
  Device* device_ = nullptr;
  char*   data_   = nullptr;
};

}  // namespace braintrace::cuda

// SPDX-License-Identifier: Apache-2.0
#include "braintrace/base/default_float.h"

#include <atomic>

namespace braintrace {

namespace {

std::atomic<DType>                of_process{DType::F32};
thread_local std::optional<DType> of_thread;

}  // namespace

DType default_float() { return of_thread.value_or(of_process.load(std::memory_order_relaxed)); }

void set_default_float(DType dtype) { of_process = dtype; }

void set_thread_default_float(std::optional<DType> dtype) { of_thread = dtype; }

}  // namespace braintrace

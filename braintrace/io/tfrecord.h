// SPDX-License-Identifier: Apache-2.0
// The framing of TensorFlow's record files, which TensorBoard reads:
//
//   u64 length | u32 mask(crc32c(length)) | bytes | u32 mask(crc32c(bytes))        all little-endian
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace braintrace {

uint32_t crc32c(std::string_view bytes);
// The mask, because checksums of data that contain checksums are weak.
uint32_t masked_crc32c(std::string_view bytes);

std::string tfrecord(std::string_view bytes);

// The record at the start of `file`; empty and false if it is truncated or damaged.
struct TfRecord {
  bool             whole = false;
  std::string_view bytes;
  size_t           length = 0;  // including its frame
};
TfRecord first_tfrecord(std::string_view file);

}  // namespace braintrace

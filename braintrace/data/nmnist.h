// SPDX-License-Identifier: Apache-2.0
// N-MNIST (Orchard et al. 2015): one .bin file per recording of a 34×34 sensor, in Train/<digit>/ and Test/<digit>/.
//
//   event, 5 bytes:  x : 8 bits,  y : 8,  polarity : 1,  time in µs : 23, most significant bits first
//   y = 240 is not an event but a clock overflow: 2¹³ µs are added to the times of all later events.
#pragma once

#include "braintrace/data/events.h"
#include "braintrace/io/file.h"

namespace braintrace::data {

inline constexpr Sensor nmnist_sensor{2, 34, 34};

// A size that is not a multiple of 5, or an event outside the sensor, throws a UserError that names the offset.
Events decode_nmnist(ByteSpan bytes, const std::string& where);
Events read_nmnist(const std::string& path);

}  // namespace braintrace::data

// SPDX-License-Identifier: Apache-2.0
// Encodes numbers as spikes, and decodes them where possible.
#pragma once

#include "braintrace/tasks/sample.h"

namespace braintrace::tasks {

// x_t,i = 1 with probability p_i, else 0, in T steps.              p : […] in 0 … 1,  x : f32[T, …]
Array poisson_spikes(const Array& p, int64_t T, Random& random);

// One spike each, earlier for larger values: at t_i = round((1 - v_i)(T - 1)); none for v_i = 0. v : […] in 0 … 1
Array latency_spikes(const Array& v, int64_t T);
// 1 - t_i/(T - 1) at the first spike, 0 without one: within 1/(2(T - 1)) of the encoded value. x : [T, …], T > 1
Array latency_values(const Array& x);

// Send on delta: a reference r_i starts at s_0,i; each time the signal is θ or more above (below) it, r_i changes by θ
// and channel 0 (1) emits an event. A step with several crossings emits several events. s : [T, …], x : f32[T, 2, …]
Array delta_events(const Array& s, double threshold);
// r_t: within θ of the encoded signal, given its initial values. x : [T, 2, …], s_0 : […]
Array delta_signal(const Array& x, const Array& first, double threshold);

}  // namespace braintrace::tasks

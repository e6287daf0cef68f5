// SPDX-License-Identifier: Apache-2.0
// Sparse matrices with a known pattern, walked along the entries of those neurons that are not silent. A pattern of E
// entries is arranged when the program is compiled, by either of its ends:
//
//   event_list     how many elements of a row are not zero, whether any is not finite, and which they are
//   event_rows     by column: how many rows are not zero there, and which they are
//   event_dot      y[…, to[e]] += values[e] x[…, from[e]]      over the entries of sources with x ≠ 0
//   event_update   y[e] = w[e] ± u[from[e]] v[to[e]]           over the entries of targets with v ≠ 0, in place, or of
//                                                              sources with u ≠ 0 where entries lie by source
//                  y[e] = w[e] ± Σ_b u[b,from[e]] v[b,to[e]]   of a batch: over the entries of targets with v ≠ 0 in
//                                                              some row, and over those rows
//
//   y = sparse_dot(w, from, to, s)      →      events = event_list(s)
//                                              y = event_dot(w, …, s, …, events)
//
// Threads share targets of a product, in blocks, and groups of entries of an update: no two write to one place, and the
// order of every sum is that of the pattern.
#pragma once

#include "braintrace/codegen/target.h"
#include "braintrace/ir/op.h"

namespace braintrace::codegen {

extern const Op            event_list_op, event_rows_op, event_dot_op, event_update_op;
inline constexpr Key<bool> adds{"adds"};            // event_update: plus
inline constexpr Key<bool> positions{"positions"};  // event_list: which they are, too

enum EventDotOperand : uint8_t { Values, From, To, X, Starts, Order, Targets, Ends, XEvents };
// Of a batch, VEvents are the rows of every target.
enum EventUpdateOperand : uint8_t { W, U, V, UAt, VAt, UStarts, VStarts, VOrder, UEvents, VEvents };

// Entries by key, and those of one key by blocks of the other end. Entries of key k in blocks [a, b) are
// order[starts[k·blocks + a]] … order[starts[k·blocks + b] - 1].
struct Grouping {
  Array starts;  // i32 [keys·blocks + 1]
  Array order;   // i32 [E], or empty where entries lie in this order already
};
Grouping grouped(const Array& key, int64_t keys, const Array& other, int64_t others, int64_t blocks);

// Sparse products and updates of a program as these operations.
Program with_events(const Program& program, const Target& target);

}  // namespace braintrace::codegen

// SPDX-License-Identifier: Apache-2.0
// Event-driven sparse products: for matrices with a known pattern, iterates only over the entries of nonzero (spiking)
// neurons. The E entries of a pattern are grouped at compile time by either end:
//
//   event_list     the number of nonzero elements of a row, whether any is non-finite, and their positions
//   event_rows     per column: the number of rows that are nonzero there, and their positions
//   event_dot      y[…, to[e]] += values[e] x[…, from[e]]      over the entries of sources with x ≠ 0
//   event_update   y[e] = w[e] ± u[from[e]] v[to[e]]           over the entries of targets with v ≠ 0, in place, or of
//                                                              sources with u ≠ 0 if entries are sorted by source
//                  y[e] = w[e] ± Σ_b u[b,from[e]] v[b,to[e]]   for a batch: over the entries of targets with v ≠ 0 in
//                                                              some row, and over those rows
//
//   y = sparse_dot(w, from, to, s)      →      events = event_list(s)
//                                              y = event_dot(w, …, s, …, events)
//
// Threads own disjoint blocks of targets in a product, and disjoint groups of entries in an update: there are no write
// conflicts, and every sum is added in the order of the pattern.
#pragma once

#include "braintrace/codegen/target.h"
#include "braintrace/ir/op.h"

namespace braintrace::codegen {

extern const Op            event_list_op, event_rows_op, event_dot_op, event_update_op;
inline constexpr Key<bool> adds{"adds"};            // event_update: add, not subtract
inline constexpr Key<bool> positions{"positions"};  // event_list: also store the positions

enum EventDotOperand : uint8_t { Values, From, To, X, Starts, Order, Targets, Ends, XEvents };
// For a batch, VEvents lists the rows of every target.
enum EventUpdateOperand : uint8_t { W, U, V, UAt, VAt, UStarts, VStarts, VOrder, UEvents, VEvents };

// Entries grouped by key, and within a key by blocks of the other end. The entries of key k in blocks [a, b) are
// order[starts[k·blocks + a]] … order[starts[k·blocks + b] - 1].
struct Grouping {
  Array starts;  // i32 [keys·blocks + 1]
  Array order;   // i32 [E], or empty if entries are already in this order
};
Grouping grouped(const Array& key, int64_t keys, const Array& other, int64_t others, int64_t blocks);

// Replaces sparse products and updates by these operations.
Program with_events(const Program& program, const Target& target);

}  // namespace braintrace::codegen

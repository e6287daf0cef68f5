// SPDX-License-Identifier: Apache-2.0
// Which memory the kernels of a function read and write.
#pragma once

#include <algorithm>

#include "braintrace/codegen/schedule.h"

namespace braintrace::codegen {

struct MemoryRange {
  Place   place;
  int64_t bytes;
};
using MemoryRanges = std::vector<MemoryRange>;

inline MemoryRange range_of(const Function& f, Var v) {
  const Buffer& b = f.buffers[static_cast<size_t>(v)];
  return {b.place, b.type.bytes()};
}
inline MemoryRange  scratch_of(const Kernel& k) { return {{Place::Kind::Arena, k.place}, k.scratch}; }
inline MemoryRanges ranges_of(const Function& f, const Vars& vars) {
  MemoryRanges out;
  for (Var v : vars) out.push_back(range_of(f, v));
  return out;
}
inline MemoryRanges written_by(const Function& f, const Kernel& k) {
  MemoryRanges out = ranges_of(f, k.writes);
  if (k.scratch > 0) out.push_back(scratch_of(k));
  return out;
}

// A result may lie where an argument does.
inline bool overlap(const Function& f, const MemoryRange& a, const MemoryRange& b) {
  using Kind = Place::Kind;
  if (a.place.kind == Kind::Input && b.place.kind == Kind::Result) {
    const auto input = static_cast<size_t>(a.place.at);
    return input >= f.first_arg && f.may_share(static_cast<size_t>(b.place.at), input - f.first_arg);
  }
  if (a.place.kind == Kind::Result && b.place.kind == Kind::Input) return overlap(f, b, a);
  if (a.place.kind != b.place.kind || a.place.kind == Kind::Constant) return false;
  if (a.place.kind != Kind::Arena) return a.place.at == b.place.at;
  return a.place.at < b.place.at + b.bytes && b.place.at < a.place.at + a.bytes;
}
inline bool overlap(const Function& f, const MemoryRange& a, const MemoryRanges& b) {
  return std::any_of(b.begin(), b.end(), [&](const MemoryRange& r) { return overlap(f, a, r); });
}
inline bool overlap(const Function& f, const MemoryRanges& a, const MemoryRanges& b) {
  return std::any_of(a.begin(), a.end(), [&](const MemoryRange& r) { return overlap(f, r, b); });
}

}  // namespace braintrace::codegen

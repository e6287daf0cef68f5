// SPDX-License-Identifier: Apache-2.0
// Collective operations of a group: every rank must make the same calls, in the same order.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "braintrace/parallel/group.h"

namespace braintrace::parallel {

// The texts of all ranks, by rank.
std::vector<std::string> all_gather(Group& group, const std::string& mine);
// Blocks of equal length from all ranks, concatenated, at every rank.
std::vector<std::byte> all_gather_blocks(Group& group, std::span<const std::byte> mine);
// The same at the first rank; empty at the others.
std::vector<std::byte> gather_blocks(Group& group, std::span<const std::byte> mine);
// The text of the first rank.
std::string broadcast(Group& group, const std::string& text);
bool        any(Group& group, bool mine);

// Runs f on every rank; if it fails on any rank, all throw a SharedError that names the rank. For work without
// communication.
void all_succeed(Group& group, const std::function<void()>& f);

}  // namespace braintrace::parallel

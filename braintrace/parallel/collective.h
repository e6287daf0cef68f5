// SPDX-License-Identifier: Apache-2.0
// What all ranks of a group do together: each call is made by every rank, in the same order.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "braintrace/parallel/group.h"

namespace braintrace::parallel {

// The texts of all ranks, by rank.
std::vector<std::string> all_gather(Group& group, const std::string& mine);
// Equally long blocks of all ranks, one after the other, at every rank.
std::vector<std::byte> all_gather_blocks(Group& group, std::span<const std::byte> mine);
// The same at the first rank; nothing at the others.
std::vector<std::byte> gather_blocks(Group& group, std::span<const std::byte> mine);
// The text of the first rank.
std::string broadcast(Group& group, const std::string& text);
bool        any(Group& group, bool mine);

// Runs f here; where it fails on some rank, all throw SharedError, which says on which. For work that talks to nobody.
void all_succeed(Group& group, const std::function<void()>& f);

}  // namespace braintrace::parallel

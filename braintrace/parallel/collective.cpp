// SPDX-License-Identifier: Apache-2.0
#include "braintrace/parallel/collective.h"

#include <algorithm>
#include <cstring>
#include <exception>
#include <new>

#include <fmt/format.h>

namespace braintrace::parallel {

namespace {

std::span<const std::byte> bytes_of(const std::string& text) { return std::as_bytes(std::span(text)); }

std::vector<Outgoing> to_all(const Group& group, std::span<const std::byte> mine) {
  std::vector<Outgoing> out;
  for (int r = 0; r < group.size(); ++r)
    if (r != group.rank()) out.push_back({r, mine.data(), mine.size()});
  return out;
}

// Where the blocks of the other ranks go; the block of this rank is copied there.
std::vector<Incoming> places(const Group& group, std::span<const std::byte> mine, std::vector<std::byte>& all) {
  std::vector<Incoming> in;
  all.resize(mine.size() * static_cast<size_t>(group.size()));
  for (int r = 0; r < group.size(); ++r) {
    std::byte* at = all.data() + mine.size() * static_cast<size_t>(r);
    if (r != group.rank())
      in.push_back({r, at, mine.size()});
    else
      std::copy(mine.begin(), mine.end(), at);
  }
  return in;
}

}  // namespace

std::vector<std::byte> all_gather_blocks(Group& group, std::span<const std::byte> mine) {
  std::vector<std::byte> all;
  const auto             in = places(group, mine, all);
  group.exchange(to_all(group, mine), in);
  return all;
}

std::vector<std::byte> gather_blocks(Group& group, std::span<const std::byte> mine) {
  std::vector<std::byte> all;
  if (group.is_first()) {
    const auto in = places(group, mine, all);
    group.exchange({}, in);
  } else {
    const std::vector<Outgoing> out{{0, mine.data(), mine.size()}};
    group.exchange(out, {});
  }
  return all;
}

std::vector<std::string> all_gather(Group& group, const std::string& mine) {
  const uint64_t           length  = mine.size();
  const auto               lengths = all_gather_blocks(group, std::as_bytes(std::span(&length, 1)));
  std::vector<std::string> texts(static_cast<size_t>(group.size()));
  std::vector<Incoming>    in;
  for (int r = 0; r < group.size(); ++r) {
    std::string& text = texts[static_cast<size_t>(r)];
    uint64_t     n    = 0;
    std::memcpy(&n, lengths.data() + sizeof n * static_cast<size_t>(r), sizeof n);
    text.resize(n);
    if (r != group.rank()) in.push_back({r, reinterpret_cast<std::byte*>(text.data()), n});
  }
  group.exchange(to_all(group, bytes_of(mine)), in);
  texts[static_cast<size_t>(group.rank())] = mine;
  return texts;
}

std::string broadcast(Group& group, const std::string& text) {
  return all_gather(group, group.is_first() ? text : std::string()).front();
}

bool any(Group& group, bool mine) {
  const auto flag = static_cast<std::byte>(mine);
  const auto all  = all_gather_blocks(group, std::span(&flag, 1));
  return std::any_of(all.begin(), all.end(), [](std::byte b) { return b != std::byte{}; });
}

void all_succeed(Group& group, const std::function<void()>& f) {
  if (group.size() == 1) return f();
  std::string error;
  try {
    f();
  } catch (const std::bad_alloc&) {
    error = "not enough memory.";
  } catch (const std::exception& e) {
    error = e.what();
  }
  const auto errors = all_gather(group, error);
  const auto first  = std::find_if(errors.begin(), errors.end(), [](const std::string& e) { return !e.empty(); });
  if (first == errors.end()) return;
  const bool everywhere = std::all_of(errors.begin(), errors.end(), [&](const std::string& e) { return e == *first; });
  throw SharedError(everywhere ? *first
                               : fmt::format("rank {} of {}: {}", first - errors.begin(), group.size(), *first));
}

}  // namespace braintrace::parallel

// SPDX-License-Identifier: Apache-2.0
#include "braintrace/train/alike.h"

#include <filesystem>
#include <set>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "braintrace/base/json.h"
#include "braintrace/base/version.h"
#include "braintrace/io/file.h"
#include "braintrace/parallel/collective.h"

namespace braintrace::train {

namespace {

namespace fs = std::filesystem;
using nlohmann::json;

// FNV-1a: equal data has equal numbers on every machine.
class Fingerprint {
 public:
  void add(const void* data, size_t bytes) {
    const auto* at = static_cast<const unsigned char*>(data);
    for (size_t i = 0; i < bytes; ++i) hash_ = (hash_ ^ at[i]) * 0x100000001b3;
  }
  void        add(const std::string& text) { add(text.data(), text.size() + 1); }
  std::string text() const { return fmt::format("{:016x}", hash_); }

 private:
  uint64_t hash_ = 0xcbf29ce484222325;
};

// A file by its bytes; a folder by the names and sizes of its files.
std::string fingerprint_of(const fs::path& path) {
  Fingerprint f;
  if (fs::is_regular_file(path)) {
    const Buffer b = read_file(path.string());
    f.add(b.span().data(), b.span().size());
    return f.text();
  }
  std::set<std::string> files;
  for (const auto& entry : fs::recursive_directory_iterator(path))
    if (entry.is_regular_file())
      files.insert(fmt::format("{} {}", fs::relative(entry.path(), path).string(), entry.file_size()));
  for (const std::string& name : files) f.add(name);
  return f.text();
}

void add_files(const json& j, json& to) {
  if (j.is_structured())
    for (const json& inner : j) add_files(inner, to);
  if (!j.is_string()) return;
  const auto name = j.get<std::string>();
  if (std::error_code error; !name.empty() && fs::exists(name, error)) to[name] = fingerprint_of(name);
}

// The first samples of the task: the contents of files, whatever their names.
std::string first_samples(const tasks::Task& task) {
  Fingerprint f;
  const auto& facts = task.facts();
  for (const auto part : {tasks::Part::Train, tasks::Part::Validation, tasks::Part::Test}) {
    f.add(std::to_string(facts.samples(part)));
    const bool only_test = facts.train_samples == 0 && facts.test_samples > 0;
    if (part == tasks::Part::Test ? !facts.has_test : only_test) continue;
    const tasks::Batch b = task.batch(part, 0, 1);
    for (const Array* a : {&b.inputs, &b.targets, &b.mask}) f.add(a->raw(), a->bytes());
  }
  return f.text();
}

// What must be the same on all ranks, with names for messages.
json facts_of(const Config& config, const tasks::Task& task) {
  json c = read_json(config.text, "config");
  for (const char* place : {"output", "about", "name"}) c.erase(place);
  json files = json::object();
  add_files(read_json(config.task, "config.task"), files);
  return {{"version", std::string(version)}, {"config", c}, {"data", files}, {"samples", first_samples(task)}};
}

}  // namespace

void check_alike(parallel::Group& group, const Config& config, const tasks::Task& task) {
  if (group.size() == 1) return;
  std::string mine;
  parallel::all_succeed(group, [&] { mine = facts_of(config, task).dump(); });
  const auto all   = parallel::all_gather(group, mine);
  const json first = read_json(all[0], "rank 0");
  for (size_t r = 1; r < all.size(); ++r) {
    if (all[r] == all[0]) continue;
    const json  other   = read_json(all[r], fmt::format("rank {}", r));
    const json  changes = json::diff(first, other);
    const auto  at      = json::json_pointer(changes[0]["path"].get<std::string>());
    const auto  shown   = [&](const json& j) { return j.contains(at) ? j[at].dump() : std::string("not given"); };
    std::string place   = at.back();
    for (auto above = at.parent_pointer(); !above.empty(); above.pop_back()) place = above.back() + "." + place;
    throw parallel::SharedError(
        fmt::format("the processes of this run differ: {} is {} on rank 0 and {} on rank {}.\n  Give all the same "
                    "program, configuration and data.",
                    place, shown(first), shown(other), r));
  }
}

}  // namespace braintrace::train

// SPDX-License-Identifier: Apache-2.0
#include "braintrace/train/checkpoint.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <unistd.h>

#include <fmt/format.h>

#include "braintrace/base/finite.h"
#include "braintrace/io/folder.h"

namespace braintrace::train {

namespace fs = std::filesystem;

namespace {

constexpr const char* format_name    = "braintrace-checkpoint";
constexpr int         format_version = 1;
constexpr const char* extension      = ".safetensors";
constexpr const char* prefix         = "step-";

// The number in step-00000042.safetensors.
std::optional<int64_t> number_of(const std::string& name) {
  const std::string_view text(name), before(prefix), after(extension);
  if (!text.starts_with(before) || !text.ends_with(after)) return std::nullopt;
  const char *from = text.data() + before.size(), *to = text.data() + text.size() - after.size();
  int64_t     n = 0;
  const auto  r = std::from_chars(from, to, n);
  return r.ec == std::errc() && r.ptr == to && n >= 0 ? std::optional(n) : std::nullopt;
}

}  // namespace

void write_checkpoint(const std::string& path, const Checkpoint& c) {
  write_safetensors(path, {c.arrays,
                           {{"format", format_name},
                            {"version", std::to_string(format_version)},
                            {"config", c.config},
                            {"progress", c.progress}},
                           false});
}

Checkpoint read_checkpoint(const std::string& path) {
  const SafeTensors file = read_safetensors(path);
  const auto        text = [&](const char* key) {
    const auto it = file.metadata.find(key);
    return it == file.metadata.end() ? std::string() : it->second;
  };
  require(text("format") == format_name, "{}: this is not a checkpoint of braintrace.", path);
  int        version = 0;
  const auto written = text("version");
  std::from_chars(written.data(), written.data() + written.size(), version);
  require(version <= format_version,
          "{}: a newer version of braintrace wrote it (checkpoint version {}; this one reads up to {}).\n  Use the "
          "newer version.",
          path, version, format_version);
  require(version == format_version && file.checked, "{}: the file is damaged: version or checksum is missing.", path);
  return {file.arrays, text("config"), text("progress")};
}

void gather(NamedArrays& to, const std::string& prefix, const StateMap& states) {
  for (const auto& [path, state] : states)
    for (const std::string& leaf : state.leaf_names()) {
      const std::string name = prefix + "." + leaf_name(path, leaf);
      require(to.emplace(name, state.leaf(leaf).array()).second,
              "two states would be saved as '{}'; give them different names.", name);
    }
}

namespace {

// Converts an array to the type of a state. Counters had 32 bits in older checkpoints.
Array for_state(const Array& array, const Type& type) {
  const bool is_old_counter = array.type() == Type{DType::I32, type.shape} && type.dtype == DType::I64;
  return is_old_counter ? convert(array, DType::I64) : array;
}

}  // namespace

void check_fits(const NamedArrays& from, const std::string& prefix, const StateMap& states, const std::string& where) {
  size_t count = 0;
  for (const auto& [name, array] : from) count += name.starts_with(prefix + ".") ? 1 : 0;
  for (const auto& [path, state] : states)
    for (const std::string& leaf : state.leaf_names()) {
      const std::string name = prefix + "." + leaf_name(path, leaf);
      const auto        it   = from.find(name);
      require(it != from.end(), "{}: it belongs to a different model: there is no array '{}' in it.", where, name);
      const Type type = state.leaf(leaf).type();
      require(for_state(it->second, type).type() == type,
              "{}: it belongs to a different model: array '{}' is {} there and {} here.", where, name,
              to_string(it->second.type()), to_string(type));
      require(all_finite(it->second), "{}: array '{}' holds values that are not finite.", where, name);
      --count;
    }
  require(count == 0, "{}: it belongs to a different model: it has {} arrays below '{}' that this model lacks.", where,
          count, prefix);
}

void restore(const NamedArrays& from, const std::string& prefix, const StateMap& states, const std::string& where) {
  check_fits(from, prefix, states, where);
  for (const auto& [path, state] : states)
    for (const std::string& leaf : state.leaf_names())
      state.set_leaf(leaf, for_state(from.at(prefix + "." + leaf_name(path, leaf)), state.leaf(leaf).type()));
}

void CheckpointFolder::prepare() const {
  make_folder(dir_);
  // Partial files of a killed process.
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(dir_, error)) {
    const std::string name = entry.path().filename().string();
    if (name.ends_with(".tmp") && name.find(extension) != name.npos) ::unlink(entry.path().c_str());
  }
}

std::string CheckpointFolder::path_of(int64_t step) const {
  return fmt::format("{}/{}{:08}{}", dir_, prefix, step, extension);
}
std::string CheckpointFolder::best_path() const { return dir_ + "/best" + extension; }

std::vector<std::string> CheckpointFolder::files() const {
  std::vector<std::pair<int64_t, std::string>> found;
  std::error_code                              error;
  for (fs::directory_iterator it(dir_, error), end; !error && it != end; it.increment(error))
    if (const auto n = number_of(it->path().filename().string())) found.emplace_back(*n, it->path().string());
  std::sort(found.begin(), found.end());
  std::vector<std::string> out;
  for (auto& [n, path] : found) out.push_back(std::move(path));
  return out;
}

std::string CheckpointFolder::write(int64_t step, const Checkpoint& c) const {
  const std::string path = path_of(step);
  write_checkpoint(path, c);
  const std::vector<std::string> all  = files();
  const auto                     kept = static_cast<size_t>(keep_);
  for (size_t i = 0; i + kept < all.size(); ++i)
    if (all[i] != path) ::unlink(all[i].c_str());
  return path;
}

std::optional<std::string> CheckpointFolder::newest_valid(std::vector<std::string>& refused) const {
  std::vector<std::string> all = files();
  for (auto it = all.rbegin(); it != all.rend(); ++it) {
    try {
      read_checkpoint(*it);
      return *it;
    } catch (const UserError& error) {
      refused.emplace_back(error.what());
    }
  }
  return std::nullopt;
}

void CheckpointFolder::remove_all() const {
  for (const std::string& f : files()) ::unlink(f.c_str());
  ::unlink(best_path().c_str());
}

}  // namespace braintrace::train

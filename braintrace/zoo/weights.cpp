// SPDX-License-Identifier: Apache-2.0
#include "braintrace/zoo/weights.h"

#include <algorithm>
#include <filesystem>
#include <set>

#include <fmt/format.h>

#include "braintrace/base/finite.h"
#include "braintrace/io/msgpack.h"
#include "braintrace/io/safetensors.h"

namespace braintrace::zoo {

namespace {

constexpr std::string_view checkpoint_prefix = "model.";

// The model of a checkpoint of `braintrace train` or `braintrace stream`, without the rest of it. Where the optimizer
// averaged the weights, the averages: they are what was judged.
NamedArrays parameters_in(const SafeTensors& file) {
  const auto format = file.metadata.find("format");
  if (format == file.metadata.end() || !format->second.starts_with("braintrace-")) return file.arrays;
  NamedArrays out;
  for (const auto& [name, array] : file.arrays) {
    if (!name.starts_with(checkpoint_prefix)) continue;
    const std::string path    = name.substr(checkpoint_prefix.size());
    const auto        average = file.arrays.find("optimizer." + path + ".average");
    out.emplace(path, average == file.arrays.end() ? array : average->second);
  }
  return out;
}

void add_list(std::string& text, const char* what, const std::vector<std::string>& names) {
  constexpr size_t shown = 8;
  if (names.empty()) return;
  text += fmt::format("\n  {} ({}):", what, names.size());
  for (size_t i = 0; i < std::min(shown, names.size()); ++i) text += " " + names[i];
  if (names.size() > shown) text += " …";
}

}  // namespace

std::string WeightReport::text() const {
  std::string out = fmt::format("{} parameters matched", matched.size());
  add_list(out, "missing in the file", missing);
  add_list(out, "unused", unused);
  if (!other_shape.empty()) {
    out += fmt::format("\n  of another shape ({}):", other_shape.size());
    for (const OtherShape& o : other_shape)
      out += fmt::format("\n    {}: {} in the file, {} in the model", o.name, o.in_file, o.in_model);
  }
  return out;
}

NamedArrays read_weights(const std::string& path) {
  const Buffer   file  = read_file(path);
  const ByteSpan bytes = file.span();
  if (bytes.size() >= 2 && bytes[0] == std::byte{'P'} && bytes[1] == std::byte{'K'})
    return decode_npz(bytes, path, file.data);
  if (bytes.size() >= 9 && bytes[8] == std::byte{'{'}) return parameters_in(decode_safetensors(bytes, path, file.data));
  return decode_msgpack_arrays(bytes, path);
}

std::string weights_beside(const std::string& weights, const std::string& description_file) {
  return (std::filesystem::path(description_file).parent_path() / weights).string();
}

NamedArrays weights_of(const Module& model) {
  NamedArrays out;
  for (const auto& [path, state] : model.params())
    for (const std::string& leaf : state.leaf_names()) out.emplace(leaf_name(path, leaf), state.leaf(leaf).array());
  return out;
}

WeightReport load_weights(const Module& model, const NamedArrays& weights, bool strict) {
  WeightReport                                    report;
  std::vector<std::pair<StateLeaf, const Array*>> found;
  std::set<std::string>                           known;  // all states: a file may have more than parameters
  for (const auto& [path, state] : model.states()) {
    if (!state.is_param()) {
      known.insert(path.str());
      continue;
    }
    for (const std::string& leaf : state.leaf_names()) {
      const std::string name = leaf_name(path, leaf);
      known.insert(name);
      const auto it = weights.find(name);
      if (it == weights.end()) {
        report.missing.push_back(name);
        continue;
      }
      const Type here = state.type(leaf);
      require(all_finite(it->second), "the array '{}' holds values that are not finite.", name);
      if (it->second.shape() != here.shape) {
        report.other_shape.push_back({name, to_string(it->second.type()), to_string(here)});
        continue;
      }
      report.matched.push_back(name);
      found.emplace_back(StateLeaf{state, leaf}, &it->second);
    }
  }
  for (const auto& [name, array] : weights)
    if (!known.contains(name) && !known.contains(name.substr(0, name.rfind('.')))) report.unused.push_back(name);
  require(!strict || report.complete(), "the weights do not fit the model: {}", report.text());
  for (const auto& [leaf, array] : found) leaf.set(Tensor(convert(*array, leaf.state.type(leaf.leaf).dtype)));
  return report;
}

}  // namespace braintrace::zoo

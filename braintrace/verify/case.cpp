// SPDX-License-Identifier: Apache-2.0
#include "braintrace/verify/case.h"

#include <algorithm>
#include <filesystem>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "braintrace/base/json.h"
#include "braintrace/ops/math.h"
#include "braintrace/ops/move.h"
#include "braintrace/verify/layers/layers.h"

namespace braintrace::golden {

namespace {

namespace fs = std::filesystem;

json json_in(const std::string& file) { return read_json(read_text(file), file); }

// As case files list arrays: f8[6,2,4].
std::string listed_type(const Array& a) {
  const std::string_view dtype = name_of(a.dtype());  // f64, i32, bool
  const std::string      short_name =
      a.dtype() == DType::Bool ? "b1" : fmt::format("{}{}", dtype[0], std::stoi(std::string(dtype.substr(1))) / 8);
  return fmt::format("{}[{}]", short_name, fmt::join(a.shape(), ","));
}

void check_arrays(const Case& c) {
  for (const auto& [name, type] : c.info.at("arrays").items()) {
    const auto it = c.arrays.find(name);
    require(it != c.arrays.end(), "{}: array {} is listed but not in arrays.npz.", c.file, name);
    require(type == listed_type(it->second), "{}: array {} is listed as {}, arrays.npz holds {}.", c.file, name,
            type.dump(), listed_type(it->second));
  }
}

}  // namespace

const Array& Case::array(const std::string& name) const {
  const auto it = arrays.find(name);
  require(it != arrays.end(), "the case has no array '{}'.", name);
  return it->second;
}

Case load_case(const std::string& path) {
  Case c;
  c.file = fs::is_directory(path) ? (fs::path(path) / "case.json").string() : path;
  c.info = json_in(c.file);
  require(c.info.is_object() && c.info.contains("format") && c.info["format"].is_string(),
          "{}: a case must be an object with a field \"format\".", c.file);
  c.format = c.info["format"].get<std::string>();
  c.name   = c.info.contains("name") && c.info["name"].is_string() ? c.info["name"].get<std::string>()
                                                                   : fs::path(c.file).stem().string();
  if (c.info.contains("arrays")) {
    c.arrays = read_npz((fs::path(c.file).parent_path() / "arrays.npz").string());
    check_arrays(c);
  }
  return c;
}

std::vector<std::string> find_cases(const std::string& path) {
  require(fs::exists(path), "{}: there is no such file or folder.", path);
  if (!fs::is_directory(path)) return {path};
  std::vector<std::string> out;
  for (const auto& entry : fs::recursive_directory_iterator(path)) {
    if (entry.path().extension() != ".json") continue;
    // Lists and indices may lie among the cases; what names a format, or is called case.json, is one.
    const json info = json_in(entry.path().string());
    if (entry.path().filename() == "case.json" || (info.is_object() && info.contains("format")))
      out.push_back(entry.path().string());
  }
  require(!out.empty(), "{}: there is no case in or below this folder.", path);
  std::sort(out.begin(), out.end());
  return out;
}

namespace {

std::shared_ptr<Module> build_model(const Case& c, BatchSize batch) {
  auto model = described_model(c.info.at("model"));
  init_all_states(*model, {.batch_size = batch});
  const DType dtype = c.info.value("dtype", "float32") == "float64" ? DType::F64 : DType::F32;
  for (const auto& [path, state] : model->states())
    for (const std::string& leaf : state.leaf_names())
      if (is_float(state.leaf(leaf).dtype())) state.set_leaf(leaf, convert(state.leaf(leaf), dtype));
  return model;
}

BatchSize batch_of(const Case& c) {
  const json& batch = c.info.contains("batch") ? c.info["batch"] : c.info.at("B");
  return batch.is_null() ? BatchSize() : BatchSize(batch.get<int64_t>());
}

// Sets the states of a kind to what is recorded under a prefix.
void load(const Case& c, const Module& model, bool params, const std::string& prefix) {
  for (const auto& [path, state] : model.states()) {
    if (state.is_param() != params || state.kind() == StateKind::Random) continue;
    for (const std::string& leaf : state.leaf_names()) {
      const std::string name = prefix + leaf_name(path, leaf);
      const auto        it   = c.arrays.find(name);
      require(it != c.arrays.end(), "{}: the model needs {}, which is not recorded.", c.file, name);
      require(state.leaf(leaf).shape() == it->second.shape(), "{}: {} is recorded with shape {}, the model has {}.",
              c.file, name, to_string(it->second.shape()), to_string(state.leaf(leaf).shape()));
      state.set_leaf(leaf, Tensor(it->second));
    }
  }
  for (const auto& entry : c.arrays)
    if (entry.first.rfind(prefix, 0) == 0) find_leaf(model, entry.first.substr(prefix.size()));
}

}  // namespace

std::shared_ptr<Module> build_model(const Case& c) { return build_model(c, batch_of(c)); }

std::shared_ptr<Module> load_parameters(const Case& c) {
  auto model = build_model(c);
  load(c, *model, true, "param.");
  return model;
}

std::shared_ptr<Module> load_lane_model(const Case& c) {
  auto model = build_model(c, {});
  load(c, *model, true, "param.");
  return model;
}

void load_hidden(const Case& c, const Module& model) { load(c, model, false, "h0."); }

std::shared_ptr<Module> load_model(const Case& c) {
  auto model = load_parameters(c);
  load_hidden(c, *model);
  return model;
}

std::pair<State, std::string> find_leaf(const Module& model, const std::string& name) {
  for (const auto& [path, state] : model.states())
    for (const std::string& leaf : state.leaf_names())
      if (leaf_name(path, leaf) == name) return {state, leaf};
  fail("the model has no state for {}.", name);
}

Tensor at_step(const Array& all, int64_t t) {
  const Tensor x(all);
  require(x.rank() >= 1 && t < x.shape()[0], "there is no step {} in an array of shape {}.", t, to_string(x.shape()));
  return squeeze(slice_axis(x, 0, t, t + 1), {0});
}
Array stacked(const std::vector<Array>& rows) { return stack(Tensors(rows.begin(), rows.end()), 0).array(); }

}  // namespace braintrace::golden

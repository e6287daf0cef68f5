// SPDX-License-Identifier: Apache-2.0
#include "braintrace/sweep/plan.h"

#include <algorithm>
#include <filesystem>
#include <set>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "braintrace/base/ascii.h"
#include "braintrace/base/counted.h"
#include "braintrace/base/error.h"
#include "braintrace/base/json.h"
#include "braintrace/io/file.h"
#include "braintrace/io/folder.h"
#include "braintrace/viz/escape.h"

namespace braintrace::sweep {

namespace {

using nlohmann::ordered_json;
namespace fs = std::filesystem;

constexpr size_t most_runs = 100'000, longest_name = 80;

constexpr const char* format = "braintrace-sweep/1";

// Fields that the sweep sets for every run.
const std::vector<std::string> own_fields = {"name", "output", "checkpoint.dir"};

std::string field_of(const std::string& assignment) { return assignment.substr(0, assignment.find('=')); }

bool is_inside(const std::string& field, const std::string& outer) {
  return field == outer || field.starts_with(outer + ".");
}

void check_axes(const std::vector<Axis>& axes, const std::vector<std::string>& replaced, int64_t seeds) {
  for (size_t i = 0; i < axes.size(); ++i) {
    const std::string& field = axes[i].field;
    for (size_t j = 0; j < i; ++j)
      require(!is_inside(field, axes[j].field) && !is_inside(axes[j].field, field),
              "--grid {}: {} is in the grid already; give all values of a field at once.", field, axes[j].field);
    for (const std::string& own : own_fields)
      require(!is_inside(own, field), "--grid {}: each run sets its own {}; it cannot be part of the grid.", field,
              own);
    for (const std::string& set : replaced)
      require(!is_inside(field, field_of(set)) && !is_inside(field_of(set), field),
              "--grid {}: --set {} gives it one value for all runs; leave out one of them.", field, set);
    require(field != "seed" || seeds == 1, "--grid seed: with --seeds {} seeds are chosen already; leave out one.",
            seeds);
  }
}

std::vector<Point> combinations(const std::vector<Axis>& axes) {
  std::vector<Point> out = {{"", {}}};
  for (const Axis& axis : axes) {
    std::vector<Point> longer;
    require(out.size() * axis.values.size() <= most_runs, "the grid has more than {} points.", most_runs);
    for (const Point& p : out)
      for (const std::string& value : axis.values) {
        Point q = p;
        q.assignments.push_back(axis.field + "=" + value);
        q.name += (q.name.empty() ? "" : " ") + q.assignments.back();
        longer.push_back(std::move(q));
      }
    out = std::move(longer);
  }
  if (axes.empty()) out[0].name = "all defaults";
  return out;
}

// As the name of a folder: characters with a special meaning in shells or file systems become "_".
std::string file_name(const std::string& text) {
  std::string out;
  for (char c : text.substr(0, longest_name))
    out += c == ' '                                                                                     ? '-'
           : is_digit(c) || is_letter(c) || std::string_view("=._+-").find(c) != std::string_view::npos ? c
                                                                                                        : '_';
  return out;
}

}  // namespace

Axis parse_axis(const std::string& text) {
  const size_t eq = text.find('=');
  require(eq != text.npos && eq > 0, "--grid {}: expected FIELD=VALUE,VALUE, such as optimizer.lr=1e-3,3e-3.", text);
  require(utf8(text) == text, "--grid {}: this is not valid UTF-8.", utf8(text));
  Axis axis{text.substr(0, eq), {""}};
  int  depth     = 0;
  bool is_quoted = false, is_escaped = false;
  for (char c : text.substr(eq + 1)) {
    if (c == ',' && depth == 0 && !is_quoted) {
      axis.values.emplace_back();
      continue;
    }
    axis.values.back() += c;
    if (is_quoted && !is_escaped && c == '\\') {
      is_escaped = true;
      continue;
    }
    if (c == '"' && !is_escaped) is_quoted = !is_quoted;
    is_escaped = false;
    if (!is_quoted) depth += c == '[' || c == '{' ? 1 : c == ']' || c == '}' ? -1 : 0;
  }
  std::set<std::string> seen;
  for (const std::string& value : axis.values) {
    require(!value.empty(), "--grid {}: a value is empty.", text);
    require(seen.insert(value).second, "--grid {}: the value {} is given twice.", text, value);
  }
  return axis;
}

Plan::Plan(const Request& request) : replaced_(request.replaced) {
  require(request.seeds >= 1, "--seeds {}: expected at least one.", request.seeds);
  for (const std::string& text : request.grid) axes_.push_back(parse_axis(text));
  check_axes(axes_, replaced_, request.seeds);
  for (const std::string& set : replaced_)
    for (const std::string& own : own_fields)
      require(own == "name" || !is_inside(own, field_of(set)), "--set {}: each run sets its own {}; see --output.", set,
              own);

  ordered_json given = read_ordered_json(read_text(request.config), request.config);
  require(given.is_object(), "{}: expected an object with the fields of a training configuration.", request.config);
  const fs::path file(request.config);
  if (!given.contains("name")) given["name"] = utf8(file.stem().string());
  // The path of a model file is relative to the configuration, which is written elsewhere.
  if (given.contains("model") && given["model"].is_string())
    if (const auto model = given["model"].get<std::string>(); model.find_first_of("/.") != model.npos) {
      const std::string path = (file.parent_path() / model).string();
      require(fs::is_regular_file(path), "{}: model: there is no file {}.", request.config, path);
      given["model"] = read_ordered_json(read_text(path), path);
    }
  given.erase("output");
  if (given.contains("checkpoint") && given["checkpoint"].is_object()) given["checkpoint"].erase("dir");
  uint64_t first_seed = 0;
  if (given.contains("seed") && given["seed"].is_number_unsigned()) first_seed = given["seed"].get<uint64_t>();
  for (const std::string& set : replaced_)
    require(field_of(set) != "seed", "--set {}: write the first seed into the configuration, or use --grid seed=….",
            set);
  name_   = given["name"].is_string() ? given["name"].get<std::string>() : "sweep";
  config_ = json_text(given, 2);

  points_ = combinations(axes_);
  require(points_.size() * static_cast<size_t>(request.seeds) <= most_runs, "{} with {} are more than {} runs.",
          counted(points_.size(), "point"), counted(request.seeds, "seed"), most_runs);
  const bool   seed_is_swept = std::any_of(axes_.begin(), axes_.end(), [](const Axis& a) { return a.field == "seed"; });
  const size_t width         = fmt::format("{}", points_.size() * static_cast<size_t>(request.seeds) - 1).size();
  for (size_t p = 0; p < points_.size(); ++p)
    for (int64_t s = 0; s < request.seeds; ++s) {
      const uint64_t seed = first_seed + static_cast<uint64_t>(s);
      std::string    name = axes_.empty() ? "" : points_[p].name;
      if (!seed_is_swept) name += fmt::format("{}seed={}", name.empty() ? "" : " ", seed);
      const std::string folder = fmt::format("runs/{:0{}}-{}", runs_.size(), width, file_name(name));
      runs_.push_back({p, seed, name, folder});
    }
}

std::vector<std::string> Plan::assignments(const Run& run, const std::string& folder) const {
  std::vector<std::string> out = replaced_;
  if (std::none_of(axes_.begin(), axes_.end(), [](const Axis& a) { return a.field == "seed"; }))
    out.push_back(fmt::format("seed={}", run.seed));
  const auto& chosen = points_[run.point].assignments;
  out.insert(out.end(), chosen.begin(), chosen.end());
  out.push_back("output=" + json_text(ordered_json((fs::path(folder) / run.folder).string())));
  return out;
}

void Plan::enter(const std::string& folder) const {
  ordered_json grid = ordered_json::object();
  for (const Axis& a : axes_) grid[a.field] = a.values;
  const ordered_json note = {{"format", format},
                             {"config", read_ordered_json(config_, "config")},
                             {"set", replaced_},
                             {"grid", grid},
                             {"first_seed", runs_[0].seed},
                             {"runs", runs_.size()}};
  make_folder(folder);
  const std::string path = folder + "/sweep.json";
  if (fs::exists(path)) {
    const ordered_json there = read_ordered_json(read_text(path), path);
    require(there.is_object() && there.value("format", ordered_json()) == format,
            "{}: this is not the file of a sweep that this version of braintrace can read ({}).", path, format);
    for (const auto& [key, value] : note.items())
      require(there.contains(key) && there[key] == value,
              "{}: this folder contains a different sweep; its {} differs.\n  Give the same grid, seeds and "
              "configuration to continue it, or choose another folder with --output.",
              folder, key == "set" ? "--set" : key);
    return;
  }
  require(!fs::exists(folder + "/runs"), "{}: this folder contains other runs; choose another one with --output.",
          folder);
  write_text(folder + "/config.json", config_ + "\n");
  write_text(path, json_text(note, 2) + "\n");
}

}  // namespace braintrace::sweep

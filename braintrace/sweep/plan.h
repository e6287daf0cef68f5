// SPDX-License-Identifier: Apache-2.0
// The runs of a sweep: every combination of the values of a grid, each with several seeds.
//
//   const Plan plan({.config = "config.json", .grid = {"optimizer.lr=1e-3,3e-3"}, .seeds = 5});
//   for (const Run& run : plan.runs()) …                       // ten of them
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace braintrace::sweep {

struct Request {
  std::string              config;         // path of a training configuration
  std::vector<std::string> grid     = {};  // FIELD=VALUE,VALUE,…
  std::vector<std::string> replaced = {};  // FIELD=VALUE for all runs
  int64_t                  seeds    = 1;   // runs per point, with the configured seed and the following ones
};

struct Axis {
  std::string              field;
  std::vector<std::string> values;  // JSON or plain words, as given
};
// "optimizer.lr=1e-3,3e-3". A comma inside brackets, braces or quotes belongs to a value. Throws UserError.
Axis parse_axis(const std::string& text);

// One combination of values.
struct Point {
  std::string              name;         // "optimizer.lr=1e-3 batch=8"; "all defaults" without a grid
  std::vector<std::string> assignments;  // FIELD=VALUE
};

struct Run {
  size_t      point = 0;
  uint64_t    seed  = 0;
  std::string name;    // "optimizer.lr=1e-3 seed=0"
  std::string folder;  // "runs/03-optimizer.lr=1e-3-seed=0", inside the folder of the sweep
};

class Plan {
 public:
  // Reads the configuration. Throws UserError for a field that occurs twice, or that the sweep itself sets.
  explicit Plan(const Request& request);

  const std::vector<Axis>&  axes() const { return axes_; }
  const std::vector<Point>& points() const { return points_; }
  const std::vector<Run>&   runs() const { return runs_; }
  const std::string&        name() const { return name_; }
  // The configuration that all runs start from, as JSON; a model in a separate file is included.
  const std::string& config() const { return config_; }
  // The fields that are replaced for a run, if the sweep is in `folder`.
  std::vector<std::string> assignments(const Run& run, const std::string& folder) const;

  // Creates the folder and records the sweep there, or finds a record of the same sweep. A record of a different sweep
  // is an error.
  void enter(const std::string& folder) const;

 private:
  std::string              name_, config_;
  std::vector<std::string> replaced_;
  std::vector<Axis>        axes_;
  std::vector<Point>       points_;
  std::vector<Run>         runs_;
};

}  // namespace braintrace::sweep

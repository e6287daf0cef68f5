// SPDX-License-Identifier: Apache-2.0
// The configuration of a training run, as one JSON object: model, rule, task, optimizer and training options.
// docs/training.md lists the fields; the list is generated from this code.
//
//   const Config config = load_config("examples/configs/copy_gru_d_rtrl.json", {"optimizer.lr=1e-3"});
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "braintrace/algorithms/drivers.h"

namespace braintrace::train {

struct Config {
  std::string text;                          // the whole configuration as JSON, with defaults filled in
  std::string model, rule, task, optimizer;  // their parts of it
  std::string name, about;

  std::string loss;
  int64_t     batch = 1, steps = 0, epochs = 0;  // one of steps and epochs is zero
  int64_t     shards = 0;                        // of a batch; 0: not given
  Window      window;
  Reduction   reduction    = Reduction::Mean;
  int64_t     update_every = 0;  // time steps between updates; 0: the whole sequence
  bool        reset        = true;
  uint64_t    seed         = 0;
  std::string backend;
  DType       precision = DType::F32;
  double      dt        = 1;

  struct Validation {
    int64_t every = 0, batches = 0;  // 0: the whole part
  } validation;
  struct EarlyStop {
    int64_t patience  = 0;  // 0: never
    double  min_delta = 0;
    bool    at_goal   = false;
  } early_stop;
  struct Goal {
    std::optional<double> accuracy, loss;

    bool exists() const { return accuracy || loss; }
    bool reached(double validated_loss, double validated_accuracy) const {
      return (!accuracy || validated_accuracy >= *accuracy) && (!loss || validated_loss <= *loss);
    }
  } goal;
  struct Checkpoints {
    std::string dir;  // empty: no checkpoints
    int64_t     every = 0, keep = 1;
    bool        best = false;
  } checkpoint;
  std::string output;
  std::string init;  // file of initial weights; empty: none
};

// Checks names and types of all fields; model, rule, task and optimizer are checked when they are created. `where`
// names the source in messages, `folder` is the folder of model files.
Config read_config(const std::string& json, const std::string& where = "config", const std::string& folder = ".");
// Loads a file and replaces fields: "optimizer.lr=0.01", "model.layers.0.n_rec=64".
Config load_config(const std::string& path, const std::vector<std::string>& replaced = {});

// The same configuration with a number of shards.
Config with_shards(const Config& config, int64_t shards);

// The first difference between two configurations that affects learning, as text; empty if one may resume a run of the
// other. Lengths, folders, backends, validation and goals may differ.
std::string difference(const Config& a, const Config& b);

// Adds the fields that were fitted to the data, a JSON object, to the description of the task.
void add_to_task(Config& config, const std::string& found);

// The fields as tables, for docs/training.md.
std::string config_reference();

}  // namespace braintrace::train

// SPDX-License-Identifier: Apache-2.0
// Settings that many layers share: the time step, the default float type, and whether the model is being trained.
//
//   bt::Environment::set({.dt = 0.1});                       for the whole process
//   bt::Environment::Scope scope({.training = false});       for this thread, until the scope ends
//
// When they change, a jitted function is traced again.
#pragma once

#include <optional>
#include <string>

#include "braintrace/base/dtype.h"

namespace braintrace {

class Environment {
 public:
  struct Settings {
    std::optional<double> dt        = {};  // milliseconds, by convention
    std::optional<DType>  precision = {};  // default float type; default: f32
    std::optional<bool>   training  = {};  // default: true
  };

  static double      dt();  // throws UserError if it was never set
  static DType       precision();
  static bool        training();
  static std::string signature();  // equal bytes mean equal settings

  // Changes the fields that are given.
  static void set(const Settings& settings);

  class Scope {
   public:
    explicit Scope(const Settings& settings);
    ~Scope();
    Scope(const Scope&)            = delete;
    Scope& operator=(const Scope&) = delete;

   private:
    Settings previous_;
  };
};

}  // namespace braintrace

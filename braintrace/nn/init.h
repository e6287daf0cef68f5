// SPDX-License-Identifier: Apache-2.0
// Initial values of parameters and states. Each random initializer draws a key from the default stream, so
// bt::random::seed(n) before building a model fixes its weights.
//
// Two families of scaled random weights (fans of a kernel of rank > 2 differ):
//   channel-last   receptive field × shape[-2], × shape[-1]; normal variants are truncated at two standard deviations
//   channel-first  (namespace plain) shape[1] × rest, shape[0] × rest; normal variants are not truncated
#pragma once

#include <functional>
#include <string>

#include "braintrace/base/rng.h"
#include "braintrace/ir/tensor.h"

namespace braintrace::nn {

class Initializer {
 public:
  using Values = std::vector<double>;
  using Make   = std::function<Values(const Shape&, Rng&)>;

  Initializer(double constant);
  Initializer(int constant) : Initializer(static_cast<double>(constant)) {}
  // A constant; it is repeated along missing leading axes.
  Initializer(Tensor value);
  Initializer(std::string text, Make make);

  // A new value of the default float type (Environment::precision), or of the type of a given value.
  Tensor             operator()(const Shape& shape) const;
  Values             values(const Shape& shape, Rng& rng) const;
  const std::string& text() const { return text_; }

 private:
  std::string text_;
  Make        make_;
  Tensor      given_;
  bool        random_ = false;
};

// Arithmetic on initializers, element by element.
Initializer operator+(const Initializer& a, const Initializer& b);
Initializer operator-(const Initializer& a, const Initializer& b);
Initializer operator*(const Initializer& a, const Initializer& b);
Initializer operator/(const Initializer& a, const Initializer& b);
Initializer clipped(const Initializer& a, double lo, double hi);
Initializer mapped(const Initializer& a, std::string name, std::function<double(double)> f);

namespace init {

Initializer constant(double value);
Initializer uniform(double lo = 0, double hi = 1);
Initializer normal(double mean = 0, double std = 1);
Initializer truncated_normal(double mean = 0, double std = 1, double lo = -2, double hi = 2);  // bounds in std
Initializer log_normal(double mean = 0, double std = 1);
Initializer exponential(double scale = 1);
Initializer gamma(double shape, double scale = 1);
Initializer beta(double a, double b);
Initializer weibull(double shape, double scale = 1);
Initializer identity(double gain = 1);
Initializer orthogonal(double gain = 1);  // Q of a normal matrix [Π shape[:-1], shape[-1]], signs fixed by R
Initializer delta_orthogonal(double gain = 1);

enum class Fan : uint8_t { In, Out, Average };
enum class Spread : uint8_t { Normal, TruncatedNormal, Uniform };
enum class Layout : uint8_t { ChannelLast, ChannelFirst };

// Variance scale / fan.
Initializer variance_scaling(double scale, Fan fan, Spread spread, Layout layout);

Initializer kaiming_normal();  // variance 2/fan_in
Initializer kaiming_uniform();
Initializer xavier_normal();  // 1/fan_avg
Initializer xavier_uniform();
Initializer lecun_normal();  // 1/fan_in
Initializer lecun_uniform();

namespace plain {

Initializer kaiming_normal(double scale = 2);
Initializer kaiming_uniform(double scale = 2);
Initializer xavier_normal(double scale = 1);
Initializer xavier_uniform(double scale = 1);
Initializer lecun_normal(double scale = 1);
Initializer lecun_uniform(double scale = 1);

}  // namespace plain

// By the name used in model descriptions, e.g. "xavier_normal" or "plain.kaiming_normal"; throws a UserError that lists
// the known names.
Initializer              named(const std::string& name);
std::vector<std::string> names();

}  // namespace init

}  // namespace braintrace::nn

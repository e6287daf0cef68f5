// SPDX-License-Identifier: Apache-2.0
// Spikes: a step function whose derivative is replaced by a surrogate.
//
//   z = H(x) = 1 where x ≥ 0, else 0            dz = s(x) dx,  s evaluated at a constant x
//
// A surrogate is a name with parameters, so it can be printed, compared and parsed. surrogates() lists all kinds.
#pragma once

#include <string>
#include <vector>

#include "braintrace/ops/families.h"

namespace braintrace {

extern const Op spike_op;

struct SurrogateKind {
  struct Param {
    std::string name;
    double      value;  // default
  };
  using Slope = std::function<Tensor(const Tensor& x, const std::vector<double>& params)>;

  std::string        name;  // relu_grad
  std::string        doc;   // s(x) as a formula
  std::vector<Param> params;
  Slope              slope;
};

class Surrogate {
 public:
  // Parameters in the order of the kind; the rest keep their defaults.
  Surrogate(const std::string& kind, std::vector<double> params = {});
  Surrogate(const char* kind) : Surrogate(std::string(kind)) {}

  const std::string&         kind() const { return kind_; }
  const std::vector<double>& params() const { return params_; }
  std::string                text() const;  // relu_grad(alpha=0.3, width=1)

  Tensor slope(const Tensor& x) const;  // s(x)

 private:
  std::string         kind_;
  std::vector<double> params_;
};

// H(x), with s as its derivative.
Tensor spike(const Tensor& x, const Surrogate& s = "relu_grad");

std::vector<SurrogateKind> surrogates();  // by name
// Throws a UserError that lists the known kinds.
SurrogateKind surrogate_named(const std::string& name);
void          register_surrogate(SurrogateKind kind);  // replaces a custom one of the same name

const std::vector<const Op*>& spike_ops();

}  // namespace braintrace

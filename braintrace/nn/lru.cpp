// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "braintrace/etp/element_wise.h"
#include "braintrace/nn/rnn.h"
#include "braintrace/ops/math.h"

namespace braintrace::nn {

namespace {

// Eigenvalues λ = e^{-e^ν + i e^θ} uniform on the ring r_min < |λ| < r_max: ν = log(-½ log(u (r_max²-r_min²) + r_min²))
Initializer ring(double r_min, double r_max) {
  return mapped(init::uniform(), "ring", [=](double u) {
    return std::log(-0.5 * std::log((1 - u) * (r_max * r_max - r_min * r_min) + r_min * r_min));
  });
}
// log √(1 - |λ|²) with |λ| = e^{-e^ν}
Tensor normalization(const Tensor& nu_log) { return 0.5 * log(1 - exp(-2 * exp(nu_log))); }

Ints checked_size(const char* what, int64_t n) { return Size(n).checked("LRUCell", what).dims(); }

LinearOptions projection(int64_t n_in) {
  return {.w_init = init::normal(0, 1 / std::sqrt(static_cast<double>(n_in))), .b_init = no_bias};
}

}  // namespace

LRUCell::LRUCell(int64_t d_model, int64_t d_hidden, LRUCellOptions o)
    : theta_log(state("theta_log", ParamState(mapped(init::uniform(), "phase",
                                                     [p = o.max_phase](double u) { return std::log(p * (1 - u)); })(
                                       checked_size("d_hidden", d_hidden))))),
      nu_log(state("nu_log", ParamState(ring(o.r_min, o.r_max)({d_hidden})))),
      gamma_log(state("gamma_log", ParamState(normalization(nu_log.value())))),
      D(state("D", ParamState(init::normal()(checked_size("d_model", d_model))))),
      B_re(d_model, d_hidden, projection(d_model)),
      B_im(d_model, d_hidden, projection(d_model)),
      C_re(d_hidden, d_model, projection(d_hidden)),
      C_im(d_hidden, d_model, projection(d_hidden)),
      h_re(state("h_re", hidden_state({d_hidden}, o.state_init))),
      h_im(state("h_im", hidden_state({d_hidden}, o.state_init))) {
  require(0 <= o.r_min && o.r_min < o.r_max && o.r_max <= 1, "LRUCell: 0 ≤ r_min < r_max ≤ 1 is needed, got {} and {}.",
          o.r_min, o.r_max);
  field("d_model", std::to_string(d_model));
  field("d_hidden", std::to_string(d_hidden));
  children({{"B_re", B_re}, {"B_im", B_im}, {"C_re", C_re}, {"C_im", C_im}});
}

Tensor LRUCell::update(const Tensor& x) {
  const Tensor a  = exp(-exp(element_wise(nu_log.value())));
  const Tensor b  = exp(element_wise(theta_log.value()));
  const Tensor g  = exp(element_wise(gamma_log.value()));
  const Tensor re = h_re.value(), im = h_im.value();
  const Tensor a_cos = a * cos(b), a_sin = a * sin(b);
  const Tensor u_re = B_re(x), u_im = B_im(x);
  h_re.set(a_cos * re - a_sin * im + g * u_re);
  h_im.set(a_sin * re + a_cos * im + g * u_im);
  const Tensor y_re = C_re(h_re.value()), y_im = C_im(h_im.value());
  return y_re - y_im + x * element_wise(D.value());
}

}  // namespace braintrace::nn

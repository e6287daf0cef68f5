// SPDX-License-Identifier: Apache-2.0
// Parts of descriptions that several layers share.
#pragma once

#include "braintrace/nn/activation.h"
#include "braintrace/nn/conv.h"
#include "braintrace/nn/neuron.h"
#include "braintrace/ops/sparse.h"
#include "braintrace/zoo/fields.h"

namespace braintrace::zoo {

nn::Activation   activation_of(const Fields& f, const std::string& name = "activation");
SparsePattern    pattern_of(const Fields& f, const std::string& name);  // {"shape", "indptr", "indices"}
Surrogate        surrogate_of(const Fields& f);                         // {"type": "relu_grad", "alpha": …}
nn::WeightFactor mask_of(const Fields& f);                              // field mask?
// A number or a list of numbers.
Tensor number_or_list(const Fields& f, const std::string& name);

// The field n: the number of units, or the shape of the population, such as [8, 14, 14].
nn::Size size_of_population(const Fields& f);
// A setting of the units of a population: one number for all, a list with one number for each (in row-major order), or
// {"trainable": …} around either, a parameter.
std::variant<Tensor, ParamState> setting_value(const Fields& f, const std::string& name, const nn::Size& size);
template <class Setting>
Setting setting_of(const Fields& f, const std::string& name, const nn::Size& size) {
  return std::visit([](auto v) { return Setting(v); }, setting_value(f, name, size));
}

// The membrane of a population: its fields with these defaults, and their values.
std::string    membrane_fields(double tau_ms, double V_th, double V_reset, double V_rest, const char* reset = "soft");
nn::LIFOptions lif_options(const Fields& f, const nn::Size& size);

// {"type": "conv2d", "in_size": …}; the fields of the layer types conv1d, conv2d, conv3d.
extern const char* const    conv_fields;
std::shared_ptr<nn::ConvNd> conv_of(const Fields& conv);
std::shared_ptr<nn::ConvNd> nested_conv(const Fields& f, const std::string& name);

}  // namespace braintrace::zoo

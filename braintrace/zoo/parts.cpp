// SPDX-License-Identifier: Apache-2.0
#include "braintrace/zoo/parts.h"

#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include "braintrace/base/nearest.h"
#include "braintrace/ops/math.h"
#include "braintrace/ops/move.h"

namespace braintrace::zoo {

nn::Activation activation_of(const Fields& f, const std::string& name) {
  return f.choice(name, nn::activation_names());
}

SparsePattern pattern_of(const Fields& f, const std::string& name) {
  const Fields p     = f.nested(name, "csr", "shape indptr indices");
  const Ints   shape = p.integers("shape"), indptr = p.integers("indptr"), indices = p.integers("indices");
  const auto   is_size = [](int64_t n) { return n >= 0 && n <= std::numeric_limits<int32_t>::max(); };
  if (shape.size() != 2 || !is_size(shape[0]) || !is_size(shape[1]))
    p.refuse("shape", "expected [rows, columns], each from 0 to 2147483647.");
  if (indptr.size() != static_cast<size_t>(shape[0]) + 1 || indptr.front() != 0 ||
      indptr.back() != static_cast<int64_t>(indices.size()) || !std::is_sorted(indptr.begin(), indptr.end()))
    p.refuse("indptr", fmt::format("expected {} increasing numbers from 0 to {}.", shape[0] + 1, indices.size()));
  for (int64_t i : indices)
    if (i < 0 || i >= shape[1]) p.refuse("indices", fmt::format("{} is outside 0 … {}.", i, shape[1] - 1));
  for (size_t row = 0; row + 1 < indptr.size(); ++row) {
    Ints columns(indices.begin() + indptr[row], indices.begin() + indptr[row + 1]);
    std::sort(columns.begin(), columns.end());
    if (const auto twice = std::adjacent_find(columns.begin(), columns.end()); twice != columns.end())
      p.refuse("indices", fmt::format("column {} appears twice in row {}.", *twice, row));
  }
  const auto tensor = [](const Ints& v) {
    return Tensor(from_integers({DType::I64, {static_cast<int64_t>(v.size())}}, v));
  };
  return csr(tensor(indptr), tensor(indices), shape[0], shape[1]);
}

Surrogate surrogate_of(const Fields& f) {
  if (f.is_text("surrogate")) return Surrogate(f.text("surrogate"));
  const std::string        type = f.kind_of("surrogate", "type");
  std::vector<std::string> known;
  for (const SurrogateKind& k : surrogates()) known.push_back(k.name);
  if (std::find(known.begin(), known.end(), type) == known.end())
    f.refuse("surrogate.type", fmt::format("there is no surrogate '{}'{}", type, hint(type, known)));
  const SurrogateKind kind = surrogate_named(type);
  std::string         specs;
  for (const auto& p : kind.params) specs += fmt::format("{}={} ", p.name, p.value);
  const Fields        s = f.nested("surrogate", type, specs);
  std::vector<double> params;
  for (const auto& p : kind.params) params.push_back(s.number(p.name));
  return Surrogate(type, params);
}

Tensor number_or_list(const Fields& f, const std::string& name) {
  return f.is_list(name) ? f.array(name) : Tensor(f.number(name));
}

nn::Size size_of_population(const Fields& f) {
  const Ints n = f.integers("n");
  if (n.empty() || std::any_of(n.begin(), n.end(), [](int64_t d) { return d <= 0; }))
    f.refuse("n", "expected a positive whole number, or a list of them.");
  return n;
}

std::variant<Tensor, ParamState> setting_value(const Fields& f, const std::string& name, const nn::Size& size) {
  const int64_t n         = size_of(size.dims());
  const bool    trainable = f.is_object(name);
  const Fields  given     = trainable ? f.nested(name, "a trainable setting", "trainable") : f;
  const Tensor  value     = number_or_list(given, trainable ? "trainable" : name);
  const int64_t count     = value.rank() == 0 ? n : value.size();
  if (value.rank() > 1 || count != n) f.refuse(name, fmt::format("expected one number, or {} of them.", n));
  const Tensor shaped = value.rank() == 0 ? value : reshape(value, size.dims());
  if (!trainable) return shaped;
  const Tensor ones = nn::init::constant(1)(size.dims());
  return ParamState(ones * convert(shaped, ones.dtype()));
}

std::string membrane_fields(double tau_ms, double V_th, double V_reset, double V_rest, const char* reset) {
  return fmt::format(
      "tau_ms={:.1f} V_th={:.1f} V_reset={:.1f} V_rest={:.1f} R=1.0 spk_reset=\"{}\" dt_ms=1.0 "
      "method=\"exp_euler\" surrogate=\"relu_grad\" ",
      tau_ms, V_th, V_reset, V_rest, reset);
}

nn::LIFOptions lif_options(const Fields& f, const nn::Size& n) {
  return {.tau       = setting_of<nn::TimeSetting>(f, "tau_ms", n),
          .V_th      = setting_of<nn::VoltageSetting>(f, "V_th", n),
          .V_reset   = setting_of<nn::VoltageSetting>(f, "V_reset", n),
          .V_rest    = setting_of<nn::VoltageSetting>(f, "V_rest", n),
          .R         = setting_of<nn::ResistanceSetting>(f, "R", n),
          .reset     = nn::reset_named(f.choice("spk_reset", {"soft", "hard"})),
          .surrogate = surrogate_of(f),
          .dt        = f.number("dt_ms"),
          .method    = nn::integrator_named(f.choice("method", {"exp_euler", "euler"}))};
}

nn::WeightFactor mask_of(const Fields& f) { return f.has("mask") ? f.array("mask") : Tensor(); }

const char* const conv_fields =
    "in_size out_channels kernel_size stride=1 padding=\"SAME\" lhs_dilation=1 rhs_dilation=1 groups=1 bias=false "
    "channel_first=false mask? out_size?";

std::shared_ptr<nn::ConvNd> conv_of(const Fields& c) {
  const size_t          axes    = c.what() == "conv1d" ? 1 : c.what() == "conv2d" ? 2 : 3;
  const nn::ConvPadding padding = c.is_text("padding")   ? nn::ConvPadding(c.choice("padding", {"SAME", "VALID"}))
                                  : c.is_list("padding") ? nn::ConvPadding(c.pairs("padding"))
                                                         : nn::ConvPadding(c.integers("padding")[0]);
  const auto            conv    = std::make_shared<nn::ConvNd>(
      axes, nn::Size(c.integers("in_size")), c.integer("out_channels"), c.integers("kernel_size"),
      nn::ConvLayerOptions{.stride        = c.integers("stride"),
                                         .padding       = padding,
                                         .lhs_dilation  = c.integers("lhs_dilation"),
                                         .rhs_dilation  = c.integers("rhs_dilation"),
                                         .groups        = c.integer("groups"),
                                         .b_init        = c.flag("bias") ? nn::OptionalInit(0) : nn::no_bias,
                                         .w_mask        = mask_of(c),
                                         .channel_first = c.flag("channel_first")});
  if (c.has("out_size") && conv->out_size() && c.integers("out_size") != *conv->out_size())
    c.refuse("out_size", fmt::format("this convolution gives {}.", to_string(*conv->out_size())));
  return conv;
}

std::shared_ptr<nn::ConvNd> nested_conv(const Fields& f, const std::string& name) {
  const std::string type = f.kind_of(name, "type");
  if (type != "conv1d" && type != "conv2d" && type != "conv3d")
    f.refuse(name + ".type", fmt::format("expected conv1d, conv2d or conv3d, got '{}'.", type));
  const auto conv = conv_of(f.nested(name, type, conv_fields));
  if (!conv->out_size()) f.refuse(name + ".in_size", "the spatial sizes are needed here, not only the channels.");
  return conv;
}

}  // namespace braintrace::zoo

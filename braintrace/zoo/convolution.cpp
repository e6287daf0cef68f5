// SPDX-License-Identifier: Apache-2.0
// Convolutions, alone and as part of recurrent cells.
#include "braintrace/ops/math.h"
#include "braintrace/zoo/cell.h"
#include "braintrace/zoo/parts.h"

namespace braintrace::zoo {

namespace {

ModulePtr conv_layer(const Fields& f) { return conv_of(f); }

ModulePtr conv_rec(const Fields& f) {
  auto       m   = make_cell();
  const auto in  = nested_conv(f, "conv_in");
  const auto rec = nested_conv(f, "conv_rec");
  m->part("conv_in", ModulePtr(in));
  m->part("conv_rec", ModulePtr(rec));
  const auto h = m->hidden("h", *in->out_size());
  m->step      = [=](const Tensor& x) {
    const Tensor y = (*in)(x);
    h.set(tanh(y + (*rec)(h.value())));
    return h.value();
  };
  return m;
}

}  // namespace

std::vector<LayerType> convolution_layers() {
  return {
      {"conv1d", "cross-correlation; in_size (n, C), or C alone with channels first", conv_fields, conv_layer},
      {"conv2d", "cross-correlation; in_size (h, w, C), or C alone with channels first", conv_fields, conv_layer},
      {"conv3d", "cross-correlation; in_size (d, h, w, C), or C alone with channels first", conv_fields, conv_layer},
      {"conv_rec", "h ← tanh(conv_in(x) + conv_rec(h))", "conv_in conv_rec", conv_rec},
  };
}

}  // namespace braintrace::zoo

// SPDX-License-Identifier: Apache-2.0
// Convolutions, alone and as part of recurrent cells.
#include "braintrace/ops/math.h"
#include "braintrace/zoo/cell.h"
#include "braintrace/zoo/parts.h"

namespace braintrace::zoo {

namespace {

ModulePtr conv_layer(const Fields& f) { return conv_of(f); }

}  // namespace

std::vector<LayerType> convolution_layers() {
  return {
      {"conv1d", "cross-correlation; in_size (n, C), or C alone with channels first", conv_fields, conv_layer},
      {"conv2d", "cross-correlation; in_size (h, w, C), or C alone with channels first", conv_fields, conv_layer},
      {"conv3d", "cross-correlation; in_size (d, h, w, C), or C alone with channels first", conv_fields, conv_layer},
      {"conv_leaky", "h ← tanh(leak h + conv(x))", "leak conv",
       [](const Fields& f) -> ModulePtr {
         const double leak = f.number("leak");
         auto         m    = make_cell();
         const auto   conv = nested_conv(f, "conv");
         m->part("conv", ModulePtr(conv));
         const auto h = m->hidden("h", *conv->out_size());
         m->step      = [=](const Tensor& x) {
           const Tensor kept = leak * h.value();
           h.set(tanh(kept + (*conv)(x)));
           return h.value();
         };
         return m;
       }},
      {"conv_rec", "h ← tanh(conv_in(x) + conv_rec(h))", "conv_in conv_rec",
       [](const Fields& f) -> ModulePtr {
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
       }},
      {"conv_rec_leaky", "h ← leak h + (1-leak) tanh(conv_in(x) + conv_rec(h))", "leak conv_in conv_rec",
       [](const Fields& f) -> ModulePtr {
         const double leak = f.number("leak");
         auto         m    = make_cell();
         const auto   in   = nested_conv(f, "conv_in");
         const auto   rec  = nested_conv(f, "conv_rec");
         m->part("conv_in", ModulePtr(in));
         m->part("conv_rec", ModulePtr(rec));
         const auto h = m->hidden("h", *in->out_size());
         m->step      = [=](const Tensor& x) {
           const Tensor old = h.value(), y = (*in)(x);
           h.set(leak * old + (1 - leak) * tanh(y + (*rec)(old)));
           return h.value();
         };
         return m;
       }},
  };
}

}  // namespace braintrace::zoo

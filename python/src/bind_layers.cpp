// SPDX-License-Identifier: Apache-2.0
// Layers and recurrent cells, one class each.
#include <nanobind/stl/shared_ptr.h>

#include "bindings.h"
#include "braintrace/nn/conv.h"
#include "braintrace/nn/embedding.h"
#include "braintrace/nn/factored.h"
#include "braintrace/nn/kappa_filter.h"
#include "braintrace/nn/named_layers.h"
#include "braintrace/nn/norm.h"
#include "braintrace/nn/rnn.h"
#include "casters.h"
#include "doc.h"

namespace pybraintrace {

namespace {

// Parameters that several docstrings describe.
namespace about {
constexpr const char* in_shape  = "in_size: number of inputs, or input shape.";
constexpr const char* out_shape = "out_size: number of outputs, or output shape.";
constexpr const char* w_init    = "w_init: initializer of the weight.";
constexpr const char* b_init    = "b_init: initializer of the bias; None for no bias.";
constexpr const char* name      = "name: ignored.";
constexpr const char* padding   = "padding: 'SAME', 'VALID', a number, or (before, after) per spatial axis.";
}  // namespace about

namespace nn       = bt::nn;
using Init         = Given<nn::Initializer>;
using MaybeInit    = std::optional<Init>;
using OptionalInit = Given<nn::OptionalInit>;
using Name         = nb::handle;  // accepted and ignored: names are those of attributes

// The features of a size.
int64_t last_of(Dims size) {
  const bt::Ints dims = size;
  bt::require(!dims.empty(), "a size needs at least one number, got ().");
  return dims.back();
}

template <class M>
nb::class_<M, bt::Module> layer(nb::module_& m, const char* name, const char* doc) {
  nb::class_<M, bt::Module> c(m, name, doc);
  c.def(
      "update",
      [](nb::handle self, const nb::args& args, const nb::kwargs& kwargs) {
        return call_module(nb::cast<bt::Module&>(self), args, kwargs);
      },
      "args"_a, "kwargs"_a, "Run one step.");
  return c;
}

template <class C>
void cell(nb::module_& m, const char* name, const char* doc) {
  layer<C>(
      m, name,
      with_args(doc, {"in_size: number of inputs.", "out_size: number of hidden units.",
                      "w_init: initializer of the weights.", "b_init: initializer of the biases; None for no bias.",
                      "state_init: initializer of the state.", "activation: name or function of phi.", about::name})
          .c_str())
      .def(
          "__init__",
          [](C* self, Dims in_size, Dims out_size, MaybeInit w_init, OptionalInit b_init, Init state_init,
             std::optional<Given<nn::Activation>> activation, Name) {
            nn::CellOptions o;
            o.w_init     = given_or_none<nn::Initializer>(w_init);
            o.b_init     = b_init;
            o.state_init = state_init;
            o.activation = given_or_none<nn::Activation>(activation);
            new (self) C(last_of(in_size), last_of(out_size), o);
          },
          "in_size"_a, "out_size"_a, "w_init"_a = nb::none(), "b_init"_a = 0.0, "state_init"_a = 0.0,
          "activation"_a = nb::none(), "name"_a = nb::none());
}

template <class C>
void conv(nb::module_& m, const char* name, const char* doc) {
  layer<C>(
      m, name,
      with_args(
          doc,
          {"in_size: (*spatial, channels); or the number of channels alone, for channels first and any spatial size.",
           "out_channels: number of output channels.", "kernel_size: one number, or one per spatial axis.",
           "stride: one number, or one per spatial axis.", about::padding, "lhs_dilation: dilation of the input.",
           "rhs_dilation: dilation of the kernel.", "groups: number of channel groups.",
           "w_init: initializer of the kernel.", about::b_init,
           "w_mask: array or function of the shape that multiplies the kernel.",
           "channel_first: whether `in_size` starts with the channels.", about::name})
          .c_str())
      .def(
          "__init__",
          [](C* self, Given<nn::Size> in_size, int64_t out_channels, Given<nn::Size> kernel_size, Dims stride,
             Given<nn::ConvPadding> padding, Dims lhs_dilation, Dims rhs_dilation, int64_t groups, MaybeInit w_init,
             OptionalInit b_init, Given<nn::WeightFactor> w_mask, bool channel_first, Name) {
            nn::ConvLayerOptions o;
            o.stride       = stride;
            o.padding      = padding;
            o.lhs_dilation = lhs_dilation;
            o.rhs_dilation = rhs_dilation;
            o.groups       = groups;
            if (w_init) o.w_init = w_init->get();
            o.b_init        = b_init;
            o.w_mask        = w_mask;
            o.channel_first = channel_first;
            new (self) C(in_size, out_channels, kernel_size, o);
          },
          "in_size"_a, "out_channels"_a, "kernel_size"_a, "stride"_a = 1, "padding"_a = "SAME", "lhs_dilation"_a = 1,
          "rhs_dilation"_a = 1, "groups"_a = 1, "w_init"_a = nb::none(), "b_init"_a = nb::none(),
          "w_mask"_a = nb::none(), "channel_first"_a = false, "name"_a = nb::none())
      .def_prop_ro(
          "out_size", [](const C& c) { return c.out_size() ? tuple_of(*c.out_size()) : nb::object(nb::none()); },
          "Output shape of one sample, or None if it is not known.");
}

void bind_products(nb::module_& m) {
  layer<nn::Linear>(m, "Linear",
                    with_args("Linear layer y = x W + b, whose weight and bias learn online.",
                              {about::in_shape, about::out_shape, about::w_init, about::b_init,
                               "w_mask: array or function of the shape that multiplies the weight.", about::name})
                        .c_str())
      .def(
          "__init__",
          [](nn::Linear* self, Given<nn::Size> in_size, Given<nn::Size> out_size, MaybeInit w_init, OptionalInit b_init,
             Given<nn::WeightFactor> w_mask, Name) {
            nn::LinearOptions o;
            if (w_init) o.w_init = w_init->get();
            o.b_init = b_init;
            o.w_mask = w_mask;
            new (self) nn::Linear(in_size, out_size, o);
          },
          "in_size"_a, "out_size"_a, "w_init"_a = nb::none(), "b_init"_a = 0.0, "w_mask"_a = nb::none(),
          "name"_a = nb::none());
  layer<nn::PlainLinear>(
      m, "PlainLinear",
      with_args("Linear layer y = x W + b, whose weight and bias get the gradient of the current step only.",
                {about::in_shape, about::out_shape, about::w_init, about::b_init})
          .c_str())
      .def(
          "__init__",
          [](nn::PlainLinear* self, Dims in_size, Dims out_size, MaybeInit w_init, OptionalInit b_init) {
            nn::LinearOptions o;
            if (w_init) o.w_init = w_init->get();
            o.b_init = b_init;
            new (self) nn::PlainLinear(last_of(in_size), last_of(out_size), o);
          },
          "in_size"_a, "out_size"_a, "w_init"_a = nb::none(), "b_init"_a = 0.0);
  layer<nn::SignedWLinear>(m, "SignedWLinear",
                           with_args("Linear layer y = x (|W| sign), whose weights keep their signs.",
                                     {about::in_shape, about::out_shape, about::w_init,
                                      "w_sign: the signs; None for all positive.", about::name})
                               .c_str())
      .def(
          "__init__",
          [](nn::SignedWLinear* self, Given<nn::Size> in_size, Given<nn::Size> out_size, MaybeInit w_init,
             Given<nn::WeightFactor> w_sign, Name) {
            nn::SignedWLinearOptions o;
            if (w_init) o.w_init = w_init->get();
            o.w_sign = w_sign;
            new (self) nn::SignedWLinear(in_size, out_size, o);
          },
          "in_size"_a, "out_size"_a, "w_init"_a = nb::none(), "w_sign"_a = nb::none(), "name"_a = nb::none());
  layer<nn::ScaledWSLinear>(
      m, "ScaledWSLinear",
      with_args(
          "Linear layer with weight standardization: the weights of each output have zero mean and unit variance.",
          {about::in_shape, about::out_shape, about::w_init, about::b_init,
           "w_mask: array or function of the shape that multiplies the weight.",
           "ws_gain: whether each output has a trainable gain.", "eps: added to the variance.", about::name})
          .c_str())
      .def(
          "__init__",
          [](nn::ScaledWSLinear* self, Given<nn::Size> in_size, Given<nn::Size> out_size, MaybeInit w_init,
             OptionalInit b_init, Given<nn::WeightFactor> w_mask, bool ws_gain, double eps, Name) {
            nn::ScaledWSLinearOptions o;
            if (w_init) o.w_init = w_init->get();
            o.b_init  = b_init;
            o.w_mask  = w_mask;
            o.ws_gain = ws_gain;
            o.eps     = eps;
            new (self) nn::ScaledWSLinear(in_size, out_size, o);
          },
          "in_size"_a, "out_size"_a, "w_init"_a = nb::none(), "b_init"_a = 0.0, "w_mask"_a = nb::none(),
          "ws_gain"_a = true, "eps"_a = 1e-4, "name"_a = nb::none());
  layer<nn::SparseLinear>(
      m, "SparseLinear",
      with_args("Linear layer with a sparse weight of fixed pattern, whose stored values learn online.",
                {"spar_mat: a SparsePattern, or a SciPy matrix in CSR or COO format.",
                 "values: initial values of the entries; by default those of the SciPy matrix.", about::b_init,
                 "in_size: ignored.", about::name})
          .c_str())
      .def(
          "__init__",
          [](nn::SparseLinear* self, nb::handle spar_mat, std::optional<Arg> values, OptionalInit b_init, nb::handle,
             Name) {
            const bt::SparsePattern pattern = pattern_from(spar_mat);
            if (!values && !nb::hasattr(spar_mat, "data"))
              nb::raise_type_error("SparseLinear: a SparsePattern has no values; pass them as `values`.");
            const bt::Tensor v = values ? values->get() : tensor_from(nb::object(spar_mat.attr("data")));
            new (self) nn::SparseLinear(pattern, v, b_init);
          },
          "spar_mat"_a, "values"_a = nb::none(), "b_init"_a = nb::none(), "in_size"_a = nb::none(),
          "name"_a = nb::none());
  layer<nn::LoRA>(m, "LoRA",
                  "Low-rank adapter y = alpha x A B + base(x).\n"
                  "\n"
                  "Args:\n"
                  "    in_features: number of inputs.\n"
                  "    lora_rank: rank of the product.\n"
                  "    out_features: number of outputs.\n"
                  "    base_module: layer whose output is added; None for none.\n"
                  "    kernel_init: initializer of A; B starts at zero.\n"
                  "    alpha: scale, default 1/rank.")
      .def(
          "__init__",
          [](nn::LoRA* self, int64_t in_features, int64_t lora_rank, int64_t out_features,
             std::shared_ptr<bt::Module> base, MaybeInit kernel_init, std::optional<double> alpha) {
            nn::LoRAOptions o;
            o.base_module = std::move(base);
            if (kernel_init) o.kernel_init = kernel_init->get();
            o.alpha = alpha;
            new (self) nn::LoRA(in_features, lora_rank, out_features, o);
          },
          "in_features"_a, "lora_rank"_a, "out_features"_a, nb::kw_only(), "base_module"_a = nb::none(),
          "kernel_init"_a = nb::none(), "alpha"_a = nb::none());
  layer<nn::GroupedLinear>(m, "GroupedLinear",
                           "Independent linear layers, one per group: y_g = x_g W_g + b_g.\n"
                           "\n"
                           "Args:\n"
                           "    num_groups: number of groups G.\n"
                           "    in_features: inputs of each group; x is [..., G, in_features].\n"
                           "    out_features: outputs of each group.\n"
                           "    w_init: initializer of the weights.\n"
                           "    b_init: initializer of the biases; None for no bias.")
      .def(
          "__init__",
          [](nn::GroupedLinear* self, int64_t groups, int64_t n_in, int64_t n_out, MaybeInit w_init,
             OptionalInit b_init) {
            new (self) nn::GroupedLinear(groups, n_in, n_out,
                                         w_init ? w_init->get() : nn::init::plain::kaiming_normal(), b_init);
          },
          "num_groups"_a, "in_features"_a, "out_features"_a, "w_init"_a = nb::none(), "b_init"_a = 0.0);
  layer<nn::Embedding>(m, "Embedding",
                       "Table of vectors, indexed by integers, that learns online.\n"
                       "\n"
                       "Args:\n"
                       "    num_embeddings: number of rows.\n"
                       "    embedding_size: length of each vector.\n"
                       "    w_init: initializer of the table.")
      .def(
          "__init__",
          [](nn::Embedding* self, int64_t num, int64_t size, MaybeInit w_init) {
            nn::EmbeddingLayerOptions o;
            if (w_init) o.w_init = w_init->get();
            new (self) nn::Embedding(num, size, o);
          },
          "num_embeddings"_a, "embedding_size"_a, "w_init"_a = nb::none());
  conv<nn::Conv1d>(m, "Conv1d", "Convolution (cross-correlation) over one axis, whose kernel and bias learn online.");
  conv<nn::Conv2d>(m, "Conv2d", "Convolution (cross-correlation) over two axes, whose kernel and bias learn online.");
  conv<nn::Conv3d>(m, "Conv3d", "Convolution (cross-correlation) over three axes, whose kernel and bias learn online.");
}

void bind_cells(nb::module_& m) {
  cell<nn::ValinaRNNCell>(m, "ValinaRNNCell", "Vanilla recurrent cell h = phi(W[x;h]), default phi = relu.");
  m.attr("VanillaRNNCell") = m.attr("ValinaRNNCell");
  cell<nn::GRUCell>(m, "GRUCell",
                    "Gated recurrent unit (Cho et al. 2014).\n"
                    "\n"
                    "With s the logistic function: z = s(Wz[x;h]), r = s(Wr[x;h]), h = (1-z) h + z phi(Wh[x;r h]).");
  cell<nn::MGUCell>(m, "MGUCell",
                    "Minimal gated unit (Zhou et al. 2016).\n"
                    "\n"
                    "With s the logistic function: f = s(Wf[x;h]), h = (1-f) h + f phi(Wh[x;f h]).");
  cell<nn::CFNCell>(m, "CFNCell",
                    "Chaos-free network (Laurent & von Brecht 2016).\n"
                    "\n"
                    "With s the logistic function: f = s(Wf[x;h]), i = s(Wi[x;h]), h = f phi(h) + i phi(Wh x).");
  cell<nn::MinimalRNNCell>(m, "MinimalRNNCell",
                           "Minimal recurrent network (Chen 2017).\n"
                           "\n"
                           "With s the logistic function: z = phi(x), f = s(W_u[z;h]), h = f h + (1-f) z.");
  cell<nn::MiniGRU>(m, "MiniGRU",
                    "GRU with a linear candidate.\n"
                    "\n"
                    "With s the logistic function: z = s(W_z[x;h]), h = (1-z) h + z (W_x x).");
  cell<nn::MiniLSTM>(m, "MiniLSTM",
                     "LSTM with a linear candidate.\n"
                     "\n"
                     "With s the logistic function: f = s(W_f[x;h]), i = s(W_i[x;h]), h = f h + i (W_x x).");
  cell<nn::LSTMCell>(
      m, "LSTMCell",
      "Long short-term memory (Hochreiter & Schmidhuber 1997).\n"
      "\n"
      "With s the logistic function: c = s(Wf[x;h] + 1) c + s(Wi[x;h]) phi(Wg[x;h]), h = s(Wo[x;h]) phi(c).");
  cell<nn::URLSTMCell>(m, "URLSTMCell", "LSTM with refined, uniformly initialized gates (Gu et al. 2020).");
  layer<nn::LRUCell>(m, "LRUCell",
                     "Linear recurrent unit (Orvieto et al. 2023): a diagonal complex recurrence in real numbers.\n"
                     "\n"
                     "Args:\n"
                     "    d_model: number of inputs and outputs.\n"
                     "    d_hidden: number of complex hidden units.\n"
                     "    r_min: smallest initial modulus of the eigenvalues.\n"
                     "    r_max: largest initial modulus.\n"
                     "    max_phase: largest initial phase.\n"
                     "    state_init: initializer of the state.")
      .def(
          "__init__",
          [](nn::LRUCell* self, int64_t d_model, int64_t d_hidden, double r_min, double r_max, double max_phase,
             Init state_init) {
            new (self) nn::LRUCell(d_model, d_hidden,
                                   {.r_min = r_min, .r_max = r_max, .max_phase = max_phase, .state_init = state_init});
          },
          "d_model"_a, "d_hidden"_a, "r_min"_a = 0.0, "r_max"_a = 1.0, "max_phase"_a = 6.28, "state_init"_a = 0.0);
}

template <class M, class... Numbers>
void plain(nb::module_& m, const char* name, const char* doc) {
  layer<M>(m, name, doc).def(nb::init<>());
}
template <class M>
void with_number(nb::module_& m, const char* name, const char* argument, double value, const char* doc) {
  layer<M>(m, name, doc)
      .def(
          "__init__", [](M* self, double v) { new (self) M(v); }, nb::arg(argument) = value);
}
template <class M>
void with_axis(nb::module_& m, const char* name, const char* doc) {
  layer<M>(m, name, doc)
      .def(
          "__init__", [](M* self, int axis) { new (self) M(axis); }, "axis"_a = -1);
}
template <class M>
void pool(nb::module_& m, const char* name) {
  layer<M>(m, name,
           with_args("Pooling over windows of the spatial axes, with channels last.",
                     {"kernel_size: window, one number or one per spatial axis.",
                      "stride: step of the window, default `kernel_size`.", about::padding})
               .c_str())
      .def(
          "__init__",
          [](M* self, Given<nn::Size> kernel_size, std::optional<Dims> stride, Given<nn::ConvPadding> padding) {
            const nn::Size size = kernel_size;
            new (self)
                M(size, given_or_none<bt::Ints>(stride).value_or(bt::Ints{}), padding.get().of(M::axes, "pooling"));
          },
          "kernel_size"_a, "stride"_a = nb::none(), "padding"_a = "VALID");
}
template <class M>
void adaptive(nb::module_& m, const char* name) {
  layer<M>(m, name,
           "Pooling to a given spatial size, with channels last.\n"
           "\n"
           "Args:\n"
           "    target_size: number of windows, one number or one per spatial axis; must divide the size of the axis.")
      .def(
          "__init__", [](M* self, Given<nn::Size> size) { new (self) M(size); }, "target_size"_a);
}

void bind_activations(nb::module_& m) {
  plain<nn::ReLU>(m, "ReLU", "max(x, 0).");
  plain<nn::ReLU6>(m, "ReLU6", "min(max(x, 0), 6).");
  plain<nn::Sigmoid>(m, "Sigmoid", "Logistic function: 1 / (1 + exp(-x)).");
  plain<nn::Hardsigmoid>(m, "Hardsigmoid", "Piecewise linear sigmoid: relu6(x + 3) / 6.");
  plain<nn::Tanh>(m, "Tanh", "tanh(x).");
  plain<nn::SiLU>(m, "SiLU", "Sigmoid linear unit: x sigmoid(x).");
  plain<nn::Mish>(m, "Mish", "x tanh(softplus(x)).");
  plain<nn::Hardswish>(m, "Hardswish", "x relu6(x + 3) / 6.");
  plain<nn::SELU>(m, "SELU", "Scaled exponential linear unit.");
  plain<nn::LogSigmoid>(m, "LogSigmoid", "Logarithm of the sigmoid.");
  plain<nn::Softsign>(m, "Softsign", "x / (1 + |x|).");
  plain<nn::Tanhshrink>(m, "Tanhshrink", "x - tanh(x).");
  plain<nn::Identity>(m, "Identity", "Return the input unchanged.");
  plain<nn::Softmax2d>(m, "Softmax2d", "Softmax over the channels of [..., C, H, W].");
  plain<nn::GLU>(m, "GLU", "Gated linear unit: a sigmoid(b), where a and b are the halves of the last axis.");
  with_number<nn::ELU>(m, "ELU", "alpha", 1, "Exponential linear unit: x where x > 0, else alpha (exp(x) - 1).");
  with_number<nn::CELU>(m, "CELU", "alpha", 1,
                        "Continuously differentiable ELU: x where x > 0, else alpha (exp(x/alpha) - 1).");
  with_number<nn::LeakyReLU>(m, "LeakyReLU", "negative_slope", 0.01,
                             "Leaky ReLU: x where x > 0, else negative_slope x.");
  with_number<nn::Hardshrink>(m, "Hardshrink", "lambd", 0.5, "x where |x| > lambd, else 0.");
  with_number<nn::Softshrink>(m, "Softshrink", "lambd", 0.5, "x shrunk toward 0 by lambd.");
  with_number<nn::Softplus>(m, "Softplus", "beta", 1, "log(1 + exp(beta x)) / beta.");
  with_axis<nn::Softmax>(m, "Softmax", "Softmax along an axis.");
  with_axis<nn::Softmin>(m, "Softmin", "Softmax of -x along an axis.");
  with_axis<nn::LogSoftmax>(m, "LogSoftmax", "Logarithm of the softmax along an axis.");
  layer<nn::Hardtanh>(m, "Hardtanh", "x limited to [min_val, max_val].")
      .def(
          "__init__", [](nn::Hardtanh* self, double lo, double hi) { new (self) nn::Hardtanh(lo, hi); },
          "min_val"_a = -1.0, "max_val"_a = 1.0);
  layer<nn::RReLU>(m, "RReLU",
                   "Randomized leaky ReLU: in training, the slope of each element is uniform in [lower, upper]; "
                   "otherwise it is their mean.")
      .def(
          "__init__", [](nn::RReLU* self, double lo, double hi) { new (self) nn::RReLU(lo, hi); }, "lower"_a = 1.0 / 8,
          "upper"_a = 1.0 / 3);
  layer<nn::GELU>(
      m, "GELU", "Gaussian error linear unit: x Phi(x), Phi the normal distribution function; `approximate` uses tanh.")
      .def(
          "__init__", [](nn::GELU* self, bool approximate) { new (self) nn::GELU(approximate); },
          "approximate"_a = false);
  layer<nn::PReLU>(m, "PReLU",
                   "ReLU with a trainable slope: x where x > 0, else a x.\n"
                   "\n"
                   "Args:\n"
                   "    num_parameters: number of slopes: 1, or one per feature.\n"
                   "    init: initial slope.")
      .def(
          "__init__", [](nn::PReLU* self, int64_t n, double init) { new (self) nn::PReLU(n, init); },
          "num_parameters"_a = 1, "init"_a = 0.25);
  layer<nn::ActivationLayer>(m, "Activation", "Apply an activation, given by name or as a function.")
      .def(
          "__init__", [](nn::ActivationLayer* self, Given<nn::Activation> a) { new (self) nn::ActivationLayer(a); },
          "activation"_a);
  layer<nn::SpikeBitwise>(
      m, "SpikeBitwise",
      "Combine the spikes of two populations bit by bit.\n"
      "\n"
      "Args:\n"
      "    op: 'add', 'or', 'and', 'xor', 'iand' ((1-x) y) or 'ixor' (x (1-y)); 'not' takes `x` only.")
      .def(
          "__init__", [](nn::SpikeBitwise* self, const std::string& op) { new (self) nn::SpikeBitwise(op); },
          "op"_a = "add")
      .def(
          "__call__", [](nn::SpikeBitwise& self, Arg x, Arg y) { return self(x, y); }, "x"_a, "y"_a);
}

void bind_kit(nb::module_& m) {
  const char* drop = "Dropout: in training, keep each element with probability `prob` and scale it by 1/prob.";
  layer<nn::Dropout>(m, "Dropout", drop)
      .def(
          "__init__", [](nn::Dropout* self, double p) { new (self) nn::Dropout(p); }, "prob"_a = 0.5);
  with_number<nn::Dropout1d>(m, "Dropout1d", "prob", 0.5, drop);
  with_number<nn::Dropout2d>(m, "Dropout2d", "prob", 0.5, drop);
  with_number<nn::Dropout3d>(m, "Dropout3d", "prob", 0.5, drop);
  pool<nn::MaxPool1d>(m, "MaxPool1d");
  pool<nn::MaxPool2d>(m, "MaxPool2d");
  pool<nn::MaxPool3d>(m, "MaxPool3d");
  pool<nn::AvgPool1d>(m, "AvgPool1d");
  pool<nn::AvgPool2d>(m, "AvgPool2d");
  pool<nn::AvgPool3d>(m, "AvgPool3d");
  adaptive<nn::AdaptiveMaxPool1d>(m, "AdaptiveMaxPool1d");
  adaptive<nn::AdaptiveMaxPool2d>(m, "AdaptiveMaxPool2d");
  adaptive<nn::AdaptiveMaxPool3d>(m, "AdaptiveMaxPool3d");
  adaptive<nn::AdaptiveAvgPool1d>(m, "AdaptiveAvgPool1d");
  adaptive<nn::AdaptiveAvgPool2d>(m, "AdaptiveAvgPool2d");
  adaptive<nn::AdaptiveAvgPool3d>(m, "AdaptiveAvgPool3d");
  layer<nn::Flatten>(m, "Flatten",
                     "Flatten all axes but the batch axis.\n"
                     "\n"
                     "Args:\n"
                     "    in_size: shape of one sample; by default, the first axis is the batch axis.")
      .def(
          "__init__",
          [](nn::Flatten* self, std::optional<Given<nn::Size>> in_size) {
            if (in_size)
              new (self) nn::Flatten(in_size->get());
            else
              new (self) nn::Flatten();
          },
          "in_size"_a = nb::none());
  layer<nn::Unflatten>(m, "Unflatten", "Reshape the last axis to the given sizes.")
      .def(
          "__init__", [](nn::Unflatten* self, Given<nn::Size> sizes) { new (self) nn::Unflatten(sizes.get()); },
          "sizes"_a);
  layer<bt::KappaFilter>(m, "KappaFilter",
                         "Exponential moving average a = kappa a + (1-kappa) x.\n"
                         "\n"
                         "Args:\n"
                         "    init: initial average.\n"
                         "    kappa: decay per step.")
      .def(
          "__init__", [](bt::KappaFilter* self, Arg init, double kappa) { new (self) bt::KappaFilter(init, kappa); },
          "init"_a, "kappa"_a)
      .def_prop_ro("value", &bt::KappaFilter::value, "The current average.");
}

template <class M>
void batch_norm(nb::module_& m, const char* name) {
  layer<M>(m, name,
           "Batch normalization per channel (last axis): statistics of the batch in training, running statistics "
           "otherwise.\n"
           "\n"
           "Args:\n"
           "    in_size: number of channels, or shape of one sample.\n"
           "    momentum: decay of the running statistics.\n"
           "    epsilon: added to the variance.\n"
           "    affine: whether there is a trainable scale and bias.")
      .def(
          "__init__",
          [](M* self, Dims in_size, double momentum, double eps, bool affine) {
            new (self) M(last_of(in_size), {.momentum = momentum, .eps = eps, .affine = affine});
          },
          "in_size"_a, "momentum"_a = 0.99, "epsilon"_a = 1e-5, "affine"_a = true);
}

void bind_norms(nb::module_& m) {
  batch_norm<nn::BatchNorm0d>(m, "BatchNorm0d");
  batch_norm<nn::BatchNorm1d>(m, "BatchNorm1d");
  batch_norm<nn::BatchNorm2d>(m, "BatchNorm2d");
  batch_norm<nn::BatchNorm3d>(m, "BatchNorm3d");
  layer<nn::LayerNorm>(m, "LayerNorm",
                       "Layer normalization over the last axis.\n"
                       "\n"
                       "Args:\n"
                       "    in_size: number of features, or shape of one sample.\n"
                       "    epsilon: added to the variance.\n"
                       "    use_scale: whether there is a trainable scale.\n"
                       "    use_bias: whether there is a trainable bias.\n"
                       "    use_fast_variance: compute the variance in one pass.")
      .def(
          "__init__",
          [](nn::LayerNorm* self, Dims in_size, double eps, bool use_scale, bool use_bias, bool fast) {
            new (self)
                nn::LayerNorm(last_of(in_size),
                              {.eps = eps, .use_scale = use_scale, .use_bias = use_bias, .use_fast_variance = fast});
          },
          "in_size"_a, "epsilon"_a = 1e-6, "use_scale"_a = true, "use_bias"_a = true, "use_fast_variance"_a = true);
  layer<nn::RMSNorm>(m, "RMSNorm", "Root mean square normalization over the last axis, with a trainable scale.")
      .def(
          "__init__",
          [](nn::RMSNorm* self, Dims in_size, double eps) { new (self) nn::RMSNorm(last_of(in_size), eps); },
          "in_size"_a, "epsilon"_a = 1e-6);
  layer<nn::GroupNorm>(m, "GroupNorm",
                       "Group normalization: layer normalization within groups of channels and over spatial axes.")
      .def(
          "__init__",
          [](nn::GroupNorm* self, Dims in_size, int64_t groups) { new (self) nn::GroupNorm(last_of(in_size), groups); },
          "in_size"_a, "num_groups"_a = 32);
}

}  // namespace

void bind_layers(nb::module_& m) {
  nb::module_ n = m.def_submodule("layers", "Layers and recurrent cells.");
  nb::class_<bt::SparsePattern>(n, "SparsePattern",
                                "Positions of the entries of a sparse matrix: entry e is at (rows[e], cols[e]).")
      .def(
          "__init__",
          [](bt::SparsePattern* self, Arg rows, Arg cols, std::pair<int64_t, int64_t> shape) {
            new (self) bt::SparsePattern(bt::coo(rows, cols, shape.first, shape.second));
          },
          "rows"_a, "cols"_a, "shape"_a)
      .def_prop_ro(
          "shape", [](const bt::SparsePattern& p) { return nb::make_tuple(p.n_rows, p.n_cols); }, "(rows, columns).");
  bind_products(n);
  bind_cells(n);
  bind_activations(n);
  bind_kit(n);
  bind_norms(n);
}

}  // namespace pybraintrace

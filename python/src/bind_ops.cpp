// SPDX-License-Identifier: Apache-2.0
// Operations as functions. Elementwise ones come from the list of all operations; the others, which also take
// numbers, are listed here.
#include <cctype>
#include <string>
#include <tuple>

#include "bindings.h"
#include "braintrace/etp/conv.h"
#include "braintrace/etp/dense.h"
#include "braintrace/etp/einsum.h"
#include "braintrace/etp/element_wise.h"
#include "braintrace/etp/embedding.h"
#include "braintrace/etp/grouped.h"
#include "braintrace/etp/lora.h"
#include "braintrace/etp/sparse.h"
#include "braintrace/model/random_stream.h"
#include "braintrace/ops/activation.h"
#include "braintrace/ops/compare.h"
#include "braintrace/ops/contract.h"
#include "braintrace/ops/cumulative.h"
#include "braintrace/ops/einsum.h"
#include "braintrace/ops/index.h"
#include "braintrace/ops/math.h"
#include "braintrace/ops/move.h"
#include "braintrace/ops/random.h"
#include "braintrace/ops/reduce.h"
#include "braintrace/ops/softmax.h"
#include "braintrace/ops/sort.h"
#include "braintrace/ops/special.h"
#include "casters.h"
#include "module.h"

namespace pybraintrace {

namespace {

using bt::Tensor;

// Elementwise, and without attributes.
bool is_plain(const bt::Op& op) {
  if (op.name.starts_with("bt_")) return false;
  for (const auto& list : {bt::math_ops(), bt::elementary_ops(), bt::special_ops(), bt::compare_ops()})
    for (const bt::Op* known : list)
      if (known == &op) return true;
  return false;
}

// The description of an operation as a sentence; formulas are left unchanged.
std::string sentence(std::string_view text) {
  const bool is_formula = text.size() < 2 || !std::islower(static_cast<unsigned char>(text[0])) ||
                          !std::islower(static_cast<unsigned char>(text[1]));
  if (is_formula) return std::string(text);
  std::string out(text);
  out[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(out[0])));
  return out.ends_with('.') ? out : out + ".";
}

void bind_elementwise(nb::module_& m) {
  const std::vector<std::string_view> with_attributes = {"convert", "integer_pow", "polygamma", "select", "clamp"};
  const std::vector<std::string_view> of_integers     = {"abs", "neg", "not", "sign", "square"};
  for (const bt::Op* op : bt::all_ops()) {
    if (!is_plain(*op) || std::find(with_attributes.begin(), with_attributes.end(), op->name) != with_attributes.end())
      continue;
    // Python keywords get a trailing underscore.
    const bool        is_keyword = op->name == "and" || op->name == "or" || op->name == "not";
    const std::string name = std::string(op->name) + (is_keyword ? "_" : ""), doc = sentence(op->doc);
    const auto        operands = std::count(op->operands.begin(), op->operands.end(), ' ') + 1;
    const bool        floats   = op->infer == bt::float_infer;
    // Python integers stay integers; other functions take them for floats.
    const bool whole = std::find(of_integers.begin(), of_integers.end(), op->name) != of_integers.end();
    if (operands == 1)
      m.def(
          name.c_str(),
          [op, floats, whole](Arg x) {
            return bt::elementwise_apply(*op, {floats ? in_floats(x) : whole ? positions_from(x) : x.get()});
          },
          "x"_a, doc.c_str());
    else if (operands == 2)
      m.def(
          name.c_str(),
          [op](Arg x, Arg y) {
            const bool both_whole = PyLong_Check(x.source.ptr()) && PyLong_Check(y.source.ptr());
            return bt::elementwise_apply(*op, both_whole ? bt::Tensors{positions_from(x), positions_from(y)}
                                                         : bt::Tensors{meeting(x, y.source), meeting(y, x.source)});
          },
          "x"_a, "y"_a, doc.c_str());
  }
}

bt::DType or_default(const std::optional<Dtype>& dtype) { return dtype ? dtype->get() : bt::default_float(); }

void bind_shapes(nb::module_& m) {
  m.def(
      "asarray",
      [](Arg x, std::optional<Dtype> dtype) -> Shared {
        if (dtype) return {bt::convert(x, *dtype)};
        const Tensor t = positions_from(x);
        return {t.is_weak() ? t.settled(bt::default_float()) : t};
      },
      "x"_a, "dtype"_a = nb::none(),
      "Convert to a tensor, without copying NumPy arrays.\n"
      "\n"
      "Args:\n"
      "    x: a tensor, an array, a number, or a nested sequence of numbers.\n"
      "    dtype: element type of the result; by default that of `x`.");
  m.def(
      "full",
      [](nb::handle shape, Arg value, std::optional<Dtype> dtype) {
        const Tensor v = value;
        return bt::broadcast_to(dtype         ? bt::convert(v, *dtype)
                                : v.is_weak() ? v.settled(bt::default_float())
                                              : v,
                                shape_from(shape));
      },
      "shape"_a, "fill_value"_a, "dtype"_a = nb::none(), "Return a tensor filled with one value.");
  m.def(
      "arange",
      [](double start, double stop, double step, Dtype dtype) { return bt::arange(start, stop, step, dtype); },
      "start"_a, "stop"_a, "step"_a, "dtype"_a, "Return evenly spaced values in the half-open interval [start, stop).");
  m.def(
      "linspace",
      [](double start, double stop, int64_t n, std::optional<Dtype> dtype) {
        return bt::linspace(start, stop, n, or_default(dtype));
      },
      "start"_a, "stop"_a, "num"_a = 50, "dtype"_a = nb::none(),
      "Return `num` evenly spaced values from start to stop, both included.");
  m.def(
      "eye",
      [](int64_t n, std::optional<int64_t> cols, int64_t k, std::optional<Dtype> dtype) {
        return bt::eye(n, cols.value_or(n), k, or_default(dtype));
      },
      "N"_a, "M"_a = nb::none(), "k"_a = 0, "dtype"_a = nb::none(),
      "Return an N x M matrix with ones on diagonal k and zeros elsewhere.");
  m.def(
      "one_hot",
      [](Arg x, int64_t n, std::optional<Dtype> dtype) { return bt::one_hot(positions_from(x), n, or_default(dtype)); },
      "x"_a, "num_classes"_a, "dtype"_a = nb::none(), "One-hot encode integer indices along a new last axis.");
  m.def(
      "tril", [](Arg x, int64_t k) { return bt::tril(x, k); }, "x"_a, "k"_a = 0,
      "Return the lower triangle: zeros above diagonal k.");
  m.def(
      "triu", [](Arg x, int64_t k) { return bt::triu(x, k); }, "x"_a, "k"_a = 0,
      "Return the upper triangle: zeros below diagonal k.");
  m.def(
      "broadcast_to", [](Arg x, Dims shape) { return bt::broadcast_to(x, shape); }, "x"_a, "shape"_a,
      "Broadcast to a shape.");
  m.def(
      "expand_dims",
      [](Arg x, Dims axis) {
        // NumPy counts axes in the result.
        Tensor     y    = x;
        const auto rank = y.rank() + static_cast<int64_t>(axis.get().size());
        bt::Ints   axes = axis.get();
        for (int64_t& a : axes)
          if (axes.size() > 1 && a < 0) a += rank;
        std::sort(axes.begin(), axes.end());
        for (int64_t a : axes) y = bt::expand_dims(y, a);
        return y;
      },
      "x"_a, "axis"_a, "Insert axes of size one.");
  m.def(
      "concat",
      [](nb::handle parts, std::optional<int64_t> axis) {
        bt::Tensors list = tensors_from(parts);
        if (!axis)
          for (Tensor& t : list) t = t.flatten();
        return bt::concat(bt::promote_together(list), axis.value_or(0));
      },
      "arrays"_a, "axis"_a = 0, "Concatenate arrays along an existing axis; None flattens them first.");
  m.def(
      "stack",
      [](nb::handle parts, int64_t axis) { return bt::stack(bt::promote_together(tensors_from(parts)), axis); },
      "arrays"_a, "axis"_a = 0, "Stack arrays along a new axis.");
  m.def(
      "split",
      [](Arg x, nb::handle parts, int64_t axis) {
        if (PyIndex_Check(parts.ptr())) return bt::split(x, nb::cast<int64_t>(parts), axis);
        const Tensor t = x;  // NumPy's split indices
        bt::Ints     sizes;
        int64_t      at = 0;
        for (int64_t cut : ints_from(parts)) {
          sizes.push_back(cut - at);
          at = cut;
        }
        sizes.push_back(t.shape()[static_cast<size_t>(bt::normalize_axis(axis, t.rank(), "split"))] - at);
        return bt::split(t, sizes, axis);
      },
      "x"_a, "indices_or_sections"_a, "axis"_a = 0,
      "Split along an axis, into equal sections or at the given indices.");
  m.def(
      "flip",
      [](Arg x, Given<bt::Axes> axis) {
        const Tensor t = x;
        return bt::flip(t, axis.get().of(t.rank(), "flip"));
      },
      "x"_a, "axis"_a = nb::none(), "Reverse the order of elements along axes; None means all.");
  m.def(
      "roll",
      [](Arg x, int64_t shift, std::optional<int64_t> axis) {
        const Tensor t = x;
        return axis ? bt::roll(t, shift, *axis) : bt::reshape(bt::roll(t.flatten(), shift, 0), t.shape());
      },
      "x"_a, "shift"_a, "axis"_a = nb::none(), "Roll elements along an axis; None rolls the flattened tensor.");
  m.def(
      "pad",
      [](Arg x, const std::vector<std::pair<int64_t, int64_t>>& widths, Arg value) {
        bt::Ints lo, hi;
        for (const auto& [a, b] : widths) lo.push_back(a), hi.push_back(b);
        return bt::pad(x, value, lo, hi);
      },
      "x"_a, "pad_width"_a, "constant_values"_a = 0.0,
      "Pad with a constant.\n"
      "\n"
      "Args:\n"
      "    x: the tensor.\n"
      "    pad_width: (before, after) for each axis.\n"
      "    constant_values: the padding value.");
  m.def(
      "moveaxis", [](Arg x, int64_t from, int64_t to) { return bt::move_axis(x, from, to); }, "x"_a, "source"_a,
      "destination"_a, "Move an axis to a new position.");
}

void bind_selection(nb::module_& m) {
  m.def(
      "where",
      [](Arg condition, Arg x, Arg y) { return bt::select(condition, meeting(x, y.source), meeting(y, x.source)); },
      "condition"_a, "x"_a, "y"_a, "Return elements of `x` where the condition is true, and of `y` elsewhere.");
  m.def(
      "take_along_axis", [](Arg x, Arg indices, int64_t axis) { return bt::take_along_axis(x, indices, axis); }, "x"_a,
      "indices"_a, "axis"_a, "Select one element along an axis for each index.");
  m.def(
      "top_k",
      [](Arg x, int64_t k) {
        const auto r = bt::top_k(x, k);
        return nb::make_tuple(r.values, r.indices);
      },
      "x"_a, "k"_a, "Return the k largest elements along the last axis, and their indices.");
  m.def(
      "softmax", [](Arg x, Given<bt::Axes> axis) { return bt::softmax(x, axis); }, "x"_a, "axis"_a = -1,
      "Softmax along axes: exp(x) / sum(exp(x)).");
  m.def(
      "log_softmax", [](Arg x, Given<bt::Axes> axis) { return bt::log_softmax(x, axis); }, "x"_a, "axis"_a = -1,
      "Logarithm of the softmax along axes.");
  m.def(
      "logsumexp", [](Arg x, Given<bt::Axes> axis, bool keepdims) { return bt::logsumexp(x, axis, keepdims); }, "x"_a,
      "axis"_a = nb::none(), "keepdims"_a = false, "Logarithm of the sum of exponentials: log(sum(exp(x))).");
  m.def(
      "cummax", [](Arg x, int64_t axis) { return bt::cummax(x, axis); }, "x"_a, "axis"_a = 0,
      "Return the cumulative maximum along an axis.");
  m.def(
      "cummin", [](Arg x, int64_t axis) { return bt::cummin(x, axis); }, "x"_a, "axis"_a = 0,
      "Return the cumulative minimum along an axis.");
  m.def(
      "plain_einsum",
      [](const std::string& equation, nb::args operands) { return bt::einsum(equation, tensors_from(operands)); },
      "equation"_a, "operands"_a,
      "Evaluate an Einstein summation. Operands get the gradient of the current step only.");
  m.def(
      "dot", [](Arg x, Arg w) { return bt::dot(x, w); }, "x"_a, "w"_a,
      "Return the matrix product. `w` gets the gradient of the current step only; use `matmul` to learn it online.");
}

void bind_activations(nb::module_& m) {
  const std::tuple<const char*, Tensor (*)(const Tensor&), const char*> plain[] = {
      {"relu", bt::relu, "max(x, 0)."},
      {"relu6", bt::relu6, "min(max(x, 0), 6)."},
      {"selu", bt::selu, "Scaled exponential linear unit."},
      {"silu", bt::silu, "Sigmoid linear unit: x sigmoid(x)."},
      {"hard_sigmoid", bt::hard_sigmoid, "Piecewise linear sigmoid: relu6(x + 3) / 6."},
      {"hard_silu", bt::hard_silu, "x hard_sigmoid(x)."},
      {"hard_tanh", bt::hard_tanh, "Piecewise linear tanh: x limited to [-1, 1]."},
      {"log_sigmoid", bt::log_sigmoid, "Logarithm of the sigmoid."},
  };
  for (const auto& [name, f, doc] : plain)
    m.def(
        name, [f = f](Arg x) { return f(x); }, "x"_a, doc);
  m.def(
      "celu", [](Arg x, double alpha) { return bt::celu(x, alpha); }, "x"_a, "alpha"_a = 1.0,
      "Continuously differentiable ELU: x where x > 0, else alpha (exp(x/alpha) - 1).");
  m.def(
      "elu", [](Arg x, double alpha) { return bt::elu(x, alpha); }, "x"_a, "alpha"_a = 1.0,
      "Exponential linear unit: x where x > 0, else alpha (exp(x) - 1).");
  m.def(
      "leaky_relu", [](Arg x, double slope) { return bt::leaky_relu(x, slope); }, "x"_a, "negative_slope"_a = 0.01,
      "Leaky ReLU: x where x > 0, else negative_slope x.");
  m.def(
      "gelu", [](Arg x, bool approximate) { return bt::gelu(x, approximate); }, "x"_a, "approximate"_a = true,
      "Gaussian error linear unit: x Phi(x), Phi the normal distribution function; `approximate` uses tanh.");
}

void bind_trainable(nb::module_& m) {
  const auto none    = nb::none();
  using Product      = Tensor (*)(const Tensor&, const Tensor&, const Tensor&, const bt::WeightFns&);
  const auto product = [&](const char* name, Product f, const char* doc) {
    m.def(
        name,
        [f](Arg x, Arg w, std::optional<Arg> bias, std::optional<WeightFn> weight_fn, std::optional<WeightFn> bias_fn) {
          return f(x, w, given(bias), {function_or_none(weight_fn), function_or_none(bias_fn)});
        },
        "x"_a, "weight"_a, "bias"_a = none, nb::kw_only(), "weight_fn"_a = none, "bias_fn"_a = none, doc);
  };
  product("matmul", bt::matmul,
          "Matrix product y = x W + b, whose weight and bias learn online.\n"
          "\n"
          "Args:\n"
          "    x: input, [I] or [B, I].\n"
          "    weight: [I, O].\n"
          "    bias: [O], or None.\n"
          "    weight_fn: function applied to the weight before the product.\n"
          "    bias_fn: function applied to the bias.\n"
          "\n"
          "Returns:\n"
          "    [O] or [B, O].");
  product("grouped_matmul", bt::grouped_matmul,
          "Matrix products of several groups, y_g = x_g W_g + b_g, whose weights and biases learn online.\n"
          "\n"
          "Args:\n"
          "    x: [G, I] or [B, G, I].\n"
          "    weight: [G, I, O].\n"
          "    bias: [G, O], or None.\n"
          "    weight_fn: function applied to the weight.\n"
          "    bias_fn: function applied to the bias.");
  m.def(
      "element_wise",
      [](Arg w, std::optional<WeightFn> f, std::optional<WeightFn> g) {
        return bt::element_wise(w, {.weight_fn = function_or_none(g), .fn = function_or_none(f)});
      },
      "weight"_a, "fn"_a = none, nb::kw_only(), "weight_fn"_a = none,
      "Return a weight with one value per position of a hidden state, such as a threshold or time constant; it learns "
      "online.\n"
      "\n"
      "Args:\n"
      "    weight: shared along axes of the state that it lacks or that have size one.\n"
      "    fn: function applied to the weight.\n"
      "    weight_fn: another name of `fn`; give only one of them.");
  m.def(
      "conv",
      [](Arg x, Arg kernel, std::optional<Arg> bias, std::optional<Dims> strides, nb::object padding,
         std::optional<Dims> lhs_dilation, std::optional<Dims> rhs_dilation, int64_t groups, const std::string& layout,
         std::optional<WeightFn> kernel_fn, std::optional<WeightFn> bias_fn) {
        const Tensor             k = kernel;
        bt::TrainableConvOptions o;
        o.padding      = padding_from(padding).of(static_cast<size_t>(std::max(k.rank() - 2, 1)), "conv");
        o.stride       = given_or_none<bt::Ints>(strides).value_or(bt::Ints{});
        o.lhs_dilation = given_or_none<bt::Ints>(lhs_dilation).value_or(bt::Ints{});
        o.rhs_dilation = given_or_none<bt::Ints>(rhs_dilation).value_or(bt::Ints{});
        o.groups       = groups;
        o.layout       = layout;
        o.kernel_fn    = function_or_none(kernel_fn);
        o.bias_fn      = function_or_none(bias_fn);
        return bt::conv(x, k, given(bias), o);
      },
      "x"_a, "kernel"_a, "bias"_a = none, nb::kw_only(), "strides"_a = none, "padding"_a = "SAME",
      "lhs_dilation"_a = none, "rhs_dilation"_a = none, "feature_group_count"_a = 1, "dimension_numbers"_a = "",
      "kernel_fn"_a = none, "bias_fn"_a = none,
      "Convolution (cross-correlation) whose kernel and bias learn online.\n"
      "\n"
      "Args:\n"
      "    x: input in the layout given by `dimension_numbers`; the batch axis is optional.\n"
      "    kernel: the kernel, in the same layout.\n"
      "    bias: [O], or an array that broadcasts to the output, or None.\n"
      "    strides: one number, or one per spatial axis.\n"
      "    padding: 'SAME', 'VALID', a number, or (before, after) per spatial axis.\n"
      "    lhs_dilation: dilation of the input.\n"
      "    rhs_dilation: dilation of the kernel.\n"
      "    feature_group_count: number of channel groups.\n"
      "    dimension_numbers: layout such as 'NHWC,HWIO->NHWC'; default: channels first, 'NCHW,OIHW->NCHW'.\n"
      "    kernel_fn: function applied to the kernel.\n"
      "    bias_fn: function applied to the bias.");
  m.def(
      "sparse_matmul",
      [](Arg x, Arg weight, nb::handle sparse_mat, std::optional<Arg> bias, std::optional<WeightFn> f,
         std::optional<WeightFn> g) {
        return bt::sparse_matmul(x, weight, pattern_from(sparse_mat), given(bias),
                                 {function_or_none(f), function_or_none(g)});
      },
      "x"_a, "weight"_a, nb::kw_only(), "sparse_mat"_a, "bias"_a = none, "weight_fn"_a = none, "bias_fn"_a = none,
      "Product y = x W + b with a sparse W, whose stored values learn online.\n"
      "\n"
      "Args:\n"
      "    x: [I] or [B, I].\n"
      "    weight: the stored values, [entries].\n"
      "    sparse_mat: a SparsePattern, or a SciPy matrix in CSR or COO format.\n"
      "    bias: [O], or None.\n"
      "    weight_fn: function applied to the values.\n"
      "    bias_fn: function applied to the bias.");
  m.def(
      "lora_matmul",
      [](Arg x, Arg B, Arg A, double alpha, std::optional<Arg> bias, std::optional<WeightFn> b_fn,
         std::optional<WeightFn> a_fn, std::optional<WeightFn> bias_fn) {
        return bt::lora_matmul(x, B, A, given(bias),
                               {.alpha   = alpha,
                                .b_fn    = function_or_none(b_fn),
                                .a_fn    = function_or_none(a_fn),
                                .bias_fn = function_or_none(bias_fn)});
      },
      "x"_a, "B"_a, "A"_a, nb::kw_only(), "alpha"_a = 1.0, "bias"_a = none, "b_fn"_a = none, "a_fn"_a = none,
      "bias_fn"_a = none,
      "Low-rank product y = alpha x B A + b, whose factors and bias learn online.\n"
      "\n"
      "Args:\n"
      "    x: [I] or [N, I].\n"
      "    B: [I, R].\n"
      "    A: [R, O].\n"
      "    alpha: scale.\n"
      "    bias: [O], or None.\n"
      "    b_fn: function applied to B.\n"
      "    a_fn: function applied to A.\n"
      "    bias_fn: function applied to the bias.");
  m.def(
      "embedding",
      [](Arg indices, Arg w, std::optional<WeightFn> f) { return bt::embedding(indices, w, {function_or_none(f)}); },
      "indices"_a, "weight"_a, nb::kw_only(), "weight_fn"_a = none,
      "Look up rows of a table that learns online.\n"
      "\n"
      "Args:\n"
      "    indices: integers of any shape.\n"
      "    weight: the table, [rows, features].\n"
      "    weight_fn: function applied to the table.");
  m.def(
      "einsum",
      [](const std::string& equation, Arg x, Arg w, std::optional<WeightFn> f) {
        const Tensor a = x, b = w;
        return bt::einsum(equation, a, b, bt::EinsumOptions{function_or_none(f)});
      },
      "equation"_a, "x"_a, "weight"_a, nb::kw_only(), "weight_fn"_a = none,
      "Einstein summation of an input and a weight that learns online, such as einsum('bi,io->bo', x, weight).\n"
      "\n"
      "Args:\n"
      "    equation: the first letter of the input and of the result is the batch axis.\n"
      "    x: the input.\n"
      "    weight: the weight.\n"
      "    weight_fn: function applied to the weight.");
}

void bind_random(nb::module_& m) {
  namespace random = bt::random;
  m.def(
      "seed", [](uint64_t value) { random::seed(value); }, "seed"_a, "Seed the global stream of random numbers.");
  m.def(
      "default_stream", [] { return object_of(random::default_stream()); },
      "Return the global stream of random numbers, a RandomState.");
  m.def(
      "next_key", [] { return random::next(); }, "Return a fresh key of the global stream.");
  m.def(
      "random_key", [](uint64_t seed) { return random::key(seed); }, "seed"_a, "Return the key of a seed.");
  m.def(
      "split_key", [](Arg key, int64_t n) { return random::split_stacked(key, n); }, "key"_a, "num"_a = 2,
      "Derive `num` new keys from a key.");
  m.def(
      "random_uniform",
      [](Arg key, nb::handle shape, Arg lo, Arg hi, std::optional<Dtype> d) {
        return random::uniform(key, shape_from(shape), lo, hi, or_default(d));
      },
      "key"_a, "shape"_a, "minval"_a = 0.0, "maxval"_a = 1.0, "dtype"_a = nb::none(),
      "Draw uniformly from [minval, maxval).");
  m.def(
      "random_normal",
      [](Arg key, nb::handle shape, std::optional<Dtype> d) {
        return random::normal(key, shape_from(shape), or_default(d));
      },
      "key"_a, "shape"_a, "dtype"_a = nb::none(), "Draw from the standard normal distribution.");
  m.def(
      "random_truncated_normal",
      [](Arg key, double lo, double hi, nb::handle shape, std::optional<Dtype> d) {
        return random::truncated_normal(key, shape_from(shape), lo, hi, or_default(d));
      },
      "key"_a, "lower"_a, "upper"_a, "shape"_a, "dtype"_a = nb::none(),
      "Draw from the standard normal distribution, truncated to [lower, upper].");
  m.def(
      "random_bernoulli",
      [](Arg key, Arg p, std::optional<Dims> shape) {
        return shape ? random::bernoulli(key, p, *shape) : random::bernoulli(key, p);
      },
      "key"_a, "p"_a = 0.5, "shape"_a = nb::none(), "Draw booleans that are true with probability p.");
  m.def(
      "random_randint",
      [](Arg key, nb::handle shape, int64_t lo, int64_t hi) { return random::randint(key, shape_from(shape), lo, hi); },
      "key"_a, "shape"_a, "minval"_a, "maxval"_a, "Draw integers uniformly from [minval, maxval).");
  m.def(
      "random_categorical", [](Arg key, Arg logits) { return random::categorical(key, logits); }, "key"_a, "logits"_a,
      "Draw indices with probabilities softmax(logits) along the last axis.");
  m.def(
      "random_permutation",
      [](Arg key, nb::handle x) {
        return PyLong_Check(x.ptr()) ? random::permutation(key, nb::cast<int64_t>(x))
                                     : random::permutation(key, tensor_from(x));
      },
      "key"_a, "x"_a, "Permute range(x) for an integer x, or the rows of x.");
  m.def(
      "random_exponential", [](Arg key, nb::handle shape) { return random::exponential(key, shape_from(shape)); },
      "key"_a, "shape"_a, "Draw from the standard exponential distribution.");
  m.def(
      "random_gamma", [](Arg key, double a, nb::handle shape) { return random::gamma(key, a, shape_from(shape)); },
      "key"_a, "a"_a, "shape"_a, "Draw from the gamma distribution with shape parameter a and scale 1.");
}

}  // namespace

void bind_ops(nb::module_& m) {
  nb::module_ ops = m.def_submodule("ops", "Operations on tensors, one function per operation.");
  bind_elementwise(ops);
  bind_shapes(ops);
  bind_selection(ops);
  bind_activations(ops);
  bind_trainable(ops);
  bind_random(ops);
}

}  // namespace pybraintrace

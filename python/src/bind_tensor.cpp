// SPDX-License-Identifier: Apache-2.0
// Tensor with the methods and operators of NumPy arrays.
#include <cmath>

#include "bindings.h"
#include "braintrace/ops/activation.h"
#include "braintrace/ops/compare.h"
#include "braintrace/ops/contract.h"
#include "braintrace/ops/cumulative.h"
#include "braintrace/ops/index.h"
#include "braintrace/ops/math.h"
#include "braintrace/ops/move.h"
#include "braintrace/ops/reduce.h"
#include "braintrace/ops/sort.h"
#include "convert.h"
#include "index.h"

namespace pybraintrace {

namespace {

using bt::Tensor;

// A constant integer exponent becomes products, also for negative x.
Tensor power(const Tensor& x, const Tensor& exponent) {
  if (exponent.is_weak() && exponent.is_literal() && exponent.fill() == static_cast<int64_t>(exponent.fill()) &&
      std::abs(exponent.fill()) <= 64)
    return bt::integer_pow(x, static_cast<int64_t>(exponent.fill()));
  return bt::pow(x, exponent);
}

Tensor subtract(const Tensor& a, const Tensor& b) {
  bt::require(a.dtype() != bt::DType::Bool || b.dtype() != bt::DType::Bool, bt::ErrorKind::DType,
              "the difference of two bool tensors is not defined; use ^ or !=, or convert them first, such as with "
              "astype(int).");
  return bt::sub(a, b);
}
Tensor negative(const Tensor& x) {
  bt::require(x.dtype() != bt::DType::Bool, bt::ErrorKind::DType,
              "the negative of a bool tensor is not defined; use ~ for not, or convert it first, such as with "
              "astype(int).");
  return bt::neg(x);
}

Tensor rounded(const Tensor& x, int decimals) {
  const bool is_whole = !bt::is_float(x.dtype());
  if (is_whole && decimals >= 0) return x;
  if (decimals == 0) return bt::round(x);
  const double factor = std::pow(10.0, decimals);
  const Tensor y      = bt::round(in_floats(x) * factor) / factor;
  return is_whole ? bt::convert(y, x.dtype()) : y;
}

double item_of(const Tensor& t) { return t.item(); }

template <Tensor (*f)(const Tensor&, const Tensor&)>
void operators(nb::class_<Tensor>& c, const char* name, const char* reflected) {
  c.def(
      name, [](const Tensor& a, Arg b) { return f(meeting(a, b.source), b); }, nb::is_operator());
  if (reflected)
    c.def(
        reflected, [](const Tensor& a, Arg b) { return f(b, meeting(a, b.source)); }, nb::is_operator());
}

using Reduction = Tensor (*)(const Tensor&, const bt::Axes&, bool);
void reduction(nb::class_<Tensor>& c, const char* name, Reduction f, const char* doc) {
  c.def(
      name, [f](const Tensor& x, Given<bt::Axes> axis, bool keepdims) { return f(x, axis, keepdims); },
      "axis"_a = nb::none(), "keepdims"_a = false, doc);
}

// A function of bt.numpy.
nb::object in_python(const char* name) { return nb::module_::import_("pybraintrace.numpy").attr(name); }

Tensor truth_of(const Tensor& x) { return x.dtype() == bt::DType::Bool ? x : bt::convert(x, bt::DType::Bool); }

Tensor take(const Tensor& x, const Arg& indices, int64_t axis) {
  const Tensor positions = positions_from(indices);
  if (!bt::is_integer(positions.dtype())) return bt::take(x, positions, axis);  // an error
  axis = bt::normalize_axis(axis, x.rank(), "take");
  return bt::take(x, from_front(positions, x.shape()[static_cast<size_t>(axis)]), axis);
}

// Division of integers gives floats.
Tensor true_divide(const Tensor& a, const Tensor& b) {
  const bt::Tensors both = bt::promote_together({a, b});
  return bt::div(in_floats(both[0]), in_floats(both[1]));
}
Tensor floor_divide(const Tensor& a, const Tensor& b) {
  const bt::Tensors both = bt::promote_together({a, b});
  if (bt::is_float(both[0].dtype())) {
    // x = q y + x mod y: the quotient itself may round up to the next whole number, as that of 1 and 0.1.
    const Tensor q     = bt::div(both[0], both[1]);
    const Tensor whole = bt::round(bt::div(bt::sub(both[0], bt::mod(both[0], both[1])), both[1]));
    return bt::select(bt::bitwise_and(bt::is_finite(q), bt::is_finite(both[1])), whole, bt::floor(q));
  }
  return bt::div(bt::sub(both[0], bt::mod(both[0], both[1])), both[1]);
}

}  // namespace

void bind_tensor(nb::module_& m) {
  nb::class_<Tensor> c(
      m, "Tensor", nb::dynamic_attr(),
      "An immutable array, or a traced value inside a transform.\n"
      "\n"
      "`x.at[i].set(v)` returns an updated copy. `numpy.asarray(x)` returns a read-only view without copying.\n"
      "\n"
      ">>> import pybraintrace as bt\n"
      ">>> (bt.numpy.ones(2) * 3).tolist()\n"
      "[3.0, 3.0]");
  c.def(
      "__init__", [](Tensor* self, Arg value) { new (self) Tensor(value.get()); }, "value"_a);

  c.def_prop_ro(
      "shape", [](const Tensor& t) { return tuple_of(t.shape()); },
      nb::for_getter(nb::sig("def shape(self) -> tuple[int, ...]")), "Shape of the tensor.");
  c.def_prop_ro(
      "dtype", [](const Tensor& t) { return numpy_dtype(t.dtype()); },
      nb::for_getter(nb::sig("def dtype(self) -> numpy.dtype")), "Element type, as a NumPy dtype.");
  c.def_prop_ro("ndim", &Tensor::rank, "Number of axes.");
  c.def_prop_ro("size", &Tensor::size, "Number of elements.");
  c.def_prop_ro(
      "nbytes", [](const Tensor& t) { return t.type().bytes(); }, "Total size of the elements in bytes.");
  c.def_prop_ro(
      "T", [](const Tensor& t) { return t.T(); }, "The tensor with its axes reversed.");
  c.def_prop_ro(
      "mT", [](nb::handle self) { return nb::cast<Tensor>(in_python("swapaxes")(self, -1, -2)); },
      "The matrices in the last two axes, transposed.");
  c.def_prop_ro("weak_type", &Tensor::is_weak,
                "Whether the tensor is weakly typed, that is, adopts the dtype of the other operand.");
  c.def_prop_ro("is_traced", &Tensor::is_traced, "Whether this is a traced value, which has no elements yet.");

  c.def_prop_ro(
      "at", [](nb::handle self) { return nb::object(nb::module_::import_("pybraintrace._tensor").attr("_At")(self)); },
      "Indexed updates: `x.at[key].set(value)` returns an updated copy.");
  c.def("numpy", &numpy_of, "Return a read-only NumPy array that shares the memory.");
  c.def(
      "item", [](const Tensor& t) { return nb::object(numpy_of(t).attr("item")()); },
      "Return the only element as a Python number.");
  c.def(
      "tolist", [](const Tensor& t) { return nb::object(numpy_of(t).attr("tolist")()); },
      "Return the elements as nested lists.");
  c.def("__float__", &item_of);
  c.def("__int__", [](const Tensor& t) { return nb::object(nb::int_(nb::object(numpy_of(t).attr("item")()))); });
  c.def("__index__", [](const Tensor& t) {
    if (bt::is_float(t.dtype()) || t.rank() != 0)
      nb::raise_type_error("only an integer scalar can be used as an index, got %s", bt::to_string(t.type()).c_str());
    return nb::object(nb::int_(nb::object(numpy_of(t).attr("item")())));
  });
  c.def("__bool__", [](const Tensor& t) {
    bt::require(t.size() == 1, "the truth value of {} is ambiguous; use all() or any().", bt::to_string(t.type()));
    return t.item() != 0;
  });
  c.def("__len__", [](const Tensor& t) {
    if (t.rank() == 0) nb::raise_type_error("a scalar tensor has no length");
    return t.shape()[0];
  });
  c.def("__hash__", [](nb::handle self) { return reinterpret_cast<intptr_t>(self.ptr()) >> 4; });

  operators<bt::add>(c, "__add__", "__radd__");
  operators<subtract>(c, "__sub__", "__rsub__");
  operators<bt::mul>(c, "__mul__", "__rmul__");
  operators<true_divide>(c, "__truediv__", "__rtruediv__");
  operators<floor_divide>(c, "__floordiv__", "__rfloordiv__");
  operators<bt::mod>(c, "__mod__", "__rmod__");
  operators<power>(c, "__pow__", "__rpow__");
  operators<bt::dot>(c, "__matmul__", "__rmatmul__");
  operators<bt::bitwise_and>(c, "__and__", "__rand__");
  operators<bt::bitwise_or>(c, "__or__", "__ror__");
  operators<bt::bitwise_xor>(c, "__xor__", "__rxor__");
  operators<bt::equal>(c, "__eq__", nullptr);
  operators<bt::not_equal>(c, "__ne__", nullptr);
  operators<bt::less>(c, "__lt__", nullptr);
  operators<bt::less_equal>(c, "__le__", nullptr);
  operators<bt::greater>(c, "__gt__", nullptr);
  operators<bt::greater_equal>(c, "__ge__", nullptr);
  c.def("__neg__", &negative);
  c.def("__pos__", [](const Tensor& x) { return x; });
  c.def("__abs__", [](const Tensor& x) { return bt::abs(x); });
  c.def("__invert__", [](const Tensor& x) { return bt::bitwise_not(x); });
  c.def(
      "__getitem__", [](const Tensor& x, nb::handle key) { return indexed(x, key); }, "key"_a.none());

  reduction(
      c, "all", [](const Tensor& x, const bt::Axes& axes, bool keep) { return bt::all(truth_of(x), axes, keep); },
      "Test whether all elements are true.");
  reduction(
      c, "any", [](const Tensor& x, const bt::Axes& axes, bool keep) { return bt::any(truth_of(x), axes, keep); },
      "Test whether any element is true.");
  reduction(c, "max", bt::max, "Return the maximum.");
  reduction(
      c, "mean", [](const Tensor& x, const bt::Axes& axes, bool keep) { return bt::mean(in_floats(x), axes, keep); },
      "Return the mean.");
  reduction(c, "min", bt::min, "Return the minimum.");
  reduction(c, "prod", bt::prod, "Return the product of the elements.");
  reduction(c, "sum", bt::sum, "Return the sum of the elements.");
  c.def(
      "var",
      [](const Tensor& x, Given<bt::Axes> axis, bool keepdims, double ddof) {
        return bt::var(in_floats(x), axis, keepdims, ddof);
      },
      "axis"_a = nb::none(), "keepdims"_a = false, "ddof"_a = 0.0, "Return the variance, with divisor N - ddof.");
  c.def(
      "std",
      [](const Tensor& x, Given<bt::Axes> axis, bool keepdims, double ddof) {
        return bt::sqrt(bt::var(in_floats(x), axis, keepdims, ddof));
      },
      "axis"_a = nb::none(), "keepdims"_a = false, "ddof"_a = 0.0,
      "Return the standard deviation, with divisor N - ddof.");
  c.def(
      "argmax",
      [](const Tensor& x, std::optional<int64_t> axis, bool keepdims) { return bt::argmax(x, axis, keepdims); },
      "axis"_a = nb::none(), "keepdims"_a = false, "Return the index of the first maximum.");
  c.def(
      "argmin",
      [](const Tensor& x, std::optional<int64_t> axis, bool keepdims) { return bt::argmin(x, axis, keepdims); },
      "axis"_a = nb::none(), "keepdims"_a = false, "Return the index of the first minimum.");
  c.def(
      "sort", [](const Tensor& x, int64_t axis) { return bt::sort(x, axis); }, "axis"_a = -1,
      "Return a copy sorted along an axis.");
  c.def(
      "argsort", [](const Tensor& x, int64_t axis) { return bt::argsort(x, axis); }, "axis"_a = -1,
      "Return the indices that sort the tensor along an axis.");
  c.def(
      "cumsum", [](const Tensor& x, int64_t axis) { return bt::cumsum(x, axis); }, "axis"_a,
      "Return the cumulative sum along an axis.");
  c.def(
      "cumprod", [](const Tensor& x, int64_t axis) { return bt::cumprod(x, axis); }, "axis"_a,
      "Return the cumulative product along an axis.");
  c.def("round", &rounded, "decimals"_a = 0, "Round to a number of decimals; integers stay integers.");
  c.def(
      "clip",
      [](const Tensor& x, std::optional<Arg> lo, std::optional<Arg> hi) {
        Tensor y = x;
        if (lo) y = bt::maximum(meeting(y, lo->source), *lo);
        if (hi) y = bt::minimum(meeting(y, hi->source), *hi);
        return y;
      },
      "min"_a = nb::none(), "max"_a = nb::none(), "Limit the elements to [min, max]; None leaves a side open.");
  c.def(
      "dot", [](const Tensor& x, Arg w) { return bt::dot(x, w); }, "w"_a,
      "Return the matrix product. `w` gets the gradient of the current step only.");
  c.def(
      "take", [](const Tensor& x, Arg indices, int64_t axis) { return take(x, indices, axis); }, "indices"_a,
      "axis"_a = 0, "Return the elements at the given indices along an axis. Negative indices count from the end.");
  c.def(
      "astype", [](const Tensor& x, Dtype dtype) { return bt::convert(x, dtype); }, "dtype"_a,
      "Convert to another dtype.");
  c.def(
      "reshape",
      [](const Tensor& x, const nb::args& sizes) {
        nb::object shape = sizes.size() == 1 ? nb::object(sizes[0]) : nb::object(sizes);
        return bt::reshape(x, ints_from(shape));
      },
      "Return the elements in a new shape; one size may be -1.");
  c.def(
      "flatten", [](const Tensor& x) { return x.flatten(); }, "Return the elements as a vector.");
  c.def(
      "ravel", [](const Tensor& x) { return x.flatten(); }, "Return the elements as a vector.");
  c.def(
      "transpose",
      [](const Tensor& x, const nb::args& axes) {
        if (axes.size() == 0 || (axes.size() == 1 && nb::object(axes[0]).is_none())) return bt::transpose(x);
        nb::object perm = axes.size() == 1 ? nb::object(axes[0]) : nb::object(axes);
        return bt::transpose(x, ints_from(perm));
      },
      "Permute the axes; without arguments, reverse them.");
  c.def(
      "swapaxes",
      [](nb::handle self, int64_t axis1, int64_t axis2) { return in_python("swapaxes")(self, axis1, axis2); },
      "axis1"_a, "axis2"_a, nb::sig("def swapaxes(self, axis1: int, axis2: int) -> Tensor"), "Exchange two axes.");
  c.def(
      "repeat", [](nb::handle self, nb::handle n, nb::handle axis) { return in_python("repeat")(self, n, axis); },
      "repeats"_a, "axis"_a.none() = nb::none(),
      nb::sig("def repeat(self, repeats: pybraintrace.typing.ArrayLike, axis: int | None = None) -> Tensor"),
      "Repeat each element along an axis, all equally often or each a number of times; None flattens first.");
  c.def(
      "diagonal",
      [](nb::handle self, int64_t offset, int64_t axis1, int64_t axis2) {
        return in_python("diagonal")(self, offset, axis1, axis2);
      },
      "offset"_a = 0, "axis1"_a = 0, "axis2"_a = 1,
      nb::sig("def diagonal(self, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Tensor"),
      "Return a diagonal of the matrices in two axes, as the last axis.");
  c.def(
      "trace",
      [](nb::handle self, int64_t offset, int64_t axis1, int64_t axis2) {
        return in_python("trace")(self, offset, axis1, axis2);
      },
      "offset"_a = 0, "axis1"_a = 0, "axis2"_a = 1,
      nb::sig("def trace(self, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Tensor"),
      "Return the sum of a diagonal.");
  c.def(
      "squeeze",
      [](const Tensor& x, std::optional<Dims> axis) {
        if (axis) return bt::squeeze(x, *axis);
        bt::Ints ones;
        for (int i = 0; i < x.rank(); ++i)
          if (x.shape()[static_cast<size_t>(i)] == 1) ones.push_back(i);
        return bt::squeeze(x, ones);
      },
      "axis"_a = nb::none(), "Remove axes of size one: the given ones, or all.");
  c.def(
      "copy", [](const Tensor& x) { return x; }, "Return a tensor of the same elements, in memory of its own.");
  c.def(
      "block_until_ready", [](const Tensor& x) { return x; },
      "Return the tensor itself; results are always ready when they are returned.");
  c.def("_dlpack_of", &dlpack_of);
  c.def(
      "_set_at",
      [](const Tensor& x, nb::handle key, Arg value, const std::string& how) { return updated(x, key, value, how); },
      "key"_a.none(), "value"_a, "how"_a);
}

}  // namespace pybraintrace

// SPDX-License-Identifier: Apache-2.0
#include "index.h"

#include <algorithm>
#include <set>

#include "braintrace/ops/compare.h"
#include "braintrace/ops/index.h"
#include "braintrace/ops/math.h"
#include "braintrace/ops/move.h"
#include "braintrace/ops/reduce.h"

namespace pybraintrace {

namespace {

using bt::Tensor;

struct Item {
  enum Kind { Number, Slice, NewAxis, Array } kind;
  int64_t number = 0;                      // of Number
  int64_t start = 0, count = 0, step = 1;  // of Slice: elements start, start + step, …
  Tensor  array = {};                      // of Array: positions, not negative
};

[[noreturn]] void index_error(const std::string& text) { throw nb::index_error(text.c_str()); }

}  // namespace

Tensor from_front(const Tensor& indices, int64_t n) {
  if (!indices.is_traced()) {
    const bt::Integers v(indices.array());
    for (int64_t i = 0; i < indices.size(); ++i)
      if (v[i] < -n || v[i] >= n)
        index_error("index " + std::to_string(v[i]) + " is out of range for an axis of size " + std::to_string(n));
  }
  return bt::select(bt::less(indices, Tensor(bt::Type{indices.dtype(), {}}, 0)),
                    bt::add(indices, Tensor(bt::Type{indices.dtype(), {}}, static_cast<double>(n))), indices);
}

namespace {

bool is_bool_array(nb::handle h) {
  if (PyBool_Check(h.ptr())) return true;
  if (nb::isinstance<Tensor>(h)) return nb::cast<Tensor>(h).dtype() == bt::DType::Bool;
  if (!nb::hasattr(h, "dtype")) return false;
  nb::object dtype = h.attr("dtype");
  return nb::cast<std::string>(nb::str(nb::handle(dtype))) == "bool";
}

// How many axes of a tensor a part of an index consumes.
int axes_of(const nb::object& part) {
  if (part.is_none() || part.is(nb::ellipsis())) return 0;
  return is_bool_array(part) ? tensor_from(part).rank() : 1;
}

void require_shape_of(const Tensor& mask, const bt::Shape& shape, int axis) {
  for (int i = 0; i < mask.rank(); ++i)
    if (axis + i < static_cast<int>(shape.size()) && mask.shape()[i] != shape[axis + i])
      index_error("a mask " + bt::to_string(mask.type()) + " does not match a tensor of shape " + bt::to_string(shape));
}

std::vector<nb::object> parts_of(nb::handle key, const bt::Shape& shape) {
  const int               rank = static_cast<int>(shape.size());
  std::vector<nb::object> parts;
  if (PyTuple_Check(key.ptr()))
    for (nb::handle h : nb::iter(key)) parts.push_back(nb::borrow(h));
  else
    parts.push_back(nb::borrow(key));
  // Bool masks become the indices where they are true.
  std::vector<nb::object> out;
  for (nb::object& p : parts)
    if (PyList_Check(p.ptr())) {
      const Tensor indices = tensor_from(p);  // without elements, it has the type of no index
      p                    = numpy_of(indices.size() == 0 ? bt::convert(indices, bt::DType::I32) : indices);
    }
  int named = 0, axis = 0;
  for (const nb::object& p : parts) named += axes_of(p);
  if (named > rank)
    index_error("too many indices: a tensor with " + std::to_string(rank) + " axes got " + std::to_string(named));
  for (const nb::object& p : parts) {
    const int here = axis;
    axis += p.is(nb::ellipsis()) ? rank - named : axes_of(p);
    if (!is_bool_array(p)) {
      out.push_back(p);
      continue;
    }
    const Tensor mask = tensor_from(p);
    bt::require(!mask.is_traced(),
                "a traced mask cannot be an index, because the size of the result would depend on it; use where().");
    if (mask.rank() == 0) index_error("a single bool cannot be an index; use where()");
    require_shape_of(mask, shape, here);
    for (nb::handle positions : nb::iter(nb::object(numpy_of(mask).attr("nonzero")())))
      out.push_back(nb::borrow(positions));
  }
  int used = 0, dots = -1;
  for (size_t i = 0; i < out.size(); ++i) {
    if (out[i].is(nb::ellipsis())) {
      if (dots >= 0) index_error("an index can contain only one ellipsis (...)");
      dots = static_cast<int>(i);
    } else if (!out[i].is_none()) {
      ++used;
    }
  }
  // An ellipsis of no axes stays: it separates indices.
  if (used == rank) return out;
  nb::object all = nb::slice(nb::none(), nb::none(), nb::none());
  if (dots < 0) {
    dots = static_cast<int>(out.size());
    out.push_back(all);
  }
  out.erase(out.begin() + dots);
  out.insert(out.begin() + dots, static_cast<size_t>(rank - used), all);
  return out;
}

Item item_of(const nb::object& p, int64_t n) {
  if (p.is_none()) return {Item::NewAxis};
  if (PySlice_Check(p.ptr())) {
    Py_ssize_t start, stop, step;
    if (PySlice_Unpack(p.ptr(), &start, &stop, &step) != 0) throw nb::python_error();
    Item item{Item::Slice};
    item.count = PySlice_AdjustIndices(n, &start, &stop, step);
    item.start = start;
    item.step  = step;
    return item;
  }
  if (!nb::isinstance<Tensor>(p) && PyIndex_Check(p.ptr()) && !nb::hasattr(p, "shape")) {
    const int64_t i = nb::cast<int64_t>(nb::int_(p));
    if (i < -n || i >= n)
      index_error("index " + std::to_string(i) + " is out of range for an axis of size " + std::to_string(n));
    Item item{Item::Number};
    item.number = i < 0 ? i + n : i;
    return item;
  }
  if (!is_array_like(p) || PyFloat_Check(p.ptr()))
    nb::raise_type_error("expected an index of integers, slices, None, ... and arrays of integers or bools");
  Item item{Item::Array};
  item.array = tensor_from(p);
  if (!bt::is_integer(item.array.dtype()))
    index_error("expected an integer index, got " + bt::to_string(item.array.type()));
  item.array = from_front(item.array, n);
  return item;
}

Tensor sliced(const Tensor& x, int64_t axis, const Item& s) {
  if (s.count == 0) return bt::slice_axis(x, axis, 0, 0);
  if (s.step > 0) {
    if (s.start == 0 && s.step == 1 && s.count == x.shape()[static_cast<size_t>(axis)]) return x;
    return bt::slice_axis(x, axis, s.start, s.start + (s.count - 1) * s.step + 1, s.step);
  }
  const int64_t last = s.start + (s.count - 1) * s.step;
  return bt::flip(bt::slice_axis(x, axis, last, s.start + 1, -s.step), {axis});
}

// y with its first k axes at axis `to`.
Tensor front_axes_moved(const Tensor& y, int64_t k, int64_t to) {
  bt::Ints order;
  for (int64_t i = 0; i < to; ++i) order.push_back(k + i);
  for (int64_t i = 0; i < k; ++i) order.push_back(i);
  for (int64_t i = k + to; i < y.rank(); ++i) order.push_back(i);
  return bt::transpose(y, order);
}

// x indexed by arrays, one per axis of `axes`. As in NumPy, the axes of the indices are where the first of them was, or
// in front if a slice or a new axis separates the indices (`are_adjacent` is false).
Tensor gathered(Tensor x, std::vector<Tensor> arrays, const std::vector<int64_t>& axes, bool are_adjacent) {
  if (arrays.size() == 1 && (are_adjacent || axes[0] == 0)) return bt::take(x, arrays[0], axes[0]);
  bt::Shape common;
  for (const Tensor& a : arrays) common = bt::broadcast_shapes(common, a.shape(), "indexing");
  bt::Ints perm(axes.begin(), axes.end());
  for (int64_t a = 0; a < x.rank(); ++a)
    if (std::find(axes.begin(), axes.end(), a) == axes.end()) perm.push_back(a);
  Tensor  front = bt::transpose(x, perm);
  int64_t rows  = 1;
  Tensor  flat;
  for (size_t i = 0; i < arrays.size(); ++i) {
    const int64_t n     = front.shape()[i];
    const Tensor  index = bt::broadcast_to(bt::convert(arrays[i], bt::DType::I32), common);
    flat                = flat.defined() ? bt::add(bt::mul(flat, Tensor(static_cast<double>(n))), index) : index;
    rows *= n;
  }
  bt::Shape shape{rows};
  for (size_t i = arrays.size(); i < front.shape().size(); ++i) shape.push_back(front.shape()[i]);
  const Tensor y = bt::take(bt::reshape(front, shape), flat, 0);
  return are_adjacent ? front_axes_moved(y, static_cast<int64_t>(common.size()), axes[0]) : y;
}

// What all updates at the place of each update amount to: with repeated places, each entry combines all values of its
// place, so that it does not matter which of them is written last.
Tensor combined(const Tensor& at, const Tensor& v, const std::string& how) {
  const Tensor same = bt::equal(bt::expand_dims(at, 1), bt::expand_dims(at, 0));
  const Tensor all  = bt::expand_dims(v, 0);
  if (how == "min" || how == "max") {
    const Tensor values = bt::select(same, all, bt::expand_dims(v, 1));
    return how == "min" ? bt::min(values, {1}) : bt::max(values, {1});
  }
  return bt::convert(bt::prod(bt::select(same, all, Tensor(bt::Type{v.dtype(), {}}, 1)), {1}), v.dtype());
}

bool may_repeat(const Tensor& at) {
  if (at.is_traced()) return at.size() > 1;
  const bt::Integers places(at.array());
  std::set<int64_t>  seen;
  for (int64_t i = 0; i < at.size(); ++i)
    if (!seen.insert(places[i]).second) return true;
  return false;
}

}  // namespace

Tensor indexed(const Tensor& x, nb::handle key) {
  Tensor               y    = x;
  int64_t              axis = 0;  // of y
  size_t               of_x = 0;
  std::vector<Tensor>  arrays;
  std::vector<int64_t> axes;
  int64_t              number = 0, last = 0;  // of this part, and of the last that is an integer or an array
  bool                 are_adjacent = true;
  for (const nb::object& p : parts_of(key, x.shape())) {
    ++number;
    if (p.is(nb::ellipsis())) continue;
    const Item item = item_of(p, p.is_none() ? 0 : x.shape()[of_x]);
    if (item.kind == Item::Number || item.kind == Item::Array) {
      are_adjacent = are_adjacent && (last == 0 || number == last + 1);
      last         = number;
    }
    switch (item.kind) {
      case Item::NewAxis:
        y = bt::expand_dims(y, axis++);
        continue;
      case Item::Number:
        y = bt::squeeze(bt::slice_axis(y, axis, item.number, item.number + 1), {axis});
        break;
      case Item::Slice:
        y = sliced(y, axis++, item);
        break;
      case Item::Array:
        arrays.push_back(item.array);
        axes.push_back(axis++);
        break;
    }
    ++of_x;
  }
  return arrays.empty() ? y : gathered(y, std::move(arrays), axes, are_adjacent);
}

Tensor updated(const Tensor& x, nb::handle key, const Tensor& value, const std::string& how) {
  const Tensor places = bt::reshape(bt::arange(x.size()), x.shape());
  const Tensor at     = indexed(places, key).flatten();
  const Tensor before = indexed(x, key);
  const Tensor given  = bt::broadcast_to(bt::promote_together({x, value})[1], before.shape());
  Tensor       v      = bt::convert(given, x.dtype());
  const Tensor flat   = x.flatten();
  if (how == "add") return bt::reshape(bt::scatter_add(flat, at, v.flatten()), x.shape());
  if (how != "set" && may_repeat(at)) v = bt::reshape(combined(at, v.flatten(), how), before.shape());
  if (how == "multiply") v = bt::mul(before, v);
  if (how == "divide") v = bt::convert(bt::div(before, v), x.dtype());
  if (how == "min") v = bt::minimum(before, v);
  if (how == "max") v = bt::maximum(before, v);
  return bt::reshape(bt::scatter_set(flat, at, v.flatten()), x.shape());
}

}  // namespace pybraintrace

// SPDX-License-Identifier: Apache-2.0
#include "casters.h"

#include "braintrace/nn/init.h"

namespace pybraintrace {

namespace {

std::string text_of(nb::handle h) { return nb::cast<std::string>(nb::repr(h)); }

bool is_quantity(nb::handle h) { return nb::hasattr(h, "mantissa") && nb::hasattr(h, "unit"); }

}  // namespace

std::function<bt::Tensor(const bt::Tensor&)> tensor_function(nb::handle f) {
  if (!PyCallable_Check(f.ptr())) nb::raise_type_error("expected a function of one tensor, got %s", text_of(f).c_str());
  return [f = hold(f)](const bt::Tensor& x) {
    WithGil gil;
    return tensor_from(nb::handle(f.get())(x));
  };
}

bt::nn::Initializer initializer_from(nb::handle h) {
  if (nb::isinstance<bt::nn::Initializer>(h)) return nb::cast<bt::nn::Initializer>(h);
  if (PyUnicode_Check(h.ptr())) return bt::nn::init::named(nb::cast<std::string>(h));
  if (PyFloat_Check(h.ptr()) || (PyLong_Check(h.ptr()) && !PyBool_Check(h.ptr()))) return nb::cast<double>(h);
  if (!is_quantity(h) && PyCallable_Check(h.ptr()) && !nb::isinstance<bt::Tensor>(h)) {
    return bt::nn::Initializer(nb::cast<std::string>(nb::str(nb::getattr(h, "__name__", h.type().attr("__name__")))),
                               [f = hold(h)](const bt::Shape& shape, bt::Rng&) {
                                 WithGil          gil;
                                 const bt::Tensor value = bt::Tensor(tensor_from(nb::handle(f.get())(tuple_of(shape))));
                                 bt::require(value.shape() == shape,
                                             "initializer: expected a value of shape {}, got {}.", bt::to_string(shape),
                                             bt::to_string(value.shape()));
                                 const bt::Doubles elements(value.array());
                                 return std::vector<double>(elements.data(), elements.data() + value.size());
                               });
  }
  return bt::nn::Initializer(tensor_from(h));
}

bt::nn::OptionalInit optional_init_from(nb::handle h) {
  if (h.is_none()) return std::nullopt;
  return initializer_from(h);
}

bt::nn::Activation activation_from(nb::handle h) {
  if (PyUnicode_Check(h.ptr())) return nb::cast<std::string>(h);
  return bt::nn::Activation(nb::cast<std::string>(nb::str(nb::getattr(h, "__name__", nb::str("custom")))),
                            tensor_function(h));
}

bt::nn::ConvPadding padding_from(nb::handle h) {
  if (PyUnicode_Check(h.ptr())) return nb::cast<std::string>(h);
  if (PyLong_Check(h.ptr())) return nb::cast<int64_t>(h);
  std::vector<std::pair<int64_t, int64_t>> pairs;
  if (!nb::hasattr(h, "__iter__"))
    nb::raise_type_error("padding: expected 'SAME', 'VALID', a number, or (before, after) per axis, got %s",
                         text_of(h).c_str());
  for (nb::handle p : nb::iter(h)) {
    const bt::Ints two = ints_from(p);
    bt::require(two.size() <= 2 && two.size() > 0, "padding: expected (before, after) per axis, got {}.", text_of(h));
    pairs.emplace_back(two[0], two.size() == 2 ? two[1] : two[0]);
  }
  return pairs;
}

bt::nn::WeightFactor factor_from(nb::handle h) {
  if (h.is_none()) return {};
  if (PyCallable_Check(h.ptr()) && !nb::isinstance<bt::Tensor>(h))
    return bt::nn::WeightFactor([f = hold(h)](const bt::Shape& shape) {
      WithGil gil;
      return tensor_from(nb::handle(f.get())(tuple_of(shape)));
    });
  return tensor_from(h);
}

bt::SparsePattern pattern_from(nb::handle h) {
  if (nb::isinstance<bt::SparsePattern>(h)) return nb::cast<bt::SparsePattern>(h);
  if (nb::hasattr(h, "shape") && (nb::hasattr(h, "indptr") || (nb::hasattr(h, "row") && nb::hasattr(h, "col")))) {
    const bt::Ints shape = ints_from(nb::object(h.attr("shape")));
    bt::require(shape.size() == 2, bt::ErrorKind::Shape, "expected a sparse matrix with two axes, got {}.", text_of(h));
    // CSC and BSR have the same attributes with other meanings.
    const auto format = nb::cast<std::string>(nb::str(nb::getattr(h, "format", nb::str("csr"))));
    bt::require(format == "csr" || format == "coo",
                "expected a sparse matrix in CSR or COO format, got the format '{}'; convert it with tocsr().", format);
    if (nb::hasattr(h, "indptr"))
      return bt::csr(tensor_from(nb::object(h.attr("indptr"))), tensor_from(nb::object(h.attr("indices"))), shape[0],
                     shape[1]);
    return bt::coo(tensor_from(nb::object(h.attr("row"))), tensor_from(nb::object(h.attr("col"))), shape[0], shape[1]);
  }
  nb::raise_type_error("expected a SparsePattern or a sparse matrix in CSR or COO format, got %s", text_of(h).c_str());
}

bt::Surrogate surrogate_from(nb::handle h) {
  if (nb::isinstance<bt::Surrogate>(h)) return nb::cast<bt::Surrogate>(h);
  if (PyUnicode_Check(h.ptr())) return nb::cast<std::string>(h);
  nb::raise_type_error("expected a surrogate or its name, got %s", text_of(h).c_str());
}

bt::optim::Schedule schedule_from(nb::handle h) {
  if (nb::isinstance<bt::optim::Schedule>(h)) return nb::cast<bt::optim::Schedule>(h);
  if (nb::isinstance<bt::optim::ReduceOnPlateau>(h)) return nb::cast<bt::optim::ReduceOnPlateau&>(h);
  const double lr = PyFloat_AsDouble(h.ptr());
  if (!PyErr_Occurred()) return lr;
  PyErr_Clear();
  nb::raise_type_error("expected a learning rate (a number or a schedule), got %s", text_of(h).c_str());
}

bt::nn::StepSize step_size_from(nb::handle h) {
  if (h.is_none()) return {};
  return bt::nn::StepSize(tensor_from(h).item());
}

std::variant<double, bt::Tensor, bt::ParamState> setting_from(nb::handle h) {
  if (nb::isinstance<StateBox>(h)) {
    const bt::State& state = nb::cast<StateBox&>(h).state;
    bt::require(state.is_param(), "expected a ParamState for a trainable setting, got a {}.",
                bt::name_of(state.kind()));
    return static_cast<const bt::ParamState&>(state);
  }
  bt::Tensor value = tensor_from(h);
  if (value.is_weak() && value.rank() == 0) return value.fill();
  if (!value.is_traced() && value.rank() == 0) return value.item();
  return value;
}

}  // namespace pybraintrace

// SPDX-License-Identifier: Apache-2.0
// Networks and weights of other packages: NIR graphs, named arrays by path.
#include <nanobind/stl/map.h>
#include <nanobind/stl/shared_ptr.h>

#include "bindings.h"
#include "braintrace/nir/export.h"
#include "braintrace/nir/import.h"
#include "braintrace/zoo/weights.h"
#include "gil.h"
#include "module.h"

namespace pybraintrace {

namespace {

nb::dict arrays_of(const bt::NamedArrays& arrays) {
  nb::dict out;
  for (const auto& [name, array] : arrays) out[nb::str(name.c_str())] = nb::cast(bt::Tensor(array));
  return out;
}

bt::NamedArrays arrays_from(const nb::dict& arrays) {
  bt::NamedArrays out;
  for (const auto& [name, value] : arrays) out.emplace(nb::cast<std::string>(name), tensor_from(value).array());
  return out;
}

nb::dict report_of(const bt::zoo::WeightReport& r) {
  nb::dict out;
  nb::list others;
  for (const auto& o : r.other_shape) others.append(nb::make_tuple(o.name, o.in_file, o.in_model));
  out["matched"] = r.matched, out["missing"] = r.missing, out["unused"] = r.unused, out["other_shape"] = others;
  return out;
}

}  // namespace

void bind_nir(nb::module_& m) {
  m.def(
      "import_nir",
      [](const std::string& path, std::optional<double> dt, const std::optional<std::string>& method,
         const std::string& reset, const std::string& surrogate) {
        bt::nir::ImportOptions o;
        o.dt_ms = dt;
        if (method) o.method = bt::nn::integrator_named(*method);
        o.reset                     = bt::nn::reset_named(reset);
        o.surrogate                 = surrogate;
        const bt::nir::Imported net = bt::nir::import_graph(bt::nir::read(path), o);
        return nb::make_tuple(net.description, arrays_of(net.weights), net.notes);
      },
      "path"_a, "dt"_a = nb::none(), "method"_a = nb::none(), "reset"_a = "hard", "surrogate"_a = "relu_grad",
      "Read a NIR file; return (description, weights, notes).");
  m.def(
      "export_nir",
      [](const std::string& path, const std::string& description, const bt::Module& model, std::vector<int64_t> input) {
        bt::nir::write(path, bt::nir::export_graph(description, model, bt::Shape(input.begin(), input.end())));
      },
      "path"_a, "description"_a, "model"_a, "input_shape"_a, "Write a model as NIR, given its description.");
  m.def(
      "read_weights", [](const std::string& path) { return arrays_of(bt::zoo::read_weights(path)); }, "path"_a,
      "Read the arrays of a .npz, .safetensors or msgpack file by name.");
  m.def(
      "set_weights",
      [](const bt::Module& model, const nb::dict& weights, bool strict) {
        return report_of(bt::zoo::load_weights(model, arrays_from(weights), strict));
      },
      "model"_a, "weights"_a, "strict"_a = true, "Assign arrays to the parameters of the same names; return a report.");
}

}  // namespace pybraintrace

// SPDX-License-Identifier: Apache-2.0
#include <nanobind/stl/map.h>
#include <nanobind/stl/string_view.h>

#include "bindings.h"
#include "braintrace/base/version.h"
#include "braintrace/base/warning.h"
#include "braintrace/model/environment.h"
#include "braintrace/runtime/backend.h"
#include "convert.h"

namespace pybraintrace {

namespace {

bt::Environment::Settings settings_from(std::optional<Arg> dt, std::optional<Dtype> precision,
                                        std::optional<bool> training) {
  bt::Environment::Settings s;
  if (dt) s.dt = dt->get().item();
  if (precision) s.precision = precision->get();
  s.training = training;
  return s;
}

// Settings of this thread, in the order of entering.
std::vector<std::unique_ptr<bt::Environment::Scope>>& scopes() {
  thread_local std::vector<std::unique_ptr<bt::Environment::Scope>> stack;
  return stack;
}

std::vector<std::unique_ptr<bt::BackendScope>>& backend_scopes() {
  thread_local std::vector<std::unique_ptr<bt::BackendScope>> stack;
  return stack;
}

}  // namespace

void bind_environ(nb::module_& m) {
  m.def(
      "environ_set",
      [](std::optional<Arg> dt, std::optional<Dtype> precision, std::optional<bool> training) {
        bt::Environment::set(settings_from(dt, precision, training));
      },
      "dt"_a = nb::none(), "precision"_a = nb::none(), "training"_a = nb::none());
  m.def(
      "environ_enter",
      [](std::optional<Arg> dt, std::optional<Dtype> precision, std::optional<bool> training) {
        scopes().push_back(std::make_unique<bt::Environment::Scope>(settings_from(dt, precision, training)));
      },
      "dt"_a = nb::none(), "precision"_a = nb::none(), "training"_a = nb::none());
  m.def("environ_leave", [] {
    if (!scopes().empty()) scopes().pop_back();
  });
  m.def("environ_dt", &bt::Environment::dt);
  m.def("environ_precision", [] { return numpy_dtype(bt::Environment::precision()); });
  m.def("environ_training", &bt::Environment::training);
  m.def(
      "default_backend", [] { return std::string(bt::default_backend().name()); },
      "Return the name of the backend that runs programs.");
  m.def("set_default_backend", &bt::set_default_backend, "name"_a,
        "Set the backend of the process.\n"
        "\n"
        "Args:\n"
        "    name: 'cpu', 'reference', 'cuda', 'cuda:1', or 'auto' (cuda if a device works).");
  m.def(
      "backends",
      [] {
        std::map<std::string, std::string> out;
        for (bt::Backend* b : bt::backends()) out[std::string(b->name())] = b->problem();
        return out;
      },
      "Return all backends as {name: problem}.\n"
      "\n"
      "The problem says why a backend cannot run programs, or is slower than it should be; it is empty if there is "
      "none.");
  m.def("backend_enter",
        [](const std::string& name) { backend_scopes().push_back(std::make_unique<bt::BackendScope>(name)); });
  m.def("backend_leave", [] {
    if (!backend_scopes().empty()) backend_scopes().pop_back();
  });
  m.def("product_precision", &bt::product_precision,
        "Return the precision of float32 matrix products: 'f32', 'tf32' or 'bf16'.");
  m.def("set_product_precision", &bt::set_product_precision, "name"_a,
        "Set the precision of float32 matrix products in programs compiled from now on.\n"
        "\n"
        "Args:\n"
        "    name: 'f32', or 'tf32' or 'bf16' to round the operands, on backends that support it (cuda).");
  m.attr("version") = std::string(bt::version);
  nb::module_::import_("atexit").attr("register")(nb::cpp_function(begin_the_end));
  // Warnings of the library become Python warnings, also on threads that Python does not know.
  bt::set_warning_hook([](const std::string& text) {
    if (!nb::is_alive()) return;
    WithGil gil;
    nb::module_::import_("pybraintrace._warnings").attr("warn")(text);
  });
}

}  // namespace pybraintrace

// SPDX-License-Identifier: Apache-2.0
// Python exceptions: a UserError is a ValueError, and by its kind also a TypeError, IndexError,
// KeyError or OSError; a CompilationError carries the records of the compiler.
#include <new>
#include <stdexcept>

#include "bindings.h"
#include "braintrace/base/long_run.h"
#include "braintrace/compiler/diagnostics.h"
#include "compiler.h"

namespace pybraintrace {

namespace {

PyObject *user_error, *shape_error, *dtype_error, *index_error, *name_error, *state_error, *file_error, *compile_error,
    *internal_error;

PyObject* make(nb::module_& m, const char* name, const char* doc, std::initializer_list<PyObject*> bases) {
  nb::list list;
  for (PyObject* base : bases) list.append(nb::borrow(base));
  const std::string full = std::string("pybraintrace.") + name;
  PyObject*         type = PyErr_NewExceptionWithDoc(full.c_str(), doc, nb::tuple(list).ptr(), nullptr);
  if (!type) throw nb::python_error();
  m.attr(name) = nb::borrow(type);
  return type;
}

PyObject* type_of(bt::ErrorKind kind) {
  switch (kind) {
    case bt::ErrorKind::Shape:
      return shape_error;
    case bt::ErrorKind::DType:
      return dtype_error;
    case bt::ErrorKind::Index:
      return index_error;
    case bt::ErrorKind::Name:
      return name_error;
    case bt::ErrorKind::State:
      return state_error;
    case bt::ErrorKind::File:
      return file_error;
    case bt::ErrorKind::Argument:
      break;
  }
  return user_error;
}

// Names as Python writes them: random::normal is random.normal.
std::string words_of(const std::exception& e) {
  std::string text = e.what();
  for (size_t at = text.find("::"); at != text.npos; at = text.find("::", at)) text.replace(at, 2, ".");
  return text;
}

// Sets the exception, also with text that PyErr_SetString would cut or refuse: file names may hold any byte.
void set_error(PyObject* type, const std::string& text) {
  nb::object message = nb::steal(PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "replace"));
  if (message.is_valid()) PyErr_SetObject(type, message.ptr());
}

void translate(const std::exception_ptr& p, void*) {
  try {
    std::rethrow_exception(p);
  } catch (const bt::CompileError& e) {
    nb::object error          = nb::handle(compile_error)(words_of(e));
    error.attr("diagnostics") = records_of(e.diagnostics);
    PyErr_SetObject(compile_error, error.ptr());
  } catch (const bt::UserError& e) {
    set_error(type_of(e.kind()), words_of(e));
  } catch (const bt::Stopped&) {
    if (PyErr_CheckSignals() == 0) PyErr_SetNone(PyExc_KeyboardInterrupt);
  } catch (const bt::InternalError& e) {
    set_error(internal_error, words_of(e));
  } catch (const bt::Error& e) {
    set_error(user_error, words_of(e));
  } catch (const std::bad_alloc&) {
    set_error(PyExc_MemoryError, "there is not enough memory for a result; use smaller sizes or batches");
  } catch (const std::length_error&) {
    set_error(PyExc_MemoryError, "a result is too large for any memory; check the sizes");
  } catch (const nb::cast_error&) {  // such as text that is not UTF-8
    PyErr_SetString(PyExc_TypeError, "an argument has the wrong type; see the signature of the function");
  }
}

}  // namespace

void bind_errors(nb::module_& m) {
  user_error  = make(m, "UserError", "The model or an argument is invalid; the message says where, and what to do.",
                     {PyExc_ValueError});
  shape_error = make(m, "ShapeError", "Shapes do not match.", {user_error});
  dtype_error = make(m, "DTypeError", "An element type does not match.", {user_error, PyExc_TypeError});
  index_error = make(m, "OutOfRangeError", "An index is out of range.", {user_error, PyExc_IndexError});
  name_error  = make(m, "UnknownNameError", "A name is unknown.", {user_error, PyExc_LookupError});
  state_error =
      make(m, "StateError", "A state is used before it has a value, or after its trace has ended.", {user_error});
  file_error = make(m, "FileError", "A file cannot be read or written.", {user_error, PyExc_OSError});
  compile_error =
      make(m, "CompilationError",
           "The model cannot learn online as written; `diagnostics` holds the records of the compiler.", {user_error});
  internal_error = make(m, "InternalError", "A bug in this package; please report it.", {PyExc_RuntimeError});
  nb::register_exception_translator(translate, nullptr);
}

}  // namespace pybraintrace

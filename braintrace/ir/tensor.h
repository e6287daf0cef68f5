// SPDX-License-Identifier: Apache-2.0
// Tensor: the type that users and rules compute with. A cheap handle that is one of
//   undefined   nothing; rules use it as a symbolic zero
//   literal     a type and one fill value, never stored as an array
//   concrete    an Array
//   traced      a value of a program under construction
// An operation on concrete tensors runs immediately; an operation with a traced operand becomes an equation of the
// innermost open trace among its operands. There is no other tracing state.
//
// The methods follow NumPy. Each calls the free function of the same name; the layer `ops` defines them
// (ops/methods.cpp). Operators are declared with their functions in ops/math.h and ops/compare.h.
#pragma once

#include <concepts>
#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <vector>

#include "braintrace/base/array.h"
#include "braintrace/ir/program.h"

namespace braintrace {

class Builder;

class Tensor {
 public:
  Tensor() = default;
  Tensor(Array array);             // concrete
  Tensor(Type type, double fill);  // literal
  Tensor(double value);            // weak literal scalar: it takes the type of the other operand
  Tensor(std::shared_ptr<Builder> trace, Var var, Type type);

  // Assigning to a result, as in `state.value() = v` or `x[0] = v`, would have no effect, so it does not compile.
  Tensor(const Tensor&)                  = default;
  Tensor(Tensor&&) noexcept              = default;
  Tensor& operator=(const Tensor&) &     = default;
  Tensor& operator=(Tensor&&) & noexcept = default;

  bool         defined() const { return body_ != nullptr; }
  const Type&  type() const { return body_ ? body_->type : no_type(); }
  DType        dtype() const { return type().dtype; }
  const Shape& shape() const { return type().shape; }
  int          rank() const { return type().rank(); }
  int64_t      size() const { return type().size(); }

  bool   is_literal() const { return body_ && body_->kind == Kind::Literal; }
  bool   is_literal(double value) const { return is_literal() && body_->fill == value; }
  bool   is_traced() const { return body_ && body_->kind == Kind::Traced; }
  double fill() const { return body_ ? body_->fill : 0; }

  // Weak: a C++ number, or computed only from such numbers. Its dtype is the default float type and yields to any
  // other; `settled` is its value in another type, computed in double.
  using Settle = std::function<Tensor(DType)>;
  bool          is_weak() const { return body_ && body_->weak; }
  Tensor        settled(DType dtype) const;
  static Tensor weak(const Shape& shape, double fill);               // literal
  static Tensor weak(const Tensor& in_default_type, Settle settle);  // `settle` computes it in another float type

  // The elements; throws UserError if the tensor is traced.
  Array array() const;
  // The single element of a tensor of size one.
  double item() const;

  // Row `index` of the first axis; negative numbers count from its end.
  template <std::integral I>
  Tensor operator[](I index) const {
    return row(static_cast<int64_t>(index));
  }
  // Rows at positions that are known only at run time; the axes of the index replace the first axis.
  Tensor operator[](const Tensor& indices) const;

  // One size may be -1: it is inferred from the others.
  Tensor reshape(Shape shape) const;
  template <std::integral... I>
  Tensor reshape(int64_t first, I... rest) const {
    return reshape(Shape{first, static_cast<int64_t>(rest)...});
  }
  Tensor flatten() const;  // one axis
  Tensor squeeze(Ints axes) const;
  Tensor transpose() const;  // axes reversed
  Tensor transpose(Ints perm) const;
  Tensor T() const { return transpose(); }
  Tensor astype(DType dtype) const;

  Tensor all(const Axes& axes = {}, bool keep_axes = false) const;
  Tensor any(const Axes& axes = {}, bool keep_axes = false) const;
  Tensor max(const Axes& axes = {}, bool keep_axes = false) const;
  Tensor mean(const Axes& axes = {}, bool keep_axes = false) const;
  Tensor min(const Axes& axes = {}, bool keep_axes = false) const;
  Tensor prod(const Axes& axes = {}, bool keep_axes = false) const;
  Tensor sum(const Axes& axes = {}, bool keep_axes = false) const;
  Tensor var(const Axes& axes = {}, bool keep_axes = false, double correction = 0) const;
  Tensor argmax(std::optional<int64_t> axis = {}, bool keep_axes = false) const;
  Tensor argmin(std::optional<int64_t> axis = {}, bool keep_axes = false) const;

  Tensor argsort(int64_t axis = -1, bool descending = false) const;
  Tensor sort(int64_t axis = -1, bool descending = false) const;
  Tensor cumprod(int64_t axis) const;
  Tensor cumsum(int64_t axis) const;
  Tensor clip(const Tensor& lo, const Tensor& hi) const;  // clamp
  Tensor dot(const Tensor& w) const;                      // the plain product
  Tensor round() const;
  Tensor take(const Tensor& indices, int64_t axis = 0) const;

  const std::shared_ptr<Builder>& trace() const;  // null unless traced
  Var                             trace_var() const { return body_ ? body_->var : -1; }

 private:
  enum class Kind : uint8_t { Literal, Concrete, Traced };
  struct Body {  // the fields that tracing uses come first, together
    Kind                     kind   = Kind::Literal;
    bool                     weak   = false;
    Var                      var    = -1;
    std::shared_ptr<Builder> trace  = {};
    double                   fill   = 0;
    Type                     type   = {};
    std::optional<Array>     array  = {};
    Settle                   settle = {};  // only for weak tensors that are not literals
  };
  static const Type& no_type();
  Tensor             row(int64_t index) const;

  std::shared_ptr<const Body> body_;  // shared by copies; null = undefined
};

using Tensors  = std::vector<Tensor>;
using Function = std::function<Tensors(const Tensors&)>;
using Types    = std::vector<Type>;
using Arrays   = std::vector<Array>;

Types types_of(const Tensors& tensors);

// Applies an operation: evaluates it, or appends it to the trace its operands belong to.
Tensors apply(const Op& op, Tensors in, Attrs attrs = {});
// The same, but an op without operands becomes an equation of `home` (null = evaluate it).
Tensors apply_in(const std::shared_ptr<Builder>& home, const Op& op, Tensors in, Attrs attrs);
Tensor  apply1(const Op& op, Tensors in, Attrs attrs = {});  // for ops with one result

// Equations appended during its lifetime are annotated with this location (a module path).
class NoteScope {
 public:
  explicit NoteScope(std::string note);
  ~NoteScope();
  NoteScope(const NoteScope&)                           = delete;
  NoteScope&                operator=(const NoteScope&) = delete;
  static const std::string& current();

 private:
  std::string previous_;
};

}  // namespace braintrace

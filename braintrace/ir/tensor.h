// SPDX-License-Identifier: Apache-2.0
// Tensor: what users and rules compute with. A cheap handle that is one of
//   undefined   nothing; rules use it as a symbolic zero
//   literal     a type and one fill value, never stored as an array
//   concrete    an Array
//   traced      a value of a program under construction
// An operation on concrete tensors runs at once; one that meets a traced tensor becomes an equation of
// the innermost open trace among its operands. There is no other tracing state.
#pragma once

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
  Tensor(double value);            // literal f32 scalar that takes the type of what it meets
  Tensor(std::shared_ptr<Builder> trace, Var var, Type type);

  bool         defined() const { return kind_ != Kind::Undefined; }
  const Type&  type() const { return type_; }
  DType        dtype() const { return type_.dtype; }
  const Shape& shape() const { return type_.shape; }
  int          rank() const { return type_.rank(); }
  int64_t      size() const { return type_.size(); }

  bool   is_literal() const { return kind_ == Kind::Literal; }
  bool   is_literal(double value) const { return is_literal() && fill_ == value; }
  bool   is_weak() const { return weak_; }  // a bare C++ number: its dtype yields to any other
  bool   is_traced() const { return kind_ == Kind::Traced; }
  double fill() const { return fill_; }

  // The elements; throws UserError when the tensor is only traced.
  Array array() const;
  // The single element of a tensor of size one.
  double item() const;

  const std::shared_ptr<Builder>& trace() const { return trace_; }
  Var                             var() const { return var_; }

 private:
  enum class Kind : uint8_t { Undefined, Literal, Concrete, Traced };
  Kind                     kind_ = Kind::Undefined;
  bool                     weak_ = false;
  Type                     type_;
  double                   fill_ = 0;
  std::optional<Array>     array_;
  std::shared_ptr<Builder> trace_;
  Var                      var_ = -1;
};

using Tensors = std::vector<Tensor>;
using Types   = std::vector<Type>;
using Arrays  = std::vector<Array>;

Types types_of(const Tensors& tensors);

// Applies an operation: evaluates it, or appends it to the trace its operands belong to.
Tensors apply(const Op& op, Tensors in, Attrs attrs = {});
// The same, but an op without operands becomes an equation of `home` (null = evaluate it).
Tensors apply_in(const std::shared_ptr<Builder>& home, const Op& op, Tensors in, Attrs attrs);
Tensor  apply1(const Op& op, Tensors in, Attrs attrs = {});  // for ops with one result

// Names the place (module path) that equations appended inside its lifetime come from.
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

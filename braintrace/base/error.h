// SPDX-License-Identifier: Apache-2.0
// The ways in which a call can fail, and the two checks that throw.
//
//   require(cond, "matmul: expected …, got {} …", …)   the caller's mistake   -> UserError
//   require(cond, ErrorKind::Shape, "…", …)            the same, with a category
//   ensure(cond, "…", …)                               our own mistake        -> InternalError
//
// A message says where the error is, what was expected, what was found, and what to do.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>

#include <fmt/core.h>

namespace braintrace {

class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// The category of a UserError, for callers that handle categories differently: other languages have a class for each.
enum class ErrorKind : uint8_t {
  Argument,  // anything else
  Shape,     // shapes or axes that do not match
  DType,     // an element type that does not match
  Index,     // a position outside its axis
  Name,      // an unknown name
  State,     // a state or tensor that cannot be used now
  File,      // a file or folder
};

// The caller's model or arguments are wrong.
class UserError : public Error {
 public:
  explicit UserError(const std::string& what, ErrorKind kind = ErrorKind::Argument) : Error(what), kind_(kind) {}
  ErrorKind kind() const { return kind_; }

 private:
  ErrorKind kind_;
};

// A bug in this library; the message asks the user to report it.
class InternalError : public Error {
 public:
  explicit InternalError(const std::string& what)
      : Error(what + "\n  This is a bug in braintrace; please report it.") {}
};

template <class... Args>
[[noreturn]] void fail(fmt::format_string<Args...> text, Args&&... args) {
  throw UserError(fmt::vformat(text, fmt::make_format_args(args...)));
}

template <class... Args>
[[noreturn]] void fail(ErrorKind kind, fmt::format_string<Args...> text, Args&&... args) {
  throw UserError(fmt::vformat(text, fmt::make_format_args(args...)), kind);
}

template <class... Args>
void require(bool condition, fmt::format_string<Args...> text, Args&&... args) {
  if (!condition) throw UserError(fmt::vformat(text, fmt::make_format_args(args...)));
}

template <class... Args>
void require(bool condition, ErrorKind kind, fmt::format_string<Args...> text, Args&&... args) {
  if (!condition) throw UserError(fmt::vformat(text, fmt::make_format_args(args...)), kind);
}

template <class... Args>
void ensure(bool condition, fmt::format_string<Args...> text, Args&&... args) {
  if (!condition) throw InternalError(fmt::vformat(text, fmt::make_format_args(args...)));
}

}  // namespace braintrace

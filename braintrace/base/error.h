// SPDX-License-Identifier: Apache-2.0
// The three ways a call can fail, and the two checks that make them.
//
//   require(cond, "matmul: expected …, got {} …", …)   the caller's mistake   -> UserError
//   ensure(cond, "…", …)                               our own mistake        -> InternalError
//
// A message says where, what was expected, what came, and what to do.
#pragma once

#include <stdexcept>
#include <string>

#include <fmt/core.h>

namespace braintrace {

class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// The caller's model or arguments are wrong.
class UserError : public Error {
 public:
  using Error::Error;
};

// A bug in this library; the message asks for a report.
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
void require(bool condition, fmt::format_string<Args...> text, Args&&... args) {
  if (!condition) throw UserError(fmt::vformat(text, fmt::make_format_args(args...)));
}

template <class... Args>
void ensure(bool condition, fmt::format_string<Args...> text, Args&&... args) {
  if (!condition) throw InternalError(fmt::vformat(text, fmt::make_format_args(args...)));
}

}  // namespace braintrace

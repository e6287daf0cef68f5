// SPDX-License-Identifier: Apache-2.0
// The place of a state inside a model: the names of modules from the root down, list positions as numbers.
#pragma once

#include <compare>
#include <initializer_list>
#include <iosfwd>
#include <string>
#include <string_view>
#include <vector>

#include "braintrace/base/printed.h"

namespace braintrace {

class Path {
 public:
  Path() = default;
  Path(std::initializer_list<std::string> keys) : keys_(keys) {}
  static Path dotted(std::string_view text);  // "layers.0.h"

  Path operator/(std::string key) const {
    Path p = *this;
    p.keys_.push_back(std::move(key));
    return p;
  }
  const std::vector<std::string>& keys() const { return keys_; }
  bool                            empty() const { return keys_.empty(); }
  static bool                     is_index(std::string_view key);  // a list position

  std::string str() const;    // layers.0.h
  std::string tuple() const;  // ('layers', 0, 'h')

  // Names in alphabetical order; list positions before names, by number: layers.2 < layers.10.
  bool                 operator==(const Path&) const = default;
  std::strong_ordering operator<=>(const Path& other) const;

 private:
  std::vector<std::string> keys_;
};

inline std::string to_string(const Path& path) { return path.str(); }
std::ostream&      operator<<(std::ostream& out, const Path& path);

// A tensor of a state: rnn.W, or rnn.W.bias for the leaf "bias".
inline std::string leaf_name(const Path& path, const std::string& leaf) {
  return leaf.empty() ? path.str() : path.str() + "." + leaf;
}

}  // namespace braintrace

template <>
struct fmt::formatter<braintrace::Path> : braintrace::Printed<braintrace::Path> {};

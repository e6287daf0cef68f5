// SPDX-License-Identifier: Apache-2.0
// Reads and checks the fields of a node. Messages name the node.
#pragma once

#include "braintrace/nir/graph.h"

namespace braintrace::nir {

class NodeFields {
 public:
  NodeFields(const std::string& name, const Node& node) : name_(name), node_(node) {}

  bool         has(const char* field) const { return node_.fields.contains(field); }
  const Array& array(const char* field) const;  // finite numbers
  // `n` integers, each at least `least`; a single number applies to all.
  Ints integers(const char* field, size_t n, int64_t least) const;
  // (before, after) for each of n axes; "same" and "valid" are returned unchanged.
  std::string padding_word() const;

  // The common shape of arrays with more than one element; none if all fields have one element.
  Shape unit_shape(const std::vector<const char*>& fields) const;

  const std::string& name() const { return name_; }
  const std::string& type() const { return node_.type; }
  template <class... Args>
  [[noreturn]] void refuse(fmt::format_string<Args...> text, Args&&... args) const {
    fail("node '{}' ({}): {}", name_, node_.type, fmt::format(text, std::forward<Args>(args)...));
  }

 private:
  const std::string& name_;
  const Node&        node_;
};

// The fields of a population that have one value for each unit; none for other nodes.
const std::vector<const char*>& unit_fields(const std::string& type);

}  // namespace braintrace::nir

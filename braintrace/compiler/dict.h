// SPDX-License-Identifier: Apache-2.0
// The named parts of a record, in the order of the record: each as its value and as text.
//
//   for (const auto& [name, text, value] : graph.dict()) …
//   graph.dict().get<std::vector<bt::HiddenGroup>>("hidden_groups")
#pragma once

#include <any>
#include <string>
#include <vector>

#include "braintrace/base/error.h"

namespace braintrace {

class Dict {
 public:
  struct Entry {
    std::string name, text;
    std::any    value;
  };

  template <class T>
  Dict& add(std::string name, std::string text, T value) {
    entries_.push_back({std::move(name), std::move(text), std::move(value)});
    return *this;
  }

  const Entry& at(const std::string& name) const;  // throws a UserError that lists the names
  template <class T>
  T get(const std::string& name) const {
    const T* value = std::any_cast<T>(&at(name).value);
    require(value != nullptr, "dict: '{}' does not have the requested type; it is {}.", name, at(name).text);
    return *value;
  }
  const std::string&       text(const std::string& name) const { return at(name).text; }
  std::vector<std::string> keys() const;

  auto   begin() const { return entries_.begin(); }
  auto   end() const { return entries_.end(); }
  size_t size() const { return entries_.size(); }

 private:
  std::vector<Entry> entries_;
};

}  // namespace braintrace

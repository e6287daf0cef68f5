// SPDX-License-Identifier: Apache-2.0
// Gradients with respect to states: one tensor per leaf, by path. A tree, so that jit, vmap and loops can return it.
#pragma once

#include <functional>
#include <map>
#include <string_view>
#include <tuple>

#include "braintrace/model/path.h"
#include "braintrace/model/state.h"

namespace braintrace {

class Gradients {
 public:
  using Map = std::map<Path, Leaves>;

  Gradients() = default;
  explicit Gradients(Map map) : map_(std::move(map)) {}

  // The gradient of a state; throws a UserError that lists the known paths.
  const Leaves& at(const Path& path) const;
  const Tensor& at(const Path& path, const std::string& leaf) const;
  // The gradient of a state that holds one tensor: grads["rnn.w"].
  const Tensor& operator[](std::string_view path) const { return at(Path::dotted(path), ""); }

  bool   contains(const Path& path) const { return map_.contains(path); }
  size_t size() const { return map_.size(); }
  auto   begin() const { return map_.begin(); }
  auto   end() const { return map_.end(); }
  auto   fields() { return std::tie(map_); }

  Gradients map(const std::function<Tensor(const Tensor&)>& f) const;
  Tensor    squared_norm() const;  // Σ g² over all leaves

 private:
  Map map_;
};

// Leaf by leaf; both sides must have the same paths.
Gradients operator+(const Gradients& a, const Gradients& b);
Gradients operator-(const Gradients& a, const Gradients& b);
Gradients operator*(const Gradients& g, const Tensor& factor);
Gradients operator*(const Tensor& factor, const Gradients& g);
Gradients operator/(const Gradients& g, const Tensor& divisor);

}  // namespace braintrace

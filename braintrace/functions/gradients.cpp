// SPDX-License-Identifier: Apache-2.0
#include "braintrace/functions/gradients.h"

#include "braintrace/ops/math.h"
#include "braintrace/ops/reduce.h"

namespace braintrace {

namespace {

template <class F>
Gradients zip(const Gradients& a, const Gradients& b, F&& f) {
  require(a.size() == b.size(), "gradients: {} states meet {}; both sides must come from the same model.", a.size(),
          b.size());
  Gradients::Map out;
  for (const auto& [path, leaves] : a)
    for (const auto& [name, g] : leaves) out[path][name] = f(g, b.at(path, name));
  return Gradients(std::move(out));
}

}  // namespace

const Leaves& Gradients::at(const Path& path) const {
  const auto it = map_.find(path);
  if (it != map_.end()) return it->second;
  std::string known;
  for (const auto& [p, leaves] : map_) known += (known.empty() ? "" : ", ") + p.str();
  fail(ErrorKind::Name, "gradients: there is none for '{}'; known: {}.", path.str(), known);
}

const Tensor& Gradients::at(const Path& path, const std::string& leaf) const {
  const Leaves& leaves = at(path);
  const auto    it     = leaves.find(leaf);
  if (it != leaves.end()) return it->second;
  std::string known;
  for (const auto& [name, g] : leaves) known += (known.empty() ? "'" : ", '") + name + "'";
  fail(ErrorKind::Name, "gradients: '{}' has no leaf '{}'; it has: {}.", path.str(), leaf, known);
}

Gradients Gradients::map(const std::function<Tensor(const Tensor&)>& f) const {
  Map out;
  for (const auto& [path, leaves] : map_)
    for (const auto& [name, g] : leaves) out[path][name] = f(g);
  return Gradients(std::move(out));
}

Tensor Gradients::squared_norm() const {
  Tensor total;
  for (const auto& [path, leaves] : map_)
    for (const auto& [name, g] : leaves) total = add_defined(total, sum(g * g));
  return total.defined() ? total : Tensor(0.0);
}

Gradients operator+(const Gradients& a, const Gradients& b) { return zip(a, b, add); }
Gradients operator-(const Gradients& a, const Gradients& b) { return zip(a, b, sub); }
Gradients operator*(const Gradients& g, const Tensor& factor) {
  return g.map([&](const Tensor& t) { return t * factor; });
}
Gradients operator*(const Tensor& factor, const Gradients& g) { return g * factor; }
Gradients operator/(const Gradients& g, const Tensor& divisor) {
  return g.map([&](const Tensor& t) { return t / divisor; });
}

}  // namespace braintrace

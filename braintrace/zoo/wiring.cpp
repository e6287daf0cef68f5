// SPDX-License-Identifier: Apache-2.0
#include "braintrace/zoo/wiring.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "braintrace/base/rng.h"
#include "braintrace/io/sparse_file.h"
#include "braintrace/zoo/parts.h"

namespace braintrace::zoo {

namespace {

Tensor vector_of(const std::vector<int32_t>& v) { return Array::of<int32_t>(v, {static_cast<int64_t>(v.size())}); }

// So many different sources for every target, each drawn by draw(target).
template <class Draw>
Wiring drawn(const Fields& f, int64_t n, int64_t m, bool own, const Draw& draw) {
  const int64_t degree = f.integer("degree");
  if (degree > n - own) f.refuse("degree", fmt::format("there are only {} sources.", n - own));
  if (degree > std::numeric_limits<int32_t>::max() / m)
    f.refuse("degree", fmt::format("{} targets would have {} entries, more than {}.", m,
                                   static_cast<double>(degree * m), std::numeric_limits<int32_t>::max()));
  std::vector<int32_t> from, to, sources;
  from.reserve(static_cast<size_t>(degree * m));
  to.reserve(from.capacity());
  for (int64_t j = 0; j < m; ++j) {
    sources.clear();
    for (int64_t tries = 0; static_cast<int64_t>(sources.size()) < degree; ++tries) {
      if (tries > 100 * degree + 1000)
        f.refuse("sigma", fmt::format("there are too few sources within reach for a degree of {}.", degree));
      const int64_t i = draw(j);
      if (i < 0 || i >= n || (own && i == j)) continue;
      const auto at = std::lower_bound(sources.begin(), sources.end(), i);
      if (at == sources.end() || *at != i) sources.insert(at, static_cast<int32_t>(i));
    }
    from.insert(from.end(), sources.begin(), sources.end());
    to.insert(to.end(), sources.size(), static_cast<int32_t>(j));
  }
  return {coo(vector_of(from), vector_of(to), n, m), {}};
}

Rng generator(const Fields& f) {
  const double seed = f.number("seed"), most = 9007199254740992;  // 2⁵³: up to here, doubles hold every integer
  if (!(seed >= 0 && seed <= most && seed == std::floor(seed)))
    f.refuse("seed", fmt::format("expected a whole number from 0 to {:.0f}.", most));
  return Rng(static_cast<uint64_t>(seed));
}

Wiring fixed_in_degree(const Fields& f, int64_t n, int64_t m, bool own) {
  Rng rng = generator(f);
  // Of many sources the few that are left out are drawn less often than met.
  return drawn(f, n, m, own, [&](int64_t) { return rng.integer(n); });
}

Wiring by_distance(const Fields& f, int64_t n, int64_t m, bool own) {
  const double sigma = f.number("sigma");
  if (!(sigma > 0 && sigma <= 1e9)) f.refuse("sigma", "expected a positive number of grid steps, at most 1e9.");
  Rng        rng  = generator(f);
  const auto side = [](int64_t size) { return static_cast<int64_t>(std::ceil(std::sqrt(static_cast<double>(size)))); };
  const auto of_source = side(n), of_target = side(m);
  const auto near = [&](int64_t at) {  // along one side, a target's place among the sources
    const double middle = (static_cast<double>(at) + 0.5) / static_cast<double>(of_target);
    const auto step = static_cast<int64_t>(std::floor(middle * static_cast<double>(of_source) + sigma * rng.normal()));
    return (step % of_source + of_source) % of_source;
  };
  return drawn(f, n, m, own, [&](int64_t j) {
    const int64_t column = near(j % of_target);
    return column + of_source * near(j / of_target);
  });
}

Wiring from_file(const Fields& f, const std::string& path) {
  const SparseFile s = [&] {
    try {
      return read_sparse(path);
    } catch (const UserError& e) {
      f.refuse("path", e.what());
    }
  }();
  if (s.row.empty()) f.refuse("path", fmt::format("{} has no entries.", path));
  Wiring w{coo(vector_of(s.row), vector_of(s.col), s.rows, s.cols), {}};
  if (!s.values.empty()) w.values = Array::of<float>(s.values, {static_cast<int64_t>(s.values.size())});
  return w;
}

}  // namespace

Wiring wiring_of(const Fields& f, const std::string& name, int64_t n, int64_t m, bool own) {
  const std::string type = f.kind_of(name, "type");
  if (type == "fixed_in_degree") return fixed_in_degree(f.nested(name, type, "degree seed=0"), n, m, own);
  if (type == "distance") return by_distance(f.nested(name, type, "degree sigma seed=0"), n, m, own);
  Wiring w;
  if (type == "file") {
    const Fields p = f.nested(name, type, "path");
    w              = from_file(p, p.text("path"));
  } else if (type == "csr") {
    w.pattern = pattern_of(f, name);
  } else {
    f.refuse(name + ".type", fmt::format("'{}' is unknown. Known: csr, file, fixed_in_degree, distance.", type));
  }
  if (w.pattern.n_rows != n || w.pattern.n_cols != m)
    f.refuse(name, fmt::format("the matrix is {} by {}; expected {} sources (rows) by {} targets (columns).",
                               w.pattern.n_rows, w.pattern.n_cols, n, m));
  return w;
}

}  // namespace braintrace::zoo

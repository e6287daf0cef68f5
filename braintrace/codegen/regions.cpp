// SPDX-License-Identifier: Apache-2.0
#include "braintrace/codegen/regions.h"

#include <algorithm>
#include <optional>

#include "braintrace/base/lists.h"

namespace braintrace::codegen {

namespace {

// A matrix that is computed in blocks.
struct Grid {
  int64_t rows, columns, part_rows, part_columns;
  bool    operator==(const Grid&) const = default;
};

std::optional<Grid> grid_of(const Kernel& k) {
  const auto* p = std::get_if<Product>(&k.what);
  if (!p || !p->matrix || !p->batch.empty() || k.parts == 1) return {};
  return Grid{p->matrix->m, p->matrix->n, p->part_rows, p->part_columns};
}

// The nest as two loops over rows and columns, divided into the blocks of the grid; nothing if its loops are others.
std::optional<LoopNest> divided(const LoopNest& nest, const Grid& g) {
  LoopNest n = nest;
  if (!n.reductions.empty() || size_of(n.extents) == 0) return {};
  if (n.loops.size() == 1 && n.extent(0) == g.rows * g.columns) {
    const auto all = static_cast<size_t>(n.loops[0]), column = n.extents.size();
    const auto turn = [&](Affine& at) {
      at.c.push_back(at.c[all]);
      at.c[all] *= g.columns;
    };
    for (Element& e : n.elements)
      if (e.has_position()) turn(e.at);
    for (Store& s : n.stores) turn(s.at);
    n.extents[all] = g.rows;
    n.extents.push_back(g.columns);
    n.loops.push_back(static_cast<int64_t>(column));
    n.kept = 2;
  }
  if (n.loops.size() != 2 || n.extent(0) != g.rows || n.extent(1) != g.columns) return {};
  n.part_rows    = g.part_rows;
  n.part_columns = g.part_columns;
  return n;
}

// The element in the row and column of the loops, in a matrix of the shape of the grid.
bool is_own(const LoopNest& n, const Affine& at) {
  Affine own                             = constant(at.c.size(), 0);
  own.c[static_cast<size_t>(n.loops[0])] = n.extent(1);
  own.c[static_cast<size_t>(n.loops[1])] = 1;
  return at == own;
}
// Whether each part of the nest reads, of these values, only the elements at positions that it writes itself.
bool reads_own(const LoopNest& n, const Vars& values) {
  return std::all_of(n.elements.begin(), n.elements.end(), [&](const Element& e) {
    return !contains(values, e.buffer) || (e.kind == Element::Kind::Load && is_own(n, e.at));
  });
}
bool stores_own(const LoopNest& n) {
  return std::all_of(n.stores.begin(), n.stores.end(), [&](const Store& s) { return is_own(n, s.at); });
}

// Goes through the kernels of a function in order.
class Joiner {
 public:
  explicit Joiner(std::vector<Grid> grids) : grids_(std::move(grids)) {}

  void add(Kernel& k) {
    auto* nest = std::get_if<LoopNest>(&k.what);
    if (const auto grid = grid_of(k); grid && contains(grids_, *grid)) {
      const bool reads = std::any_of(k.reads.begin(), k.reads.end(), [&](Var v) { return contains(written_, v); });
      enter(k, grid, open_ == grid && !reads);
    } else if (!nest || k.scratch || !add(k, *nest)) {
      enter(k, {}, false);
    }
  }

 private:
  // Tries the blocks of the region at hand, then others.
  bool add(Kernel& k, LoopNest& nest) {
    if (open_)
      if (auto n = divided(nest, *open_); n && stores_own(*n) && reads_own(*n, written_)) {
        divide(k, *n, *open_);
        enter(k, open_, true);
        return true;
      }
    for (const Grid& g : grids_)
      if (auto n = divided(nest, g); n && stores_own(*n) && !k.whole) {
        divide(k, *n, g);
        enter(k, g, false);
        return true;
      }
    return false;
  }
  static void divide(Kernel& k, LoopNest n, const Grid& g) {
    k.what  = std::move(n);
    k.parts = parts_in(g.rows, g.part_rows) * parts_in(g.columns, g.part_columns);
    k.first = k.whole = k.grain = 0;
  }
  void enter(Kernel& k, const std::optional<Grid>& grid, bool joins) {
    k.joins = joins;
    if (!joins) written_.clear();
    written_ = joined(written_, k.writes);
    open_    = grid;
  }

  std::vector<Grid>   grids_;
  std::optional<Grid> open_;     // of the region at hand,
  Vars                written_;  // and the values that it writes
};

}  // namespace

void join_regions(std::vector<Kernel>& kernels, int64_t least) {
  std::vector<Grid> grids;
  for (const Kernel& k : kernels)
    if (const auto g = grid_of(k); g && k.work >= least && !contains(grids, *g)) grids.push_back(*g);
  Joiner joiner(grids);
  for (Kernel& k : kernels) joiner.add(k);
}

size_t region_end(const std::vector<Kernel>& kernels, size_t k) {
  while (k + 1 < kernels.size() && kernels[k + 1].joins) ++k;
  return k;
}

}  // namespace braintrace::codegen

// SPDX-License-Identifier: Apache-2.0
#include "braintrace/viz/layered_layout.h"

#include <algorithm>
#include <numeric>

#include "braintrace/base/error.h"

namespace braintrace {

namespace {

constexpr double outer_margin = 28, gap_x = 18, gap_y = 42, bend_width = 10;
constexpr int    order_sweeps = 8, place_sweeps = 12;

// A box, or the bend of a long edge in a layer it passes.
struct Item {
  int                 layer = 0;
  double              w = 0, h = 0, x = 0;  // x of the center
  std::vector<size_t> up, down;
};

class Layers {
 public:
  Layers(const std::vector<Box>& sizes, const std::vector<std::pair<size_t, size_t>>& edges)
      : num_boxes_(sizes.size()) {
    for (const Box& b : sizes) items_.push_back({0, b.w, b.h, 0, {}, {}});
    for (const auto& [u, v] : edges) {
      ensure(u < v && v < num_boxes_, "layered_layout: edge {} → {} does not run forward", u, v);
      items_[v].layer = std::max(items_[v].layer, items_[u].layer + 1);
    }
    // Edges come in any order, so a source may have moved after its target was placed.
    for (bool moved = true; moved;) {
      moved = false;
      for (const auto& [u, v] : edges)
        if (items_[v].layer <= items_[u].layer) items_[v].layer = items_[u].layer + 1, moved = true;
    }
    sink_inputs(edges);
    for (const auto& [u, v] : edges) chains_.push_back(chain(u, v));
    int deepest = 0;
    for (const Item& i : items_) deepest = std::max(deepest, i.layer);
    layers_.resize(static_cast<size_t>(deepest) + 1);
    for (size_t i = 0; i < items_.size(); ++i) layers_[static_cast<size_t>(items_[i].layer)].push_back(i);
  }

  LayeredLayout run() {
    order();
    place();
    LayeredLayout out;
    double        left = 1e300, right = 0, y = outer_margin;
    for (const Item& i : items_) left = std::min(left, i.x - i.w / 2), right = std::max(right, i.x + i.w / 2);
    std::vector<double> middle(items_.size()), half(items_.size());  // of the layer of each item
    for (const auto& layer : layers_) {
      double h = 0;
      for (size_t i : layer) h = std::max(h, items_[i].h);
      for (size_t i : layer) middle[i] = y + h / 2, half[i] = h / 2;
      y += h + gap_y;
    }
    if (items_.empty()) left = 0;
    for (Item& i : items_) i.x += outer_margin - left;
    for (size_t i = 0; i < num_boxes_; ++i) {
      const Item& it = items_[i];
      out.boxes.push_back({it.x - it.w / 2, middle[i] - it.h / 2, it.w, it.h});
    }
    for (const auto& c : chains_) {
      std::vector<Point> path;
      path.push_back({items_[c[0]].x, middle[c[0]] + items_[c[0]].h / 2});
      for (size_t k = 1; k + 1 < c.size(); ++k) {  // straight past the boxes of a layer
        path.push_back({items_[c[k]].x, middle[c[k]] - half[c[k]]});
        path.push_back({items_[c[k]].x, middle[c[k]] + half[c[k]]});
      }
      path.push_back({items_[c.back()].x, middle[c.back()] - items_[c.back()].h / 2});
      out.routes.push_back(std::move(path));
    }
    out.width  = right - left + 2 * outer_margin;
    out.height = y - gap_y + outer_margin;
    return out;
  }

 private:
  // A box without inputs is directly above its first reader.
  void sink_inputs(const std::vector<std::pair<size_t, size_t>>& edges) {
    std::vector<int>  first(num_boxes_, -1);
    std::vector<bool> fed(num_boxes_, false);
    for (const auto& [u, v] : edges) {
      fed[v]   = true;
      first[u] = first[u] < 0 ? items_[v].layer : std::min(first[u], items_[v].layer);
    }
    for (size_t i = 0; i < num_boxes_; ++i)
      if (!fed[i] && first[i] > 0) items_[i].layer = first[i] - 1;
  }

  std::vector<size_t> chain(size_t u, size_t v) {
    std::vector<size_t> c{u};
    for (int layer = items_[u].layer + 1; layer < items_[v].layer; ++layer) {
      c.push_back(items_.size());
      items_.push_back({layer, bend_width, 0, 0, {}, {}});
    }
    c.push_back(v);
    for (size_t k = 0; k + 1 < c.size(); ++k) {
      items_[c[k]].down.push_back(c[k + 1]);
      items_[c[k + 1]].up.push_back(c[k]);
    }
    return c;
  }

  // Sweeps down and up; each layer is sorted by the mean place of its neighbors in the layer before.
  void order() {
    std::vector<double> place(items_.size());
    const auto          number = [&](const std::vector<size_t>& layer) {
      for (size_t k = 0; k < layer.size(); ++k) place[layer[k]] = static_cast<double>(k);
    };
    for (const auto& layer : layers_) number(layer);
    for (int sweep = 0; sweep < order_sweeps; ++sweep) {
      const bool down = sweep % 2 == 0;
      for (size_t l = 0; l < layers_.size(); ++l) {
        auto&                    layer = layers_[down ? l : layers_.size() - 1 - l];
        std::map<size_t, double> mean;
        for (size_t i : layer) {
          const auto& others = down ? items_[i].up : items_[i].down;
          double      sum    = 0;
          for (size_t o : others) sum += place[o];
          mean[i] = others.empty() ? place[i] : sum / static_cast<double>(others.size());
        }
        std::stable_sort(layer.begin(), layer.end(), [&](size_t a, size_t b) { return mean[a] < mean[b]; });
        number(layer);
      }
    }
  }

  // Pulls every item towards its neighbors, keeping order and distance inside each layer.
  void place() {
    for (const auto& layer : layers_) {
      double x = 0;
      for (size_t i : layer) items_[i].x = x + items_[i].w / 2, x += items_[i].w + gap_x;
    }
    for (int sweep = 0; sweep < place_sweeps; ++sweep) {
      const bool down = sweep % 2 == 0;
      for (size_t l = 0; l < layers_.size(); ++l) settle(layers_[down ? l : layers_.size() - 1 - l], down);
    }
  }
  // Items that would overlap move as one block to the mean of their preferred positions (pool adjacent violators).
  void settle(const std::vector<size_t>& layer, bool down) {
    struct Block {
      double sum, count, width;  // of wished left ends; width so far
      double left() const { return sum / count; }
    };
    std::vector<Block>  blocks;
    std::vector<size_t> lengths;
    for (size_t i : layer) {
      const auto& others = down ? items_[i].up : items_[i].down;
      double      wish   = 0;
      for (size_t o : others) wish += items_[o].x;
      wish = (others.empty() ? items_[i].x : wish / static_cast<double>(others.size())) - items_[i].w / 2;
      Block  block{wish, 1, items_[i].w + gap_x};
      size_t length = 1;
      while (!blocks.empty() && blocks.back().left() + blocks.back().width > block.left()) {
        const Block& before = blocks.back();
        block               = {before.sum + block.sum - block.count * before.width, before.count + block.count,
                               before.width + block.width};
        length += lengths.back();
        blocks.pop_back(), lengths.pop_back();
      }
      blocks.push_back(block), lengths.push_back(length);
    }
    size_t k = 0;
    for (size_t b = 0; b < blocks.size(); ++b) {
      double x = blocks[b].left();
      for (size_t n = 0; n < lengths[b]; ++n, ++k) {
        items_[layer[k]].x = x + items_[layer[k]].w / 2;
        x += items_[layer[k]].w + gap_x;
      }
    }
  }

  size_t                           num_boxes_;
  std::vector<Item>                items_;
  std::vector<std::vector<size_t>> layers_, chains_;
};

}  // namespace

LayeredLayout layered_layout(const std::vector<Box>& sizes, const std::vector<std::pair<size_t, size_t>>& edges) {
  return Layers(sizes, edges).run();
}

}  // namespace braintrace

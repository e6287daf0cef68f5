// SPDX-License-Identifier: Apache-2.0
#include "braintrace/viz/band_layout.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace braintrace {

namespace {

constexpr double margin = 28, band_pad = 16, band_header = 26, row_gap = 14, box_gap = 10;
constexpr double track = 10, channel_pad = 16, min_channel = 40, min_lane = 22, loop_reach = 24, port_height = 16;
constexpr double heading = 44;

// Boxes in a column of a band, in rows.
struct Cell {
  int band = 0, column = 0, row = -1;  // row -1: next to all rows of the band
};

// A straight piece of an arrow inside a channel. Arrows with equal `net` may share a track.
struct Piece {
  size_t net;
  double lo, hi;
};

// Gives every net of a channel a track such that pieces of different nets on one track do not overlap.
struct Channel {
  std::map<size_t, std::pair<double, double>> spans;  // of each net
  std::map<size_t, int>                       tracks;
  int                                         count = 0;

  void add(const Piece& p) {
    auto [it, fresh] = spans.try_emplace(p.net, p.lo, p.hi);
    if (!fresh) it->second = {std::min(it->second.first, p.lo), std::max(it->second.second, p.hi)};
  }
  // Longer spans first, so that they get the inner tracks.
  void assign(double clearance) {
    std::vector<std::pair<size_t, std::pair<double, double>>> nets(spans.begin(), spans.end());
    std::stable_sort(nets.begin(), nets.end(), [](const auto& a, const auto& b) {
      return a.second.second - a.second.first < b.second.second - b.second.first;
    });
    std::vector<std::vector<std::pair<double, double>>> taken;
    for (const auto& [net, span] : nets) {
      size_t t = 0;
      for (; t < taken.size(); ++t)
        if (std::none_of(taken[t].begin(), taken[t].end(), [&, &span = span](const auto& other) {
              return span.first < other.second + clearance && other.first < span.second + clearance;
            }))
          break;
      if (t == taken.size()) taken.emplace_back();
      taken[t].push_back(span);
      tracks[net] = static_cast<int>(t);
    }
    count = static_cast<int>(taken.size());
  }
  double thickness(double least) const { return std::max(least, 2 * channel_pad + (count - 1) * track); }
  // Offset of a net's track from the start of the channel, the tracks centered.
  double offset(size_t net, double thick) const { return thick / 2 + (tracks.at(net) - (count - 1) / 2.0) * track; }
};

Box size_of_node(const PictureNode& n) {
  using namespace metrics;
  double w = text_width(shortened(n.title, longest_title), title_size, false);
  for (const std::string& line : n.lines) w = std::max(w, text_width(shortened(line, 40), line_size, true));
  for (const auto& row : n.rows) w = std::max(w, 18 + text_width(shortened(row.text, longest_title), line_size, true));
  const double least = n.kind == NodeKind::Group ? 150 : n.kind == NodeKind::Operation ? 76 : 64;
  double       h     = 2 * pad_y + title_height + line_height * static_cast<double>(n.lines.size());
  if (!n.rows.empty()) h += row_height * static_cast<double>(n.rows.size()) + 6;
  return {0, 0, std::max(least, std::ceil(w) + 2 * pad_x), h};
}

class BandLayout {
 public:
  explicit BandLayout(const Picture& p) : p_(p), cells_(p.nodes.size()) {
    for (const PictureNode& n : p.nodes) out_.boxes.push_back(size_of_node(n));
    std::vector<int> arrows(p.nodes.size(), 0);
    for (const PictureEdge& e : p.edges) ++arrows[e.to];
    for (size_t i = 0; i < arrows.size(); ++i) out_.boxes[i].h = std::max(out_.boxes[i].h, arrows[i] * port_height);
  }

  Layout run() {
    order_groups();
    assign_bands();
    assign_columns();
    assign_rows();
    plan_routes();
    place_vertically();
    assign_ports();
    place_horizontally();
    draw_routes();
    return std::move(out_);
  }

 private:
  enum class Side : uint8_t { Right, Top, Bottom };
  // How an edge runs: leave by `side`, down or up channel `first` (Right only), along lane `lane` when it has one, down
  // or up channel `last`, into the left of the target.
  struct Plan {
    Side   side  = Side::Right;
    int    first = 0, lane = -1, last = 0;
    bool   self = false;
    size_t net  = 0;
    double ys = 0, yt = 0;
  };

  const PictureNode& node(size_t i) const { return p_.nodes[i]; }
  bool               is(size_t i, NodeKind k) const { return node(i).kind == k; }
  bool               forward(const PictureEdge& e) const { return e.kind == EdgeKind::Data && e.from != e.to; }

  // Groups in the order in which data passes them; among equals by index.
  void order_groups() {
    std::vector<size_t> groups;
    for (size_t i = 0; i < p_.nodes.size(); ++i)
      if (is(i, NodeKind::Group)) groups.push_back(i);
    // Longest path over forward edges; the bound on sweeps ends on cycles, which files may contain.
    std::vector<int> depth(p_.nodes.size(), 0);
    for (size_t sweep = 0, changed = 1; changed && sweep < p_.nodes.size(); ++sweep) {
      changed = 0;
      for (const PictureEdge& e : p_.edges)
        if (forward(e) && depth[e.to] < depth[e.from] + 1) depth[e.to] = depth[e.from] + 1, changed = 1;
    }
    std::stable_sort(groups.begin(), groups.end(), [&](size_t a, size_t b) { return depth[a] < depth[b]; });
    group_order_ = groups;
  }

  // Inputs on top; each group a band; an operation joins the nearest group its result reaches, or the outputs.
  void assign_bands() {
    num_bands_ = static_cast<int>(group_order_.size()) + 2;
    for (size_t b = 0; b < group_order_.size(); ++b) cells_[group_order_[b]].band = static_cast<int>(b) + 1;
    for (size_t i = 0; i < p_.nodes.size(); ++i)
      if (is(i, NodeKind::Operation))
        cells_[i].band = band_of_operation(i);
      else if (is(i, NodeKind::Output))
        cells_[i].band = num_bands_ - 1;
    for (size_t i = 0; i < p_.nodes.size(); ++i) {
      if (!is(i, NodeKind::Weight)) continue;
      cells_[i].band = num_bands_ - 1;
      for (const PictureEdge& e : p_.edges)
        if (e.from == i && is(e.to, NodeKind::Operation)) cells_[i].band = std::min(cells_[i].band, cells_[e.to].band);
    }
  }
  int band_of_operation(size_t op) const {
    std::vector<size_t> layer{op};
    std::set<size_t>    seen{op};
    while (!layer.empty()) {
      std::vector<size_t> next;
      int                 best = num_bands_;
      for (size_t from : layer)
        for (const PictureEdge& e : p_.edges) {
          if (e.from != from || !forward(e)) continue;
          if (is(e.to, NodeKind::Group)) best = std::min(best, cells_[e.to].band);
          if (is(e.to, NodeKind::Operation) && seen.insert(e.to).second) next.push_back(e.to);
        }
      if (best < num_bands_) return best;
      layer = next;
    }
    return num_bands_ - 1;
  }

  // Operations are as far right as the operations after them allow.
  void assign_columns() {
    std::vector<int> before_end(p_.nodes.size(), 0);
    for (size_t sweep = 0, changed = 1; changed && sweep < p_.nodes.size(); ++sweep) {
      changed = 0;
      for (const PictureEdge& e : p_.edges)
        if (forward(e) && is(e.from, NodeKind::Operation) && is(e.to, NodeKind::Operation) &&
            cells_[e.from].band == cells_[e.to].band && before_end[e.from] < before_end[e.to] + 1)
          before_end[e.from] = before_end[e.to] + 1, changed = 1;
    }
    int deepest = 0;
    for (int d : before_end) deepest = std::max(deepest, d);
    last_column_ = deepest + 2;
    for (size_t i = 0; i < p_.nodes.size(); ++i) {
      if (is(i, NodeKind::Operation)) cells_[i].column = last_column_ - 1 - before_end[i];
      if (is(i, NodeKind::Group) || is(i, NodeKind::Output)) cells_[i].column = last_column_;
    }
  }

  void assign_rows() {
    rows_.assign(static_cast<size_t>(num_bands_), 0);
    for (size_t i = 0; i < p_.nodes.size(); ++i)
      if (is(i, NodeKind::Operation)) cells_[i].row = rows_[cells_[i].band]++;
    for (size_t i = 0; i < p_.nodes.size(); ++i) {
      if (is(i, NodeKind::Weight)) {
        for (const PictureEdge& e : p_.edges)
          if (e.from == i && is(e.to, NodeKind::Operation) && cells_[e.to].band == cells_[i].band && cells_[i].row < 0)
            cells_[i].row = cells_[e.to].row;
      }
      const bool left = is(i, NodeKind::Input) || is(i, NodeKind::State) || is(i, NodeKind::Weight);
      if (left && cells_[i].row < 0) cells_[i].row = rows_[cells_[i].band]++;
    }
  }

  void plan_routes() {
    std::map<std::tuple<size_t, Side, int, int>, size_t> nets;
    for (const PictureEdge& e : p_.edges) {
      const Cell &u = cells_[e.from], &v = cells_[e.to];
      Plan        plan;
      plan.first = u.column + 1;
      plan.last  = is(e.to, NodeKind::Operation) ? 1 : v.column;
      if (e.from == e.to) {
        plan.self = true;
      } else if (is(e.from, NodeKind::Group)) {
        const bool up = e.kind == EdgeKind::Recurrent || v.band <= u.band;
        plan.side     = up ? Side::Top : Side::Bottom;
        plan.lane     = up ? u.band : u.band + 1;
      } else if (is(e.to, NodeKind::Operation) && u.column < v.column) {
        plan.last = plan.first;  // one bend, then along the target's row
      } else if (is(e.from, NodeKind::Operation) && v.column == last_column_) {
        plan.first = plan.last;  // along its own row to the last channel
      } else {
        plan.lane = v.band > u.band ? v.band : v.band == u.band ? u.band : v.band + 1;
      }
      plan.net = nets.try_emplace({e.from, plan.side, plan.first, plan.lane}, nets.size()).first->second;
      plans_.push_back(plan);
    }
    // Lanes are crossed by channel number: a coarse order of x that does not depend on the widths found later.
    lanes_.resize(static_cast<size_t>(num_bands_) + 1);
    for (size_t i = 0; i < plans_.size(); ++i) {
      const Plan& plan = plans_[i];
      if (plan.lane < 0) continue;
      const double from = plan.side == Side::Right ? plan.first : cells_[p_.edges[i].from].column + 0.5;
      lanes_[plan.lane].add({plan.net, std::min<double>(from, plan.last), std::max<double>(from, plan.last)});
    }
    for (Channel& lane : lanes_) lane.assign(0.1);
  }

  double stack_height(int band, int row) const {
    double h = -box_gap;
    for (size_t i = 0; i < cells_.size(); ++i)
      if (cells_[i].band == band && cells_[i].row == row && cells_[i].column == 0) h += out_.boxes[i].h + box_gap;
    return h;
  }
  double row_height_of(int band, int row) const {
    double h = std::max(0.0, stack_height(band, row));
    for (size_t i = 0; i < cells_.size(); ++i)
      if (cells_[i].band == band && cells_[i].row == row) h = std::max(h, out_.boxes[i].h);
    return h;
  }

  void place_vertically() {
    double y = heading + margin;
    for (int b = 0; b < num_bands_; ++b) {
      std::vector<size_t> right;  // the group, or the outputs
      for (size_t i = 0; i < cells_.size(); ++i)
        if (cells_[i].band == b && cells_[i].column == last_column_) right.push_back(i);
      double rows = -row_gap, rights = -box_gap;
      for (int r = 0; r < rows_[b]; ++r) rows += row_height_of(b, r) + row_gap;
      for (size_t i : right) rights += out_.boxes[i].h + box_gap;
      const double inner = std::max({rows, rights, 0.0});
      const bool   empty = rows_[b] == 0 && right.empty();
      const bool   card  = b > 0 && b < num_bands_ - 1;
      if (!lanes_[b].tracks.empty() || !empty) y += lanes_[b].thickness(min_lane);
      lane_end_.push_back(y);
      const double head = card ? band_header : 0, pad = card ? band_pad : 0;
      const double top = y + head + (card ? 4 : 0);
      place_rows(b, top + (inner - rows) / 2);
      double at = top + (inner - rights) / 2;
      if (!card && right.size() == 1) at = std::clamp(level_with_source(right[0], at), top, top + inner - rights);
      for (size_t i : right) out_.boxes[i].y = at, at += out_.boxes[i].h + box_gap;
      if (!empty) y = top + inner + pad;
      if (card) out_.bands.push_back({band_title(right), {0, lane_end_.back(), 0, y - lane_end_.back()}});
    }
    if (!lanes_.back().tracks.empty()) y += lanes_.back().thickness(min_lane);
    lane_end_.push_back(y);
    out_.height = y + margin;
  }
  // Where the box stands on one line with the operation that feeds it.
  double level_with_source(size_t i, double otherwise) const {
    for (const PictureEdge& e : p_.edges)
      if (e.to == i && is(e.from, NodeKind::Operation) && cells_[e.from].band == cells_[i].band)
        return center(e.from) - out_.boxes[i].h / 2;
    return otherwise;
  }
  void place_rows(int band, double y) {
    for (int r = 0; r < rows_[band]; ++r) {
      const double h       = row_height_of(band, r);
      double       stacked = y + (h - stack_height(band, r)) / 2;
      for (size_t i = 0; i < cells_.size(); ++i) {
        if (cells_[i].band != band || cells_[i].row != r) continue;
        Box& box = out_.boxes[i];
        if (cells_[i].column == 0)
          box.y = stacked, stacked += box.h + box_gap;
        else
          box.y = y + (h - box.h) / 2;
      }
      y += h + row_gap;
    }
  }
  // The name all members of the group share: the layer they belong to.
  std::string band_title(const std::vector<size_t>& right) const {
    if (right.empty() || node(right[0]).rows.empty()) return "";
    std::string common = node(right[0]).rows[0].text;
    common             = common.substr(0, common.rfind('.') == std::string::npos ? 0 : common.rfind('.'));
    for (const auto& row : node(right[0]).rows)
      while (!common.empty() && !row.text.starts_with(common + "."))
        common = common.substr(0, common.rfind('.') == std::string::npos ? 0 : common.rfind('.'));
    return common;
  }

  double center(size_t i) const { return out_.boxes[i].y + out_.boxes[i].h / 2; }
  double lane_y(const Plan& plan) const {
    const Channel& lane  = lanes_[static_cast<size_t>(plan.lane)];
    const double   thick = lane.thickness(min_lane);
    return lane_end_[static_cast<size_t>(plan.lane)] - thick + lane.offset(plan.net, thick);
  }

  // Arrows enter on the left, in the order of where they come from. The line of a lone weight is straight: it enters
  // level with the weight, the others above and below it.
  void assign_ports() {
    for (size_t i = 0; i < p_.nodes.size(); ++i) {
      std::vector<std::pair<double, size_t>> in;
      std::vector<size_t>                    level;
      for (size_t k = 0; k < plans_.size(); ++k) {
        if (p_.edges[k].to != i || plans_[k].self) continue;
        const size_t from = p_.edges[k].from;
        if (plans_[k].lane < 0 && center(from) == center(i)) level.push_back(k);
        in.emplace_back(plans_[k].lane >= 0 ? lane_y(plans_[k]) : center(from), k);
      }
      std::stable_sort(in.begin(), in.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
      const Box& box = out_.boxes[i];
      if (level.size() == 1) {
        const auto middle = std::find_if(in.begin(), in.end(), [&](const auto& x) { return x.second == level[0]; });
        spread({in.begin(), middle}, box.y, center(i));
        spread({middle + 1, in.end()}, center(i), box.y + box.h);
        plans_[level[0]].yt = center(i);
      } else {
        spread(in, box.y, box.y + box.h);
      }
    }
    for (size_t k = 0; k < plans_.size(); ++k) plans_[k].ys = center(p_.edges[k].from);
  }
  void spread(const std::vector<std::pair<double, size_t>>& in, double from, double to) {
    for (size_t k = 0; k < in.size(); ++k)
      plans_[in[k].second].yt = from + (to - from) * static_cast<double>(k + 1) / static_cast<double>(in.size() + 1);
  }

  void place_horizontally() {
    channels_.resize(static_cast<size_t>(last_column_) + 2);
    for (const Plan& plan : plans_) {
      if (plan.self) continue;
      if (plan.lane < 0) {
        if (plan.ys != plan.yt)
          channels_[plan.last].add({plan.net, std::min(plan.ys, plan.yt), std::max(plan.ys, plan.yt)});
        continue;
      }
      const double y = lane_y(plan);
      if (plan.side == Side::Right) channels_[plan.first].add({plan.net, std::min(plan.ys, y), std::max(plan.ys, y)});
      channels_[plan.last].add({plan.net, std::min(plan.yt, y), std::max(plan.yt, y)});
    }
    double x = margin + band_pad;
    for (int c = 0; c <= last_column_ + 1; ++c) {
      channels_[c].assign(6);
      const bool outer = c == 0 || c == last_column_ + 1;
      if (!outer || !channels_[c].tracks.empty()) x += channels_[c].thickness(outer ? 0 : min_channel);
      channel_end_.push_back(x);
      if (c > last_column_) break;
      double width = 0;
      for (size_t i = 0; i < cells_.size(); ++i)
        if (cells_[i].column == c) width = std::max(width, out_.boxes[i].w);
      for (size_t i = 0; i < cells_.size(); ++i) {
        if (cells_[i].column != c) continue;
        out_.boxes[i].w = width;
        out_.boxes[i].x = x;
      }
      x += width;
    }
    const bool loops = std::any_of(plans_.begin(), plans_.end(), [](const Plan& p) { return p.self; });
    if (loops) x = std::max(x, channel_end_.back() + loop_reach);
    for (Layout::Band& band : out_.bands) band.box.x = margin, band.box.w = x + band_pad - margin;
    out_.width = x + band_pad + margin;
  }

  double channel_x(int c, const Plan& plan) const {
    const Channel& channel = channels_[static_cast<size_t>(c)];
    const bool     outer   = c == 0 || c == last_column_ + 1;
    const double   thick   = channel.thickness(outer ? 0 : min_channel);
    return channel_end_[static_cast<size_t>(c)] - thick + channel.offset(plan.net, thick);
  }

  void draw_routes() {
    for (size_t k = 0; k < plans_.size(); ++k) {
      const Plan&        plan = plans_[k];
      const Box &        u = out_.boxes[p_.edges[k].from], &v = out_.boxes[p_.edges[k].to];
      std::vector<Point> path;
      if (plan.self) {
        const double right = u.x + u.w, top = u.y + u.h * 0.3, bottom = u.y + u.h * 0.7;
        path = {{right, top}, {right + loop_reach - 4, top}, {right + loop_reach - 4, bottom}, {right, bottom}};
      } else if (plan.lane < 0) {
        path = {{u.x + u.w, plan.ys}};
        if (plan.ys != plan.yt) {
          const double x = channel_x(plan.last, plan);
          path.push_back({x, plan.ys});
          path.push_back({x, plan.yt});
        }
        path.push_back({v.x, plan.yt});
      } else {
        const double y = lane_y(plan);
        if (plan.side == Side::Right) {
          const double x = channel_x(plan.first, plan);
          path           = {{u.x + u.w, plan.ys}, {x, plan.ys}, {x, y}};
        } else {
          const double x = u.x + u.w / 2, edge = plan.side == Side::Top ? u.y : u.y + u.h;
          path = {{x, edge}, {x, y}};
        }
        const double x = channel_x(plan.last, plan);
        path.push_back({x, y});
        path.push_back({x, plan.yt});
        path.push_back({v.x, plan.yt});
      }
      out_.routes.push_back(std::move(path));
    }
    find_forks();
  }

  // Two arrows of one net fork where one turns into the row of its target and the other continues along the channel.
  void find_forks() {
    for (size_t a = 0; a < plans_.size(); ++a) {
      if (plans_[a].self || out_.routes[a].size() < 4) continue;
      const Point turn = out_.routes[a][out_.routes[a].size() - 2];
      for (size_t b = 0; b < plans_.size(); ++b) {
        if (a == b || plans_[b].net != plans_[a].net || plans_[b].self || out_.routes[b].size() < 4) continue;
        const auto&  r = out_.routes[b];
        const Point &p = r[r.size() - 3], &q = r[r.size() - 2];
        if (p.x == turn.x && std::min(p.y, q.y) < turn.y && turn.y < std::max(p.y, q.y)) {
          out_.forks.push_back({turn, a});
          break;
        }
      }
    }
  }

  const Picture&       p_;
  Layout               out_;
  std::vector<Cell>    cells_;
  std::vector<size_t>  group_order_;
  std::vector<int>     rows_;
  int                  num_bands_ = 0, last_column_ = 0;
  std::vector<Plan>    plans_;
  std::vector<Channel> lanes_, channels_;        // lanes lie above bands, channels left of columns
  std::vector<double>  lane_end_, channel_end_;  // lower and right borders
};

}  // namespace

Layout band_layout(const Picture& picture) { return BandLayout(picture).run(); }

}  // namespace braintrace

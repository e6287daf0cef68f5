// SPDX-License-Identifier: Apache-2.0
#include "braintrace/codegen/cuda/persistent.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "braintrace/codegen/c/c_text.h"
#include "braintrace/codegen/c/elements.h"
#include "braintrace/codegen/cuda/context.h"
#include "braintrace/codegen/cuda/ownership.h"
#include "braintrace/codegen/cuda/tiles.h"

namespace braintrace::codegen {

namespace {

// Row stride of partial sums, in floats, padded so that lanes that write at the same time use different banks.
int64_t partial_row(int64_t columns) { return columns % 16 == 8 ? columns : columns + 8; }

// Products with the same left operand, whose rows are loaded once.
struct Phase {
  std::vector<const Act*> products;
  int64_t                 tiles   = 1;  // tiles of 16 rows that a warp holds at a time
  int64_t                 columns = 0;  // tiles of 8 columns, over all products
  int64_t                 groups  = 1;  // groups of warps: each has its own rows; its warps split the terms

  int64_t rows() const { return groups * tiles * warp_rows; }  // per pass
  int64_t sums() const { return tiles * columns * 4; }         // accumulators per thread
};

// The columns of W that a block owns, in the order in which the lanes of a warp load them: for 16 terms and 8 columns,
// each lane has four terms of one column.
struct Weights {
  Product::Side   side;
  Product::Matrix matrix;
  int64_t         own, at;  // columns of a block; offset in shared memory, in floats

  int64_t chunks() const { return parts_in(matrix.k, warp_terms); }
  int64_t floats() const { return chunks() * warp_terms * own; }
  bool    holds(const Product& p) const {
       return p.rhs.buffer == side.buffer && p.rhs.at == side.at && p.matrix->k == matrix.k && p.matrix->n == matrix.n &&
              p.matrix->rhs_k == matrix.rhs_k && p.matrix->rhs_n == matrix.rhs_n;
  }
};

class PersistentText {
 public:
  PersistentText(const Function& f, const Kernel& k, const Target& target, Precision precision, Ownership o)
      : f_(f),
        k_(k),
        l_(std::get<TimeLoop>(k.what)),
        body_(*l_.body),
        of_(target.blocks),
        precision_(precision),
        o_(std::move(o)) {
    make_phases();
    place();
  }

  int64_t shared_bytes() const { return floats_ * 4; }
  int64_t blocks() const {
    int64_t n = 1;
    for (const Act& a : o_.acts) n = std::max(n, parts_in(a.split.columns, a.split.own));
    return n;
  }
  bool meets() const {
    return std::any_of(o_.acts.begin(), o_.acts.end(), [](const Act& a) { return a.meets; }) ||
           std::any_of(l_.carries.begin(), l_.carries.end(), [&](const TimeLoop::Carry& x) { return is_copied(x); });
  }

  std::string text(const std::string& name) const {
    std::string out = fmt::format("extern \"C\" __global__ void __launch_bounds__({}, 1) {}(bt_cuda_frame f) {{\n",
                                  of_.threads, name);
    out += "float* shared = (float*)bt_shared_memory;\nbt_team team = bt_joined(f);\n";
    out += "const int64_t part = team.part;\nconst int block = (int)team.block;\n(void)shared;\n";
    out += fmt::format("char* w = f.arena + {} + part * {};\n(void)w; (void)part; (void)block;\n", k_.place,
                       l_.part_bytes.value_or(0));
    for (const TimeLoop::Given& g : l_.consts)
      out += fmt::format("const char* in{} = (const char*){} + part * {};\n", g.arg, outer(g.buffer), g.part);
    for (const TimeLoop::Carry& c : l_.carries)
      out += fmt::format("const char* in{} = (const char*){} + part * {};\n", c.arg, outer(c.init), c.part);
    for (const Weights& w : weights_)
      out += fmt::format("bt_keep<{}, {}, {}>(shared + {}, {}, {}, {}, {}, {});\n", w.chunks(), w.own / warp_columns,
                         exact(), w.at, base(w.side.buffer, w.side.at), w.matrix.k, w.matrix.rhs_k,
                         columns_here(w.own, w.matrix.n), w.matrix.rhs_n);
    out += first();
    out +=
        fmt::format("__syncthreads();\nfor (int64_t step = 0; step < {}; ++step) {{\nconst int64_t t = {};\n(void)t;\n",
                    l_.length, time("step"));
    return out + pointers() + locals() + ahead() + steps() + after() + "}\n" + last() +
           (meets() ? "bt_leave(team);\n}\n" : "}\n");
  }

 private:
  // Groups consecutive products of the same rows without a barrier between them.
  void make_phases() {
    phases_.resize(o_.acts.size());
    for (size_t i = 0; i < o_.acts.size(); ++i) {
      if (!o_.acts[i].product) continue;
      Phase        p;
      const size_t first = i;
      const auto   reads = [&](size_t j) { return o_.acts[j].product->lhs; };
      for (;; ++i) {
        p.products.push_back(&o_.acts[i]);
        p.columns += o_.acts[i].split.own / warp_columns;
        const bool more = i + 1 < o_.acts.size() && o_.acts[i + 1].product && !o_.acts[i + 1].meets &&
                          reads(i + 1).buffer == reads(first).buffer && reads(i + 1).at == reads(first).at &&
                          o_.acts[i + 1].product->matrix->lhs_m == o_.acts[first].product->matrix->lhs_m &&
                          o_.acts[i + 1].product->matrix->k == o_.acts[first].product->matrix->k &&
                          (p.columns + o_.acts[i + 1].split.own / warp_columns) * 4 <= of_.sums;
        if (!more) break;
      }
      if (o_.rows > warp_rows) p.groups = 2;
      while (p.tiles < 4 && p.rows() < o_.rows && 2 * p.sums() <= of_.sums) p.tiles *= 2;
      for (const Act* a : p.products)  // otherwise threads do not find their own positions in registers, pass by pass
        if (p.rows() < o_.rows && p.rows() * a->split.own % of_.threads != 0 && home(a->product->out) == Home::Local)
          o_.home[static_cast<size_t>(a->product->out)] = Home::Shared;
      phases_[first] = std::move(p);
    }
  }

  // Shared memory: weights, partial sums of a phase, and values private to the block.
  void place() {
    int64_t partial = 0;
    for (const Phase& p : phases_)
      for (const Act* a : p.products) {
        partial = std::max(partial, sums_left * p.rows() * partial_row(a->split.own));
        if (std::any_of(weights_.begin(), weights_.end(), [&](const Weights& w) { return w.holds(*a->product); }))
          continue;
        weights_.push_back({a->product->rhs, *a->product->matrix, a->split.own, floats_});
        floats_ += weights_.back().floats();
      }
    partial_ = floats_;
    floats_ += partial;
    for (const Act& a : o_.acts)
      for (Var v : a.writes)
        if (home(v) == Home::Shared && !local_.contains(v)) {
          local_[v] = floats_;
          floats_ += a.split.rows * a.split.own;
        }
  }

  const char* exact() const { return precision_ == Precision::F32 ? "true" : "false"; }

  Home home(Var v) const { return o_.home[static_cast<size_t>(v)]; }

  static std::string columns_here(int64_t own, int64_t n) {
    return fmt::format("block * {}, {}", own, columns_left(own, n));
  }
  static std::string columns_left(int64_t own, int64_t n) {
    return fmt::format("({1} - block * {0} < {0} ? {1} - block * {0} : {0})", own, n);
  }

  // Untyped pointers to buffers of the enclosing function.
  std::string outer(Var v) const { return place_text(f_.buffers[static_cast<size_t>(v)].place); }
  // Pointers to buffers of the step.
  std::string base(Var v, int64_t at) const {
    const Buffer& b = body_.buffers[static_cast<size_t>(v)];
    const Place&  p = b.place;
    std::string   where;
    if (p.kind == Place::Kind::Input) where = fmt::format("in{}", p.at);
    if (p.kind == Place::Kind::Constant) where = fmt::format("f.constants[{}]", p.at);
    if (p.kind == Place::Kind::Result) where = fmt::format("out{}", p.at);
    if (p.kind == Place::Kind::Arena) where = fmt::format("(w + {})", p.at);
    const bool is_given = p.kind == Place::Kind::Input || p.kind == Place::Kind::Constant;
    return fmt::format("(({}{}*){} + {})", is_given ? "const " : "", storage_type(b.type.dtype), where, at);
  }

  // Pointers to this step's rows of inputs and results.
  std::string pointers() const {
    std::string out;
    for (const TimeLoop::Carry& x : l_.carries)
      if (!x.is_stacked)
        out += fmt::format("char* out{} = ({} - 1 - step) & 1 ? w + {} : {};\n", x.result, l_.length, x.other,
                           place_of(x));
    for (const TimeLoop::Stacked& x : l_.inputs)
      out += fmt::format("const char* in{} = {};\n(void)in{};\n", x.arg, row_of(x, "t"), x.arg);
    for (const TimeLoop::Stacks& x : l_.outputs) {
      const std::string row = fmt::format("(char*){} + t * {} + part * {}", outer(x.out), x.row, x.part);
      out += fmt::format("char* out{} = {};\n", x.result,
                         x.spare ? fmt::format("part == 0 ? {} : w + {}", row, *x.spare) : row);
    }
    return out;
  }
  std::string place_of(const TimeLoop::Carry& x) const {
    return x.own ? fmt::format("w + {}", *x.own) : fmt::format("(char*){} + part * {}", outer(x.out), x.part);
  }
  std::string row_of(const TimeLoop::Stacked& x, const std::string& t) const {
    return fmt::format("{} + part * {}",
                       row_text(
                           x, [&](Var v) { return outer(v); }, t),
                       x.part);
  }
  std::string time(const std::string& step) const {
    return l_.reverse ? fmt::format("{} - 1 - ({})", l_.length, step) : step;
  }

  // ---- Registers ----

  Var buffer_of(size_t arg) const {
    for (size_t v = 0; v < body_.buffers.size(); ++v)
      if (body_.buffers[v].place.kind == Place::Kind::Input && body_.buffers[v].place.at == static_cast<int64_t>(arg))
        return static_cast<Var>(v);
    return -1;
  }
  bool lives(Var v, Home h) const { return v >= 0 && home(v) == h; }
  bool is_early(Var v) const { return lives(v, Home::Early) || lives(v, Home::Number); }
  // The buffer with the new value of carry x, if both are in registers.
  Var next_of(const TimeLoop::Carry& x) const {
    for (size_t v = 0; v < body_.buffers.size(); ++v)
      if (o_.home[v] == Home::Next && body_.buffers[v].place.at == static_cast<int64_t>(x.result))
        return static_cast<Var>(v);
    return -1;
  }
  // Elements of a value that a thread holds.
  int64_t held(Var v) const {
    return home(v) == Home::Number ? 1 : turns(o_.split[static_cast<size_t>(v)], of_.threads);
  }
  std::string registers(const char* name, Var v) const {
    const auto i = static_cast<size_t>(v);
    return fmt::format("{} {}{}[{}] = {{}};\n", storage_type(body_.buffers[i].type.dtype), name, v, held(v));
  }
  std::string load(const char* name, Var v, const std::string& from) const {
    const auto i = static_cast<size_t>(v);
    if (home(v) == Home::Number)
      return fmt::format("{}{}[0] = *(const {}*)({});\n", name, v, storage_type(body_.buffers[i].type.dtype), from);
    return over_own(o_.split[i], fmt::format("{}{}[q] = ((const {}*)({}))[at];\n", name, v,
                                             storage_type(body_.buffers[i].type.dtype), from));
  }
  std::string move(Var to, Var from) const {
    return fmt::format("_Pragma(\"unroll\") for (int q = 0; q < {}; ++q) now{}[q] = next{}[q];\n", held(to), to, from);
  }
  std::string locals() const {
    std::string out;
    for (size_t v = 0; v < o_.home.size(); ++v)
      if (o_.home[v] == Home::Local) out += registers("local", static_cast<Var>(v));
    return out;
  }
  // Loads before the loop.
  std::string first() const {
    std::string out;
    for (const TimeLoop::Carry& x : l_.carries)
      if (const Var v = buffer_of(x.arg); lives(v, Home::Carried))
        out += registers("now", v) + registers("next", next_of(x)) + load("now", v, "in" + str(x.arg));
    for (const TimeLoop::Stacked& x : l_.inputs)
      if (const Var v = buffer_of(x.arg); is_early(v))
        out += registers("now", v) + registers("next", v) + load("next", v, row_of(x, "(int64_t)(" + time("0") + ")"));
    return out;
  }
  // Loads the inputs of the next step while this one is computed.
  std::string ahead() const {
    std::string here, loads;
    for (const TimeLoop::Stacked& x : l_.inputs)
      if (const Var v = buffer_of(x.arg); is_early(v)) {
        here += move(v, v);
        loads += load("next", v, row_of(x, "later"));
      }
    if (here.empty()) return "";
    return here +
           fmt::format("if (step + 1 < {}) {{\nconst int64_t later = {};\n{}}}\n", l_.length, time("step + 1"), loads) +
           hints();
  }
  // A step without barriers is shorter than the memory latency: prefetch its inputs several steps ahead.
  std::string hints() const {
    if (std::any_of(o_.acts.begin(), o_.acts.end(), [](const Act& a) { return a.meets; })) return "";
    std::string out;
    for (const TimeLoop::Stacked& x : l_.inputs)
      if (const Var v = buffer_of(x.arg); lives(v, Home::Early))
        out +=
            over_own(o_.split[static_cast<size_t>(v)],
                     fmt::format("bt_hint((const {}*)({}) + at);\n",
                                 storage_type(body_.buffers[static_cast<size_t>(v)].type.dtype), row_of(x, "later")));
    if (out.empty()) return "";
    return fmt::format("if (step + {0} < {1}) {{\nconst int64_t later = {2};\n{3}}}\n", of_.steps_ahead, l_.length,
                       time(fmt::format("step + {}", of_.steps_ahead)), out);
  }
  std::string after() const {
    std::string out;
    for (const TimeLoop::Carry& x : l_.carries)
      out += next_of(x) >= 0 ? move(buffer_of(x.arg), next_of(x)) : fmt::format("in{} = out{};\n", x.arg, x.result);
    return out;
  }
  // Whether a carry ends in memory other than its result, so that it is copied after a barrier.
  bool is_copied(const TimeLoop::Carry& x) const { return next_of(x) < 0 && (x.is_stacked || x.own); }
  // Stores the results of the loop that are elsewhere.
  std::string last() const {
    std::string kept, copied;
    for (const TimeLoop::Carry& x : l_.carries) {
      const std::string only = x.own ? "if (part == 0) " : "",
                        to   = fmt::format("((char*){} + part * {})", outer(x.out), x.part);
      if (const Var v = next_of(x); v >= 0) {
        const auto i = static_cast<size_t>(v);
        kept += only + over_own(o_.split[i], fmt::format("(({}*){})[at] = next{}[q];\n",
                                                         storage_type(body_.buffers[i].type.dtype), to, v));
      } else if (is_copied(x)) {
        copied += fmt::format("{}bt_copy(team, {}, in{}, {});\n", only, to, x.arg, x.bytes);
      }
    }
    return kept + (copied.empty() ? "" : "bt_meet(team);\n" + copied);
  }

  std::string steps() const {
    std::string out;
    for (size_t i = 0; i < o_.acts.size(); ++i) {
      const Act& a = o_.acts[i];
      if (a.meets)
        out += "bt_meet(team);\n";
      else if (i > 0 && !follows(o_.acts[i - 1], a))
        out += "__syncthreads();\n";
      if (a.product)
        out += phases_[i].products.empty() ? "" : text_of(phases_[i]);
      else
        out += a.nest ? text_of(a, *a.nest) : copy_text(a);
    }
    const bool same = o_.acts.empty() || o_.acts[0].meets || follows(o_.acts.back(), o_.acts[0]);
    return out + (same ? "" : "__syncthreads();\n");
  }
  // Whether no synchronization of the block is needed: each thread reads its own values, or the products are in one
  // phase.
  bool follows(const Act& before, const Act& a) const {
    if (before.product && a.product) return phases_[static_cast<size_t>(&a - o_.acts.data())].products.empty();
    return !before.product && !a.product && before.split == a.split;
  }

  const Weights& weights_of(const Product& p) const {
    return *std::find_if(weights_.begin(), weights_.end(), [&](const Weights& w) { return w.holds(p); });
  }

  // Each warp computes some terms of the sums of its rows; a fixed tree combines the sums of the warps.
  std::string text_of(const Phase& p) const {
    const Product& first = *p.products[0]->product;
    const auto&    m     = *first.matrix;
    std::string    declared, multiplied, joined;
    for (size_t i = 0; i < p.products.size(); ++i) {
      const Act&     a     = *p.products[i];
      const Weights& w     = weights_of(*a.product);
      const int64_t  tiles = a.split.own / warp_columns;
      declared += fmt::format("float c{}[{}][{}][4] = {{}};\n", i, p.tiles, tiles);
      multiplied += fmt::format("bt_multiply<{}, {}, {}>(c{}, x[d], (const float4*)(shared + {}) + s * {});\n", p.tiles,
                                tiles, exact(), i, w.at, tiles * 32);
      const auto sums_of =
          fmt::format("bt_join<{}, {}, {}>(c{}, shared + {});\n", p.tiles, tiles, p.groups, i, partial_);
      if (home(a.product->out) == Home::Local) {
        joined += sums_of + fmt::format("bt_take<{}, {}, {}>(local{}, top * {} / {}, shared + {});\n", p.rows(), tiles,
                                        of_.threads, a.product->out, a.split.own, of_.threads, partial_);
        continue;
      }
      const bool shared = home(a.product->out) == Home::Shared;
      const auto out    = shared ? fmt::format("shared + {}", local_.at(a.product->out))
                                 : fmt::format("{} + block * {}", base(a.product->out, 0), a.split.own);
      joined += sums_of + fmt::format("bt_put<{}, {}>({}, {}, top, {}, {}, shared + {});\n", p.rows(), tiles, out,
                                      shared ? a.split.own : a.split.columns, o_.rows,
                                      columns_left(a.split.own, a.split.columns), partial_);
    }
    const int64_t chunks = parts_in(m.k, warp_terms), each = parts_in(chunks, of_.warps() / p.groups);
    const int64_t ahead =
        std::clamp<int64_t>((p.sums() > of_.many_sums ? of_.fewer_pieces : of_.pieces) / (2 * p.tiles), 1, each);
    return filled(R"(
#pragma unroll
for (int top = 0; top < $rows; top += $height) {
$declared
  const int from = (int)(threadIdx.x / 32) / $groups * $each, to = from + $each < $chunks ? from + $each : $chunks;
  const int upper = top + (int)(threadIdx.x / 32) % $groups * $tiles * 16;
  float4 x[$ahead][2 * $tiles];
#pragma unroll
  for (int d = 0; d < $ahead; ++d)
    if (from + d < to) bt_rows<$tiles, $aligned, $whole>(x[d], $x, $ld, upper, $rows, (from + d) * 16, $k);
#pragma unroll 1
  for (int first = from; first < to; first += $ahead) {
#pragma unroll
    for (int d = 0; d < $ahead; ++d) {
      const int s = first + d;
      if (s >= to) break;
$multiplied      if (s + $ahead < to) bt_rows<$tiles, $aligned, $whole>(x[d], $x, $ld, upper, $rows, (s + $ahead) * 16, $k);
    }
  }
$joined}
)",
                  {{"rows", str(o_.rows)},
                   {"height", str(p.rows())},
                   {"groups", str(p.groups)},
                   {"declared", declared},
                   {"each", str(each)},
                   {"chunks", str(chunks)},
                   {"tiles", str(p.tiles)},
                   {"ahead", str(ahead)},
                   {"aligned", m.lhs_m % 4 == 0 && m.k % 4 == 0 && first.lhs.at % 4 == 0 ? "true" : "false"},
                   {"whole", o_.rows % p.rows() == 0 && m.k % warp_terms == 0 ? "true" : "false"},
                   {"x", base(first.lhs.buffer, first.lhs.at)},
                   {"ld", str(m.lhs_m)},
                   {"k", str(m.k)},
                   {"multiplied", multiplied},
                   {"joined", joined}});
  }

  // `own` is the position within the block, q within the thread, `at` within the value.
  std::string over_own(const Split& s, const std::string& body) const {
    return fmt::format(
        "_Pragma(\"unroll\") for (int q = 0; q < {0}; ++q) {{\nconst int own = (int)threadIdx.x + q * {1};\nconst int "
        "column = block * {2} + own % {2};\nif (own >= {3} || column >= {4}) continue;\nconst int at = "
        "own / {2} * {4} + column;\n{5}}}\n",
        turns(s, of_.threads), of_.threads, s.own, s.rows * s.own, s.columns, body);
  }
  // The element at the own position.
  std::string here(Var v) const {
    switch (home(v)) {
      case Home::Memory:
        return base(v, 0) + "[at]";
      case Home::Shared:
        return fmt::format("shared[{} + own]", local_.at(v));
      case Home::Local:
        return fmt::format("local{}[q]", v);
      case Home::Early:
      case Home::Carried:
        return fmt::format("now{}[q]", v);
      case Home::Next:
        return fmt::format("next{}[q]", v);
      case Home::Number:
        return fmt::format("now{}[0]", v);
    }
    return "";
  }
  std::string copy_text(const Act& a) const {
    return over_own(a.split, fmt::format("(({}*)out{})[at] = {};\n",
                                         storage_type(body_.buffers[static_cast<size_t>(a.from)].type.dtype), a.result,
                                         here(a.from)));
  }
  std::string text_of(const Act& a, const LoopNest& n) const {
    std::string  text;
    int64_t      inner = 1;
    const Affine own   = own_position(n);
    for (size_t i = n.loops.size(); i-- > 0; inner *= n.extent(i))
      text += fmt::format("const int i{0} = at / {1} % {2};\n(void)i{0};\n", n.loops[i], inner, n.extent(i));
    const ElementWords words = plain_words(n, [&](const Element& e, const std::string& where) {
      const bool is_here = e.kind == Element::Kind::Load && (e.at == own || home(e.buffer) == Home::Number);
      return is_here ? here(e.buffer) : fmt::format("bt_far({} + ({}))", base(e.buffer, 0), where);
    });
    text += all_elements(n, words);
    for (const Store& s : n.stores)
      text += fmt::format("{} = {};\n", here(s.buffer),
                          stored(n.elements[static_cast<size_t>(s.value)].dtype, words.value(s.value)));
    return over_own(a.split, text);
  }

  const Function&        f_;
  const Kernel&          k_;
  const TimeLoop&        l_;
  const Function&        body_;
  const Target::Blocks&  of_;
  Precision              precision_;
  Ownership              o_;
  std::vector<Phase>     phases_;  // per act: the phase that starts with it
  std::vector<Weights>   weights_;
  std::map<Var, int64_t> local_;  // offset in shared memory, in floats
  int64_t                floats_ = 0, partial_ = 0;
};

}  // namespace

std::optional<Persistent> persistent(const std::string& name, const Function& f, const Kernel& k, const Target& target,
                                     Precision precision) {
  const auto& loop  = std::get<TimeLoop>(k.what);
  const auto  teams = std::max<int64_t>(k.parts, 1);
  const auto  owned = ownership(loop, std::max<int64_t>(target.cores / teams, 1), target.blocks);
  // Positions are 32-bit.
  const auto& buffers = loop.body->buffers;
  const bool  is_huge =
      std::any_of(buffers.begin(), buffers.end(), [](const Buffer& b) { return b.type.size() > INT32_MAX; });
  if (!owned || teams > target.cores || is_huge) return {};
  const PersistentText text(f, k, target, precision, *owned);
  if (text.shared_bytes() > target.blocks.shared_bytes) return {};
  return Persistent{text.text(name),
                    {.name    = name,
                     .teams   = teams,
                     .blocks  = text.blocks(),
                     .threads = target.blocks.threads,
                     .shared  = text.shared_bytes(),
                     .meets   = text.meets(),
                     .fixed   = true}};
}

}  // namespace braintrace::codegen

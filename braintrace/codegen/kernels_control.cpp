// SPDX-License-Identifier: Apache-2.0
// scan, cond, while and remat: nodes that contain functions; what they carry is handed on by pointer.
#include <algorithm>
#include <map>
#include <utility>

#include "braintrace/codegen/kernels.h"
#include "braintrace/codegen/rows.h"
#include "braintrace/control/cond.h"
#include "braintrace/control/keys.h"
#include "braintrace/control/remat.h"
#include "braintrace/control/scan_parts.h"
#include "braintrace/control/while.h"
#include "braintrace/ops/keys.h"

namespace braintrace::codegen {

namespace {

// Working memory of a kernel, handed out from the front.
struct Memory {
  int64_t alignment, at = 0;
  int64_t take(int64_t bytes) { return std::exchange(at, at + (bytes + alignment - 1) / alignment * alignment); }
};

// Where the rows of the steps lie; what was put together for the loop alone lies in pieces.
TimeLoop::Stacked stacked_input(const Site& s, size_t arg, const Type& row) {
  const Var v = s.e.in[arg];
  if (s.memory[v] >= 0) return {arg, {{s.memory[v], 0, 0}}, row.bytes(), 0, true};
  TimeLoop::Stacked out{arg, {}, row.bytes(), 0, false};
  int64_t           step = 0;
  for (const Piece& piece : dense_pieces(s.p, s.producer, v)) {
    out.pieces.push_back({s.memory[piece.base], piece.at * static_cast<int64_t>(size_of(row.dtype)), step});
    step += piece.size / row.size();
  }
  return out;
}

// Buffers of the operands, each as often as it is read.
Vars memory_read(const Site& s) {
  Vars out;
  for (Var v : s.e.in)
    if (s.memory[v] >= 0)
      out.push_back(s.memory[v]);
    else
      for (const Piece& piece : dense_pieces(s.p, s.producer, v)) out.push_back(piece.base);
  return out;
}

// The body as a step: a carry that is also stacked is a result only once.
struct Step {
  Program             program;
  std::vector<size_t> slot;     // by result of the body: its number in the step
  std::vector<size_t> stacked;  // by carry: the stacked result that it is, or the number of results

  Step(const Program& body, size_t carries, const std::optional<Rows>& rows) : program(body) {
    const size_t n = body.results.size();
    stacked.assign(carries, n);
    program.results.clear();
    for (size_t r = 0; r < n; ++r) {
      for (size_t y = carries; r < carries && y < n; ++y)
        if (body.results[y] == body.results[r] && (!rows || rows->results[y])) stacked[r] = y;
      slot.push_back(program.results.size());
      if (r >= carries || stacked[r] == n) program.results.push_back(body.results[r]);
    }
  }
};

class ScanKernel {
 public:
  explicit ScanKernel(Site& s)
      : s_(s),
        scan_(s.e.attrs),
        rows_(rows()),
        body_(rows_ ? rows_->body : scan_.body),
        step_(body_, scan_.carry, rows_),
        memory_{s.target().alignment} {}

  Kernel kernel() {
    loop_.body    = s_.in_schedule.function(step_.program);
    loop_.length  = scan_.length;
    loop_.reverse = scan_.reverse;
    memory_.take(loop_.body->arena_bytes);
    for (size_t i = 0; i < scan_.consts; ++i) loop_.consts.push_back({i, s_.in(i), part_of_arg(i)});
    for (size_t c = 0; c < scan_.carry; ++c) add_carry(c);
    for (size_t i = scan_.consts + scan_.carry; i < s_.e.in.size(); ++i) {
      loop_.inputs.push_back(stacked_input(s_, i, scan_.body.type(scan_.body.args[i])));
      loop_.inputs.back().part = part_of_arg(i);
    }
    for (size_t y = scan_.carry; y < s_.e.out.size(); ++y) add_output(y);
    Kernel k{.what     = {},
             .scratch  = std::max<int64_t>(memory_.at, 1),
             .may_stop = loop_.body->may_stop,
             .in_place = in_place()};
    if (rows_) {
      loop_.part_bytes = memory_.at;
      k.parts          = rows_->parts;
      k.scratch        = memory_.at * k.parts;
      k.work           = rows_->work * scan_.length;
    }
    k.what = std::move(loop_);
    return k;
  }

 private:
  std::optional<Rows> rows() const {
    const Options& o = s_.in_schedule.options;
    if (!o.target.threads || !o.runs("split")) return {};
    return observed(
        "split", o, [&] { return in_rows(scan_, o.target); }, &scan_.body,
        [](const std::optional<Rows>& r) { return r ? &r->body : nullptr; });
  }
  bool    has_rows(size_t arg) const { return rows_ && rows_->args[arg]; }
  bool    makes_rows(size_t result) const { return rows_ && rows_->results[result]; }
  int64_t part_of_arg(size_t i) const { return has_rows(i) ? body_.type(body_.args[i]).bytes() : 0; }

  void add_carry(size_t c) {
    const size_t    i          = scan_.consts + c;
    const int64_t   bytes      = body_.type(body_.args[i]).bytes();
    const bool      is_stacked = step_.stacked[c] < body_.results.size();
    TimeLoop::Carry carry{
        i, step_.slot[is_stacked ? step_.stacked[c] : c], s_.in(i), s_.out(c), bytes, part_of_arg(i), is_stacked, 0,
        {}};
    if (!is_stacked) {
      carry.other = memory_.take(bytes);
      if (rows_ && !has_rows(i)) carry.own = memory_.take(bytes);
    }
    loop_.carries.push_back(carry);
  }
  void add_output(size_t y) {
    const int64_t    bytes = body_.type(body_.results[y]).bytes();
    TimeLoop::Stacks out{
        step_.slot[y], s_.out(y), scan_.body.type(scan_.body.results[y]).bytes(), makes_rows(y) ? bytes : 0, {}};
    if (rows_ && !makes_rows(y)) out.spare = memory_.take(bytes);
    loop_.outputs.push_back(out);
  }
  // A stacked result may lie where an input does whose rows the step reads at the same positions and nobody else does.
  std::vector<std::pair<Var, Var>> in_place() const {
    std::vector<std::pair<Var, Var>>      out;
    std::map<Var, int>                    readers;
    std::map<size_t, std::vector<size_t>> stacks;  // outputs by the result of the body that they stack
    for (Var v : memory_read(s_)) ++readers[v];
    for (size_t y = scan_.carry; y < s_.e.out.size(); ++y) stacks[step_.slot[y]].push_back(y);
    for (size_t arg = scan_.consts + scan_.carry; arg < loop_.body->in_place.args.size(); ++arg) {
      const Var x = s_.memory[s_.e.in[arg]];
      if (has_rows(arg) != rows_.has_value() || readers[x] != 1) continue;
      for (const auto& [result, stacked] : stacks)
        for (size_t y : stacked)
          if (has_rows(arg) == makes_rows(y) && loop_.body->may_share(result, arg)) out.emplace_back(s_.e.out[y], x);
    }
    std::sort(out.begin(), out.end());
    return out;
  }

  Site&                     s_;
  const ScanParts           scan_;
  const std::optional<Rows> rows_;
  const Program&            body_;
  const Step                step_;
  Memory                    memory_;
  TimeLoop                  loop_;
};

Kernel scan(Site& s) { return ScanKernel(s).kernel(); }

Kernel cond(Site& s) {
  Branch b{s.in(0), {}, s.ins(1), s.outs()};
  Kernel k{.what = {}, .scratch = 1};
  for (const ProgramPtr& p : s.e.attrs[keys::branches]) {
    b.branches.push_back(s.in_schedule.function(*p));
    k.scratch  = std::max(k.scratch, b.branches.back()->arena_bytes);
    k.may_stop = k.may_stop || b.branches.back()->may_stop;
  }
  k.what = std::move(b);
  return k;
}

Kernel while_loop(Site& s) {
  const Attrs& a = s.e.attrs;
  WhileLoop    w{s.in_schedule.function(*a[keys::cond]),
              s.in_schedule.function(*a[keys::body]),
              a[keys::consts],
              a[keys::max_steps],
              0,
              s.ins(),
              {}};
  Memory       memory{s.target().alignment};
  memory.take(std::max(w.cond->arena_bytes, w.body->arena_bytes));
  w.go = memory.take(1);
  for (size_t c = 0; c < s.e.out.size(); ++c) {
    const int64_t bytes = s.out_type(c).bytes();
    w.carries.push_back({s.out(c), bytes, memory.take(bytes)});
  }
  const bool may_stop = w.cond->may_stop || w.body->may_stop;
  return {.what = std::move(w), .scratch = std::max<int64_t>(memory.at, 1), .may_stop = may_stop};
}

Kernel remat(Site& s) {
  const FunctionPtr body = s.in_schedule.function(*s.e.attrs[keys::body]);
  return {.what     = Call{body, s.ins(), s.outs()},
          .scratch  = std::max<int64_t>(body->arena_bytes, 1),
          .may_stop = body->may_stop};
}

}  // namespace

Rules control_rules() {
  return {{&cond_op, cond, true}, {&remat_op, remat, true}, {&scan_op, scan, true}, {&while_op, while_loop, true}};
}

}  // namespace braintrace::codegen

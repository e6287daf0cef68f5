// SPDX-License-Identifier: Apache-2.0
#include "braintrace/codegen/rows.h"

#include "braintrace/codegen/elementwise.h"
#include "braintrace/codegen/fuse.h"
#include "braintrace/codegen/lower.h"
#include "braintrace/codegen/patches.h"
#include "braintrace/codegen/view.h"
#include "braintrace/ops/axes.h"
#include "braintrace/ops/constant.h"
#include "braintrace/ops/contract.h"
#include "braintrace/ops/families.h"
#include "braintrace/ops/keys.h"
#include "braintrace/ops/move.h"
#include "braintrace/transforms/simplify.h"

namespace braintrace::codegen {

namespace {

using keys::lhs_batch;
using keys::lhs_contract;
using keys::rhs_batch;

// Same: every part needs the whole value. Own: a part needs its rows. Either: all rows are equal.
enum class Need : uint8_t { Same, Own, Either };

class Splitter {
 public:
  Splitter(const ScanParts& scan, int64_t batch, const Target& target)
      : scan_(scan), p_(scan.body), batch_(batch), target_(target) {}

  // Returns whether rows are independent; determines which operands have rows.
  bool run() {
    args_.assign(p_.args.size(), false);
    for (size_t i = scan_.consts; i < args_.size(); ++i) args_[i] = has_batch(p_.args[i]);
    do {
      again_ = failed_ = false;
      needs_.assign(p_.types.size(), Need::Same);
      for (size_t i = 0; i < args_.size(); ++i)
        if (args_[i]) needs_[p_.args[i]] = Need::Own;
      for (const Eqn& e : p_.eqns)
        if (!place(e) && !again_) return false;
      for (size_t k = 0; k < scan_.carry; ++k)
        failed_ = failed_ || args_[scan_.consts + k] != (needs_[p_.results[k]] != Need::Same);
    } while (again_);
    return !failed_;
  }

  Rows result(int64_t rows) const {
    Rows out;
    out.args  = args_;
    out.parts = batch_ / rows;
    for (Var v : p_.results) out.results.push_back(needs_[v] != Need::Same);
    Program& q = out.body;
    q          = p_;
    q.eqns.clear();
    // A value with equal rows exists in both sizes; dead-code elimination removes the unused one.
    Vars whole;
    for (Var v = 0; v < static_cast<Var>(needs_.size()); ++v)
      whole.push_back(needs_[v] == Need::Either ? q.add_value(p_.type(v)) : v);
    for (const Eqn& e : p_.eqns) {
      const Need need = needs_[e.out[0]];
      if (need != Need::Own) q.eqns.push_back({e.op, gather(whole, e.in), gather(whole, e.out), e.attrs, e.note});
      if (need != Need::Same) {
        Eqn own = e;
        resize(own, rows);
        q.eqns.push_back(std::move(own));
      }
    }
    for (size_t v = 0; v < needs_.size(); ++v)
      if (needs_[v] != Need::Same) q.types[v].shape[0] = rows;
    q = dce(q);
    for (const Eqn& e : p_.eqns) out.work += work_of(e);
    return out;
  }

  int64_t weights() const {
    int64_t n = 0;
    for (const Eqn& e : p_.eqns)
      if (e.op == &dot_general_op && needs_[e.in[1]] == Need::Same) n += p_.type(e.in[1]).size();
    return n;
  }

 private:
  bool has_batch(Var v) const {
    const Shape& s = p_.type(v).shape;
    return !s.empty() && s[0] == batch_;
  }
  int64_t work_of(const Eqn& e) const {
    const int64_t n = p_.type(e.out[0]).size();
    if (e.op != &dot_general_op) return n;
    return n * size_along(p_.type(e.in[0]).shape, e.attrs[lhs_contract]) / target_.multiplications;
  }
  // An operand that is the same for all parts but is read row by row: an argument is then split into rows.
  bool ask_rows(Var v) {
    if (!contains(p_.args, v) || !has_batch(v)) return false;
    args_[index_of(p_.args, v)] = true;
    again_                      = true;
    return false;
  }

  // Determines what the result of an equation needs; false if rows depend on each other.
  bool place(const Eqn& e) {
    const auto some = [&](Need n) {
      return std::any_of(e.in.begin(), e.in.end(), [&](Var v) { return needs_[v] == n; });
    };
    const bool   own = some(Need::Own), either = some(Need::Either);
    const Attrs& a      = e.attrs;
    const Var    y      = e.out[0];
    const bool   leads  = has_batch(y);
    Need&        result = needs_[y];
    if (e.op == &full_op) {
      if (leads) result = Need::Either;
      return true;
    }
    if (e.op == &broadcast_op && !own) {
      const bool first = !a[keys::dims].empty() && a[keys::dims][0] == 0;
      if (leads && (!first || needs_[e.in[0]] == Need::Either)) result = Need::Either;
      return true;
    }
    if (!own && !either) return is_cheap(e);
    if (!leads) return !own && is_cheap(e);
    if (e.op == &concat_op && a[keys::axis] == 0) return !own;
    bool apart = has_expression(*e.op) || e.op == &concat_op || (is_reduction(e) && !contains(a[keys::axes], 0));
    for (Var v : e.in)
      if (apart && needs_[v] == Need::Same) return own ? ask_rows(v) : true;
    if (e.op == &broadcast_op) apart = a[keys::dims][0] == 0;
    if (e.op == &reshape_op) apart = has_batch(e.in[0]);
    if (e.op == &transpose_op) apart = a[keys::perm][0] == 0;
    if (e.op == &slice_op) apart = a[keys::start][0] == 0 && a[keys::limit][0] == batch_ && a[keys::stride][0] == 1;
    if (e.op == &patches_op) apart = a[keys::window].size() + 1 < p_.type(e.in[0]).shape.size();
    if (e.op == &pad_op)
      apart = a[keys::lo][0] + a[keys::hi][0] + a[keys::interior][0] == 0 && needs_[e.in[1]] == Need::Same;
    if (e.op == &dot_general_op) {
      const bool left = needs_[e.in[0]] != Need::Same, right = needs_[e.in[1]] != Need::Same;
      const bool free = a[lhs_batch].empty() && !contains(a[lhs_contract], 0);
      const bool both = left && right && !a[lhs_batch].empty() && a[lhs_batch][0] == 0 && a[rhs_batch][0] == 0;
      apart           = both || (left && !right && free);
    }
    if (!apart) return !own && is_cheap(e);
    result = own ? Need::Own : Need::Either;
    return true;
  }
  // Cheap enough for every part to recompute.
  static bool is_cheap(const Eqn& e) {
    return has_expression(*e.op) || is_view(*e.op) || is_reduction(e) || e.op == &iota_op || e.op == &constant_op;
  }

  static void resize(Eqn& e, int64_t rows) {
    const bool sized = e.op == &full_op || e.op == &broadcast_op || e.op == &reshape_op;
    if (!sized && e.op != &slice_op) return;
    const Key<Ints> key = sized ? keys::shape : keys::limit;
    Ints            now = e.attrs[key];
    now[0]              = rows;
    e.attrs             = e.attrs.with(key, now);
  }

  const ScanParts&  scan_;
  const Program&    p_;
  int64_t           batch_;
  const Target&     target_;
  Mask              args_;
  std::vector<Need> needs_;
  bool              again_ = false, failed_ = false;
};

// The cost of a matrix product with so many rows: a tile that is not full takes more time per row.
int64_t cost_of(int64_t rows, const Target& t) {
  const int64_t rest = rows % t.tile_rows;
  return rows - rest + (rest ? std::max(rest, t.batch_tile) + 1 : 0);
}
// Its cost if cores compute equal parts in rounds.
int64_t cost_in_parts(int64_t batch, int64_t rows, const Target& t) {
  return parts_in(batch / rows, t.cores) * cost_of(rows, t);
}
// The rows, at most `most`, into which the batch is best divided; 0 if there are no such parts.
int64_t part_of(int64_t batch, int64_t most, const Target& t) {
  int64_t best = 0;
  for (int64_t rows = std::min(most, batch - 1); rows >= t.batch_tile; --rows)
    if (batch % rows == 0 && (best == 0 || cost_in_parts(batch, rows, t) < cost_in_parts(batch, best, t))) best = rows;
  return best;
}

// The fewest rows for which the weights fit in the cores of a part, which keep them resident and read the part's rows
// in every step; 0 if the batch should not be split.
int64_t resident_part(int64_t batch, int64_t weights, const Target& t) {
  constexpr int64_t bytes = 4;
  if (weights == 0) return 0;
  for (int64_t rows = t.batch_tile; rows < batch; rows += t.batch_tile) {
    const int64_t cores = t.cores * rows / batch;  // per part
    if (batch % rows == 0 && cores > 0 && weights * bytes <= cores * t.resident_bytes) return rows;
  }
  return 0;
}

}  // namespace

std::optional<Rows> in_rows(const ScanParts& scan, const Target& t) {
  if (scan.length < 2) return {};
  // Batch size of the carries, or of the inputs if there are none.
  int64_t      batch = 0;
  const size_t last  = scan.carry ? scan.consts + scan.carry : scan.body.args.size();
  for (size_t i = scan.consts; i < last; ++i)
    if (const Shape& s = scan.body.type(scan.body.args[i]).shape; !s.empty() && batch == 0) batch = s[0];
  if (part_of(batch, t.batch_part, t) == 0) return {};
  Splitter splitter(scan, batch, t);
  if (!splitter.run()) return {};
  if (t.resident_bytes) {
    const int64_t rows = resident_part(batch, splitter.weights(), t);
    return rows ? std::optional(splitter.result(rows)) : std::nullopt;
  }
  if (t.splits_columns(splitter.weights())) return {};
  const int64_t rows = part_of(batch, splitter.weights() <= t.cache_elements ? t.batch_part : t.large_part, t);
  // Without parts, cores share every kernel of a step evenly, but synchronize: that costs more if a step is short.
  const double together = static_cast<double>(cost_of(parts_in(batch, t.cores), t));
  const double worth    = splitter.weights() < t.short_step ? 2 : 1.2;
  if (static_cast<double>(cost_in_parts(batch, rows, t)) > worth * together) return {};
  return splitter.result(rows);
}

}  // namespace braintrace::codegen

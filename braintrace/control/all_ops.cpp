// SPDX-License-Identifier: Apache-2.0
// The list of all operations: one line per family.
#include <algorithm>
#include <mutex>
#include <unordered_map>

#include "braintrace/base/process_mutex.h"
#include "braintrace/control/call.h"
#include "braintrace/control/cond.h"
#include "braintrace/control/custom.h"
#include "braintrace/control/remat.h"
#include "braintrace/control/scan.h"
#include "braintrace/control/while.h"
#include "braintrace/etp/rules.h"
#include "braintrace/ops/activation.h"
#include "braintrace/ops/along.h"
#include "braintrace/ops/check_finite.h"
#include "braintrace/ops/compare.h"
#include "braintrace/ops/constant.h"
#include "braintrace/ops/contract.h"
#include "braintrace/ops/conv.h"
#include "braintrace/ops/copy.h"
#include "braintrace/ops/cumulative.h"
#include "braintrace/ops/host_call.h"
#include "braintrace/ops/index.h"
#include "braintrace/ops/math.h"
#include "braintrace/ops/move.h"
#include "braintrace/ops/pool.h"
#include "braintrace/ops/random.h"
#include "braintrace/ops/reduce.h"
#include "braintrace/ops/softmax.h"
#include "braintrace/ops/sort.h"
#include "braintrace/ops/sparse.h"
#include "braintrace/ops/spike.h"

namespace braintrace {

namespace {

struct Registry {
  ProcessMutex                                    lock;
  std::vector<const Op*>                          ops;
  std::unordered_map<std::string_view, const Op*> by_name;

  Registry() {
    for (const auto* family : {&math_ops(), &elementary_ops(), &special_ops(), &activation_ops(), &compare_ops(),
                               &move_ops(), &reduce_ops(),     &softmax_ops(), &cumulative_ops(), &along_ops(),
                               &sort_ops(), &contract_ops(),   &conv_ops(),    &copy_ops(),       &index_ops(),
                               &pool_ops(), &random_ops(),     &sparse_ops(),  &spike_ops(),      &etp_ops()})
      for (const Op* op : *family) add(*op);
    for (const auto* family : {&constant_ops(), &call_ops(), &cond_ops(), &scan_ops(), &while_ops(), &custom_ops(),
                               &remat_ops(), &check_ops(), &host_ops()})
      for (const Op* op : *family) add(*op);
  }
  void add(const Op& op) {
    ensure(by_name.try_emplace(op.name, &op).second, "op '{}' is registered twice", op.name);
    ops.push_back(&op);
  }
};

Registry& registry() {
  static Registry r;
  return r;
}

}  // namespace

const std::vector<const Op*>& all_ops() { return registry().ops; }

const Op* find_op(std::string_view name) {
  const std::lock_guard guard(registry().lock);
  const auto            it = registry().by_name.find(name);
  return it == registry().by_name.end() ? nullptr : it->second;
}

void register_op(const Op& op) {
  require(!op.name.empty() && op.infer && (op.eval || op.expand),
          "register_op: '{}' needs a name, infer, and eval or expand.", op.name);
  require(!find_op(op.name), "register_op: an operation named '{}' exists already; choose another name.", op.name);
  const std::lock_guard guard(registry().lock);
  registry().add(op);
}

void replace_op(const Op& before, const Op& op) {
  Registry&             r = registry();
  const std::lock_guard guard(r.lock);
  ensure(op.name == before.name && r.by_name.erase(before.name) == 1, "replace_op: '{}' by '{}'", before.name, op.name);
  r.by_name.emplace(op.name, &op);
  std::replace(r.ops.begin(), r.ops.end(), &before, &op);
}

}  // namespace braintrace

// SPDX-License-Identifier: Apache-2.0
#include "braintrace/codegen/cost.h"

#include "braintrace/base/lists.h"

namespace braintrace::codegen {

namespace {

double product_of(const Shape& sizes) { return static_cast<double>(size_of(sizes)); }

// Counts each operation once per iteration of its loops.
void count(const LoopNest& n, Work& work) {
  std::vector<double> turns = {1};  // iterations inside the first i loops
  for (size_t i = 0; i < n.loops.size(); ++i) turns.push_back(turns.back() * static_cast<double>(n.extent(i)));
  const std::vector<size_t> levels = n.levels();
  for (size_t i = 0; i < n.elements.size(); ++i)
    if (const Op* op = n.elements[i].op)
      (op->code.cost == ElementCost::Simple ? work.elements : work.series) += turns[levels[i]];
  work.elements += static_cast<double>(n.reductions.size()) * turns.back();
}

// How often a kernel runs each function it contains.
double runs(const Kernel& k) {
  if (const auto* l = std::get_if<TimeLoop>(&k.what)) return static_cast<double>(l->length * k.parts);
  const auto* b = std::get_if<Branch>(&k.what);
  return b ? 1.0 / static_cast<double>(b->branches.size()) : 1;
}

Work work_of(const Function& function, const Target& target);

Work work_of(const Function& f, const Kernel& k, const Target& target) {
  Work       work{.kernels = 1};
  const auto inside = contained(k);
  for (const auto& [role, function] : inside) work.add(work_of(*function, target), runs(k));
  if (!inside.empty()) return work;
  double bytes = 0, written = 0;
  for (Var v : joined(k.reads, k.writes)) bytes += static_cast<double>(f.buffers[static_cast<size_t>(v)].type.bytes());
  for (Var v : k.writes) written += static_cast<double>(f.buffers[static_cast<size_t>(v)].type.size());
  (bytes > 4.0 * static_cast<double>(target.cache_elements) ? work.far_bytes : work.near_bytes) += bytes;
  if (const auto* n = std::get_if<LoopNest>(&k.what))
    count(*n, work);
  else if (const auto* p = std::get_if<Product>(&k.what))
    work.products += product_of(p->batch) * product_of(p->rows) * product_of(p->columns) * product_of(p->inner);
  else if (const auto* c = std::get_if<Convolution>(&k.what))
    work.products += static_cast<double>(c->batch * c->groups * c->out * c->in) * product_of(joined(c->to, c->kernel));
  else
    work.elements += written;  // all other kernels move and add elements
  return work;
}

Work work_of(const Function& function, const Target& target) {
  Work work;
  for (const Kernel& k : function.kernels) work.add(work_of(function, k, target));
  return work;
}

}  // namespace

Work work_of(const Schedule& schedule, const Target& target) {
  Work work;
  for (const FunctionPtr& f : schedule.entries) work.add(work_of(*f, target));
  return work;
}

}  // namespace braintrace::codegen

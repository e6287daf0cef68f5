// SPDX-License-Identifier: Apache-2.0
#include "braintrace/codegen/cost.h"

namespace braintrace::codegen {

namespace {

void add(Work& to, const Work& w, double times) {
  to.products += times * w.products;
  to.elements += times * w.elements;
  to.series += times * w.series;
  to.far_bytes += times * w.far_bytes;
  to.near_bytes += times * w.near_bytes;
  to.kernels += times * w.kernels;
}

double product_of(const Shape& sizes) { return static_cast<double>(size_of(sizes)); }

class Costs {
 public:
  Costs(const Function& f, const Kernel& k, const Target& t) : f_(f), k_(k), target_(t) { work_.kernels = 1; }

  Work run() {
    std::visit([&](const auto& what) { count(what); }, k_.what);
    if (contained(k_).empty()) {
      double bytes = 0;
      for (const Vars* vars : {&k_.reads, &k_.writes})
        for (Var v : *vars) bytes += static_cast<double>(f_.buffers[static_cast<size_t>(v)].type.bytes());
      (bytes > 4.0 * static_cast<double>(target_.cache_elements) ? work_.far_bytes : work_.near_bytes) += bytes;
    }
    return work_;
  }

 private:
  // Operations count as often as their loops turn.
  void count(const LoopNest& n) {
    std::vector<double> turns = {1};  // inside so many loops
    for (size_t i = 0; i < n.loops.size(); ++i) turns.push_back(turns.back() * static_cast<double>(n.extent(i)));
    const std::vector<size_t> levels = n.levels();
    for (size_t i = 0; i < n.elements.size(); ++i)
      if (const Op* op = n.elements[i].op)
        (op->code.cost == ElementCost::Simple ? work_.elements : work_.series) += turns[levels[i]];
    work_.elements += static_cast<double>(n.reductions.size()) * turns.back();
  }
  void count(const Product& p) {
    work_.products += product_of(p.batch) * product_of(p.rows) * product_of(p.columns) * product_of(p.inner);
  }
  void count(const Convolution& c) {
    work_.products += static_cast<double>(c.batch * c.groups * c.out * c.in) * product_of(c.to) * product_of(c.kernel);
  }
  void count(const TimeLoop& l) {
    add(work_, work_of(*l.body, target_), static_cast<double>(l.length) * static_cast<double>(k_.parts));
  }
  void count(const Branch& b) {
    for (const FunctionPtr& f : b.branches)
      add(work_, work_of(*f, target_), 1.0 / static_cast<double>(b.branches.size()));
  }
  void count(const WhileLoop& l) {
    add(work_, work_of(*l.cond, target_), 1);
    add(work_, work_of(*l.body, target_), 1);
  }
  void count(const Call& c) { add(work_, work_of(*c.body, target_), 1); }
  // All others move and add elements.
  template <class T>
  void count(const T&) {
    for (Var v : k_.writes) work_.elements += static_cast<double>(f_.buffers[static_cast<size_t>(v)].type.size());
  }

  const Function& f_;
  const Kernel&   k_;
  const Target&   target_;
  Work            work_;
};

}  // namespace

Work work_of(const Function& function, const Target& target) {
  Work w;
  for (const Kernel& k : function.kernels) add(w, Costs(function, k, target).run(), 1);
  return w;
}

Work work_of(const Schedule& schedule, const Target& target) {
  Work w;
  for (const FunctionPtr& f : schedule.entries) add(w, work_of(*f, target), 1);
  return w;
}

}  // namespace braintrace::codegen

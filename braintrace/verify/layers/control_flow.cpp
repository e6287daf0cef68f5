// SPDX-License-Identifier: Apache-2.0
// Cells with choices and loops inside one step.
#include "braintrace/control/cond.h"
#include "braintrace/control/scan.h"
#include "braintrace/control/while.h"
#include "braintrace/etp/dense.h"
#include "braintrace/ops/compare.h"
#include "braintrace/ops/math.h"
#include "braintrace/ops/move.h"
#include "braintrace/ops/reduce.h"
#include "braintrace/verify/layers/layers.h"

namespace braintrace::golden {

namespace {

constexpr int loop_steps = 3;

// f applied `loop_steps` times in a while loop.
Tensor looped(const Tensor& start, const std::function<Tensor(const Tensor&)>& f) {
  const Tensor zero(Type{DType::I32, {}}, 0);
  return while_loop([](const Tensors& c) { return less(c[0], loop_steps); },
                    [&](const Tensors& c) {
                      return Tensors{c[0] + 1, f(c[1])};
                    },
                    {zero, start}, {.max_steps = loop_steps})[1];
}

ModulePtr cond_rnn(const Fields& f) {
  const int64_t n = f.integer("n_rec"), rows = f.integer("n_in") + n;
  auto          m  = make_cell();
  const auto    w1 = m->param("w1", {rows, n}), w2 = m->param("w2", {rows, n});
  const auto    h = m->hidden("h", {n});
  m->step         = [=](const Tensor& x) {
    const Tensor old = h.value(), xh = joined(x, old), a = w1.value(), b = w2.value();
    const auto   times = [&](const Tensor& w) { return [&xh, w](const Tensors&) { return Tensors{matmul(xh, w)}; }; };
    const Tensor y     = cond(greater(sum(x), 0), times(a), times(b))[0];
    h.set(0.5 * old + tanh(y));
    return h.value();
  };
  return m;
}

ModulePtr scan_rnn(const Fields& f) {
  const int64_t n = f.integer("n_rec"), steps = f.integer("substeps");
  auto          m = make_cell();
  const auto    w = m->param("w", {f.integer("n_in") + n, n});
  const auto    h = m->hidden("h", {n});
  m->step         = [=](const Tensor& x) {
    const Tensor W    = w.value();
    const auto   body = [&](const Tensors& carry, const Tensors&) -> ScanResult {
      return {{0.7 * carry[0] + 0.3 * tanh(matmul(joined(x, carry[0]), W))}, {}};
    };
    h.set(scan(body, {h.value()}, {}, {.length = steps}).carry[0]);
    return h.value();
  };
  return m;
}

ModulePtr while_settle(const Fields& f) {
  const int64_t n   = f.integer("n_rec");
  auto          m   = make_cell();
  auto          inp = m->linear("inp", f.integer("n_in"), n);
  const auto    h   = m->hidden("h", {n});
  m->step           = [=](const Tensor& x) mutable {
    const Tensor drive = tanh(inp(x));
    h.set(looped(h.value(), [&](const Tensor& v) { return 0.7 * v + 0.3 * drive; }));
    return h.value();
  };
  return m;
}

ModulePtr while_decay(const Fields& f) {
  const int64_t n   = f.integer("n_rec");
  auto          m   = make_cell();
  auto          inp = m->linear("inp", f.integer("n_in"), n);
  const auto    h   = m->hidden("h", {n});
  m->step           = [=](const Tensor& x) mutable {
    const Tensor kept = looped(h.value(), [](const Tensor& v) { return 0.8 * v; });
    h.set(kept + tanh(inp(x)));
    return h.value();
  };
  return m;
}

}  // namespace

std::vector<LayerType> control_flow_layers() {
  return {
      {"cond_rnn", "h ← 0.5 h + tanh([x;h] (w1 if sum(x) > 0 else w2))", "n_in n_rec", cond_rnn},
      {"scan_rnn", "substeps times: h ← 0.7 h + 0.3 tanh([x;h] w)", "n_in n_rec substeps", scan_rnn},
      {"while_settle", "three times in a while loop: h ← 0.7 h + 0.3 tanh(inp(x))", "n_in n_rec", while_settle},
      {"while_decay", "h ← 0.8³ h (while loop) + tanh(inp(x))", "n_in n_rec", while_decay},
  };
}

}  // namespace braintrace::golden

// SPDX-License-Identifier: Apache-2.0
// Cells around one trainable operation each: every operation, with and without plain operations before its weight.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "braintrace/base/nearest.h"
#include "braintrace/etp/dense.h"
#include "braintrace/etp/einsum.h"
#include "braintrace/etp/embedding.h"
#include "braintrace/etp/grouped.h"
#include "braintrace/etp/lora.h"
#include "braintrace/etp/sparse.h"
#include "braintrace/nn/activation.h"
#include "braintrace/ops/math.h"
#include "braintrace/ops/move.h"
#include "braintrace/verify/layers/layers.h"
#include "braintrace/zoo/parts.h"

namespace braintrace::golden {

namespace {

using Step = std::function<Tensor(const Tensor&)>;

Tensor last_axes_flat(const Tensor& y, int64_t k) {
  Shape shape(y.shape().begin(), y.shape().end() - k);
  shape.push_back(-1);
  return reshape(y, shape);
}

// The bias parameter "b", when the description gives its shape.
std::function<Tensor()> bias_of(const Fields& op, Cell& m) {
  if (!op.has("bias_shape")) return [] { return Tensor(); };
  const auto b = m.param("b", op.integers("bias_shape"), 0);
  return [b] { return b.value(); };
}

// The weight of a dense product after the plain operations of `chain`.
std::function<Tensor()> chained_weight(const Fields& op, Cell& m, const Shape& shape) {
  if (!op.has("chain")) {
    const auto w = m.param("w", shape);
    return [w] { return w.value(); };
  }
  const std::string kind = op.kind_of("chain", "kind");
  const Fields      c    = op.nested("chain", "chain", "kind mask? factor=2.0");
  if (kind == "sum") {
    const auto w1 = m.param("w1", shape), w2 = m.param("w2", shape);
    return [w1, w2] {
      const Tensor a = w1.value(), b = w2.value();
      return a + b;
    };
  }
  const auto   w      = m.param("w", shape);
  const double factor = c.number("factor");
  if (kind == "square") return [w] { return square(w.value()); };
  if (kind == "scale") return [w, factor] { return factor * w.value(); };
  if (kind == "gain") {
    const auto g = m.param("g", {shape[1]}, 1);
    return [w, g] {
      const Tensor a = w.value(), b = g.value();
      return a * b;
    };
  }
  if (kind != "mask" && kind != "masked_square_scale")
    c.refuse("kind", fmt::format("'{}' is unknown. Known: mask, sum, square, scale, gain, masked_square_scale.", kind));
  const Tensor mask = c.array("mask");
  if (mask.shape() != shape) c.refuse("mask", fmt::format("expected shape {}.", to_string(shape)));
  if (kind == "mask")
    return [w, mask] {
      const Tensor W = w.value();
      return nn::constant_like(mask, W) * W;
    };
  return [w, mask, factor] {
    const Tensor W = w.value();
    return factor * nn::constant_like(mask, W) * square(W);
  };
}

// One function for each kind of operation: its parameters, and how it is applied.
Step dense_op(const Fields& op, Cell& m) {
  const auto w = chained_weight(op, m, {op.integer("n_in"), op.integer("n_out")});
  const auto b = bias_of(op, m);
  return [=](const Tensor& v) {
    const Tensor W = w();
    return matmul(v, W, b());
  };
}

Step lora_op(const Fields& op, Cell& m) {
  const int64_t rank  = op.integer("rank");
  const double  alpha = op.number("alpha");
  const auto    B = m.param("B", {op.integer("n_in"), rank}), A = m.param("A", {rank, op.integer("n_out")});
  const auto    b = bias_of(op, m);
  return [=](const Tensor& v) {
    const Tensor in = B.value(), out = A.value();
    return lora_matmul(v, in, out, b(), {.alpha = alpha});
  };
}

Step sparse_op(const Fields& op, Cell& m) {
  const SparsePattern pattern = pattern_of(op, "csr");
  const auto          w       = m.param("w", pattern.rows.shape());
  const auto          b       = bias_of(op, m);
  return [=](const Tensor& v) {
    const Tensor values = w.value();
    return sparse_matmul(v, values, pattern, b());
  };
}

Step embedding_op(const Fields& op, Cell& m) {
  const auto w = m.param("w", {op.integer("vocab"), op.integer("n_out")});
  return [=](const Tensor& v) { return embedding(v, w.value()); };
}

Step einsum_op(const Fields& op, Cell& m) {
  const auto        w        = m.param("w", op.integers("w_shape"));
  const std::string equation = op.text("equation");
  return [=](const Tensor& v) { return einsum(equation, v, w.value()); };
}

Step grouped_op(const Fields& op, Cell& m) {
  const auto w = m.param("w", {op.integer("groups"), op.integer("k_in"), op.integer("k_out")});
  const auto b = bias_of(op, m);
  return [=](const Tensor& v) {
    const Tensor W = w.value();
    return grouped_matmul(v, W, b());
  };
}

Step conv_op(const Fields& op, Cell& m) {
  const auto conv = nested_conv(op, "conv");
  m.part("conv", ModulePtr(conv));
  return [conv](const Tensor& v) { return (*conv)(v); };
}

struct OperationKind {
  std::string name, fields;
  Step (*make)(const Fields& op, Cell& m);
};
const OperationKind operation_kinds[] = {
    {"dense", "kind n_in n_out bias_shape? chain? flatten?", dense_op},
    {"lora", "kind n_in n_out rank alpha=1.0 bias_shape? flatten?", lora_op},
    {"sparse", "kind csr bias_shape? flatten?", sparse_op},
    {"embedding", "kind vocab n_out flatten?", embedding_op},
    {"einsum", "kind equation w_shape flatten?", einsum_op},
    {"grouped", "kind groups k_in k_out bias_shape? flatten?", grouped_op},
    {"conv", "kind conv flatten?", conv_op},
};

Step operation(const Fields& f, Cell& m) {
  const std::string        kind = f.kind_of("op", "kind");
  std::vector<std::string> known;
  for (const OperationKind& k : operation_kinds) {
    if (k.name == kind) return k.make(f.nested("op", kind, k.fields), m);
    known.push_back(k.name);
  }
  f.refuse("op.kind", fmt::format("'{}' is unknown{}\n  Known: {}.", kind, hint(kind, known), fmt::join(known, ", ")));
}

int64_t flatten_of(const Fields& f) {
  const Fields op = f.nested("op", "op",
                             "kind n_in? n_out? rank? alpha? csr? vocab? equation? w_shape? groups? k_in? "
                             "k_out? conv? bias_shape? chain? flatten?");
  return op.has("flatten") ? op.integer("flatten") : 0;
}

ModulePtr leaky_op_rnn(const Fields& f) {
  const Tensor         leak    = number_or_list(f, "leak");
  const bool           with_h  = f.choice("input", {"x", "xh"}) == "xh";
  const nn::Activation phi     = activation_of(f);
  auto                 m       = make_cell();
  const Step           op      = operation(f, *m);
  const int64_t        flatten = flatten_of(f);
  const auto           h       = m->hidden("h", f.integers("h_shape"));
  m->step                      = [=](const Tensor& x) {
    const Tensor old = h.value();
    Tensor       y   = op(with_h ? joined(x, old) : x);
    if (flatten) y = last_axes_flat(y, flatten);
    h.set((leak.is_literal() ? leak : nn::constant_like(leak, old)) * old + phi(y));
    return h.value();
  };
  return m;
}

ModulePtr einsum_rnn(const Fields& f) {
  const std::string equation = f.text("equation");
  const bool        with_h   = f.flag("concat_hidden");
  auto              m        = make_cell();
  const auto        w        = m->param("w", f.integers("w_shape"));
  const auto        h        = m->hidden("h", f.integers("h_shape"));
  m->step                    = [=](const Tensor& x) {
    if (with_h) {
      const Tensor v = joined(x, h.value());
      h.set(tanh(einsum(equation, v, w.value())));
    } else {
      const Tensor y = einsum(equation, x, w.value());
      h.set(tanh(0.5 * h.value() + y));
    }
    return h.value();
  };
  return m;
}

}  // namespace

std::vector<LayerType> operation_layers() {
  return {
      {"leaky_op_rnn", "h ← leak h + φ(op(v)), v = x or [x;h]", "op h_shape leak input=\"x\" activation=\"tanh\"",
       leaky_op_rnn},
      {"einsum_rnn", "concat_hidden: h ← tanh(einsum(eq, [x;h], w)); else h ← tanh(0.5 h + einsum(eq, x, w))",
       "equation w_shape h_shape concat_hidden=true", einsum_rnn},
  };
}

}  // namespace braintrace::golden

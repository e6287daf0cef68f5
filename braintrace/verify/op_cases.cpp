// SPDX-License-Identifier: Apache-2.0
// Operation cases: values, derivatives and trace rules of one trainable operation.
//
// Recorded traces belong to the raw weight, ours to what the operation reads, f(w): an elementwise f contributes f'(w).
// Where an einsum has shared axes our trace keeps them (the recorded one sums them too early), so only the
// instantaneous term can be compared, after that sum.
#include <algorithm>
#include <map>

#include "braintrace/etp/conv.h"
#include "braintrace/etp/dense.h"
#include "braintrace/etp/einsum.h"
#include "braintrace/etp/element_wise.h"
#include "braintrace/etp/embedding.h"
#include "braintrace/etp/grouped.h"
#include "braintrace/etp/lora.h"
#include "braintrace/etp/sparse.h"
#include "braintrace/functions/functions.h"
#include "braintrace/ops/math.h"
#include "braintrace/ops/move.h"
#include "braintrace/ops/reduce.h"
#include "braintrace/transforms/jvp.h"
#include "braintrace/transforms/linearize.h"
#include "braintrace/transforms/walk.h"
#include "braintrace/verify/verify.h"

namespace braintrace::golden {

namespace {

WeightFn named_fn(const json& attributes, const char* key) {
  if (!attributes.contains(key) || attributes[key].is_null()) return {};
  const std::string name = attributes[key];
  if (name == "tanh") return [](const Tensor& w) { return tanh(w); };
  if (name == "square") return [](const Tensor& w) { return w * w; };
  if (name == "double") return [](const Tensor& w) { return w * 2.; };
  if (name == "abs") return [](const Tensor& w) { return maximum(w, -w); };
  fail("the weight function {} is not known here; known: abs, double, square, tanh.", name);
}

Ints ints(const json& j) { return j.is_null() ? Ints{} : j.get<Ints>(); }

TrainableConvOptions conv_options(const json& a) {
  const json& l = a["layout"];
  Padding     padding;
  if (a["padding"] == "SAME") padding = Padding::same();
  if (a["padding"].is_array()) {
    padding.kind = Padding::Kind::Explicit;
    for (const json& pair : a["padding"]) {
      padding.lo.push_back(pair[0]);
      padding.hi.push_back(pair[1]);
    }
  }
  return {.stride       = ints(a["strides"]),
          .padding      = padding,
          .lhs_dilation = ints(a["lhs_dilation"]),
          .rhs_dilation = ints(a["rhs_dilation"]),
          .groups       = a["feature_group_count"],
          .layout = l["x"].get<std::string>() + "," + l["kernel"].get<std::string>() + "," + l["y"].get<std::string>(),
          .kernel_fn = named_fn(a, "kernel_fn"),
          .bias_fn   = named_fn(a, "bias_fn")};
}

class OpCase {
 public:
  OpCase(const json& info, std::map<std::string, Tensor> arrays, CaseReport& report)
      : info_(info), arrays_(std::move(arrays)), report_(report) {
    if (arrays_.count("x")) keys_.push_back("x");
    for (const char* key : {"weight", "lora_b", "lora_a", "bias"})
      if (info_.at("params").contains(key)) keys_.push_back(key);
  }

  // What the operation gives, under the names of the recorded arrays.
  std::vector<std::pair<std::string, Tensor>> results() {
    values_and_derivatives();
    trace_rules();
    return std::move(results_);
  }

 private:
  void values_and_derivatives() {
    const Program p = program();
    compare(replay(p, {}, values())[0], "y");
    Mask    active;
    Tensors tangents;
    for (const std::string& k : keys_) {
      active.push_back(arrays_.count("vjp." + k) > 0);
      tangents.push_back(arrays_.count("tangent." + k) ? arrays_.at("tangent." + k) : Tensor());
    }
    const Tensors back = vjp(p, values(), active).pullback({arrays_.at("ct")});
    size_t        next = 0;
    for (size_t i = 0; i < keys_.size(); ++i)
      if (active[i]) compare(back[next++], "vjp." + keys_[i]);
    compare(jvp(p, values(), tangents).tangents[0], "jvp.y");
  }

  void trace_rules() {
    const Traced   t = trace(types_of(values()), [&](const Tensors& in) -> Tensors { return {run(in)}; });
    const Program& p = t.program;
    Tensors        v(p.types.size());
    bind_inputs(p, joined(t.constants, values()), v);
    const Eqn* eqn = nullptr;
    for (const Eqn& e : p.eqns) {
      scatter(v, e.out, apply(*e.op, gather(v, e.in), e.attrs));
      if (e.op->etp) eqn = &e;
    }
    ensure(eqn != nullptr, "verify: the operation left no trainable equation");
    const EtpCall call{eqn->op, eqn->attrs, p.types_of(eqn->in), p.type(eqn->out[0])};
    report_.fact("primitive", std::string(call.op->etp->primitive(call)), info_.at("primitive"));
    const auto weights = call.op->etp->weights(call);
    for (int k = 0; k < static_cast<int>(weights.size()); ++k) rules_of_weight(call, k, gather(v, eqn->in));
  }

  void rules_of_weight(const EtpCall& call, int k, const Tensors& in) {
    const std::string key(call.op->etp->weights(call)[k].key);
    const Tensor      D_f = arrays_.at("df"), D = arrays_.at("D"), signal = arrays_.at("signal");
    const auto        one_state = [](const Tensor& a) { return expand_dims(a, -1); };
    if (arrays_.count("trace." + key)) {
      const bool   effective = key == "lora_b";  // its transform acts in the contraction
      const Tensor raw       = squeeze(instant(call, k, in, one_state(D_f)), {-1});
      const Tensor inst      = effective ? raw : times_derivative(key, raw);
      if (json(trace_shape(call, k)) != info_.at("rules").at("trace_shapes").at(key)) {
        require(info_.at("op") == "einsum", "the trace of {} has the shape {}.", key, to_string(trace_shape(call, k)));
        compare(sum(inst, Ints{1}), "instant." + key);
        for (const char* rule : {"recur.", "solve."})
          report_.leave_out(rule + key, "the recorded trace sums shared axes too early");
      } else {
        const Tensor eps = one_state(arrays_.at("trace." + key));
        compare(inst, "instant." + key);
        compare(squeeze(propagate(call, k, one_state(one_state(D)), eps), {-1}), "recur." + key);
        const Tensor solved = contract(call, k, in, one_state(signal), eps);
        compare(effective ? times_derivative(key, solved) : solved, "solve." + key);
      }
    }
    if (arrays_.count("io." + key)) {
      Tensors at_io = in;
      if (arrays_.count("io_x")) at_io[0] = arrays_.at("io_x");
      compare(times_derivative(key, pull_back(call, k, at_io, D_f * signal)), "io." + key);
    }
  }

  Tensor  value(const std::string& key) const { return arrays_.at(key == "x" ? "x" : "param." + key); }
  Tensors values() const {
    Tensors out;
    for (const std::string& k : keys_) out.push_back(value(k));
    return out;
  }

  Tensor run(const Tensors& in) const {
    const json& a   = info_["attributes"];
    auto        arg = [&](const std::string& key) -> Tensor {
      const auto it = std::find(keys_.begin(), keys_.end(), key);
      return it == keys_.end() ? Tensor() : in[it - keys_.begin()];
    };
    const Tensor      x = arg("x"), w = arg("weight"), b = arg("bias");
    const WeightFns   fns{.weight_fn = named_fn(a, "weight_fn"), .bias_fn = named_fn(a, "bias_fn")};
    const std::string op = info_["op"];
    if (op == "matmul") return matmul(x, w, b, fns);
    if (op == "element_wise") return element_wise(w, {.weight_fn = fns.weight_fn});
    if (op == "grouped_matmul") return grouped_matmul(x, w, b, fns);
    if (op == "einsum") return einsum(a["equation"], x, w, {.weight_fn = fns.weight_fn});
    if (op == "embedding") return embedding(x, w, {.weight_fn = fns.weight_fn});
    if (op == "conv") return conv(x, w, b, conv_options(a));
    if (op == "lora_matmul")
      return lora_matmul(x, arg("lora_b"), arg("lora_a"), b,
                         {.alpha = a["alpha"], .b_fn = named_fn(a, "b_fn"), .a_fn = named_fn(a, "a_fn")});
    const json& csr_ = a["csr"];
    auto        list = [&](const char* name) {
      const auto v = csr_[name].get<std::vector<int64_t>>();
      return Tensor(Array::of(v, {static_cast<int64_t>(v.size())}));
    };
    return sparse_matmul(x, w, csr(list("indptr"), list("indices"), csr_["shape"][0], csr_["shape"][1]), b, fns);
  }

  Program program() const {
    return trace(types_of(values()), [&](const Tensors& in) -> Tensors { return {run(in)}; }).program;
  }

  // f'(w) of the transform of a parameter, or undefined.
  Tensor derivative(const std::string& key) const {
    const char*    option = key == "bias"           ? "bias_fn"
                            : key == "lora_b"       ? "b_fn"
                            : key == "lora_a"       ? "a_fn"
                            : info_["op"] == "conv" ? "kernel_fn"
                                                    : "weight_fn";
    const WeightFn f      = named_fn(info_["attributes"], option);
    if (!f) return {};
    const Tensor  w = value(key);
    const Program p = trace({w.type()}, [&](const Tensors& in) -> Tensors { return {f(in[0])}; }).program;
    return vjp(p, {w}, {true}).pullback({Tensor(w.type(), 1)})[0];
  }
  Tensor times_derivative(const std::string& key, const Tensor& t) const {
    const Tensor d = derivative(key);
    return d.defined() ? t * d : t;
  }

  void compare(const Tensor& got, const std::string& name) { results_.emplace_back(name, got); }

  const json&                                 info_;
  std::map<std::string, Tensor>               arrays_;
  CaseReport&                                 report_;
  std::vector<std::string>                    keys_;  // x when there is one, then the parameters
  std::vector<std::pair<std::string, Tensor>> results_;
};

}  // namespace

// All of it is one program, which the chosen backend runs.
void verify_op_case(const Case& c, CaseReport& report) {
  Tensors given;
  for (const auto& [name, array] : c.arrays) given.emplace_back(array);
  std::vector<std::string>  names;
  const auto                run = jit([&](std::vector<Tensor> in) {
    std::map<std::string, Tensor> arrays;
    for (const auto& [name, array] : c.arrays) arrays.emplace(name, in[arrays.size()]);
    std::vector<Tensor> out;
    for (auto& [name, value] : OpCase(c.info, std::move(arrays), report).results()) {
      names.push_back(name);
      out.push_back(std::move(value));
    }
    return out;
  });
  const std::vector<Tensor> got = run(given);
  for (size_t i = 0; i < got.size(); ++i) report.array(names[i], got[i].array(), c.array(names[i]), {1e-12});
}

}  // namespace braintrace::golden

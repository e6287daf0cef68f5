// SPDX-License-Identifier: Apache-2.0
#include "tests/ops/laws.h"

#include <cmath>

#include "braintrace/base/rng.h"
#include "braintrace/ir/builder.h"
#include "braintrace/ops/index_walk.h"
#include "braintrace/ops/move.h"
#include "braintrace/transforms/jvp.h"
#include "braintrace/transforms/linearize.h"
#include "braintrace/transforms/simplify.h"
#include "braintrace/transforms/vmap.h"
#include "braintrace/transforms/walk.h"

namespace braintrace::laws {

namespace {

Program program_of(const Op& op, const Sample& s) {
  // Operands that are all absent (nullary ops) still give a program: one equation.
  auto    builder = Builder::open();
  Tensors args;
  for (const Tensor& t : s.in) args.push_back(builder->argument(t.type()));
  const Tensors out = builder->emit(op, args, s.attrs, infer(op, types_of(s.in), s.attrs));
  return builder->finish(out).program;
}

Array combine(const Array& a, double scale, const Array& b) {  // a + scale·b
  std::vector<double> v(static_cast<size_t>(a.size()));
  for (int64_t i = 0; i < a.size(); ++i) v[i] = at(a, i) + scale * at(b, i);
  return from_doubles(a.type(), v);
}

double largest(const Array& a) {
  double m = 0;
  for (int64_t i = 0; i < a.size(); ++i)
    if (std::isfinite(at(a, i))) m = std::max(m, std::abs(at(a, i)));
  return m;
}

double relative_difference(const Array& a, const Array& b) {
  if (a.type() != b.type()) return INFINITY;
  double m = 0;
  for (int64_t i = 0; i < a.size(); ++i) {
    const double x = at(a, i), y = at(b, i);
    if (std::isnan(x) && std::isnan(y)) continue;
    if (x == y) continue;
    m = std::max(m, std::isfinite(x - y) ? std::abs(x - y) : INFINITY);
  }
  return m / std::max(1.0, largest(b));
}

double inner(const Tensors& a, const Tensors& b) {
  double s = 0;
  for (size_t i = 0; i < a.size(); ++i)
    if (a[i].defined() && b[i].defined())
      for (int64_t k = 0; k < a[i].size(); ++k) s += at(a[i].array(), k) * at(b[i].array(), k);
  return s;
}

Tensors directions(const Tensors& like, Rng& rng) {
  Tensors out;
  for (const Tensor& t : like) out.push_back(is_float(t.dtype()) ? Tensor(random_array(rng, t.type())) : Tensor());
  return out;
}

Tensors slice_batch(const Tensors& in, const Mask& batched, int64_t i) {
  Tensors out;
  for (size_t k = 0; k < in.size(); ++k) {
    const Tensor& t = in[k];
    if (!batched[k]) {
      out.push_back(t);
      continue;
    }
    const Tensor s = slice_axis(t, 0, i, i + 1);
    out.push_back(reshape(s, Shape(s.shape().begin() + 1, s.shape().end())));
  }
  return out;
}

}  // namespace

Sample Case::draw(uint64_t seed) const {
  Rng rng(seed);
  return op->sample(*op, rng)[index];
}

std::vector<Case> cases(const Op& op) {
  Rng               rng(1);
  std::vector<Case> out;
  for (size_t i = 0; i < op.sample(op, rng).size(); ++i) out.push_back({&op, i});
  return out;
}

std::string type_mismatch(const Case& c) {
  const Sample  s     = c.draw(7);
  const Types   types = infer(*c.op, types_of(s.in), s.attrs);
  const Tensors out   = apply(*c.op, s.in, s.attrs);
  if (out.size() != types.size()) return "number of results";
  for (size_t i = 0; i < out.size(); ++i)
    if (out[i].array().type() != types[i]) return to_string(out[i].type()) + " instead of " + to_string(types[i]);
  return "";
}

double jvp_error(const Case& c) {
  const Sample s = c.draw(3);
  Rng          rng(11);
  bool         has_f64 = false;
  for (const Tensor& t : s.in) {
    if (t.dtype() == DType::F64)
      has_f64 = true;
    else if (is_float(t.dtype()))
      return -1;
  }
  if (!has_f64) return -1;
  const Program p         = program_of(*c.op, s);
  const Tensors v         = directions(s.in, rng);
  const auto    push      = jvp(p, s.in, v);
  auto          at_offset = [&](double h) {
    Tensors moved = s.in;
    for (size_t i = 0; i < moved.size(); ++i)
      if (v[i].defined()) moved[i] = combine(moved[i].array(), h, v[i].array());
    return replay(p, {}, moved);
  };
  const double  h       = 1e-6;
  const Tensors forward = at_offset(h), backward = at_offset(-h);
  double        error = 0;
  for (size_t k = 0; k < push.out.size(); ++k) {
    if (!is_float(push.out[k].dtype())) continue;
    const Array difference = combine(forward[k].array(), -1, backward[k].array());
    const Array numeric    = combine(Array(difference.type()), 1 / (2 * h), difference);
    const Array exact      = push.tangents[k].defined() ? push.tangents[k].array() : Array(numeric.type());
    error                  = std::max(error, relative_difference(exact, numeric));
  }
  return error;
}

double transpose_error(const Case& c) {
  const Sample  s = c.draw(5);
  const Program p = program_of(*c.op, s);
  Rng           rng(13);
  const Tensors v    = directions(s.in, rng);
  const auto    push = jvp(p, s.in, v);
  const Tensors ct   = directions(push.out, rng);
  Mask          active;
  bool          any = false;
  for (const Tensor& t : v) {
    active.push_back(t.defined());
    any |= t.defined();
  }
  if (!any) return -1;
  const Tensors pulled = vjp(p, s.in, active).pullback(ct);
  Tensors       moved;
  for (const Tensor& t : v)
    if (t.defined()) moved.push_back(t);
  const double lhs = inner(ct, push.tangents), rhs = inner(pulled, moved);
  return std::abs(lhs - rhs) / std::max({1.0, std::abs(lhs), std::abs(rhs)});
}

double batch_error(const Case& c) {
  constexpr int64_t B     = 3;
  const Sample      first = c.draw(17);
  const Program     p     = program_of(*c.op, first);
  const size_t      n     = first.in.size();
  if (n == 0) return 0;
  double error = 0;
  for (uint32_t choice = 1; choice < (1u << std::min<size_t>(n, 4)); ++choice) {
    Mask    batched;
    Tensors in;
    for (size_t k = 0; k < n; ++k) {
      batched.push_back(choice >> std::min<size_t>(k, 3) & 1);
      Tensors parts;
      for (int64_t b = 0; b < (batched[k] ? B : 1); ++b) parts.push_back(c.draw(17 + static_cast<uint64_t>(b)).in[k]);
      in.push_back(batched[k] ? stack(parts, 0) : parts[0]);
    }
    VmapResult r = vmap(p, in, batched, B);
    for (size_t k = 0; k < r.out.size(); ++k) r.out[k] = with_batch_axis(r.out[k], r.batched[k], B);
    for (int64_t b = 0; b < B; ++b) {
      const Tensors one  = replay(p, {}, slice_batch(in, batched, b));
      const Tensors from = slice_batch(r.out, Mask(r.out.size(), true), b);
      for (size_t k = 0; k < one.size(); ++k)
        error = std::max(error, relative_difference(from[k].array(), one[k].array()));
    }
  }
  return error;
}

std::string text_mismatch(const Case& c) {
  const Program p    = program_of(*c.op, c.draw(19));
  const Program back = parse(print(p));
  if (!equal(p, back)) return print(p) + "\nread back as\n" + print(back);
  return hash(p) == hash(back) ? "" : "hash differs";
}

double dependence_error(const Case& c) {
  if (!c.op->depend) return -1;
  const Sample  s     = c.draw(23);
  const Program p     = program_of(*c.op, s);
  const Types   in    = types_of(s.in);
  const Types   out   = p.types_of(p.results);
  double        error = 0;
  auto          flat  = [](const Ints& index, const Shape& shape, int begin, int end) {
    int64_t at = 0;
    for (int i = begin; i < end; ++i) at = at * shape[i] + index[i];
    return at;
  };
  for (size_t k = 0; k < in.size(); ++k) {
    if (in[k].dtype != DType::F64) continue;
    Mask active(in.size(), false);
    active[k] = true;
    for (size_t r = 0; r < out.size(); ++r) {
      if (!is_float(out[r].dtype)) continue;
      const AxisLinks links = c.op->depend({*c.op, s.attrs, in, out, static_cast<int>(k), static_cast<int>(r)});
      const auto      back  = vjp(p, s.in, active);
      for (IndexWalk i(out[r].shape); !i.done(); i.next()) {
        Tensors             ct(out.size());
        std::vector<double> one(static_cast<size_t>(out[r].size()), 0);
        one[i.flat()]  = 1;
        ct[r]          = from_doubles(out[r], one);
        const Tensor g = back.pullback(instantiated(ct, out))[0];
        if (!g.defined()) continue;
        const Array row = g.array();
        for (IndexWalk j(in[k].shape); !j.done(); j.next())
          for (const AxisLink& l : links)
            if (l.kind == AxisLink::Kind::Same && flat(j.index(), in[k].shape, l.op_begin, l.op_end) !=
                                                      flat(i.index(), out[r].shape, l.res_begin, l.res_end))
              error = std::max(error, std::abs(at(row, j.flat())));
      }
    }
  }
  return error;
}

double simplify_error(const Case& c) {
  const Sample  s     = c.draw(29);
  const Program p     = program_of(*c.op, s);
  const Tensors plain = replay(p, {}, s.in), simple = replay(simplify(p), {}, s.in);
  double        error = 0;
  for (size_t k = 0; k < plain.size(); ++k)
    error = std::max(error, relative_difference(simple[k].array(), plain[k].array()));
  return error;
}

}  // namespace braintrace::laws

// SPDX-License-Identifier: Apache-2.0
#include "tests/transforms/words.h"

#include <algorithm>
#include <cmath>

#include "braintrace/base/rng.h"
#include "braintrace/ops/constant.h"
#include "braintrace/ops/index_walk.h"
#include "braintrace/ops/math.h"
#include "braintrace/ops/move.h"
#include "braintrace/transforms/inline.h"
#include "braintrace/transforms/jvp.h"
#include "braintrace/transforms/linearize.h"
#include "braintrace/transforms/simplify.h"
#include "braintrace/transforms/vmap.h"

namespace braintrace::testing_support {

namespace {

constexpr int64_t batch = 3;

Mask floats(const Program& p) {
  Mask m;
  for (Var v : p.args) m.push_back(is_float(p.type(v).dtype));
  return m;
}

Tensor like(const Type& t, Rng& rng) { return is_float(t.dtype) ? Tensor(random_array(rng, t)) : Tensor(t, 0); }

Instance pushed(const Instance& run, Rng& rng) {
  Instance out{jvp_program(run.program, floats(run.program)), run.in};
  for (size_t i = run.in.size(); i < out.program.args.size(); ++i)
    out.in.push_back(like(out.program.type(out.program.args[i]), rng));
  return out;
}

Instance pulled(const Instance& run, Rng& rng) {
  Instance out{vjp_program(run.program, floats(run.program)), run.in};
  for (size_t i = run.in.size(); i < out.program.args.size(); ++i)
    out.in.push_back(like(out.program.type(out.program.args[i]), rng));
  return out;
}

// Samples differ a little in floats and by one in integers.
Instance mapped(const Instance& run, Rng& rng) {
  Instance out{vmap_program(run.program, Mask(run.in.size(), true), batch), {}};
  for (const Tensor& t : run.in) {
    Tensors samples;
    for (int64_t b = 0; b < batch; ++b) {
      const bool real = is_float(t.dtype());
      samples.push_back(t.dtype() == DType::Bool ? t
                        : real                   ? t + like(t.type(), rng) * 0.1
                                                 : t + static_cast<double>(b));
    }
    out.in.push_back(stack(samples, 0));
  }
  return out;
}

}  // namespace

Instance run_of(const Function& f, const Tensors& in) { return {with_constants_inside(trace(types_of(in), f)), in}; }

Instance transformed(Instance run, const std::string& word, uint64_t seed) {
  verify(run.program);
  Rng rng(seed);
  for (char letter : word) {
    switch (letter) {
      case 'F':
        run = pushed(run, rng);
        break;
      case 'R':
        run = pulled(run, rng);
        break;
      case 'M':
        run = mapped(run, rng);
        break;
      case 'S':
        run.program = simplify(run.program);
        break;
      case 'I':
        run.program = inline_calls(run.program);
        break;
      case 'P':
        run.program = parse(print(run.program));
        break;
      default:
        fail("no transform is called '{}'", letter);
    }
    verify(run.program);
  }
  return run;
}

Tensors results(const Instance& run) { return replay(run.program, {}, run.in); }

double difference(const Tensors& a, const Tensors& b) {
  if (types_of(a) != types_of(b)) return INFINITY;
  double largest = 1, found = 0;
  for (size_t k = 0; k < a.size(); ++k) {
    const Array x = a[k].array(), y = b[k].array();
    for (int64_t i = 0; i < x.size(); ++i) {
      const double p = at(x, i), q = at(y, i);
      if (!(std::isfinite(p) && std::isfinite(q))) return INFINITY;
      largest = std::max(largest, std::abs(q));
      found   = std::max(found, std::abs(p - q));
    }
  }
  return found / largest;
}

double difference(const Function& f, const Function& g, const Tensors& in, const std::string& word) {
  return difference(results(transformed(run_of(f, in), word)), results(transformed(run_of(g, in), word)));
}

const std::vector<std::string>& forward_words() {
  static const std::vector<std::string> words = {"", "P", "S", "I", "F", "FF", "M", "MF", "FM", "FS", "SF", "MS", "FP"};
  return words;
}
const std::vector<std::string>& all_words() {
  static const std::vector<std::string> words = [] {
    std::vector<std::string> w = forward_words();
    for (const char* more : {"R", "RF", "FR", "RR", "RM", "MR", "RRM", "RMF", "RS", "SRS", "RSRS", "RP"})
      w.emplace_back(more);
    return w;
  }();
  return words;
}

Tensor normal(Shape shape, uint64_t seed) {
  Rng rng(seed);
  return random_array(rng, {DType::F64, std::move(shape)});
}

}  // namespace braintrace::testing_support

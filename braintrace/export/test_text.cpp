// SPDX-License-Identifier: Apache-2.0
// A sequence of calls with the interpreter's results, and a program that replays it.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "braintrace/base/ascii.h"
#include "braintrace/base/rng.h"
#include "braintrace/base/warning.h"
#include "braintrace/codegen/c/c_text.h"
#include "braintrace/export/program.h"
#include "braintrace/export/quoted.h"

namespace braintrace::exporting {

namespace {

// What the replay does at a step; the numbers are in test_data.h.
enum Kind { Learn, Observe, Predict };
// Mostly learning; steps of the other two between.
Kind kind_of(int64_t t) { return t % 5 == 3 ? Observe : t % 5 == 4 ? Predict : Learn; }
// Where a new sequence begins.
int64_t reset_at(int64_t steps) { return steps * 3 / 4; }

// Integers are ids or labels, of which there are `ids`.
Array drawn(Rng& rng, const Type& type, uint64_t ids) {
  std::vector<double> values;
  for (int64_t i = 0; i < type.size(); ++i)
    values.push_back(is_float(type.dtype) ? rng.normal() : static_cast<double>(rng.bits() % ids));
  return from_doubles(type, values);
}

std::vector<double> values_of(const Array& a) {
  std::vector<double> out;
  for (int64_t i = 0; i < a.size(); ++i) out.push_back(at(a, i));
  return out;
}
int digits_of(DType dtype) { return dtype == DType::F64 ? 52 : 23; }
// One unit in the last place of the largest of the values.
double unit_of(const std::vector<double>& values, DType dtype) {
  double largest = 0;
  for (double v : values) largest = std::max(largest, std::abs(v));
  return largest == 0 ? 0x1p-149 : std::ldexp(1.0, std::ilogb(largest) - digits_of(dtype));
}

// Limits for networks with larger rounding errors: up to the first where a longer sequence needs it, up to the second
// where a single step does. Beyond it, a replay would not tell a wrong result from rounding errors.
constexpr int long_test_ulp = 1024, most_test_ulp = 16384;

// Values of one kind, of all steps one after the other.
struct Recorded {
  std::string         name;
  DType               dtype;
  std::vector<double> values = {};

  void add(const Array& a) {
    for (double v : values_of(a)) values.push_back(v);
  }
  std::string text(DType as) const {
    return codegen::array_text(name, from_doubles({as, {static_cast<int64_t>(values.size())}}, values));
  }
  // What is compared, and what one unit in the last place of the largest is; integers are compared exactly.
  std::string expected() const {
    const double unit = is_float(dtype) ? unit_of(values, dtype) : 1.0 / (2 * most_test_ulp);
    return text(DType::F64) + fmt::format("static const double ulp_{} = {};\n", name, hex_float(unit));
  }
};

// The reference interpreter, with the states it goes through.
class Replay {
 public:
  explicit Replay(const LearningProgram& p) : p_(p) {
    for (const Slot& s : p.slots) now.push_back(s.initial);
  }
  Arrays call(const Function& f, Arrays args) {
    for (size_t slot : f.reads) args.push_back(now[slot]);
    Arrays out = evaluate(f.traced.program, f.constants, args);
    for (size_t w = 0; w < f.writes.size(); ++w) now[f.writes[w]] = out[f.traced.num_results + w];
    out.resize(f.traced.num_results);
    return out;
  }
  void reset() {
    for (size_t i = 0; i < now.size(); ++i)
      if (p_.slots[i].is_reset) now[i] = p_.slots[i].initial;
  }
  Arrays now;

 private:
  const LearningProgram& p_;
};

// Floats of 16 bits are seen through the outputs only.
bool is_compared(const Slot& s) {
  const DType t = s.initial.dtype();
  return s.is_written && s.initial.size() > 0 && t != DType::F16 && t != DType::BF16;
}

// A second replay whose states differ in their last bits at the start: how far rounding errors grow.
class Perturbed : public Replay {
 public:
  explicit Perturbed(const LearningProgram& p) : Replay(p), p_(p) {
    for (Array& a : now) {
      if (!is_float(a.dtype())) continue;
      std::vector<double> values = values_of(a);
      for (size_t i = 0; i < values.size(); ++i) values[i] *= 1 + std::ldexp(i % 2 ? -1.0 : 1.0, -digits_of(a.dtype()));
      a = from_doubles(a.type(), values);
    }
  }
  // The largest difference between the states, in units in the last place of the largest value of each.
  double distance(const Replay& other) const {
    double most = 0;
    for (size_t s = 0; s < now.size(); ++s) {
      if (!is_compared(p_.slots[s]) || !is_float(now[s].dtype())) continue;
      const std::vector<double> mine = values_of(now[s]), theirs = values_of(other.now[s]);
      const double              unit = unit_of(theirs, now[s].dtype());
      for (size_t i = 0; i < mine.size(); ++i) most = std::max(most, std::abs(mine[i] - theirs[i]) / unit);
    }
    return most;
  }

 private:
  const LearningProgram& p_;
};

// The number of ids, one or two: a vocabulary may have only one word.
uint64_t ids_of(const LearningProgram& p) {
  try {
    Replay(p).call(p.predict, {from_doubles(p.x, std::vector<double>(static_cast<size_t>(p.x.size()), 1))});
    return 2;
  } catch (const UserError&) {
    return 1;
  }
}

// The errors of compiled code may be twice those of a perturbed replay.
bool is_within(int limit, double apart) { return 2 * apart <= limit; }
int  grown(int limit, double apart, int most) {
   while (!is_within(limit, apart) && limit < most) limit *= 2;
  return limit;
}

constexpr int64_t samples = 32;  // of each state at the end, evenly spread
int64_t           stride_of(const Type& t) { return std::max<int64_t>(1, t.size() / samples); }

}  // namespace

std::string test_data_text(const LearningProgram& p, const ExportOptions& o) {
  require(o.test_steps > 0, "export: the recorded sequence needs at least one step, got {}.", o.test_steps);
  Rng       rng(o.seed);
  Replay    replay(p);
  Perturbed perturbed(p);
  // If targets are labels, they name one of the outputs.
  const uint64_t ids = is_float(p.x.dtype) ? 0 : ids_of(p), labels = p.y.shape.empty() || p.y.shape.back() > 1 ? 2 : 1;
  Recorded kinds{"kinds", DType::I32}, xs{"xs", p.x.dtype}, targets{"targets", p.target.dtype}, ys{"ys", p.y.dtype},
      losses{"losses", p.learn.traced.result_types()[1].dtype};
  int limit = export_test_ulp;
  for (int64_t t = 0; t < o.test_steps; ++t) {
    if (t == reset_at(o.test_steps)) {
      replay.reset();
      perturbed.reset();
    }
    const Array     x = drawn(rng, p.x, ids), target = drawn(rng, p.target, labels);
    const Kind      kind = kind_of(t);
    const Function& f    = kind == Learn ? p.learn : kind == Observe ? p.observe : p.predict;
    const Arrays    in = kind == Learn ? Arrays{x, target} : Arrays{x}, before = replay.now, out = replay.call(f, in);
    for (const Array& a : out)
      for (int64_t i = 0; i < a.size(); ++i)
        require(std::isfinite(at(a, i)),
                "export: the network is no longer finite at step {} of the recorded sequence, so a replay would not "
                "test anything.\n  Use a smaller learning rate, fewer steps or another seed.",
                t);
    perturbed.call(f, in);
    const double apart = perturbed.distance(replay);
    limit              = grown(limit, apart, t == 0 ? most_test_ulp : long_test_ulp);
    if (!is_within(limit, apart)) {
      require(t > 0,
              "export: one step of this network makes rounding errors grow beyond {} units in the last place, so no "
              "replay would test anything.\n  Use a smaller learning rate, smaller weights or fewer layers.",
              limit);
      warn(fmt::format("the recorded test has {} of {} steps: after more of them, rounding errors grow too far for a "
                       "comparison.",
                       t, o.test_steps),
           "recorded test");
      replay.now = before;
      break;
    }
    kinds.values.push_back(kind);
    xs.add(x);
    targets.add(target);
    ys.add(out[0]);
    losses.values.push_back(kind == Learn ? at(out[1], 0) : 0);
  }
  std::string text = fmt::format(
      "/* Recorded with the reference interpreter: what is done at each step (0 learn, 1 observe, 2 predict), and "
      "what\n"
      "   comes of it. ulp_… is one unit in the last place of the largest value of its array. */\n"
      "#include <math.h>\n#include <stdint.h>\n\n#define STEPS {}\n#define RESET_AT {}\n#define LIMIT_ULP {}.0\n",
      kinds.values.size(), reset_at(o.test_steps), limit);
  for (const Recorded* r : {&kinds, &xs, &targets}) text += r->text(r->dtype);
  text += ys.expected() + losses.expected();
  for (size_t i = 0; i < p.slots.size(); ++i) {
    const Slot& s = p.slots[i];
    if (!is_compared(s)) continue;
    Recorded end{"end_" + s.name, s.initial.dtype()};
    for (int64_t k = 0; k < s.initial.size(); k += stride_of(s.initial.type()))
      end.values.push_back(at(replay.now[i], k));
    text += end.expected();
  }
  return text;
}

std::string test_main_text(const LearningProgram& p, const ExportOptions& o) {
  std::string states;
  for (const Slot& s : p.slots) {
    if (!is_compared(s)) continue;
    const int64_t stride = stride_of(s.initial.type());
    states += fmt::format(
        "  for (i = 0; i < {0}; ++i) compare({1}, (double)model.{2}[i * {3}], end_{2}[i], "
        "ulp_end_{2});\n",
        (s.initial.size() + stride - 1) / stride, c_string(s.path + " at the end"), s.name, stride);
  }
  const std::string name = identifier(o.name);
  std::string       NAME = name;
  for (char& c : NAME) c = to_upper(c);
  return fmt::format(
      R"c(/* Replays test_data.h. Exit status 0 when all results are as recorded,
   within LIMIT_ULP units in the last place of the largest value of their array. */
#include <stdio.h>

#include "model.h"
#include "test_data.h"

static {name}_model model;
static double worst = 0;
static const char* worst_at = "nothing";
static int worst_step = 0, step = 0;

static void compare(const char* what, double got, double want, double ulp) {{
  const double error = got == want ? 0 : fabs(got - want) / ulp;
  if (error <= worst) return;
  worst = error == error ? error : 1e300; /* NaN is far from anything */
  worst_at = what;
  worst_step = step;
}}

int main(void) {{
  int i;
  {name}_init(&model);
  for (step = 0; step < STEPS; ++step) {{
    {y} y[{NAME}_OUTPUT_SIZE];
    {loss} loss = 0;
    const {x}* x = xs + step * {NAME}_INPUT_SIZE;
    int status;
    if (step == RESET_AT) {name}_reset(&model);
    if (kinds[step] == 0)
      status = {name}_learn(&model, x, targets + step * {NAME}_TARGET_SIZE, y, &loss);
    else if (kinds[step] == 1)
      status = {name}_observe(&model, x, y);
    else
      status = {name}_predict(&model, x, y);
    if (status) {{
      printf("FAIL: step %d returned %d\n", step, status);
      return 1;
    }}
    for (i = 0; i < {NAME}_OUTPUT_SIZE; ++i) compare("y", (double)y[i], ys[step * {NAME}_OUTPUT_SIZE + i], ulp_ys);
    compare("loss", (double)loss, losses[step], ulp_losses);
  }}
{states}  printf("%s: worst error %.3g ulp (%s, step %d), limit %g\n", worst <= LIMIT_ULP ? "pass" : "FAIL",
         worst, worst_at, worst_step, LIMIT_ULP);
  return worst <= LIMIT_ULP ? 0 : 1;
}}
)c",
      fmt::arg("name", name), fmt::arg("NAME", NAME), fmt::arg("x", codegen::storage_type(p.x.dtype)),
      fmt::arg("y", codegen::storage_type(p.y.dtype)),
      fmt::arg("loss", codegen::storage_type(p.learn.traced.result_types()[1].dtype)), fmt::arg("states", states));
}

}  // namespace braintrace::exporting

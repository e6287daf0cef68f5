// SPDX-License-Identifier: Apache-2.0
#include "braintrace/bench/measure.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <ctime>
#include <limits>

#include <nlohmann/json.hpp>

#include "braintrace/advise/apart.h"
#include "braintrace/base/json.h"
#include "braintrace/base/rng.h"
#include "braintrace/base/temporary_folder.h"
#include "braintrace/codegen/c/emit.h"
#include "braintrace/functions/held_states.h"
#include "braintrace/io/npy.h"
#include "braintrace/model/environment.h"
#include "braintrace/model/random_stream.h"
#include "braintrace/ops/index_walk.h"
#include "braintrace/runtime/backend.h"
#include "braintrace/transforms/simplify.h"

namespace braintrace::bench {

namespace {

using nlohmann::ordered_json;
using Clock = std::chrono::steady_clock;

constexpr int64_t first_call_steps = 100;  // of a sequence

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

// Processor time of all threads of this process; excludes other programs.
double processor_seconds() {
  timespec t{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

Tensor drawn(const Type& type, Rng& rng, double spikes = 0) {
  Array a({DType::F32, type.shape});
  for (int64_t i = 0; i < a.size(); ++i)
    a.mutable_data<float>()[i] =
        static_cast<float>(spikes > 0 ? static_cast<double>(rng.uniform() < spikes) : rng.normal());
  return Tensor(a);
}

// Of very many bytes only some are copied.
double copy_seconds(size_t bytes) {
  constexpr size_t most = size_t{1} << 28;
  if (bytes > most) return copy_seconds(most) * (static_cast<double>(bytes) / most);
  std::vector<char> from(bytes, 1), to(bytes);
  double            best = 1e30;
  for (int i = 0; i < 7; ++i) {
    const auto start = Clock::now();
    std::copy(from.begin(), from.end(), to.begin());
    from[0] = to[bytes / 2];
    best    = std::min(best, seconds_since(start));
  }
  return best;
}

bool is_zero(const Array& a) {
  for (int64_t i = 0; i < a.size(); ++i)
    if (at(a, i) != 0) return false;
  return true;
}
double relative_error(const Array& got, const Array& want) {
  double worst = 0, scale = 0;
  for (int64_t i = 0; i < want.size(); ++i) {
    worst = std::max(worst, std::abs(at(got, i) - at(want, i)));
    scale = std::max(scale, std::abs(at(want, i)));
  }
  return worst / scale;
}

std::string dotted(const Path& path, const std::string& leaf) { return path.str() + (leaf.empty() ? "" : "." + leaf); }

// Weights that the other side leaves without a gradient are not compared.
ordered_json gradient_errors(const Gradients& got, const NamedArrays& given) {
  ordered_json out = ordered_json::object();
  for (const auto& [path, leaves] : got)
    for (const auto& [leaf, gradient] : leaves)
      if (const auto it = given.find("grad." + dotted(path, leaf)); it != given.end() && !is_zero(it->second)) {
        require(it->second.shape() == gradient.shape(), "bench: grad.{} has the shape {}, expected {}.",
                dotted(path, leaf), to_string(it->second.type()), to_string(gradient.type()));
        out[dotted(path, leaf)] = relative_error(gradient.array(), it->second);
      }
  return out;
}

// One workload in this process.
struct Run {
  std::shared_ptr<Module>   model;
  NamedArrays               given;
  std::unique_ptr<Training> training;

  Run(const Workload& w, const std::string& data) {
    Environment::set({.dt = 1.0});
    random::seed(1);
    model = network(w);
    init_all_states(*model, {.batch_size = w.size.batch});
    if (!data.empty()) given = read_npz(data);
    for (const auto& [path, state] : model->params())
      for (const std::string& leaf : state.leaf_names())
        if (const auto it = given.find("param." + dotted(path, leaf)); it != given.end())
          state.set_leaf(leaf, Tensor(it->second));
    Rng        rng(2);
    const auto input = [&](const char* name, int64_t width, double spikes) {
      Shape shape = {w.size.batch, width};
      if (w.mode == Mode::Sequence) shape.insert(shape.begin(), w.steps);
      const auto it = given.find(name);
      if (it == given.end()) return drawn({DType::F32, shape}, rng, spikes);
      require(it->second.shape() == shape, "bench: {} of {} is {}, expected {}.", name, data,
              to_string(it->second.type()), to_string(Type{DType::F32, shape}));
      return Tensor(it->second);
    };
    const Tensor x = input("x", w.size.n_in, w.spikes), y = input("y", network_outputs, 0);
    training = std::make_unique<Training>(*model, w.rule, w.mode, x, y);
  }

  double first_call(Gradients* gradients = nullptr) {
    const auto start = Clock::now();
    Gradients  g     = training->call();
    const auto taken = seconds_since(start);
    if (gradients) *gradients = std::move(g);
    return taken;
  }
  Work work() {
    const StatefulProgram traced = training->traced();
    return default_backend().needs(simplify(traced.program), feeds_of(traced)).work;
  }
};

ordered_json timings(const Workload& w, const MeasureOptions& o) {
  Run        run(w, o.data);
  const auto before = resident_bytes();
  const auto free   = default_backend().memory();
  Gradients  first;
  const auto first_call = run.first_call(&first);

  run.training->run();  // compiles what stays on a device

  std::vector<double> times;
  const double        parts = w.mode == Mode::Sequence ? static_cast<double>(w.steps) : 1;
  // The clock of processor time jumps by some microseconds, so short calls are timed many at once.
  constexpr double together = 1e-3, unknown = std::numeric_limits<double>::infinity();
  double           least_busy = unknown, busy = processor_seconds();
  size_t           first_of = 0;
  auto             since    = Clock::now();
  for (const auto begin = Clock::now();
       times.size() < 5 || least_busy == unknown || seconds_since(begin) < o.seconds;) {
    const auto start = Clock::now();
    run.training->run();
    times.push_back(1e6 * seconds_since(start) / parts);
    if (seconds_since(since) < together) continue;
    const double taken = 1e6 * (processor_seconds() - busy) / parts;
    least_busy         = std::min(least_busy, taken / static_cast<double>(times.size() - first_of));
    since              = Clock::now();
    busy               = processor_seconds();
    first_of           = times.size();
  }
  const auto peak = peak_resident_bytes();
  std::sort(times.begin(), times.end());
  const size_t traces = run.training->trace_bytes();
  const Work   work   = run.work();
  ordered_json out    = {{"ours_us", times[times.size() / 2]},
                         {"ours_p99_us", times[times.size() * 99 / 100]},
                         {"ours_min_us", times[0]},
                         {"processor_us", least_busy},
                         {"calls", times.size()},
                         {"first_call_cached_s", first_call},
                         {"peak_growth_mb", static_cast<double>(peak - before) / 1048576},
                         {"traces_mb", static_cast<double>(traces) / 1048576},
                         {"copy_traces_us", traces ? 1e6 * copy_seconds(traces) : 0},
                         {"flops", work.flops() / parts},
                         {"bytes", work.bytes() / parts},
                         {"gradient_errors", gradient_errors(first, run.given)}};
  if (free) {
    out["backend"]   = default_backend().name();
    out["precision"] = product_precision();
    out["device_mb"] = static_cast<double>(*free - *default_backend().memory()) / 1048576;
  }
  return out;
}

// In a separate process, with its own cache of compiled files.
ordered_json apart_in(const TemporaryFolder& cache, const std::string& backend,
                      const std::function<ordered_json()>& work) {
  require(!cache.path.empty(), "bench: cannot create a folder for temporary files.");
  return read_ordered_json(run_apart(
                               [&] {
                                 setenv("BRAINTRACE_CACHE_DIR", cache.path.c_str(), 1);
                                 const BackendScope compiled(backend);
                                 return work().dump();
                               },
                               {}),
                           "bench");
}

// Queried in another process: a process forked after a device was opened cannot use the device.
void require_working(const std::string& backend) {
  const std::string problem = run_apart([&] { return find_backend(backend).problem(); }, {});
  require(problem.empty(), "bench: only machine code is measured, but {}{}", problem,
          problem.ends_with('.') ? "" : ".");
}

}  // namespace

ordered_json describe(const Workload& w) {
  return {{"model", w.model}, {"rule", w.rule}, {"mode", name_of(w.mode)}, {"B", w.size.batch}, {"n_in", w.size.n_in},
          {"n", w.size.n},    {"T", w.steps},   {"spikes", w.spikes}};
}

ordered_json measured(const Workload& w, const MeasureOptions& o) {
  require_working(o.backend);
  const TemporaryFolder cache;
  const double          cold = apart_in(cache, o.backend, [&] { return ordered_json(Run(w, o.data).first_call()); });
  ordered_json          out  = describe(w);
  const ordered_json    rest = apart_in(cache, o.backend, [&] { return timings(w, o); });
  for (const auto& [key, value] : rest.items()) {
    if (key == "first_call_cached_s") out["first_call_cold_s"] = cold;
    out[key] = value;
  }
  return out;
}

ordered_json first_call(const std::function<std::shared_ptr<Module>()>& make, const Type& input,
                        const std::string& rule, Mode mode) {
  require_working("cpu");
  const TemporaryFolder cache;
  const auto            milliseconds = [](Clock::time_point& start) {
    const auto now = Clock::now();
    const auto d   = std::chrono::duration<double, std::milli>(now - std::exchange(start, now)).count();
    return d;
  };
  // The model, and data for it; then what is timed.
  const auto prepared = [&](const auto& timed) {
    return apart_in(cache, "cpu", [&]() -> ordered_json {
      Environment::set({.dt = 1.0});
      random::seed(1);
      const std::shared_ptr<Module> model = make();
      init_all_states(*model);
      Type in = input, out = trace_function({in}, [&](const Tensors&x) { return model->call(x); }).result_types().at(0);
      if (mode == Mode::Sequence)
        for (Type* t : {&in, &out}) t->shape.insert(t->shape.begin(), first_call_steps);
      Rng          rng(2);
      const Tensor x = drawn(in, rng), y = drawn(out, rng);
      return timed(*model, x, y);
    });
  };
  const auto whole = [&](Module& model, const Tensor& x, const Tensor& y) {
    auto start = Clock::now();
    Training(model, rule, mode, x, y).call();
    return ordered_json(milliseconds(start));
  };
  const auto staged = [&](Module& model, const Tensor& x, const Tensor& y) {
    auto         start = Clock::now();
    Training     training(model, rule, mode, x, y);
    ordered_json out;
    out["graph"]                   = milliseconds(start);
    const StatefulProgram traced   = training.traced();
    out["trace"]                   = milliseconds(start);
    const Program program          = simplify(traced.program);
    out["simplify"]                = milliseconds(start);
    codegen::Schedule schedule     = codegen::scheduled({program});
    out["schedule"]                = milliseconds(start);
    const codegen::Emitted emitted = codegen::emit(std::move(schedule), codegen::Dialect::Native);
    out["print"]                   = milliseconds(start);
    return out;
  };
  const ordered_json cold = prepared(whole), cached = prepared(whole), stages = prepared(staged);
  return {{"rule", rule}, {"mode", name_of(mode)}, {"cold_ms", cold}, {"cached_ms", cached}, {"stages_ms", stages}};
}

}  // namespace braintrace::bench

// SPDX-License-Identifier: Apache-2.0
// A step of online learning in a sparse spiking network beside loops written by hand for this one network: forward, the
// factorized traces of ES-D-RTRL, and the update of every synapse. All compute the same numbers, which is checked.
//
//   I_j = x_j + Σ_e w_e z[from e]        over the synapses e to neuron j
//   V'  = I + e^{-dt/τ} ((1-z) V - I)    z = H(V - 1)       r ← e^{-dt/τ} r + z' W       loss: mean (r - y)²
//   w_e ← w_e - η ε^x[from e] q[to e]    q = L ε^f / c, L the error at V', zero beyond the surrogate's width
//
// By hand: `all` walks all synapses once a step, the update of the last step fused with the product of this one;
// `events` walks those of neurons that spike, and those of neurons with a learning signal.
//
//   sparse_bench [neurons=10000] [synapses=100] [steps=40] [wide]     wide: a surrogate that reaches most neurons
//   sparse_bench NEURONS SYNAPSES STEPS more                          batches, and optimizers with a memory per weight
//   sparse_bench NEURONS SYNAPSES STEPS threads | wide threads        1, 2, 4, … threads, up to BRAINTRACE_NUM_THREADS
//   sparse_bench NEURONS SYNAPSES STEPS 1% | wide 1%                  so many spikes, by BRAINTRACE_NUM_THREADS alone
//   sparse_bench NEURONS SYNAPSES STEPS hand | wide hand              `events` alone, by one and by two threads
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <thread>

#include <fmt/format.h>

#include "braintrace/backends/cpu/thread_pool.h"
#include "braintrace/braintrace.h"

namespace {

using namespace braintrace;

constexpr int   patterns = 16, burst = 8;
constexpr float lr = 1e-4F, decay = 0.9F, leak = 0.9048374180359595F, steepness = 0.3F;
constexpr float target[2] = {0.5F, -0.5F};

struct Sizes {
  int64_t n, degree, steps;
  float   width;  // of the surrogate
};

// Synapses by target: those of neuron j are j·degree … (j+1)·degree - 1.
struct Wiring {
  std::vector<int32_t> from, to;
  std::vector<float>   weights, readout;

  explicit Wiring(const Sizes& s) {
    Rng rng(1);
    for (int64_t j = 0; j < s.n; ++j) {
      for (int64_t k = 0; k < s.degree; ++k) {
        from.push_back(static_cast<int32_t>(rng.integer(s.n)));
        to.push_back(static_cast<int32_t>(j));
        weights.push_back(static_cast<float>(0.02 * rng.normal()));
      }
      std::sort(from.end() - s.degree, from.end());
    }
    for (int64_t i = 0; i < 2 * s.n; ++i) readout.push_back(static_cast<float>(0.05 * rng.normal()));
  }
};

std::vector<std::vector<float>> drives(const Sizes& s, double rate) {
  Rng                             rng(2);
  std::vector<std::vector<float>> out(patterns, std::vector<float>(static_cast<size_t>(s.n)));
  for (auto& x : out)
    for (float& v : x) v = rng.uniform() < rate ? 14.0F : 0.0F;
  return out;
}

// ---- By hand

// With two parts, each half of the neurons belongs to one thread: its loops, its synapses by target, its update. The
// threads meet twice in a step, to exchange spikes, and to exchange traces and the sums of the readout.
class ByHand {
 public:
  ByHand(const Sizes& s, const Wiring& wiring, bool events, int64_t parts = 1)
      : w(wiring.weights), s_(s), wiring_(wiring), events_(events), readout_(wiring.readout) {
    for (std::vector<float>* v : {&V_, &z_, &I_, &x_trace_, &f_trace_, &q_, &out_trace_})
      v->resize(static_cast<size_t>(s.n));
    for (int64_t p = 0; p < parts; ++p) {
      Part part{.first = s.n * p / parts, .last = s.n * (p + 1) / parts};
      part.starts.resize(static_cast<size_t>(s.n) + 1);
      const int64_t begin = part.first * s.degree, end = part.last * s.degree;
      for (int64_t e = begin; e < end; ++e) ++part.starts[static_cast<size_t>(wiring.from[e]) + 1];
      for (size_t i = 1; i < part.starts.size(); ++i) part.starts[i] += part.starts[i - 1];
      std::vector<int32_t> next(part.starts.begin(), part.starts.end() - 1);
      part.order.resize(static_cast<size_t>(end - begin));
      for (int64_t e = begin; e < end; ++e)
        part.order[static_cast<size_t>(next[static_cast<size_t>(wiring.from[e])]++)] = static_cast<int32_t>(e);
      parts_.push_back(std::move(part));
    }
  }

  void step(const float* x) {
    step(0, x, [] {});
  }
  // What one thread does; `meet` returns when all have called it.
  template <class Meet>
  void step(size_t part, const float* x, const Meet& meet) {
    Part& mine = parts_[part];
    mine.spiking.clear();
    for (int64_t i = mine.first; i < mine.last; ++i) {
      z_[i] = V_[i] > 1 ? 1 : 0;
      if (z_[i] != 0) mine.spiking.push_back(static_cast<int32_t>(i));
    }
    meet();
    events_ ? by_events(mine) : all();
    mine.sum[0] = mine.sum[1] = 0;
    for (int64_t i = mine.first; i < mine.last; ++i) {
      const float surrogate = std::max(steepness * s_.width - steepness * std::abs(V_[i] - 1), 0.0F);
      f_trace_[i]           = decay * (leak * (1 - surrogate * V_[i])) * f_trace_[i] + (1 - decay) * (1 - leak);
      const float I         = x[i] + I_[i];
      V_[i]                 = I + leak * ((1 - z_[i]) * V_[i] - I);
      const float z         = V_[i] > 1 ? 1 : 0;
      for (int o = 0; o < 2; ++o) mine.sum[o] += z * readout_[2 * i + o];
      x_trace_[i]   = decay * x_trace_[i] + z_[i];
      out_trace_[i] = decay * out_trace_[i] + z;
    }
    meet();
    ++mine.count;
    const float c = std::max(1 - static_cast<float>(std::pow(static_cast<double>(decay), mine.count)), 1e-8F);
    float       g[2];
    for (int o = 0; o < 2; ++o) {
      mine.r[o] *= leak;
      for (const Part& p : parts_) mine.r[o] += p.sum[o];
      g[o]          = mine.r[o] - target[o];
      mine.out_f[o] = decay * leak * mine.out_f[o] + (1 - decay);
    }
    for (int64_t i = mine.first; i < mine.last; ++i) {
      const float surrogate = std::max(steepness * s_.width - steepness * std::abs(V_[i] - 1), 0.0F);
      q_[i]                 = lr * (readout_[2 * i] * g[0] + readout_[2 * i + 1] * g[1]) * surrogate * f_trace_[i] / c;
      for (int o = 0; o < 2; ++o) readout_[2 * i + o] -= lr * out_trace_[i] * g[o] * mine.out_f[o] / c;
    }
    if (events_) update(mine);
  }
  // Makes the update that waits.
  void settle() {
    if (!events_) update(parts_[0]);
  }
  double signals() const {
    return static_cast<double>(std::count_if(q_.begin(), q_.end(), [](float q) { return q != 0; })) /
           static_cast<double>(s_.n);
  }

  std::vector<float> w;

 private:
  struct alignas(64) Part {
    int64_t              first, last;              // neurons
    std::vector<int32_t> starts = {}, order = {};  // of the synapses to them, by source
    std::vector<int32_t> spiking = {};
    float                sum[2] = {0, 0}, r[2] = {0, 0}, out_f[2] = {0, 0};
    int                  count = 0;
  };

  void all() {
    const int64_t  d    = s_.degree;
    const int32_t* from = wiring_.from.data();
    const float *  u = x_trace_.data(), *z = z_.data();
    for (int64_t j = 0; j < s_.n; ++j) {
      const float q   = q_[j];
      float       sum = 0, *p = w.data() + j * d;
      const auto* f = from + j * d;
#pragma omp simd reduction(+ : sum)
      for (int64_t k = 0; k < d; ++k) {
        const float v = p[k] - u[f[k]] * q;
        p[k]          = v;
        sum += v * z[f[k]];
      }
      I_[j] = sum;
    }
  }
  void by_events(const Part& mine) {
    std::fill(I_.begin() + mine.first, I_.begin() + mine.last, 0.0F);
    for (const Part& p : parts_)
      for (int32_t i : p.spiking)
        for (int32_t k = mine.starts[i]; k < mine.starts[i + 1]; ++k) I_[wiring_.to[mine.order[k]]] += w[mine.order[k]];
  }
  void update(const Part& mine) {
    const int64_t d = s_.degree;
    for (int64_t j = mine.first; j < mine.last; ++j) {
      if (q_[j] == 0) continue;
      const float q = q_[j], *u = x_trace_.data();
      float*      p = w.data() + j * d;
      const auto* f = wiring_.from.data() + j * d;
#pragma omp simd
      for (int64_t k = 0; k < d; ++k) p[k] -= u[f[k]] * q;
    }
  }

  Sizes              s_;
  const Wiring&      wiring_;
  bool               events_;
  std::vector<float> readout_, V_, z_, I_, x_trace_, f_trace_, q_, out_trace_;
  std::vector<Part>  parts_;
};

// ---- By the library

struct Net : nn::Module {
  nn::SparseLinear     rec;
  nn::LIF              neurons;
  nn::LeakyRateReadout out;
  Net(const Sizes& s, const Wiring& w)
      : rec(coo(Array::of<int32_t>(w.from, {s.n * s.degree}), Array::of<int32_t>(w.to, {s.n * s.degree}), s.n, s.n),
            Array::of<float>(w.weights, {s.n * s.degree})),
        neurons(s.n, {.tau       = 10.0,
                      .reset     = nn::Reset::Hard,
                      .surrogate = Surrogate("relu_grad", {steepness, s.width}),
                      .dt        = 1.0}),
        out(s.n, 2, {.tau = units::Time(10)}) {
    children({{"rec", rec}, {"neurons", neurons}, {"out", out}});
    out.W.set(Array::of<float>(w.readout, {s.n, 2}));
  }
  Tensor update(const Tensor& x) override { return out(neurons(x + rec(neurons.spikes()))); }
};

class ByLibrary {
 public:
  ByLibrary(const Sizes& s, const Wiring& w, std::optional<int64_t> batch = {},
            std::shared_ptr<optim::Optimizer> optimizer = std::make_shared<optim::SGD>(static_cast<double>(lr)))
      : net_(s, w), optimizer_(std::move(optimizer)) {
    batch ? init_all_states(net_, {.batch_size = *batch}) : init_all_states(net_);
    learner_.compile_graph(Types{{DType::F32, batch ? Shape{*batch, s.n} : Shape{s.n}}});
    optimizer_->register_trainable_weights(net_.params());
    const Tensor one(Array::of<float>({target[0], target[1]}, {2}));
    target_ = batch ? broadcast_to(one, {*batch, 2}) : one;
  }
  void  step(const Tensor& x) { step_(x, target_); }
  bool  is_batch() const { return target_.rank() == 2; }
  Array weights() const { return net_.rec.weight.leaf("weight").array(); }

 private:
  Tensor update(const Tensor& x, const Tensor& y) {
    const auto loss         = [&](Tensor xi, Tensor yi) { return losses::mse(learner_(xi), yi); };
    auto [value, gradients] = value_and_grad(loss, net_.params())(x, y);
    optimizer_->update(gradients);
    return value;
  }

  Net                                           net_;
  ES_D_RTRL                                     learner_{net_, static_cast<double>(decay)};
  std::shared_ptr<optim::Optimizer>             optimizer_;
  Tensor                                        target_;
  Jitted<std::function<Tensor(Tensor, Tensor)>> step_ =
      jit(std::function<Tensor(Tensor, Tensor)>([this](Tensor x, Tensor y) { return update(x, y); }));
};

// ---- In turn

double median(std::vector<double> v) {
  std::nth_element(v.begin(), v.begin() + static_cast<int64_t>(v.size() / 2), v.end());
  return v[v.size() / 2];
}

// The library's median on one thread.
double measure(const Sizes& s, const Wiring& wiring, double rate) {
  Environment::Scope  dt{{.dt = 1.0}};
  const auto          xs = drives(s, rate);
  std::vector<Tensor> tensors;
  for (const auto& x : xs) tensors.emplace_back(Array::of<float>(x, {s.n}));
  ByHand              all(s, wiring, false), events(s, wiring, true);
  ByLibrary           one(s, wiring), two(s, wiring);
  std::vector<double> t_one, t_two, t_all, t_events;
  // In turn, some steps each: the first of them finds caches and threads as others left them, and does not count.
  const auto run = [&](std::vector<double>& ms, int64_t first, const auto& step) {
    for (int64_t k = first; k < first + burst; ++k) {
      const auto at    = static_cast<size_t>(k % patterns);
      const auto begin = std::chrono::steady_clock::now();
      step(at);
      const double t = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
      if (k > first && first > 0) ms.push_back(1e3 * t);
    }
  };
  for (int64_t k = 0; k < s.steps; k += burst) {
    cpu::set_num_threads(1);
    run(t_one, k, [&](size_t at) { one.step(tensors[at]); });
    run(t_all, k, [&](size_t at) { all.step(xs[at].data()); });
    run(t_events, k, [&](size_t at) { events.step(xs[at].data()); });
    cpu::set_num_threads(2);
    run(t_two, k, [&](size_t at) { two.step(tensors[at]); });
  }
  all.settle();
  const Array ours  = one.weights();
  double      apart = 0, moved = 0;
  for (int64_t e = 0; e < ours.size(); ++e) {
    apart = std::max<double>(apart, std::abs(ours.data<float>()[e] - events.w[e]));
    apart = std::max<double>(apart, std::abs(ours.data<float>()[e] - all.w[e]));
    moved = std::max<double>(moved, std::abs(ours.data<float>()[e] - wiring.weights[e]));
  }
  const double a = median(t_one), b = median(t_two), h = median(t_all), v = median(t_events);
  fmt::print(
      "{:>5.0f} % {:>8.1f} % {:>10.3f} {:>10.3f} {:>10.3f} {:>10.3f} {:>9.2f} {:>9.2f} {:>9.2f}   {:.1e} of {:.1e}\n",
      100 * rate, 100 * events.signals(), a, b, h, v, a / h, a / v, a / b, apart, moved);
  return a;
}

// The library's median, so many spikes in every row.
double alone(const Sizes& s, ByLibrary& library, int64_t rows, double rate = 0.01, int threads = 1) {
  std::vector<Tensor> xs;
  const auto          drive = drives(s, rate);
  for (size_t k = 0; k < drive.size(); ++k) {
    std::vector<float> all;
    for (int64_t b = 0; b < rows; ++b) {
      const auto& x = drive[(k + static_cast<size_t>(b)) % drive.size()];
      all.insert(all.end(), x.begin(), x.end());
    }
    xs.emplace_back(Array::of<float>(all, library.is_batch() ? Shape{rows, s.n} : Shape{s.n}));
  }
  cpu::set_num_threads(threads);
  std::vector<double> ms;
  for (int64_t k = 0; k < s.steps; ++k) {
    const auto begin = std::chrono::steady_clock::now();
    library.step(xs[static_cast<size_t>(k) % xs.size()]);
    if (k >= burst) ms.push_back(1e3 * std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
  }
  return median(ms);
}

void more(const Sizes& s, const Wiring& wiring) {
  Environment::Scope dt{{.dt = 1.0}};
  for (const int64_t rows : {1, 4, 16}) {
    ByLibrary library(s, wiring, rows);
    fmt::print("batch of {:>2}: {:.3f}\n", rows, alone(s, library, rows));
  }
  const std::pair<const char*, std::shared_ptr<optim::Optimizer>> optimizers[] = {
      {"momentum", std::make_shared<optim::Momentum>(1e-4)}, {"Adam", std::make_shared<optim::Adam>(1e-4)}};
  for (const auto& [name, optimizer] : optimizers) {
    ByLibrary library(s, wiring, {}, optimizer);
    fmt::print("{}: {:.3f}\n", name, alone(s, library, 1));
  }
}

void by_threads(const Sizes& s, const Wiring& wiring) {
  Environment::Scope dt{{.dt = 1.0}};
  const int          most = cpu::num_threads();
  for (const double rate : {0.01, 0.16}) {
    double one = 0;
    for (int threads = 1; threads <= most; threads *= 2) {
      ByLibrary    library(s, wiring);
      const double ms = alone(s, library, 1, rate, threads);
      if (threads == 1) one = ms;
      fmt::print("{:.0f}% of spikes, threads: {:>2}, ms: {:.3f}, times as fast as one: {:.2f}\n", 100 * rate, threads,
                 ms, one / ms);
    }
  }
}

// Where threads wait for each other, spinning.
class Meeting {
 public:
  explicit Meeting(int threads) : threads_(threads) {}
  void operator()() {
    const int turn = turn_.load(std::memory_order_acquire);
    if (arrived_.fetch_add(1) + 1 == threads_) {
      arrived_.store(0);
      turn_.store(turn + 1, std::memory_order_release);
    } else {
      while (turn_.load(std::memory_order_acquire) == turn) continue;
    }
  }

 private:
  int threads_;
  alignas(64) std::atomic<int> arrived_{0};
  alignas(64) std::atomic<int> turn_{0};
};

// The median of `events` by hand, milliseconds, and the weights it leaves.
std::pair<double, std::vector<float>> by_hand(const Sizes& s, const Wiring& wiring, double rate, int threads) {
  const auto          xs = drives(s, rate);
  ByHand              hand(s, wiring, true, threads);
  Meeting             meeting(threads);
  std::vector<double> ms;
  const auto          work = [&](size_t part) {
    for (int64_t k = 0; k < s.steps; ++k) {
      const auto begin = std::chrono::steady_clock::now();
      hand.step(part, xs[static_cast<size_t>(k) % xs.size()].data(), [&] {
        if (threads > 1) meeting();
      });
      if (threads > 1) meeting();
      if (part == 0 && k >= burst)
        ms.push_back(1e3 * std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
    }
  };
  std::vector<std::thread> others;
  for (int p = 1; p < threads; ++p) others.emplace_back(work, static_cast<size_t>(p));
  work(0);
  for (std::thread& t : others) t.join();
  return {median(ms), hand.w};
}

void hands(const Sizes& s, const Wiring& wiring) {
  // Rounding errors grow from step to step.
  const Sizes few{s.n, s.degree, 24, s.width};
  for (const double rate : {0.01, 0.16}) {
    const auto w = by_hand(few, wiring, rate, 1).second, v = by_hand(few, wiring, rate, 2).second;
    double     apart = 0;
    for (size_t e = 0; e < w.size(); ++e) apart = std::max<double>(apart, std::abs(w[e] - v[e]));
    for (int round = 0; round < 3; ++round) {
      const double one = by_hand(s, wiring, rate, 1).first, two = by_hand(s, wiring, rate, 2).first;
      fmt::print("by hand, {:.0f}% of spikes, ms: {:.3f}, two threads: {:.3f}, times as fast: {:.2f}, apart: {:.1e}\n",
                 100 * rate, one, two, one / two, apart);
    }
  }
}

void by_spikes(const Sizes& s, const Wiring& wiring, double rate) {
  Environment::Scope dt{{.dt = 1.0}};
  ByLibrary          library(s, wiring);
  const int          threads = cpu::num_threads();
  fmt::print("{}% of spikes, threads: {}, ms: {:.3f}\n", 100 * rate, threads, alone(s, library, 1, rate, threads));
}

}  // namespace

int main(int argc, char** argv) {
  const auto number = [&](int i, int64_t otherwise) { return argc > i ? std::atoll(argv[i]) : otherwise; };
  const auto has    = [&](const char* word) {
    return std::any_of(argv, argv + argc, [&](const char* a) { return !std::strcmp(a, word); });
  };
  const Sizes  s{number(1, 10000), number(2, 100), number(3, 40), has("wide") ? 1.0F : 0.5F};
  const Wiring wiring(s);
  fmt::print("{} neurons, {} synapses, ms per step with update\n", s.n, s.n * s.degree);
  if (has("more")) {
    more(s, wiring);
    return 0;
  }
  if (has("hand")) {
    hands(s, wiring);
    return 0;
  }
  if (has("threads")) {
    by_threads(s, wiring);
    return 0;
  }
  if (const char* last = argv[argc - 1]; argc > 4 && std::strchr(last, '%')) {
    by_spikes(s, wiring, std::atof(last) / 100);
    return 0;
  }
  fmt::print(
      " spikes   signals   1 thread  2 threads    by hand     events    / hand  / events    1 / 2   weights apart\n");
  double few = 0, many = 0;
  for (const double rate : {0.0, 0.01, 0.02, 0.16}) {
    const double ms = measure(s, wiring, rate);
    if (rate == 0.01) few = ms;
    if (rate == 0.16) many = ms;
  }
  fmt::print("1% of 16%: {:.2f}\n", few / many);
}

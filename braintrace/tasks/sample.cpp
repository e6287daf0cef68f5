// SPDX-License-Identifier: Apache-2.0
#include "braintrace/tasks/sample.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numbers>
#include <utility>

#include <fmt/format.h>

#include "braintrace/base/rng.h"

namespace braintrace::tasks {

namespace {

constexpr int64_t max_elements = int64_t{1} << 31;  // of one sample
constexpr double  max_bytes    = 0x1p38;            // of one batch

enum Stream : uint32_t { Training, Validating, OfTask, Order, Testing };

std::array<uint32_t, 2> words(uint64_t x) { return {static_cast<uint32_t>(x), static_cast<uint32_t>(x >> 32)}; }

int64_t elements(const Shape& shape) {
  int64_t n = 1;
  for (int64_t d : shape) n *= d;
  return n;
}

void check_size(const TaskFacts& f) {
  double width = 1;
  for (int64_t d : f.input) width *= static_cast<double>(d);
  const double largest = static_cast<double>(f.length) * std::max(width, static_cast<double>(f.outputs));
  require(largest <= double(max_elements),
          "task: one sequence of {} steps with {} inputs and {} outputs is too large; at most {} numbers are held.",
          f.length, width, f.outputs, max_elements);
}

// Copies the sample's steps, `width` elements each, into row b of a batch [T, size, width].
template <class T>
void scatter(std::span<const T> steps, int64_t length, int64_t b, int64_t size, T* batch) {
  const int64_t width = std::ssize(steps) / length;
  for (int64_t t = 0; t < length; ++t) std::copy_n(steps.data() + t * width, width, batch + (t * size + b) * width);
}

class SampledTask final : public Task {
 public:
  SampledTask(TaskFacts facts, uint64_t seed, Read read, Buckets buckets)
      : facts_(std::move(facts)), seed_(seed), read_(std::move(read)), buckets_(std::move(buckets)) {
    check_size(facts_);
  }

  const TaskFacts& facts() const override { return facts_; }

  Batch batch(Part part, int64_t index, int64_t size) const override {
    const int64_t in = elements(facts_.input);
    require(size > 0 && index >= 0 && index < (int64_t{1} << 62) / size,
            "task: batch {} of size {} was requested; the index counts from 0 and a batch holds at least one sample.",
            index, size);
    require(part != Part::Test || facts_.has_test, "task: there is no test part; give test_file, or a fraction test.");
    const bool only_test = facts_.train_samples == 0 && facts_.test_samples > 0;
    require(part == Part::Test || !only_test, "task: there is only a test part.");
    require(4.0 * double(size) * double(facts_.length) * double(in + facts_.outputs) <= max_bytes,
            "task: {} sequences of {} steps with {} inputs do not fit in memory; take a smaller batch.", size,
            facts_.length, in);
    const bool                 classes = facts_.targets == TargetKind::Classes;
    const std::vector<int64_t> rows    = samples_of(part, index, size);
    const int64_t              T       = length_of(part, rows);

    Shape inputs{T, size};
    inputs.insert(inputs.end(), facts_.input.begin(), facts_.input.end());
    Batch out{.inputs  = Array({DType::F32, inputs}),
              .targets = classes ? Array({DType::I32, {T, size}}) : Array({DType::F32, {T, size, facts_.outputs}}),
              .mask    = Array({DType::F32, {T, size}})};

    std::vector<float>   x(static_cast<size_t>(T * in)), m(static_cast<size_t>(T));
    std::vector<float>   values(classes ? 0 : static_cast<size_t>(T * facts_.outputs));
    std::vector<int32_t> labels(classes ? static_cast<size_t>(T) : 0);
    for (int64_t b = 0; b < size; ++b) {
      std::fill(x.begin(), x.end(), 0.f);
      std::fill(values.begin(), values.end(), 0.f);
      std::fill(labels.begin(), labels.end(), 0);
      std::fill(m.begin(), m.end(), 1.f);
      if (const int64_t which = rows[static_cast<size_t>(b)]; which >= 0) {
        Random random(seed_, part, index * size + b);
        read_(part, which, random, {x, labels, values, m});
      } else {
        std::fill(m.begin(), m.end(), 0.f);
      }
      scatter<float>(x, T, b, size, out.inputs.mutable_data<float>());
      scatter<float>(m, T, b, size, out.mask.mutable_data<float>());
      if (classes)
        scatter<int32_t>(labels, T, b, size, out.targets.mutable_data<int32_t>());
      else
        scatter<float>(values, T, b, size, out.targets.mutable_data<float>());
    }
    return out;
  }

 private:
  // The sample of each row; -1: none.
  std::vector<int64_t> samples_of(Part part, int64_t index, int64_t size) const {
    const int64_t        N = facts_.samples(part);
    std::vector<int64_t> out(static_cast<size_t>(size));
    // Training skips samples that do not fill all rows; the other parts are used completely.
    const int64_t per_row = part == Part::Train ? std::max<int64_t>(N / size, 1) : (N + size - 1) / size;
    Pool          pool;
    for (int64_t b = 0; b < size; ++b) {
      const int64_t n     = index * size + b;
      int64_t&      which = out[static_cast<size_t>(b)];
      if (N == 0) {
        which = n;
      } else if (facts_.contiguous) {
        which = b * per_row + index % per_row;
        if (which >= N) which = -1;
      } else {
        which = part == Part::Test ? n % N : ordered(part, n / N, n % N, 16 * size, pool);
      }
    }
    return out;
  }

  // Sample number r of an epoch. With buckets, pools of consecutive samples in the random order are sorted by length,
  // alternately ascending and descending, so that neighbors are similar.
  struct Pool {
    int64_t              epoch = -1, number = -1;
    std::vector<int64_t> samples = {};
  };
  int64_t ordered(Part part, int64_t epoch, int64_t r, int64_t pool_size, Pool& pool) const {
    const int64_t N    = facts_.samples(part);
    const auto    turn = static_cast<uint64_t>(epoch) * 2 + static_cast<uint64_t>(part);
    if (buckets_.count <= 1) return permuted(r, N, seed_, turn);
    const int64_t number = r / pool_size, from = number * pool_size;
    if (pool.epoch != epoch || pool.number != number) {
      pool = {epoch, number};
      for (int64_t i = from; i < std::min(from + pool_size, N); ++i)
        pool.samples.push_back(permuted(i, N, seed_, turn));
      std::stable_sort(pool.samples.begin(), pool.samples.end(), [&](int64_t a, int64_t b) {
        return number % 2 == 0 ? buckets_.length(part, a) < buckets_.length(part, b)
                               : buckets_.length(part, a) > buckets_.length(part, b);
      });
    }
    return pool.samples[static_cast<size_t>(r - from)];
  }

  int64_t length_of(Part part, const std::vector<int64_t>& rows) const {
    if (buckets_.count <= 1) return facts_.length;
    const int64_t stair   = (facts_.length + buckets_.count - 1) / buckets_.count;
    int64_t       longest = 1;
    for (int64_t which : rows)
      if (which >= 0) longest = std::max(longest, buckets_.length(part, which));
    return std::min(facts_.length, (longest + stair - 1) / stair * stair);
  }

  TaskFacts facts_;
  uint64_t  seed_;
  Read      read_;
  Buckets   buckets_;
};

}  // namespace

Random::Random(uint64_t seed, Part part, int64_t number)
    : Random(seed,
             part == Part::Train        ? Training
             : part == Part::Validation ? Validating
                                        : Testing,
             static_cast<uint64_t>(number)) {}
Random::Random(uint64_t seed, uint32_t stream, uint64_t number)
    : key_(words(seed)), counter_{0, words(number)[0], words(number)[1], stream} {}
Random Random::of_task(uint64_t seed, int64_t which) { return Random(seed, OfTask, static_cast<uint64_t>(which)); }

uint32_t Random::bits() {
  if (used_ == 4) {
    block_ = philox(counter_, key_);
    ++counter_[0];
    used_ = 0;
  }
  return block_[static_cast<size_t>(used_++)];
}
double Random::uniform(double from, double to) {
  const uint64_t high = bits(), low = bits();
  return from + (to - from) * static_cast<double>((high << 21) ^ (low >> 11)) * 0x1p-53;
}
double Random::normal() {  // Box and Muller 1958
  const double radius = std::sqrt(-2 * std::log(1 - uniform()));
  return radius * std::cos(2 * std::numbers::pi * uniform());
}
int64_t Random::integer(int64_t below) { return static_cast<int64_t>(uniform() * static_cast<double>(below)); }
int64_t Random::poisson(double mean) {  // waiting times with rate 1 that fit into the mean
  int64_t n = 0;
  for (double t = -std::log(1 - uniform()); t < mean; t -= std::log(1 - uniform())) ++n;
  return n;
}

std::span<float> Sample::input(int64_t t) const {
  const size_t width = inputs.size() / mask.size();
  return inputs.subspan(static_cast<size_t>(t) * width, width);
}
std::span<float> Sample::value(int64_t t) const {
  const size_t width = values.size() / mask.size();
  return values.subspan(static_cast<size_t>(t) * width, width);
}
void Sample::label(int32_t which) const { std::fill(classes.begin(), classes.end(), which); }
void Sample::score_only(int64_t from) const { std::fill_n(mask.begin(), from < 0 ? length() + from : from, 0.f); }
void Sample::end_at(int64_t length) const { std::fill(mask.begin() + length, mask.end(), 0.f); }

std::shared_ptr<Task> sampled(TaskFacts facts, uint64_t seed, Read read, Buckets buckets) {
  return std::make_shared<SampledTask>(std::move(facts), seed, std::move(read), std::move(buckets));
}
std::shared_ptr<Task> generated(TaskFacts facts, uint64_t seed, Draw draw) {
  facts.has_test = true;
  return sampled(std::move(facts), seed,
                 [draw = std::move(draw)](Part, int64_t, Random& random, const Sample& s) { draw(random, s); });
}

// A Feistel network on 2k bits, 4ᵏ ≥ n, permutes 0 … 4ᵏ-1; repeating it until the value is below n permutes 0 … n-1
// (Black and Rogaway 2002). Nothing is stored, so any sample of any epoch is found directly.
int64_t permuted(int64_t i, int64_t n, uint64_t seed, uint64_t epoch) {
  constexpr int  rounds = 6;
  const int      k      = std::max(1, (static_cast<int>(std::bit_width(static_cast<uint64_t>(n - 1))) + 1) / 2);
  const uint64_t half   = (uint64_t{1} << k) - 1;
  auto           x      = static_cast<uint64_t>(i);
  do {
    uint64_t left = x >> k, right = x & half;
    for (uint32_t round = 0; round < rounds; ++round) {
      const auto mixed = philox({static_cast<uint32_t>(right), words(epoch)[0], words(epoch)[1], Order + (round << 8)},
                                words(seed))[0];
      left             = std::exchange(right, left ^ (mixed & half));
    }
    x = left << k | right;
  } while (x >= static_cast<uint64_t>(n));
  return static_cast<int64_t>(x);
}

Split split(int64_t n, const zoo::Fields& fields, const std::string& fraction_field) {
  const double  fraction   = probability(fields, fraction_field);
  const int64_t validating = std::llround(fraction * static_cast<double>(n));
  if (validating < 1 || validating >= n)
    fields.refuse(fraction_field, fmt::format("{} of {} samples leaves one part empty.", fraction, n));
  Split out;
  for (int64_t i = 0; i < n; ++i) (permuted(i, n, 0, 0) < validating ? out.validation : out.train).push_back(i);
  return out;
}

int64_t count(const zoo::Fields& fields, const std::string& name) {
  const int64_t n = fields.integer(name);
  if (n > 1'000'000'000) fields.refuse(name, fmt::format("{} is too large.", n));
  return n;
}
double positive(const zoo::Fields& fields, const std::string& name) {
  const double x = fields.number(name);
  if (!(x > 0) || std::isinf(x)) fields.refuse(name, fmt::format("expected a positive number, got {}.", x));
  return x;
}
double probability(const zoo::Fields& fields, const std::string& name) {
  const double p = fields.number(name);
  if (!(p >= 0 && p <= 1)) fields.refuse(name, fmt::format("expected a number from 0 to 1, got {}.", p));
  return p;
}
double spike_chance(const zoo::Fields& fields, const std::string& rate_hz) {
  const double rate = fields.number(rate_hz), dt = positive(fields, "dt_ms"), p = rate * dt / 1000;
  if (!(p >= 0 && p <= 1))
    fields.refuse(rate_hz,
                  fmt::format("{} Hz are {} spikes in a step of {} ms; at most one is possible.", rate, p, dt));
  return p;
}
int64_t steps(const zoo::Fields& fields, const std::string& time_ms) {
  const double ms = positive(fields, time_ms), dt = positive(fields, "dt_ms");
  const double n = std::round(ms / dt);
  if (!(n >= 1 && n <= 1e9)) fields.refuse(time_ms, fmt::format("{} ms are {} steps of {} ms.", ms, n, dt));
  return static_cast<int64_t>(n);
}

}  // namespace braintrace::tasks

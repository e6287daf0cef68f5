// SPDX-License-Identifier: Apache-2.0
// One learner per sensor: two hundred machines hum at different frequencies, and each learner learns to predict the
// next sample of its machine. One compiled program runs all of them. At the end, one learner moves to another fleet and
// continues there.
#include "braintrace/stream/fleet.h"

#include <cmath>
#include <cstdio>
#include <numbers>

#include "braintrace/braintrace.h"

struct Net : bt::nn::Module {
  bt::nn::GRUCell rnn{1, 16};
  bt::nn::Linear  out{16, 1};
  Net() { children({{"rnn", rnn}, {"out", out}}); }
  bt::Tensor update(const bt::Tensor& x) override { return out(rnn(x)); }
};

constexpr int64_t machines = 200;

// Sample t of every machine, one row for each.
bt::Array samples(int t) {
  std::vector<float> out;
  for (int64_t i = 0; i < machines; ++i) {
    const double period = 8 + 0.05 * static_cast<double>(i);
    out.push_back(static_cast<float>(std::sin(2 * std::numbers::pi * t / period)));
  }
  return bt::Array::of<float>(out, {machines, 1});
}

double mean_of(const bt::Array& a) {
  double sum = 0;
  for (int64_t i = 0; i < a.size(); ++i) sum += bt::at(a, i);
  return sum / static_cast<double>(a.size());
}

int main() {
  bt::random::seed(1);
  Net                             model, elsewhere;
  const bt::Type                  input{bt::DType::F32, {1}};
  const bt::stream::StreamOptions learning{.rule = "D_RTRL", .optimizer = "adam", .lr = 3e-3};
  bt::stream::Fleet               fleet(model, input, learning);
  for (int64_t i = 0; i < machines; ++i) fleet.add(fmt::format("machine {}", i));

  constexpr int block = 100, blocks = 4;
  double        sum = 0, first = 0, last = 0;
  for (int t = 0; t < block * blocks; ++t) {
    sum += mean_of(fleet.learn(samples(t), samples(t + 1)).losses);
    if ((t + 1) % block) continue;
    last = sum / block;
    if (t + 1 == block) first = last;
    fmt::print("steps {:4} to {:4}   mean loss of {} learners {:.5f}\n", t + 2 - block, t + 1, machines, last);
    sum = 0;
  }

  const std::string file = "machine_7.safetensors";
  fleet.save_member("machine 7", file);
  bt::stream::Fleet other(elsewhere, input, learning);
  other.load_member("machine 7", file);
  std::remove(file.c_str());
  const bt::Array x = bt::Array::of<float>({0.5F}, {1, 1});
  const bool      moved =
      bt::identical(fleet.predict({"machine 7"}, x).predictions, other.predict({"machine 7"}, x).predictions);
  fmt::print("machine 7 says the same in its new fleet: {}\n", moved ? "yes" : "no");
  return moved && last < 0.2 * first ? 0 : 1;
}

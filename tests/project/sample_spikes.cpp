// SPDX-License-Identifier: Apache-2.0
// Writes shd_train.h5 and shd_test.h5 with synthetic words, for the examples to read: word c is a tone that starts at
// channel 35 c and rises.  Usage: sample_spikes FOLDER
#include <cmath>
#include <random>

#include "tests/support/spike_file_writer.h"

int main(int argc, char** argv) {
  using namespace braintrace::data;
  if (argc != 2) return 2;
  std::mt19937 dice(1);
  for (const char* part : {"train", "test"}) {
    SpikeContent c{.times = {}, .units = {}, .labels = {}};
    for (int i = 0; i < 80; ++i) {
      const int word = i % 20;
      c.labels.push_back(static_cast<uint16_t>(word));
      c.times.emplace_back();
      c.units.emplace_back();
      for (int k = 0; k < 2000; ++k) {
        const float t = static_cast<float>(k) / 2000;
        c.times.back().push_back(0.8f * t);
        c.units.back().push_back(static_cast<uint16_t>((35 * word + int(100 * t) + int(dice() % 20)) % 700));
      }
    }
    if (!write_spike_file(std::string(argv[1]) + "/shd_" + part + ".h5", c)) return 1;
  }
}

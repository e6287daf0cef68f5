// SPDX-License-Identifier: Apache-2.0
// Thousands of random models: every rule in one of its forms (for a single model, in all of them), compared with its
// definition. A mismatch is printed with its model and seed.
//
//   soak_oracle [MODELS [FIRST_SEED [without FEATURE…]]]       features: those of tests/oracle/generate.h
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <utility>

#include <fmt/format.h>

#include "tests/oracle/generate.h"
#include "tests/oracle/trial.h"

using namespace braintrace;
using namespace braintrace::oracle;

int main(int argc, char** argv) {
  const uint64_t models = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 1000,
                 first  = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 1;
  Features                            features;
  const std::pair<const char*, bool*> switches[] = {
      {"sharing", &features.sharing}, {"write_only", &features.write_only},
      {"copies", &features.copies},   {"outside", &features.outside},
      {"made", &features.made},       {"moves", &features.moves},
      {"varying", &features.varying}};
  for (int i = 3; i < argc; ++i)
    for (const auto& [name, on] : switches)
      if (std::strcmp(argv[i], name) == 0) *on = false;
  int  trials = 0, misses = 0;
  long leaves = 0, live = 0;
  for (uint64_t seed = first; seed < first + models; ++seed) {
    const Model m    = random_model(seed, features);
    const Data  data = data_of(m);
    bool        said = false;
    for (int r = 0; r < num_rules; ++r)
      for (const Form form : {Form::Step, Form::Driver, Form::Window}) {
        const Setting s{static_cast<RuleKind>(r), form};
        if ((models > 1 && (seed + r + static_cast<int>(form)) % 3 != 0) || !applies(s, m)) continue;
        ++trials;
        std::string problem;
        try {
          const Verdict v = compare(by_library(m, data, s), by_definition(m, data, s));
          leaves += v.leaves;
          live += v.live;
          if (!(v.worst < tolerance(s))) problem = fmt::format("{} differs by {:.3g}", v.where, v.worst);
        } catch (const std::exception& e) {
          problem = e.what();
        }
        if (problem.empty()) continue;
        ++misses;
        if (!said) fmt::print("{}", to_text(m));
        said = true;
        fmt::print("  MISS seed {} {}: {}\n", seed, to_text(s), problem);
      }
    if ((seed - first + 1) % 50 == 0)
      fmt::print("{} models, {} trials, {} misses, {} of {} gradients live\n", seed - first + 1, trials, misses, live,
                 leaves);
    std::fflush(stdout);
  }
  fmt::print("{} trials, {} misses\n", trials, misses);
  return misses > 0;
}

// SPDX-License-Identifier: Apache-2.0
// Any assignment to a field of a configuration (--set) either fails with a UserError or gives a configuration that is
// the same when written and read again.
#include <cstring>

#include "braintrace/train/config.h"
#include "tests/fuzz/memory_file.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace braintrace;
  static constexpr const char config[] = R"({"task": {"type": "copy", "lag": 3}, "steps": 10, "model": {"type": "chain",
    "layers": [{"name": "rnn", "type": "gru", "n_in": 10, "n_rec": 4}]}, "optimizer": {"lr": 0.01}})";
  const MemoryFile            file(reinterpret_cast<const uint8_t*>(config), std::strlen(config));
  try {
    const train::Config a = train::load_config(file.path(), {std::string(reinterpret_cast<const char*>(data), size)});
    const train::Config b = train::read_config(a.text);
    if (a.text != b.text || !difference(a, b).empty()) __builtin_trap();
  } catch (const UserError&) {
  }
  return 0;
}

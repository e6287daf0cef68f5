// SPDX-License-Identifier: Apache-2.0
// A checkpoint that was changed anywhere and has a correct checksum either fails with a UserError, or gives a run in a
// possible position, which can take another step. A step takes longer than everything else: one file in sixteen
// takes it.
#include <cstring>
#include <zlib.h>

#include <fmt/format.h>

#include "braintrace/base/temporary_folder.h"
#include "braintrace/io/file.h"
#include "braintrace/runtime/backend.h"
#include "braintrace/train/trainer.h"
#include "tests/fuzz/memory_file.h"

namespace {

using namespace braintrace;

train::Config config() {
  return train::read_config(R"({"task": {"type": "copy", "lag": 3, "count": 1, "symbols": 2}, "steps": 4, "batch": 1,
    "model": {"type": "chain", "layers": [{"name": "rnn", "type": "minimal_rnn", "n_in": 4, "n_rec": 2},
                                          {"name": "out", "type": "linear", "n_in": 2, "n_out": 4}]},
    "optimizer": {"lr": 0.01}, "update": "step", "backend": "reference"})");
}

train::Trainer& trainer() {
  static train::Trainer one(config());
  return one;
}

// A valid file, as a start for mutations.
std::string sample() {
  const TemporaryFolder folder;
  const std::string     path = (folder.path / "good.safetensors").string();
  trainer().step();
  trainer().save(path);
  return read_text(path);
}

uint32_t set_checksum(std::string& file) {
  static constexpr std::string_view before = "\"crc32\":\"";
  const size_t                      at     = file.find(before);
  if (at == file.npos || at + before.size() + 8 > file.size()) return 0;
  char* const digits = file.data() + at + before.size();
  std::memset(digits, '0', 8);
  const auto sum = ::crc32(0, reinterpret_cast<const Bytef*>(file.data()), static_cast<uInt>(file.size()));
  fmt::format_to_n(digits, 8, "{:08x}", sum);
  return static_cast<uint32_t>(sum);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const std::string good = sample();
  // The input is a list of changes: two bytes of place, one byte of value.
  std::string file = good;
  for (size_t i = 0; i + 2 < size; i += 3) {
    const size_t place = (size_t{data[i]} << 8 | data[i + 1]) % file.size();
    file[place]        = static_cast<char>(data[i + 2]);
  }
  const uint32_t   sum = set_checksum(file);
  const MemoryFile bytes(reinterpret_cast<const uint8_t*>(file.data()), file.size());
  try {
    trainer().load(bytes.path());
    if (trainer().updates() < 0) __builtin_trap();
    if (sum % 16 == 0) trainer().step();
  } catch (const UserError&) {
  }
  return 0;
}

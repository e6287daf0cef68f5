// SPDX-License-Identifier: Apache-2.0
// TensorBoard's event files: TFRecords of protocol buffers, of which only these fields are written.
//
//   Event    1: double wall_time   2: int64 step   3: string file_version   5: Summary summary
//   Summary  1: repeated Value     Value  1: string tag   2: float simple_value
#include <bit>
#include <chrono>
#include <filesystem>
#include <utility>
#include <vector>

#include "braintrace/io/file.h"
#include "braintrace/io/tfrecord.h"
#include "braintrace/train/log_files.h"

namespace braintrace::train {

namespace {

using Scalars = std::vector<std::pair<std::string_view, double>>;

enum Wire : uint8_t { Varint = 0, Fixed64 = 1, Bytes = 2, Fixed32 = 5 };

std::string varint(uint64_t value) {
  std::string out;
  for (; value >= 0x80; value >>= 7) out += static_cast<char>(value | 0x80);
  return out + static_cast<char>(value);
}
std::string key(int field, Wire wire) { return varint(static_cast<uint64_t>(field) << 3 | wire); }
std::string bytes(int field, std::string_view content) {
  return (key(field, Wire::Bytes) + varint(content.size())).append(content);
}
template <class Word>
std::string fixed(int field, Wire wire, Word word) {
  std::string out = key(field, wire);
  for (size_t i = 0; i < sizeof word; ++i) out += static_cast<char>(word >> 8 * i & 0xFF);
  return out;
}

std::string event_head() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return fixed(1, Wire::Fixed64, std::bit_cast<uint64_t>(std::chrono::duration<double>(now).count()));
}

std::string event(int64_t step, const Scalars& scalars) {
  std::string summary;
  for (const auto& [tag, value] : scalars)
    summary += bytes(1, bytes(1, tag) + fixed(2, Wire::Fixed32, std::bit_cast<uint32_t>(static_cast<float>(value))));
  return tfrecord(event_head() + key(2, Wire::Varint) + varint(static_cast<uint64_t>(step)) + bytes(5, summary));
}

// The step of an event written by us, after the 9 bytes of the time; 0 if there is none.
int64_t step_of(std::string_view event) {
  constexpr size_t at = 9;
  if (event.size() <= at || event[at] != key(2, Wire::Varint)[0]) return 0;
  uint64_t step = 0;
  for (size_t i = at + 1, shift = 0; i < event.size() && shift < 64; ++i, shift += 7) {
    step |= static_cast<uint64_t>(event[i] & 0x7F) << shift;
    if (!(event[i] & 0x80)) break;
  }
  return static_cast<int64_t>(step);
}

std::string file_in(const std::string& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  require(!error, "{}: cannot create the folder: {}.", folder, error.message());
  return (std::filesystem::path(folder) / "events.out.tfevents.0.braintrace").string();
}

int64_t kept_events(const std::string& path, const RunRecord& run) {
  if (run.start_step == 0 || !std::filesystem::exists(path)) return 0;
  const Buffer           file = read_file(path);
  const std::string_view all(reinterpret_cast<const char*>(file.data.get()), file.size);
  const auto             before = [&](std::string_view event) {
    return is_before_checkpoint(run, step_of(event), event.find("validation/loss") != event.npos);
  };
  size_t kept = 0;
  for (TfRecord r = first_tfrecord(all); r.whole && before(r.bytes); r = first_tfrecord(all.substr(kept)))
    kept += r.length;
  return static_cast<int64_t>(kept);
}

}  // namespace

void TensorboardLog::begin(const RunRecord& run) {
  const std::string path = file_in(folder_);
  const int64_t     kept = kept_events(path, run);
  file_.emplace(path, kept);
  if (kept == 0) file_->append(tfrecord(event_head() + bytes(3, "brain.Event:2")));
}
void TensorboardLog::step(const StepRecord& r) {
  Scalars s = {
      {"train/loss", r.loss}, {"train/gradient_norm", r.gradient_norm}, {"train/learning_rate", r.learning_rate}};
  if (r.accuracy >= 0) s.emplace_back("train/accuracy", r.accuracy);
  file_->append(event(r.step, s));
}
void TensorboardLog::validation(const ValidationRecord& r) {
  Scalars s = {{"validation/loss", r.loss}};
  if (r.accuracy >= 0) s.emplace_back("validation/accuracy", r.accuracy);
  file_->append(event(r.step, s));
}

}  // namespace braintrace::train

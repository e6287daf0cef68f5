// SPDX-License-Identifier: Apache-2.0
#include "braintrace/data/aedat.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "braintrace/data/csv.h"
#include "braintrace/io/npy.h"

namespace braintrace::data {

namespace {

constexpr int64_t header_size = 28, event_size = 8;

int64_t time_of(const std::byte* event, int64_t overflows) {
  return static_cast<int64_t>(little_endian<4>(event + 4)) + (overflows << 31);
}

// The end of the lines that begin with '#'. Each line is looked for in a bounded piece of the file.
int64_t end_of_comments(const Source& source) {
  int64_t at = 0;
  while (at < source.size() && source.read(at, 1, "a header line")[0] == std::byte{'#'}) {
    const int64_t piece = std::min<int64_t>(4096, source.size() - at);
    const Bytes   line  = source.read(at, piece, "a header line");
    const auto    end   = std::find(line.begin(), line.end(), std::byte{'\n'});
    if (end == line.end()) refuse(source.path(), at, "a header line with an end", fmt::format("{} bytes", piece));
    at += end - line.begin() + 1;
  }
  return at;
}

}  // namespace

AedatFile::AedatFile(const std::string& path) : source_(path) {
  const Bytes start = source_.read(0, std::min<int64_t>(14, source_.size()), "#!AER-DAT3.1");
  if (std::string(reinterpret_cast<const char*>(start.data()), start.size()).substr(0, 12) != "#!AER-DAT3.1")
    refuse(path, 0, "the first line #!AER-DAT3.1", "something else");
  for (int64_t at = end_of_comments(source_); at < source_.size();) {
    const Bytes   header = source_.read(at, header_size, "a packet header");
    const int64_t type = little_endian<2>(&header[0]), size = little_endian<4>(&header[4]);
    const int64_t overflows = little_endian<4>(&header[12]), count = little_endian<4>(&header[20]);
    const int64_t events = at + header_size;
    if (overflows >= 1 << 16)
      refuse(path, at + 12, "fewer than 65536 overflows of the clock", fmt::format("{}", overflows));
    if (size == 0) refuse(path, at + 4, "a positive event size", "0");
    if (count > (source_.size() - events) / size)
      refuse(path, at + 20, fmt::format("{} events of {} bytes", count, size),
             fmt::format("{} bytes to the end of the file", source_.size() - events));
    if (type == 1 && count > 0) {
      if (size != event_size) refuse(path, at + 4, "polarity events of 8 bytes", fmt::format("{}", size));
      const Bytes first = source_.read(events, event_size, "an event");
      const Bytes last  = source_.read(events + (count - 1) * event_size, event_size, "an event");
      packets_.push_back({events, count, overflows, time_of(first.data(), overflows), time_of(last.data(), overflows)});
    }
    at = events + count * size;
  }
}

Events AedatFile::read(int64_t from_us, int64_t to_us) const {
  Events events;
  for (const Packet& p : packets_) {
    if (p.last_us < from_us || p.first_us >= to_us) continue;
    const Bytes bytes = source_.read(p.offset, p.count * event_size, "events");
    for (int64_t i = 0; i < p.count; ++i) {
      const std::byte* event = &bytes[static_cast<size_t>(i * event_size)];
      const int64_t    t     = time_of(event, p.overflows);
      if (t < from_us || t >= to_us) continue;
      const uint64_t d = little_endian<4>(event);
      events.push_back({static_cast<int32_t>(d >> 17 & 0x1fff), static_cast<int32_t>(d >> 2 & 0x1fff),
                        static_cast<int32_t>(d >> 1 & 1), t});
    }
  }
  return events;
}

std::vector<Clip> read_clips(const std::string& csv_path, int64_t classes) {
  const CsvFile     table(csv_path);
  std::vector<Clip> clips;
  require(table.columns().size() == 3, "{}: expected the columns class, start and end, found {}.", csv_path,
          table.columns().size());
  for (const std::vector<double>& row : table.rows(0, table.size())) {
    require(row[0] >= 1 && row[0] <= double(classes) && row[0] == std::floor(row[0]),
            "{}: row {}: expected a class from 1 to {}, found {}.", csv_path, clips.size() + 1, classes, row[0]);
    require(row[1] >= 0 && row[2] > row[1] && row[2] < 9e15, "{}: row {}: expected start < end in µs, found {} and {}.",
            csv_path, clips.size() + 1, row[1], row[2]);
    clips.push_back({static_cast<int64_t>(row[0]) - 1, static_cast<int64_t>(row[1]), static_cast<int64_t>(row[2])});
  }
  return clips;
}

Events read_gesture_npy(const std::string& path) {
  const Array table = read_npy(path);
  require(table.shape().size() == 2 && table.shape()[1] == 4,
          "{}: expected events [n, 4] of x, y, polarity, ms, found {}.", path, to_string(table.type()));
  const Doubles values(table);
  Events        events(static_cast<size_t>(table.shape()[0]));
  for (size_t i = 0; i < events.size(); ++i) {
    const double* row = values.data() + 4 * i;
    for (int k = 0; k < 4; ++k)
      require(row[k] >= 0 && row[k] < (k < 3 ? 65536 : 1e12), "{}: row {}, column {}: {} is out of range.", path, i, k,
              row[k]);
    events[i] = {static_cast<int32_t>(row[0]), static_cast<int32_t>(row[1]), static_cast<int32_t>(row[2]),
                 std::llround(row[3] * 1000)};
  }
  return events;
}

}  // namespace braintrace::data

// SPDX-License-Identifier: Apache-2.0
#include "braintrace/data/idx.h"

#include <algorithm>
#include <functional>
#include <zlib.h>

#include <fmt/format.h>

namespace braintrace::data {

namespace {

constexpr int64_t max_bytes = int64_t{1} << 32;  // unpacked

int64_t header_bytes(const Shape& shape) { return 4 + 4 * std::ssize(shape); }
int64_t item_size(const Shape& shape) {
  int64_t n = 1;
  for (size_t i = 1; i < shape.size(); ++i) n *= shape[i];
  return n;
}

// The sizes, from the first bytes of a file: four times the rank and four.
Shape decode_header(const std::string& path, const std::function<Bytes(int64_t, int64_t)>& read) {
  const Bytes magic = read(0, 4);
  const auto  b     = [&](int i) { return std::to_integer<int>(magic[static_cast<size_t>(i)]); };
  if (b(0) != 0 || b(1) != 0 || b(2) != 8 || b(3) == 0 || b(3) > 8)
    refuse(path, 0, "bytes 0 0 8 and a rank of 1 to 8", fmt::format("{} {} {} {}", b(0), b(1), b(2), b(3)));
  const Bytes sizes = read(4, 4 * b(3));
  Shape       shape;
  int64_t     total = 1;
  for (int k = 0; k < b(3); ++k) {
    const auto n = static_cast<int64_t>(big_endian<4>(&sizes[static_cast<size_t>(4 * k)]));
    if (n == 0 || n > max_bytes / total)
      refuse(path, 4 + 4 * k, fmt::format("a size, with at most {} elements in all", max_bytes), fmt::format("{}", n));
    total *= n;
    shape.push_back(n);
  }
  return shape;
}

struct GzFile {
  std::string                                path;
  std::unique_ptr<gzFile_s, int (*)(gzFile)> file;

  explicit GzFile(const std::string& p) : path(p), file(gzopen(p.c_str(), "rb"), gzclose) {
    require(file != nullptr, "{}: cannot be opened.", p);
  }
  Bytes read(int64_t count, const char* what) {
    Bytes         out(static_cast<size_t>(count));
    const int64_t before = gztell(file.get());
    int64_t       done   = 0;
    while (done < count) {
      const int n =
          gzread(file.get(), out.data() + done, static_cast<unsigned>(std::min<int64_t>(count - done, 1 << 20)));
      if (n <= 0) break;
      done += n;
    }
    int         code  = 0;
    const char* error = gzerror(file.get(), &code);
    if (done < count)
      refuse(path, before + done, fmt::format("{} ({} bytes, unpacked)", what, count),
             code == Z_OK || code == Z_BUF_ERROR ? fmt::format("the end after {}", done) : std::string(error));
    return out;
  }
};

}  // namespace

IdxFile::IdxFile(const std::string& path) : source_(path) {
  const bool gzipped = source_.size() >= 2 && big_endian<2>(source_.read(0, 2, "a header").data()) == 0x1f8b;
  if (!gzipped) {
    shape_ = decode_header(path, [&](int64_t at, int64_t n) { return source_.read(at, n, "a header"); });
    const int64_t expected = header_bytes(shape_) + shape_[0] * item_size(shape_);
    if (source_.size() != expected)
      refuse(path, source_.size(), fmt::format("a file of {} bytes for {}", expected, to_string(shape_)),
             fmt::format("{} bytes", source_.size()));
    return;
  }
  GzFile gz(path);
  shape_ = decode_header(path, [&](int64_t, int64_t n) { return gz.read(n, "a header"); });
  // Deflate packs at most 1032 to 1, so a false size is noticed before memory is taken for it.
  const int64_t bytes = shape_[0] * item_size(shape_);
  if (bytes / 1032 > source_.size())
    refuse(path, 4, fmt::format("at most {} elements in {} packed bytes", source_.size() * 1032, source_.size()),
           fmt::format("{}", bytes));
  unpacked_ = gz.read(bytes, "elements");
}

Bytes IdxFile::item(int64_t i) const {
  const int64_t n = item_size(shape_);
  require(i >= 0 && i < size(), "{}: item {} was requested; there are {}.", path(), i, size());
  if (unpacked_.empty()) return source_.read(header_bytes(shape_) + i * n, n, "an item");
  return Bytes(unpacked_.begin() + i * n, unpacked_.begin() + (i + 1) * n);
}

IdxFile open_idx(const std::string& folder, const std::string& name) {
  const std::string plain = folder + "/" + name, packed = plain + ".gz";
  require(exists(plain) || exists(packed), "{}: there is neither this file nor {}.gz.", plain, name);
  return IdxFile(exists(plain) ? plain : packed);
}

}  // namespace braintrace::data

// SPDX-License-Identifier: Apache-2.0
#include "braintrace/data/spike_file.h"

#ifdef BRAINTRACE_HDF5
#include <cmath>
#include <functional>
#include <hdf5.h>
#include <mutex>

#include <fmt/format.h>

#include "braintrace/data/source.h"

namespace braintrace::data {

namespace {

std::recursive_mutex& turn() {
  static std::recursive_mutex mutex;  // an object may be closed while another is being opened
  return mutex;
}

// An open HDF5 object, closed at the end of its life.
class Handle {
 public:
  Handle(hid_t id, herr_t (*close)(hid_t), const std::string& what) : id_(id), close_(close) {
    require(id >= 0, "{} cannot be read as HDF5.", what);
  }
  ~Handle() { close_(id_); }
  Handle(const Handle&)            = delete;
  Handle& operator=(const Handle&) = delete;
          operator hid_t() const { return id_; }

 private:
  hid_t id_;
  herr_t (*close_)(hid_t);
};

struct File {
  std::string path;
  Handle      file, times, units;

  explicit File(const std::string& p)
      : path(p),
        file(H5Fopen(p.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT), H5Fclose, p + ": the file"),
        times(dataset("spikes/times")),
        units(dataset("spikes/units")) {}

  Handle dataset(const char* name) const {
    return {H5Dopen2(file, name, H5P_DEFAULT), H5Dclose, fmt::format("{}: the data set '{}'", path, name)};
  }
};

// The length of a list.
hsize_t length(const File& f, hid_t dataset, const char* name) {
  const Handle space(H5Dget_space(dataset), H5Sclose, f.path);
  hsize_t      n[1];
  require(H5Sget_simple_extent_ndims(space) == 1 && H5Sget_simple_extent_dims(space, n, nullptr) == 1,
          "{}: '{}': expected a list.", f.path, name);
  return n[0];
}

void check_class(const File& f, hid_t dataset, const char* name, H5T_class_t element, const char* expected) {
  const Handle type(H5Dget_type(dataset), H5Tclose, f.path);
  require(H5Tget_class(type) == H5T_VLEN, "{}: '{}': expected lists of variable length of {}.", f.path, name, expected);
  const Handle base(H5Tget_super(type), H5Tclose, f.path);
  require(H5Tget_class(base) == element, "{}: '{}': expected lists of {}.", f.path, name, expected);
}

template <class T>
std::vector<T> row(const File& f, hid_t dataset, const char* name, hid_t native, hsize_t i) {
  const Handle  type(H5Tvlen_create(native), H5Tclose, f.path), space(H5Dget_space(dataset), H5Sclose, f.path);
  const hsize_t one = 1;
  const Handle  memory(H5Screate_simple(1, &one, nullptr), H5Sclose, f.path);
  hvl_t         read{};
  require(H5Sselect_hyperslab(space, H5S_SELECT_SET, &i, nullptr, &one, nullptr) >= 0 &&
              H5Dread(dataset, type, memory, space, H5P_DEFAULT, &read) >= 0,
          "{}: '{}': row {} cannot be read; the file is damaged.", f.path, name, i);
  const T*       p = static_cast<const T*>(read.p);
  std::vector<T> out(p, p + read.len);
  H5Dvlen_reclaim(type, memory, H5P_DEFAULT, &read);
  return out;
}

}  // namespace

bool hdf5_is_built_in() { return true; }

SpikeFile::SpikeFile(const std::string& path) : path_(path) {
  const Source           readable(path);
  const std::scoped_lock lock(turn());
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);  // failures throw exceptions and are not printed
  const auto file = std::shared_ptr<File>(new File(path), [](File* f) {
    const std::scoped_lock closing(turn());
    delete f;
  });
  check_class(*file, file->times, "spikes/times", H5T_FLOAT, "floats");
  check_class(*file, file->units, "spikes/units", H5T_INTEGER, "integers");
  const Handle  labels = file->dataset("labels");
  const hsize_t n      = length(*file, labels, "labels");
  require(n < (hsize_t{1} << 32) && length(*file, file->times, "spikes/times") == n &&
              length(*file, file->units, "spikes/units") == n,
          "{}: expected as many times and units as the {} labels.", path, n);
  // Compression makes a file at most about a thousand times smaller.
  require(n / 1000 <= static_cast<hsize_t>(readable.size()),
          "{}: {} labels do not fit in {} bytes; the file is damaged.", path, n, readable.size());
  labels_.resize(n);
  require(H5Dread(labels, H5T_NATIVE_INT64, H5S_ALL, H5S_ALL, H5P_DEFAULT, labels_.data()) >= 0,
          "{}: 'labels' cannot be read as integers.", path);
  file_ = file;
}

Events SpikeFile::read(int64_t i) const {
  require(i >= 0 && i < size(), "{}: row {} was requested; there are {}.", path_, i, size());
  const std::scoped_lock lock(turn());
  const File&            f     = *static_cast<const File*>(file_.get());
  const auto             which = static_cast<hsize_t>(i);
  const auto             times = row<double>(f, f.times, "spikes/times", H5T_NATIVE_DOUBLE, which);
  const auto             units = row<int32_t>(f, f.units, "spikes/units", H5T_NATIVE_INT32, which);
  require(times.size() == units.size(), "{}: row {}: expected as many times as units, found {} and {}.", path_, i,
          times.size(), units.size());
  Events events(times.size());
  for (size_t k = 0; k < events.size(); ++k) {
    require(times[k] >= 0 && times[k] < 1e9, "{}: row {}: a spike at {} s; expected a time from 0 to 1e9 s.", path_, i,
            times[k]);
    events[k] = {.x = units[k], .time_us = std::llround(times[k] * 1e6)};
  }
  return events;
}

}  // namespace braintrace::data

#else

namespace braintrace::data {

bool hdf5_is_built_in() { return false; }

SpikeFile::SpikeFile(const std::string& path) : path_(path) {
  fail("{}: this build cannot read HDF5; install libhdf5-dev and build again, or use \"synthetic\": true.", path);
}
Events SpikeFile::read(int64_t) const { return {}; }

}  // namespace braintrace::data

#endif

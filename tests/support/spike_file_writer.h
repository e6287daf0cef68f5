// SPDX-License-Identifier: Apache-2.0
// Writes spikes in HDF5 as the Heidelberg data sets have them: lists of variable length in compressed chunks, times as
// floats of 16 bits, units as integers of 16 bits.
#pragma once

#include <hdf5.h>
#include <string>
#include <vector>

namespace braintrace::data {

struct SpikeContent {
  std::vector<std::vector<float>>    times      = {{0.001f, 0.25f}, {}, {0.5f, 0.75f, 1.0f}};
  std::vector<std::vector<uint16_t>> units      = {{3, 699}, {}, {0, 1, 2}};
  std::vector<uint16_t>              labels     = {7, 0, 19};
  const char*                        times_name = "times";
};

// sign 1 bit, exponent 5, mantissa 10
inline hid_t half_float() {
  const hid_t type = H5Tcopy(H5T_IEEE_F32LE);
  H5Tset_fields(type, 15, 10, 5, 0, 10);
  H5Tset_size(type, 2);
  H5Tset_ebias(type, 15);
  return type;
}

template <class T>
void write_lists(hid_t group, const char* name, hid_t in_memory, hid_t in_file,
                 const std::vector<std::vector<T>>& rows) {
  std::vector<hvl_t> lists;
  for (const auto& row : rows) lists.push_back({row.size(), const_cast<T*>(row.data())});
  const hsize_t n = lists.size(), unlimited = H5S_UNLIMITED, chunk = 4;
  const hid_t   from = H5Tvlen_create(in_memory), to = H5Tvlen_create(in_file);
  const hid_t   space = H5Screate_simple(1, &n, &unlimited), layout = H5Pcreate(H5P_DATASET_CREATE);
  H5Pset_chunk(layout, 1, &chunk);
  H5Pset_deflate(layout, 3);
  const hid_t set = H5Dcreate2(group, name, to, space, H5P_DEFAULT, layout, H5P_DEFAULT);
  H5Dwrite(set, from, H5S_ALL, H5S_ALL, H5P_DEFAULT, lists.data());
  H5Dclose(set);
  H5Pclose(layout);
  H5Sclose(space);
  H5Tclose(to);
  H5Tclose(from);
}

// False when the file cannot be made.
inline bool write_spike_file(const std::string& path, const SpikeContent& c) {
  const hid_t file = H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
  if (file < 0) return false;
  const hid_t   group = H5Gcreate2(file, "spikes", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), half = half_float();
  const hsize_t n = c.labels.size();
  write_lists(group, c.times_name, H5T_NATIVE_FLOAT, half, c.times);
  write_lists(group, "units", H5T_NATIVE_UINT16, H5T_STD_U16LE, c.units);
  const hid_t space = H5Screate_simple(1, &n, nullptr);
  const hid_t set   = H5Dcreate2(file, "labels", H5T_STD_U16LE, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  H5Dwrite(set, H5T_NATIVE_UINT16, H5S_ALL, H5S_ALL, H5P_DEFAULT, c.labels.data());
  H5Dclose(set);
  H5Sclose(space);
  H5Tclose(half);
  H5Gclose(group);
  return H5Fclose(file) >= 0;
}

}  // namespace braintrace::data

// SPDX-License-Identifier: Apache-2.0
// Collections of time series with one label each, in the formats of the archives for time-series classification:
//
//   .ts     (sktime, aeon)  lines "@key value"; after @data a series per line: dimensions separated by ':', values by
//           ',' or (time,value) pairs, the label last. "@classLabel true A B" names the classes, "@targetlabel true"
//           means that labels are numbers
//   .arff   (Weka)  numeric attributes and one with values {A,B}, or a quoted relational attribute with dimensions
//   separated by \n .tsv    (UCR)   no header; the label first, then the values
//
// A value '?' or NaN is missing. The whole file is read at once.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace braintrace::data {

struct Series {
  std::vector<float> values;     // [length, dimensions]
  int32_t            label = 0;  // for classes
  double             value = 0;  // if labels are numbers
  int64_t            line  = 0;  // in the file, from 1
};

struct SeriesFile {
  std::string              path;
  int64_t                  dimensions = 1;
  std::vector<std::string> classes;  // empty if labels are numbers
  std::vector<Series>      series;

  int64_t length(const Series& s) const { return static_cast<int64_t>(s.values.size()) / dimensions; }
};

// A file that violates its format throws a UserError that names the line.
SeriesFile read_series(const std::string& path);

}  // namespace braintrace::data

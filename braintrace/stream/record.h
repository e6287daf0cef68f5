// SPDX-License-Identifier: Apache-2.0
// Records of a stream, one per line:
//
//   JSON   {"x": [0.1, 0.2], "y": [1.0]}      without y: predict only; "reset": true starts a new sequence
//   CSV    0.1,0.2,1.0                        inputs, then targets; empty targets: predict only; a header is skipped
//
// A CSV field may be quoted, but it cannot contain a line break.
//
// With a fleet, each record names its member, "id": "pump 7" or an integer, in CSV as the first field; "remove": true
// removes the member.
//
// Arrays are flat or nested, in row-major order; a single element needs no brackets. A class is a number in y.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "braintrace/base/array.h"

namespace braintrace::stream {

struct Record {
  std::optional<Array> x, y;  // a record may also contain only a reset
  bool                 reset  = false;
  std::string          id     = {};  // of a fleet's member
  bool                 remove = false;
};

enum class RecordFormat : uint8_t { Automatic, Jsonl, Csv };  // Automatic: JSON if the line starts with a brace

class RecordParser {
 public:
  // `classes` : each target is an integer in [0, classes); 0: values of type `target`. `has_ids`: records of a fleet.
  RecordParser(Type input, Type target, int64_t classes, RecordFormat format, bool has_ids = false)
      : input_(std::move(input)), target_(std::move(target)), classes_(classes), format_(format), has_ids_(has_ids) {}

  // Throws a UserError that says what is wrong with the line. Returns an empty record for a blank line, and for a first
  // line of CSV that has the right number of fields but does not start with a number: a header.
  Record parse(std::string_view line, bool is_first) const;

 private:
  Record parse_json(std::string_view line) const;
  Record parse_csv(std::string_view line, bool is_first) const;
  Array  input(const std::vector<double>& values) const;
  Array  target(const std::vector<double>& values) const;

  Type         input_, target_;
  int64_t      classes_;
  RecordFormat format_;
  bool         has_ids_;
};

}  // namespace braintrace::stream

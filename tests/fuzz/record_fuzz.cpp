// SPDX-License-Identifier: Apache-2.0
// Any line, in either format, either fails with a UserError or gives arrays of the expected types with finite
// numbers.
#include <cmath>

#include "braintrace/stream/record.h"

namespace {

using namespace braintrace;

bool is_as_asked(const std::optional<Array>& a, const Type& type) {
  if (!a) return true;
  for (int64_t i = 0; i < a->size(); ++i)
    if (!std::isfinite(at(*a, i))) return false;
  return a->type() == type;
}

void parse(const stream::RecordParser& parser, std::string_view line, const Type& x, const Type& y) {
  for (const bool is_first : {true, false}) try {
      const stream::Record r = parser.parse(line, is_first);
      if (!is_as_asked(r.x, x) || !is_as_asked(r.y, y)) __builtin_trap();
    } catch (const UserError&) {
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view line(reinterpret_cast<const char*>(data), size);
  const Type             x{DType::F32, {2}}, y{DType::F64, {1}}, ids{DType::I32, {}}, label{DType::I32, {}};
  for (const auto format : {stream::RecordFormat::Automatic, stream::RecordFormat::Csv}) {
    parse({x, y, 0, format}, line, x, y);
    parse({ids, label, 3, format}, line, ids, label);
  }
  return 0;
}

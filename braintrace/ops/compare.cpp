// SPDX-License-Identifier: Apache-2.0
#include "braintrace/ops/compare.h"

namespace braintrace {

constinit const Op equal_op         = comparison({
            .name   = "equal",
            .doc    = "a = b",
            .scalar = {.real    = [](const double* x) { return double(x[0] == x[1]); },
                       .integer = [](const int64_t* x) { return int64_t(x[0] == x[1]); }},
});
constinit const Op greater_op       = comparison({
          .name   = "greater",
          .doc    = "a > b",
          .scalar = {.real    = [](const double* x) { return double(x[0] > x[1]); },
                     .integer = [](const int64_t* x) { return int64_t(x[0] > x[1]); }},
});
constinit const Op greater_equal_op = comparison({
    .name   = "greater_equal",
    .doc    = "a ≥ b",
    .scalar = {.real    = [](const double* x) { return double(x[0] >= x[1]); },
               .integer = [](const int64_t* x) { return int64_t(x[0] >= x[1]); }},
});
constinit const Op less_op          = comparison({
             .name   = "less",
             .doc    = "a < b",
             .scalar = {.real    = [](const double* x) { return double(x[0] < x[1]); },
                        .integer = [](const int64_t* x) { return int64_t(x[0] < x[1]); }},
});
constinit const Op less_equal_op    = comparison({
       .name   = "less_equal",
       .doc    = "a ≤ b",
       .scalar = {.real    = [](const double* x) { return double(x[0] <= x[1]); },
                  .integer = [](const int64_t* x) { return int64_t(x[0] <= x[1]); }},
});
constinit const Op not_equal_op     = comparison({
        .name   = "not_equal",
        .doc    = "a ≠ b",
        .scalar = {.real    = [](const double* x) { return double(x[0] != x[1]); },
                   .integer = [](const int64_t* x) { return int64_t(x[0] != x[1]); }},
});

const std::vector<const Op*>& compare_ops() {
  static const std::vector<const Op*> ops = {&equal_op, &greater_op,    &greater_equal_op,
                                             &less_op,  &less_equal_op, &not_equal_op};
  return ops;
}

}  // namespace braintrace

// SPDX-License-Identifier: Apache-2.0
// Operations created at run time from functions that may hold data, such as closures of other languages. An operation
// written in C++ is a record (ir/op.h), which needs no setup and may have faster rules.
#pragma once

#include <functional>
#include <optional>

#include "braintrace/etp/rules.h"

namespace braintrace {

struct FunctionOp {
  std::string name, doc;
  std::string operands = "x";  // names, for messages; a trailing "..." means any number
  // Its definition by other operations: types, derivatives, batching and machine code follow from it.
  std::function<Tensors(const Tensors& in, const Attrs& attrs)> expand;
  std::function<Tensors(const BatchArgs&)>                      batch  = nullptr;  // null: derived from `expand`
  std::function<std::vector<Sample>(Rng&)>                      sample = nullptr;  // for check_trainable

  // How an eligibility trace follows its weights; the fields correspond to EtpRules.
  struct Trace {
    struct Weight {
      std::string key;
      int         operand;  // an operand that is not listed has no trace
    };
    std::string         primitive = {};  // name in reports; default: the name of the operation
    std::vector<Weight> weights;
    int                 x     = 0;
    bool                mixes = true;

    std::function<Tensor(const EtpCall&, int weight, const Tensors& in)>                         coefficient;
    std::function<Tensor(const EtpCall&, int weight, const Tensor& per_y)>                       spread;
    std::function<Tensor(const EtpCall&, int weight, const Tensors& in, const Tensor& on_trace)> fold;
    std::function<Tensor(const EtpCall&, const Tensor& x)>                                       represent = nullptr;
  };
  std::optional<Trace> trace = {};  // trainable operations only
};

// Registers the operation for `apply`. It and its functions live as long as the process. Replaces an earlier one of the
// same name, such as when a notebook cell runs again; programs already traced keep the old one.
const Op& register_op(FunctionOp op);

}  // namespace braintrace

// SPDX-License-Identifier: Apache-2.0
#include "braintrace/compiler/trace_type.h"

namespace braintrace {

EtpCall call_at_group(const HiddenParamOpRelation& relation, const Connection& connection, const HiddenGroup& group) {
  EtpCall call = relation.call;
  if (call.op->etp->mixes || !connection.y_layout) return call;
  for (const EtpWeight& w : call.op->etp->weights(relation.call))
    if (call.in[w.operand].shape == relation.call.y.shape) call.in[w.operand].shape = *connection.y_layout;
  call.y.shape = group.varshape;
  return call;
}

Type trace_type(const HiddenParamOpRelation& relation, const Connection& connection, const Trainable& trainable,
                const HiddenGroup& group) {
  Shape shape = trace_shape(call_at_group(relation, connection, group), trainable.weight);
  shape.push_back(group.trace_state_width());
  return {relation.call.y.dtype, shape};
}

}  // namespace braintrace

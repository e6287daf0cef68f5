// SPDX-License-Identifier: Apache-2.0
// The shapes of eligibility traces.
#pragma once

#include "braintrace/compiler/graph.h"

namespace braintrace {

// The operation with the group that it reaches, which determine the shape of a trace. An operation that does not mix
// positions has the positions of the group, and its weights align in the same way as its result.
EtpCall call_at_group(const HiddenParamOpRelation& relation, const Connection& connection, const HiddenGroup& group);

// Memory of one trace of D-RTRL: the weight's trace axes and the states of the group.
Type trace_type(const HiddenParamOpRelation& relation, const Connection& connection, const Trainable& trainable,
                const HiddenGroup& group);

}  // namespace braintrace

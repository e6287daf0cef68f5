// SPDX-License-Identifier: Apache-2.0
// The attributes of first-order operations, each declared once. Two keys may have the same text if their types differ.
#pragma once

#include "braintrace/ir/attrs.h"

namespace braintrace::keys {

inline constexpr Key<int64_t> axis{"axis"}, batch{"batch"}, count{"count"}, exponent{"exponent"}, groups{"groups"},
    k{"k"}, order{"order"}, size{"size"};
inline constexpr Key<Ints> axes{"axes"}, dims{"dims"}, hi{"hi"}, interior{"interior"}, lhs_batch{"lhs_batch"},
    lhs_contract{"lhs_contract"}, lhs_dilation{"lhs_dilation"}, limit{"limit"}, lo{"lo"}, perm{"perm"},
    rhs_batch{"rhs_batch"}, rhs_contract{"rhs_contract"}, rhs_dilation{"rhs_dilation"}, shift{"shift"}, sizes{"sizes"},
    start{"start"}, stride{"stride"}, window{"window"};
inline constexpr Key<double> alpha{"alpha"}, high{"hi"}, low{"lo"};
inline constexpr Key<bool>   approximate{"approximate"}, descending{"descending"}, reverse{"reverse"};
inline constexpr Key<Array>  array{"value"};

}  // namespace braintrace::keys

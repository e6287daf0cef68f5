// SPDX-License-Identifier: Apache-2.0
// The parts of a scan equation, and the rules of its derivative.
#pragma once

#include "braintrace/control/scan.h"
#include "braintrace/transforms/walk.h"

namespace braintrace {

struct ScanParts {
  static constexpr Key<ProgramPtr> body_key{"body"};
  static constexpr Key<int64_t>    consts_key{"consts"}, carry_key{"carry"}, length_key{"length"};
  static constexpr Key<bool>       reverse_key{"reverse"};

  const Program& body;
  size_t         consts, carry;  // how many
  int64_t        length;
  bool           reverse;

  explicit ScanParts(const Attrs& a)
      : body(*a[body_key]),
        consts(static_cast<size_t>(std::max<int64_t>(0, a[consts_key]))),
        carry(static_cast<size_t>(std::max<int64_t>(0, a[carry_key]))),
        length(a[length_key]),
        reverse(a[reverse_key]) {}

  static Attrs attrs(ProgramPtr body, size_t consts, size_t carry, int64_t length, bool reverse) {
    return {{body_key, std::move(body)},
            {carry_key, static_cast<int64_t>(carry)},
            {consts_key, static_cast<int64_t>(consts)},
            {length_key, length},
            {reverse_key, reverse}};
  }

  size_t xs() const { return body.args.size() - consts - carry; }
  size_t ys() const { return body.results.size() - carry; }
  // Tensors, types or marks of the operands by their role.
  template <class List>
  struct Roles {
    List consts, carry, xs;
  };
  template <class List>
  Roles<List> split(const List& in) const {
    return {part(in, 0, consts), part(in, consts, carry), part(in, consts + carry, xs())};
  }
  // The marks of operands, spread to every carry that they reach in any step.
  Mask spread_to_carry(Mask in) const {
    for (bool changed = true; changed;) {
      changed        = false;
      const Mask out = result_dependence(body, in);
      for (size_t k = 0; k < carry; ++k)
        if (out[k] && !in[consts + k]) changed = in[consts + k] = true;
    }
    return in;
  }
};

Pushed     scan_push(const JvpArgs& a);
Linearized scan_linearize(const LinearizeArgs& a);
Tensors    scan_transpose(const TransposeArgs& a);

}  // namespace braintrace

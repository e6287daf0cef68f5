// SPDX-License-Identifier: Apache-2.0
#include "braintrace/stream/taker.h"

namespace braintrace::stream {

namespace {

// One row: a record is a step of one member.
Array as_row(const Array& a) {
  Shape shape = a.shape();
  shape.insert(shape.begin(), 1);
  return a.reshaped(shape);
}
Array without_row(const Array& a) { return a.reshaped(Shape(a.shape().begin() + 1, a.shape().end())); }

}  // namespace

Taker::Outcome FleetTaker::take(int64_t number, const Record& r) {
  try {
    if (r.remove) return fleet_->remove(r.id), Outcome();
    if (r.reset && !fleet_->contains(r.id)) fleet_->add(r.id);
    if (r.reset) fleet_->reset(r.id);
    if (!r.x) return {};
    const Fleet::Answers a =
        r.y ? fleet_->learn({r.id}, as_row(*r.x), as_row(*r.y)) : fleet_->predict({r.id}, as_row(*r.x));
    if (!a.undone.empty()) return {{}, {{number, a.undone[0].why}}};
    ++(r.y ? learned_ : predicted_);
    return {GuardedStream::Answer{without_row(a.predictions), r.y ? std::optional(at(a.losses, 0)) : std::nullopt}, {}};
  } catch (const UserError& error) {
    if (error.kind() == ErrorKind::State) throw;  // of the machine, such as a device that is lost
    return {{}, {{number, error.what()}}};
  }
}

}  // namespace braintrace::stream

// SPDX-License-Identifier: Apache-2.0
#include "braintrace/backends/cpu/stepper.h"

#include <algorithm>

#include "braintrace/base/long_run.h"
#include "braintrace/codegen/rotate.h"

namespace braintrace::cpu {

Stepper::Stepper(const Program& program, const Arrays& constants, const std::vector<Feed>& feeds,
                 codegen::Options options)
    : options_(std::move(options)) {
  std::vector<int> in(program.args.size(), -1), out(program.results.size(), -1);
  for (const Feed& f : feeds) {
    require(f.result < out.size() && f.arg < in.size() && in[f.arg] < 0 && out[f.result] < 0,
            "Stepper: result {} and argument {} must exist and be fed once.", f.result, f.arg);
    const Type &made = program.type(program.results[f.result]), &taken = program.type(program.args[f.arg]);
    require(made == taken, "Stepper: result {} is {}, argument {} is {}; a fed result keeps its type.", f.result,
            to_string(made), f.arg, to_string(taken));
    in[f.arg] = out[f.result] = static_cast<int>(slots_.size());
    slots_.push_back({taken, {}, {}});
    fed_args_.push_back(f.arg);
  }
  const std::optional<codegen::Rotated> rotated = codegen::rotated(program, feeds, options_);
  if (!rotated) {
    step_ = part(compile_together({program}, {constants}, options_)[0], in, out);
    return;
  }
  settle_          = rotated->settle;
  nothing_pending_ = rotated->pending;
  for (size_t arg : rotated->large) settled_.push_back(in[arg]);
  for (const Array& a : nothing_pending_) {
    for (std::vector<int>* slots : {&in, &out, &settled_}) slots->push_back(static_cast<int>(slots_.size()));
    slots_.push_back({a.type(), {}, {}});
  }
  step_ = part(compile_together({rotated->step}, {constants}, options_)[0], in, out);
}

Stepper::Stepper(const Program& program, const Arrays& constants, const std::vector<Feed>& feeds, const Arrays& args,
                 codegen::Options options)
    : Stepper(program, constants, feeds, std::move(options)) {
  require(args.size() == program.args.size(), "Stepper: the program takes {} argument(s), got {}.", program.args.size(),
          args.size());
  Arrays values;
  for (const Feed& f : feeds) values.push_back(args[f.arg]);
  hold(std::move(values));
}

Stepper::Part Stepper::part(std::shared_ptr<Compiled> compiled, std::vector<int> in, std::vector<int> out) {
  for (size_t r = 0; r < out.size(); ++r) {
    if (out[r] < 0) continue;
    Slot&      slot = slots_[static_cast<size_t>(out[r])];
    const auto arg  = static_cast<size_t>(std::find(in.begin(), in.end(), out[r]) - in.begin());
    if (!slot.next && !compiled->may_share(r, arg)) slot.next = Array(slot.type);
  }
  const size_t args = in.size(), results = out.size();
  return {std::move(compiled), std::move(in), std::move(out), std::vector<const void*>(args),
          std::vector<void*>(results)};
}

void Stepper::hold(Arrays&& values) {
  require(values.size() == fed_args_.size(), "Stepper: it is fed {} argument(s), got {}.", fed_args_.size(),
          values.size());
  for (size_t i = 0; i < values.size(); ++i) {
    if (values[i].type() != slots_[i].type)
      fail("Stepper: argument {} is {}, got {}.", fed_args_[i], to_string(slots_[i].type), to_string(values[i].type()));
    if (!values[i].is_only_owner()) values[i] = values[i].copy();
  }
  for (size_t i = 0; i < values.size(); ++i) slots_[i].now = std::move(values[i]);
  for (size_t i = 0; i < nothing_pending_.size(); ++i) slots_[values.size() + i].now = nothing_pending_[i].copy();
}

Arrays Stepper::settle() {
  catch_up();
  Arrays values;
  for (size_t i = 0; i < fed_args_.size(); ++i) values.push_back(std::move(*slots_[i].now));
  for (Slot& s : slots_) s.now.reset();
  return values;
}

void Stepper::run(Part& part, const void* const* args, void* const* results) {
  ensure(slots_.empty() || slots_[0].now, "Stepper: it holds nothing");
  for (size_t i = 0; i < part.in.size(); ++i)
    part.args[i] = part.in[i] < 0 ? *args++ : slots_[static_cast<size_t>(part.in[i])].now->raw();
  for (size_t i = 0; i < part.out.size(); ++i) {
    if (part.out[i] < 0) {
      part.results[i] = *results++;
    } else {
      Slot& s         = slots_[static_cast<size_t>(part.out[i])];
      part.results[i] = (s.next ? *s.next : *s.now).mutable_raw();
    }
  }
  if (part.compiled->takes_long())
    stoppable_run(part);
  else
    part.compiled->run_into(part.args.data(), part.results.data());
  for (int i : part.out)
    if (i >= 0 && slots_[static_cast<size_t>(i)].next)
      std::swap(*slots_[static_cast<size_t>(i)].now, *slots_[static_cast<size_t>(i)].next);
}

void Stepper::stoppable_run(Part& part) {
  std::vector<std::pair<Slot*, Array>> before;  // of values that the program overwrites
  for (int i : part.out)
    if (i >= 0 && !slots_[static_cast<size_t>(i)].next)
      before.emplace_back(&slots_[static_cast<size_t>(i)], slots_[static_cast<size_t>(i)].now->copy());
  try {
    part.compiled->stoppable_run(part.args.data(), part.results.data());
  } catch (const Stopped&) {
    for (auto& [slot, value] : before) slot->now = std::move(value);
    throw;
  }
}

void Stepper::step(const void* const* args, void* const* results) { run(step_, args, results); }

void Stepper::catch_up() {
  ensure(slots_.empty() || slots_[0].now, "Stepper: it holds nothing");
  // The first pending value is a flag: whether an update is pending.
  if (nothing_pending_.empty() || !*slots_[fed_args_.size()].now->data<bool>()) return;
  if (!settling_) settling_ = part(compile_together({settle_}, {{}}, options_)[0], settled_, settled_);
  run(*settling_, nullptr, nullptr);
}

Array Stepper::value(size_t arg) {
  const auto at = std::find(fed_args_.begin(), fed_args_.end(), arg);
  require(at != fed_args_.end() && slots_[0].now, "Stepper: argument {} is not fed, or not held.", arg);
  catch_up();
  return slots_[static_cast<size_t>(at - fed_args_.begin())].now->copy();
}

size_t Stepper::bytes() const {
  size_t n = 0;
  for (const Slot& s : slots_) n += static_cast<size_t>(s.type.bytes()) * (s.next ? 2 : 1);
  return n;
}

}  // namespace braintrace::cpu

// SPDX-License-Identifier: Apache-2.0
#include "braintrace/backends/cpu/stepper.h"

namespace braintrace::cpu {

Stepper::Stepper(const Program& program, const Arrays& constants, const std::vector<Feed>& feeds)
    : compiled_(compile_together({program}, {constants})[0]),
      in_(program.args.size(), nullptr),
      out_(program.results.size(), nullptr) {
  std::vector<bool> fed_arg(in_.size()), fed_result(out_.size());
  for (const Feed& f : feeds) {
    require(f.result < out_.size() && f.arg < in_.size() && !fed_arg[f.arg] && !fed_result[f.result],
            "Stepper: result {} and argument {} must exist and be fed once.", f.result, f.arg);
    const Type &made = program.type(program.results[f.result]), &taken = program.type(program.args[f.arg]);
    require(made == taken, "Stepper: result {} is {}, argument {} is {}; a fed result keeps its type.", f.result,
            to_string(made), f.arg, to_string(taken));
    fed_arg[f.arg] = fed_result[f.result] = true;
    const bool in_place                   = compiled_->may_share(f.result, f.arg);
    slots_.push_back({f.result, f.arg, taken, {}, in_place ? std::nullopt : std::optional(Array(taken))});
  }
  for (size_t i = 0; i < in_.size(); ++i)
    if (!fed_arg[i]) free_args_.push_back(i);
  for (size_t i = 0; i < out_.size(); ++i)
    if (!fed_result[i]) free_results_.push_back(i);
}

Stepper::Stepper(const Program& program, const Arrays& constants, const std::vector<Feed>& feeds, const Arrays& args)
    : Stepper(program, constants, feeds) {
  require(args.size() == in_.size(), "Stepper: the program takes {} argument(s), got {}.", in_.size(), args.size());
  Arrays values;
  for (const Feed& f : feeds) values.push_back(args[f.arg]);
  hold(std::move(values));
}

void Stepper::hold(Arrays&& values) {
  require(values.size() == slots_.size(), "Stepper: it is fed {} argument(s), got {}.", slots_.size(), values.size());
  for (size_t i = 0; i < slots_.size(); ++i) {
    if (values[i].type() != slots_[i].type)
      fail("Stepper: argument {} is {}, got {}.", slots_[i].arg, to_string(slots_[i].type),
           to_string(values[i].type()));
    if (!values[i].is_only_owner()) values[i] = values[i].copy();
  }
  for (size_t i = 0; i < slots_.size(); ++i) slots_[i].now = std::move(values[i]);
}

Arrays Stepper::settle() {
  Arrays values;
  for (Slot& s : slots_) {
    ensure(s.now.has_value(), "Stepper: argument {} is not held", s.arg);
    values.push_back(std::move(*s.now));
    s.now.reset();
  }
  return values;
}

void Stepper::step(const void* const* args, void* const* results) {
  for (size_t i = 0; i < free_args_.size(); ++i) in_[free_args_[i]] = args[i];
  for (size_t i = 0; i < free_results_.size(); ++i) out_[free_results_[i]] = results[i];
  for (Slot& s : slots_) {
    ensure(s.now.has_value(), "Stepper: argument {} is not held", s.arg);
    in_[s.arg]     = s.now->raw();
    out_[s.result] = (s.next ? *s.next : *s.now).mutable_raw();
  }
  compiled_->run_into(in_.data(), out_.data());
  for (Slot& s : slots_)
    if (s.next) std::swap(*s.now, *s.next);
}

Array Stepper::value(size_t arg) const {
  for (const Slot& s : slots_)
    if (s.arg == arg && s.now) return s.now->copy();
  fail("Stepper: argument {} is not fed, or not held.", arg);
}

size_t Stepper::bytes() const {
  size_t n = 0;
  for (const Slot& s : slots_) n += static_cast<size_t>(s.type.bytes()) * (s.next ? 2 : 1);
  return n;
}

}  // namespace braintrace::cpu

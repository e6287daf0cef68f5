// SPDX-License-Identifier: Apache-2.0
#include "braintrace/backends/cpu/stepper.h"

#include <cstring>

namespace braintrace::cpu {

namespace {

Array copied(const Array& a) {
  Array b(a.type());
  std::memcpy(b.mutable_raw(), a.raw(), a.bytes());
  return b;
}

}  // namespace

Stepper::Stepper(const Program& program, const Arrays& constants, const std::vector<Feed>& feeds, const Arrays& args)
    : compiled_(compile_together({program}, {constants})[0]),
      in_(program.args.size(), nullptr),
      out_(program.results.size(), nullptr) {
  require(args.size() == program.args.size(), "Stepper: the program takes {} argument(s), got {}.", program.args.size(),
          args.size());
  std::vector<bool> fed_arg(in_.size()), fed_result(out_.size());
  for (const Feed& f : feeds) {
    require(f.result < out_.size() && f.arg < in_.size() && !fed_arg[f.arg] && !fed_result[f.result],
            "Stepper: result {} and argument {} must exist and be fed once.", f.result, f.arg);
    require(program.type(program.results[f.result]) == args[f.arg].type(),
            "Stepper: result {} is {}, argument {} is {}; a fed result keeps its type.", f.result,
            to_string(program.type(program.results[f.result])), f.arg, to_string(args[f.arg].type()));
    fed_arg[f.arg] = fed_result[f.result] = true;
    const bool shared                     = compiled_->may_share(f.result, f.arg);
    Array      now                        = copied(args[f.arg]);
    slots_.push_back({f.result, f.arg, now, shared ? now : Array(now.type()), shared});
  }
  for (size_t i = 0; i < in_.size(); ++i)
    if (!fed_arg[i]) free_args_.push_back(i);
  for (size_t i = 0; i < out_.size(); ++i)
    if (!fed_result[i]) free_results_.push_back(i);
}

void Stepper::step(const void* const* args, void* const* results) {
  for (size_t i = 0; i < free_args_.size(); ++i) in_[free_args_[i]] = args[i];
  for (size_t i = 0; i < free_results_.size(); ++i) out_[free_results_[i]] = results[i];
  for (Slot& s : slots_) {
    in_[s.arg]     = s.now.raw();
    out_[s.result] = s.next.mutable_raw();
  }
  compiled_->run_into(in_.data(), out_.data());
  for (Slot& s : slots_)
    if (!s.shared) std::swap(s.now, s.next);
}

Array Stepper::value(size_t arg) const {
  for (const Slot& s : slots_)
    if (s.arg == arg) return copied(s.now);
  fail("Stepper: argument {} is not fed.", arg);
}

size_t Stepper::bytes() const {
  size_t n = 0;
  for (const Slot& s : slots_) n += s.now.bytes() * (s.shared ? 1 : 2);
  return n;
}

}  // namespace braintrace::cpu

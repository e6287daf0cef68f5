// SPDX-License-Identifier: Apache-2.0
#include "braintrace/backends/calls.h"

#include <algorithm>
#include <optional>

#include "braintrace/codegen/cost.h"
#include "braintrace/ops/keys.h"
#include "braintrace/ops/move.h"

namespace braintrace {

namespace {

class WithZeroResults : public Executable {
 public:
  WithZeroResults(std::shared_ptr<Executable> rest, std::vector<std::optional<Array>> zeros)
      : rest_(std::move(rest)), zeros_(std::move(zeros)) {}
  Arrays run(const Arrays& args) override {
    const Arrays made = rest_->run(args);
    Arrays       out;
    for (size_t k = 0, next = 0; k < zeros_.size(); ++k) out.push_back(zeros_[k] ? *zeros_[k] : made[next++]);
    return out;
  }

 private:
  std::shared_ptr<Executable>       rest_;
  std::vector<std::optional<Array>> zeros_;
};

}  // namespace

NonzeroResults nonzero_results(const Program& program) {
  const auto     producer = producers(program);
  NonzeroResults out{program, Mask(program.results.size())};
  out.program.results.clear();
  for (size_t k = 0; k < out.is_zero.size(); ++k) {
    const Var  v   = program.results[k];
    const Eqn* e   = producer[v] >= 0 ? &program.eqns[static_cast<size_t>(producer[v])] : nullptr;
    out.is_zero[k] = e && e->op == &full_op && e->attrs[keys::value] == 0;
    if (!out.is_zero[k]) out.program.results.push_back(v);
  }
  return out;
}

std::vector<Feed> NonzeroResults::feeds(const std::vector<Feed>& whole) const {
  std::vector<Feed> out;
  for (const Feed& f : whole)
    if (!is_zero.at(f.result)) {
      const auto before = is_zero.begin() + static_cast<int64_t>(f.result);
      out.push_back({static_cast<size_t>(std::count(is_zero.begin(), before, false)), f.arg});
    }
  return out;
}

std::shared_ptr<Executable> with_zero_results(std::shared_ptr<Executable> rest, const Program& whole,
                                              const Mask& is_zero) {
  if (std::find(is_zero.begin(), is_zero.end(), true) == is_zero.end()) return rest;
  std::vector<std::optional<Array>> zeros(whole.results.size());
  for (size_t k = 0; k < zeros.size(); ++k)
    if (is_zero[k]) zeros[k] = Array(whole.type(whole.results[k]));
  return std::make_shared<WithZeroResults>(std::move(rest), std::move(zeros));
}

ProgramNeeds needs_of(const codegen::Schedule& schedule, const NonzeroResults& nonzero, const std::vector<Feed>& feeds,
                      const codegen::Target& target) {
  const codegen::Function& entry      = *schedule.entries[0];
  const std::vector<Feed>  fed        = nonzero.feeds(feeds);
  const auto               overwrites = [&](size_t result) {
    return !entry.may_stop && std::any_of(fed.begin(), fed.end(), [&](const Feed& f) {
      return f.result == result && entry.may_share(result, f.arg);
    });
  };
  ProgramNeeds n{.working = entry.arena_bytes, .is_zero = nonzero.is_zero, .work = codegen::work_of(schedule, target)};
  for (const Array& a : schedule.constants) n.constants += static_cast<int64_t>(a.bytes());
  for (size_t k = 0; k < nonzero.program.results.size(); ++k)
    if (!overwrites(k)) n.working += nonzero.program.type(nonzero.program.results[k]).bytes();
  return n;
}

void check_constants(const Program& program, const Arrays& constants) {
  require(constants.size() == program.constants.size(), "compile: the program has {} constant(s), got {}.",
          program.constants.size(), constants.size());
}

void check_arguments(const Types& types, const Arrays& args) {
  require(args.size() == types.size(), "run: the program takes {} argument(s), got {}.", types.size(), args.size());
  for (size_t i = 0; i < args.size(); ++i)
    if (args[i].type() != types[i])
      fail("run: argument {} is {}, the program takes {}.", i, to_string(args[i].type()), to_string(types[i]));
}

Arrays value_of(const codegen::HostEqn& call, const Arrays& args) {
  const Op& op = *call.eqn.op;
  if (op.eval) return op.eval(op, args, call.eqn.attrs, call.out);
  Arrays results;
  for (const Tensor& t : op.expand(op, Tensors(args.begin(), args.end()), call.eqn.attrs)) results.push_back(t.array());
  return results;
}

}  // namespace braintrace

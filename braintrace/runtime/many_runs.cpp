// SPDX-License-Identifier: Apache-2.0
#include <cstring>

#include "braintrace/runtime/backend.h"

namespace braintrace {

namespace {

class OneAfterTheOther : public ManyRuns {
 public:
  OneAfterTheOther(std::shared_ptr<Executable> executable, const Program& program, const std::vector<Feed>& feeds)
      : executable_(std::move(executable)), fed_arg_(program.results.size()) {
    for (Var v : program.args) args_.push_back(program.type(v));
    for (const Feed& f : feeds) fed_arg_[f.result] = f.arg;
  }

  void run(const ArgumentSets& sets) override {
    std::vector<void*> args(args_.size()), results(fed_arg_.size());
    const auto         at = [](void* first, size_t stride, size_t turn) {
      return static_cast<std::byte*>(first) + stride * turn;
    };
    for (size_t k = 0; k < sets.count; ++k) {
      sets.places(k, args.data(), results.data());
      for (size_t turn = 0; turn < sets.turns; ++turn) {
        Arrays in;
        for (size_t i = 0; i < args_.size(); ++i)
          in.push_back(Array::borrow(args_[i], at(args[i], sets.arg_strides[i], turn), nullptr));
        const Arrays out  = executable_->run(in);
        size_t       next = 0;  // of the results that are not fed
        for (size_t j = 0; j < out.size(); ++j) {
          void* to = fed_arg_[j] ? args[*fed_arg_[j]] : at(results[next], sets.result_strides[next], turn);
          next += fed_arg_[j] ? 0 : 1;
          std::memcpy(to, out[j].raw(), out[j].bytes());
        }
      }
    }
  }

 private:
  std::shared_ptr<Executable>        executable_;
  Types                              args_;
  std::vector<std::optional<size_t>> fed_arg_;  // by result
};

}  // namespace

std::unique_ptr<ManyRuns> Backend::many(const Program& program, const Arrays& constants,
                                        const std::vector<Feed>& feeds) {
  return std::make_unique<OneAfterTheOther>(compile(program, constants), program, feeds);
}

}  // namespace braintrace

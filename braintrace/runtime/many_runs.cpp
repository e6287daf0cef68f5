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

  void run(size_t count, void* const* args, void* const* results) override {
    for (size_t k = 0; k < count; ++k, args += args_.size()) {
      Arrays in;
      for (size_t i = 0; i < args_.size(); ++i) in.push_back(Array::borrow(args_[i], args[i], nullptr));
      const Arrays out = executable_->run(in);
      for (size_t j = 0; j < out.size(); ++j)
        std::memcpy(fed_arg_[j] ? args[*fed_arg_[j]] : *results++, out[j].raw(), out[j].bytes());
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

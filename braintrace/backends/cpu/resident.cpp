// SPDX-License-Identifier: Apache-2.0
#include "braintrace/backends/cpu/resident.h"

#include <algorithm>
#include <optional>

#include "braintrace/backends/calls.h"
#include "braintrace/backends/cpu/blocks.h"
#include "braintrace/backends/cpu/stepper.h"

namespace braintrace::cpu {

namespace {

class Resident : public ResidentProgram {
 public:
  Resident(const Program& program, const Arrays& constants, const std::vector<Feed>& feeds) {
    const NonzeroResults nonzero = nonzero_results(program);
    for (const Feed& f : feeds)
      if (!nonzero.is_zero.at(f.result)) feeds_.push_back(f);
    const auto is_fed = [&](auto field, size_t i) {
      return std::any_of(feeds_.begin(), feeds_.end(), [&](const Feed& f) { return f.*field == i; });
    };
    for (size_t i = 0; i < program.args.size(); ++i)
      if (!is_fed(&Feed::arg, i)) args_.push_back(program.type(program.args[i]));
    for (size_t k = 0; k < program.results.size(); ++k) {
      if (is_fed(&Feed::result, k)) continue;
      const Type& type = program.type(program.results[k]);
      results_.push_back({type, nonzero.is_zero[k] ? std::optional(Array(type)) : std::nullopt});
    }
    stepper_ = std::make_unique<Stepper>(nonzero.program, constants, nonzero.feeds(feeds));
  }

  const std::vector<Feed>& feeds() const override { return feeds_; }
  void                     hold(Arrays&& values) override { stepper_->hold(std::move(values)); }
  Arrays                   settle() override { return stepper_->settle(); }

  Arrays run(const Arrays& args) override {
    check_arguments(args_, args);
    in_.clear();
    out_.clear();
    for (const Array& a : args) in_.push_back(a.raw());
    Arrays results;
    results.reserve(results_.size());
    for (const Result& r : results_) {
      results.push_back(r.zeros ? *r.zeros : blocks_->array(r.type));
      if (!r.zeros) out_.push_back(results.back().mutable_raw());
    }
    stepper_->step(in_.data(), out_.data());
    return results;
  }

 private:
  struct Result {
    Type                 type;
    std::optional<Array> zeros;  // if it is always zero
  };

  std::vector<Feed>        feeds_;
  Types                    args_;     // not fed
  std::vector<Result>      results_;  // not fed
  std::unique_ptr<Stepper> stepper_;
  std::shared_ptr<Blocks>  blocks_ = std::make_shared<Blocks>();
  std::vector<const void*> in_;
  std::vector<void*>       out_;
};

}  // namespace

std::unique_ptr<ResidentProgram> make_resident(const Program& program, const Arrays& constants,
                                               const std::vector<Feed>& feeds) {
  return std::make_unique<Resident>(program, constants, feeds);
}

}  // namespace braintrace::cpu

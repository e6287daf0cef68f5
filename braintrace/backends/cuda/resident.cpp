// SPDX-License-Identifier: Apache-2.0
// Fed arguments stay on the device. A result overwrites the argument it becomes if the program allows it; otherwise the
// two are double-buffered, with one binding for even and one for odd steps.
#include <algorithm>
#include <optional>

#include "braintrace/backends/calls.h"
#include "braintrace/backends/cuda/cuda_executable.h"
#include "braintrace/backends/cuda/device_program.h"
#include "braintrace/backends/cuda/fits.h"
#include "braintrace/backends/cuda/ports.h"
#include "braintrace/base/warning.h"

namespace braintrace::cuda {

namespace {

class DeviceResident : public ResidentProgram {
 public:
  DeviceResident(OpenDevice& open, const Program& program, const Arrays& constants, const std::vector<Feed>& feeds,
                 codegen::Precision precision)
      : DeviceResident(open, program, nonzero_results(program), constants, feeds, precision) {}

  const std::vector<Feed>& feeds() const override { return feeds_; }

  void hold(Arrays&& values) override {
    ensure(values.size() == slots_.size(), "cuda: {} arguments are fed, got {}", slots_.size(), values.size());
    for (size_t i = 0; i < values.size(); ++i)
      require(values[i].type() == slots_[i].type, "cuda: argument {} is {}, got {}.", slots_[i].arg,
              to_string(slots_[i].type), to_string(values[i].type()));
    {
      std::lock_guard lock(open_.mutex);
      const Arrays    given = std::exchange(given_, {});  // values returned by settle() are still on the device
      for (size_t i = 0; i < values.size(); ++i)
        if (given.empty() || values[i].is_borrowed() || values[i].raw() != given[i].raw())
          open_.device->write(slots_[i].now(turn_), values[i].raw(), static_cast<int64_t>(values[i].bytes()));
    }
    held_  = std::move(values);
    steps_ = 0;
  }

  Arrays settle() override {
    Arrays out = std::move(held_);
    held_.clear();
    if (steps_ == 0) return given_ = out;
    Arrays values;
    for (const Slot& s : slots_) values.emplace_back(s.type);
    try {
      read_slots(values);
    } catch (const DeviceLost& lost) {
      warn(fmt::format("{}\n  The states are as they were {} steps ago.", lost.what(), steps_), "device lost");
      return out;
    }
    return given_ = values;
  }

  Arrays run(const Arrays& args) override {
    check_arguments(inputs_.types(), args);
    Outputs::Taken taken;
    {
      std::lock_guard lock(open_.mutex);
      Device&         device = *open_.device;
      inputs_.write(device, args);
      program_.run(bindings_[turn_]);
      taken = outputs_.read(device, program_.may_stop());
    }
    if (taken.status) explain(args);
    turn_ = alternate_ ? turn_ ^ 1 : turn_;
    ++steps_;
    Arrays out;
    size_t next = 0;
    for (const Result& r : results_)
      if (!r.is_left) out.push_back(r.zero ? *r.zero : taken.values[next++]);
    return out;
  }

  // A program that fails halfway would have overwritten the results of the previous run.
  bool leave(const std::vector<size_t>& results) override {
    if (program_.may_stop()) return false;
    std::vector<size_t> outputs;
    for (size_t k : results) {
      const auto at = std::find_if(results_.begin(), results_.end(), [&](const Result& r) { return r.number == k; });
      ensure(at != results_.end(), "cuda: result {} is fed, or is none", k);
      at->is_left = true;
      left_.push_back(&*at);
      if (!at->zero) outputs.push_back(at->output);
    }
    outputs_.leave(outputs);
    return true;
  }
  Array left(size_t i) override {
    const Result& r = *left_.at(i);
    if (r.zero) return *r.zero;
    std::lock_guard lock(open_.mutex);
    return outputs_.read_left(*open_.device, r.output);
  }

 private:
  struct Slot {
    Type         type;
    size_t       arg, result;  // result: index in the compiled program
    DeviceMemory memory[2];    // the second only if double-buffered

    char* now(size_t turn) const { return memory[memory[1].data() ? turn : 0].data(); }
    char* next(size_t turn) const { return now(turn ^ 1); }
  };

  // A result that is not fed.
  struct Result {
    size_t               number;
    std::optional<Array> zero;         // set if it is always zero
    size_t               output  = 0;  // otherwise: index in outputs_
    bool                 is_left = false;
  };

  DeviceResident(OpenDevice& open, const Program& program, const NonzeroResults& nonzero, const Arrays& constants,
                 const std::vector<Feed>& feeds, codegen::Precision precision)
      : open_(open),
        num_args_(program.args.size()),
        program_(*open.device, nonzero.program, constants, precision),
        inputs_(not_fed(nonzero.program, nonzero.program.args, nonzero.feeds(feeds), &Feed::arg),
                not_fed(program_.reads(), nonzero.feeds(feeds), &Feed::arg)),
        outputs_(not_fed(nonzero.program, nonzero.program.results, nonzero.feeds(feeds), &Feed::result)) {
    for (const Feed& f : feeds)
      if (!nonzero.is_zero.at(f.result)) feeds_.push_back(f);
    size_t next = 0;
    for (size_t k = 0; k < program.results.size(); ++k) {
      if (is_fed(feeds_, &Feed::result, k)) continue;
      results_.push_back({.number = k, .zero = {}});
      if (nonzero.is_zero[k])
        results_.back().zero = Array(program.type(program.results[k]));
      else
        results_.back().output = next++;
    }
    load(nonzero.program, nonzero.feeds(feeds));
  }

  static bool is_fed(const std::vector<Feed>& feeds, size_t Feed::*field, size_t i) {
    return std::any_of(feeds.begin(), feeds.end(), [&](const Feed& f) { return f.*field == i; });
  }
  static Mask not_fed(const Mask& all, const std::vector<Feed>& feeds, size_t Feed::*field) {
    Mask out;
    for (size_t i = 0; i < all.size(); ++i)
      if (!is_fed(feeds, field, i)) out.push_back(all[i]);
    return out;
  }
  static Types not_fed(const Program& p, const Vars& vars, const std::vector<Feed>& feeds, size_t Feed::*field) {
    Types out;
    for (size_t i = 0; i < vars.size(); ++i)
      if (!is_fed(feeds, field, i)) out.push_back(p.type(vars[i]));
    return out;
  }

  void load(const Program& program, const std::vector<Feed>& fed) {
    std::lock_guard lock(open_.mutex);
    Device&         device = *open_.device;
    int64_t         bytes  = program_.bytes() + inputs_.bytes() + outputs_.bytes();
    for (const Feed& f : fed)
      bytes += program.type(program.args[f.arg]).bytes() * (program_.may_share(f.result, f.arg) ? 1 : 2);
    check_fits(device, bytes);
    program_.load(device);
    inputs_.allocate(device);
    outputs_.allocate(device);
    for (const Feed& f : fed) {
      const Type& type  = program.type(program.args[f.arg]);
      const bool  twice = !program_.may_share(f.result, f.arg);
      Slot        slot{type, f.arg, f.result, {DeviceMemory(device, type.bytes()), {}}};
      if (twice) slot.memory[1] = DeviceMemory(device, type.bytes());
      alternate_ = alternate_ || twice;
      slots_.push_back(std::move(slot));
    }
    for (size_t turn = 0; turn < (alternate_ ? 2 : 1); ++turn) bindings_[turn] = binding(program, turn);
    device.wait();
  }

  DeviceProgram::Binding binding(const Program& program, size_t turn) const {
    std::vector<char*> args(program.args.size()), results(program.results.size());
    for (const Slot& s : slots_) {
      args[s.arg]       = s.now(turn);
      results[s.result] = s.next(turn);
    }
    size_t in = 0, out = 0;
    for (char*& p : args)
      if (!p) p = inputs_.pointer(in++);
    for (char*& p : results)
      if (!p) p = outputs_.pointer(out++);
    return program_.bind(args, results, outputs_.status());
  }

  void read_slots(Arrays& values) const {
    std::lock_guard lock(open_.mutex);
    for (size_t i = 0; i < slots_.size(); ++i)
      open_.device->read(values[i].mutable_raw(), slots_[i].now(turn_), slots_[i].type.bytes());
    open_.device->wait();
  }

  // A program that can fail overwrites no argument, so they are unchanged.
  [[noreturn]] void explain(const Arrays& given) const {
    Arrays fed;
    for (const Slot& s : slots_) fed.emplace_back(s.type);
    read_slots(fed);
    Arrays args(num_args_);
    for (size_t i = 0; i < slots_.size(); ++i) args[slots_[i].arg] = fed[i];
    for (size_t i = 0, next = 0; i < num_args_; ++i)
      if (!is_fed(feeds_, &Feed::arg, i)) args[i] = given[next++];
    program_.explain(args);
  }

  OpenDevice&                open_;
  size_t                     num_args_;
  DeviceProgram              program_;
  Inputs                     inputs_;   // not fed
  Outputs                    outputs_;  // not fed
  std::vector<Feed>          feeds_;
  std::vector<Result>        results_;
  std::vector<const Result*> left_;
  std::vector<Slot>          slots_;
  bool                       alternate_ = false;
  size_t                     turn_      = 0;
  DeviceProgram::Binding     bindings_[2];
  Arrays                     held_;       // values of the slots at hold(), in case the device is lost
  Arrays                     given_;      // values that settle() returned and the slots still have
  int64_t                    steps_ = 0;  // since hold()
};

}  // namespace

std::unique_ptr<ResidentProgram> make_resident(OpenDevice& open, const Program& program, const Arrays& constants,
                                               const std::vector<Feed>& feeds, codegen::Precision precision) {
  return std::make_unique<DeviceResident>(open, program, constants, feeds, precision);
}

}  // namespace braintrace::cuda

// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "braintrace/backends/calls.h"
#include "braintrace/backends/cuda/cuda_executable.h"
#include "braintrace/backends/cuda/device_program.h"
#include "braintrace/backends/cuda/fits.h"
#include "braintrace/backends/cuda/ports.h"

namespace braintrace::cuda {

namespace {

Types types_of(const Program& p, const Vars& vars) {
  Types out;
  for (Var v : vars) out.push_back(p.type(v));
  return out;
}

class DeviceExecutable : public Executable {
 public:
  DeviceExecutable(OpenDevice& open, const Program& program, const Arrays& constants, codegen::Precision precision)
      : open_(open),
        program_(*open.device, program, constants, precision),
        inputs_(types_of(program, program.args), program_.reads()),
        outputs_(types_of(program, program.results)) {
    std::lock_guard lock(open.mutex);
    Device&         device = *open.device;
    check_fits(device, program_.bytes() + inputs_.bytes() + outputs_.bytes());
    program_.load(device);
    inputs_.allocate(device);
    outputs_.allocate(device);
    std::vector<char*> args, results;
    for (size_t i = 0; i < inputs_.types().size(); ++i) args.push_back(inputs_.pointer(i));
    for (size_t i = 0; i < outputs_.types().size(); ++i) results.push_back(outputs_.pointer(i));
    binding_ = program_.bind(args, results, outputs_.status());
    device.wait();
  }

  Arrays run(const Arrays& args) override {
    check_arguments(inputs_.types(), args);
    std::lock_guard lock(open_.mutex);
    Device&         device = *open_.device;
    inputs_.write(device, args);
    program_.run(binding_);
    Outputs::Taken taken = outputs_.read(device, program_.may_stop());
    if (taken.status) program_.explain(args);
    return std::move(taken.values);
  }

 private:
  OpenDevice&            open_;
  DeviceProgram          program_;
  Inputs                 inputs_;
  Outputs                outputs_;
  DeviceProgram::Binding binding_;
};

}  // namespace

std::shared_ptr<Executable> make_executable(OpenDevice& open, const Program& program, const Arrays& constants,
                                            codegen::Precision precision) {
  return std::make_shared<DeviceExecutable>(open, program, constants, precision);
}

}  // namespace braintrace::cuda

// SPDX-License-Identifier: Apache-2.0
#include "braintrace/backends/reference/interpreter.h"

#include "braintrace/base/long_run.h"
#include "braintrace/ir/op.h"

namespace braintrace {

namespace {

class Interpreted : public Executable {
 public:
  Interpreted(Program program, Arrays constants) : program_(std::move(program)), constants_(std::move(constants)) {}

  Arrays run(const Arrays& args) override {
    require(args.size() == program_.args.size(), "run: the program takes {} argument(s), got {}.", program_.args.size(),
            args.size());
    for (size_t i = 0; i < args.size(); ++i)
      require(args[i].type() == program_.type(program_.args[i]), "run: argument {} is {}, the program takes {}.", i,
              to_string(args[i].type()), to_string(program_.type(program_.args[i])));
    const LongRun stoppable;
    Arrays        results = evaluate(program_, constants_, args);
    for (Array& a : results)
      if (a.is_borrowed()) a = a.copy();  // an argument passed through, which its owner may write later
    return results;
  }

 private:
  Program program_;
  Arrays  constants_;
};

class Interpreter : public Backend {
 public:
  std::string_view            name() const override { return "reference"; }
  std::shared_ptr<Executable> compile(const Program& program, const Arrays& constants) override {
    require(constants.size() == program.constants.size(), "compile: the program has {} constant(s), got {}.",
            program.constants.size(), constants.size());
    return std::make_shared<Interpreted>(program, constants);
  }
  // Every value has its own memory.
  ProgramNeeds needs(const Program& program, const std::vector<Feed>&) override {
    ProgramNeeds n{.is_zero = std::vector<bool>(program.results.size())};
    for (const Eqn& e : program.eqns) {
      n.work.kernels += 1;
      for (Var v : e.out) {
        n.working += program.type(v).bytes();
        n.work.elements += static_cast<double>(program.type(v).size());
      }
    }
    return n;
  }
};

}  // namespace

Backend& reference_backend() {
  static Interpreter backend;
  return backend;
}

}  // namespace braintrace

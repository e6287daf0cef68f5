// SPDX-License-Identifier: Apache-2.0
// h = f(…) becomes h = f(…) + p for every hidden state: later readers see the perturbed value.
#include <algorithm>

#include "braintrace/base/pack.h"
#include "braintrace/compiler/graph.h"
#include "braintrace/ir/builder.h"
#include "braintrace/ops/math.h"
#include "braintrace/transforms/walk.h"

namespace braintrace {

HiddenPerturbation add_hidden_perturbation_from_minfo(const ModuleInfo& info) {
  HiddenPerturbation out;
  Program&           p = out.program;
  p                    = info.program();
  out.constants        = info.step.constants;
  Vars perturbation(p.types.size(), -1);
  for (const HiddenVar& h : info.hidden) {
    out.hidden_paths.push_back(h.path);
    perturbation[h.out] = p.add_value(p.type(h.out));
    p.args.push_back(perturbation[h.out]);
  }
  std::vector<Eqn> eqns;
  eqns.reserve(p.eqns.size() + info.hidden.size());
  for (Eqn& e : p.eqns) {
    std::vector<Eqn> sums;
    for (Var& v : e.out) {
      if (perturbation[v] < 0) continue;
      const Var unperturbed = p.add_value(p.type(v));
      sums.push_back({&add_op, {unperturbed, perturbation[v]}, {v}, {}, e.note});
      v = unperturbed;
    }
    eqns.push_back(std::move(e));
    eqns.insert(eqns.end(), sums.begin(), sums.end());
  }
  p.eqns = std::move(eqns);
  return out;
}

HiddenPerturbation::Inputs<Types> HiddenPerturbation::input_types() const {
  const Inputs<size_t> n{program.args.size() - hidden_paths.size(), hidden_paths.size()};
  return split(program.types_of(program.args), n);
}

Tensors HiddenPerturbation::init_perturb_data() const { return zeros_of(input_types().perturbation); }

void HiddenPerturbation::check(const Tensors& perturb_data) const {
  std::string states;
  for (const Path& p : hidden_paths) states += (states.empty() ? "" : ", ") + p.str();
  require(perturb_data.size() == hidden_paths.size(),
          "hidden perturbation: expected one for each of the {} hidden states ({}), got {}.", hidden_paths.size(),
          states, perturb_data.size());
  const Types want = input_types().perturbation;
  for (size_t i = 0; i < want.size(); ++i)
    require(perturb_data[i].defined() && perturb_data[i].type() == want[i],
            "hidden perturbation: perturbation {} is {}, its state {} is {}.", i,
            perturb_data[i].defined() ? to_string(perturb_data[i].type()) : "an undefined tensor",
            hidden_paths[i].str(), to_string(want[i]));
}

Tensors HiddenPerturbation::eval(const Tensors& inputs, const Tensors& perturb_data) const {
  check(perturb_data);
  const Types want = input_types().step;
  require(inputs.size() == want.size(),
          "hidden perturbation: the step has {} inputs, counting the states it reads; {} were given.\n"
          "  graph.module_info.step.inputs(args) makes them.",
          want.size(), inputs.size());
  for (size_t i = 0; i < want.size(); ++i)
    require(inputs[i].defined() && inputs[i].type() == want[i],
            "hidden perturbation: input {} of the step is {}, got {}.", i, to_string(want[i]),
            inputs[i].defined() ? to_string(inputs[i].type()) : "an undefined tensor");
  return replay(program, constants, joined(inputs, perturb_data));
}

Tensors HiddenPerturbation::perturb_data_to_hidden_group_data(const Tensors&                  perturb_data,
                                                              const std::vector<HiddenGroup>& groups) const {
  check(perturb_data);
  Tensors out;
  for (const HiddenGroup& g : groups) {
    Tensors members;
    for (const Path& path : g.hidden_paths) {
      const auto  it = std::find(hidden_paths.begin(), hidden_paths.end(), path);
      std::string known;
      for (const Path& p : hidden_paths) known += (known.empty() ? "" : ", ") + p.str();
      require(it != hidden_paths.end(),
              "hidden perturbation: state {} of group {} was not perturbed; perturbed are: {}.", path.str(), g.index,
              known);
      members.push_back(perturb_data[static_cast<size_t>(it - hidden_paths.begin())]);
    }
    out.push_back(g.concat_hidden(members));
  }
  return out;
}

}  // namespace braintrace

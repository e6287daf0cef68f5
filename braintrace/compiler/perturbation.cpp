// SPDX-License-Identifier: Apache-2.0
// h = f(…) becomes h = f(…) + p for every hidden state: later readers see the perturbed value.
#include <algorithm>

#include "braintrace/compiler/graph.h"
#include "braintrace/ir/builder.h"
#include "braintrace/ops/math.h"

namespace braintrace {

HiddenPerturbation add_hidden_perturbation_from_minfo(const ModuleInfo& info) {
  HiddenPerturbation out;
  Program&           p = out.program;
  p                    = info.program();
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

Tensors HiddenPerturbation::init_perturb_data() const {
  Tensors out;
  for (size_t i = program.args.size() - hidden_paths.size(); i < program.args.size(); ++i)
    out.emplace_back(program.type(program.args[i]), 0);
  return out;
}

Tensors HiddenPerturbation::eval(const ModuleInfo& info, const Tensors& inputs, const Tensors& perturb_data) const {
  require(perturb_data.size() == hidden_paths.size(), "hidden perturbation: {} arrays given for {} hidden states.",
          perturb_data.size(), hidden_paths.size());
  Tensors args = inputs;
  args.insert(args.end(), perturb_data.begin(), perturb_data.end());
  return replay(program, info.step.constants, args);
}

Tensors HiddenPerturbation::perturb_data_to_hidden_group_data(const Tensors&                  perturb_data,
                                                              const std::vector<HiddenGroup>& groups) const {
  require(perturb_data.size() == hidden_paths.size(), "hidden perturbation: {} arrays given for {} hidden states.",
          perturb_data.size(), hidden_paths.size());
  Tensors out;
  for (const HiddenGroup& g : groups) {
    Tensors members;
    for (const Path& path : g.hidden_paths) {
      const auto it = std::find(hidden_paths.begin(), hidden_paths.end(), path);
      require(it != hidden_paths.end(), "hidden perturbation: state {} of group {} was not perturbed.", path.str(),
              g.index);
      members.push_back(perturb_data[static_cast<size_t>(it - hidden_paths.begin())]);
    }
    out.push_back(g.concat_hidden(members));
  }
  return out;
}

}  // namespace braintrace

// SPDX-License-Identifier: Apache-2.0
// What the two ways of finding relations share: ours (relations.cpp) and the reference's (reference_relations.cpp).
#pragma once

#include <functional>

#include "braintrace/compiler/graph.h"

namespace braintrace {

struct RelationFinder {
  RelationFinder(const ModuleInfo& info, const std::vector<HiddenGroup>& groups, const CompileOptions& options,
                 Diagnostics& log);

  const ModuleInfo&               info;
  const std::vector<HiddenGroup>& groups;
  const CompileOptions&           options;
  Diagnostics&                    log;
  Flow                            flow;
  std::vector<int>                group_of_exit;  // of each value: the group it ends, or -1
  std::vector<int>                weight_of;      // of each value: the parameter leaf it is, or -1
  Mask                            varies;         // of each value: it depends on more than parameters and constants

  // The relation of an equation with its weights resolved; none when no weight comes from a parameter.
  std::optional<HiddenParamOpRelation> relation_of(int eqn);
  // Stops at the exits of other groups and, unless they may be passed, at products.
  Stops inside(int group, bool through_products) const;
  bool  blocks(const Eqn& e) const;
  bool  cuts(const Eqn& e) const;  // no credit passes it

  // Where the result of the operation lies on the group by its shape alone: at equal flat positions, or, when the
  // operation does not mix positions, as shapes broadcast. None when neither fits.
  static std::optional<Shape> layout_by_shape(const EtpCall& call, const HiddenGroup& group);

  void record(DiagnosticKind kind, DiagnosticLevel level, const HiddenParamOpRelation& r, std::string message,
              std::vector<Path> hidden = {});
  // An operand with the leaves behind it, and the chain from them to it.
  Trainable trainable(const EtpWeight& w, int index, Var operand) const;
  // No chain passes a plain product (the operation decides: what it reads has no trace), nor a trainable operation
  // whose result changes from step to step (a trace of its result says nothing about its weight).
  bool ends_chain(const Eqn& e) const;
  // The values that an operand is made of, itself among them, up to the equations that end the walk.
  Vars behind(Var operand, const std::function<bool(const Eqn&)>& ends) const;
  // The operand is made by such an operation; its chain then passes no trainable operation at all.
  bool passes_varying(Var operand) const;
};

// Fills r.connections as braintrace 0.2.6 would; false, with the reason recorded, when it excludes the weight.
bool connect_as_reference(RelationFinder& find, HiddenParamOpRelation& r);

}  // namespace braintrace

// SPDX-License-Identifier: Apache-2.0
// Code shared by the two ways to find relations: ours (relations.cpp) and that of the reference
// (reference_relations.cpp).
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
  std::vector<int>                group_of_exit;  // of each value: the group whose new state it is, or -1
  std::vector<int>                weight_of;      // of each value: the parameter leaf it is, or -1
  Mask                            varies;  // of each value: whether it depends on more than parameters and constants

  // The relation of an equation with its weights resolved; none if no weight comes from a parameter.
  std::optional<HiddenParamOpRelation> relation_of(int eqn);
  // Stops at the exits of other groups and, unless they may be passed, at products.
  Stops inside(int group, bool through_products) const;
  bool  blocks(const Eqn& e) const;
  bool  cuts(const Eqn& e) const;  // credit does not pass it

  // How the result of the operation aligns with the group, by its shape alone: at equal flat positions or, if the
  // operation does not mix positions, by broadcasting. None if neither fits.
  static std::optional<Shape> layout_by_shape(const EtpCall& call, const HiddenGroup& group);

  void record(DiagnosticKind kind, DiagnosticLevel level, const HiddenParamOpRelation& r, std::string message,
              std::vector<Path> hidden = {});
  // An operand with the leaves it is computed from, and the chain from them to the operand.
  Trainable trainable(const EtpWeight& w, int index, Var operand) const;
  // A chain must not pass a plain product (its weights have no trace), nor a trainable operation whose result changes
  // from step to step (a trace of its result says nothing about its weight).
  bool ends_chain(const Eqn& e) const;
  // The values that an operand is computed from, including itself, up to the equations that end the walk.
  Vars behind(Var operand, const std::function<bool(const Eqn&)>& ends) const;
  // Whether such an operation computes the operand; its chain then passes no trainable operation at all.
  bool passes_varying(Var operand) const;
};

// Fills r.connections as braintrace 0.2.6 does; returns false and records the reason if it excludes the weight.
bool connect_as_reference(RelationFinder& find, HiddenParamOpRelation& r);

}  // namespace braintrace

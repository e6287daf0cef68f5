// SPDX-License-Identifier: Apache-2.0
// GraphView: a compiled graph as plain data. The JSON file contains exactly this, and pictures use nothing else, so a
// picture can be drawn from a file, without the model.
//
// Items have ids, which edges and the interactive page use:
//   input:0   output:0   weight:rnn.W.weight   op:0   group:0   state:rnn.h
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "braintrace/compiler/graph.h"

namespace braintrace {

// How a weight learns: along an eligibility trace, inside a window, from the current step only, or not at all.
enum class Learns : uint8_t { Trace, Window, SameStep, Unused };
// The meaning of an arrow: a weight read by an operation, a value of this step, a state of the previous step.
enum class EdgeKind : uint8_t { Weight, Data, Recurrent };

std::string_view name_of(Learns learns);
std::string_view name_of(EdgeKind kind);

struct GraphView {
  struct Value {  // an input or output of the step, or a leaf of a weight
    std::string name;
    Type        type;
  };
  struct State {  // carried from step to step, not trained
    std::string path;
    std::string kind;  // HiddenState, …
    Type        type;
    int         group = -1;  // -1: no trace follows it
  };
  struct Group {
    std::vector<std::string> hidden_paths;
    Shape                    varshape;
    int                      num_state = 0, trace_state_width = 0;
    bool                     is_diagonal_recurrence = true, diagonal = true;
    std::string              transition;  // program text
  };
  struct Weight {
    std::string        path;
    std::vector<Value> leaves;
    Learns             learns = Learns::Unused;
    std::string        reason;  // kind of the record that excluded it, or empty
    std::string        why;
  };
  struct Operation {
    std::string              name;  // etp_mv, or the name of a plain op
    bool                     trainable = false;
    std::vector<std::string> weights;
    Type                     y;
    std::string              equation;
  };
  struct Trace {
    int     group = 0;
    Type    type;
    int64_t bytes = 0;
  };
  struct Trainable {
    std::string              key;
    std::vector<std::string> leaves;  // path of the weight, a dot, name of the leaf
    std::vector<std::string> chain;   // operations between the leaves and the operation
    std::vector<Trace>       traces;
  };
  struct Connection {
    int                      group = 0;
    PathClass                path  = PathClass::Direct;
    std::vector<std::string> hidden_paths;
    bool                     position_preserving = true;
    std::string              tail;  // program text
  };
  struct Relation {
    int                      operation = 0;  // index into operations
    std::string              weight_path;
    std::vector<Trainable>   trainables;
    std::vector<Connection>  connections;
    std::vector<std::string> through;  // windowed: weights of the products it passes
  };
  struct Edge {
    std::string from, to;
    EdgeKind    kind = EdgeKind::Data;

    bool operator==(const Edge&) const = default;
  };
  struct Context {
    std::string key, text;
  };
  struct Record {
    DiagnosticKind           kind  = DiagnosticKind::RelationIncluded;
    DiagnosticLevel          level = DiagnosticLevel::Info;
    std::string              message, primitive, weight_path;
    std::vector<std::string> hidden_paths;
    std::vector<Context>     context;
  };

  std::string              model;
  std::vector<Value>       inputs, outputs;
  std::vector<State>       states;
  std::vector<Group>       groups;
  std::vector<Weight>      weights;
  std::vector<Operation>   operations;
  std::vector<Relation>    relations;
  std::vector<Edge>        edges;
  std::vector<std::string> perturbed;  // paths of the perturbed states
  std::vector<Record>      diagnostics;
  std::string              program;  // text of the step

  int64_t trace_bytes() const;  // of all traces that D-RTRL keeps
};

// The graph of a compiled model.
GraphView view_of(const ETraceGraph& graph, std::string model_name = "model");

// Throws UserError if an index or an id is invalid; `where` names the source of the view.
void check(const GraphView& view, const std::string& where);

// JSON, schema "braintrace-graph/1". Reading throws a UserError that names the location inside the document.
std::string graph_json(const GraphView& view);
GraphView   read_graph_json(std::string_view text);

std::string graph_dot(const GraphView& view);
std::string graph_svg(const GraphView& view);
std::string graph_html(const GraphView& view);  // one self-contained file

}  // namespace braintrace

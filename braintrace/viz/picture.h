// SPDX-License-Identifier: Apache-2.0
// The content of a graph picture before layout: boxes with text, arrows, and sets of items to highlight together.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "braintrace/viz/graph_view.h"

namespace braintrace {

enum class NodeKind : uint8_t { Input, State, Weight, Operation, Group, Output };

struct PictureNode {
  struct Row {  // a line with its own id: a state inside its group
    std::string id, text;
  };
  std::string              id;
  NodeKind                 kind = NodeKind::Input;
  std::string              title;
  std::vector<std::string> lines;
  std::vector<Row>         rows   = {};
  Learns                   learns = Learns::Trace;  // weights and operations: determines color and border
  int                      index  = 0;              // among the nodes of its kind
};

struct PictureEdge {
  size_t   from = 0, to = 0;  // indices of nodes
  EdgeKind kind     = EdgeKind::Data;
  bool     windowed = false;  // part of a path that learns only inside a window
};

struct Picture {
  std::string              title, subtitle;
  std::vector<PictureNode> nodes;
  std::vector<PictureEdge> edges;
  // For each id: the ids that are highlighted with it (including itself).
  std::map<std::string, std::set<std::string>> lights;
};

Picture picture_of(const GraphView& view);

std::string_view name_of(NodeKind kind);

}  // namespace braintrace

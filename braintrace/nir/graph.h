// SPDX-License-Identifier: Apache-2.0
// Networks in the Neuromorphic Intermediate Representation (Pedersen et al. 2024, package nir 1.0.8): nodes with
// continuous equations in seconds, and edges between them. A file is HDF5:
//
//   /version, /node/type = NIRGraph, /node/edges (E, 2), /node/nodes/NAME/type and one data set for each field
#pragma once

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "braintrace/base/array.h"
#include "braintrace/io/file.h"

namespace braintrace::nir {

struct Graph;

struct Node {
  std::string                        type;    // LIF, Affine, …, NIRGraph
  std::map<std::string, Array>       fields;  // tau, weight, …
  std::map<std::string, std::string> texts;   // padding = same
  std::shared_ptr<Graph>             graph;   // of NIRGraph
};

struct Graph {
  std::map<std::string, Node>                      nodes;  // by name, including Input and Output
  std::vector<std::pair<std::string, std::string>> edges;
  std::map<std::string, std::string>               metadata;  // texts only
};

// Malformed and damaged files throw UserError (io/hdf5.h).
Graph read(const std::string& path);
void  write(const std::string& path, const Graph& graph);

// The same from and to memory; `where` names the source in messages.
Graph decode(ByteSpan bytes, const std::string& where);
Bytes encode(const Graph& graph);

// The version of the format in written files.
constexpr const char* format_version = "1.0.8";

// The shape of one output sample of each node; fields of one element apply to all units. The graph must be flat (see
// flat). Throws a UserError that names a node that does not match its inputs.
std::map<std::string, Shape> shapes_of(const Graph& flat);
// The graph without nested graphs: their nodes are named "outer.inner", their inputs and outputs are replaced by edges.
Graph flat(const Graph& graph);
// The only node of type Input or Output; throws UserError if there is none, or several.
std::string port(const Graph& flat, const char* type);

}  // namespace braintrace::nir

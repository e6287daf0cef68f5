// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "braintrace/nn/activation.h"
#include "braintrace/ops/spike.h"
#include "braintrace/zoo/model.h"

namespace braintrace::zoo {

namespace {

std::string cell_text(std::string text) {
  for (size_t i = text.find('|'); i != text.npos; i = text.find('|', i + 2)) text.replace(i, 1, "\\|");
  return text;
}

constexpr const char* introduction = R"md(# Model descriptions

A model is a JSON object: one layer, a chain of named layers, or a graph of layers.

```json
{"type": "chain", "layers": [
  {"name": "rnn", "type": "gru", "n_in": 10, "n_rec": 64},
  {"name": "out", "type": "linear", "n_in": 64, "n_out": 5}]}
```

In a graph, the input of a node is the sum of the outputs of all nodes with an edge to it. Every cycle must contain a population of
neurons, which feeds back its output of the previous step. `in_size` is the size of the input of the graph.

```json
{"type": "graph", "in_size": [2],
 "nodes": [{"name": "w", "type": "linear", "n_in": 2, "n_out": 3},
           {"name": "lif", "type": "lif", "n": 3},
           {"name": "rec", "type": "linear", "n_in": 3, "n_out": 3}],
 "edges": [["input", "w"], ["w", "lif"], ["lif", "rec"], ["rec", "lif"], ["lif", "output"]]}
```

To use several inputs, concatenate their features, and select each with a `part`: `{"type": "part", "first": 3, "size": [8, 8, 1]}`
reads features 3 to 66 as an image.

`"weights": "net.safetensors"` next to `type` names a file (.npz, .safetensors or msgpack) with a value for every parameter, by path.
Relative file names are relative to the description.

States and parameters have the layer's name as prefix: `rnn.h`, `rnn.Wz.weight` with leaves `weight` and `bias`.
[a;b] is concatenation on the last axis, σ the logistic function, φ the activation, ← the new value of a state.
Times are in ms, potentials in mV, currents in mA. Fields with `=` have a default; fields in brackets are optional.
A time constant, potential or resistance of a neuron or synapse is a number, a list with one number per unit, or
`{"trainable": …}` around either: a parameter that learns online. A population of `n` units may have a shape: `"n": [8, 14, 14]`.
`memory_steps` T initializes the gates of a cell for memories of up to T steps: for u drawn between 1 and T-1 for each unit, the bias of
the gate that keeps the state starts at log u, and the bias of the gate that writes it at -log u.

This page is generated; a test checks that it is up to date.

## Layer types

| type | one step | fields |
|---|---|---|
)md";

}  // namespace

std::string vocabulary_page() {
  std::string page = introduction;
  for (const LayerType& t : layer_types())
    page += fmt::format("| `{}` | {} | {} |\n", t.name, cell_text(t.doc), field_list(t.fields));
  page +=
      "\n## Patterns of sparse layers\n\n`pattern` and `input` of `sparse_snn` define which source drives which "
      "target:\n\n"
      "| type | fields | connections |\n|---|---|---|\n"
      "| `fixed_in_degree` | `degree`, `seed = 0` | `degree` different sources for every target |\n"
      "| `distance` | `degree`, `sigma`, `seed = 0` | the same, but near sources are more likely: neurons lie on a "
      "square grid with periodic boundaries, and the distance to a source is normally distributed along each axis, "
      "with standard deviation `sigma` |\n"
      "| `file` | `path` | MatrixMarket (`.mtx`) or `scipy.sparse.save_npz` (`.npz`): row = source, column = target; "
      "values, if present, are the initial weights |\n"
      "| `csr` | `shape`, `indptr`, `indices` | row = source, column = target |\n";
  page += "\n## Built-in models\n\n| name | description |\n|---|---|\n";
  for (const BuiltinModel& m : builtin_models()) page += fmt::format("| `{}` | {} |\n", m.name, m.doc);
  page +=
      "\n## Surrogate gradients\n\nz = 1 where x ≥ 0, else 0; dz = s(x) dx.\n\n![s(x) of every "
      "surrogate](img/surrogates.svg)\n\n| name | s(x) | parameters "
      "|\n|---|---|---|\n";
  for (const SurrogateKind& k : surrogates()) {
    std::string numbers;
    for (const auto& p : k.params) numbers += fmt::format("{}`{} = {}`", numbers.empty() ? "" : ", ", p.name, p.value);
    page += fmt::format("| `{}` | {} | {} |\n", k.name, cell_text(k.doc), numbers);
  }
  page += "\n## Activations\n\n";
  for (const std::string& name : nn::activation_names()) page += fmt::format("`{}` ", name);
  page.back() = '\n';
  return page;
}

}  // namespace braintrace::zoo

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

}  // namespace

std::string vocabulary_page() {
  std::string page =
      "# Model descriptions\n\n"
      "A model is a JSON object: one layer, a chain of named layers, or a graph of them.\n\n"
      "```json\n"
      "{\"type\": \"chain\", \"layers\": [\n"
      "  {\"name\": \"rnn\", \"type\": \"gru\", \"n_in\": 10, \"n_rec\": 64},\n"
      "  {\"name\": \"out\", \"type\": \"linear\", \"n_in\": 64, \"n_out\": 5}]}\n"
      "```\n\n"
      "In a graph, edges say who reads whom; a node reads the sum of what its edges bring. A cycle passes through a "
      "population\nof neurons: on the way back its output of the step before is used. `in_size` is what the graph "
      "reads.\n\n"
      "```json\n"
      "{\"type\": \"graph\", \"in_size\": [2],\n"
      " \"nodes\": [{\"name\": \"w\", \"type\": \"linear\", \"n_in\": 2, \"n_out\": 3},\n"
      "           {\"name\": \"lif\", \"type\": \"lif\", \"n\": 3},\n"
      "           {\"name\": \"rec\", \"type\": \"linear\", \"n_in\": 3, \"n_out\": 3}],\n"
      " \"edges\": [[\"input\", \"w\"], [\"w\", \"lif\"], [\"lif\", \"rec\"], [\"rec\", \"lif\"], "
      "[\"lif\", \"output\"]]}\n"
      "```\n\n"
      "Several inputs come side by side, as features of one, and `part` takes its own: `{\"type\": \"part\", "
      "\"first\": 3, "
      "\"size\": [8, 8, 1]}`\nreads features 3 to 66 as an image. The edges of both meet in a sum.\n\n"
      "`\"weights\": \"net.safetensors\"` beside `type` names a file (.npz, .safetensors or msgpack) with a value for "
      "every "
      "parameter,\nby path; a name that is not absolute is that of a file beside the description.\n\n"
      "States and parameters have the layer's name as prefix: `rnn.h`, `rnn.Wz.weight` with leaves `weight` and "
      "`bias`.\n"
      "[a;b] is concatenation on the last axis, σ the logistic function, φ the activation, ← a state's new value.\n"
      "Times are in ms, potentials in mV, currents in mA. A field with `=` has a default; one in brackets may be left "
      "out.\n"
      "A time constant, potential or resistance of a neuron or synapse is a number, a list with one number per unit, "
      "or\n"
      "`{\"trainable\": either}`: a parameter that learns online. A population of `n` units may have a shape: "
      "`\"n\": [8, 14, 14]`.\n"
      "`memory_steps` T of a gated cell starts its gates slow, for memories of up to T steps: u is drawn between 1 and "
      "T-1 for each\nunit, the bias of the gate that keeps its state starts at log u, that of the gate that writes at "
      "-log u.\n"
      "This page is written by the program from its own tables; a test keeps it true.\n\n"
      "## Layer types\n\n| type | one step | fields |\n|---|---|---|\n";
  for (const LayerType& t : layer_types())
    page += fmt::format("| `{}` | {} | {} |\n", t.name, cell_text(t.doc), field_list(t.fields));
  page +=
      "\n## Patterns of sparse layers\n\n`pattern` and `input` of `sparse_snn` say which source drives which "
      "target:\n\n"
      "| type | fields | which |\n|---|---|---|\n"
      "| `fixed_in_degree` | `degree`, `seed = 0` | so many different sources for every target |\n"
      "| `distance` | `degree`, `sigma`, `seed = 0` | the same, near ones more likely: neurons stand on a square sheet "
      "whose sides meet, and a source is a normal variable of `sigma` steps away along either side |\n"
      "| `file` | `path` | MatrixMarket (`.mtx`) or `scipy.sparse.save_npz` (`.npz`): row = source, column = target; "
      "values, if there are any, are the initial weights |\n"
      "| `csr` | `shape`, `indptr`, `indices` | as written; row = source, column = target |\n";
  page += "\n## Built-in models\n\n| name | what it is |\n|---|---|\n";
  for (const BuiltinModel& m : builtin_models()) page += fmt::format("| `{}` | {} |\n", m.name, m.doc);
  page +=
      "\n## Surrogate gradients\n\nz = 1 where x ≥ 0, else 0; dz = s(x) dx.\n\n![s(x) of every "
      "surrogate](img/surrogates.svg)\n\n| name | s(x) | numbers "
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

// SPDX-License-Identifier: Apache-2.0
// Any description either fails with a UserError or is a model with names of their own for all states, which takes
// one step on inputs of any rank or fails with a UserError; the length of the text decides about the rank. Large ones
// are built, without values, and not run.
#include <array>
#include <new>
#include <set>

#include <nlohmann/json.hpp>

#include "braintrace/base/json.h"
#include "braintrace/model/name.h"
#include "braintrace/nn/without_values.h"
#include "braintrace/ops/move.h"
#include "braintrace/verify/layers/layers.h"

namespace {

using namespace braintrace;

std::shared_ptr<Module> described(const std::string& text) {
  return golden::described_model(read_json(text, "model description"));
}

constexpr int64_t most_elements = 2000;

int64_t elements(const Module& model) {
  int64_t               n = 0;
  std::set<std::string> names;
  for (const auto& [path, state] : model.states()) {
    if (!names.insert(path.str()).second) __builtin_trap();
    for (const std::string& key : path.keys())
      if (!is_name(key)) __builtin_trap();
    for (const std::string& leaf : state.leaf_names()) n += state.leaf(leaf).type().size();
  }
  return n;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  try {
    {
      const nn::WithoutValues without;
      const auto              model = described(text);
      init_all_states(*model);
      if (elements(*model) > most_elements) return 0;
    }
    const std::array<Shape, 4> shapes = {Shape{}, Shape{2}, Shape{3}, Shape{4, 4, 2}};
    const auto                 model  = described(text);
    init_all_states(*model);
    (*model)(zeros(shapes[size % shapes.size()]));
  } catch (const UserError&) {
  } catch (const std::bad_alloc&) {  // larger than the machine
  }
  return 0;
}

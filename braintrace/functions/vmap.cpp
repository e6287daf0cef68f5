// SPDX-License-Identifier: Apache-2.0
#include "braintrace/functions/vmap.h"

#include "braintrace/ops/move.h"
#include "braintrace/ops/random.h"
#include "braintrace/transforms/vmap.h"
#include "braintrace/transforms/walk.h"

namespace braintrace::flat {

namespace {

// The size of the mapped axis, and what determined it (for messages).
struct BatchSizeFound {
  std::optional<int64_t> size;
  std::string            who;

  void meet(int64_t given, const std::string& name) {
    if (!size) {
      size = given;
      who  = name;
    }
    require(*size == given, ErrorKind::Shape,
            "vmap: {} has {} samples but {} has {}; mapped axes must have the same size.", name, given, who, *size);
  }
};

// Arguments with the mapped axis in front, and the types of one sample.
struct MappedArguments {
  Tensors in;
  Mask    batched;
  Types   lanes;

  MappedArguments(const Tensors& args, const std::vector<size_t>& argument_of_leaf, const VmapOptions& options,
                  BatchSizeFound& found) {
    for (size_t i = 0; i < args.size(); ++i) {
      const size_t argument = argument_of_leaf[i];
      const auto   axis     = options.in_axes.empty() ? std::optional<int64_t>(0) : options.in_axes[argument];
      Type         lane     = args[i].type();
      batched.push_back(axis.has_value());
      in.push_back(axis ? move_axis(args[i], normalize_axis(*axis, lane.rank(), "vmap"), 0) : args[i]);
      if (axis) {
        lane = in.back().type();
        found.meet(lane.shape[0], fmt::format("argument {} ({})", argument, to_string(args[i].type())));
        lane.shape.erase(lane.shape.begin());
      }
      lanes.push_back(lane);
    }
  }
};

// The states that the function touches.
struct MappedStates {
  const StatefulProgram&             p;
  const StateSet&                    lanes;
  int64_t                            size;
  Tensors                            in       = {};  // values of the reads
  Mask                               batched  = {};
  std::map<const StateCell*, Tensor> next_key = {};

  bool is_lane(const StateLeaf& leaf) const { return lanes.contains(leaf.state.cell().get()); }

  // A random stream that is not batched itself is split: one key for each sample, and one for the stream to continue.
  void read() {
    for (size_t r = 0; r < p.reads.size(); ++r) {
      const StateLeaf& leaf  = p.reads[r];
      Tensor           value = p.read_value(r);
      const bool       split = leaf.state.kind() == StateKind::Random && !is_lane(leaf);
      if (split) {
        const Tensor keys                 = random::split_stacked(value, size + 1);
        next_key[leaf.state.cell().get()] = reshape(slice_axis(keys, 0, 0, 1), value.shape());
        value                             = slice_axis(keys, 0, 1, size + 1);
      }
      in.push_back(value);
      batched.push_back(split || is_lane(leaf));
    }
  }
  // What is stored as the new value of a state.
  Tensor written(const StateLeaf& leaf, const Tensor& value, bool differs) const {
    if (is_lane(leaf)) return with_batch_axis(value, differs, size);
    if (const auto it = next_key.find(leaf.state.cell().get()); it != next_key.end()) return it->second;
    require(!differs, ErrorKind::State,
            "vmap: {} is written with a value that differs from sample to sample.\n"
            "  Map it as well (batched_states in C++, in_states in Python), and initialize it with batch_size = {}.",
            leaf.place(), size);
    return value;
  }
};

}  // namespace

Tensors call_mapped(const Function& f, const Tensors& args, const std::vector<size_t>& argument_of_leaf,
                    size_t num_arguments, const VmapOptions& options) {
  detail::check_arguments("vmap", args);
  require(options.in_axes.empty() || options.in_axes.size() == num_arguments,
          "vmap: in_axes has {} entries for {} argument(s); give one for each, {{}} for those not mapped.",
          options.in_axes.size(), num_arguments);
  BatchSizeFound found;
  if (options.size) found.meet(*options.size, "the option size");
  const MappedArguments mapped(args, argument_of_leaf, options, found);
  TraceOptions          trace_options;
  for (const auto& [path, state] : options.batched_states) {
    trace_options.lanes.insert(state.cell().get());
    for (const std::string& name : state.leaf_names())
      if (const Type t = state.leaf(name).type(); t.rank() > 0) found.meet(t.shape[0], state.place());
  }
  require(found.size.has_value(),
          "vmap: nothing is mapped; give an argument an axis, list batched_states, or set size.");
  const int64_t size = *found.size;

  const StatefulProgram p = trace_function(mapped.lanes, f, trace_options);
  MappedStates          states{p, trace_options.lanes, size};
  states.read();
  const Tensors    in      = joined(p.constants, mapped.in, states.in);
  const Mask       batched = joined(Mask(p.constants.size(), false), mapped.batched, states.batched);
  const VmapResult r       = vmap(p.program, in, batched, size);
  auto             out     = split(r.out, p.result_sizes());
  const auto       differs = split(r.batched, p.result_sizes());
  for (size_t i = 0; i < p.num_results; ++i) {
    const Tensor y = with_batch_axis(out.results[i], differs.results[i], size);
    out.results[i] = move_axis(y, 0, normalize_axis(options.out_axis, y.rank(), "vmap"));
  }
  for (size_t w = 0; w < p.writes.size(); ++w)
    out.writes[w] = states.written(p.writes[w], out.writes[w], differs.writes[w]);
  return p.store(joined(out));
}

}  // namespace braintrace::flat

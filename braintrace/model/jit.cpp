// SPDX-License-Identifier: Apache-2.0
#include "braintrace/model/jit.h"

#include <algorithm>
#include <mutex>
#include <unordered_map>

#include "braintrace/runtime/backend.h"
#include "braintrace/transforms/simplify.h"

namespace braintrace::detail {

namespace {

struct Compiled {
  StatefulProgram             program;
  Types                       read_types;
  std::shared_ptr<Executable> executable;  // null while a constant belongs to an enclosing trace
  std::shared_ptr<const void> like;

  bool fits_states() const {
    for (size_t i = 0; i < read_types.size(); ++i) {
      const StateLeaf& leaf = program.reads[i];
      if (!leaf.state.has_leaf(leaf.leaf) || leaf.value().type() != read_types[i]) return false;
    }
    return true;
  }
};

bool any_traced(const Tensors& tensors) {
  return std::any_of(tensors.begin(), tensors.end(), [](const Tensor& t) { return t.is_traced(); });
}

Arrays arrays_of(const Tensors& tensors) {
  Arrays out;
  out.reserve(tensors.size());
  for (const Tensor& t : tensors) out.push_back(t.array());
  return out;
}

}  // namespace

// Entries are immutable and shared, so that the lock is held only to look up and to insert.
class JitCache {
 public:
  std::shared_ptr<const Compiled> find(const std::string& signature) {
    std::vector<std::shared_ptr<const Compiled>> candidates;
    {
      std::lock_guard lock(mutex_);
      const auto      it = entries_.find(signature);
      if (it == entries_.end()) return nullptr;
      candidates = it->second;
    }
    for (const auto& c : candidates)
      if (c->fits_states()) return c;
    return nullptr;
  }
  void insert(const std::string& signature, std::shared_ptr<const Compiled> entry) {
    std::lock_guard lock(mutex_);
    entries_[signature].push_back(std::move(entry));
  }
  void count_trace() {
    std::lock_guard lock(mutex_);
    ++num_traces_;
  }
  int64_t num_traces() {
    std::lock_guard lock(mutex_);
    return num_traces_;
  }

 private:
  std::mutex                                                                    mutex_;
  std::unordered_map<std::string, std::vector<std::shared_ptr<const Compiled>>> entries_;
  int64_t                                                                       num_traces_ = 0;
};

std::shared_ptr<JitCache> make_jit_cache() { return std::make_shared<JitCache>(); }
int64_t                   num_traces(const JitCache& cache) { return const_cast<JitCache&>(cache).num_traces(); }

void check_arguments(const char* where, const Tensors& leaves) {
  for (size_t i = 0; i < leaves.size(); ++i)
    require(leaves[i].defined(), "{}: tensor {} of the arguments is undefined; assign it first.", where, i);
}

JitResult call_jitted(JitCache& cache, std::string signature, const Tensors& args, const Function& f,
                      const std::function<std::shared_ptr<const void>()>& like) {
  check_arguments("jit", args);
  Backend& backend = default_backend();
  ((signature += '|') += Environment::signature()) += backend.name();
  std::shared_ptr<const Compiled> entry = cache.find(signature);
  if (!entry) {
    auto made        = std::make_shared<Compiled>();
    made->program    = trace_function(types_of(args), f);
    made->like       = like();
    Program& program = made->program.program;
    program          = simplify(program);
    for (size_t i = 0; i < made->program.reads.size(); ++i)
      made->read_types.push_back(program.type(program.args[args.size() + i]));
    cache.count_trace();
    // A program that captured tensors of an enclosing trace is valid only there: it is not kept.
    if (!any_traced(made->program.constants)) {
      made->executable = backend.compile(program, arrays_of(made->program.constants));
      cache.insert(signature, made);
    }
    entry = std::move(made);
  }
  const StatefulProgram& p  = entry->program;
  const Tensors          in = p.inputs(args);
  Tensors                out;
  if (!entry->executable || any_traced(in)) {
    out = replay(p.program, p.constants, in);
  } else {
    for (Array& a : entry->executable->run(arrays_of(in))) out.emplace_back(std::move(a));
  }
  return {p.store(out), entry->like};
}

}  // namespace braintrace::detail

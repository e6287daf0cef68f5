// SPDX-License-Identifier: Apache-2.0
#include "braintrace/functions/jit.h"

#include <algorithm>
#include <mutex>
#include <unordered_map>

#include "braintrace/base/process_mutex.h"
#include "braintrace/functions/held_states.h"
#include "braintrace/runtime/backend.h"
#include "braintrace/transforms/simplify.h"

namespace braintrace {

namespace detail {

void check_arguments(const char* where, const Tensors& leaves) {
  for (size_t i = 0; i < leaves.size(); ++i)
    require(leaves[i].defined(), "{}: tensor {} of the arguments is undefined; assign it first.", where, i);
}

}  // namespace detail

namespace flat {

namespace {

struct Compiled {
  std::string                 signature;
  StatefulProgram             program;
  Types                       read_types;
  std::shared_ptr<const void> like;
  // One of these; none if a constant belongs to an enclosing trace.
  std::unique_ptr<detail::HeldStates> held;
  std::shared_ptr<Executable>         executable;

  bool fits_states() const {
    for (size_t i = 0; i < read_types.size(); ++i) {
      if (held && held->holds(i)) continue;
      const StateLeaf& leaf = program.reads[i];
      if (!leaf.state.has_leaf(leaf.leaf) || leaf.value().type() != read_types[i]) return false;
    }
    return true;
  }
};
using Entry = std::shared_ptr<const Compiled>;

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

// Entries are shared, so that the lock is held only to look up and to insert.
class JitCache {
 public:
  Entry find(const std::string& signature) {
    if (Entry e = last(); e && e->signature == signature && e->fits_states()) return e;
    for (const Entry& e : candidates(signature))
      if (e->fits_states()) {
        std::lock_guard lock(mutex_);
        return last_ = e;
      }
    return nullptr;
  }
  void insert(const Entry& entry) {
    std::lock_guard lock(mutex_);
    entries_[entry->signature].push_back(entry);
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
  Entry last() {
    std::lock_guard lock(mutex_);
    return last_;
  }
  std::vector<Entry> candidates(const std::string& signature) {
    std::lock_guard lock(mutex_);
    const auto      it = entries_.find(signature);
    return it == entries_.end() ? std::vector<Entry>() : it->second;
  }

  ProcessMutex                                        mutex_;
  std::unordered_map<std::string, std::vector<Entry>> entries_;
  Entry                                               last_;  // the last one found
  int64_t                                             num_traces_ = 0;
};

std::shared_ptr<JitCache> make_jit_cache() { return std::make_shared<JitCache>(); }
int64_t                   num_traces(const JitCache& cache) { return const_cast<JitCache&>(cache).num_traces(); }

namespace {

Entry compiled(JitCache& cache, std::string&& signature, const Tensors& args, const Function& f,
               const std::function<std::shared_ptr<const void>()>& like, Backend& backend) {
  auto made        = std::make_shared<Compiled>();
  made->signature  = std::move(signature);
  made->program    = trace_function(types_of(args), f);
  made->like       = like();
  Program& program = made->program.program;
  program          = simplify(program);
  for (size_t i = 0; i < made->program.reads.size(); ++i) made->read_types.push_back(made->program.read_type(i));
  cache.count_trace();
  // A program that captured tensors of an enclosing trace is valid only there: it is not kept.
  if (any_traced(made->program.constants)) return made;
  const Arrays constants = arrays_of(made->program.constants);
  made->held             = detail::HeldStates::make(backend, made->program, constants);
  if (!made->held) made->executable = backend.compile(program, constants);
  cache.insert(made);
  return made;
}

}  // namespace

JitResult call_jitted(JitCache& cache, std::string&& signature, const Tensors& args, const Function& f,
                      const std::function<std::shared_ptr<const void>()>& like) {
  detail::check_arguments("jit", args);
  // Inside a trace, jit has no effect: functions that it calls must see that trace.
  if (StateFrame::current()) {
    Tensors out = f(args);
    return {std::move(out), like()};
  }
  Backend& backend = default_backend();
  ((signature += Environment::signature()) += backend.name()) += product_precision();
  Entry entry = cache.find(signature);
  if (!entry) entry = compiled(cache, std::move(signature), args, f, like, backend);
  if (entry->held && !StateFrame::current() && !any_traced(args)) return {entry->held->call(args), entry->like};
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

}  // namespace flat

}  // namespace braintrace

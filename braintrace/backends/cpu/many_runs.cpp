// SPDX-License-Identifier: Apache-2.0
#include "braintrace/backends/cpu/many_runs.h"

#include <cstring>
#include <exception>
#include <mutex>

#include "braintrace/backends/calls.h"
#include "braintrace/backends/cpu/blocks.h"
#include "braintrace/backends/cpu/cpu_backend.h"
#include "braintrace/backends/cpu/thread_pool.h"

namespace braintrace::cpu {

namespace {

constexpr size_t fewest_runs = 4;  // that justify a thread

class SideBySide : public ManyRuns {
 public:
  SideBySide(const Program& program, const Arrays& constants, const std::vector<Feed>& feeds)
      : num_args_(program.args.size()) {
    const NonzeroResults nonzero = nonzero_results(program);
    compiled_                    = compile_together({nonzero.program}, {constants})[0];
    std::vector<std::optional<size_t>> fed(program.results.size());
    for (const Feed& f : feeds) fed.at(f.result) = f.arg;
    for (size_t k = 0; k < program.results.size(); ++k) {
      Result r{fed[k], static_cast<size_t>(program.type(program.results[k]).bytes()), nonzero.is_zero[k], {}};
      if (!r.arg) r.number = num_outputs_++;
      if (!r.is_zero && r.arg && !compiled_->may_share(num_made_, *r.arg)) {
        r.scratch = scratch_bytes_;
        scratch_bytes_ += (r.bytes + 63) / 64 * 64;
      }
      num_made_ += r.is_zero ? 0 : 1;
      results_.push_back(r);
    }
  }

  void run(const ArgumentSets& sets) override {
    if (sets.turns == 0) return;
    Job            job{this, &sets, {}, {}};
    const bt_frame frame{nullptr, reinterpret_cast<char*>(&job), nullptr, nullptr, nullptr};
    const auto     n = static_cast<int64_t>(sets.count);
    run_parallel(some, &frame, n, static_cast<int64_t>((fewest_runs + sets.turns - 1) / sets.turns), 0, n);
    if (job.thrown) std::rethrow_exception(job.thrown);
  }

 private:
  using bt_frame = codegen::bt_frame;

  struct Result {
    std::optional<size_t> arg;  // the argument it becomes
    size_t                bytes;
    bool                  is_zero;
    std::optional<size_t> scratch;     // where it is buffered during the run; none if it can be written directly
    size_t                number = 0;  // index among the results that are not fed
  };
  struct Job {
    SideBySide*         self;
    const ArgumentSets* sets;
    std::mutex          mutex;
    std::exception_ptr  thrown;
  };

  // Per-thread state: pointers for the current set, and private memory.
  struct Desk {
    std::vector<void*> args, outputs, made;
    Block              scratch, arena;
  };

  // The thread pool passes a frame; ours contains only the job.
  static int32_t some(const bt_frame* frame, int64_t begin, int64_t end) {
    Job& job = *reinterpret_cast<Job*>(frame->arena);
    try {
      const SideBySide& self = *job.self;
      Desk              desk{std::vector<void*>(self.num_args_), std::vector<void*>(self.num_outputs_),
                std::vector<void*>(self.num_made_), Block(self.scratch_bytes_),
                Block(static_cast<size_t>(self.compiled_->arena_bytes()))};
      for (int64_t k = begin; k < end; ++k) {
        job.sets->places(static_cast<size_t>(k), desk.args.data(), desk.outputs.data());
        self.one(desk);
        for (size_t turn = 1; turn < job.sets->turns; ++turn) {
          move_on(desk.args, job.sets->arg_strides);
          move_on(desk.outputs, job.sets->result_strides);
          self.one(desk);
        }
      }
      return 0;
    } catch (...) {
      std::lock_guard lock(job.mutex);
      job.thrown = std::current_exception();
      return 1;
    }
  }

  static void move_on(std::vector<void*>& places, const std::vector<size_t>& strides) {
    for (size_t i = 0; i < places.size(); ++i) places[i] = static_cast<char*>(places[i]) + strides[i];
  }

  void one(Desk& desk) const {
    const auto place = [&](const Result& r) { return r.arg ? desk.args[*r.arg] : desk.outputs[r.number]; };
    size_t     next  = 0;
    for (const Result& r : results_)
      if (!r.is_zero) desk.made[next++] = r.scratch ? desk.scratch.data + *r.scratch : place(r);
    compiled_->run_in(desk.arena.data, desk.args.data(), desk.made.data());
    for (const Result& r : results_) {
      if (r.is_zero) std::memset(place(r), 0, r.bytes);
      if (r.scratch) std::memcpy(place(r), desk.scratch.data + *r.scratch, r.bytes);
    }
  }

  std::shared_ptr<Compiled> compiled_;
  std::vector<Result>       results_;
  size_t                    num_args_, num_outputs_ = 0, num_made_ = 0, scratch_bytes_ = 0;
};

}  // namespace

std::unique_ptr<ManyRuns> make_many_runs(const Program& program, const Arrays& constants,
                                         const std::vector<Feed>& feeds) {
  check_constants(program, constants);
  return std::make_unique<SideBySide>(program, constants, feeds);
}

}  // namespace braintrace::cpu

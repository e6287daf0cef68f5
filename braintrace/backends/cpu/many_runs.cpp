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

constexpr int64_t fewest_runs = 4;  // that are worth a thread

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

  void run(size_t count, void* const* args, void* const* results) override {
    Job            job{this, args, results, {}, {}};
    const bt_frame frame{nullptr, reinterpret_cast<char*>(&job), nullptr, nullptr};
    const auto     n = static_cast<int64_t>(count);
    run_parallel(some, &frame, n, fewest_runs, 0, n);
    if (job.thrown) std::rethrow_exception(job.thrown);
  }

 private:
  using bt_frame = codegen::bt_frame;

  struct Result {
    std::optional<size_t> arg;  // that it becomes
    size_t                bytes;
    bool                  is_zero;
    std::optional<size_t> scratch;     // where it waits until the run is over; none where it may be written at once
    size_t                number = 0;  // among those that are not fed
  };
  struct Job {
    SideBySide*        self;
    void* const*       args;
    void* const*       results;
    std::mutex         mutex;
    std::exception_ptr thrown;
  };

  // The threads hand on a frame; ours holds nothing but the job.
  static int32_t some(const bt_frame* frame, int64_t begin, int64_t end) {
    Job& job = *reinterpret_cast<Job*>(frame->arena);
    try {
      const Block        scratch(job.self->scratch_bytes_);
      std::vector<void*> out(job.self->num_made_);
      for (int64_t k = begin; k < end; ++k) job.self->one(job, static_cast<size_t>(k), scratch.data, out);
      return 0;
    } catch (...) {
      std::lock_guard lock(job.mutex);
      job.thrown = std::current_exception();
      return 1;
    }
  }

  void one(const Job& job, size_t k, char* scratch, std::vector<void*>& out) const {
    void* const* args    = job.args + k * num_args_;
    void* const* outputs = job.results + k * num_outputs_;
    size_t       next    = 0;
    for (const Result& r : results_)
      if (!r.is_zero) out[next++] = r.scratch ? scratch + *r.scratch : r.arg ? args[*r.arg] : outputs[r.number];
    compiled_->run_into(args, out.data());
    for (const Result& r : results_) {
      if (r.is_zero) std::memset(r.arg ? args[*r.arg] : outputs[r.number], 0, r.bytes);
      if (r.scratch) std::memcpy(args[*r.arg], scratch + *r.scratch, r.bytes);
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

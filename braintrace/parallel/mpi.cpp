// SPDX-License-Identifier: Apache-2.0
// Groups over Open MPI, loaded when mpirun or srun started this process. Its binary interface since version 1.3:
// handles are addresses of objects in the library, a status may be null.
#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <dlfcn.h>
#include <initializer_list>
#include <mutex>
#include <sched.h>
#include <thread>
#include <unistd.h>
#include <vector>

#include <fmt/format.h>

#include "braintrace/io/line_sink.h"
#include "braintrace/io/stop_signals.h"
#include "braintrace/parallel/collective.h"
#include "braintrace/parallel/standing.h"

namespace braintrace::parallel {

namespace {

using Clock = std::chrono::steady_clock;

constexpr int    tag        = 22;
constexpr size_t most_bytes = size_t{1} << 30;  // of one message: MPI counts with 32 bits
constexpr double patience   = 10;               // seconds until a rank that keeps others waiting is named
constexpr double last_words = 0.3;              // seconds between a request to stop and giving up on a silent rank

// The functions we use, by the names of the standard.
struct Library {
  int (*init)(int*, char***, int, int*);
  int (*initialized)(int*);
  int (*finalized)(int*);
  int (*finalize)();
  int (*comm_rank)(void*, int*);
  int (*comm_size)(void*, int*);
  int (*set_errhandler)(void*, void*);
  int (*isend)(const void*, int, void*, int, int, void*, void**);
  int (*irecv)(void*, int, void*, int, int, void*, void**);
  int (*test)(void**, int*, void*);
  int (*error_string)(int, char*, int*);
  int (*abort)(void*, int);
  void *comm_world, *byte, *errors_return;

  Library();
};

template <class T>
void find(void* library, const char* name, T& to) {
  void* symbol = dlsym(library, name);
  require(symbol != nullptr,
          "MPI: the library has no symbol {}: it is not Open MPI.\n  Install openmpi-bin and start with its mpirun.",
          name);
  to = reinterpret_cast<T>(symbol);
}

Library::Library() {
  void* library = nullptr;
  for (const char* name : {"libmpi.so.40", "libmpi.so.80", "libmpi.so"})  // its plugins look for it among global names
    if (!library) library = dlopen(name, RTLD_NOW | RTLD_GLOBAL);
  require(library != nullptr,
          "MPI: this process was started by mpirun, but Open MPI's library (libmpi.so.40) was not found.\n  Install "
          "it; on Debian: apt-get install openmpi-bin");
  find(library, "MPI_Init_thread", init);
  find(library, "MPI_Initialized", initialized);
  find(library, "MPI_Finalized", finalized);
  find(library, "MPI_Finalize", finalize);
  find(library, "MPI_Comm_rank", comm_rank);
  find(library, "MPI_Comm_size", comm_size);
  find(library, "MPI_Comm_set_errhandler", set_errhandler);
  find(library, "MPI_Isend", isend);
  find(library, "MPI_Irecv", irecv);
  find(library, "MPI_Test", test);
  find(library, "MPI_Error_string", error_string);
  find(library, "MPI_Abort", abort);
  find(library, "ompi_mpi_comm_world", comm_world);
  find(library, "ompi_mpi_byte", byte);
  find(library, "ompi_mpi_errors_return", errors_return);
}

std::string host_name() {
  char name[256] = "";
  ::gethostname(name, sizeof name - 1);
  return name;
}

void say_on_stderr(const std::string& line) { LineSink(STDERR_FILENO).try_write(line + "\n"); }

int number_in(std::initializer_list<const char*> variables, int otherwise) {
  for (const char* v : variables)
    if (const char* text = std::getenv(v)) return std::atoi(text);
  return otherwise;
}

// Processes of one machine that may use the same processors take equal parts of them, unless the user says otherwise.
void share_processors() {
  cpu_set_t allowed;
  const int on_machine = number_in({"OMPI_COMM_WORLD_LOCAL_SIZE"}, 1);
  const int processors = static_cast<int>(std::thread::hardware_concurrency());
  if (::sched_getaffinity(0, sizeof allowed, &allowed) != 0 || CPU_COUNT(&allowed) * on_machine <= processors) return;
  ::setenv("BRAINTRACE_NUM_THREADS", std::to_string(std::max(1, processors / on_machine)).c_str(), 0);
}

class MpiGroup final : public Group {
 public:
  MpiGroup() {
    int is_init = 0;
    check(mpi_.initialized(&is_init), "MPI_Initialized");
    if (!is_init) {
      constexpr int funneled = 1;
      int           given    = 0;
      check(mpi_.init(nullptr, nullptr, funneled, &given), "MPI_Init_thread");
    }
    owns_ = !is_init;
    share_processors();
    check(mpi_.set_errhandler(mpi_.comm_world, mpi_.errors_return), "MPI_Comm_set_errhandler");
    check(mpi_.comm_rank(mpi_.comm_world, &rank_), "MPI_Comm_rank");
    check(mpi_.comm_size(mpi_.comm_world, &size_), "MPI_Comm_size");
    who_ = all_gather(*this, fmt::format("rank {} (process {} on {})", rank_, ::getpid(), host_name()));
  }
  // If the process ends in the middle of work, it does not call MPI_Finalize, and mpirun ends all ranks.
  ~MpiGroup() override {
    int is_final = 0;
    if (owns_ && !is_lost_ && mpi_.finalized(&is_final) == 0 && !is_final) mpi_.finalize();
  }

  int rank() const override { return rank_; }
  int size() const override { return size_; }
  int local_rank() const override { return number_in({"OMPI_COMM_WORLD_LOCAL_RANK", "SLURM_LOCALID"}, 0); }

  void exchange(std::span<const Outgoing> out, std::span<const Incoming> in) override {
    std::vector<Request> open;
    for (const Incoming& m : in)
      for (size_t at = 0; at < m.bytes; at += most_bytes) {
        open.push_back({nullptr, m.from});
        check(
            mpi_.irecv(m.data + at, count(m.bytes - at), mpi_.byte, m.from, tag, mpi_.comm_world, &open.back().handle),
            "MPI_Irecv");
      }
    for (const Outgoing& m : out)
      for (size_t at = 0; at < m.bytes; at += most_bytes) {
        open.push_back({nullptr, m.to});
        check(mpi_.isend(m.data + at, count(m.bytes - at), mpi_.byte, m.to, tag, mpi_.comm_world, &open.back().handle),
              "MPI_Isend");
      }
    wait(open);
  }

  void abandon(const std::string& why) override {
    if (!says_nothing_) say_on_stderr(fmt::format("error: {} of {}: {}", who_[rank_], size_, why));
    if (!is_lost_) mpi_.abort(mpi_.comm_world, 2);  // otherwise mpirun is ending all already
    std::_Exit(2);
  }

 private:
  struct Request {
    void* handle;
    int   peer;
  };

  static int count(size_t bytes) { return static_cast<int>(std::min(bytes, most_bytes)); }

  void check(int status, const char* call) {
    if (status == 0) return;
    char text[1024] = "";
    int  length     = 0;
    mpi_.error_string(status, text, &length);
    is_lost_ = true;
    fail("{}: {}", call, text);
  }

  // Polls immediately, then at growing intervals: a message usually arrives immediately, and other processes may need
  // the processor.
  void wait(std::vector<Request>& open) {
    const auto begin  = Clock::now();
    double     warned = 0;
    for (int64_t turn = 0;; ++turn) {
      size_t left = 0;
      for (Request& r : open) {
        int is_done = 0;
        check(mpi_.test(&r.handle, &is_done, nullptr), "MPI_Test");
        if (!is_done) open[left++] = r;
      }
      open.resize(left);
      if (open.empty()) return;
      if (turn % 16 != 15) continue;
      const double seconds = std::chrono::duration<double>(Clock::now() - begin).count();
      if (seconds > 0.1)
        std::this_thread::sleep_for(std::chrono::microseconds(seconds > 1 ? 1000 : 50));
      else
        std::this_thread::yield();  // long messages go in pieces, which move on only while we look
      if (seconds > last_words && StopSignals::asked() != 0) {
        is_lost_      = true;
        says_nothing_ = !speaks(open);
        fail("{} no longer responds, and this process was told to exit: the run has lost a process.",
             who_[open[0].peer]);
      }
      if (seconds > patience && seconds > 2 * warned) {
        warned = seconds;
        if (speaks(open)) say_on_stderr(fmt::format("note: waiting {:.0f} s for {}", seconds, names(open)));
      }
    }
  }

  // The lowest waiting rank prints the message.
  bool speaks(const std::vector<Request>& open) const {
    std::vector<bool> missing(static_cast<size_t>(size_));
    for (const Request& r : open) missing[static_cast<size_t>(r.peer)] = true;
    int first = 0;
    while (first < size_ && missing[static_cast<size_t>(first)]) ++first;
    return first == rank_;
  }
  std::string names(const std::vector<Request>& open) const {
    std::string out;
    int         last = -1;
    for (const Request& r : open) {
      if (r.peer != last) out += (out.empty() ? "" : ", ") + who_[static_cast<size_t>(r.peer)];
      last = r.peer;
    }
    return out;
  }

  Library                  mpi_;
  int                      rank_ = 0, size_ = 1;
  bool                     owns_ = false, is_lost_ = false, says_nothing_ = false;
  std::vector<std::string> who_;
};

class OneProcess final : public Group {
 public:
  int  rank() const override { return 0; }
  int  size() const override { return 1; }
  void exchange(std::span<const Outgoing> out, std::span<const Incoming> in) override {
    ensure(out.empty() && in.empty(), "parallel: a single process has no others to communicate with.");
  }
  void abandon(const std::string&) override {}
};

}  // namespace

Standing standing() {
  const int size =
      number_in({"OMPI_COMM_WORLD_SIZE"}, std::getenv("PMIX_RANK") ? number_in({"SLURM_STEP_NUM_TASKS"}, 1) : 1);
  return {size > 1 ? number_in({"OMPI_COMM_WORLD_RANK", "PMIX_RANK"}, 0) : 0, size};
}
void stand_alone() { ::setenv("OMPI_COMM_WORLD_SIZE", "1", 1); }

std::shared_ptr<Group> alone() { return std::make_shared<OneProcess>(); }

std::shared_ptr<Group> world() {
  static std::mutex             mutex;
  static std::shared_ptr<Group> made;  // MPI begins and ends once in a process
  const std::lock_guard         lock(mutex);
  if (!made) {
    const bool by_open_mpi = std::getenv("OMPI_COMM_WORLD_SIZE") || std::getenv("PMIX_RANK");
    require(by_open_mpi || number_in({"PMI_SIZE"}, 1) == 1 || std::getenv("SLURM_JOB_ID"),
            "MPI: this process was not started by the mpirun of Open MPI.\n  Install openmpi-bin and use its mpirun.");
    made = by_open_mpi && number_in({"OMPI_COMM_WORLD_SIZE"}, 0) != 1 ? std::make_shared<MpiGroup>() : alone();
  }
  return made;
}

}  // namespace braintrace::parallel

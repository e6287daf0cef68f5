// SPDX-License-Identifier: Apache-2.0
// braintrace info: describes this build.
#include <memory>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "braintrace/algorithms/registry.h"
#include "braintrace/backends/cuda/blas.h"
#include "braintrace/backends/cuda/driver.h"
#include "braintrace/backends/cuda/nvrtc.h"
#include "braintrace/base/version.h"
#include "braintrace/ir/op.h"
#include "braintrace/runtime/backend.h"
#include "cli/command.h"

namespace braintrace::cli {

namespace {

std::string compiler() {
#if defined(__clang__)
  return fmt::format("clang {}.{}.{}", __clang_major__, __clang_minor__, __clang_patchlevel__);
#else
  return fmt::format("gcc {}.{}.{}", __GNUC__, __GNUC_MINOR__, __GNUC_PATCHLEVEL__);
#endif
}

std::vector<std::string_view> dtype_names() {
  std::vector<std::string_view> names;
  for (DType t : all_dtypes) names.push_back(name_of(t));
  return names;
}

std::vector<std::string_view> backend_names() {
  std::vector<std::string_view> names;
  for (const Backend* b : backends()) names.push_back(b->name());
  return names;
}

// GPUs, and the libraries that the backend cuda finds; or why it cannot be used.
struct Gpus {
  std::vector<cuda::DeviceFacts> devices = {};
  std::string                    driver = {}, problem = {};
  cuda::NvrtcFacts               nvrtc = {};
  cuda::BlasFacts                blas  = {};
};
Gpus gpus() {
  Gpus g;
  try {
    g.devices = cuda::device_facts();
    g.driver  = cuda::driver().version;
    g.nvrtc   = cuda::nvrtc_facts();
    g.blas    = cuda::blas_facts();
    g.problem = g.nvrtc.problem;
  } catch (const UserError& error) {
    g.problem = error.what();
  }
  return g;
}
std::string backend_name(size_t device) { return device == 0 ? "cuda" : fmt::format("cuda:{}", device); }

nlohmann::ordered_json as_json(const Gpus& g) {
  nlohmann::ordered_json j = {{"devices", nlohmann::ordered_json::array()}};
  for (size_t i = 0; i < g.devices.size(); ++i)
    j["devices"].push_back({{"backend", backend_name(i)},
                            {"name", g.devices[i].name},
                            {"capability", g.devices[i].capability},
                            {"processors", g.devices[i].processors},
                            {"bytes", g.devices[i].total_bytes}});
  if (!g.problem.empty()) j["problem"] = g.problem;
  if (g.driver.empty()) return j;
  j["driver"] = g.driver;
  j["nvrtc"]  = {{"version", g.nvrtc.version}, {"path", g.nvrtc.path}};
  j["cublas"] = {{"path", g.blas.path}, {"problem", g.blas.problem}};
  return j;
}

void print_text(const Gpus& g) {
  for (size_t i = 0; i < g.devices.size(); ++i)
    fmt::print("gpu       {}: {}, {:.1f} GiB, compute capability {}.{}\n", backend_name(i), g.devices[i].name,
               static_cast<double>(g.devices[i].total_bytes) / (1 << 30), g.devices[i].capability / 10,
               g.devices[i].capability % 10);
  if (!g.driver.empty())
    fmt::print("          driver for CUDA {}, NVRTC {}, cuBLAS {}\n", g.driver,
               g.nvrtc.path.empty() ? "not found" : fmt::format("{} ({})", g.nvrtc.version, g.nvrtc.path),
               g.blas.path.empty() ? "not found" : fmt::format("({})", g.blas.path));
  if (!g.problem.empty()) fmt::print("gpu       none available: {}\n", g.problem);
}

struct InfoArguments {
  bool json = false, ops = false, algorithms = false;
};

nlohmann::ordered_json as_json(const InfoArguments& o) {
  nlohmann::ordered_json j = {{"version", version},     {"compiler", compiler()},  {"backends", backend_names()},
                              {"gpu", as_json(gpus())}, {"dtypes", dtype_names()}, {"num_ops", all_ops().size()}};
  if (o.ops)
    for (const Op* op : all_ops())
      j["ops"].push_back({{"name", op->name}, {"operands", op->operands}, {"doc", op->doc}});
  if (o.algorithms)
    for (const Algorithm& a : algorithms())
      j["algorithms"].push_back({{"name", a.name}, {"aliases", a.aliases}, {"options", a.options}, {"doc", a.doc}});
  return j;
}

void print_text(const InfoArguments& o) {
  fmt::print("version   {}\n", version);
  fmt::print("compiler  {}\n", compiler());
  fmt::print("backends  {}\n", fmt::join(backend_names(), " "));
  print_text(gpus());
  fmt::print("dtypes    {}\n", fmt::join(dtype_names(), " "));
  fmt::print("ops       {}\n", all_ops().size());
  if (o.ops) {
    fmt::print("\n");
    for (const Op* op : all_ops()) fmt::print("{:<20} {:<16} {}\n", op->name, op->operands, op->doc);
  }
  if (o.algorithms) fmt::print("\n{}", list_of_algorithms());
}

}  // namespace

void add_info(CLI::App& app, Action& chosen) {
  auto  options = std::make_shared<InfoArguments>();
  auto* command = app.add_subcommand(
      "info", "Show version, compiler, backends, GPUs, element types, operations and learning rules");
  command->add_flag("--json", options->json, "Print JSON");
  command->add_flag("--ops", options->ops, "List every operation with its operands and meaning");
  command->add_flag("--algorithms", options->algorithms, "List every learning rule with its names and options");
  command->footer("  braintrace info --algorithms\n  braintrace info --ops --json\n");
  command->callback([options, &chosen] {
    chosen = [options] {
      if (options->json)
        fmt::print("{}\n", as_json(*options).dump(2));
      else
        print_text(*options);
      return 0;
    };
  });
}

}  // namespace braintrace::cli

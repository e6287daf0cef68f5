// SPDX-License-Identifier: Apache-2.0
// braintrace cache: shows the folder of compiled files, or empties it.
#include <memory>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "braintrace/backends/cpu/code_cache.h"
#include "braintrace/base/error.h"
#include "braintrace/base/json.h"
#include "cli/command.h"

namespace braintrace::cli {

namespace {

struct CacheArguments {
  bool clean = false, json = false;
};

std::string mib(int64_t bytes) { return fmt::format("{:.1f} MiB", static_cast<double>(bytes) / (1 << 20)); }

int run_cache(const CacheArguments& o) {
  const cpu::CodeCache cache;
  require(cache.problem().empty(),
          "compiled code is not kept: {}.\n  BRAINTRACE_CACHE_DIR can name a folder that only you can write to.",
          cache.problem());
  const int64_t removed = o.clean ? cache.shrink(0) : 0;
  const auto    now     = cache.contents();
  if (o.json) {
    nlohmann::ordered_json j = {
        {"folder", cache.folder().string()}, {"files", now.files}, {"bytes", now.bytes}, {"bound", cache.bound()},
        {"left_over", now.left_over},        {"removed", removed}};
    fmt::print("{}\n", json_text(j, 2));
    return 0;
  }
  fmt::print("folder  {}\nfiles   {} of machine code, {} of at most {} (BRAINTRACE_CACHE_MIB)\n",
             cache.folder().string(), now.files, mib(now.bytes), mib(cache.bound()));
  if (now.files > 0) fmt::print("oldest  used {:.1f} days ago\n", now.oldest_use / 86400);
  if (now.left_over > 0) fmt::print("left    {} folders of killed compilers; --clean removes them\n", now.left_over);
  if (o.clean) fmt::print("removed {} files\n", removed);
  return 0;
}

}  // namespace

void add_cache(CLI::App& app, Action& chosen) {
  auto  options = std::make_shared<CacheArguments>();
  auto* command = app.add_subcommand("cache", "Show the cache of compiled code, or clear it");
  command->add_flag("--clean", options->clean, "Remove all cached files; they are compiled again when needed");
  command->add_flag("--json", options->json, "Print JSON");
  command->footer("  braintrace cache\n  braintrace cache --clean\n");
  command->callback([options, &chosen] { chosen = [options] { return run_cache(*options); }; });
}

}  // namespace braintrace::cli

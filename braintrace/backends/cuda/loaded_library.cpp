// SPDX-License-Identifier: Apache-2.0
#include "braintrace/backends/cuda/loaded_library.h"

#include <algorithm>
#include <dlfcn.h>
#include <sstream>

#include "braintrace/backends/settings.h"

namespace braintrace::cuda {

namespace fs = std::filesystem;

namespace {

std::vector<fs::path> between_colons(const std::string& text) {
  std::vector<fs::path> out;
  std::stringstream     in(text);
  for (std::string folder; std::getline(in, folder, ':');)
    if (!folder.empty()) out.emplace_back(folder);
  return out;
}

// Subfolders of `parent`, sorted by name.
std::vector<fs::path> folders_in(const fs::path& parent) {
  std::vector<fs::path> out;
  std::error_code       error, gone;
  for (fs::directory_iterator it(parent, error), end; !error && it != end; it.increment(error))
    if (it->is_directory(gone)) out.push_back(it->path());
  std::sort(out.begin(), out.end());
  return out;
}

// PREFIX/lib/python3.x/site-packages/nvidia/…/lib
void add_packages(const fs::path& prefix, std::vector<fs::path>& out) {
  for (const fs::path& python : folders_in(prefix / "lib"))
    if (python.filename().string().starts_with("python3"))
      for (const char* packages : {"site-packages", "dist-packages"})
        for (const fs::path& package : folders_in(python / packages / "nvidia")) out.push_back(package / "lib");
}

std::vector<fs::path> toolkit_folders() {
  std::vector<fs::path> out;
  for (const fs::path& home : {fs::path(settings::variable("CUDA_HOME")), fs::path(settings::variable("CUDA_PATH")),
                               fs::path("/usr/local/cuda")})
    if (!home.empty())
      for (const char* lib : {"lib64", "lib"}) out.push_back(home / lib);
  if (const std::string active = settings::variable("VIRTUAL_ENV"); !active.empty()) add_packages(active, out);
  std::error_code error;
  for (const fs::path& folder : between_colons(settings::variable("PATH")))
    if (fs::exists(folder / "python3", error)) add_packages(folder.parent_path(), out);
  if (const std::string home = settings::variable("HOME"); !home.empty()) add_packages(fs::path(home) / ".local", out);
  return out;
}

std::vector<fs::path> given_folders() { return between_colons(settings::variable("BRAINTRACE_CUDA_LIBS")); }

}  // namespace

bool LoadedLibrary::open(const std::string& path, const std::vector<std::string>& needs) {
  const bool      has_folder = path.find('/') != path.npos;
  std::error_code error;
  if (has_folder && !fs::exists(path, error)) return false;
  if (has_folder)
    for (const std::string& need : needs)
      dlopen((fs::path(path).parent_path() / need).c_str(), RTLD_NOW | RTLD_GLOBAL | RTLD_NODELETE);
  handle_ = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (handle_) path_ = path;
  if (!handle_ && has_folder && problem_.empty()) problem_ = dlerror();
  return handle_ != nullptr;
}

void* LoadedLibrary::symbol(const char* name) const { return handle_ ? dlsym(handle_, name) : nullptr; }

LoadedLibrary LoadedLibrary::toolkit(const std::vector<std::string>& names, const std::vector<std::string>& needs) {
  LoadedLibrary               out;
  const std::vector<fs::path> given = given_folders();
  if (given.empty())
    for (const std::string& name : names)
      if (out.open(name, {})) return out;
  for (const fs::path& folder : given.empty() ? toolkit_folders() : given)
    for (const std::string& name : names)
      if (out.open((folder / name).string(), needs)) return out;
  return out;
}

LoadedLibrary LoadedLibrary::driver(const std::vector<std::string>& names) {
  LoadedLibrary out;
  for (const fs::path& folder : given_folders())
    for (const std::string& name : names)
      if (out.open((folder / name).string(), {})) return out;
  for (const std::string& name : names)
    if (out.open(name, {})) return out;
  return out;
}

}  // namespace braintrace::cuda

// SPDX-License-Identifier: Apache-2.0
// CUDA libraries, loaded at run time: CUDA is required neither to build this library nor to run the rest of it.
//
// NVRTC and cuBLAS are searched for in the folders of $BRAINTRACE_CUDA_LIBS (separated by colons) or, if it is not set,
// on the loader's search path, under $CUDA_HOME, $CUDA_PATH and /usr/local/cuda, and among the packages of the Python
// in $VIRTUAL_ENV or on the search path. The driver is searched for in these folders and by the loader.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "braintrace/base/error.h"

namespace braintrace::cuda {

// Never unloaded: the library may run its own threads.
class LoadedLibrary {
 public:
  // Opens the first existing file of `names`; `needs` are dependencies to look for in the same folder.
  static LoadedLibrary toolkit(const std::vector<std::string>& names, const std::vector<std::string>& needs = {});
  static LoadedLibrary driver(const std::vector<std::string>& names);

  explicit           operator bool() const { return handle_ != nullptr; }
  const std::string& path() const { return path_; }
  const std::string& problem() const { return problem_; }  // loader error for an existing file

  // Looks up a function. If it is missing, sets it to null and stores its name in missing().
  template <class F>
  void find(F*& function, const char* name) {
    function = reinterpret_cast<F*>(symbol(name));
    if (!function && missing_.empty()) missing_ = name;
  }
  const std::string& missing() const { return missing_; }

 private:
  bool  open(const std::string& path, const std::vector<std::string>& needs);
  void* symbol(const char* name) const;

  void*       handle_ = nullptr;
  std::string path_, problem_, missing_;
};

}  // namespace braintrace::cuda

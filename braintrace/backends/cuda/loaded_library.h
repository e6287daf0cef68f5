// SPDX-License-Identifier: Apache-2.0
// Libraries of CUDA, found at run time: nothing of CUDA is needed to build this library or to run the rest of it.
//
// NVRTC and cuBLAS are looked for in the folders of $BRAINTRACE_CUDA_LIBS (with colons between them), or, where it is
// not set, where the system's loader looks, under $CUDA_HOME, $CUDA_PATH and /usr/local/cuda, and among the packages of
// the Python in $VIRTUAL_ENV or on the search path. The driver is looked for in these folders and by the loader.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "braintrace/base/error.h"

namespace braintrace::cuda {

// It stays loaded as long as the process lives: threads of its own may run in it.
class LoadedLibrary {
 public:
  // The first of the names that is there; `needs`, libraries that it asks for, are looked for beside it.
  static LoadedLibrary toolkit(const std::vector<std::string>& names, const std::vector<std::string>& needs = {});
  static LoadedLibrary driver(const std::vector<std::string>& names);

  explicit           operator bool() const { return handle_ != nullptr; }
  const std::string& path() const { return path_; }
  const std::string& problem() const { return problem_; }  // what the loader said of a file that is there

  // A function by its name. One that is missing leaves null, and its name.
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

// SPDX-License-Identifier: Apache-2.0
// A private folder among the system's temporary files; it is removed with its contents at the end of its lifetime.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <string>

namespace braintrace {

struct TemporaryFolder {
  std::filesystem::path path;  // empty if none could be created

  TemporaryFolder() {
    std::error_code error;
    // mkdtemp replaces the last six letters.
    std::string name = (std::filesystem::temp_directory_path(error) / "braintrace-XXXXXX").string();
    if (mkdtemp(name.data())) path = name;
  }
  ~TemporaryFolder() {
    std::error_code error;
    if (!path.empty()) std::filesystem::remove_all(path, error);
  }
  TemporaryFolder(const TemporaryFolder&)            = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
};

}  // namespace braintrace
